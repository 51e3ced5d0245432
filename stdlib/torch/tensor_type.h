// The type `torch.Tensor`: its table (tensor_slots.cpp), attributes (tensor_attributes.cpp) and methods that are no ops
// (tensor_methods.h). Methods that are ops come from the registry.
#pragma once

#include "stdlib/torch/state.h"

namespace tessera::stdlib {

void make_tensor_type(Interpreter& in, TorchState& state);
void fill_tensor_slots(TorchState& state);
void add_tensor_attributes(Interpreter& in, TorchState& state);
void add_tensor_methods(Interpreter& in, TorchState& state);

// torch.tensor and its relatives (tensor_data.cpp).
Tensor tensor_from_data(Interpreter& in, const Value& data, const Value& dtype, const Value& device, bool copy);
// Ints of the language end at 2^63 - 1, above which they are refused.
Value tensor_to_list(Interpreter& in, const Tensor& t);

// dtype, device, Size, Generator, finfo (small_types.cpp).
void make_small_types(Interpreter& in, TorchState& state);

}  // namespace tessera::stdlib
