// The fused derivatives by type of arithmetic.
#pragma once

#include "backends/cuda/cuda.h"
#include "runtime/ops/pointwise_grad.h"

namespace tessera::tensor::cuda {

void pointwise_grad_float(const PointwiseGradCall& call);
void pointwise_grad_double(const PointwiseGradCall& call);

}  // namespace tessera::tensor::cuda
