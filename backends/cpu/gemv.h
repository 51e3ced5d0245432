// Products of a matrix and a vector in float32, in oneMKL's order of additions (docs/threads.md).
#pragma once

#include <cstdint>

namespace tessera::tensor::cpu {

/// out (+)= alpha * matrix x, of rows that are `leading` apart and have k elements.
struct MatrixRows {
  const float* matrix;
  int64_t leading, rows, k;
  const float* x;
  float alpha;
  bool adds;  // or else out is written
  float* out;
};
void add_matrix_rows(const MatrixRows& product);

/// out (+)= x matrix: the k rows of the matrix, `leading` apart and `columns` long, by the elements of x.
struct MatrixColumns {
  const float* matrix;
  int64_t leading, columns, k;
  const float* x;
  bool adds;
  float* out;
};
void add_matrix_columns(const MatrixColumns& product);

/// out[i, j] = a[i * a_step] * b[j * b_step] + bias[j], rounded once.
struct OuterProduct {
  const float* a;
  int64_t a_step;
  const float* b;
  int64_t b_step;
  const float* bias;
  int64_t m, n;
  float* out;
  int64_t ldc;
};
void add_outer_product(const OuterProduct& product);

}  // namespace tessera::tensor::cpu
