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

// Registers whose ends may be left out of a load and a store: the end of a run needs no buffer then.
template <class T, class E>
constexpr bool kHasPartial = std::is_same_v<T, E>&& HWY_TARGET <= HWY_AVX2;

/// Op::call(x, y, z, p, q) on lanes of T. In memory operands and result are elements E; an operand with step 0 is one T.
template <class Op, class T, class E = T>
void run_lanes(const Run& r) {
  const Tag<T> d;
  const Lane<T> p = Op::kParams > 0 ? r.params[0].to_double() : 0.0;
  const Lane<T> q = Op::kParams > 1 ? r.params[1].to_double() : 0.0;
  // Copies, as a store may write to r for all the compiler knows.
  void* const out = r.out;
  const int64_t n = r.n;
  const void* const in[3] = {r.in[0], Op::kArity > 1 ? r.in[1] : nullptr, Op::kArity > 2 ? r.in[2] : nullptr};
  const bool moves[3] = {r.step[0] != 0, Op::kArity > 1 && r.step[1] != 0, Op::kArity > 2 && r.step[2] != 0};
  // One element is kept in a register and asked for by a branch, which is foreseen: a second load beside each store takes
  // longer, and a loop for each combination much code.
  auto repeated = [&](int a) HWY_ATTR {
    return a < Op::kArity && !moves[a] ? Lane<T>(hn::Set(d, *static_cast<const T*>(in[a]))) : Lane<T>(hn::Zero(d));
  };
  const Lane<T> x = repeated(0), y = repeated(1), z = repeated(2);
  auto call = [&](auto load) HWY_ATTR {
    auto operand = [&](int a, Lane<T> same)
                       HWY_ATTR { return moves[a] ? load(a, static_cast<const E*>(in[a])) : same; };
    if constexpr (Op::kArity == 1) return Op::call(operand(0, x), p, p, p, q);
    else if constexpr (Op::kArity == 2) return Op::call(operand(0, x), operand(1, y), p, p, q);
    else return Op::call(operand(0, x), operand(1, y), operand(2, z), p, q);
  };
  auto at = [&](int64_t i)
                HWY_ATTR { return call([&](int, const E* from) HWY_ATTR { return Lane<T>(load_lane(from + i)); }); };
#if HWY_TARGET == HWY_SCALAR  // for size: a body is written out once
  for (int64_t i = 0; i < n; i++) store_result<E>(at(i), out, i);
#else
  constexpr size_t kMax = hn::MaxLanes(Tag<T>());
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  // Two at a time: a body is a chain of dependent instructions, and the processor looks ahead for one chain only.
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto first = at(i), second = at(i + lanes);
    store_result<E>(first, out, i);
    store_result<E>(second, out, i + lanes);
  }
  using Result = decltype(at(0));
  constexpr size_t size = result_size<E>(static_cast<Result*>(nullptr));
  alignas(64) T result[kMax];
  // What is left. Lanes without an element compute on ones, which no op minds.
  if constexpr (kHasPartial<T, E>) {
    for (; i < n; i += lanes) {
      const int64_t rest = std::min(n - i, lanes);
      const auto some = hn::FirstN(d, size_t(rest));
      const auto last = call([&](int, const E* from) HWY_ATTR {
        return Lane<T>(hn::IfThenElse(some, hn::MaskedLoad(some, d, from + i), hn::Set(d, T(1))));
      });
      if constexpr (std::is_same_v<Result, Lane<T>>) {
        hn::BlendedStore(last.v, some, d, static_cast<T*>(out) + i);
      } else {
        store_result<E>(last, result, 0);
        std::memcpy(static_cast<char*>(out) + size_t(i) * size, result, size_t(rest) * size);
      }
    }
  } else {
    if (i + lanes <= n) {
      store_result<E>(at(i), out, i);
      i += lanes;
    }
    const int64_t rest = n - i;
    if (rest == 0) return;
    alignas(64) E tail[3][kMax];
    const auto last = call([&](int a, const E* from) HWY_ATTR {
      std::fill_n(tail[a], kMax, convert_element<E>(T(1)));
      std::memcpy(static_cast<void*>(tail[a]), from + i, size_t(rest) * sizeof(E));
      return Lane<T>(load_lane(tail[a]));
    });
    store_result<E>(last, result, 0);
    std::memcpy(static_cast<char*>(out) + size_t(i) * size, result, size_t(rest) * size);
  }
#endif
}

}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
