// The name of a kernel in PyTorch's refusals of a dtype: '"abs_cpu" not implemented for 'Bool''. Its CUDA's kernels have others.
#pragma once

#include <string>

#include "runtime/device/traits.h"

namespace tessera::tensor {

struct KernelName {
  const char* cpu = nullptr;
  const char* cuda = nullptr;  // null: the CPU's with _cuda for _cpu and without _vml

  constexpr KernelName() = default;
  constexpr KernelName(const char* cpu, const char* cuda = nullptr) : cpu(cpu), cuda(cuda) {}

  explicit constexpr operator bool() const { return cpu != nullptr; }
  std::string in(Words words) const;
};

}  // namespace tessera::tensor
