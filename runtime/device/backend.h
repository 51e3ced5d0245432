// What a device offers to the runtime.
//
// Two things: memory (DeviceBackend) and kernels. A kernel slot is one function pointer per device type, named like
// the op family it serves; the call struct is its whole interface. A backend fills slots while it loads
// (KernelRegistration); calling an empty one raises PyTorch's NotImplementedError, never a silent copy.
#pragma once

#include "runtime/dtype.h"
#include "runtime/plan.h"
#include "runtime/scalar.h"

namespace tessera::tensor {

struct DeviceBackend {
  const char* name;
  int (*device_count)();
  /// Bytes on the device; `bytes` is rounded up to the block's size. Throws OutOfMemory.
  void* (*allocate)(Device device, size_t& bytes);
  void (*release)(Device device, void* block, size_t bytes) noexcept;
  /// Copies bytes; at least one side is this backend's. Host sides are complete when it returns.
  void (*copy_bytes)(void* to, Device to_device, const void* from, Device from_device, size_t bytes);
  void (*synchronize)(Device device);
};

/// Null when the device type has no backend (for cuda: the plugin could not be loaded).
const DeviceBackend* device_backend(DeviceType type);
void register_device_backend(DeviceType type, const DeviceBackend* backend);
/// Checks that the device exists and fills in index -1; throws PyTorch's errors (no driver, no such ordinal, mps).
Device resolve_device(Device device);

[[noreturn]] void fail_no_kernel(const char* family, DeviceType type);

/// A slot: constant-initialised, so that registrations in any order of files find it ready.
template <class Call>
class Kernel {
 public:
  using Function = void (*)(const Call&);
  constexpr explicit Kernel(const char* family) : family_(family) {}
  void operator()(DeviceType type, const Call& call) const {
    if (Function f = functions_[int(type)]) [[likely]]
      return f(call);
    fail_no_kernel(family_, type);
  }
  bool has(DeviceType type) const { return functions_[int(type)] != nullptr; }
  void set(DeviceType type, Function f) { functions_[int(type)] = f; }

 private:
  const char* family_;
  Function functions_[kDeviceTypeCount] = {};
};

template <class Call>
struct KernelRegistration {
  KernelRegistration(Kernel<Call>& slot, DeviceType type, void (*f)(const Call&)) { slot.set(type, f); }
};

// ---- kernels that the tables and the core need. Structured ops declare their own slots in their own header. ----

/// Pointwise ops of runtime/ops/pointwise.def. Operand 0 is the result; 1.. the inputs. `compute` is the type of the
/// arithmetic; operands may have other dtypes (halves, mixed inputs, bool results): the kernel converts on load and store.
struct PointwiseCall {
  int op;  // PointwiseId
  DType compute;
  const Loop& loop;
  const Scalar* params;
};
extern Kernel<PointwiseCall> pointwise_kernel;

/// loop operand 0 = convert(operand 1).
struct CopyCall {
  const Loop& loop;
};
extern Kernel<CopyCall> copy_kernel;

/// Every element of operand 0 becomes value.
struct FillCall {
  const Loop& loop;
  Scalar value;
};
extern Kernel<FillCall> fill_kernel;

/// out[i] = start + i * step, contiguous, n elements.
struct RangeCall {
  void* out;
  DType dtype;
  int64_t n;
  Scalar start, step;
};
extern Kernel<RangeCall> range_kernel;

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
};
extern Kernel<AlongCall> along_kernel;

/// C = alpha * op(A) op(B) + beta * C for `batch` matrices, all of one float dtype. Row-major; a leading dimension is
/// the distance of rows as stored, `transpose_*` reads the stored matrix transposed. batch strides in elements.
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
};
extern Kernel<GemmCall> gemm_kernel;

}  // namespace tessera::tensor
