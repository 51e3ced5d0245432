// The command line of `tsr serve`, which is that of tsr-page.
#pragma once

#include <cstdint>
#include <string>

#include "repl/page/worker.h"

namespace tessera::repl::page {

struct PageOptions {
  enum class Action { kServe, kWorker, kHelp, kVersion, kBad };
  Action action = Action::kServe;
  std::string problem;     // kBad: what is wrong with the command line
  std::string path = ".";  // a folder, or a file in the folder that is served
  uint16_t port = 8765;
  bool is_port_given = false;
  bool opens_browser = true;
  WorkerOptions worker;  // device and threads, which go on to the worker; its other fields are the worker's own
};

PageOptions parse_page_options(int argc, char** argv);

extern const char* const kPageHelp;

}  // namespace tessera::repl::page
