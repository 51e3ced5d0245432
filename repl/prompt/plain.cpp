// The plain prompt: a line at a time, as a terminal without keys gives them, or a program that drives the prompt through pipes. Such a
// program knows CPython's `python -i`: its prompts, which go to the standard error, and results that stand alone.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "lang/core/error.h"
#include "repl/prompt/prompt.h"
#include "repl/session/session.h"

namespace tessera::repl {
namespace {

class PlainClient : public Client {
 public:
  PlainClient(Terminal& terminal, bool driven) : terminal_(terminal), driven_(driven) {}

  Style style() const override { return {}; }
  void write(std::string_view text) override { terminal_.write_out(text); }
  void show_result(int number, const Display& value) override {
    const bool several = value.text.find('\n') != std::string::npos;
    if (driven_) terminal_.write_out(value.text + "\n");
    else terminal_.write_out("Out[" + std::to_string(number) + "]: " + (several ? "\n" : "") + value.text + "\n");
  }
  void show(const Display& what) override {
    if (!what.text.empty()) terminal_.write_out(what.text + "\n");
  }
  void show_error(lang::Interpreter&, const lang::Value&, std::string_view text) override {
    terminal_.write_error(text);
  }
  bool edit(const std::string&) override { return false; }

 private:
  Terminal& terminal_;
  const bool driven_;
};

void show_prompt(Session& session, Terminal& terminal, bool driven, bool begun) {
  const std::string first = "In [" + std::to_string(session.number()) + "]: ";
  if (driven) terminal.write_error(begun ? "... " : ">>> ");
  else terminal.write_out(begun ? std::string(first.size() - 5, ' ') + "...: " : first);
  terminal.flush();
}

enum class Read { kLine, kEnd, kInterrupted };

Read read_line(Terminal& terminal, std::string& line) {
  try {
    if (!terminal.read_line(line)) return Read::kEnd;
    if (line.ends_with('\n')) line.pop_back();
    return Read::kLine;
  } catch (const Error&) {
    return Read::kInterrupted;
  }
}

// Lines up to something that can be run or refused; false at the end of input. Ctrl-C forgets what was begun.
bool read_block(Session& session, Terminal& terminal, bool driven, std::string& text) {
  text.clear();
  std::string line;
  for (;;) {
    show_prompt(session, terminal, driven, !text.empty());
    switch (read_line(terminal, line)) {
      case Read::kEnd: return !text.empty();
      case Read::kInterrupted:
        terminal.write_out("\nKeyboardInterrupt\n");
        text.clear();
        continue;
      case Read::kLine: break;
    }
    text += line + "\n";
    if (session.state_of(text).kind != BlockState::Kind::kIncomplete) return true;
  }
}

}  // namespace

bool is_driven() { return isatty(STDIN_FILENO) == 0; }

int run_plain_prompt(Interpreter& in, Terminal& terminal) {
  const bool driven = is_driven();
  PlainClient client(terminal, driven);
  Session session(in, client);
  std::string text;
  while (read_block(session, terminal, driven, text)) {
    keep_reserve(in);
    const Outcome outcome = session.run(text);
    if (outcome.kind == Outcome::Kind::kLeft) return outcome.status;
  }
  if (driven) terminal.write_error("\n");
  else terminal.write_out("\n");
  return 0;
}

}  // namespace tessera::repl
