// Sixteen floats in as many registers as they need: sums that are the same for every instruction set.
#if defined(TESSERA_SIXTEEN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_SIXTEEN_INL_H
#undef TESSERA_SIXTEEN_INL_H
#else
#define TESSERA_SIXTEEN_INL_H
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kSums = 16;
using Tag = hn::CappedTag<float, kSums>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Tag()));
constexpr int kVectors = int(kSums / kLanes);

/// Sixteen floats in as many registers as they need.
struct Sixteen {
  hn::Vec<Tag> v[kVectors];
};
HWY_INLINE Sixteen load(const float* p) {
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) r.v[i] = hn::LoadU(Tag(), p + i * kLanes);
  return r;
}
/// The first n; zeros behind them.
HWY_INLINE Sixteen load(const float* p, int64_t n) {
  if (n >= kSums) return load(p);
#if HWY_TARGET <= HWY_AVX2
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) {
    const int64_t count = std::clamp<int64_t>(n - i * kLanes, 0, kLanes);
    r.v[i] = hn::MaskedLoad(hn::FirstN(Tag(), size_t(count)), Tag(), p + i * kLanes);
  }
  return r;
#else
  float some[kSums] = {};
  std::copy_n(p, n, some);
  return load(some);
#endif
}
HWY_INLINE void store(const Sixteen& x, float* p) {
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) hn::StoreU(x.v[i], Tag(), p + i * kLanes);
}
/// The first n.
HWY_INLINE void store(const Sixteen& x, float* p, int64_t n) {
#if HWY_TARGET <= HWY_AVX2
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) {
    const int64_t count = std::clamp<int64_t>(n - i * kLanes, 0, kLanes);
    hn::BlendedStore(x.v[i], hn::FirstN(Tag(), size_t(count)), Tag(), p + i * kLanes);
  }
#else
  float values[kSums];
  store(x, values);
  std::copy_n(values, n, p);
#endif
}
HWY_INLINE Sixteen all(float x) {
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) r.v[i] = hn::Set(Tag(), x);
  return r;
}
HWY_INLINE Sixteen operator*(const Sixteen& a, const Sixteen& b) {
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) r.v[i] = hn::Mul(a.v[i], b.v[i]);
  return r;
}
HWY_INLINE Sixteen operator+(const Sixteen& a, const Sixteen& b) {
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) r.v[i] = hn::Add(a.v[i], b.v[i]);
  return r;
}
HWY_INLINE Sixteen mul_add(const Sixteen& a, const Sixteen& b, const Sixteen& c) {
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) r.v[i] = hn::MulAdd(a.v[i], b.v[i], c.v[i]);
  return r;
}
/// Halves onto each other until one is left.
HWY_INLINE float total(const Sixteen& x) {
#if HWY_TARGET <= HWY_AVX3
  const Tag d;
  auto v = hn::Add(x.v[0], hn::ConcatUpperUpper(d, x.v[0], x.v[0]));
  v = hn::Add(v, hn::SwapAdjacentBlocks(v));
  v = hn::Add(v, hn::Shuffle1032(v));
  return hn::GetLane(hn::Add(v, hn::Shuffle2301(v)));
#else
  float sums[kSums];
  store(x, sums);
  for (int64_t half = kSums / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; i++) sums[i] += sums[i + half];
  return sums[0];
#endif
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
