// The pointwise table by type of arithmetic.
#pragma once

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

void pointwise_float(const PointwiseCall& call);
void pointwise_double(const PointwiseCall& call);
void pointwise_int32(const PointwiseCall& call);  // narrower integers and bool too: stores cut to the result's size
void pointwise_int64(const PointwiseCall& call);
void pointwise_complex64(const PointwiseCall& call);
void pointwise_complex128(const PointwiseCall& call);

}  // namespace tessera::tensor::cuda
