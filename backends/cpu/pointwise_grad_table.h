// The CPU's fused derivatives: one function per row and lane type over one run of memory, as in pointwise_table.h.
#pragma once

#include "backends/cpu/pointwise_table.h"

namespace tessera::tensor::cpu {

struct GradRun {
  void* out[3];       // null: not wanted
  const void* in[5];  // g, x, y, z, result; what the wanted derivatives do not read may be null
  int64_t step[5];    // 0 or 1
  int64_t n;
  const Scalar* params;
};
using GradKernel = void (*)(const GradRun&);

/// Arrays of kPointwiseCount kernels, null where nothing is to compute. Chosen for this processor.
const GradKernel* float_grad_kernels();
const GradKernel* double_grad_kernels();

}  // namespace tessera::tensor::cpu
