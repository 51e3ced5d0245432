// float16 and bfloat16 on the device: CUDA's types under names that a host compiler has too. Arithmetic is done in float.
#pragma once

#include "backends/cuda/launch.cuh"

#ifdef TESSERA_EXECUTOR
#include "runtime/half.h"
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace tessera::tensor::cuda {

#ifdef TESSERA_EXECUTOR
using Float16 = Half;
using Brain16 = BFloat16;
#else
using Float16 = __half;
using Brain16 = __nv_bfloat16;
#endif

}  // namespace tessera::tensor::cuda
