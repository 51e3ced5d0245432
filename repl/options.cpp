// compile: small (once when the program starts)
#include "repl/options.h"

#include <charconv>
#include <cstring>
#include <string_view>

#include "repl/flags.h"
#include "repl/sibling.h"

namespace tessera::repl {

const char* const kHelp =
    "usage: tsr [options] [FILE | -m MODULE | -c CODE | -] [arguments]\n"
    "       tsr kernel | serve [arguments]\n"
    "  tsr                 a prompt\n"
    "  tsr FILE [ARGS]     runs a script; a .tsr file is a Python file. A folder: its __main__\n"
    "  tsr -m MODULE [ARGS]  runs a module of this folder, of PYTHONPATH, or of the program (unittest, timeit, json.tool)\n"
    "  tsr -c CODE [ARGS]  runs CODE\n"
    "  tsr - [ARGS]        runs what comes from standard input\n"
    "  tsr kernel install  makes Tessera known to Jupyter; tsr kernel --help says more\n"
    "  tsr serve [FILE]    a page with an editor, a terminal and the tensors, in a browser\n"
    "options of CPython (docs/command-line.md):\n"
    "  -i             a prompt after the script, with its names\n"
    "  -u -O -OO -v   unbuffered output; no assert statements; no docstrings either; tells each import\n"
    "  -W ARG, -X OPT filters of warnings; options of the implementation (dev, int_max_str_digits=N)\n"
    "  -E -I -P -s -S reads no PYTHON... variables; isolated; no folder of the script; no user site; no site\n"
    "  -q -B -b -d -R -x  no banner; and what changes little here\n"
    "options of tsr:\n"
    "  --dump FILE    prints the file's layout, tree and bytecode, and does not run it\n"
    "  --device NAME  makes tensors on this device unless told otherwise (cpu, cuda)\n"
    "  --threads N    threads for tensor operations (also TSR_THREADS)\n"
    "  --packages     prints the packages that there are, inside of the program and installed\n"
    "  --version      prints the versions of tsr and of the parts that it runs on\n"
    "  --help         prints this\n";

namespace {

Options bad(std::string why) {
  Options options;
  options.action = Options::Action::Bad;
  options.text = std::move(why);
  return options;
}

// The value of `--name VALUE` or `--name=VALUE`; null when it is missing. Moves `i` over a separate value.
const char* option_value(int argc, char** argv, int& i, size_t name_length) {
  if (argv[i][name_length] == '=') return argv[i] + name_length + 1;
  return i + 1 < argc ? argv[++i] : nullptr;
}

bool is_option(const char* argument, std::string_view name) {
  std::string_view text = argument;
  return text == name || (text.starts_with(name) && text[name.size()] == '=');
}

// The rest of an argument behind the letter at `at`, or the next argument. Null: there is neither.
const char* letter_value(int argc, char** argv, int& i, const char* at) {
  if (at[1] != '\0') return at + 1;
  return i + 1 < argc ? argv[++i] : nullptr;
}

// One argument of single-letter options, such as -uB or -Wignore. Returns true if the command line ends with it.
bool letters(int argc, char** argv, int& i, Options& options) {
  for (const char* at = argv[i] + 1; *at != '\0'; ++at) {
    if (set_flag(options.flags, *at)) continue;
    if (*at == 'h' || *at == '?' || *at == 'V') {
      options.action = *at == 'V' ? Options::Action::Version : Options::Action::Help;
      return true;
    }
    if (std::strchr("cmWX", *at) == nullptr) {
      options = bad(std::string("unknown option -") + *at);
      return true;
    }
    const char letter = *at;
    const char* const value = letter_value(argc, argv, i, at);
    if (value == nullptr) {
      options = bad(std::string("Argument expected for the -") + letter + " option");
      return true;
    }
    if (letter == 'W') {
      options.flags.warn_options.push_back(value);
      return false;
    }
    if (letter == 'X') {
      const std::string problem = set_x_option(options.flags, value);
      if (!problem.empty()) options = bad(problem);
      return !problem.empty();
    }
    options.action = letter == 'c' ? Options::Action::Command : Options::Action::Module;
    options.text = value;
    options.arguments.push_back(letter == 'c' ? "-c" : value);
    options.arguments.insert(options.arguments.end(), argv + i + 1, argv + argc);
    return true;
  }
  return false;
}

Options read_arguments(int argc, char** argv) {
  Options options;
  if (argc > 1 && find_sibling(argv[1]) != nullptr) {
    options.action = Options::Action::Sibling;
    options.text = argv[1];
    options.arguments.assign(argv + 2, argv + argc);
    return options;
  }
  int i = 1;
  for (; i < argc; ++i) {
    const char* argument = argv[i];
    if (argument[0] != '-' || std::strcmp(argument, "-") == 0) break;
    if (argument[1] != '-') {
      if (letters(argc, argv, i, options)) return options;
    } else if (std::strcmp(argument, "--version") == 0) {
      options.action = Options::Action::Version;
      return options;
    } else if (std::strcmp(argument, "--packages") == 0) {
      options.action = Options::Action::Module;
      options.text = "_packages";
      options.arguments = {"_packages"};
      return options;
    } else if (std::strcmp(argument, "--help") == 0) {
      options.action = Options::Action::Help;
      return options;
    } else if (is_option(argument, "--dump")) {
      const char* value = option_value(argc, argv, i, 6);
      if (value == nullptr) return bad("--dump needs a file");
      options.action = Options::Action::Dump;
      options.text = value;
      return options;
    } else if (is_option(argument, "--device")) {
      const char* value = option_value(argc, argv, i, 8);
      if (value == nullptr) return bad("--device needs a name, such as cpu or cuda");
      options.device = value;
    } else if (is_option(argument, "--threads")) {
      const char* value = option_value(argc, argv, i, 9);
      const char* end = value == nullptr ? nullptr : value + std::strlen(value);
      if (value == nullptr || std::from_chars(value, end, options.threads).ptr != end || options.threads < 1)
        return bad("--threads needs a number from 1 on");
    } else {
      return bad(std::string("unknown option ") + argument);
    }
  }
  if (i == argc) return options;
  options.text = argv[i];
  options.action = options.text == "-" ? Options::Action::Stdin : Options::Action::File;
  options.arguments.assign(argv + i, argv + argc);
  return options;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options = read_arguments(argc, argv);
  if (options.action == Options::Action::Bad || options.action == Options::Action::Sibling) return options;
  const std::string problem = read_environment(options.flags);
  return problem.empty() ? options : bad(problem);
}

}  // namespace tessera::repl
