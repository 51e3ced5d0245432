// Tangent, its inverse and those of sine and cosine on lanes, within 3 ULP (tests/ops/lane_math_test.cpp measures them); NaN,
// infinities and signed zeros as in C's <math.h>.
//
// The methods are the usual ones (Muller, "Elementary Functions", chapters 9 and 11): an angle is a multiple of pi/4 and the rest, for
// which a polynomial stands. The coefficients are minimax fits of our own.
#if defined(TESSERA_LANE_ARC_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LANE_ARC_INL_H
#undef TESSERA_LANE_ARC_INL_H
#else
#define TESSERA_LANE_ARC_INL_H
#endif

#include "backends/cpu/lane_trig-inl.h"
#include "backends/cpu/lane_type-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace m {

template <class T>
struct ArcConstants;
template <>
struct ArcConstants<float> {
  static constexpr double kHalfPi = 0x1.921fb6p+0, kHalfPiLow = -4.3711388286737929e-8, kTiny = 1e-30, kHuge = 1e30;
};
template <>
struct ArcConstants<double> {
  static constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 6.1232339957367660e-17, kTiny = 1e-290,
                          kHuge = 1e290;
};

/// (atan(t) / t - 1) / z for |t| <= tan(pi/8), in z = t^2.
HWY_INLINE L<float> atan_tail(L<float> z) {
  return horner(z, -0.33332955196364857, 0.19977923629159481, -0.13879821027817956, 0.080602080037239605);
}
HWY_INLINE L<double> atan_tail(L<double> z) {
  return horner(z, -0.33333333333333199068, 0.19999999999954067778, -0.14285714280246910088, 0.11111110786051594019,
                -0.090908978338205152289, 0.076920615881102905483, -0.066631198044470301395, 0.058480045543530288847,
                -0.050398252609933458705, 0.038077792517165178418, -0.01792168641263332118);
}
/// (asin(t) / t - 1) / z for |t| <= 1/2, in z = t^2.
HWY_INLINE L<float> asin_tail(L<float> z) {
  return horner(z, 0.16666753929181484, 0.07495241726150919, 0.045477104498801315, 0.02414757170928089,
                0.042218618984102836);
}
HWY_INLINE L<double> asin_tail(L<double> z) {
  return horner(z, 0.166666666666653828, 0.075000000003430405504, 0.044642856823489524984, 0.030381959330854413228,
                0.022371753534688816972, 0.017359770917224216735, 0.013884600435752439508, 0.012173266271349290527,
                0.0065109090358458829481, 0.019573757582513869523, -0.01629384812230166893, 0.031958816932941441421);
}

/// atan(n / d) for 0 <= n, d, not both 0 and not both infinite.
template <class T>
HWY_NOINLINE L<T> angle_in_quarter(L<T> n, L<T> d) {
  using K = ArcConstants<T>;
  const LaneMask<T> steep = n > d * L<T>(2.41421356237309504880), slanted = n > d * L<T>(0.41421356237309504880);
  const L<T> top = select(steep, -d, select(slanted, n - d, n)), bottom = select(steep, n, select(slanted, n + d, d));
  const L<T> turns = select(steep, L<T>(1.0), select(slanted, L<T>(0.5), 0.0)), t = top / bottom, z = t * t;
  return mul_add(turns, K::kHalfPi, mul_add(turns, K::kHalfPiLow, t * z * atan_tail(z)) + t);
}
template <class T>
HWY_INLINE L<T> atan(L<T> x) {
  return copysign(angle_in_quarter(abs(x), L<T>(1.0)), x);
}
template <class T>
HWY_INLINE L<T> atan2(L<T> y, L<T> x) {
  using K = ArcConstants<T>;
  const L<T> n = abs(y), d = abs(x), larger = select(n > d, n, d);
  if (any(!((larger >= L<T>(K::kTiny)) && (n <= L<T>(K::kHuge)) && (d <= L<T>(K::kHuge))))) [[unlikely]]
    return each(y, x, [](T a, T b) { return std::atan2(a, b); });
  const L<T> angle = angle_in_quarter(n, d);
  return copysign(select(sign_bit(x), L<T>(2 * K::kHalfPi) - (angle - L<T>(2 * K::kHalfPiLow)), angle), y);
}

/// Half the angle at which 1 - a is what is left of a cosine, or asin(a) itself: what is to be doubled is said by `far`.
template <class T>
HWY_NOINLINE L<T> arc_part(L<T> a, LaneMask<T> far) {
  const L<T> z = select(far, (L<T>(1.0) - a) * L<T>(0.5), a * a), s = select(far, sqrt(z), a);
  return s + s * z * asin_tail(z);
}
template <class T>
HWY_INLINE L<T> asin(L<T> x) {
  using K = ArcConstants<T>;
  const L<T> a = abs(x);
  const LaneMask<T> far = a > L<T>(0.5);
  const L<T> part = arc_part(a, far);
  return copysign(select(far, L<T>(K::kHalfPi) - (part + part - L<T>(K::kHalfPiLow)), part), x);
}
template <class T>
HWY_INLINE L<T> acos(L<T> x) {
  using K = ArcConstants<T>;
  const L<T> a = abs(x);
  const LaneMask<T> far = a > L<T>(0.5);
  const L<T> part = arc_part(a, far), twice = part + part;
  const L<T> near = L<T>(K::kHalfPi) - (copysign(part, x) - L<T>(K::kHalfPiLow));
  const L<T> obtuse = L<T>(2 * K::kHalfPi) - (twice - L<T>(2 * K::kHalfPiLow));
  return select(far, select(x < L<T>(0.0), obtuse, twice), near);
}

HWY_INLINE L<float> quotient(L<float> a, L<float> b) { return a / b; }
HWY_INLINE L<double> quotient(Pair a, Pair b) {
  const L<double> inverse = L<double>(1.0) / b.high, near = a.high * inverse;
  return mul_add(mul_add(-near, b.high, a.high) + mul_add(-near, b.low, a.low), inverse, near);
}
HWY_INLINE L<float> choose(LaneMask<float> mask, L<float> a, L<float> b) { return select(mask, a, b); }
HWY_INLINE Pair choose(LaneMask<double> mask, Pair a, Pair b) {
  return {select(mask, a.high, b.high), select(mask, a.low, b.low)};
}
HWY_INLINE L<float> tan_sine(L<float> r) {
  const L<float> z = r * r;
  return mul_add(r * z, sin_tail(z), r);
}
HWY_INLINE Pair tan_sine(Pair r) { return sin_of(r).normal(); }
HWY_INLINE L<float> tan_cosine(L<float> r) { return cos_of(r); }
HWY_INLINE Pair tan_cosine(Pair r) { return cos_of(r).normal(); }

template <class T>
HWY_NOINLINE L<T> tan_in_range(L<T> x) {
  using K = TrigConstants<T>;
  const Tag<T> d;
  const hn::RebindToUnsigned<Tag<T>> du;
  const L<T> sum = mul_add(x, 0.63661977236758134308, K::kMagic);
  const auto r = minus_quarters(x, sum - L<T>(K::kMagic));
  const auto one = hn::Set(du, 1);
  const LaneMask<T> odd = {hn::RebindMask(d, hn::Eq(hn::And(hn::BitCast(du, sum.v), one), one))};
  const auto sine = tan_sine(r), cosine = tan_cosine(r);
  const L<T> found = quotient(choose(odd, cosine, sine), choose(odd, sine, cosine));
  return select(odd, -found, found);
}
template <class T>
HWY_INLINE L<T> tan(L<T> x) {
  if (!trig_in_range(x)) [[unlikely]]
    return each(x, [](T e) { return std::tan(e); });
  return tan_in_range(x);
}

}  // namespace m
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
