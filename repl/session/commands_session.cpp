// :help, :doc, :why, :quit, and the magics that have nothing to do here.
#include <algorithm>

#include "lang/builtins/builtins.h"
#include "lang/vm/vm.h"
#include "repl/inspector/why.h"
#include "repl/session/commands.h"
#include "repl/session/inspect.h"

namespace tessera::repl {
using namespace lang;

namespace {

constexpr std::string_view kOthers =
    "\nAlso\n"
    "  NAME?  NAME??                what it is; its source\n"
    "  !LINE  names = !LINE         runs a line of the shell; takes its output\n"
    "  %%time  %%timeit  %%profile  of the lines below; %%writefile FILE, %%bash\n"
    "  % does the same as :  (%timeit, %run, %who ...)\n"
    "  _ __ ___ _3 Out[3] In[3]     results and blocks; a statement ending in ; shows nothing\n";

std::string help_of(const Command& command) {
  std::string text = ":" + std::string(command.name);
  if (!command.arguments.empty()) text += " " + std::string(command.arguments);
  text += "\n    " + std::string(command.help) + "\n";
  if (!command.more.empty()) {
    text += "\n    ";
    for (const char c : command.more) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
    text += "\n";
  }
  return text;
}

std::string help_of_all() {
  std::string text;
  for (const CommandTheme& theme : command_themes()) {
    text += (text.empty() ? "" : "\n") + std::string(theme.title) + "\n";
    for (const Command& command : theme.commands) {
      std::string head = "  :" + std::string(command.name) + " " + std::string(command.arguments);
      if (head.size() > 30) head += "\n" + std::string(31, ' ');
      else head += std::string(31 - head.size(), ' ');
      text += head + std::string(command.help) + "\n";
    }
  }
  return text + std::string(kOthers);
}

Outcome run_doc(Session& session, std::string_view arguments) {
  if (arguments.empty()) throw CommandError("usage: :doc NAME");
  const Value value = value_of_name(session, arguments);
  if (value.is_undefined()) throw CommandError("there is nothing of the name " + std::string(arguments));
  const RunScope run(session.interpreter().vm());
  session.client().write(help_text(session.interpreter(), value));
  return {};
}

Outcome run_help(Session& session, std::string_view arguments) {
  if (arguments.empty()) {
    session.client().page(help_of_all());
    return {};
  }
  std::string_view name = arguments;
  if (name.front() == ':' || name.front() == '%') name.remove_prefix(name.find_first_not_of(":%"));
  if (const Command* command = find_command(name)) {
    session.client().page(help_of(*command));
    return {};
  }
  return run_doc(session, arguments);
}

Outcome run_why(Session& session, std::string_view) {
  session.client().write(why_text(session.interpreter(), session.last_exception(), session.client().style()));
  return {};
}

Outcome run_quit(Session&, std::string_view) { return {Outcome::Kind::kLeft, 0}; }

// Accepted, so that what was written for a notebook runs.
Outcome run_nothing(Session&, std::string_view) { return {}; }

constexpr Command kCommands[] = {
    {"help", "[COMMAND | NAME]", "the commands; one of them; what help(NAME) says", Command::Takes::Name, run_help},
    {"doc", "NAME", "signature, description and an example", Command::Takes::Name, run_doc},
    {"why", "", "the last error at length: every frame with its variables, and what would mend it",
     Command::Takes::Nothing, run_why},
    {"matplotlib", "[inline]", "accepted and not needed: pictures are shown where they can be", Command::Takes::Words,
     run_nothing},
    {"config", "", "accepted and not needed", Command::Takes::Words, run_nothing},
    {"load_ext", "NAME", "accepted and not needed", Command::Takes::Words, run_nothing},
    {"autoreload", "[N]", "accepted and not needed: importlib.reload(module) reads a file again", Command::Takes::Words,
     run_nothing},
    {"quit", "", "ends the session", Command::Takes::Nothing, run_quit},
};

}  // namespace

std::span<const Command> session_commands() { return kCommands; }

}  // namespace tessera::repl
