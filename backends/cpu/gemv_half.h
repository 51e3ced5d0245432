// Products of a few vectors and a matrix of halves, which are read once and widened in registers: text is generated at the speed of memory.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace tessera::tensor::cpu {

/// The most vectors at a time; more are quicker as a product of matrices in float32.
inline constexpr int64_t kHalfVectors = 4;

/// A matrix of `rows` rows, `leading` apart, of `columns` elements each, float16 or bfloat16; `count` vectors and results in float32,
/// `x_step` and `out_step` apart.
struct HalfMatrix {
  DType dtype;
  const void* matrix;
  int64_t leading, rows, columns;
  const float* x;
  int64_t x_step, count;
  float* out;
  int64_t out_step;
};
/// out[v, r] = the sum over columns of matrix[r, c] * x[v, c].
void half_rows(const HalfMatrix& product);
/// out[v, c] += the sum over rows of matrix[r, c] * x[v, r].
void half_columns(const HalfMatrix& product);

}  // namespace tessera::tensor::cpu
