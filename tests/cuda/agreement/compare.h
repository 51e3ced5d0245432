// What a call gave on one device, and whether another gave the same.
#pragma once

#include <string>

#include "tests/cuda/agreement/calls.h"

namespace tessera::agreement {

/// A call's results, or the error that it ended with ("IndexError: ...", its first line).
struct Outcome {
  std::vector<OpArg> results;
  TensorList elsewhere;  // operands that lie on another device than the call's
  std::string error;
};

/// Runs the call with its tensors on the device and waits for it; results are brought to the host with their layout.
Outcome run(const Call& call, Device device);

/// Empty, or how `got` differs from what the CPU gave.
std::string difference(const Call& call, const Outcome& expected, const Outcome& got);

/// Empty, or how the metadata that is known without running differs from the results.
std::string inferred_otherwise(const Call& call, const Outcome& got);

}  // namespace tessera::agreement
