// The kernels of everything that addresses elements by index tensors: indexing, gather, scatter, embedding and the like
// are one loop over places, each with an offset that up to kMaxIndices tensors add up to.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

inline constexpr int kMaxIndices = 8;

/// For every place p of `sizes` (outermost first): element self[p . self_strides + sum of index_k[p] * step_k], and element
/// values[p . value_strides]. Strides are in elements.
struct IndexCall {
  /// values = self; self = values; self += values; self *= values; self becomes the larger (smaller) of both, NaN wins.
  /// The last three in int64, float32 and float64, products in complex dtypes too.
  enum class Mode { Read, Write, Accumulate, Multiply, Maximum, Minimum };
  enum class Negative { Wrap, Refuse };  // -1 is the last element, or an error
  /// What an index out of bounds says: IndexError or RuntimeError with dimension and size, index_copy's, index_select's
  /// (no number), take's.
  enum class Complaint { Index, Scatter, Copy, Select, Take, Target };

  Mode mode;
  Negative negative;
  Complaint complaint;
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
  int64_t dim[kMaxIndices];     // and what the complaint calls it
  Launch launch{};
};
extern Kernel<IndexCall> index_kernel;

/// Throws what an index out of bounds says: called by kernels on the host, and for a device when its error word is read.
[[noreturn]] void fail_out_of_bounds(IndexCall::Complaint complaint, int64_t index, int64_t dim, int64_t extent);

/// How many elements are not zero, as one int64 on the device. The elements lie in a row.
struct CountNonzeroCall {
  DType dtype;
  const void* in;
  int64_t n;
  int64_t* count;
  Launch launch{};
};
extern Kernel<CountNonzeroCall> count_nonzero_kernel;

/// Places of the elements that are not zero, row by row, as out [count, ndim], which lies column by column. The elements lie row-major without gaps.
struct NonzeroCall {
  DType dtype;
  const void* in;
  int ndim;
  const int64_t* sizes;
  int64_t count;
  int64_t* out;
  Launch launch{};
};
extern Kernel<NonzeroCall> nonzero_kernel;

/// Rows of `self` where the mask is set, in order: values[k] = self[i] or self[i] = values[k] for the k-th i that is set.
/// Both row-major without gaps.
struct MaskRowsCall {
  bool write;
  DType dtype;
  const bool* mask;
  int64_t rows, width;  // `width` elements each
  char* self;
  char* values;
  int64_t value_rows;  // a device finds out by itself whether they suffice
  Launch launch{};
};
extern Kernel<MaskRowsCall> mask_rows_kernel;

/// loop operand 0 = operand 2 ? operand 3 : operand 1, all of one dtype but 2, which is bool; 0 may be 1.
struct MaskedFillCall {
  const Loop& loop;
  Launch launch{};
};
extern Kernel<MaskedFillCall> masked_fill_kernel;

}  // namespace tessera::tensor
