// Lane<T>: a SIMD register of T with the operators that op bodies use, and namespace m over it. Compiled once per
// instruction set (Highway's foreach_target), so it has no include guard of the usual kind.
//
// Highway's own functions are wrapped: they are wrong for NaN, infinities and large arguments (Exp(NaN) = 1,
// Log(0) = -105, Sin(inf) = -inf). What Highway lacks, or has with more than 2 ULP, is here or goes through libm.
#if defined(TESSERA_LANE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LANE_INL_H
#undef TESSERA_LANE_INL_H
#else
#define TESSERA_LANE_INL_H
#endif

#include <cmath>

#include "hwy/contrib/math/math-inl.h"
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

template <class T>
HWY_INLINE L<T> select(LaneMask<T> c, L<T> a, Also<T> b) {
  return hn::IfThenElse(c.m, a.v, b.v);
}
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

// ---- exponential and logarithm ----

HWY_INLINE L<float> exp(L<float> x) {
  L<float> r = hn::Exp(Tag<float>(), hn::Min(x.v, hn::Set(Tag<float>(), 100.0f)));
  return select(is_nan(x), x, r);
}
HWY_INLINE L<double> exp(L<double> x) {
  if (any(!(x <= L<double>(700.0))) || any(x < L<double>(-700.0))) return each(x, [](double e) { return std::exp(e); });
  return hn::Exp(Tag<double>(), x.v);
}
template <class T>
HWY_INLINE L<T> log_special(L<T> x, L<T> r) {
  r = select(x == L<T>(0.0), L<T>(-HUGE_VAL), r);
  r = select(x < L<T>(0.0), L<T>(NAN), r);
  return select(is_nan(x) || (x == L<T>(HUGE_VAL)), x, r);
}
template <class T>
HWY_INLINE L<T> log(L<T> x) {
  return log_special(x, L<T>(hn::Log(Tag<T>(), x.v)));
}
template <class T>
HWY_INLINE L<T> log2(L<T> x) {
  return each(x, [](T e) { return std::log2(e); });
}
template <class T>
HWY_INLINE L<T> log10(L<T> x) {
  return each(x, [](T e) { return std::log10(e); });
}
template <class T>
HWY_INLINE L<T> exp2(L<T> x) {
  return each(x, [](T e) { return std::exp2(e); });
}
/// Kahan's: the rounding error of 1 + x is put back, so the error stays that of log.
template <class T>
HWY_INLINE L<T> log1p(L<T> x) {
  L<T> u = x + L<T>(1.0);
  L<T> r = log(u) - ((u - L<T>(1.0)) - x) / u;
  r = select(u == L<T>(1.0), x, r);
  return select(u == L<T>(HUGE_VAL) || (x == L<T>(-1.0)), log(u), r);
}
/// c0 + x (c1 + x (c2 + ...)).
template <class T>
HWY_INLINE L<T> horner(L<T>, double c) {
  return L<T>(c);
}
template <class T, class... C>
HWY_INLINE L<T> horner(L<T> x, double c, C... rest) {
  return hn::MulAdd(horner(x, rest...).v, x.v, L<T>(c).v);
}
/// Taylor, exact to half an ULP on [-0.35, 0.35].
HWY_INLINE L<float> expm1_near_zero(L<float> x) {
  L<float> p = horner(x, 0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040);
  return hn::MulAdd((p * x).v, x.v, x.v);
}
HWY_INLINE L<float> expm1(L<float> x) {
  return select(abs(x) < L<float>(0.35), expm1_near_zero(x), exp(x) - L<float>(1.0));
}
HWY_INLINE L<double> expm1(L<double> x) {
  return each(x, [](double e) { return std::expm1(e); });
}

// ---- trigonometry ----

template <class T>
HWY_INLINE bool trig_in_range(L<T> x) {
  return !any(!(abs(x) <= L<T>(20000.0)));
}
template <class T>
HWY_INLINE L<T> sin(L<T> x) {
  if (!trig_in_range(x)) return each(x, [](T e) { return std::sin(e); });
  return hn::Sin(Tag<T>(), x.v);
}
template <class T>
HWY_INLINE L<T> cos(L<T> x) {
  if (!trig_in_range(x)) return each(x, [](T e) { return std::cos(e); });
  return hn::Cos(Tag<T>(), x.v);
}
HWY_INLINE L<float> tanh(L<float> x) {
  // (e - 1) / (e + 1) with e - 1 = expm1(2|x|): no cancellation near zero; 1 from 9.01 on.
  L<float> a = hn::Min(abs(x + x).v, L<float>(20.0).v);
  L<float> e = select(a < L<float>(0.35), expm1_near_zero(a), L<float>(hn::Exp(Tag<float>(), a.v)) - L<float>(1.0));
  L<float> r = copysign(e / (e + L<float>(2.0)), x);
  return select(is_nan(x), x, r);
}
HWY_INLINE L<double> tanh(L<double> x) {
  return each(x, [](double e) { return std::tanh(e); });
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
TS_EACH(sinh, sinh)
TS_EACH(cosh, cosh)
TS_EACH(asinh, asinh)
TS_EACH(acosh, acosh)
TS_EACH(atanh, atanh)
TS_EACH(erfc, erfc)
#undef TS_EACH
HWY_INLINE L<double> erf(L<double> x) {
  return each(x, [](double e) { return std::erf(e); });
}
HWY_INLINE L<float> erf(L<float> x) {
  // x P(x^2) up to 1, then 1 - exp(-x^2) Q(1/x): Chebyshev fits with errors of 4e-11 and 4e-9.
  L<float> a = abs(x), s = x * x;
  L<float> near =
      x * horner(s, 1.1283791670623613, -0.37612638475990745, 0.11283782622053366, -0.026865438309988623,
                 0.005221053410978782, -0.0008484396526521873, 0.00011268253709114425, -9.67359025384806e-06);
  L<float> b = hn::Min(a.v, L<float>(4.0).v), u = L<float>(1.0) / b;
  L<float> q = horner(u, 0.0003638529188597084, 0.5575372467659413, 0.05221007308095646, -0.5096922999806686,
                      0.5825459297762068, -0.3611264587614373, 0.12443532198933666, -0.018690079764022524);
  L<float> far = copysign(L<float>(1.0) - L<float>(hn::Exp(Tag<float>(), (-(b * b)).v)) * q, x);
  L<float> r = select(a < L<float>(1.0), near, far);
  return select(is_nan(x), x, r);
}
template <class T>
HWY_INLINE L<T> lgamma(L<T> x) {
  return each(x, [](T e) {
    int sign;
    return T(::lgamma_r(double(e), &sign));
  });
}

template <class T>
HWY_INLINE L<T> sigmoid(L<T> x) {
  return L<T>(1.0) / (L<T>(1.0) + exp(-x));
}
template <class T>
HWY_INLINE L<T> softplus(L<T> x) {
  return select(x > L<T>(20.0), x, log1p(exp(x)));
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
HWY_INLINE L<T> remainder(L<T> x, L<T> y) {
  return each(x, y, [](T a, T b) {
    T r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  });
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

}  // namespace m
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
