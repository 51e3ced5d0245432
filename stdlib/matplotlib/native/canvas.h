// matplotlib._canvas: the native half of matplotlib, one type that draws.
#pragma once

#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

void add_matplotlib_modules(Interpreter& in);

}  // namespace tessera::stdlib
