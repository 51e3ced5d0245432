// One run of a pointwise op over vectors: the loop and its remainder are written once here, the op is a functor.
#if defined(TESSERA_MAP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_MAP_INL_H
#undef TESSERA_MAP_INL_H
#else
#define TESSERA_MAP_INL_H
#endif

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/cpu/lane_memory-inl.h"
#include "backends/cpu/pointwise_table.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

template <class E, class T>
HWY_INLINE void store_result(Lane<T> x, void* out, int64_t at) {
  store_lane(x, static_cast<E*>(out) + at);
}
template <class E, class T>
HWY_INLINE void store_result(LaneMask<T> x, void* out, int64_t at) {
  const hn::RebindToUnsigned<Tag<T>> du;
  const hn::Rebind<uint8_t, Tag<T>> d8;
  auto ones = hn::IfThenElseZero(hn::RebindMask(du, x.m), hn::Set(du, 1));
  if constexpr (HWY_TARGET == HWY_SCALAR) static_cast<uint8_t*>(out)[at] = hn::GetLane(ones) != 0;
  else hn::StoreU(hn::TruncateTo(d8, ones), d8, static_cast<uint8_t*>(out) + at);
}
template <class E, class T>
constexpr size_t result_size(Lane<T>*) {
  return sizeof(E);
}
template <class E, class T>
constexpr size_t result_size(LaneMask<T>*) {
  return 1;
}

/// Op::call(x, y, z, p, q) on lanes of T. In memory operands and result are elements E; an operand with step 0 is one T,
/// which becomes a full register in memory, read again and again.
template <class Op, class T, class E = T>
void run_lanes(const Run& r) {
  const Tag<T> d;
  constexpr size_t kMax = hn::MaxLanes(Tag<T>());
  constexpr bool kConverts = !std::is_same_v<T, E>;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const Lane<T> p = Op::kParams > 0 ? r.params[0].to_double() : 0.0;
  const Lane<T> q = Op::kParams > 1 ? r.params[1].to_double() : 0.0;
  alignas(64) T splat[3][kMax];
  const void* in[3] = {splat[0], splat[0], splat[0]};
  int64_t step[3] = {0, 0, 0};
  for (int a = 0; a < Op::kArity; a++) {
    step[a] = r.step[a];
    in[a] = r.in[a];
    if (step[a]) continue;
    hn::Store(hn::Set(d, *static_cast<const T*>(in[a])), d, splat[a]);
    in[a] = splat[a];
  }
  auto load = [&](int a, int64_t i) HWY_ATTR {
    if constexpr (kConverts)
      if (!step[a]) return Lane<T>(hn::Load(d, splat[a]));
    return Lane<T>(load_lane(static_cast<const E*>(in[a]) + i * step[a]));
  };
  auto at = [&](int64_t i) HWY_ATTR {
    if constexpr (Op::kArity == 1) return Op::call(load(0, i), p, p, p, q);
    else if constexpr (Op::kArity == 2) return Op::call(load(0, i), load(1, i), p, p, q);
    else return Op::call(load(0, i), load(1, i), load(2, i), p, q);
  };
  int64_t i = 0;
  // Two at a time: a body is a chain of dependent instructions, and the processor looks ahead for one chain only.
  for (; i + 2 * lanes <= r.n; i += 2 * lanes) {
    const auto first = at(i), second = at(i + lanes);
    store_result<E>(first, r.out, i);
    store_result<E>(second, r.out, i + lanes);
  }
  if (i + lanes <= r.n) {
    store_result<E>(at(i), r.out, i);
    i += lanes;
  }
  const int64_t rest = r.n - i;
  if (rest == 0) return;
  alignas(64) E tail[3][kMax];
  for (int a = 0; a < Op::kArity; a++) {
    if (!step[a]) continue;
    std::fill_n(tail[a], kMax, convert_element<E>(T(1)));
    for (int64_t j = 0; j < rest; j++) tail[a][j] = static_cast<const E*>(in[a])[i + j];
    in[a] = tail[a];
  }
  alignas(64) T result[kMax];
  auto last = at(0);
  store_result<E>(last, result, 0);
  constexpr size_t size = result_size<E>(static_cast<decltype(last)*>(nullptr));
  if constexpr (size == sizeof(E)) {
    for (int64_t j = 0; j < rest; j++) static_cast<E*>(r.out)[i + j] = reinterpret_cast<const E*>(result)[j];
  } else {
    for (int64_t j = 0; j < rest; j++) static_cast<uint8_t*>(r.out)[i + j] = reinterpret_cast<uint8_t*>(result)[j];
  }
}

}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
