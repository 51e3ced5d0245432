// Picks the type of arithmetic of a pointwise call.
#include "backends/cuda/pointwise.h"

namespace tessera::tensor::cuda {
namespace {

void pointwise(const PointwiseCall& call) {
  switch (call.compute) {
    case DType::Float32: return pointwise_float(call);
    case DType::Float64: return pointwise_double(call);
    case DType::Int32: return pointwise_int32(call);
    case DType::Complex64: return pointwise_complex64(call);
    case DType::Complex128: return pointwise_complex128(call);
    default: return pointwise_int64(call);
  }
}

const CudaKernel<PointwiseCall> entry("pointwise", pointwise);

}  // namespace
}  // namespace tessera::tensor::cuda
