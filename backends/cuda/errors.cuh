// How a kernel reports a fault: the first one of a device is kept until the host reads it.
#pragma once

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

__device__ inline void report(ErrorWord* word, ErrorWord::Kind kind, int dim, int64_t value, int64_t size) {
  if (atomicCAS(&word->kind, uint32_t(ErrorWord::None), uint32_t(kind)) != ErrorWord::None) return;
  word->dim = dim;
  word->value = value;
  word->size = size;
}

}  // namespace tessera::tensor::cuda
