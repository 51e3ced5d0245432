// What every program that runs a person's blocks begins and ends with: tsr itself, the Jupyter kernel, the page's worker.
#pragma once

#include <string>
#include <vector>

#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::repl {
using namespace stdlib;

// Compiled code is kept from now on: of files beside them, of the program's own modules in $XDG_CACHE_HOME/tessera or ~/.cache/tessera.
void keep_code(Host& host);

// Begins sys.path with the program's folder, those of PYTHONPATH, the Python library of the machine, and the site-packages of the activated
// environment (VIRTUAL_ENV) or else of the user, as far as the flags of the command line let each in.
void add_search_path(Interpreter& in, const std::string& folder);

// What the program left with `atexit`, the last first. What that raised, or Undefined.
Value run_exit_functions(Interpreter& in);

}  // namespace tessera::repl
