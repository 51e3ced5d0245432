// Flags of the command line that programs read as sys.flags, sys.warnoptions and sys._xoptions. The defaults are those of a host that
// sets nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tessera::lang {

struct Flags {
  int debug = 0;                          // -d
  int inspect = 0;                        // -i: a prompt after the program
  int optimize = 0;                       // -O: no assert statements, __debug__ is False; -OO: no docstrings either
  int dont_write_bytecode = 0;            // -B
  int no_user_site = 0;                   // -s
  int no_site = 0;                        // -S
  int ignore_environment = 0;             // -E: PYTHON... variables are not read
  int verbose = 0;                        // -v: each import is told on standard error
  int bytes_warning = 0;                  // -b
  int quiet = 0;                          // -q: the prompt shows no banner
  int isolated = 0;                       // -I: -E, -s and -P
  int safe_path = 0;                      // -P: sys.path does not begin with the program's folder
  bool dev_mode = false;                  // -X dev
  bool unbuffered = false;                // -u
  bool skip_first_line = false;           // -x
  int int_max_str_digits = 4300;          // -X int_max_str_digits=N; 0: no limit
  std::string pycache_prefix;             // -X pycache_prefix=FOLDER: compiled code is kept below it
  std::vector<std::string> warn_options;  // -W, the environment's first
  std::vector<std::pair<std::string, std::string>> x_options;  // -X name or name=value; the value "" stands for True
};

}  // namespace tessera::lang
