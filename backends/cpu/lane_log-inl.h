// Logarithms on lanes. Errors below 2 ULP; special values as in C's <math.h>.
//
// x = 2^n m with m in [sqrt(1/2), sqrt(2)), log x = n ln 2 + log m (Muller, "Elementary Functions", chapter 6). Float
// takes a minimax polynomial for log m; double goes by atanh, which needs half the terms and a division, as in Sun's
// fdlibm. The coefficients are fits of our own.
#if defined(TESSERA_LANE_LOG_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LANE_LOG_INL_H
#undef TESSERA_LANE_LOG_INL_H
#else
#define TESSERA_LANE_LOG_INL_H
#endif

#include <limits>

#include "backends/cpu/lane_type-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace m {

template <class T>
struct LogConstants;
template <>
struct LogConstants<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr Bits kSqrtHalf = 0x3f3504f3;
  static constexpr double kLog2EHigh = 0x1.715476p0, kLog2ELow = 1.44269504088896340736 - kLog2EHigh;
  static constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440054690583e-4;  // n * high is exact
};
template <>
struct LogConstants<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr Bits kSqrtHalf = 0x3fe6a09e667f3bcd;
  static constexpr double kLog2EHigh = 1.44269504088896340736, kLog2ELow = 2.0355273740931033e-17;
  static constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 1.90821492927058770002e-10;
};

/// log(1 + r) to base 2 is high + low parts of it times 1 / ln 2; n is added to the largest product.
HWY_INLINE L<float> to_base_2(L<float> n, L<float> r, L<float> rest) {
  using K = LogConstants<float>;
  return mul_add(r + rest, K::kLog2ELow, mul_add(rest, K::kLog2EHigh, mul_add(r, K::kLog2EHigh, n)));
}

/// The logarithm of 2^n (1 + r), r in [-0.2929, 0.4143], to base e or 2; of doubles with a small number added.
template <bool kBase2>
HWY_INLINE L<float> log_of_parts(L<float> n, L<float> r, double = 0) {
  using K = LogConstants<float>;
  const L<float> p =
      horner(r, -0.5, 0.3333333170749416, -0.25000821039874965, 0.20001226902501418, -0.16623357150640639,
             0.14201757209185117, -0.13160183601276557, 0.1276158361022431, -0.07634501635807582);
  if constexpr (kBase2) return to_base_2(n, r, p * r * r);
  // What the largest sum loses is added to the rest, so that 98 results in 100 are the nearest number.
  const L<float> high(K::kLn2High), sum = mul_add(n, high, r), lost = mul_add(n, high, -sum) + r;
  return sum + mul_add(p, r * r, mul_add(n, K::kLn2Low, lost));
}
template <bool kBase2>
HWY_INLINE L<double> log_of_parts(L<double> n, L<double> r, L<double> more = 0.0) {
  using K = LogConstants<double>;
  // log(1 + r) = 2 atanh(s) = r - (r^2/2 - s (r^2/2 + R(s^2))).
  const L<double> s = r / (r + L<double>(2.0)), z = s * s, half_square = r * r * L<double>(0.5);
  const L<double> tail =
      z * horner(z, 0.66666666666666697077, 0.39999999999898890514, 0.28571428626253837606, 0.22222211089379496214,
                 0.18182892432536871201, 0.15331611722055007885, 0.14617807153417324964);
  // The rounding errors of the sums and of the square are added to the rest, so that 98 results in 100 are the nearest number.
  const L<double> high = r - half_square, lost = mul_add(r * L<double>(0.5), r, -half_square);
  const L<double> low = mul_add(s, half_square + tail, ((r - high) - half_square) - lost + more);
  if constexpr (kBase2) {
    const L<double> scaled = high * L<double>(K::kLog2EHigh), sum = n + scaled;
    const L<double> rest =
        mul_add(high, K::kLog2EHigh, -scaled) + mul_add(high, K::kLog2ELow, low * L<double>(K::kLog2EHigh));
    return sum + (((n - sum) + scaled) + rest);
  }
  const L<double> sum = mul_add(n, K::kLn2High, high);
  return sum + (mul_add(n, K::kLn2Low, low) + (mul_add(n, K::kLn2High, -sum) + high));
}

template <bool kBase2, class T, class... More>
HWY_INLINE L<T> logarithm(L<T> x, More... more) {
  using K = LogConstants<T>;
  using Limits = std::numeric_limits<T>;
  const Tag<T> d;
  const hn::RebindToUnsigned<Tag<T>> du;
  const bool plain = usually_all((x >= L<T>(Limits::min())) && (x <= L<T>(Limits::max())));
  L<T> scaled = x, bias = L<T>(double(uint64_t(1) << K::kMantissa) + K::kBias);
  if (!plain) [[unlikely]] {  // denormals
    const LaneMask<T> small = x < L<T>(Limits::min());
    scaled = select_rarely(small, x * L<T>(double(uint64_t(1) << K::kMantissa)), x);
    bias = select_rarely(small, bias + L<T>(double(K::kMantissa)), bias);
  }
  // The exponent is read as if the mantissa began at sqrt(1/2), and becomes a number below 2^mantissa's last place.
  const auto bits = hn::BitCast(du, scaled.v);
  const auto from_root = hn::Add(bits, hn::Set(du, (typename K::Bits(K::kBias) << K::kMantissa) - K::kSqrtHalf));
  const auto exponent = hn::ShiftRight<K::kMantissa>(from_root);
  const auto magic = hn::BitCast(du, hn::Set(d, T(uint64_t(1) << K::kMantissa)));
  const L<T> n = L<T>(hn::BitCast(d, hn::Or(exponent, magic))) - bias;
  const auto power = hn::ShiftLeft<K::kMantissa>(hn::Sub(exponent, hn::Set(du, typename K::Bits(K::kBias))));
  L<T> result = log_of_parts<kBase2>(n, L<T>(hn::BitCast(d, hn::Sub(bits, power))) - L<T>(1.0), more...);
  if (!plain) [[unlikely]] {
    result = select_rarely(x == L<T>(0.0), L<T>(-HUGE_VAL), result);
    result = select_rarely(x < L<T>(0.0), L<T>(NAN), result);
    result = select_rarely(is_nan(x) || (x == L<T>(HUGE_VAL)), x, result);
  }
  return result;
}

/// Of doubles a call, for the program's size.
template <bool kBase2, class T, class... More>
HWY_NOINLINE L<T> called_logarithm(L<T> x, More... more) {
  return logarithm<kBase2>(x, more...);
}
template <class T>
HWY_INLINE L<T> log(L<T> x) {
  if constexpr (sizeof(T) == 8) return called_logarithm<false>(x);
  else return logarithm<false>(x);
}
template <class T>
HWY_INLINE L<T> log2(L<T> x) {
  if constexpr (sizeof(T) == 8) return called_logarithm<true>(x);
  else return logarithm<true>(x);
}

/// The rounding error of 1 + x is put back (Kahan), so the error stays that of log.
HWY_INLINE L<double> log1p(L<double> x) {
  const L<double> u = x + L<double>(1.0), lost = (x - (u - L<double>(1.0))) / u;
  const L<double> log_u = called_logarithm<false>(u, select(abs(lost) < L<double>(1.0), lost, 0.0));
  return select(u == L<double>(1.0), x, log_u);
}
template <class T>
HWY_INLINE L<T> log1p(L<T> x) {
  const L<T> u = x + L<T>(1.0), log_u = log(u);
  const L<T> r = log_u - ((u - L<T>(1.0)) - x) / u;
  return select(u == L<T>(1.0), x, select(u == L<T>(HUGE_VAL) || (u == L<T>(0.0)), log_u, r));
}

}  // namespace m
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
