// Convolution through cuDNN, where it is there: cudnn.cpp.
#pragma once

#include "backends/cuda/cuda.h"
#include "runtime/ops/conv.h"
#include "runtime/ops/cudnn.h"

namespace tessera::tensor::cuda {

/// What the program has set.
CudnnSwitches cudnn_switches();

/// False where the library is not there, is switched off or has no algorithm that will do; nothing was done then. A bias is
/// not added.
bool convolve_by_cudnn(const ConvCall& call);

}  // namespace tessera::tensor::cuda
