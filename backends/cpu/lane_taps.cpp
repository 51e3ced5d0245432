// Sums over the taps of a window with channels along lanes: each tap is one multiplication and addition for a vector of channels.
#include "backends/cpu/lane_taps.h"
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/lane_taps.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;

// Sums that are computed side by side: a multiplication takes four cycles, and two begin in each.
constexpr int kSums = HWY_TARGET == HWY_SCALAR ? 1 : 8;

template <int kPlaces, class T>
HWY_INLINE void places_of(const LaneSums<T>& s, const LaneTaps& taps) {
  const Tag<T> d;
  hn::Vec<Tag<T>> sums[kPlaces];
  HWY_UNROLL(kSums)
  for (int i = 0; i < kPlaces; i++) sums[i] = s.bias ? hn::LoadU(d, s.bias) : hn::Zero(d);
  const int64_t step = s.in_step;
  for (int64_t t = 0; t < taps.count; t++) {
    const auto weight = hn::LoadU(d, s.weights + taps.weights[t]);
    const T* in = s.in + taps.pixels[t];
    HWY_UNROLL(kSums)
    for (int i = 0; i < kPlaces; i++, in += step) sums[i] = hn::MulAdd(hn::LoadU(d, in), weight, sums[i]);
  }
  T* out = s.out;
  HWY_UNROLL(kSums)
  for (int i = 0; i < kPlaces; i++, out += s.out_step) hn::StoreU(sums[i], d, out);
}

template <int kTaps, class T>
HWY_INLINE void gradients_of(const LaneGradients<T>& g, const LaneTaps& taps, int64_t first) {
  const Tag<T> d;
  const int64_t width = int64_t(hn::Lanes(d));
  hn::Vec<Tag<T>> sums[kTaps];
  const T* in[kTaps];
  HWY_UNROLL(kSums)
  for (int t = 0; t < kTaps; t++) {
    sums[t] = hn::LoadU(d, g.sums + taps.weights[first + t]);
    in[t] = g.in + taps.pixels[first + t];
  }
  for (int64_t i = 0; i < g.places; i++) {
    const auto gradient = hn::LoadU(d, g.gradient + i * width);
    HWY_UNROLL(kSums)
    for (int t = 0; t < kTaps; t++) sums[t] = hn::MulAdd(hn::LoadU(d, in[t] + i * g.in_step), gradient, sums[t]);
  }
  HWY_UNROLL(kSums)
  for (int t = 0; t < kTaps; t++) hn::StoreU(sums[t], d, g.sums + taps.weights[first + t]);
}

/// f(first, number) over [0, n) in blocks of at most kSums that differ by one at most; the number is a constant of its type.
template <class F>
HWY_INLINE void in_blocks(int64_t n, const F& f) {
  const int64_t blocks = (n + kSums - 1) / kSums;
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t first = n * b / blocks;
    if constexpr (kSums == 1) {
      f(first, std::integral_constant<int, 1>());
    } else {
      switch (n * (b + 1) / blocks - first) {
        case 8: f(first, std::integral_constant<int, 8>()); break;
        case 7: f(first, std::integral_constant<int, 7>()); break;
        case 6: f(first, std::integral_constant<int, 6>()); break;
        case 5: f(first, std::integral_constant<int, 5>()); break;
        case 4: f(first, std::integral_constant<int, 4>()); break;
        case 3: f(first, std::integral_constant<int, 3>()); break;
        case 2: f(first, std::integral_constant<int, 2>()); break;
        default: f(first, std::integral_constant<int, 1>()); break;
      }
    }
  }
}

template <class T>
HWY_INLINE void sum_all(const LaneSums<T>& sums, const LaneTaps& taps) {
  in_blocks(sums.places, [&](int64_t first, auto places) HWY_ATTR {
    LaneSums<T> some = sums;
    some.in += first * sums.in_step;
    some.out += first * sums.out_step;
    places_of<decltype(places)::value>(some, taps);
  });
}
template <class T>
HWY_INLINE void add_all(const LaneGradients<T>& work, const LaneTaps& taps) {
  in_blocks(taps.count,
            [&](int64_t first, auto number) HWY_ATTR { gradients_of<decltype(number)::value>(work, taps, first); });
}

void sum_float(const LaneSums<float>& sums, const LaneTaps& taps) { sum_all(sums, taps); }
void sum_double(const LaneSums<double>& sums, const LaneTaps& taps) { sum_all(sums, taps); }
void add_float(const LaneGradients<float>& work, const LaneTaps& taps) { add_all(work, taps); }
void add_double(const LaneGradients<double>& work, const LaneTaps& taps) { add_all(work, taps); }

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(sum_float);
HWY_EXPORT(sum_double);
HWY_EXPORT(add_float);
HWY_EXPORT(add_double);

void sum_taps(const LaneSums<float>& sums, const LaneTaps& taps) { HWY_DYNAMIC_DISPATCH(sum_float)(sums, taps); }
void sum_taps(const LaneSums<double>& sums, const LaneTaps& taps) { HWY_DYNAMIC_DISPATCH(sum_double)(sums, taps); }
void add_gradients(const LaneGradients<float>& work, const LaneTaps& taps) {
  HWY_DYNAMIC_DISPATCH(add_float)(work, taps);
}
void add_gradients(const LaneGradients<double>& work, const LaneTaps& taps) {
  HWY_DYNAMIC_DISPATCH(add_double)(work, taps);
}
}  // namespace tessera::tensor::cpu
#endif
