// The standard library as one step: an interpreter that has it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

// An interpreter with every native module registered and every embedded .tsr module found.
std::unique_ptr<Interpreter> make_interpreter(Host host = {}, Limits limits = {});

// Registers the native modules with an interpreter that somebody else made.
// The text of a module of the library; the answer of Host::embedded_module where a host adds none of its own.
std::optional<std::string> embedded_text(std::string_view name, std::string& path, bool& is_package);

void add_standard_library(Interpreter& in);

}  // namespace tessera::stdlib
