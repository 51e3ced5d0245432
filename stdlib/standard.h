// The standard library as one step: an interpreter that has it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

// An interpreter with every native module registered and every embedded .tsr module found.
std::unique_ptr<Interpreter> make_interpreter(Host host = {}, Limits limits = {});

// Registers the native modules with an interpreter that somebody else made.
void add_standard_library(Interpreter& in);

}  // namespace tessera::stdlib
