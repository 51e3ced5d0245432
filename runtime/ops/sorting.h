// Ops that order the items of a dimension: sort and what follows from it.
#pragma once

#include <optional>
#include <tuple>

#include "runtime/device/backend.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// Sorts rows of `size` elements, contiguous; `index` gets where each came from. Stable; NaN is the largest.
struct SortCall {
  DType dtype;
  const void* in;
  void* out;
  int64_t* index;
  int64_t rows, size;
  bool descending;
};
extern Kernel<SortCall> sort_kernel;

using ValuesAndIndices = std::tuple<Tensor, Tensor>;

ValuesAndIndices sort(const Tensor& self, int64_t dim = -1, bool descending = false);
Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false);
ValuesAndIndices topk(const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true);
ValuesAndIndices kthvalue(const Tensor& self, int64_t k, int64_t dim = -1, bool keepdim = false);
ValuesAndIndices median(const Tensor& self, int64_t dim, bool keepdim = false);
Tensor median(const Tensor& self);
ValuesAndIndices mode(const Tensor& self, int64_t dim = -1, bool keepdim = false);

}  // namespace tessera::tensor
