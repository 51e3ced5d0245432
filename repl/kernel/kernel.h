// The kernel: a session whose cells come from Jupyter.
#pragma once

#include <cstdio>
#include <string>

#include "repl/kernel/connection.h"

namespace tessera::repl {

struct KernelOptions {
  std::string device;  // --device cuda
  int threads = 0;     // --threads N
};

// Until a frontend, a signal or a cell ends it. Answers the exit status. `log` is for what no frontend shall see: standard
// output and error are theirs.
int run_kernel(const Connection& connection, const KernelOptions& options, std::FILE* log);

}  // namespace tessera::repl
