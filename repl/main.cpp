// `tsr`: runs a script, a command, standard input, or a prompt. Exit status as CPython's.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "lang/core/interpreter.h"
#include "lang/syntax/source.h"
#include "lang/syntax/source_encoding.h"
#include "repl/options.h"
#include "repl/prompt/prompt.h"
#include "repl/run.h"
#include "repl/session/all_granted.h"
#include "repl/sibling.h"
#include "repl/start.h"
#include "repl/terminal.h"
#include "runtime/counted.h"
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
  return decode_source(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string read_stdin() { return std::string(std::istreambuf_iterator<char>(std::cin), {}); }

// The file of `a.b`, or of the package `a.b` its __main__. Empty: there is none.
std::string file_of_module(std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  for (const std::string& folder : search_path("."))
    for (const char* ending : {".tsr", ".py", "/__main__.tsr", "/__main__.py"}) {
      const std::string path = (std::filesystem::path(folder) / (name + ending)).string();
      if (std::filesystem::is_regular_file(path)) return path;
    }
  return "";
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
    if (options.action == Options::Action::Module) {
      name = file_of_module(options.text);
      if (name.empty()) {
        terminal.write_error("tsr: No module named " + options.text + "\n");
        return 1;
      }
      name = absolute(name);
    }
    std::optional<std::string> read = read_script(name, problem, status);
    if (!read) {
      terminal.write_error("tsr: " + problem + "\n");
      return status;
    }
    text = std::move(*read);
    folder = options.action == Options::Action::Module ? "" : std::filesystem::path(name).parent_path().string();
    if (folder.empty()) folder = ".";
  }
  auto source = std::make_shared<Source>(name, text);
  std::unique_ptr<Interpreter> in = make_interpreter(terminal.host(), all_granted());
  interrupt_on_sigint(*in, false);
  keep_reserve(*in);
  in->argv = options.arguments;
  if (options.action == Options::Action::Module) in->argv[0] = name;
  add_search_path(*in, folder);
  if (std::optional<int> failed = apply_options(*in, options, terminal)) return *failed;
  if (options.action == Options::Action::Dump) return run_dump(*in, terminal, source);
  status = run_main(*in, terminal, source);
  if (options.interactive_after) {
    interrupt_on_sigint(*in, true);
    status = run_prompt(*in, terminal);
  }
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
  interrupt_on_sigint(*in, true);
  in->argv = {""};
  add_search_path(*in, "");
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
    case Options::Action::Sibling:
      terminal.write_error("tsr: " + become_sibling(*find_sibling(options.text), options.arguments) + "\n");
      return 1;
    case Options::Action::Prompt: return run_interactive(options, terminal);
    default: return run_program(options, terminal);
  }
}

}  // namespace
}  // namespace tessera::repl

int main(int argc, char** argv) {
  tessera::tensor::SharedCounts::keep_to_one_thread();  // the language has no others
  tessera::repl::Terminal terminal;
  int status;
  try {
    status = tessera::repl::run(tessera::repl::parse_options(argc, argv), terminal);
  } catch (const std::bad_alloc&) {
    std::fputs("tsr: not enough memory to start (is it limited? see ulimit -v)\n", stderr);
    return 1;
  }
  terminal.flush();
  if (terminal.output_failed() && status == 0) {
    std::fprintf(stderr, "tsr: cannot write to standard output: %s\n", std::strerror(errno));
    status = 120;  // as CPython, when flushing at the end fails
  }
  return status;
}
