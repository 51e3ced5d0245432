// Methods of a tensor that are no ops, by theme. tensor_methods.cpp gives them to the type.
#pragma once

#include <span>

#include "lang/core/native.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

struct MethodTables {
  std::span<const NativeDef> plain;    // methods without arguments, by their name alone
  std::span<const NativeDef> methods;  // methods with a signature, or a name that takes its arguments raw
};
MethodTables layout_methods();      // tensor_layout.cpp
MethodTables number_methods();      // tensor_numbers.cpp
MethodTables conversion_methods();  // tensor_conversions.cpp
MethodTables autograd_methods();    // tensor_autograd.cpp
MethodTables creation_methods();    // tensor_creation.cpp

inline const Tensor& self_of(const Args& args) { return tensor_of(args[0]); }

// The name of a torch.memory_format ("torch.channels_last"); null for None.
const char* memory_format_name(Interpreter& in, const Value& v);

// torch.Tensor(...), and Tensor._make_subclass(cls, data, requires_grad=False).
Value make_tensor(Interpreter& in, Type* type, const Args& args);
Value make_subclass(Interpreter& in, const Args& args);

}  // namespace tessera::stdlib
