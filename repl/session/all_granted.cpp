#include "repl/session/all_granted.h"

namespace tessera::repl {

lang::Limits all_granted() {
  lang::Limits limits;
  limits.files = limits.environment = limits.clock = limits.imports_of_files = limits.processes = limits.entropy = true;
  limits.code = limits.network = true;
  limits.threads = 4096;
  return limits;
}

}  // namespace tessera::repl
