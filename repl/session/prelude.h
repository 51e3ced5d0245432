// The names that are there without import: torch, nn, F, optim, np, plt. A block that has one of these words, in a session
// where it means nothing yet, imports it first: a session begins without having read anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/core/interpreter.h"

namespace tessera::repl {

// Makes those of them that the text names and the main module lacks.
void import_prelude(lang::Interpreter& in, std::string_view text);
// The module of this name, imported now; Undefined: none of them, or it cannot be imported.
lang::Value prelude_module(lang::Interpreter& in, std::string_view name);
// Reads the next of the modules that has not been read; false: all are. Gives no name to it.
bool read_ahead(lang::Interpreter& in);
std::vector<std::string> prelude_names(lang::Interpreter& in);
// Has the main module this name, and for the module that it stands for?
bool is_prelude_name(lang::Interpreter& in, std::string_view name, const lang::Value& value);

}  // namespace tessera::repl
