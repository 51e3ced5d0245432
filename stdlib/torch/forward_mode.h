// The native half of torch.autograd.forward_ad and of forward mode in torch.func: levels, and tensors with their tangents.
#pragma once

#include "lang/objects/module.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

void add_forward_mode_functions(Interpreter& in, Module& module);

}  // namespace tessera::stdlib
