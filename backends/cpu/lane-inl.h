// Namespace m on lanes: the functions of pointwise.def's bodies, for one and two operands. lane_type-inl.h has what is an
// instruction or two, lane_exp-inl.h the exponentials, lane_log-inl.h the logarithms, lane_trig-inl.h sine and cosine,
// lane_arc-inl.h the tangent and the inverse functions.
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

#include "backends/cpu/lane_arc-inl.h"
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
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4)  // powers of ten are exact so
    return in_doubles([](L<double> a) HWY_ATTR { return log(a) * L<double>(0.43429448190325182765); }, x);
#endif
  return each(x, [](T e) { return std::log10(e); });
}
#define TS_EACH(NAME, CALL)                              \
  template <class T>                                     \
  HWY_INLINE L<T> NAME(L<T> x) {                         \
    return each(x, [](T e) { return T(std::CALL(e)); }); \
  }
TS_EACH(asinh, asinh)
TS_EACH(acosh, acosh)
TS_EACH(atanh, atanh)
#undef TS_EACH
/// In the middle from erf; beyond from the tail's own series, and 2 less that below. The rounding of x^2 counts in exp(-x^2).
HWY_INLINE L<double> erfc_of_doubles(L<double> x) {
  const L<double> a = at_most(abs(x), 40.0), s = a * a, lost = hn::MulSub(a.v, a.v, s.v);
  const LaneMask<double> is_far = a >= L<double>(1.0);
  if (!any(is_far)) return L<double>(1.0) - erf(x);
  const L<double> tail = erfc_far(a, s) * (L<double>(1.0) - lost);
  const L<double> far = select(x < L<double>(0.0), L<double>(2.0) - tail, tail);
  return select(x == x, select(is_far, far, L<double>(1.0) - erf(x)), x);
}
template <class T>
HWY_INLINE L<T> erfc(L<T> x) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) return in_doubles([](L<double> a) HWY_ATTR { return erfc_of_doubles(a); }, x);
#endif
  return each(x, [](T e) { return T(std::erfc(e)); });
}
/// Stirling's series at x + 8 of small x, less the logarithm of what was multiplied; of x below 1/2 by reflection. Its errors
/// are some 1e-15, which is enough for floats.
HWY_INLINE L<double> lgamma_of_doubles(L<double> x) {
  const L<double> one = 1.0;
  const LaneMask<double> is_low = x < L<double>(0.5);
  const L<double> y = select(is_low, one - x, x), by_two = y * (y + one);
  const LaneMask<double> is_small = y < L<double>(8.0);
  const auto pair = [&](double n) HWY_ATTR { return (y + L<double>(n)) * (y + L<double>(n + 1)); };
  const L<double> product = select(is_small, by_two * pair(2) * pair(4) * pair(6), one);
  const L<double> z = select(is_small, y + L<double>(8.0), y), inverse = one / z;
  const L<double> series = inverse * horner(inverse * inverse, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680,
                                            1.0 / 1188, -691.0 / 360360, 1.0 / 156, -3617.0 / 122400);
  L<double> result = (z - L<double>(0.5)) * log(z) - z + L<double>(0.91893853320467274178) + series - log(product);
  result = select(y == one, L<double>(0.0), select(y == L<double>(2.0), L<double>(0.0), result));
  result = select(y <= L<double>(1e300), result, y);  // infinite, or no number
  if (!any(is_low)) return result;
  const L<double> from_whole = (x - round(x)) * L<double>(3.14159265358979323846);
  const L<double> reflected = log(L<double>(3.14159265358979323846) / abs(sin(from_whole))) - result;
  const L<double> low = select(x >= L<double>(-1e300), select(x == round(x), L<double>(HUGE_VAL), reflected), abs(x));
  return select(is_low, low, result);
}
template <class T>
HWY_INLINE L<T> lgamma(L<T> x) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) return in_doubles([](L<double> a) HWY_ATTR { return lgamma_of_doubles(a); }, x);
#endif
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
#if HWY_TARGET <= HWY_AVX2  // multiplies and adds in one rounding
  // What is left is a number of T as long as the quotient has no more digits than one; it may come out one y too large.
  constexpr double kMost = sizeof(T) == 4 ? 0x1p24 : 0x1p53;
  const L<T> q = trunc(x / y), left = hn::NegMulAdd(q.v, y.v, x.v);
  if (!any(!((abs(q) < L<T>(kMost)) && is_finite(y)))) [[likely]] {
    const LaneMask<T> beyond = (left != L<T>(0.0)) && differ(sign_bit(left), sign_bit(x));
    return copysign(select(beyond, left + copysign(y, x), left), x);
  }
#endif
  return each(x, y, [](T a, T b) { return std::fmod(a, b); });
}
template <class T>
HWY_INLINE L<T> floor_divide(L<T> x, L<T> y) {
#if HWY_TARGET <= HWY_AVX2
  const L<T> zero = 0.0, rest = fmod(x, y), plain = (x - rest) / y;
  const L<T> q = select((rest != zero) && differ(y < zero, rest < zero), plain - L<T>(1.0), plain), whole = floor(q);
  const L<T> rounded = select(q - whole > L<T>(0.5), whole + L<T>(1.0), whole), quotient = x / y;
  return select(y == zero, quotient, select(q == zero, copysign(zero, quotient), rounded));
#else
  return each(x, y, [](T a, T b) { return number_math::floor_divide(Num<T>(a), Num<T>(b)).v; });
#endif
}
HWY_INLINE L<double> pow(L<double> x, L<double> y) {
  return each(x, y, [](double a, double b) { return std::pow(a, b); });
}
// One copy for all callers.
inline HWY_NOINLINE L<double> exp_of_log(L<double> x, L<double> y) {
  const Tag<double> d;
  const auto e = hn::Mul(hn::Log(d, x.v), y.v);
  return hn::Exp(d, hn::Max(hn::Min(e, hn::Set(d, 200.0)), hn::Set(d, -200.0)));
}
HWY_INLINE L<float> pow(L<float> x, L<float> y) {
  // exp(y log x) in double, which leaves float's rounding as the only error; odd operands go one by one.
  L<float> top = 1e38;
  const bool plain = !any(!((x >= L<float>(1e-37)) && (x <= top) && (abs(y) <= top)));
  if (!plain) return each(x, y, [](float a, float b) { return std::pow(a, b); });
#if HWY_TARGET == HWY_SCALAR
  return L<float>(std::pow(hn::GetLane(x.v), hn::GetLane(y.v)));
#else
  return in_doubles([](L<double> a, L<double> b) HWY_ATTR { return exp_of_log(a, b); }, x, y);
#endif
}
template <class T>
HWY_INLINE L<T> hypot(L<T> x, L<T> y) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {
    const L<T> r = in_doubles([](L<double> a, L<double> b) HWY_ATTR { return sqrt(a * a + b * b); }, x, y);
    return select(is_inf(x) || is_inf(y), L<T>(HUGE_VAL), r);  // beside NaN too
  }
#endif
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
