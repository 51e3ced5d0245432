// The words of derivatives on lanes. pointwise.def writes them for tensors: where, rsqrt, zeros_like ...; here each is
// what the op of that name does to an element, so that both ways round alike.
#if defined(TESSERA_GRAD_LANE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_GRAD_LANE_INL_H
#undef TESSERA_GRAD_LANE_INL_H
#else
#define TESSERA_GRAD_LANE_INL_H
#endif

#include "backends/cpu/lane-inl.h"
#include "backends/special_math.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

template <class T>
HWY_INLINE LaneMask<T> operator&(LaneMask<T> a, LaneMask<T> b) {
  return a && b;
}
template <class T>
HWY_INLINE LaneMask<T> operator|(LaneMask<T> a, LaneMask<T> b) {
  return a || b;
}

namespace formulas {

template <class T>
HWY_INLINE Lane<T> where(LaneMask<T> c, Lane<T> a, std::type_identity_t<Lane<T>> b) {
  return m::select(c, a, b);
}
template <class T>
HWY_INLINE Lane<T> where(LaneMask<T> c, double a, Lane<T> b) {
  return m::select(c, Lane<T>(a), b);
}
template <class T>
HWY_INLINE Lane<T> where(Lane<T> c, Lane<T> a, double b) {
  return m::select(c != Lane<T>(0.0), a, b);
}
template <class T>
HWY_INLINE Lane<T> where(Lane<T> c, double a, Lane<T> b) {
  return m::select(c != Lane<T>(0.0), Lane<T>(a), b);
}
template <class T>
HWY_INLINE Lane<T> add_scaled(double x, Lane<T> y, Lane<T> factor) {
  return m::mul_add(y, factor, x);
}
template <class T>
HWY_INLINE Lane<T> zeros_like(Lane<T>) {
  return 0.0;
}
template <class T>
HWY_INLINE LaneMask<T> isnan(Lane<T> x) {
  return m::is_nan(x);
}
template <class T>
HWY_INLINE Lane<T> rsqrt(Lane<T> x) {
  return Lane<T>(1.0) / m::sqrt(x);
}
template <class T>
HWY_INLINE Lane<T> square(Lane<T> x) {
  return x * x;
}
template <class T>
HWY_INLINE Lane<T> softplus(Lane<T> x, double beta, double threshold) {
  const Lane<T> scaled = x * Lane<T>(beta);
  return m::select(scaled > Lane<T>(threshold), x, m::log1p(m::exp(scaled)) / Lane<T>(beta));
}
#define TS_SAME(NAME)                  \
  template <class T>                   \
  HWY_INLINE Lane<T> NAME(Lane<T> x) { \
    return m::NAME(x);                 \
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
HWY_INLINE Lane<T> floor_divide(Lane<T> x, Lane<T> y) {
  return m::floor_divide(x, y);
}
template <class T>
HWY_INLINE Lane<T> trunc_divide(Lane<T> x, Lane<T> y) {
  return m::trunc_divide(x, y);
}
template <class T>
HWY_INLINE Lane<T> pow_dx(Lane<T> g, Lane<T> x, Lane<T> y) {
  return where(y == Lane<T>(0.0), 0.0, g * (y * m::pow(x, y - Lane<T>(1.0))));
}
template <class T>
HWY_INLINE Lane<T> pow_dy(Lane<T> g, Lane<T> x, Lane<T> y, Lane<T> result) {
  return g * where((x == Lane<T>(0.0)) & (y >= Lane<T>(0.0)), 0.0, result * m::log(x));
}
template <class T>
HWY_INLINE Lane<T> digamma(Lane<T> x) {
  return m::each(x, [](T e) { return T(special::digamma(double(e))); });
}
template <class T>
HWY_INLINE Lane<T> gelu_tanh_dx(Lane<T> x) {
  const Lane<T> k = 0.79788456080286535588, one = 1.0, half = 0.5;
  const Lane<T> t = m::tanh((x + Lane<T>(0.044715) * (x * x * x)) * k);
  return half * (t + one) + half * x * (one - t * t) * (one + Lane<T>(3 * 0.044715) * (x * x)) * k;
}

}  // namespace formulas
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
