// Orthogonal polynomials of degree n at x: three-term recurrences in the type of x, with the values at the ends of the
// interval, and by angles where PyTorch goes by angles. As there, a product that something is subtracted from is not rounded.
// A degree is cut to an integer; below zero the polynomial is 0.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/device/stream.h"

namespace tessera::tensor::cpu::special {

// Of what is no int64 the processor makes the least one: a degree that is not there.
template <class T>
TS_ON_BOTH int64_t degree_of(T n) {
  return n >= T(-0x1p63) && n < T(0x1p63) ? int64_t(n) : INT64_MIN;
}

// Asked every 65,536 steps of a recurrence, whether to leave it.
struct NeverStops {
  TS_ON_BOTH bool operator()() const { return false; }
};

/// p(k + 1) = step(k, p(k), p(k - 1)) from p(0) = 1 and p(1); gives up when nothing but NaN can come.
template <class Stop, class T, class Step>
TS_ON_BOTH T recur(int64_t n, T first, const Step& step) {
  if (n == 0) return T(1);
  T before = T(1), now = first;
  if (n > 0xffff && Stop()()) return now;
  for (int64_t k = 1; k < n && !std::isnan(now); k++) {
    if ((k & 0xffff) == 0 && Stop()()) break;
    const T next = step(k, now, before);
    before = now;
    now = next;
  }
  return now;
}

enum class Chebyshev { T, U, V, W };

template <class T>
TS_ON_BOTH T chebyshev_at_end(Chebyshev kind, int64_t n, bool right) {
  const T least = T(1), most = kind == Chebyshev::T ? T(1) : kind == Chebyshev::U ? T(n + 1) : T(n + n + 1);
  const bool odd = n % 2 != 0;
  switch (kind) {
    case Chebyshev::V: return right ? least : odd ? -most : most;
    case Chebyshev::W: return right ? most : odd ? -least : least;
    default: return right || !odd ? most : -most;
  }
}
template <class T>
TS_ON_BOTH T chebyshev_by_angle(Chebyshev kind, T n, T y) {
  const T angle = std::acos(y);
  switch (kind) {
    case Chebyshev::T: return std::cos(n * angle);
    case Chebyshev::U: return std::sin((n + T(1)) * angle) / std::sin(angle);
    case Chebyshev::V: return std::cos((n + T(0.5)) * angle) / std::cos(angle / T(2));
    case Chebyshev::W: return std::sin((n + T(0.5)) * angle) / std::sin(angle / T(2));
  }
  return T(0);
}

/// By angles above degree `far`.
template <class T>
TS_ON_BOTH T chebyshev(Chebyshev kind, T y, T degree, int64_t far) {
  const int64_t n = degree_of(degree);
  if (n < 0) return T(0);
  if (std::fabs(y) == T(1)) return chebyshev_at_end<T>(kind, n, y > 0);
  if (n > far && std::fabs(y) < T(1)) return chebyshev_by_angle(kind, T(n), y);
  const T twice = y + y;
  const T first = kind == Chebyshev::T   ? y
                  : kind == Chebyshev::U ? twice
                  : kind == Chebyshev::V ? twice - T(1)
                                         : twice + T(1);
  return recur<NeverStops>(n, first, [&](int64_t, T now, T before) { return std::fma(twice, now, -before); });
}

// Beyond, the numbers of PyTorch's are no longer there.
template <class T>
constexpr int64_t kMostHermite = sizeof(T) == 4 ? 128 : 512;

template <class T>
TS_ON_BOTH T hermite_h(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return T(0);
  if (n > kMostHermite<T>) return T(NAN);
  return recur<NeverStops>(n, x + x, [&](int64_t k, T now, T before) { return std::fma(x + x, now, -(T(k + k) * before)); });
}
template <class T>
TS_ON_BOTH T hermite_he(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return T(0);
  if (n > kMostHermite<T>) return T(NAN);
  return recur<NeverStops>(n, x, [&](int64_t k, T now, T before) { return std::fma(x, now, -(T(k) * before)); });
}
template <class T, class Stop = NeverStops>
TS_ON_BOTH T laguerre(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return T(0);
  if (x == T(0)) return T(1);
  return recur<Stop>(n, T(1) - x, [&](int64_t k, T now, T before) {
    return std::fma(T(k + k) + (T(1) - x), now, -(T(k) * before)) / T(k + 1);
  });
}
template <class T, class Stop = NeverStops>
TS_ON_BOTH T legendre(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return T(0);
  if (std::fabs(x) == T(1)) return x > 0 || n % 2 == 0 ? T(1) : T(-1);
  return recur<Stop>(
      n, x, [&](int64_t k, T now, T before) { return std::fma(T(k + k + 1) * x, now, -(T(k) * before)) / T(k + 1); });
}

}  // namespace tessera::tensor::cpu::special
