// Picks the type of arithmetic of fused derivatives.
#include "backends/cuda/pointwise_grad.h"

namespace tessera::tensor::cuda {
namespace {

void pointwise_grad(const PointwiseGradCall& call) {
  if (call.compute == DType::Float64) pointwise_grad_double(call);
  else pointwise_grad_float(call);
}

const CudaKernel<PointwiseGradCall> entry("pointwise_grad", pointwise_grad);

}  // namespace
}  // namespace tessera::tensor::cuda
