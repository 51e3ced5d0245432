// Refusals of a dtype in the name of PyTorch's kernel.
#pragma once

#include "runtime/ops/kernel_name.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// '"abs_cpu" not implemented for 'Bool'', on CUDA '"abs_cuda" not implemented for 'Bool''.
[[noreturn]] void refuse_type(DType t, Device device, KernelName kernel);
[[noreturn]] void refuse_type(const Tensor& t, KernelName kernel);
inline void require_type(DTypeSet set, const Tensor& t, KernelName kernel) {
  if (!set.has(t.dtype())) [[unlikely]]
    refuse_type(t, kernel);
}
inline void require_type(DTypeSet set, DType t, Device device, KernelName kernel) {
  if (!set.has(t)) [[unlikely]]
    refuse_type(t, device, kernel);
}

}  // namespace tessera::tensor
