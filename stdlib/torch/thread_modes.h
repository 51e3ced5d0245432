// Grad mode and the like, of each thread of a program for itself.
#pragma once

#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

// From now on each thread has its own; those that run already begin with the defaults.
void keep_modes_per_thread(Interpreter& in);

}  // namespace tessera::stdlib
