// The native half of torch.vmap (torch/func/_batched.tsr).
#pragma once

#include <span>

#include "stdlib/torch/binder.h"

namespace tessera::stdlib {

// An object of the class of batched tensors; `value` has a dimension in front for each level.
Value make_batched(Interpreter& in, const Tensor& value, std::span<const int64_t> levels, Type* type);
// A random op without a batched operand while torch.vmap runs.
Value draw_for_batch(Interpreter& in, TorchState& state, OpFunction& function, const Args& args);
void add_batching_functions(Interpreter& in, Module& module);

}  // namespace tessera::stdlib
