// The names of a session that are the person's: without those that the session made itself and without its modules that are
// there without import.
#pragma once

#include <string>
#include <vector>

#include "lang/core/interpreter.h"

namespace tessera::repl {

struct Variable {
  std::string name;
  lang::Value value;
};

// In the order of their names; private ones are left out.
std::vector<Variable> variables_of(lang::Interpreter& in);

}  // namespace tessera::repl
