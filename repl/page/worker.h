// The process with the interpreter: `tsr-page --worker FD`.
#pragma once

#include <string>

namespace tessera::repl::page {

struct WorkerOptions {
  int channel = 3;
  std::string outputs;  // the folder for what is too much to show
  std::string device;   // --device
  int threads = 0;      // --threads
};

int run_worker(const WorkerOptions& options);

}  // namespace tessera::repl::page
