// The prompt: a session's client at a terminal.
#pragma once

#include "lang/core/interpreter.h"
#include "repl/terminal.h"

namespace tessera::repl {

// Reads and runs blocks until the input ends or the program leaves. Answers the exit status.
int run_prompt(Interpreter& in, Terminal& terminal);

// Line by line, without keys and colours: for terminals that have neither (TERM=dumb).
int run_plain_prompt(Interpreter& in, Terminal& terminal);
// Whether a program drives the prompt through a pipe or a file (`tsr -i`): it reads prompts from the standard error, as of CPython.
bool is_driven();

}  // namespace tessera::repl
