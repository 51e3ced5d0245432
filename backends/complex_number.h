// Cx<T>: a complex number with the operators that op bodies use, and namespace complex_math over it, as Num and number_math
// are for real numbers. Functions follow C's annex G: on the host by way of the standard library, on a device (and on
// whoever stands in for one) by complex_functions.h. Products and quotients are the plain formulas, as PyTorch's are.
#pragma once

#include "backends/number.h"

#ifndef __CUDACC_RTC__
#include <complex>
#endif
#if defined(__CUDACC__) || defined(TESSERA_EXECUTOR)
#define TS_OWN_COMPLEX 1
#endif

namespace tessera::tensor {

template <class T>
struct alignas(2 * sizeof(T)) Cx {
  T re, im;

  Cx() = default;
  TS_NUMBER constexpr Cx(T real, T imag) : re(real), im(imag) {}
  template <class U>
  requires requires(U x) { static_cast<T>(x); }
  TS_NUMBER constexpr Cx(U x) : re(static_cast<T>(x)), im(0) {}
#ifndef __CUDACC_RTC__
  constexpr Cx(std::complex<T> z) : re(z.real()), im(z.imag()) {}
  constexpr operator std::complex<T>() const { return {re, im}; }
#endif

  friend TS_NUMBER Cx operator+(Cx a, Cx b) { return Cx(a.re + b.re, a.im + b.im); }
  friend TS_NUMBER Cx operator-(Cx a, Cx b) { return Cx(a.re - b.re, a.im - b.im); }
  friend TS_NUMBER Cx operator*(Cx a, Cx b) { return Cx(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
  // Smith's: by the ratio of the divisor's parts, whose squares neither overflow nor vanish; a quotient by infinity is 0.
  friend TS_NUMBER Cx operator/(Cx z, Cx w) {
    const T a = z.re, b = z.im, c = w.re, d = w.im;
    if (c == 0 && d == 0) return Cx(a / words::fabs(c), b / words::fabs(c));
    const bool wide = words::fabs(c) >= words::fabs(d);
    const T large = choose(wide, c, d), small = choose(wide, d, c), first = choose(wide, a, b),
            second = choose(wide, b, a), sign = choose(wide, T(1), T(-1));
    const T ratio = small / large, scale = T(1) / (large + small * ratio);
    return Cx((first + second * ratio) * scale, (sign * second - sign * first * ratio) * scale);
  }
  friend TS_NUMBER Cx operator-(Cx a) { return Cx(-a.re, -a.im); }
  friend TS_NUMBER bool operator==(Cx a, Cx b) { return a.re == b.re && a.im == b.im; }
  friend TS_NUMBER bool operator!=(Cx a, Cx b) { return !(a == b); }

 private:
  // By place on the host, where no branch could be foreseen; a device has an instruction for it.
  static TS_NUMBER T choose(bool c, T a, T b) {
#ifdef TS_OWN_COMPLEX
    return c ? a : b;
#else
    const T both[2] = {b, a};
    return both[c];
#endif
  }
};

}  // namespace tessera::tensor

#ifdef TS_OWN_COMPLEX
#include "backends/complex_functions.h"
#endif

namespace tessera::tensor::complex_math {

using namespace number_math;

#define TS_EACH_FUNCTION(F) \
  F(sqrt) F(exp) F(log) F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh)
#ifdef TS_OWN_COMPLEX
#define TS_FUNCTION(NAME)              \
  template <class T>                   \
  TS_NUMBER Cx<T> NAME(Cx<T> x) {      \
    return complex_functions::NAME(x); \
  }
#else
#define TS_FUNCTION(NAME)                 \
  template <class T>                      \
  Cx<T> NAME(Cx<T> x) {                   \
    return std::NAME(std::complex<T>(x)); \
  }
#endif
TS_EACH_FUNCTION(TS_FUNCTION)
#undef TS_FUNCTION
#undef TS_EACH_FUNCTION

template <class T>
TS_NUMBER Cx<T> log10(Cx<T> x) {
#ifdef TS_OWN_COMPLEX
  const Cx<T> y = log(x);
  return Cx<T>(y.re / T(2.30258509299404568402), y.im / T(2.30258509299404568402));
#else
  return std::log10(std::complex<T>(x));
#endif
}
template <class T>
TS_NUMBER Cx<T> exp2(Cx<T> x) {
  constexpr T kLn2 = T(0.69314718055994530942);
  return exp(Cx<T>(x.re * kLn2, x.im * kLn2));
}
template <class T>
TS_NUMBER Cx<T> log2(Cx<T> x) {
  constexpr T kLn2 = T(0.69314718055994530942);
  const Cx<T> y = log(x);
  return Cx<T>(y.re / kLn2, y.im / kLn2);
}
/// exp(x) - 1 without cancellation: expm1(re) cos(im) - 2 sin(im / 2)^2 is its real part.
template <class T>
TS_NUMBER Cx<T> expm1(Cx<T> x) {
  const T half = words::sin(x.im / 2);
  return Cx<T>(words::expm1(x.re) * words::cos(x.im) - 2 * half * half, words::exp(x.re) * words::sin(x.im));
}
/// log(1 + x): the modulus by log1p of |1 + x|^2 - 1.
template <class T>
TS_NUMBER Cx<T> log1p(Cx<T> x) {
  const T re = x.re, im = x.im;
  if (words::fabs(re) > T(0.5) || words::fabs(im) > T(0.5)) return log(Cx<T>(T(1) + re, im));
  return Cx<T>(words::log1p(re * (2 + re) + im * im) / 2, words::atan2(im, 1 + re));
}
template <class T>
TS_NUMBER Cx<T> pow(Cx<T> x, Cx<T> y) {
  const Cx<T> zero(0);
  if (y == zero) return Cx<T>(1);
  if (x == zero && y.re > 0) return zero;
#ifdef TS_OWN_COMPLEX
  return exp(y * log(x));
#else
  return std::pow(std::complex<T>(x), std::complex<T>(y));
#endif
}
template <class T>
TS_NUMBER Cx<T> sigmoid(Cx<T> x) {
  return Cx<T>(1) / (Cx<T>(1) + exp(-x));
}
template <class T>
TS_NUMBER bool is_nan(Cx<T> x) {
  return words::is_nan(x.re) || words::is_nan(x.im);
}
template <class T>
TS_NUMBER bool is_inf(Cx<T> x) {
  return words::is_inf(x.re) || words::is_inf(x.im);
}
template <class T>
TS_NUMBER bool is_finite(Cx<T> x) {
  return words::is_finite(x.re) && words::is_finite(x.im);
}
template <class T>
TS_NUMBER Cx<T> mul_add(Cx<T> x, Same<Cx<T>> y, Same<Cx<T>> z) {
  return x * y + z;
}
template <class T>
TS_NUMBER Cx<T> exp_near(Cx<T> x) {
  return exp(x);
}
template <class T>
TS_NUMBER Cx<T> select(bool c, Cx<T> a, Same<Cx<T>> b) {
  return c ? a : b;
}

}  // namespace tessera::tensor::complex_math
