// Cx<T>: a complex number with the operators that op bodies use, and namespace complex_math over it, as Num and number_math
// are for real numbers. Functions follow C's annex G by way of the standard library; products and quotients are the plain
// formulas, as PyTorch's are.
#pragma once

#include <complex>

#include "backends/number.h"

namespace tessera::tensor {

template <class T>
struct Cx {
  std::complex<T> v;

  Cx() = default;
  Cx(std::complex<T> z) : v(z) {}
  template <class U>
  requires std::is_arithmetic_v<U> Cx(U x) : v(static_cast<T>(x)) {}

  friend Cx operator+(Cx a, Cx b) { return a.v + b.v; }
  friend Cx operator-(Cx a, Cx b) { return a.v - b.v; }
  friend Cx operator*(Cx a, Cx b) {
    return std::complex<T>(a.v.real() * b.v.real() - a.v.imag() * b.v.imag(),
                           a.v.real() * b.v.imag() + a.v.imag() * b.v.real());
  }
  // Smith's: by the ratio of the divisor's parts, whose squares neither overflow nor vanish; a quotient by infinity is 0.
  friend Cx operator/(Cx z, Cx w) {
    const T a = z.v.real(), b = z.v.imag(), c = w.v.real(), d = w.v.imag();
    if (c == 0 && d == 0) return std::complex<T>(a / std::fabs(c), b / std::fabs(c));
    const bool wide = std::fabs(c) >= std::fabs(d);  // chosen from by place: no branch could be foreseen
    const T divisor[2] = {d, c}, number[2] = {b, a}, sign[2] = {T(-1), T(1)};
    const T large = divisor[wide], small = divisor[!wide], first = number[wide], second = number[!wide];
    const T ratio = small / large, scale = T(1) / (large + small * ratio);
    return std::complex<T>((first + second * ratio) * scale,
                           (sign[wide] * second - sign[wide] * first * ratio) * scale);
  }
  friend Cx operator-(Cx a) { return -a.v; }
  friend bool operator==(Cx a, Cx b) { return a.v == b.v; }
  friend bool operator!=(Cx a, Cx b) { return a.v != b.v; }
};

namespace complex_math {

using namespace number_math;

#define TS_STD(NAME)              \
  template <class T>              \
  Cx<T> NAME(Cx<T> x) {           \
    return Cx<T>(std::NAME(x.v)); \
  }
TS_STD(sqrt)
TS_STD(exp)
TS_STD(log)
TS_STD(log10)
TS_STD(sin)
TS_STD(cos)
TS_STD(tan)
TS_STD(asin)
TS_STD(acos)
TS_STD(atan)
TS_STD(sinh)
TS_STD(cosh)
TS_STD(tanh)
TS_STD(asinh)
TS_STD(acosh)
TS_STD(atanh)
#undef TS_STD

template <class T>
Cx<T> exp2(Cx<T> x) {
  return Cx<T>(std::exp(x.v * T(0.69314718055994530942)));
}
template <class T>
Cx<T> log2(Cx<T> x) {
  return Cx<T>(std::log(x.v) / T(0.69314718055994530942));
}
/// exp(x) - 1 without cancellation: expm1(re) cos(im) - 2 sin(im / 2)^2 is its real part.
template <class T>
Cx<T> expm1(Cx<T> x) {
  const T re = x.v.real(), im = x.v.imag(), half = std::sin(im / 2);
  return std::complex<T>(std::expm1(re) * std::cos(im) - 2 * half * half, std::exp(re) * std::sin(im));
}
/// log(1 + x): the modulus by log1p of |1 + x|^2 - 1.
template <class T>
Cx<T> log1p(Cx<T> x) {
  const T re = x.v.real(), im = x.v.imag();
  if (std::fabs(re) > T(0.5) || std::fabs(im) > T(0.5)) return Cx<T>(std::log(T(1) + x.v));
  return std::complex<T>(std::log1p(re * (2 + re) + im * im) / 2, std::atan2(im, 1 + re));
}
template <class T>
Cx<T> pow(Cx<T> x, Cx<T> y) {
  if (y.v == std::complex<T>(0)) return Cx<T>(1);
  if (x.v == std::complex<T>(0)) return y.v.real() > 0 ? Cx<T>(0) : Cx<T>(std::pow(x.v, y.v));
  return Cx<T>(std::pow(x.v, y.v));
}
template <class T>
Cx<T> sigmoid(Cx<T> x) {
  return Cx<T>(1) / (Cx<T>(1) + exp(-x));
}
template <class T>
bool is_nan(Cx<T> x) {
  return std::isnan(x.v.real()) || std::isnan(x.v.imag());
}
template <class T>
bool is_inf(Cx<T> x) {
  return std::isinf(x.v.real()) || std::isinf(x.v.imag());
}
template <class T>
bool is_finite(Cx<T> x) {
  return std::isfinite(x.v.real()) && std::isfinite(x.v.imag());
}
template <class T>
Cx<T> mul_add(Cx<T> x, std::type_identity_t<Cx<T>> y, std::type_identity_t<Cx<T>> z) {
  return x * y + z;
}
template <class T>
Cx<T> exp_near(Cx<T> x) {
  return exp(x);
}
template <class T>
Cx<T> select(bool c, Cx<T> a, std::type_identity_t<Cx<T>> b) {
  return c ? a : b;
}

}  // namespace complex_math
}  // namespace tessera::tensor
