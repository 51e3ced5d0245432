// matplotlib._canvas: the native half of matplotlib, one type that draws.
#pragma once

#include "lang/core/interpreter.h"
#include "lang/objects/module.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

void add_matplotlib_modules(Interpreter& in);
void fill_terminal(Interpreter& in, Module& module);  // matplotlib._terminal: a picture as a terminal takes it

}  // namespace tessera::stdlib
