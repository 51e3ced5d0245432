// Why a call fits no overload of an op, in PyTorch's words.
#pragma once

#include "stdlib/torch/binder.h"

namespace tessera::stdlib {

// Throws the TypeError. Called when every binder of the function has refused.
[[noreturn]] void refuse_call(Interpreter& in, const OpFunction& function, const Args& args);

// The warning about a call in a deprecated order of arguments, which `form` is.
std::string deprecation_text(const OpFunction& function, const CallForms& forms, const OpSchema& form);

// "(Tensor, dim=str, )": the types of a call's values, those by name last; with names alone PyTorch forgets to cut the last
// comma off.
std::string argument_types(Interpreter& in, const Value* values, size_t positional, const Tuple* names);

}  // namespace tessera::stdlib
