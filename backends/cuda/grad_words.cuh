// The words of derivatives for one element. pointwise.def writes them for tensors: where, rsqrt, zeros_like ...; here each is
// what the op of that name does to an element, so that both ways round alike.
#pragma once

#include "backends/number.h"

namespace tessera::tensor::cuda::formulas {

namespace m = number_math;

template <class T>
TS_NUMBER Num<T> where(bool c, Num<T> a, Same<Num<T>> b) {
  return c ? a : b;
}
template <class T>
TS_NUMBER Num<T> where(bool c, double a, Num<T> b) {
  return c ? Num<T>(a) : b;
}
template <class T>
TS_NUMBER Num<T> where(Num<T> c, Num<T> a, double b) {
  return c != Num<T>(0) ? a : Num<T>(b);
}
template <class T>
TS_NUMBER Num<T> where(Num<T> c, double a, Num<T> b) {
  return c != Num<T>(0) ? Num<T>(a) : b;
}
template <class T>
TS_NUMBER Num<T> add_scaled(double x, Num<T> y, Num<T> factor) {
  return m::mul_add(y, factor, x);
}
template <class T>
TS_NUMBER Num<T> zeros_like(Num<T>) {
  return 0;
}
template <class T>
TS_NUMBER bool isnan(Num<T> x) {
  return m::is_nan(x);
}
template <class T>
TS_NUMBER Num<T> rsqrt(Num<T> x) {
  return Num<T>(1) / m::sqrt(x);
}
template <class T>
TS_NUMBER Num<T> square(Num<T> x) {
  return x * x;
}
template <class T>
TS_NUMBER Num<T> softplus(Num<T> x, double beta, double threshold) {
  const Num<T> scaled = x * beta;
  return m::select(scaled > threshold, x, m::log1p(m::exp(scaled)) / beta);
}
#define TS_SAME(NAME)               \
  template <class T>                \
  TS_NUMBER Num<T> NAME(Num<T> x) { \
    return m::NAME(x);              \
  }
TS_SAME(abs)
TS_SAME(sign)
TS_SAME(exp)
TS_SAME(log)
TS_SAME(sin)
TS_SAME(cos)
TS_SAME(sinh)
TS_SAME(cosh)
TS_SAME(tanh)
TS_SAME(erf)
TS_SAME(sigmoid)
#undef TS_SAME
template <class T>
TS_NUMBER Num<T> floor_divide(Num<T> x, Num<T> y) {
  return m::floor_divide(x, y);
}
template <class T>
TS_NUMBER Num<T> trunc_divide(Num<T> x, Num<T> y) {
  return m::trunc_divide(x, y);
}
template <class T>
TS_NUMBER Num<T> pow_dx(Num<T> g, Num<T> x, Num<T> y) {
  return where(y == 0.0, 0.0, g * (y * m::pow(x, y - 1.0)));
}
template <class T>
TS_NUMBER Num<T> pow_dy(Num<T> g, Num<T> x, Num<T> y, Num<T> result) {
  return g * where(x == 0.0 && y >= 0.0, 0.0, result * m::log(x));
}
/// By steps of one to 10 and beyond, where few terms of the asymptotic series do; below zero by reflection.
template <class T>
TS_NUMBER Num<T> digamma(Num<T> given) {
  constexpr double kPi = 3.14159265358979323846;
  double x = double(given.v), total = 0;
  if (x == 0) return Num<T>(words::copysign(words::infinity<double>(), -x));
  if (x < 0) {
    const double rest = x - words::floor(x);
    if (rest == 0 || words::is_inf(x)) return Num<T>(words::infinity<double>() - words::infinity<double>());
    total = -kPi / words::tan(kPi * rest);
    x = 1 - x;
  }
  for (; x < 10; x += 1) total -= 1 / x;
  const Num<double> y(1 / (x * x));
  const Num<double> series =
      m::horner(y, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12);
  return Num<T>(total + words::log(x) - 0.5 / x - (y * series).v);
}
template <class T>
TS_NUMBER Num<T> gelu_tanh_dx(Num<T> x) {
  const Num<T> k = 0.79788456080286535588;
  const Num<T> t = m::tanh((x + 0.044715 * (x * x * x)) * k);
  return 0.5 * (t + 1.0) + 0.5 * x * (1.0 - t * t) * (1.0 + (3 * 0.044715) * (x * x)) * k;
}

}  // namespace tessera::tensor::cuda::formulas
