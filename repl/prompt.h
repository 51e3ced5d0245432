// The simple prompt: reads statements, runs them, shows the value of a bare expression.
#pragma once

#include "lang/core/interpreter.h"
#include "repl/terminal.h"

namespace tessera::repl {

// Until end of input or exit(). Answers the exit status.
int run_prompt(Interpreter& in, Terminal& terminal);

}  // namespace tessera::repl
