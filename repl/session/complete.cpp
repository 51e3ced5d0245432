// compile: small (waits for a person)
#include "repl/session/complete.h"

#include <algorithm>
#include <cstdlib>

#include "lang/assist/complete.h"
#include "lang/core/files.h"
#include "lang/core/host.h"
#include "repl/session/commands.h"
#include "repl/session/prelude.h"
#include "stdlib/assist.h"

namespace tessera::repl {
using namespace lang;

namespace {

Assist session_assist() {
  Assist assist = stdlib::library_assist();
  assist.late_name = prelude_module;
  assist.late_names = prelude_names;
  return assist;
}

// Files and folders whose path begins so; `begin` is where the path stands in the text.
void add_files(Session& session, std::string_view written, size_t begin, Completion& into) {
  Interpreter& in = session.interpreter();
  if (!in.limits.files || !in.host().files) return;
  const size_t slash = written.rfind('/');
  const std::string_view folder = slash == written.npos ? "" : written.substr(0, slash + 1);
  const std::string_view start = slash == written.npos ? written : written.substr(slash + 1);
  std::string place(folder);
  const char* home = std::getenv("HOME");
  if (place.starts_with("~/") && home != nullptr) place.replace(0, 1, home);
  into.begin = begin + folder.size();
  into.end = begin + written.size();
  std::vector<std::string> names = names_in_folder(in, place);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (!name.starts_with(start) || (start.empty() && name.starts_with("."))) continue;
    const bool inside = in.host().files->is_folder(place + name);
    into.candidates.push_back({name + (inside ? "/" : ""), inside ? "folder" : "file", ""});
  }
}

void add_commands(std::string_view start, Completion& into) {
  for (const CommandTheme& theme : command_themes())
    for (const Command& command : theme.commands)
      if (command.name.starts_with(start))
        into.candidates.push_back({std::string(command.name), "command", std::string(command.help)});
}

Completion from(Choices choices, size_t offset) {
  Completion completion{choices.begin + offset, choices.end + offset, {}};
  for (Choice& choice : choices.found)
    completion.candidates.push_back({std::move(choice.text), std::move(choice.kind), std::move(choice.note)});
  return completion;
}

// What stands behind a command's name, from byte `begin` of the text on.
size_t begin_of_arguments(std::string_view line) {
  size_t at = line.find_first_not_of(":%");
  while (at < line.size() && is_name_byte(line[at])) ++at;
  while (at < line.size() && line[at] == ' ') ++at;
  return at;
}

size_t begin_of_word(std::string_view text) {
  const size_t blank = text.find_last_of(" \t");
  return blank == text.npos ? 0 : blank + 1;
}

Completion complete_statements(Session& session, std::string_view text, size_t cursor, size_t offset) {
  Choices choices = choices_at(session.interpreter(), text, cursor, session_assist());
  const bool in_string = choices.in_string && choices.found.empty();
  const std::string string = choices.string;
  Completion completion = from(std::move(choices), offset);
  if (in_string) add_files(session, string, completion.begin, completion);
  return completion;
}

// Of the line that the cursor stands in, which begins with ':', '%' or '!'.
Completion complete_command(Session& session, std::string_view line, size_t begin) {
  Completion completion{begin + line.size(), begin + line.size(), {}};
  if (line.front() == '!') {
    const size_t word = begin_of_word(line.substr(1)) + 1;
    add_files(session, line.substr(word), begin + word, completion);
    return completion;
  }
  const size_t name = line.starts_with("%%") ? 2 : 1, arguments = begin_of_arguments(line);
  if (arguments >= line.size() && (line.empty() || is_name_byte(line.back()) || line.size() <= name)) {
    completion.begin = begin + name;
    add_commands(line.substr(name), completion);
    return completion;
  }
  const std::optional<CommandLine> command_line = command_of(line);
  const Command* const command = command_line ? find_command(command_line->name) : nullptr;
  if (command == nullptr) return completion;
  const std::string_view rest = line.substr(std::min(arguments, line.size()));
  const size_t word = begin_of_word(rest);
  switch (command->takes) {
    case Command::Takes::File: add_files(session, rest.substr(word), begin + arguments + word, completion); break;
    case Command::Takes::Statement:
    case Command::Takes::Name:
      completion = complete_statements(session, rest, rest.size(), begin + arguments);
      if (command->name == "help") add_commands(rest.substr(word), completion);
      break;
    default: break;
  }
  return completion;
}

}  // namespace

Completion complete(Session& session, std::string_view text, size_t cursor) {
  cursor = std::min(cursor, text.size());
  const size_t newline = text.substr(0, cursor).rfind('\n');
  const size_t begin = newline == text.npos ? 0 : newline + 1;
  const std::string_view line = text.substr(begin, cursor - begin);
  const size_t first = line.find_first_not_of(' ');
  if (first != line.npos && std::string_view(":%!").find(line[first]) != std::string_view::npos)
    return complete_command(session, line.substr(first), begin + first);
  if (first != line.npos && line[first] == '?')
    return complete_statements(session, line.substr(first + 1), line.size() - first - 1, begin + first + 1);
  return complete_statements(session, text, cursor, 0);
}

std::optional<CallHelp> call_at(Session& session, std::string_view text, size_t cursor) {
  CallAt call = call_around(session.interpreter(), text, std::min(cursor, text.size()), session_assist());
  if (call.forms.empty()) return std::nullopt;
  // The first form that has the argument that is being typed.
  size_t best = 0;
  while (best < call.forms.size() && call.active[best] < 0) ++best;
  if (best == call.forms.size()) best = 0;
  CallHelp help{call.forms[best].text, 0, 0};
  if (call.active[best] >= 0) {
    const CallForm::Parameter& parameter = call.forms[best].parameters[static_cast<size_t>(call.active[best])];
    help.active_begin = parameter.begin;
    help.active_end = parameter.end;
  }
  return help;
}

}  // namespace tessera::repl
