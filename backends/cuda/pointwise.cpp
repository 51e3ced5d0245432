// Picks the type of arithmetic of a pointwise call.
#include "backends/cuda/pointwise.h"

#include "runtime/ops/pointwise_ids.h"

namespace tessera::tensor::cuda {
namespace {

void pointwise(const PointwiseCall& call) {
  if (call.compute == DType::Float64) return pointwise_double(call);
  if (is_floating(call.compute)) return pointwise_float(call);
  if (is_complex(call.compute))
    fail_with(TensorErrorKind::NotImplemented, "complex numbers are not implemented on CUDA");
  // Bools are computed as integers 0 and 1, where turning every bit round would leave them true.
  if (call.compute == DType::Bool && call.op == pointwise::k_bitwise_not)
    return pointwise_int({pointwise::k_logical_not, call.compute, call.loop, call.params, call.launch});
  pointwise_int(call);
}

const CudaKernel<PointwiseCall> entry("pointwise", pointwise);

}  // namespace
}  // namespace tessera::tensor::cuda
