// What nobody caught, as a script and a session tell it.
#pragma once

#include <string>

#include "lang/core/interpreter.h"

namespace tessera::repl {

// The traceback with our notes. Texts of exceptions may be a script's, and take memory that there is none of: then the class
// alone is said.
std::string text_of_exception(lang::Interpreter& in, const lang::Value& exception);

// What a SystemExit asks for.
struct Exit {
  int status = 0;
  std::string message;  // for standard error, with its newline; empty: none
};
Exit exit_of(lang::Interpreter& in, const lang::Value& exception);

}  // namespace tessera::repl
