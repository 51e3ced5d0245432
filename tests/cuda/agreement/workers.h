// Runs calls in children, for a fault of the program ends a process: whoever watches them hears of each call that did not
// agree, of each that ended its child and of each that hung, and the others run all the same.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/ops/op.h"
#include "tests/cuda/agreement/expected.h"

namespace tessera::agreement {

struct Outcomes {
  long passed = 0;
  std::map<const OpEntry*, double> seconds;                              // of a processor
  std::vector<long> allowed = std::vector<long>(all_expected().size());  // by line of all_expected()
};

/// Calls fail(label of the call, why) for each that failed.
Outcomes run_calls(const std::vector<const OpEntry*>& entries, int depth, int jobs,
                   const std::function<void(const std::string&, const std::string&)>& fail);

}  // namespace tessera::agreement
