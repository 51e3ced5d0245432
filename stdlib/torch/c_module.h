// torch._C: native helpers of the parts of torch and numpy that are written in the language.
#pragma once

#include "lang/objects/module.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

void add_c_functions(Interpreter& in, Module& module);

}  // namespace tessera::stdlib
