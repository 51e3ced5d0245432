#include "repl/prompt.h"

#include <cstdio>
#include <string>

#include "lang/core/error.h"
#include "lang/syntax/parse.h"
#include "lang/core/protocol.h"
#include "repl/run.h"

namespace tessera::repl {
namespace {

// Lines up to something that can be run or refused; false at the end of input.
bool read_block(Terminal& terminal, std::string& text) {
  text.clear();
  std::string line;
  for (const char* prompt = ">>> ";; prompt = "... ") {
    terminal.write_out(prompt);
    terminal.flush();
    if (!terminal.read_line(line)) return !text.empty();
    text += line + "\n";
    if (is_complete(text) != Completeness::kIncomplete) return true;
  }
}

// True when the prompt shall end, with its status.
bool run_block(Interpreter& in, Terminal& terminal, const std::string& text, int& status) {
  try {
    const Value value = in.run_interactive(*std::make_shared<Source>("<stdin>", text));
    if (!value.is_undefined() && !value.is_none()) terminal.write_out(repr_text(in, value) + "\n");
  } catch (const Thrown& thrown) {
    const Type* exit = in.types.errors[static_cast<size_t>(ErrorKind::SystemExit)];
    const bool ends = is_instance(in, thrown.exception, exit);
    const int code = report(in, terminal, thrown.exception);
    if (ends) status = code;
    return ends;
  }
  return false;
}

}  // namespace

int run_prompt(Interpreter& in, Terminal& terminal) {
  terminal.write_out("Tessera " TESSERA_VERSION ": a tensor language. exit() or Ctrl-D leaves.\n");
  std::string text;
  int status = 0;
  while (read_block(terminal, text))
    if (run_block(in, terminal, text, status)) return status;
  terminal.write_out("\n");
  return status;
}

}  // namespace tessera::repl
