// Refusals of operands that lie on different devices, in PyTorch's words.
//
// Loops over broadcast operands (plan.h) take numbers of the host too and have a sentence of their own. Other kernels take
// none: PyTorch names the argument and the kernel's function, which checks them in the order of its signature.
#pragma once

#include <initializer_list>

#include "runtime/tensor.h"

namespace tessera::tensor {

/// Of the devices of two operands, the earlier one first.
[[noreturn]] void fail_two_devices(Device a, Device b);

struct NamedOperand {
  const char* name;
  const Tensor& tensor;  // may be undefined
};
/// Throws unless all lie where the first one does. `kernel` is the name of PyTorch's function for it: "wrapper_CUDA_mm".
void check_one_device(const char* kernel, std::initializer_list<NamedOperand> operands);
/// "Expected all tensors to be on the same device, but got mat2 is on cpu, different from other tensors on cuda:0 (...)".
[[noreturn]] void fail_argument_device(std::string_view kernel, std::string_view argument, Device found,
                                       Device expected);

}  // namespace tessera::tensor
