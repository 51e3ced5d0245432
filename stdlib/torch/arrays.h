// Arrays of numpy as tensors' functions see them.
#pragma once

#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

// True if a value is an array: an instance of numpy.ndarray or of a class below it.
bool is_array(Interpreter& in, const Value& v);

}  // namespace tessera::stdlib
