// The logarithm of a line's sum of exponentials, which is 1 or more, or 0: the nearest number nearly always, as one a line costs
// nothing. log, the op, takes a few instructions less.
#if defined(TESSERA_LOG_TOTAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LOG_TOTAL_INL_H
#undef TESSERA_LOG_TOTAL_INL_H
#else
#define TESSERA_LOG_TOTAL_INL_H
#endif

#include "backends/cpu/line-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

HWY_INLINE Lane<double> log_of_sum(Lane<double> x) { return log_of(x); }
HWY_INLINE Lane<float> log_of_sum(Lane<float> x) {
  using K = m::LogConstants<float>;
  using L = Lane<float>;
  const Tag<float> d;
  const hn::RebindToUnsigned<Tag<float>> du;
  const hn::RebindToSigned<Tag<float>> di;
  const auto bits = hn::BitCast(du, x.v);
  const auto from_root = hn::Add(bits, hn::Set(du, (K::Bits(K::kBias) << K::kMantissa) - K::kSqrtHalf));
  const auto exponent = hn::Sub(hn::ShiftRight<K::kMantissa>(from_root), hn::Set(du, K::Bits(K::kBias)));
  const L n = hn::ConvertTo(d, hn::BitCast(di, exponent));
  const L r = L(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<K::kMantissa>(exponent)))) - L(1.0);
  // log(1 + r) = r - r^2 / 2 + r^3 P(r); what the two large sums lose is added last.
  const L p = m::horner(r, 0.3333333170749416, -0.25000821039874965, 0.20001226902501418, -0.16623357150640639,
                        0.14201757209185117, -0.13160183601276557, 0.1276158361022431, -0.07634501635807582);
  const L square = r * r, half = square * L(0.5), high = n * L(K::kLn2High);
  const L first = r - half, sum = high + first;
  const L low = m::mul_add(p * r, square, n * L(K::kLn2Low)) + ((r - first) - half);
  const L result = m::select(x == L(0.0), L(-HUGE_VAL), sum + (((high - sum) + first) + low));
  return m::select(x <= L(std::numeric_limits<float>::max()), result, x);
}
template <class Line, class T>
HWY_INLINE Wide<T> log_of_total(const Line& line, Wide<T> total) {
  return line.apply_to_statistic([](Lane<T> a) TS_LANES { return log_of_sum(a); }, total);
}

}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
