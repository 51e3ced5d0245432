// Transposed copies in tiles.
//
// A tile of the source, two lines of the cache wide, is first gathered in a buffer: its lines may lie a power of two apart
// and would push each other out of the cache while the tile is turned. Converting happens on the way into the buffer.
// From there blocks of 16 bytes by 16 bytes are turned in registers, by as many rounds of interleaving as the block's side
// has bits, and stored so that a line of the result is written at once. The oldest vectors of each architecture have all
// that it takes, so there is one version.
// compile: vectors (plain loops over elements)
#include "backends/cpu/transpose.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera::tensor::cpu {
namespace {

template <class T>
constexpr int kBlock = int(16 / sizeof(T));  // elements in a register
template <class T>
constexpr int64_t kSide = 128 / int64_t(sizeof(T));  // two lines: the second one comes along with the first

// Vectors of the compiler's own (GCC 12, Clang): Highway's dispatch would only choose among equals here.
template <class T>
struct Register {
  typedef T Type __attribute__((vector_size(16)));
};
template <class T>
using V = typename Register<T>::Type;

template <class T, bool kUpper, size_t... I>
V<T> interleave(V<T> a, V<T> b, std::index_sequence<I...>) {
  constexpr size_t n = kBlock<T>, first = kUpper ? n / 2 : 0;
  return __builtin_shufflevector(a, b, int(first + I / 2 + (I % 2 ? n : 0))...);
}

// One round: register i of the first half and of the second half become neighbours. After log2(kBlock) rounds register r
// holds column r.
template <class T>
void turn_block(const T* from, int64_t from_row, T* to, int64_t to_row) {
  constexpr int n = kBlock<T>;
  constexpr std::make_index_sequence<size_t(n)> all;
  V<T> a[n], b[n];
  for (int i = 0; i < n; i++) std::memcpy(&a[i], from + i * from_row, 16);
  for (int round = 1; round < n; round *= 2) {
    for (int i = 0; i < n / 2; i++) {
      b[2 * i] = interleave<T, false>(a[i], a[i + n / 2], all);
      b[2 * i + 1] = interleave<T, true>(a[i], a[i + n / 2], all);
    }
    for (int i = 0; i < n; i++) a[i] = b[i];
  }
  for (int i = 0; i < n; i++) std::memcpy(to + i * to_row, &a[i], 16);
}
template <>
void turn_block(const std::complex<double>* from, int64_t, std::complex<double>* to, int64_t) {
  *to = *from;
}

// A tile in the buffer, `columns` lines of kSide, to `rows` rows of the result.
template <class T>
void turn_tile(const T* buffer, T* to, int64_t to_row, int64_t columns, int64_t rows) {
  constexpr int64_t n = kBlock<T>;
  for (int64_t r = 0; r < rows; r += n)
    for (int64_t c = 0; c < columns; c += n) {
      const T* block = buffer + c * kSide<T> + r;
      if (r + n <= rows && c + n <= columns) [[likely]] {
        turn_block(block, kSide<T>, to + r * to_row + c, to_row);
        continue;
      }
      T edge[n * n];
      turn_block(block, kSide<T>, edge, n);
      for (int64_t i = 0; i < std::min(n, rows - r); i++)
        for (int64_t j = 0; j < std::min(n, columns - c); j++) to[(r + i) * to_row + c + j] = edge[i * n + j];
    }
}

// Tile after tile of a strip; load(line, c) puts column c of the result into a line of the buffer.
template <class T, class Load>
void run_tiles(const Strip& s, Load load) {
  T* to = reinterpret_cast<T*>(s.to);
  alignas(64) T buffer[kSide<T> * kSide<T>];
  for (int64_t c = 0; c < s.columns; c += kSide<T>) {
    const int64_t n = std::min(kSide<T>, s.columns - c);
    for (int64_t j = 0; j < n; j++) load(buffer + j * kSide<T>, c + j);
    turn_tile(buffer, to + c, s.to_row, n, s.rows);
  }
}

}  // namespace

template <class T>
void Transposer::run(const Strip& s, const Transposer& how) {
  const T* from = reinterpret_cast<const T*>(s.from);
  if (how.convert_)
    run_tiles<T>(
        s, [&](T* line, int64_t c) { how.convert_(line, 1, s.from + c * s.from_column * how.from_size_, 1, s.rows); });
  else if (s.rows == kSide<T>)
    run_tiles<T>(s, [&](T* line, int64_t c) {
      const T* column = from + c * s.from_column;
      __builtin_prefetch(column + kSide<T>);  // for the next strip
      __builtin_prefetch(column + kSide<T> + kSide<T> / 2);
      std::memcpy(static_cast<void*>(line), column, sizeof(T) * kSide<T>);
    });
  else
    run_tiles<T>(s, [&](T* line, int64_t c) {
      for (int64_t r = 0; r < s.rows; r++) line[r] = from[c * s.from_column + r];
    });
}

Transposer::Transposer(DType to, DType from)
    : from_size_(int64_t(item_size(from))), convert_(to == from ? nullptr : converter(to, from)) {
  with_size(to, [&](auto tag) {
    using T = typename decltype(tag)::type;
    side_ = kSide<T>;
    run_ = &run<T>;
  });
}

}  // namespace tessera::tensor::cpu
