// Calls of the slots that the tables and the core need. Structured ops declare their own in their own headers.
#pragma once

#include "runtime/device/kernel.h"
#include "runtime/dtype.h"
#include "runtime/plan.h"
#include "runtime/scalar.h"

namespace tessera::tensor {

/// Pointwise ops of runtime/ops/pointwise.def. Operand 0 is the result; 1.. the inputs. `compute` is the type of the
/// arithmetic; operands may have other dtypes (halves, mixed inputs, bool results): the kernel converts on load and store.
struct PointwiseCall {
  int op;  // PointwiseId
  DType compute;
  const Loop& loop;
  const Scalar* params;  // as many as the row has; the host side reads them
  Launch launch{};
};
extern Kernel<PointwiseCall> pointwise_kernel;

/// loop operand 0 = convert(operand 1).
struct CopyCall {
  const Loop& loop;
  Launch launch{};
};
extern Kernel<CopyCall> copy_kernel;

/// Every element of operand 0 becomes value.
struct FillCall {
  const Loop& loop;
  Scalar value;
  Launch launch{};
};
extern Kernel<FillCall> fill_kernel;

/// out[i] = start + i * step, contiguous, n elements.
struct RangeCall {
  void* out;
  DType dtype;
  int64_t n;
  Scalar start, step;
  Launch launch{};
};
extern Kernel<RangeCall> range_kernel;

/// Computes elements when a kernel asks for them.
class ElementSource {
 public:
  /// Writes elements [first, first + n) of the tensor, in its own order and dtype, to `to`. Several threads may call it at once.
  virtual void read(int64_t first, int64_t n, void* to) const = 0;

 protected:
  ~ElementSource() = default;
};

/// Reductions of runtime/ops/reduce.def: `out` contiguous over the kept dims in order; `in` seen as kept x reduced.
/// Sizes and strides are innermost first and merged; strides are in elements of `in`.
struct ReduceCall {
  int op;  // ReduceId
  DType in_dtype, compute, out_dtype;
  const char* in;
  char* out;
  char* out_index;  // int64, for ops that give indices too; else null
  int kept, reduced;
  int64_t kept_sizes[kMaxLoopDims], kept_strides[kMaxLoopDims];
  int64_t reduced_sizes[kMaxLoopDims], reduced_strides[kMaxLoopDims];
  int64_t kept_numel, reduced_numel;
  Scalar param;  // norm's p, variance's correction
  const ElementSource* source = nullptr;  // on the CPU: elements come from there, each once, and `in` is only where they would lie
  Launch launch{};
};
extern Kernel<ReduceCall> reduce_kernel;

/// Along one dimension of a contiguous tensor seen as outer x n x inner: extremes with their index (the first one; NaN
/// wins), running sums and products.
struct AlongCall {
  enum Op { Max, Min, Sum, Product } op;
  DType dtype;
  const void* in;
  void* out;       // of dtype: outer x inner (may be null), or as `in` for running ones
  int64_t* index;  // outer x inner, for extremes
  int64_t outer, n, inner;
  bool backwards = false;  // running ones: from the end
  Launch launch{};
};
extern Kernel<AlongCall> along_kernel;

/// C = alpha * op(A) op(B) + beta * C for `batch` matrices, all of one dtype: a float one, an integer on the CPU, a complex one
/// elsewhere. Row-major; a leading dimension is the distance of rows as stored, `transpose_*` reads the stored matrix
/// transposed. batch strides in elements.
struct GemmCall {
  DType dtype;
  int64_t m, n, k;
  double alpha, beta;
  const void* a;
  int64_t lda, batch_a;
  bool transpose_a;
  const void* b;
  int64_t ldb, batch_b;
  bool transpose_b;
  void* c;
  int64_t ldc, batch_c;
  int64_t batch;
  bool tf32 = false;  // float32 may be multiplied with 10 bits behind the point
  Launch launch{};
};
extern Kernel<GemmCall> gemm_kernel;

}  // namespace tessera::tensor
