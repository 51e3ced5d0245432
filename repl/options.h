// The command line of `tsr`.
#pragma once

#include <string>
#include <vector>

#include "lang/core/flags.h"

namespace tessera::repl {

struct Options {
  enum class Action { Prompt, File, Module, Command, Stdin, Dump, Version, Help, Sibling, Bad };
  Action action = Action::Prompt;
  std::string
      text;  // the file's path, the module's name, the command, the sibling's word, or what is wrong with the command line
  std::vector<std::string>
      arguments;       // sys.argv: the script's name as CPython gives it, then its arguments; a sibling's own ones
  lang::Flags flags;   // CPython's own options, and its variables
  std::string device;  // --device cuda: where tensors are made
  int threads = 0;     // --threads N; 0: as many as there are cores
};

Options parse_options(int argc, char** argv);

extern const char* const kHelp;

}  // namespace tessera::repl
