#include "repl/prompt.h"

#include <cstdio>
#include <string>

#include "lang/core/error.h"
#include "lang/core/signals.h"
#include "lang/objects/exception.h"
#include "lang/syntax/parse.h"
#include "lang/core/protocol.h"
#include "lang/vm/vm.h"
#include "repl/run.h"

namespace tessera::repl {
namespace {

enum class Read { kLine, kEnd, kInterrupted };

Read read_line(Terminal& terminal, std::string& line) {
  try {
    return terminal.read_line(line) ? Read::kLine : Read::kEnd;
  } catch (const Error&) {
    return Read::kInterrupted;
  }
}

// Lines up to something that can be run or refused; false at the end of input. Ctrl-C forgets what was begun.
bool read_block(Terminal& terminal, std::string& text) {
  text.clear();
  std::string line;
  for (;;) {
    terminal.write_out(text.empty() ? ">>> " : "... ");
    terminal.flush();
    switch (read_line(terminal, line)) {
      case Read::kEnd: return !text.empty();
      case Read::kInterrupted:
        terminal.write_out("\nKeyboardInterrupt\n");
        text.clear();
        continue;
      case Read::kLine: break;
    }
    text += line + "\n";
    if (is_complete(text) != Completeness::kIncomplete) return true;
  }
}

// The value of a last expression is shown under the limits of a run too: its __repr__ is a script.
void show(Interpreter& in, Terminal& terminal, const Value& value) {
  if (value.is_undefined() || value.is_none()) return;
  const RunScope run(in.vm());
  terminal.write_out(repr_text(in, value) + "\n");
}

// True when the prompt shall end, with its status.
bool run_block(Interpreter& in, Terminal& terminal, const std::string& text, int& status) {
  in.interrupt.fetch_and(~kKeyboard);  // one that came too late for the last block
  keep_reserve(in);
  Value exception;
  try {
    show(in, terminal, in.run_interactive(*std::make_shared<Source>("<stdin>", text)));
    return false;
  } catch (const std::exception&) {
    exception = current_native_exception(in);
  }
  const bool ends = is_error(in, exception, ErrorKind::SystemExit);
  const int code = report(in, terminal, exception);
  if (ends) status = code;
  return ends;
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
