// The kernels of everything that addresses elements by index tensors: indexing, gather, scatter, embedding and the like
// are one loop over places, each with an offset that up to kMaxIndices tensors add up to.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

inline constexpr int kMaxIndices = 8;

/// For every place p of `sizes` (outermost first): element self[p . self_strides + sum of index_k[p] * step_k], and element
/// values[p . value_strides]. Strides are in elements.
struct IndexCall {
  enum class Mode { Read, Write, Accumulate };  // values = self; self = values; self += values
  enum class Negative { Wrap, Refuse };         // -1 is the last element, or an error

  Mode mode;
  Negative negative;
  DType dtype;
  int ndim;
  const int64_t* sizes;
  char* self;
  const int64_t* self_strides;  // 0 in the dimensions of the indices
  char* values;
  const int64_t* value_strides;

  int count;
  const int64_t* index[kMaxIndices];
  const int64_t* index_strides[kMaxIndices];
  int64_t extent[kMaxIndices];  // of the dimension that index k addresses
  int64_t step[kMaxIndices];    // and its stride in self

  /// The first index that is out of bounds and which one; the kernel stops there.
  int64_t* bad_value;
  int* bad_index;  // -1: none
};
extern Kernel<IndexCall> index_kernel;

/// Places of the elements that are not zero, row by row: out is [count, ndim], or null to count only.
struct NonzeroCall {
  const char* in;
  DType dtype;
  int ndim;
  const int64_t* sizes;
  const int64_t* strides;
  int64_t* out;
  int64_t* count;
};
extern Kernel<NonzeroCall> nonzero_kernel;

}  // namespace tessera::tensor
