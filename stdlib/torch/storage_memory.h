// The memory of tensors as bytes, for the parts of torch that read and write files.
#pragma once

#include "lang/objects/module.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

void add_memory_functions(Interpreter& in, Module& module);
void add_array_memory(Interpreter& in, Module& module);  // array_memory.cpp

}  // namespace tessera::stdlib
