// Sine and cosine on lanes, within 2 ULP up to the range below (of doubles 98 in 100 are the nearest number); larger arguments go
// through libm one by one.
//
// x = q pi/2 + r, the method of Cody and Waite ("Software Manual for the Elementary Functions", 1980): pi/2 comes in parts
// with so few bits that their products with q are exact. Float does this in double. Then one of two polynomials by q.
#if defined(TESSERA_LANE_TRIG_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LANE_TRIG_INL_H
#undef TESSERA_LANE_TRIG_INL_H
#else
#define TESSERA_LANE_TRIG_INL_H
#endif

#include "backends/cpu/lane_type-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace m {

template <class T>
struct TrigConstants;
template <>
struct TrigConstants<float> {
  static constexpr double kMagic = 0x1.8p23, kRange = 20000;
  static constexpr int kSignShift = 30;
};
template <>
struct TrigConstants<double> {
  static constexpr double kMagic = 0x1.8p52, kRange = 500000;
  static constexpr int kSignShift = 62;
};
inline constexpr double kHalfPi[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34,
                                     0x1.3198a2e037073p-69};  // 33 bits, 33 bits, rest

/// A sum that is not rounded: `high` may be far larger than `low`, or only somewhat.
struct Pair {
  L<double> high, low;
  HWY_INLINE L<double> value() const { return high + low; }
  HWY_INLINE Pair normal() const {
    const L<double> sum = high + low;
    return {sum, (high - sum) + low};
  }
};

HWY_INLINE Pair minus_quarters(L<double> x, L<double> q) {
  const auto less = [q](L<double> from, double part) HWY_ATTR {
    return L<double>(hn::NegMulAdd(q.v, L<double>(part).v, from.v));
  };
  const L<double> high = less(x, kHalfPi[0]), middle = less(high, kHalfPi[1]), r = less(middle, kHalfPi[2]);
  return {r, less(high - middle, kHalfPi[1]) + less(middle - r, kHalfPi[2])};
}
HWY_INLINE L<float> minus_quarters(L<float> x, L<float> q) {
#if HWY_TARGET == HWY_SCALAR
  const double r = (hn::GetLane(x.v) - hn::GetLane(q.v) * kHalfPi[0]) - hn::GetLane(q.v) * kHalfPi[1];
  return hn::Set(Tag<float>(), float(r));
#else
  return in_doubles(
      [](L<double> a, L<double> b) HWY_ATTR {
        const L<double> high = hn::NegMulAdd(b.v, L<double>(kHalfPi[0]).v, a.v);
        return L<double>(hn::NegMulAdd(b.v, L<double>(kHalfPi[1]).v, high.v));
      },
      x, q);
#endif
}

/// (sin(r) / r - 1) / z, sin(r) / r and cos(r) for |r| <= pi/4, in z = r^2.
HWY_INLINE L<float> sin_tail(L<float> z) {
  return horner(z, -0.16666654463249986, 0.008332151325733455, -0.0001951397915251644);
}
HWY_INLINE L<float> cos_part(L<float> z) {
  return horner(z, 1.0, -0.5, 0.04166664542517165, -0.0013887303452794696, 2.4431667396079696e-05);
}
HWY_INLINE L<double> sin_tail(L<double> z) {
  return horner(z, -0.16666666666666666, 0.008333333333333331, -0.00019841269841264968, 2.755731921926441e-06,
                -2.5052106206531682e-08, 1.605852751943773e-10, -7.586455940017973e-13);
}
/// (cos(r) - 1 + z / 2) / z^2.
HWY_INLINE L<double> cos_tail(L<double> z) {
  return horner(z, 0.041666666666666664, -0.0013888888888887367, 2.480158729872029e-05, -2.7557317248229367e-07,
                2.0876141380294955e-09, -1.1382280957702634e-11);
}
HWY_INLINE L<float> sin_of(L<float> r) {
  const L<float> z = r * r;
  return mul_add(sin_tail(z), z, 1.0) * r;
}
HWY_INLINE L<float> cos_of(L<float> r) { return cos_part(r * r); }
HWY_INLINE Pair sin_of(Pair r) {
  const L<double> z = r.high * r.high;
  return {r.high, mul_add(r.high * z, sin_tail(z), r.low * mul_add(z, -0.5, 1.0))};
}
HWY_INLINE Pair cos_of(Pair r) {
  const L<double> z = r.high * r.high, lost = mul_add(r.high, r.high, -z), half = z * L<double>(0.5);
  const L<double> largest = L<double>(1.0) - half;
  const L<double> rest = mul_add(z * z, cos_tail(z), -mul_add(lost, 0.5, r.high * r.low));
  return {largest, ((L<double>(1.0) - largest) - half) + rest};
}
HWY_INLINE L<float> value_of(L<float> x) { return x; }
HWY_INLINE L<double> value_of(Pair x) { return x.value(); }

/// sin(x + more pi/2), |x| up to kRange.
template <class T>
HWY_INLINE L<T> sin_quarters(L<T> x, int more) {
  using K = TrigConstants<T>;
  const Tag<T> d;
  const hn::RebindToUnsigned<Tag<T>> du;
  const L<T> sum = mul_add(x, 0.63661977236758134308, K::kMagic);
  const auto r = minus_quarters(x, sum - L<T>(K::kMagic));
  const auto one = hn::Set(du, 1);
  const auto quarter = hn::Add(hn::BitCast(du, sum.v), hn::Set(du, static_cast<hn::TFromD<decltype(du)>>(more)));
  const LaneMask<T> odd = {hn::RebindMask(d, hn::Eq(hn::And(quarter, one), one))};
  const auto sign = hn::And(hn::ShiftLeft<K::kSignShift>(quarter), hn::BitCast(du, hn::SignBit(d)));
  const L<T> value = select(odd, value_of(cos_of(r)), value_of(sin_of(r)));
  return hn::Xor(value.v, hn::BitCast(d, sign));
}
template <class T>
[[gnu::always_inline]] HWY_INLINE bool trig_in_range(L<T> x) {
  return !any(!(abs(x) <= L<T>(TrigConstants<T>::kRange)));
}
/// Of doubles a call, for the program's size.
template <class T>
HWY_NOINLINE L<T> called_sin_quarters(L<T> x, int more) {
  return sin_quarters(x, more);
}
template <class T>
HWY_INLINE L<T> sin_or_cos(L<T> x, int more) {
  if constexpr (sizeof(T) == 8) return called_sin_quarters(x, more);
  else return sin_quarters(x, more);
}
template <class T>
HWY_INLINE L<T> sin(L<T> x) {
  if (!trig_in_range(x)) [[unlikely]]
    return each(x, [](T e) { return std::sin(e); });
  return sin_or_cos(x, 0);
}
template <class T>
HWY_INLINE L<T> cos(L<T> x) {
  if (!trig_in_range(x)) [[unlikely]]
    return each(x, [](T e) { return std::cos(e); });
  return sin_or_cos(x, 1);
}

}  // namespace m
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
