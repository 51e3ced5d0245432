// Num<T>: one number with the operators that op bodies use, and namespace m over it. What a SIMD lane is to the CPU's
// vector code, Num is to plain code: the ref backend computes in Num<double> and Num<int64_t>, the CPU
// its integers in Num<int32_t> and Num<int64_t> (integer arithmetic wraps round).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tessera::tensor {

template <class T>
struct Num {
  T v;

  Num() = default;
  template <class U>
  requires std::is_arithmetic_v<U>
  constexpr Num(U x) : v(static_cast<T>(x)) {}

  static constexpr bool kInteger = std::is_integral_v<T>;
  using W = typename std::conditional_t<kInteger, std::make_unsigned<T>, std::type_identity<T>>::type;  // wraps round

  friend Num operator+(Num a, Num b) { return Num(W(W(a.v) + W(b.v))); }
  friend Num operator-(Num a, Num b) { return Num(W(W(a.v) - W(b.v))); }
  friend Num operator*(Num a, Num b) { return Num(W(W(a.v) * W(b.v))); }
  friend Num operator/(Num a, Num b) {
    if constexpr (kInteger) return b.v == 0 ? Num(0) : b.v == -1 ? Num(0) - a : Num(T(a.v / b.v));
    else return Num(a.v / b.v);
  }
  friend Num operator-(Num a) { return kInteger ? Num(0) - a : Num(-a.v); }
  friend bool operator==(Num a, Num b) { return a.v == b.v; }
  friend bool operator!=(Num a, Num b) { return a.v != b.v; }
  friend bool operator<(Num a, Num b) { return a.v < b.v; }
  friend bool operator<=(Num a, Num b) { return a.v <= b.v; }
  friend bool operator>(Num a, Num b) { return a.v > b.v; }
  friend bool operator>=(Num a, Num b) { return a.v >= b.v; }
  friend Num operator&(Num a, Num b) requires kInteger { return Num(T(a.v & b.v)); }
  friend Num operator|(Num a, Num b) requires kInteger { return Num(T(a.v | b.v)); }
  friend Num operator^(Num a, Num b) requires kInteger { return Num(T(a.v ^ b.v)); }
  friend Num operator~(Num a) requires kInteger { return Num(T(~a.v)); }
};

namespace number_math {

#define TS_STD(NAME, CALL)         \
  template <class T>               \
  Num<T> NAME(Num<T> x) {          \
    return Num<T>(std::CALL(x.v)); \
  }
TS_STD(sqrt, sqrt)
TS_STD(exp, exp)
TS_STD(exp2, exp2)
TS_STD(expm1, expm1)
TS_STD(log, log)
TS_STD(log2, log2)
TS_STD(log10, log10)
TS_STD(log1p, log1p)
TS_STD(sin, sin)
TS_STD(cos, cos)
TS_STD(tan, tan)
TS_STD(asin, asin)
TS_STD(acos, acos)
TS_STD(atan, atan)
TS_STD(sinh, sinh)
TS_STD(cosh, cosh)
TS_STD(tanh, tanh)
TS_STD(asinh, asinh)
TS_STD(acosh, acosh)
TS_STD(atanh, atanh)
TS_STD(erf, erf)
TS_STD(erfc, erfc)
#undef TS_STD
template <class T>
Num<T> lgamma(Num<T> x) {
  int sign;
  return Num<T>(T(::lgamma_r(double(x.v), &sign)));
}
#define TS_ROUND(NAME, CALL)                  \
  template <class T>                          \
  Num<T> NAME(Num<T> x) {                     \
    if constexpr (Num<T>::kInteger) return x; \
    else return Num<T>(std::CALL(x.v));       \
  }
TS_ROUND(floor, floor)
TS_ROUND(ceil, ceil)
TS_ROUND(round, nearbyint)
TS_ROUND(trunc, trunc)
#undef TS_ROUND

template <class T>
Num<T> abs(Num<T> x) {
  if constexpr (Num<T>::kInteger) return x.v < 0 ? -x : x;
  else return Num<T>(std::fabs(x.v));
}
template <class T>
Num<T> sign(Num<T> x) {
  return Num<T>((x.v > 0) - (x.v < 0));
}
template <class T>
bool is_nan(Num<T> x) {
  return x.v != x.v;
}
template <class T>
bool is_inf(Num<T> x) {
  if constexpr (Num<T>::kInteger) return false;
  else return std::isinf(x.v);
}
template <class T>
bool is_finite(Num<T> x) {
  if constexpr (Num<T>::kInteger) return true;
  else return std::isfinite(x.v);
}
template <class T>
bool sign_bit(Num<T> x) {
  if constexpr (Num<T>::kInteger) return x.v < 0;
  else return std::signbit(x.v);
}
template <class T>
Num<T> select(bool c, Num<T> a, std::type_identity_t<Num<T>> b) {
  return c ? a : b;
}
inline bool differ(bool a, bool b) { return a != b; }
inline bool any(bool x) { return x; }
/// What `exp` as an op is; on lanes it is nearer to the exact value than what other functions are made of.
template <class T>
Num<T> exp_near(Num<T> x) {
  return exp(x);
}
/// x * y + z; lanes round once where the instruction set can, as PyTorch's kernels do.
template <class T>
Num<T> mul_add(Num<T> x, std::type_identity_t<Num<T>> y, std::type_identity_t<Num<T>> z) {
  return x * y + z;
}
/// c0 + x (c1 + x (c2 + ...)).
template <class T>
Num<T> horner(Num<T>, double c) {
  return Num<T>(c);
}
template <class T, class... C>
Num<T> horner(Num<T> x, double c, C... rest) {
  return horner(x, rest...) * x + c;
}

template <class T>
Num<T> maximum(Num<T> x, std::type_identity_t<Num<T>> y) {
  return x.v >= y.v || is_nan(x) ? x : y;
}
template <class T>
Num<T> minimum(Num<T> x, std::type_identity_t<Num<T>> y) {
  return x.v <= y.v || is_nan(x) ? x : y;
}
template <class T>
Num<T> fmax(Num<T> x, Num<T> y) {
  return x.v > y.v || is_nan(y) ? x : y;
}
template <class T>
Num<T> fmin(Num<T> x, Num<T> y) {
  return x.v < y.v || is_nan(y) ? x : y;
}

template <class T>
Num<T> trunc_divide(Num<T> x, Num<T> y) {
  if constexpr (Num<T>::kInteger) return x / y;
  else return Num<T>(std::trunc(x.v / y.v));
}
template <class T>
Num<T> fmod(Num<T> x, Num<T> y) {
  if constexpr (Num<T>::kInteger) return x - (x / y) * y;
  else return Num<T>(std::fmod(x.v, y.v));
}
/// Python's //: exact for floats too, as it starts from the remainder.
template <class T>
Num<T> floor_divide(Num<T> x, Num<T> y) {
  if constexpr (Num<T>::kInteger) {
    Num<T> q = x / y;
    return y.v != 0 && (q * y).v != x.v && (x.v < 0) != (y.v < 0) ? q - 1 : q;
  } else {
    if (y.v == 0) return x / y;
    T r = std::fmod(x.v, y.v);
    T q = (x.v - r) / y.v;
    if (r != 0 && (y.v < 0) != (r < 0)) q -= 1;
    if (q == 0) return Num<T>(std::copysign(T(0), x.v / y.v));
    T whole = std::floor(q);
    return Num<T>(q - whole > T(0.5) ? whole + 1 : whole);
  }
}
template <class T>
Num<T> pow(Num<T> x, Num<T> y) {
  if constexpr (Num<T>::kInteger) {
    if (y.v < 0) return x.v == 1 ? Num<T>(1) : x.v == -1 ? Num<T>((y.v & 1) ? -1 : 1) : Num<T>(0);
    Num<T> result(1), base = x;
    for (T n = y.v; n; n >>= 1) {
      if (n & 1) result = result * base;
      base = base * base;
    }
    return result;
  } else {
    return Num<T>(std::pow(x.v, y.v));
  }
}
template <class T>
Num<T> atan2(Num<T> x, Num<T> y) {
  return Num<T>(std::atan2(x.v, y.v));
}
template <class T>
Num<T> hypot(Num<T> x, Num<T> y) {
  return Num<T>(std::hypot(x.v, y.v));
}
template <class T>
Num<T> copysign(Num<T> x, Num<T> y) {
  return Num<T>(std::copysign(x.v, y.v));
}
template <class T>
Num<T> sigmoid(Num<T> x) {
  return Num<T>(1 / (1 + std::exp(-x.v)));
}
template <class T>
Num<T> normal_cdf(Num<T> x) {
  return Num<T>(T(0.5) * std::erfc(x.v * T(-0.70710678118654752440)));
}
template <class T>
Num<T> shift_left(Num<T> x, Num<T> y) {
  constexpr int bits = 8 * sizeof(T);
  return y.v < 0 || y.v >= bits ? Num<T>(0) : Num<T>(typename Num<T>::W(typename Num<T>::W(x.v) << y.v));
}
template <class T>
Num<T> shift_right(Num<T> x, Num<T> y) {
  constexpr int bits = 8 * sizeof(T);
  return Num<T>(T(x.v >> (y.v < 0 || y.v >= bits ? bits - 1 : y.v)));
}

/// The identities of maximum and minimum.
template <class T>
Num<T> lowest(Num<T>) {
  using Limits = std::numeric_limits<T>;
  return Num<T>(Num<T>::kInteger ? Limits::lowest() : -Limits::infinity());
}
template <class T>
Num<T> highest(Num<T>) {
  using Limits = std::numeric_limits<T>;
  return Num<T>(Num<T>::kInteger ? Limits::max() : Limits::infinity());
}
template <class T>
Num<T> truth(Num<T> x) {
  return Num<T>(x.v != 0);
}

#define TS_FN
#define TS_NUM(T) Num<T>
#include "backends/shared_math.inc"
#undef TS_FN
#undef TS_NUM

}  // namespace number_math
}  // namespace tessera::tensor
