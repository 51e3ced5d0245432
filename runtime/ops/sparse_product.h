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

}  // namespace tessera::tensor
