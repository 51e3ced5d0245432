// Sorting rows, for the kernels that need it in passing.
#pragma once

#include "backends/cuda/cuda.h"
#include "runtime/ops/sorting.h"

namespace tessera::tensor::cuda {

/// Rows of `size` elements; of each the first `keep` in order are written, with the places that they came from. Stable.
struct RowSort {
  DType dtype;
  const void* in;
  void* out;
  int64_t* index;
  int64_t rows, size, keep;
  bool descending;
  const int64_t* places = nullptr;  // rows x size: what `index` gets for an element, when not its place in the row
};
void sort_rows(const RowSort& s, const Launch& at, const Place& place);

/// PyTorch's limit.
void check_row_size(int64_t size);

}  // namespace tessera::tensor::cuda
