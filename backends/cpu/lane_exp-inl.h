// Exponentials and what is made of them, on lanes: exp, expm1, tanh, sigmoid, erf. No branches for ordinary numbers;
// errors below 2 ULP (tests/ops/lane_math_test.cpp measures them); NaN, infinities and signed zeros as in C's <math.h>.
//
// The method is the usual one (Muller, "Elementary Functions", chapter 6): x = n ln 2 + r with |r| <= ln(2) / 2, a
// polynomial for e^r, and n added to the exponent. The coefficients are minimax fits of our own, but for e^r in float: what
// softmax, sigmoid and others are made of has the bits of PyTorch's kernels on processors with AVX2 or AVX-512, which compute
// it as SLEEF does (Shibata and Petrogalli, "SLEEF: A Portable Vectorized Library of C Standard Mathematical Functions").
// Rational forms for the error function are Cody's idea ("Rational Chebyshev approximations for the error function", 1969).
#if defined(TESSERA_LANE_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LANE_EXP_INL_H
#undef TESSERA_LANE_EXP_INL_H
#else
#define TESSERA_LANE_EXP_INL_H
#endif

#include "backends/cpu/lane_type-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace m {

template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr int kMantissa = 23;
  // Added to a small n, this leaves n + 127 in the lowest bits: the exponent field of 2^n.
  static constexpr double kMagic = 0x1.8p23 + 127;
  static constexpr double kLn2High = 0.693145751953125, kLn2Low = 1.42860676533018704e-6;  // n * high is exact
  static constexpr double kTop = 89, kNormal = -86, kBottom = -104;       // beyond: inf, 2^n / 2 not normal, 0
  static constexpr double kHalfTop = 89.4;                                // beyond, 2^n / 2 is infinite
  static constexpr double kTop2 = 128, kNormal2 = -125, kBottom2 = -151;  // the same for 2^x
};
template <>
struct ExpConstants<double> {
  static constexpr int kMantissa = 52;
  static constexpr double kMagic = 0x1.8p52 + 1023;
  static constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 1.90821492927058770002e-10;
  static constexpr double kTop = 710, kNormal = -707, kBottom = -746, kHalfTop = 710.4;
  static constexpr double kTop2 = 1024, kNormal2 = -1021, kBottom2 = -1076;
};

/// x = n ln 2 + r; `scale` is 2^(n + more), which has to be a normal number.
template <class T>
struct ExpParts {
  L<T> r, scale;
  L<T> low;  // what r lacks
  HWY_INLINE ExpParts(L<T> x, L<T> more) : r(x), scale(x), low(x) {
    using K = ExpConstants<T>;
    const hn::RebindToUnsigned<Tag<T>> du;
    const L<T> magic = more + L<T>(K::kMagic);
    const L<T> sum = mul_add(x, 1.44269504088896340736, magic), n = sum - magic;
    const L<T> high = mul_add(n, -K::kLn2High, x);
    r = mul_add(n, -K::kLn2Low, high);
    low = mul_add(n, -K::kLn2Low, high - r);
    scale = hn::BitCast(Tag<T>(), hn::ShiftLeft<K::kMantissa>(hn::BitCast(du, sum.v)));
  }
  HWY_INLINE ExpParts(L<T> x, double more) : ExpParts(x, L<T>(more)) {}
};

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
HWY_INLINE L<float> exp_tail(L<float> r) {
  return horner(r, 0.5000000046665242, 0.16666666817901238, 0.04166635353640713, 0.008333272830510257,
                0.0013941102452944658, 0.00019914302489572604);
}
HWY_INLINE L<double> exp_tail(L<double> r) {
  return horner(r, 0.5, 0.1666666666666667103, 0.04166666666666666978, 0.00833333333332608312, 0.001388888888888371117,
                0.0001984126987500227879, 0.0000248015873256774619, 2.755725517000088744e-6, 2.755727347871858047e-7,
                2.510531272962210179e-8, 2.09147553258932022e-9);
}
/// e^r to the last bit but one needs a term less than e^r - 1.
HWY_INLINE L<float> exp_reduced(L<float> r) {
  const L<float> p = horner(r, 0.5, 0.166666671633720397949, 0.0416664853692054748535, 0.00833336077630519866943,
                            0.00139304355252534151077, 0.000198527617612853646278);
  return mul_add(r * r, p, r) + L<float>(1.0);
}
HWY_INLINE L<double> exp_reduced(L<double> r) { return mul_add(mul_add(exp_tail(r), r, 1.0), r, 1.0); }

template <class T>
HWY_INLINE L<T> exp(L<T> x) {
  using K = ExpConstants<T>;
  x = at_least(at_most(x, K::kTop), K::kBottom);
  // 2^n may be beyond the normal numbers although the result is not: a part of it is multiplied in the end.
  const LaneMask<T> small = x < L<T>(K::kNormal);
  const ExpParts<T> e(x, select(small, L<T>(64.0), -1.0));
  return exp_reduced(e.r) * e.scale * select(small, L<T>(0x1p-64), 2.0);
}
/// The op: 1 + r is not rounded before the rest is added, so 98 results in 100 are the nearest number.
HWY_INLINE L<float> exp_near(L<float> x) {
  using K = ExpConstants<float>;
  x = at_least(at_most(x, K::kTop), K::kBottom);
  const auto times_scale = [](L<float> r, L<float> r_low, const auto& times) HWY_ATTR {
    const L<float> sum = r + L<float>(1.0), lost = (L<float>(1.0) - sum) + r;
    return times(sum + (mul_add(exp_tail(r), r * r, r_low) + lost));
  };
#if HWY_TARGET <= HWY_AVX3
  const L<float> n = mul_add(x, 1.44269504088896340736, 0x1.8p23) - L<float>(0x1.8p23);
  const L<float> high = mul_add(n, -K::kLn2High, x), r = mul_add(n, -K::kLn2Low, high);
  return times_scale(r, mul_add(n, -K::kLn2Low, high - r), [&](L<float> e) HWY_ATTR { return scale_by_power(e, n); });
#else
  const LaneMask<float> small = x < L<float>(K::kNormal);
  const ExpParts<float> e(x, select(small, L<float>(64.0), -1.0));
  return times_scale(e.r, e.low,
                     [&](L<float> y) HWY_ATTR { return y * e.scale * select(small, L<float>(0x1p-64), 2.0); });
#endif
}
HWY_INLINE L<double> exp_near(L<double> x) {
  using K = ExpConstants<double>;
  x = at_least(at_most(x, K::kTop), K::kBottom);
  const LaneMask<double> small = x < L<double>(K::kNormal);
  const ExpParts<double> e(x, select(small, L<double>(64.0), -1.0));
  const L<double> sum = e.r + L<double>(1.0), lost = (L<double>(1.0) - sum) + e.r;
  return (sum + (mul_add(exp_tail(e.r), e.r * e.r, e.low) + lost)) * e.scale * select(small, L<double>(0x1p-64), 2.0);
}
/// 2^x: n is the nearest integer, the rest is exact.
template <class T>
HWY_INLINE L<T> exp2(L<T> x) {
  using K = ExpConstants<T>;
  const hn::RebindToUnsigned<Tag<T>> du;
  x = at_least(at_most(x, K::kTop2), K::kBottom2);
  const LaneMask<T> small = x < L<T>(K::kNormal2);
  const L<T> magic = L<T>(K::kMagic) + select(small, L<T>(64.0), -1.0);
  const L<T> sum = x + magic, r = (x - (sum - magic)) * L<T>(0.69314718055994530942);
  const L<T> scale = hn::BitCast(Tag<T>(), hn::ShiftLeft<K::kMantissa>(hn::BitCast(du, sum.v)));
  return exp_reduced(r) * scale * select(small, L<T>(0x1p-64), 2.0);
}
template <class T>
HWY_INLINE L<T> expm1(L<T> x) {
  using K = ExpConstants<T>;
  const ExpParts<T> e(at_least(at_most(x, K::kTop), K::kNormal), -1.0);
  const L<T> p = mul_add(exp_tail(e.r) * e.r, e.r, e.r);
  const L<T> half = mul_add(e.scale, p, e.scale - L<T>(0.5));
  return copysign(half + half, x);
}
/// From q = e^|x| / 4, which is finite where the result is: 2 q + 1 / (8 q).
template <class T>
HWY_INLINE L<T> cosh(L<T> x) {
  const ExpParts<T> e(at_most(abs(x), ExpConstants<T>::kTop + 0.7), -2.0);
  const L<T> q = exp_reduced(e.r) * e.scale;
  return mul_add(q, 2.0, L<T>(0.125) / q);
}
/// From h = (e^|x| - 1) / 4, so that nothing cancels: 2 h + h / (h + 1/4) / 2.
template <class T>
HWY_INLINE L<T> sinh(L<T> x) {
  const ExpParts<T> e(at_most(abs(x), ExpConstants<T>::kTop + 0.7), -2.0);
  const L<T> p = mul_add(exp_tail(e.r) * e.r, e.r, e.r);
  const L<T> h = mul_add(e.scale, p, e.scale - L<T>(0.25));
  return copysign(mul_add(h / (h + L<T>(0.25)), 0.5, h + h), x);
}
/// (e - 1) / (e + 1) with e = exp(2 |x|), from expm1, so that nothing cancels near zero.
template <class T>
HWY_INLINE L<T> tanh(L<T> x) {
  const L<T> a = at_most(abs(x), 22.0);
  const ExpParts<T> e(a + a, 0.0);
  const L<T> p = mul_add(exp_tail(e.r) * e.r, e.r, e.r);
  const L<T> less_one = mul_add(e.scale, p, e.scale - L<T>(1.0));
  return copysign(less_one / (less_one + L<T>(2.0)), x);
}
/// 1 / (1 + e), from e / 2, which is finite where e is not: small results are right down to the smallest number.
template <class T>
HWY_INLINE L<T> sigmoid(L<T> x) {
  using K = ExpConstants<T>;
  const ExpParts<T> e(at_least(at_most(-x, K::kHalfTop), K::kNormal), -1.0);
  return L<T>(0.5) / mul_add(exp_reduced(e.r), e.scale, 0.5);
}

HWY_INLINE L<float> erf(L<float> x) {
  // x + x P(x^2) below 0.92, 1 - exp(-x - x P(x)) beyond, where the exponential is less than 0.2; 1 from 3.92 on.
  const L<float> a = at_most(abs(x), 4.0);
  const L<float> near = mul_add(horner(a * a, 0.12837914997158742, -0.37612496480950774, 0.1128184607945838,
                                       -0.026767723139460575, 0.0049948338422578925, -0.0005999419871331041),
                                x, x);
  const L<float> p = horner(a, 0.12851075574186535, 0.6357309509705781, 0.10524463383251001, -0.02287859144683091,
                            0.0032113112974606617, -0.0002135320814984354);
  const ExpParts<float> e(-mul_add(p, a, a), 0.0);
  const L<float> far = hn::NegMulAdd(exp_reduced(e.r).v, e.scale.v, L<float>(1.0).v);
  return select(a < L<float>(0.92), near, copysign(far, x));
}
/// erfc(a) for a >= 1; s = a^2.
HWY_INLINE L<double> erfc_far(L<double> a, L<double> s) {
  const L<double> p = horner(a, 1.000000003780060429, 2.059690436003096218, 2.094872925933175569, 1.341385116425552017,
                             0.5861748533533069024, 0.1787408179446997842, 0.03731661799321333315,
                             0.00493698813234326453, 0.0003268549804732188211);
  const L<double> q = horner(a, 1.0, 3.188069643376387011, 4.692224086938177237, 4.200176852452539488,
                             2.531575376492488792, 1.071749005453506423, 0.3211851542647197918, 0.06643165047536060105,
                             0.00875058363959420469, 0.0005793353686688511243);
  return exp(-s) * p / q;
}
HWY_INLINE L<double> erf(L<double> x) {
  // x + x P(x^2) / Q(x^2) below 1; 1 - exp(-x^2) P(x) / Q(x) beyond, where the error of the product counts little.
  const L<double> a = at_most(abs(x), 6.0), s = a * a;
  const L<double> p = horner(s, 0.128379167095512575, -0.3169891693395489265, -0.04837127459979629515,
                             -0.008822336324816777225, -0.0004966403525373907578, -0.00002078022807656189932336);
  const L<double> q = horner(s, 1.0, 0.4606449864898365494, 0.09387460876512409528, 0.01070525187197317547,
                             0.0006937362332349159102, 0.00002086648410101916308);
  const L<double> near = mul_add(p / q, x, x);
  const LaneMask<double> is_far = a >= L<double>(1.0);
  if (!any(is_far)) return near;
  return select(is_far, copysign(L<double>(1.0) - erfc_far(a, s), x), near);
}

/// The normal distribution function, (1 + erf(x / sqrt(2))) / 2, with its small values right too. Float: 2^P(|x|) below
/// zero, and 1 less that above.
HWY_INLINE L<float> normal_cdf(L<float> x) {
  const L<float> power =
      horner(abs(x), -1.0, -1.151104210275993, -0.45922262893247145, -0.05242734559399331, 0.006909918934308658,
             4.729116639755807e-05, -0.0003126479061887616, 8.961471761400498e-05, -1.3954968123479735e-05,
             1.217229608066635e-06, -4.64285109319631e-08);
  const L<float> p = at_least(power, -127.0), magic = ExpConstants<float>::kMagic;
  const L<float> sum = p + magic, r = p - (sum - magic);
  const hn::RebindToUnsigned<Tag<float>> du;
  const L<float> scale = hn::BitCast(Tag<float>(), hn::ShiftLeft<23>(hn::BitCast(du, sum.v)));
  const L<float> below = scale * horner(r, 1.0, 0.6931471807056921, 0.24022651068778456, 0.05550410362984165,
                                        0.00961803776889562, 0.0013333936562399638, 0.00015466882602555888);
  return select(x < L<float>(0.0), below, L<float>(1.0) - below);
}
HWY_INLINE L<double> normal_cdf(L<double> x) {
  const L<double> t = x * L<double>(0.70710678118654752440), a = at_most(abs(t), 28.0);
  const L<double> near = mul_add(erf(t), 0.5, 0.5), far = erfc_far(a, a * a) * L<double>(0.5);
  return select(a < L<double>(1.0), near, select(x < L<double>(0.0), far, L<double>(1.0) - far));
}

}  // namespace m
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
