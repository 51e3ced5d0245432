// numpy._random: the native half of numpy.random.
#pragma once

#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

void add_numpy_modules(Interpreter& in);

}  // namespace tessera::stdlib
