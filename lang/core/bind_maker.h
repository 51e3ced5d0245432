// The arguments of a maker (Type::make) that takes some by keyword.
#pragma once

#include <span>

#include "lang/core/native.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

// Binds the arguments of a call to the parameters of `signature`, a text such as "int(x=..., /, base=...)": `slots` has a place for each
// parameter, and the place of an argument that is not given stays Undefined. Throws CPython's TypeError for wrong counts and names.
// Does not check the values' types: the makers word those errors. A call that fits costs no Signature.
void bind_maker(Interpreter& in, const char* signature, const Args& args, std::span<Value> slots);

}  // namespace tessera::lang
