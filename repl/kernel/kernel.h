// The kernel: a session whose cells come from Jupyter.
#pragma once

#include <string>

#include "repl/kernel/connection.h"

namespace tessera::repl {

struct KernelOptions {
  std::string device;  // --device cuda
  int threads = 0;     // --threads N
};

// Until a frontend, a signal or a cell ends it. Answers the exit status.
int run_kernel(const Connection& connection, const KernelOptions& options);

}  // namespace tessera::repl
