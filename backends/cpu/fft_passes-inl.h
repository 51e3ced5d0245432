// The passes of a Fourier transform over lines that lie side by side: number i of line l is at [i * width + l], real and
// imaginary parts in arrays of their own, width a multiple of the lanes. A pass reads one pair of arrays and writes the other
// (Stockham's order), so the numbers come out in their places without a permutation.
#if defined(TESSERA_FFT_PASSES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_FFT_PASSES_INL_H
#undef TESSERA_FFT_PASSES_INL_H
#else
#define TESSERA_FFT_PASSES_INL_H
#endif

#include <utility>

#include "backends/cpu/fft_plan.h"
#include "runtime/context.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int64_t kMostWidth = 16;  // two lines of the cache of doubles, and at least one vector of any type
template <class T>
using FftTag = hn::CappedTag<T, kMostWidth>;

/// A vector of complex numbers.
template <class T>
struct Pair {
  using D = FftTag<T>;
  using V = hn::Vec<D>;
  V re, im;

  static HWY_INLINE Pair load(const T* re, const T* im) { return {hn::LoadU(D(), re), hn::LoadU(D(), im)}; }
  HWY_INLINE void store(T* to_re, T* to_im) const { hn::StoreU(re, D(), to_re), hn::StoreU(im, D(), to_im); }
  friend HWY_INLINE Pair operator+(const Pair& a, const Pair& b) {
    return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
  }
  friend HWY_INLINE Pair operator-(const Pair& a, const Pair& b) {
    return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
  }
  friend HWY_INLINE Pair operator*(const Pair& a, const Pair& w) {
    return {hn::NegMulAdd(a.im, w.im, hn::Mul(a.re, w.re)), hn::MulAdd(a.im, w.re, hn::Mul(a.re, w.im))};
  }
  HWY_INLINE Pair times(V factor) const { return {hn::Mul(re, factor), hn::Mul(im, factor)}; }
};
/// a - i b and a + i b
template <class T>
HWY_INLINE Pair<T> minus_i(const Pair<T>& a, const Pair<T>& b) {
  return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)};
}
template <class T>
HWY_INLINE Pair<T> plus_i(const Pair<T>& a, const Pair<T>& b) {
  return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)};
}

template <class T>
HWY_INLINE void butterfly_4(Pair<T>& a, Pair<T>& b, Pair<T>& c, Pair<T>& d) {
  const Pair<T> s = a + c, t = a - c, u = b + d, v = b - d;
  a = s + u, b = minus_i(t, v), c = s - u, d = plus_i(t, v);
}

/// The transform of kRadix vectors in place; `roots` are cos and sin of 2 pi k / kRadix.
template <int kRadix, class T>
HWY_INLINE void butterfly(Pair<T>* x, const T* roots) {
  using P = Pair<T>;
  const typename P::D d;
  if constexpr (kRadix == 2) {
    const P a = x[0];
    x[0] = a + x[1], x[1] = a - x[1];
  } else if constexpr (kRadix == 4) {
    butterfly_4(x[0], x[1], x[2], x[3]);
  } else if constexpr (kRadix == 8) {
    butterfly_4(x[0], x[2], x[4], x[6]);
    butterfly_4(x[1], x[3], x[5], x[7]);
    const auto half = hn::Set(d, T(0.70710678118654752440));
    const P b = P{hn::Add(x[3].re, x[3].im), hn::Sub(x[3].im, x[3].re)}.times(half);  // times exp(-pi i / 4)
    const P e = P{hn::Sub(x[7].im, x[7].re), hn::Neg(hn::Add(x[7].re, x[7].im))}.times(half);  // exp(-3 pi i / 4)
    const P y0 = x[0] + x[1], y4 = x[0] - x[1], y1 = x[2] + b, y5 = x[2] - b;
    const P y2 = minus_i(x[4], x[5]), y6 = plus_i(x[4], x[5]), y3 = x[6] + e, y7 = x[6] - e;
    x[0] = y0, x[1] = y1, x[2] = y2, x[3] = y3, x[4] = y4, x[5] = y5, x[6] = y6, x[7] = y7;
  } else {
    // An odd prime: of x[a] and x[radix - a] only the sum meets cosines and only the difference sines.
    constexpr int kHalf = kRadix / 2;
    P sum[kHalf], difference[kHalf];
    P total = x[0];
#pragma GCC unroll 8
    for (int a = 0; a < kHalf; a++) {
      sum[a] = x[a + 1] + x[kRadix - 1 - a], difference[a] = x[a + 1] - x[kRadix - 1 - a];
      total = total + sum[a];
    }
#pragma GCC unroll 8
    for (int k = 1; k <= kHalf; k++) {
      P even = x[0], odd{hn::Zero(d), hn::Zero(d)};
#pragma GCC unroll 8
      for (int a = 0; a < kHalf; a++) {
        const int at = k * (a + 1) % kRadix;
        const auto c = hn::Set(d, roots[2 * at]), s = hn::Set(d, roots[2 * at + 1]);
        even = {hn::MulAdd(sum[a].re, c, even.re), hn::MulAdd(sum[a].im, c, even.im)};
        odd = {hn::MulAdd(difference[a].re, s, odd.re), hn::MulAdd(difference[a].im, s, odd.im)};
      }
      x[k] = minus_i(even, odd), x[kRadix - k] = plus_i(even, odd);
    }
    x[0] = total;
  }
}

/// One pair of arrays to read and one to write.
template <class T>
struct Buffers {
  T *re, *im, *other_re, *other_im;
  void swap() { std::swap(re, other_re), std::swap(im, other_im); }
};

template <int kRadix, bool kTwiddles, class T>
HWY_NOINLINE void run_pass(const Buffers<T>& b, int64_t rest, int64_t stride, const T* roots, const T* twiddles) {
  using P = Pair<T>;
  const typename P::D d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  for (int64_t j = 0; j < rest; j++) {
    const T* w = twiddles + j * 2 * (kRadix - 1);
    for (int64_t q = 0; q < stride; q += lanes) {
      P x[kRadix];
#pragma GCC unroll 16
      for (int r = 0; r < kRadix; r++) {
        const int64_t at = q + stride * (j + rest * r);
        x[r] = P::load(b.re + at, b.im + at);
      }
      butterfly<kRadix>(x, roots);
#pragma GCC unroll 16
      for (int k = 0; k < kRadix; k++) {
        const int64_t at = q + stride * (kRadix * j + k);
        if (kTwiddles && k) x[k] = x[k] * P{hn::Set(d, w[2 * k - 2]), hn::Set(d, w[2 * k - 1])};
        x[k].store(b.other_re + at, b.other_im + at);
      }
    }
  }
}

template <int kRadix, class T>
void run_radix(const Buffers<T>& b, int64_t rest, int64_t stride, const T* roots, const T* twiddles) {
  if (rest == 1) run_pass<kRadix, false>(b, rest, stride, roots, twiddles);
  else run_pass<kRadix, true>(b, rest, stride, roots, twiddles);
}

/// Transforms `width` lines forward; the result is in b.re and b.im, which have changed places with the others.
template <class T>
void run_passes(const FftPlan<T>& plan, int64_t width, Buffers<T>& b) {
  int64_t stride = width;
  for (const auto& pass : plan.passes) {
    Context::current().poll();
    const T *roots = plan.table.data() + pass.roots, *twiddles = plan.table.data() + pass.twiddles;
    switch (pass.radix) {
      case 2: run_radix<2>(b, pass.rest, stride, roots, twiddles); break;
      case 3: run_radix<3>(b, pass.rest, stride, roots, twiddles); break;
      case 4: run_radix<4>(b, pass.rest, stride, roots, twiddles); break;
      case 5: run_radix<5>(b, pass.rest, stride, roots, twiddles); break;
      case 7: run_radix<7>(b, pass.rest, stride, roots, twiddles); break;
      case 8: run_radix<8>(b, pass.rest, stride, roots, twiddles); break;
      case 11: run_radix<11>(b, pass.rest, stride, roots, twiddles); break;
      case 13: run_radix<13>(b, pass.rest, stride, roots, twiddles); break;
    }
    b.swap();
    stride *= pass.radix;
  }
}

}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
