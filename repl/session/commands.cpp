// compile: small (waits for a person)
#include "repl/session/commands.h"

#include <algorithm>

#include "lang/assist/known.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "repl/session/inspect.h"
#include "repl/session/prelude.h"

namespace tessera::repl {
using namespace lang;

namespace {

struct Alias {
  std::string_view name, command;
};
constexpr Alias kAliases[] = {{"q", "quit"},       {"exit", "quit"},  {"h", "help"},       {"hist", "history"},
                              {"prun", "profile"}, {"magic", "help"}, {"lsmagic", "help"}, {"pinfo", "doc"}};

void assign(Session& session, const std::string& name, const Value& value) {
  Interpreter& in = session.interpreter();
  dict_set_str(in, in.main_module()->dict, intern(in, name), value);
}

Outcome run_shell_line(Session& session, const CommandLine& line) {
  Interpreter& in = session.interpreter();
  if (!line.target.empty()) {
    const Value list = make_list(in);
    for (const std::string& text : shell_lines(session, line.arguments))
      list_append(in, as_list(list), make_str_lossy(in, text));
    assign(session, line.target, list);
    return {};
  }
  assign(session, "_exit_code", Value::integer(run_shell(session, line.arguments)));
  return {};
}

Outcome run_named(Session& session, const CommandLine& line) {
  const Command* const command = find_command(line.name);
  if (command == nullptr) {
    std::string text = std::string("there is no command ") + line.sign + line.name;
    const std::string near = nearest_command(line.name);
    text += near.empty() ? "; :help lists them" : "; did you mean " + std::string(1, line.sign) + near + "?";
    throw CommandError(text);
  }
  if (!line.target.empty())
    throw CommandError("the commands have no value to be assigned: only `name = !line` has one");
  return command->run(session, line.arguments);
}

}  // namespace

std::span<const CommandTheme> command_themes() {
  static const CommandTheme kThemes[] = {
      {"The session", session_commands()},
      {"Time", time_commands()},
      {"Files", file_commands()},
      {"Names", name_commands()},
      {"Tensors", tensor_commands()},
  };
  return kThemes;
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const CommandTheme& theme : command_themes())
    for (const Command& command : theme.commands) names.push_back(command.name);
  return names;
}

const Command* find_command(std::string_view name) {
  for (const Alias& alias : kAliases)
    if (alias.name == name) name = alias.command;
  for (const CommandTheme& theme : command_themes())
    for (const Command& command : theme.commands)
      if (command.name == name) return &command;
  return nullptr;
}

std::string nearest_command(std::string_view name) {
  const std::vector<std::string_view> names = command_names();
  if (std::string near = suggest_name(name, names); !near.empty()) return near;
  for (const std::string_view each : names)  // a beginning: ":tens"
    if (name.size() > 1 && each.starts_with(name)) return std::string(each);
  return "";
}

Outcome run_command_line(Session& session, const CommandLine& line) {
  switch (line.kind) {
    case CommandLine::Kind::Shell: return run_shell_line(session, line);
    case CommandLine::Kind::Cell: return run_cell(session, line);
    case CommandLine::Kind::Inspect:
    case CommandLine::Kind::Source:
      session.client().page(inspection(session, line.arguments, line.kind == CommandLine::Kind::Source));
      return {};
    case CommandLine::Kind::Command: break;
  }
  return run_named(session, line);
}

// Names, attributes and items are looked up without running anything; what that does not find is evaluated.
Value value_of_name(Session& session, std::string_view name) {
  Interpreter& in = session.interpreter();
  import_prelude(in, name);
  try {
    return in.eval(*std::make_shared<Source>("<name>", name));
  } catch (const Thrown& thrown) {
    if (is_error(in, thrown.exception, ErrorKind::KeyboardInterrupt)) throw;
    return Value();
  }
}

}  // namespace tessera::repl
