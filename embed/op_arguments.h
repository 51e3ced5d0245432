// Calls of operations by name with a host's arguments.
#pragma once

#include <cstddef>

#include "embed/include/tessera/tessera_c.h"
#include "runtime/tensor.h"

namespace tessera::embed {

// The first overload of that name that takes the arguments, in PyTorch's order; "add_" is add in place. The results are all
// tensors. TensorError (Type) where no overload takes them, and what the operation throws.
tensor::TensorList call_op(const char* name, const tsr_argument* arguments, size_t count);

}  // namespace tessera::embed
