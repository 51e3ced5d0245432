// Why a call fits no overload of an op, in PyTorch's words.
#pragma once

#include "stdlib/torch/binder.h"

namespace tessera::stdlib {

// Throws the TypeError. Called when every binder of the function has refused.
[[noreturn]] void refuse_call(Interpreter& in, const OpFunction& function, const Args& args);

}  // namespace tessera::stdlib
