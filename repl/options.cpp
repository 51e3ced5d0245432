#include "repl/options.h"

#include <charconv>
#include <cstring>
#include <string_view>

#include "repl/sibling.h"

namespace tessera::repl {

const char* const kHelp =
    "usage: tsr [options] [FILE | -m MODULE | -c CODE | -] [arguments]\n"
    "       tsr kernel | serve [arguments]\n"
    "  tsr                 a prompt\n"
    "  tsr FILE [ARGS]     runs a script; a .tsr file is a Python file\n"
    "  tsr -m MODULE [ARGS]  runs a module of this folder or of PYTHONPATH, or a package's __main__\n"
    "  tsr -c CODE [ARGS]  runs CODE\n"
    "  tsr - [ARGS]        runs what comes from standard input\n"
    "  tsr kernel install  makes Tessera known to Jupyter; tsr kernel --help says more\n"
    "  tsr serve [FILE]    a page with an editor, a terminal and the tensors, in a browser\n"
    "options:\n"
    "  -i             a prompt after the script, with its names\n"
    "  --dump FILE    prints the file's layout, tree and bytecode, and does not run it\n"
    "  --device NAME  makes tensors on this device unless told otherwise (cpu, cuda)\n"
    "  --threads N    threads for tensor operations (also TSR_THREADS)\n"
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

}  // namespace

Options parse_options(int argc, char** argv) {
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
    if (std::strcmp(argument, "-i") == 0) {
      options.interactive_after = true;
    } else if (std::strcmp(argument, "-c") == 0) {
      if (i + 1 >= argc) return bad("Argument expected for the -c option");
      options.action = Options::Action::Command;
      options.text = argv[i + 1];
      options.arguments.push_back("-c");
      options.arguments.insert(options.arguments.end(), argv + i + 2, argv + argc);
      return options;
    } else if (std::strcmp(argument, "-m") == 0) {
      if (i + 1 >= argc) return bad("Argument expected for the -m option");
      options.action = Options::Action::Module;
      options.text = argv[i + 1];
      options.arguments.assign(argv + i + 1, argv + argc);
      return options;
    } else if (std::strcmp(argument, "--version") == 0 || std::strcmp(argument, "-V") == 0) {
      options.action = Options::Action::Version;
      return options;
    } else if (std::strcmp(argument, "--help") == 0 || std::strcmp(argument, "-h") == 0) {
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

}  // namespace tessera::repl
