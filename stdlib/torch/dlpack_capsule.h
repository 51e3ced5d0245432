// Capsules: DLPack's tensors on their way from one library to another, as objects of scripts.
#pragma once

#include "lang/objects/module.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

void add_dlpack_functions(Interpreter& in, Module& module);

}  // namespace tessera::stdlib
