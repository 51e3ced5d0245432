// From a call in the language to an entry of the op registry: arguments by PyTorch's schema, overloads in order,
// in-place forms, out=, and PyTorch's own TypeErrors.
#pragma once

#include <string_view>

#include "stdlib/torch/state.h"

namespace tessera::stdlib {

// The function object `torch.add`, `Tensor.add` or `Tensor.add_`; Undefined when no op has that name (and form).
Value make_op_function(Interpreter& in, std::string_view name, uint32_t form);  // kFunction, kMethod or kInternal

// Calls an entry by name with arguments as a script gives them: for natives that end in an op.
Value call_op_by_name(Interpreter& in, std::string_view name, const Args& args);

}  // namespace tessera::stdlib
