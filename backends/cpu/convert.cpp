// Pairs of dtypes as plain loops. Dense runs of those that matter are in convert_dense.cpp. Small types (float8, complex32) are read and
// written as their wide type only, by way of which every other pair with one of them goes: a row of the table of pairs for each would be
// many times the code.
#include "backends/cpu/convert.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace tessera::tensor::cpu {
namespace {

// A step of 2 is known to the compiler, which then reads whole vectors and sorts out what is needed. (With 3 it does worse
// than element by element.)
template <class T>
void move_every_other(T* to, const T* from, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = from[i * 2];
}

// Elements of one type, moved as they are.
template <class T>
void move_run(void* to_v, int64_t to_step, const void* from_v, int64_t from_step, int64_t n, ConvertRun::Pair) {
  T* to = static_cast<T*>(to_v);
  const T* from = static_cast<const T*>(from_v);
  if (to_step == 1) {
    switch (from_step) {
      case 1: return void(std::memcpy(static_cast<void*>(to), from, size_t(n) * sizeof(T)));
      case 0: return repeat_element(to, from, n, sizeof(T));
      case -1: return copy_backwards(to, from, n, sizeof(T));
      case 2: return move_every_other(to, from, n);
      default: break;
    }
  }
  for (int64_t i = 0; i < n; i++) to[i * to_step] = from[i * from_step];
}

constexpr size_t kTypes = size_t(std::bit_width(kAllTypes.bits));
static_assert(std::has_single_bit(kAllTypes.bits + 1));  // the first rows of the table

/// The vectors of every pair, looked up once. (A static in each convert_run would be as much code again.)
DenseRun vectors_of(DType to, DType from) {
  struct Chosen {
    DenseRun run[kTypes][kTypes];
    Chosen() {
      for (size_t t = 0; t < kTypes; t++)
        for (size_t f = 0; f < kTypes; f++) run[t][f] = dense_converter(DType(t), DType(f));
    }
  };
  static const Chosen chosen;
  return chosen.run[int(to)][int(from)];
}

template <class To, class From>
void convert_run(void* to_v, int64_t to_step, const void* from_v, int64_t from_step, int64_t n, ConvertRun::Pair) {
  To* to = static_cast<To*>(to_v);
  const From* from = static_cast<const From*>(from_v);
  if (to_step == 1 && from_step == 0) {
    const To value = convert_element<To>(*from);
    return repeat_element(to, &value, n, sizeof(To));
  }
  if (to_step == 1 && from_step == 1) {
    if (const DenseRun vectors = vectors_of(dtype_of<To>, dtype_of<From>)) return vectors(to, from, n);
    for (int64_t i = 0; i < n; i++) to[i] = convert_element<To>(from[i]);
    return;
  }
  for (int64_t i = 0; i < n; i++) to[i * to_step] = convert_element<To>(from[i * from_step]);
}

using Function = ConvertRun::Function;

template <size_t I>
using Type = typename ElementType<DType(I)>::type;

template <class To, class From>
constexpr Function run_of() {
  if constexpr (std::is_same_v<To, From>) return nullptr;
  else return &convert_run<To, From>;
}

template <size_t To, size_t... From>
constexpr void fill_row(Function* row, std::index_sequence<From...>) {
  ((row[From] = run_of<Type<To>, Type<From>>()), ...);
}
struct Table {
  Function run[kTypes][kTypes];
  template <size_t... To>
  constexpr explicit Table(std::index_sequence<To...>) : run{} {
    (fill_row<To>(run[To], std::make_index_sequence<kTypes>()), ...);
  }
};
constexpr Table kTable{std::make_index_sequence<kTypes>()};

Function move_of(DType type) {
  return with_size(type, [](auto tag) -> Function { return &move_run<typename decltype(tag)::type>; });
}

// ---- small types ----

template <class To, class From>
void small_run(void* to_v, int64_t to_step, const void* from_v, int64_t from_step, int64_t n) {
  To* to = static_cast<To*>(to_v);
  const From* from = static_cast<const From*>(from_v);
  for (int64_t i = 0; i < n; i++) to[i * to_step] = convert_element<To>(from[i * from_step]);
}
using SmallRun = void (*)(void* to, int64_t to_step, const void* from, int64_t from_step, int64_t n);
template <bool kWrites>
SmallRun small_run_of(DType type) {
  return with_type<kSmallTypes>(type, [](auto tag) -> SmallRun {
    using T = typename decltype(tag)::type;
    using Wide = typename WideOf<T>::type;
    if constexpr (kWrites) return &small_run<T, Wide>;
    else return &small_run<Wide, T>;
  });
}

// One of the types, or both, are small: a piece is read as the wide type of the source, converted, and written.
void run_by_wide_types(void* to_v, int64_t to_step, const void* from_v, int64_t from_step, int64_t n,
                       ConvertRun::Pair types) {
  constexpr int64_t kPiece = 64;
  alignas(16) char read[kPiece * 8], converted[kPiece * 8];  // float or complex<float>
  char* to = static_cast<char*>(to_v);
  const char* from = static_cast<const char*>(from_v);
  const DType wide_from = wide_type(types.from), wide_to = wide_type(types.to);
  const SmallRun reads = wide_from == types.from ? nullptr : small_run_of<false>(types.from);
  const SmallRun writes = wide_to == types.to ? nullptr : small_run_of<true>(types.to);
  const ConvertRun converts = wide_from == wide_to ? nullptr : converter(wide_to, wide_from);
  const int64_t to_bytes = to_step * int64_t(item_size(types.to)),
                from_bytes = from_step * int64_t(item_size(types.from));
  for (int64_t i = 0; i < n; i += kPiece, to += kPiece * to_bytes, from += kPiece * from_bytes) {
    const int64_t m = std::min(kPiece, n - i);
    const void* at = from;
    int64_t step = from_step;
    if (reads) {
      const bool last = !converts && !writes;
      reads(last ? to : read, last ? to_step : 1, from, from_step, m);
      if (last) continue;
      at = read, step = 1;
    }
    if (converts) {
      converts(writes ? converted : to, writes ? 1 : to_step, at, step, m);
      at = converted, step = 1;
    }
    if (writes) writes(to, to_step, at, step, m);
  }
}

}  // namespace

ConvertRun converter(DType to, DType from) {
  const ConvertRun::Pair types{to, from};
  if (to == from) return {move_of(to), types};
  const DTypeSet both = DTypeSet(to) | from;
  if ((both - kAllTypes) == DTypeSet()) return {kTable.run[int(to)][int(from)], types};
  if ((both - kElementTypes) != DTypeSet()) refuse_type(kElementTypes.has(to) ? from : to, "copy_");
  return {&run_by_wide_types, types};
}

}  // namespace tessera::tensor::cpu
