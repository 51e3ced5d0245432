// The order in memory of what an op on several tensors makes, as PyTorch has it.
#pragma once

#include <span>

#include "runtime/tensor.h"

namespace tessera::tensor {

/// Strides of a fresh result of these sizes, to which the operands are broadcast; a null operand is a number. Empty: row-major.
/// Operands of one shape and layout give theirs; else dimensions are ordered by the strides of the first operand that tells.
Dims result_strides(std::span<const Tensor* const> operands, Ints sizes);

}  // namespace tessera::tensor
