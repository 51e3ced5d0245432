// Lane<T>: a SIMD register of T with the operators that op bodies use, and what of namespace m is an instruction or
// two. Compiled once per instruction set (Highway's foreach_target), so it has no include guard of the usual kind.
#if defined(TESSERA_LANE_TYPE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LANE_TYPE_INL_H
#undef TESSERA_LANE_TYPE_INL_H
#else
#define TESSERA_LANE_TYPE_INL_H
#endif

#include <cmath>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;

template <class T>
struct LaneMask {
  hn::Mask<Tag<T>> m;
  friend HWY_INLINE LaneMask operator&&(LaneMask a, LaneMask b) { return {hn::And(a.m, b.m)}; }
  friend HWY_INLINE LaneMask operator||(LaneMask a, LaneMask b) { return {hn::Or(a.m, b.m)}; }
  friend HWY_INLINE LaneMask operator!(LaneMask a) { return {hn::Not(a.m)}; }
};

template <class T>
struct Lane {
  using Element = T;
  using V = hn::Vec<Tag<T>>;
  V v;
  HWY_INLINE Lane(V x) : v(x) {}
  HWY_INLINE Lane(double x) : v(hn::Set(Tag<T>(), static_cast<T>(x))) {}

  friend HWY_INLINE Lane operator+(Lane a, Lane b) { return hn::Add(a.v, b.v); }
  friend HWY_INLINE Lane operator-(Lane a, Lane b) { return hn::Sub(a.v, b.v); }
  friend HWY_INLINE Lane operator*(Lane a, Lane b) { return hn::Mul(a.v, b.v); }
  friend HWY_INLINE Lane operator/(Lane a, Lane b) { return hn::Div(a.v, b.v); }
  friend HWY_INLINE Lane operator-(Lane a) { return hn::Neg(a.v); }
  friend HWY_INLINE LaneMask<T> operator==(Lane a, Lane b) { return {hn::Eq(a.v, b.v)}; }
  friend HWY_INLINE LaneMask<T> operator!=(Lane a, Lane b) {
    return {hn::Not(hn::Eq(a.v, b.v))};
  }  // hn::Ne is false for NaN
  friend HWY_INLINE LaneMask<T> operator<(Lane a, Lane b) { return {hn::Lt(a.v, b.v)}; }
  friend HWY_INLINE LaneMask<T> operator<=(Lane a, Lane b) { return {hn::Le(a.v, b.v)}; }
  friend HWY_INLINE LaneMask<T> operator>(Lane a, Lane b) { return {hn::Gt(a.v, b.v)}; }
  friend HWY_INLINE LaneMask<T> operator>=(Lane a, Lane b) { return {hn::Ge(a.v, b.v)}; }
};

namespace m {

template <class T>
using L = Lane<T>;
// A parameter where a literal may stand too.
template <class T>
using Also = std::type_identity_t<Lane<T>>;

#ifdef TS_RECORDED_LANES
// There are no elements where a body is recorded (chain_record.cpp): what needs them has no record, and branches that serve a few elements
// are taken for all.
template <class T, class... More>
HWY_INLINE L<T> each(L<T>, const More&...) {
  return hn::NoRecord<T>();
}
template <class F, class... More>
HWY_INLINE L<float> in_doubles(const F&, L<float>, More...) {
  return hn::NoRecord<float>();
}
template <class T>
[[gnu::always_inline]] HWY_INLINE bool any(LaneMask<T>) {
  return true;
}
// Generated loops keep both ways (ChainCode::Do::Guard).
template <class T>
HWY_INLINE bool usually_all(LaneMask<T> mask) {
  return hn::UsuallyAll(mask.m);
}
template <class T>
HWY_INLINE L<T> select_rarely(LaneMask<T> c, L<T> a, Also<T> b) {
  return hn::IfThenElseRarely(c.m, a.v, b.v);
}
HWY_INLINE L<float> scale_by_power(L<float> x, L<float> n) { return hn::ScaleByPower(x.v, n.v); }
#else
/// f on every element: for functions without a vector form, and for the rare lanes outside a vector form's range.
template <class T, class F>
HWY_NOINLINE L<T> each(L<T> x, F f) {
  const Tag<T> d;
  alignas(64) T buffer[hn::MaxLanes(Tag<T>())];
  hn::Store(x.v, d, buffer);
  for (size_t i = 0; i < hn::Lanes(d); i++) buffer[i] = f(buffer[i]);
  return hn::Load(d, buffer);
}
template <class T, class F>
HWY_NOINLINE L<T> each(L<T> x, L<T> y, F f) {
  const Tag<T> d;
  alignas(64) T a[hn::MaxLanes(Tag<T>())], b[hn::MaxLanes(Tag<T>())];
  hn::Store(x.v, d, a);
  hn::Store(y.v, d, b);
  for (size_t i = 0; i < hn::Lanes(d); i++) a[i] = f(a[i], b[i]);
  return hn::Load(d, a);
}
template <class T>
HWY_INLINE bool any(LaneMask<T> mask) {
  return !hn::AllFalse(Tag<T>(), mask.m);
}
/// Floats through doubles, half a register at a time: f on vectors of doubles.
#if HWY_TARGET != HWY_SCALAR
template <class F, class... More>
HWY_INLINE L<float> in_doubles(const F& f, L<float> x, More... more) {
  const Tag<float> d;
  const hn::Half<decltype(d)> dh;
  const Tag<double> dd;
  const auto lower = f(L<double>(hn::PromoteTo(dd, hn::LowerHalf(dh, x.v))),
                       L<double>(hn::PromoteTo(dd, hn::LowerHalf(dh, more.v)))...);
  const auto upper = f(L<double>(hn::PromoteTo(dd, hn::UpperHalf(dh, x.v))),
                       L<double>(hn::PromoteTo(dd, hn::UpperHalf(dh, more.v)))...);
  return hn::Combine(d, hn::DemoteTo(dh, upper.v), hn::DemoteTo(dh, lower.v));
}
#endif
#if HWY_TARGET <= HWY_AVX3
/// x * 2^n for a whole n; the instruction also makes what is no normal number any more.
HWY_INLINE L<float> scale_by_power(L<float> x, L<float> n) {
  return L<float>(hn::Vec<Tag<float>>{_mm512_scalef_ps(x.v.raw, n.v.raw)});
}
#endif
#endif

template <class T>
HWY_INLINE L<T> select(LaneMask<T> c, L<T> a, Also<T> b) {
  return hn::IfThenElse(c.m, a.v, b.v);
}
#ifndef TS_RECORDED_LANES
/// True of all elements, for nearly all vectors: the condition of a short way.
template <class T>
HWY_INLINE bool usually_all(LaneMask<T> mask) {
  return !any(!mask);
}
/// select behind a usually_all that was false. Where it was true, all of the result is b.
template <class T>
HWY_INLINE L<T> select_rarely(LaneMask<T> c, L<T> a, Also<T> b) {
  return select(c, a, b);
}
#endif
template <class T>
HWY_INLINE LaneMask<T> differ(LaneMask<T> a, LaneMask<T> b) {
  return {hn::Xor(a.m, b.m)};
}
template <class T>
HWY_INLINE LaneMask<T> is_nan(L<T> x) {
  return {hn::IsNaN(x.v)};
}
template <class T>
HWY_INLINE L<T> abs(L<T> x) {
  return hn::Abs(x.v);
}
template <class T>
HWY_INLINE LaneMask<T> is_inf(L<T> x) {
  return abs(x) == L<T>(HUGE_VAL);
}
template <class T>
HWY_INLINE LaneMask<T> is_finite(L<T> x) {
  return abs(x) < L<T>(HUGE_VAL);
}
template <class T>
HWY_INLINE LaneMask<T> sign_bit(L<T> x) {
  return {hn::Ne(hn::And(x.v, hn::SignBit(Tag<T>())), hn::Zero(Tag<T>()))};
}
template <>
HWY_INLINE LaneMask<float> sign_bit(L<float> x) {
  const hn::RebindToSigned<Tag<float>> di;
  return {hn::RebindMask(Tag<float>(), hn::Lt(hn::BitCast(di, x.v), hn::Zero(di)))};
}
template <>
HWY_INLINE LaneMask<double> sign_bit(L<double> x) {
  const hn::RebindToSigned<Tag<double>> di;
  return {hn::RebindMask(Tag<double>(), hn::Lt(hn::BitCast(di, x.v), hn::Zero(di)))};
}
template <class T>
HWY_INLINE L<T> copysign(L<T> x, L<T> y) {
  return hn::CopySign(x.v, y.v);
}
template <class T>
HWY_INLINE L<T> sign(L<T> x) {
  return select(x > L<T>(0.0), L<T>(1.0), select(x < L<T>(0.0), L<T>(-1.0), L<T>(0.0)));
}
/// The smaller (larger) of x and a constant; NaN stays. x86 returns the second operand then, which is one instruction.
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
template <class T>
HWY_INLINE L<T> at_most(L<T> x, double c) {
  return hn::Min(L<T>(c).v, x.v);
}
template <class T>
HWY_INLINE L<T> at_least(L<T> x, double c) {
  return hn::Max(L<T>(c).v, x.v);
}
#else
template <class T>
HWY_INLINE L<T> at_most(L<T> x, double c) {
  return select(x > L<T>(c), L<T>(c), x);
}
template <class T>
HWY_INLINE L<T> at_least(L<T> x, double c) {
  return select(x < L<T>(c), L<T>(c), x);
}
#endif
/// a * b + c; rounded once where the instruction set can.
template <class T>
HWY_INLINE L<T> mul_add(L<T> a, Also<T> b, Also<T> c) {
  return hn::MulAdd(a.v, b.v, c.v);
}
/// c0 + x (c1 + x (c2 + ...)).
template <class T>
HWY_INLINE L<T> horner(L<T>, double c) {
  return L<T>(c);
}
template <class T, class... C>
HWY_INLINE L<T> horner(L<T> x, double c, C... rest) {
  return mul_add(horner(x, rest...), x, c);
}
template <class T>
HWY_INLINE L<T> maximum(L<T> x, Also<T> y) {
  return select((x >= y) || is_nan(x), x, y);
}
template <class T>
HWY_INLINE L<T> minimum(L<T> x, Also<T> y) {
  return select((x <= y) || is_nan(x), x, y);
}
template <class T>
HWY_INLINE L<T> fmax(L<T> x, L<T> y) {
  return select((x > y) || is_nan(y), x, y);
}
template <class T>
HWY_INLINE L<T> fmin(L<T> x, L<T> y) {
  return select((x < y) || is_nan(y), x, y);
}

template <class T>
HWY_INLINE L<T> sqrt(L<T> x) {
  return hn::Sqrt(x.v);
}
template <class T>
HWY_INLINE L<T> floor(L<T> x) {
  return hn::Floor(x.v);
}
template <class T>
HWY_INLINE L<T> ceil(L<T> x) {
  return hn::Ceil(x.v);
}
template <class T>
HWY_INLINE L<T> round(L<T> x) {
  return hn::Round(x.v);
}
template <class T>
HWY_INLINE L<T> trunc(L<T> x) {
  return hn::Trunc(x.v);
}

}  // namespace m
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
