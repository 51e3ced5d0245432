// torch.autocast: calls of listed ops get their tensors in a lower, in a higher or in a common type.
#pragma once

#include "lang/objects/module.h"
#include "stdlib/torch/op_call.h"

namespace tessera::stdlib {

// The call with its tensors as the op's list wants them; false: the op is on no list, or nothing has to change. Asked only
// while state.modes has kAutocasts.
bool call_autocast(Interpreter& in, OpFunction& function, const Args& args, Value& result);

void add_autocast_functions(Interpreter& in, Module& module);

}  // namespace tessera::stdlib
