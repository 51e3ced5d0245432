// Running one program in an interpreter, and what of it the command line decides.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lang/core/interpreter.h"
#include "lang/syntax/source.h"
#include "repl/options.h"
#include "repl/terminal.h"

namespace tessera::repl {

// Runs `source` as __main__ and reports what nobody caught. Answers the exit status.
int run_main(Interpreter& in, Terminal& terminal, std::shared_ptr<Source> source);

// `-m name`: finds the module and runs it as __main__. Returns the exit status.
int run_module(Interpreter& in, Terminal& terminal, const std::string& name);
// The same for the __main__ of a ZIP file, which must be the first entry of sys.path.
int run_archive(Interpreter& in, Terminal& terminal);
// Returns true if the text is a ZIP file, which may have another text in front of it.
bool is_archive(std::string_view text);

// What the program left with `atexit` (start.h); what that raises is printed.
void run_exit_functions(Interpreter& in, Terminal& terminal);

// Prints what the front end makes of `source`. Answers the exit status.
int run_dump(Interpreter& in, Terminal& terminal, std::shared_ptr<Source> source);

// Prints the traceback, or for SystemExit its message. Answers the exit status.
// The status of a program that KeyboardInterrupt has ended: main() ends by the signal itself.
inline constexpr int kEndedBySigint = -1;
int report(Interpreter& in, Terminal& terminal, const Value& exception);

// --device and --threads. Answers an exit status where the device cannot be had.
std::optional<int> apply_options(Interpreter& in, const Options& options, Terminal& terminal);

std::string version_text();

}  // namespace tessera::repl
