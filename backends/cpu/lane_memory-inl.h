// Lanes to and from memory: whole registers, and the ends of runs. float16 and bfloat16 are converted on the way.
#if defined(TESSERA_LANE_MEMORY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LANE_MEMORY_INL_H
#undef TESSERA_LANE_MEMORY_INL_H
#else
#define TESSERA_LANE_MEMORY_INL_H
#endif

#include <cstring>

#include "backends/cpu/lane-inl.h"
#include "runtime/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

template <class T>
HWY_INLINE Lane<T> load_lane(const T* p) {
  return hn::LoadU(Tag<T>(), p);
}
template <class T>
HWY_INLINE void store_lane(Lane<T> x, T* p) {
  hn::StoreU(x.v, Tag<T>(), p);
}
HWY_INLINE Lane<float> load_lane(const BFloat16* p) {
  const hn::Rebind<uint16_t, Tag<float>> d16;
  const hn::RebindToUnsigned<Tag<float>> d32;
  const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(p)));
  return hn::BitCast(Tag<float>(), hn::ShiftLeft<16>(bits));
}
HWY_INLINE void store_lane(Lane<float> x, BFloat16* p) {
  const hn::RebindToUnsigned<Tag<float>> d32;
  const auto bits = hn::BitCast(d32, x.v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, odd), hn::Set(d32, 0x7fff)));
  const auto is_nan = hn::RebindMask(d32, hn::IsNaN(x.v));
  const auto result = hn::IfThenElse(is_nan, hn::Set(d32, 0x7fc0), rounded);
#if HWY_TARGET == HWY_SCALAR
  p->bits = uint16_t(hn::GetLane(result));
#else
  const hn::Rebind<uint16_t, Tag<float>> d16;
  hn::StoreU(hn::TruncateTo(d16, result), d16, reinterpret_cast<uint16_t*>(p));
#endif
}
// Highway converts float16 by instruction from AVX2 on; what it does below rounds towards zero.
HWY_INLINE Lane<float> load_lane(const Half* p) {
#if HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, Tag<float>> d16;
  return hn::PromoteTo(Tag<float>(), hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(p)));
#else
  alignas(64) float buffer[hn::MaxLanes(Tag<float>())];
  for (size_t i = 0; i < hn::Lanes(Tag<float>()); i++) buffer[i] = float(p[i]);
  return hn::Load(Tag<float>(), buffer);
#endif
}
HWY_INLINE void store_lane(Lane<float> x, Half* p) {
#if HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, Tag<float>> d16;
  hn::StoreU(hn::DemoteTo(d16, x.v), d16, reinterpret_cast<hwy::float16_t*>(p));
#else
  alignas(64) float buffer[hn::MaxLanes(Tag<float>())];
  hn::Store(x.v, Tag<float>(), buffer);
  for (size_t i = 0; i < hn::Lanes(Tag<float>()); i++) p[i] = Half(buffer[i]);
#endif
}

// Fewer elements than a register has: the others are 0 when they are loaded, and are not stored.
template <class In>
using LaneOf = decltype(load_lane(static_cast<const In*>(nullptr)));
template <class In>
HWY_NOINLINE LaneOf<In> load_few(const In* p, int count) {
  alignas(64) In buffer[hn::MaxLanes(Tag<typename LaneOf<In>::Element>())] = {};
  std::memcpy(static_cast<void*>(buffer), p, size_t(count) * sizeof(In));
  return load_lane(buffer);
}
template <class T, class Out>
HWY_NOINLINE void store_few(Lane<T> x, Out* p, int count) {
  alignas(64) Out buffer[hn::MaxLanes(Tag<T>())];
  store_lane(x, buffer);
  std::memcpy(static_cast<void*>(p), buffer, size_t(count) * sizeof(Out));
}
template <class In>
HWY_INLINE LaneOf<In> load_lane(const In* p, int count) {
  return count == int(hn::MaxLanes(Tag<typename LaneOf<In>::Element>())) ? load_lane(p) : load_few(p, count);
}
template <class T, class Out>
HWY_INLINE void store_lane(Lane<T> x, Out* p, int count) {
  if (count == int(hn::MaxLanes(Tag<T>()))) store_lane(x, p);
  else store_few(x, p, count);
}
/// f(j, count) for n elements a register at a time: `count` from number j on, fewer than a register at the end.
template <class T, class F>
HWY_INLINE void each_lane(int64_t n, const F& f) {
  constexpr int64_t kLanes = int64_t(hn::MaxLanes(Tag<T>()));
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) f(j, int(kLanes));
  if (j < n) f(j, int(n - j));
}

}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
