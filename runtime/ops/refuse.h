// Refusals of a dtype. PyTorch names the kernel, which has another name on CUDA: who refuses gives the CPU's.
#pragma once

#include "runtime/tensor.h"

namespace tessera::tensor {

/// What PyTorch's CUDA calls the kernel that its CPU calls so (refuse.cpp).
std::string cuda_kernel(std::string_view cpu_kernel);

/// '"abs_cpu" not implemented for 'Bool'', on CUDA '"abs_cuda" not implemented for 'Bool''.
[[noreturn]] void refuse_type(DType t, Device device, const char* cpu_kernel);
[[noreturn]] void refuse_type(const Tensor& t, const char* cpu_kernel);
inline void require_type(DTypeSet set, const Tensor& t, const char* cpu_kernel) {
  if (!set.has(t.dtype())) [[unlikely]]
    refuse_type(t, cpu_kernel);
}
inline void require_type(DTypeSet set, DType t, Device device, const char* cpu_kernel) {
  if (!set.has(t)) [[unlikely]]
    refuse_type(t, device, cpu_kernel);
}

}  // namespace tessera::tensor
