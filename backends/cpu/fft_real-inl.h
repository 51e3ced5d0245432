// Transforms of n real numbers, n even, by one of n / 2 complex numbers: neighbours are taken as the parts of one.
#if defined(TESSERA_FFT_REAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_FFT_REAL_INL_H
#undef TESSERA_FFT_REAL_INL_H
#else
#define TESSERA_FFT_REAL_INL_H
#endif

#include "backends/cpu/fft_passes-inl.h"
#include "runtime/pieces.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

/// One number of the spectrum from two of the half transform, a at k and c at n / 2 - k; w = exp(-2 pi i k / n).
/// kToReal: the reverse, without the factor 1/2.
template <bool kToReal, class T>
HWY_INLINE Pair<T> joined(const Pair<T>& a, const Pair<T>& c, const Pair<T>& w) {
  const auto half = hn::Set(typename Pair<T>::D(), T(kToReal ? 1 : 0.5));
  const Pair<T> conjugate{c.re, hn::Neg(c.im)};
  const Pair<T> even = (a + conjugate).times(half), odd = (a - conjugate).times(half);
  if constexpr (kToReal) return plus_i(even, odd * Pair<T>{w.re, hn::Neg(w.im)});
  else return minus_i(even, odd * w);
}

/// From numbers 0 to half in `re` and `im` (the first again at the end when they come from a transform) to as many in the others, for
/// `width` lines side by side; width 1 is one line, whose numbers are vectors along it.
template <bool kToReal, class T>
void join_halves(const Parts<T>& roots, int64_t half, int64_t width, const Buffers<T>& b) {
  using P = Pair<T>;
  const typename P::D d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  if (width > 1) {
    for (int64_t k = 0; k <= half; k++) {
      const P w{hn::Set(d, roots.re[size_t(k)]), hn::Set(d, roots.im[size_t(k)])};
      for (int64_t l = 0; l < width; l += lanes) {
        const int64_t at = k * width + l, mirrored = (half - k) * width + l;
        joined<kToReal>(P::load(b.re + at, b.im + at), P::load(b.re + mirrored, b.im + mirrored), w)
            .store(b.other_re + at, b.other_im + at);
      }
    }
    return;
  }
  int64_t k = 0;
  for (; k + lanes <= half + 1; k += lanes) {
    if (k % kPieceElements == 0) Context::current().poll();
    const int64_t mirrored = half - k - lanes + 1;
    const P c = P::load(b.re + mirrored, b.im + mirrored);
    joined<kToReal>(P::load(b.re + k, b.im + k), P{hn::Reverse(d, c.re), hn::Reverse(d, c.im)},
                    P::load(roots.re.data() + k, roots.im.data() + k))
        .store(b.other_re + k, b.other_im + k);
  }
  for (; k <= half; k++) {
    const auto one = [&](const T* p, int64_t i) { return hn::Set(d, p[i]); };
    const P y = joined<kToReal>(P{one(b.re, k), one(b.im, k)}, P{one(b.re, half - k), one(b.im, half - k)},
                                P{one(roots.re.data(), k), one(roots.im.data(), k)});
    b.other_re[k] = hn::GetLane(y.re), b.other_im[k] = hn::GetLane(y.im);
  }
}

}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
