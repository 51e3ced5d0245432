// All pairs of dtypes as plain loops. Dense runs of those that matter are in convert_dense.cpp.
#include "backends/cpu/convert.h"

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
void move_run(void* to_v, int64_t to_step, const void* from_v, int64_t from_step, int64_t n) {
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

constexpr size_t kTypes = kDTypeCount;

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
void convert_run(void* to_v, int64_t to_step, const void* from_v, int64_t from_step, int64_t n) {
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

template <size_t I>
using Type = typename ElementType<DType(I)>::type;

template <class To, class From>
constexpr ConvertRun run_of() {
  if constexpr (!std::is_same_v<To, From>) return &convert_run<To, From>;
  else if constexpr (sizeof(To) == 1) return &move_run<uint8_t>;
  else if constexpr (sizeof(To) == 2) return &move_run<uint16_t>;
  else if constexpr (sizeof(To) == 4) return &move_run<uint32_t>;
  else if constexpr (sizeof(To) == 8) return &move_run<uint64_t>;
  else return &move_run<std::complex<double>>;
}

template <size_t To, size_t... From>
constexpr void fill_row(ConvertRun* row, std::index_sequence<From...>) {
  ((row[From] = run_of<Type<To>, Type<From>>()), ...);
}
struct Table {
  ConvertRun run[kTypes][kTypes];
  template <size_t... To>
  constexpr explicit Table(std::index_sequence<To...>) : run{} {
    (fill_row<To>(run[To], std::make_index_sequence<kTypes>()), ...);
  }
};
constexpr Table kTable{std::make_index_sequence<kTypes>()};

}  // namespace

ConvertRun converter(DType to, DType from) { return kTable.run[int(to)][int(from)]; }

}  // namespace tessera::tensor::cpu
