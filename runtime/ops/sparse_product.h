// The product of a sparse and a dense matrix, as a kernel.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

/// out [rows, width]: for each row the sum over its entries, in their order, of value times a row of `dense`. All without gaps, float32 or
/// float64. `starts` has rows + 1 numbers: where the entries of each row begin. Columns that are out of range have been refused.
struct SparseProductCall {
  DType dtype;
  const int64_t *starts, *columns;
  const void *values, *dense;
  void* out;
  int64_t entries, rows, width;
  Launch launch{};
};
extern Kernel<SparseProductCall> sparse_product_kernel;

/// A product of shape [rows, dense.size(1)], for int64 starts of rows + 1 elements, int64 columns and values of one element for each entry, and
/// dense of two dimensions; values and dense are float32 or float64. Undefined for operands of another dtype, with gaps or outside of the
/// host's memory. Raises an index error for columns outside of dense.
Tensor sparse_product(const Tensor& starts, const Tensor& columns, const Tensor& values, const Tensor& dense);

}  // namespace tessera::tensor
