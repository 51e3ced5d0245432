// compile: small (once when the program starts)
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
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    problem = "can't open file '" + absolute(path) + "': [Errno " + std::to_string(errno) + "] " + std::strerror(errno);
    return std::nullopt;
  }
  return decode_source(std::string(std::istreambuf_iterator<char>(file), {}));
}

Host host_of(Terminal& terminal, const Options& options) {
  Host host = terminal.host();
  host.flags = options.flags;
  keep_code(host);
  if (options.flags.unbuffered) terminal.write_at_once();
  return host;
}

std::string read_stdin() { return std::string(std::istreambuf_iterator<char>(std::cin), {}); }

// The __main__ of a folder, or an empty text.
std::string main_of_folder(const std::string& folder) {
  for (const char* name : {"__main__.tsr", "__main__.py"}) {
    const std::string path = (std::filesystem::path(folder) / name).string();
    if (std::filesystem::is_regular_file(path)) return path;
  }
  return "";
}

// A program's text, how tracebacks name it, and what its names __package__ and sys.path[0] are to be.
struct Program {
  std::string name, text;
  std::string package;  // of -m
  std::string folder;
  bool is_archive = false;
};

// What comes from the command line or standard input, or from a file. Empty: `problem` says why, and `status` how to end.
std::optional<Program> read_program(const Options& options, std::string& problem, int& status) {
  Program program;
  if (options.action == Options::Action::Command || options.action == Options::Action::Stdin) {
    const bool command = options.action == Options::Action::Command;
    program.name = command ? "<string>" : "<stdin>";
    program.text = command ? options.text : read_stdin();
    return program;
  }
  program.name = options.text;
  const bool is_folder = std::filesystem::is_directory(program.name);
  if (is_folder) {
    program.folder = program.name;
    program.name = main_of_folder(program.folder);
    if (program.name.empty()) {
      status = 1;
      problem = "can't find '__main__' module in '" + absolute(program.folder) + "'";
      return std::nullopt;
    }
  }
  std::optional<std::string> read = read_script(program.name, problem, status);
  if (!read) return std::nullopt;
  program.text = std::move(*read);
  if (is_archive(program.text)) {
    program.is_archive = true;
    program.folder = program.name;
    return program;
  }
  if (options.flags.skip_first_line) program.text.replace(0, program.text.find('\n'), "");
  // Absolute, since the program may change the working folder before it imports modules or fails.
  if (options.action == Options::Action::File) {
    program.name = absolute(program.name);
    program.folder = is_folder ? absolute(program.folder == "." ? "" : program.folder)
                               : std::filesystem::weakly_canonical(program.name).parent_path().string();
  }
  return program;
}

int run_program(const Options& options, Terminal& terminal) {
  std::string problem;
  int status = 0;
  Program program;
  const bool module = options.action == Options::Action::Module;
  if (!module) {
    std::optional<Program> read = read_program(options, problem, status);
    if (!read) {
      terminal.write_error("tsr: " + problem + "\n");
      return status;
    }
    program = std::move(*read);
  }
  std::unique_ptr<Interpreter> in = make_interpreter(host_of(terminal, options), all_granted());
  interrupt_on_sigint(*in, false);
  keep_reserve(*in);
  in->argv = options.arguments;
  add_search_path(*in, module ? std::filesystem::current_path().string() : program.folder);
  if (std::optional<int> failed = apply_options(*in, options, terminal)) return *failed;
  if (options.action == Options::Action::Dump)
    return run_dump(*in, terminal, std::make_shared<Source>(program.name, program.text));
  if (program.is_archive) status = run_archive(*in, terminal);
  else if (module) status = run_module(*in, terminal, options.text);
  else status = run_main(*in, terminal, std::make_shared<Source>(program.name, program.text));
  if (options.flags.inspect) {
    interrupt_on_sigint(*in, true);
    status = run_prompt(*in, terminal);
  }
  run_exit_functions(*in, terminal);
  return status;
}

int run_interactive(const Options& options, Terminal& terminal) {
  // Not at a terminal: a program on standard input, as for CPython, unless a prompt is asked for.
  if (isatty(STDIN_FILENO) == 0 && !options.flags.inspect) {
    Options piped = options;
    piped.action = Options::Action::Stdin;
    piped.arguments = {""};
    return run_program(piped, terminal);
  }
  std::unique_ptr<Interpreter> in = make_interpreter(host_of(terminal, options), all_granted());
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
  if (status == tessera::repl::kEndedBySigint) tessera::repl::end_by_sigint();
  return status;
}
