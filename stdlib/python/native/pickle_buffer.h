// pickle.PickleBuffer and the functions of pickle, for the native half of the module.
#pragma once

#include "lang/objects/module.h"

namespace tessera::stdlib {

void add_pickle_functions(lang::Interpreter& in, lang::Module& module);
void add_pickle_buffer(lang::Interpreter& in, lang::Module& module);

}  // namespace tessera::stdlib
