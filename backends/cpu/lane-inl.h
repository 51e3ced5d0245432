// Namespace m on lanes: the functions of pointwise.def's bodies, for one and two operands. lane_type-inl.h has what is an
// instruction or two, lane_exp-inl.h the exponentials, lane_log-inl.h the logarithms, lane_trig-inl.h sine and cosine.
//
// They are our own where vectors pay: Highway's are wrong for infinities and large arguments (Sin(inf) = -inf) or off by
// more than 2 ULP. The rest goes through libm, element by element.
#if defined(TESSERA_LANE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LANE_INL_H
#undef TESSERA_LANE_INL_H
#else
#define TESSERA_LANE_INL_H
#endif

#include <cmath>

#include "backends/cpu/lane_exp-inl.h"
#include "backends/cpu/lane_log-inl.h"
#include "backends/cpu/lane_trig-inl.h"
#include "backends/cpu/lane_type-inl.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace m {

template <class T>
HWY_INLINE L<T> log10(L<T> x) {
  return each(x, [](T e) { return std::log10(e); });
}
#define TS_EACH(NAME, CALL)                              \
  template <class T>                                     \
  HWY_INLINE L<T> NAME(L<T> x) {                         \
    return each(x, [](T e) { return T(std::CALL(e)); }); \
  }
TS_EACH(tan, tan)
TS_EACH(asin, asin)
TS_EACH(acos, acos)
TS_EACH(atan, atan)
TS_EACH(asinh, asinh)
TS_EACH(acosh, acosh)
TS_EACH(atanh, atanh)
TS_EACH(erfc, erfc)
#undef TS_EACH
template <class T>
HWY_INLINE L<T> lgamma(L<T> x) {
  return each(x, [](T e) {
    int sign;
    return T(::lgamma_r(double(e), &sign));
  });
}

// ---- two operands ----

template <class T>
HWY_INLINE L<T> trunc_divide(L<T> x, L<T> y) {
  return trunc(x / y);
}
template <class T>
HWY_INLINE L<T> fmod(L<T> x, L<T> y) {
  return each(x, y, [](T a, T b) { return std::fmod(a, b); });
}
template <class T>
HWY_INLINE L<T> floor_divide(L<T> x, L<T> y) {
  return each(x, y, [](T a, T b) { return number_math::floor_divide(Num<T>(a), Num<T>(b)).v; });
}
HWY_INLINE L<double> pow(L<double> x, L<double> y) {
  return each(x, y, [](double a, double b) { return std::pow(a, b); });
}
HWY_INLINE L<float> pow(L<float> x, L<float> y) {
  // exp(y log x) in double, which leaves float's rounding as the only error; odd operands go one by one.
  L<float> top = 1e38;
  const bool plain = !any(!((x >= L<float>(1e-37)) && (x <= top) && (abs(y) <= top)));
  if (!plain) return each(x, y, [](float a, float b) { return std::pow(a, b); });
#if HWY_TARGET == HWY_SCALAR
  return L<float>(std::pow(hn::GetLane(x.v), hn::GetLane(y.v)));
#else
  const Tag<float> d;
  const hn::Half<decltype(d)> dh;
  const hn::Repartition<double, decltype(d)> dd;
  auto half = [&](auto a, auto b) HWY_ATTR {
    auto e = hn::Mul(hn::Log(dd, hn::PromoteTo(dd, a)), hn::PromoteTo(dd, b));
    e = hn::Max(hn::Min(e, hn::Set(dd, 200.0)), hn::Set(dd, -200.0));
    return hn::DemoteTo(dh, hn::Exp(dd, e));
  };
  return hn::Combine(d, half(hn::UpperHalf(dh, x.v), hn::UpperHalf(dh, y.v)),
                     half(hn::LowerHalf(dh, x.v), hn::LowerHalf(dh, y.v)));
#endif
}
template <class T>
HWY_INLINE L<T> atan2(L<T> x, L<T> y) {
  return each(x, y, [](T a, T b) { return std::atan2(a, b); });
}
template <class T>
HWY_INLINE L<T> hypot(L<T> x, L<T> y) {
  return each(x, y, [](T a, T b) { return std::hypot(a, b); });
}

template <class T>
HWY_INLINE L<T> lowest(L<T>) {
  return L<T>(-HUGE_VAL);
}
template <class T>
HWY_INLINE L<T> truth(L<T> x) {
  return select(x != L<T>(0.0), L<T>(1.0), L<T>(0.0));
}
template <class T>
L<T> shift_left(L<T> x, L<T> y);  // integers only: named by bodies, never called on these lanes
template <class T>
L<T> shift_right(L<T> x, L<T> y);

#define TS_FN HWY_INLINE
#define TS_NUM(T) L<T>
#include "backends/shared_math.inc"
#undef TS_FN
#undef TS_NUM

}  // namespace m
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
