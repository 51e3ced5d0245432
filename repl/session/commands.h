// The commands of a session, one row each: ":name" and "%name" are the same. A theme has a file commands_THEME.cpp with the
// functions and the rows; commands.cpp joins the themes, finds names and says which one a misspelt name is near to.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "repl/session/command_line.h"
#include "repl/session/session.h"

namespace tessera::repl {

struct Command {
  // What stands behind the name, for completion and for where a block ends.
  enum class Takes { Nothing, Statement, File, Name, Words };
  std::string_view name;
  std::string_view arguments;  // "STATEMENT", "[NAME]": as `:help` shows them
  std::string_view help;       // one line
  Takes takes;
  Outcome (*run)(Session& session, std::string_view arguments);
  std::string_view more = {};  // what else `:help NAME` says
};

// A command that was not given what it needs: its text is shown, without a traceback.
struct CommandError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CommandTheme {
  std::string_view title;
  std::span<const Command> commands;
};
std::span<const CommandTheme> command_themes();
const Command* find_command(std::string_view name);  // with aliases: "q"
std::string nearest_command(std::string_view name);  // empty: none is near
std::vector<std::string_view> command_names();

Outcome run_command_line(Session& session, const CommandLine& line);

// The themes.
std::span<const Command> session_commands();  // help, quit, doc, why ...
std::span<const Command> time_commands();     // time, timeit, profile
std::span<const Command> file_commands();     // run, load, edit, save, restore, ls ...
std::span<const Command> name_commands();     // who, whos, reset, history, device, seed
std::span<const Command> tensor_commands();   // tensors, watch, inspect, graph, model

// "!ls": its output goes where a script's goes. Answers the exit status.
int run_shell(Session& session, std::string_view line);
// `files = !ls`: the lines of the output.
std::vector<std::string> shell_lines(Session& session, std::string_view line);
// "%%writefile FILE": its body becomes the file's text.
Outcome write_file(Session& session, const CommandLine& line);
// A cell: "%%timeit" with its body.
Outcome run_cell(Session& session, const CommandLine& line);

// Of a text that a person gave for a name: "x", "nn.Linear", "model[0]". Undefined: there is no such thing.
lang::Value value_of_name(Session& session, std::string_view name);

}  // namespace tessera::repl
