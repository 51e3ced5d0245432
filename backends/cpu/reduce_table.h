// Inner kernels of reductions, by op, type of the elements and type of the arithmetic.
//
// Note [Order of a reduction]. Floating sums depend on the order of additions; ours is PyTorch's on one thread, for every
// instruction set and number of threads:
//
//   cascade   rows of numbers are added column by column: `step` rows from zero, such blocks from zero until there are
//             `step` of them, these from zero likewise, and so on in four levels; step is 2^max(4, log2(rows) / 4).
//             At the end what is left of level 0 comes first, then levels 1, 2, 3.
//   a row     (the reduced elements are neighbours) is cut into rows of 4 x 8 floats (4 x 4 doubles), a cascade. Whole
//             groups of 8 that are left join the first eight columns, then columns 8-15, 16-23, 24-31 do. The result
//             is 0, plus the elements that are left, plus the eight columns one by one.
//   columns   (the results are neighbours) are a cascade as they stand; the last ones, fewer than 32, are four cascades
//             of every fourth row, with the rows that are left on the first, and then added up.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/dtype.h"

namespace tessera::tensor::cpu {

/// Columns of the cascade that a row is cut into, and those of them that one group is.
template <class T>
inline constexpr int64_t kRowColumns = 128 / int64_t(sizeof(T));
template <class T>
inline constexpr int64_t kRowGroup = kRowColumns<T> / 4;

/// Columns that one call handles at most.
inline constexpr int64_t kReduceStrip = 1024;

/// Rows that one block of a cascade of `rows` adds up.
constexpr int64_t cascade_step(int64_t rows) {
  const int log = rows > 1 ? std::bit_width(uint64_t(rows - 1)) : 0;
  return int64_t(1) << (log / 4 > 4 ? log / 4 : 4);
}

template <class T>
struct ReduceKernels {
  T identity;
  /// x[i] = the element x[i] mapped. Null: the other kernels map elements themselves; else they want them mapped before.
  void (*map)(T* x, int64_t n, double p);
  /// out[i] = the row of n contiguous elements at x + i * stride, mapped and combined, for i < count. With `units` (count
  /// is 1) what of it is whole units has been combined before, and x begins behind these.
  void (*rows)(T* out, const T* units, const void* x, int64_t stride, int64_t n, int64_t count, double p);
  /// total = rows of kRowColumns contiguous elements combined, at most step * step: what level 2 gets.
  void (*unit)(T* total, const void* x, int64_t rows, int64_t step, double p);
  /// total[j] = combine(total[j], x[i * stride + j] combined over i < rows), for j < width <= kReduceStrip.
  void (*block)(T* total, const void* x, int64_t stride, int64_t rows, int64_t width, double p);
  void (*merge)(T* total, const T* other, int64_t width);
  T (*combine)(T a, T b);
  /// What becomes of `count` totals of n elements each.
  void (*finish)(T* totals, int64_t count, double n, double p);
};

/// Indexed by reduction::Id. Null, or an entry without functions: such elements have to be converted to T before.
const ReduceKernels<float>* float_reductions(DType in);    // float32, float16, bfloat16
const ReduceKernels<double>* double_reductions(DType in);  // float64
const ReduceKernels<int64_t>* int64_reductions(DType in);  // integers of 1 to 8 bytes and bool

}  // namespace tessera::tensor::cpu
