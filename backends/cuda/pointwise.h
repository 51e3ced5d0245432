// The pointwise table by type of arithmetic.
#pragma once

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

void pointwise_float(const PointwiseCall& call);
void pointwise_double(const PointwiseCall& call);
void pointwise_int(const PointwiseCall& call);  // every integer type and bool: stores wrap to the result's size

}  // namespace tessera::tensor::cuda
