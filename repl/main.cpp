// `tsr`: runs a script, a command, standard input, or a prompt. Exit status as CPython's.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "lang/core/interpreter.h"
#include "lang/syntax/source.h"
#include "repl/options.h"
#include "repl/prompt.h"
#include "repl/run.h"
#include "repl/terminal.h"
#include "stdlib/standard.h"

namespace tessera::repl {
namespace {

std::string absolute(const std::string& path) {
  std::error_code error;
  std::filesystem::path full = std::filesystem::absolute(path, error);
  return error ? path : full.string();
}

// The file's text, or CPython's sentence on why there is none, with its exit status.
std::optional<std::string> read_script(const std::string& path, std::string& problem, int& status) {
  struct stat info {};
  status = 2;
  if (stat(path.c_str(), &info) != 0) {
    problem = "can't open file '" + absolute(path) + "': [Errno " + std::to_string(errno) + "] " + std::strerror(errno);
    return std::nullopt;
  }
  if (S_ISDIR(info.st_mode)) {
    status = 1;
    problem = "can't find '__main__' module in '" + absolute(path) + "'";
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    problem = "can't open file '" + absolute(path) + "': [Errno " + std::to_string(errno) + "] " + std::strerror(errno);
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string read_stdin() { return std::string(std::istreambuf_iterator<char>(std::cin), {}); }

// The program's own folder first, then those of PYTHONPATH.
void set_search_path(Interpreter& in, const std::string& folder) {
  std::vector<std::string> folders{folder};
  const char* given = std::getenv("PYTHONPATH");
  std::istringstream list(given == nullptr ? "" : given);
  for (std::string each; std::getline(list, each, ':');)
    if (!each.empty()) folders.push_back(each);
  in.search_path.insert(in.search_path.begin(), folders.begin(), folders.end());
}

int run_program(const Options& options, Terminal& terminal) {
  std::string name, text, problem, folder;
  int status = 0;
  if (options.action == Options::Action::Command) {
    name = "<string>";
    text = options.text;
  } else if (options.action == Options::Action::Stdin) {
    name = "<stdin>";
    text = read_stdin();
  } else {
    name = options.text;
    std::optional<std::string> read = read_script(name, problem, status);
    if (!read) {
      terminal.write_error("tsr: " + problem + "\n");
      return status;
    }
    text = std::move(*read);
    folder = std::filesystem::path(name).parent_path().string();
    if (folder.empty()) folder = ".";
  }
  auto source = std::make_shared<Source>(name, text);
  std::unique_ptr<Interpreter> in = make_interpreter(terminal.host(), all_granted());
  interrupt_on_sigint(*in);
  in->argv = options.arguments;
  set_search_path(*in, folder);
  if (std::optional<int> failed = apply_options(*in, options, terminal)) return *failed;
  if (options.action == Options::Action::Dump) return run_dump(*in, terminal, source);
  status = run_main(*in, terminal, source);
  if (options.interactive_after) status = run_prompt(*in, terminal);
  run_exit_functions(*in, terminal);
  return status;
}

int run_interactive(const Options& options, Terminal& terminal) {
  // Not at a terminal: a program on standard input, as for CPython.
  if (isatty(STDIN_FILENO) == 0) {
    Options piped = options;
    piped.action = Options::Action::Stdin;
    piped.arguments = {""};
    return run_program(piped, terminal);
  }
  std::unique_ptr<Interpreter> in = make_interpreter(terminal.host(), all_granted());
  interrupt_on_sigint(*in);
  in->argv = {""};
  set_search_path(*in, "");
  if (std::optional<int> failed = apply_options(*in, options, terminal)) return *failed;
  const int status = run_prompt(*in, terminal);
  run_exit_functions(*in, terminal);
  return status;
}

int run(const Options& options, Terminal& terminal) {
  switch (options.action) {
    case Options::Action::Bad: terminal.write_error("tsr: " + options.text + "\n" + kHelp); return 2;
    case Options::Action::Help: terminal.write_out(kHelp); return 0;
    case Options::Action::Version: terminal.write_out(version_text()); return 0;
    case Options::Action::Prompt: return run_interactive(options, terminal);
    default: return run_program(options, terminal);
  }
}

}  // namespace
}  // namespace tessera::repl

int main(int argc, char** argv) {
  tessera::repl::Terminal terminal;
  int status = tessera::repl::run(tessera::repl::parse_options(argc, argv), terminal);
  terminal.flush();
  if (terminal.output_failed() && status == 0) {
    std::fprintf(stderr, "tsr: cannot write to standard output: %s\n", std::strerror(errno));
    status = 120;  // as CPython, when flushing at the end fails
  }
  return status;
}
