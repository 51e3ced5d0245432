// Short ways of NumPy's everyday calls: operators, indices, attributes and functions on plain arrays and scalars.
#pragma once

#include "lang/core/interpreter.h"
#include "lang/objects/module.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

// Adds `quicken(ndarray, scalars, dtypes)`, `quick(name, function)` and `notice(level)` to the module.
void add_array_calls(Interpreter& in, Module& module);

}  // namespace tessera::stdlib
