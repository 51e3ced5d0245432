// How a kernel reports a fault: report(launch.errors, ErrorWord::Index, dim, index, size), then a harmless value. The first
// one of a device is kept until the host reads it.
#pragma once

#include "backends/cuda/launch.cuh"

namespace tessera::tensor::cuda {

__device__ inline void report(ErrorTarget errors, ErrorWord::Kind kind, int dim, int64_t value, int64_t size) {
  ErrorWord* word = errors.word;
  if (atomicCAS(&word->kind, uint32_t(ErrorWord::None), uint32_t(kind)) != ErrorWord::None) return;
  word->launch = errors.launch;
  word->dim = dim;
  word->value = value;
  word->size = size;
}

}  // namespace tessera::tensor::cuda
