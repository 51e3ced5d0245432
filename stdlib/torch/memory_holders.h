// Which tensors of the program hold a device's memory, for who is told that there is no more of it.
#pragma once

#include <string>
#include <vector>

#include "stdlib/torch/state.h"

namespace tessera::stdlib {

/// A heading and a line for each of the largest: "model.0.weight: float32[1024, 1024], 4.00 MiB on cuda:0". Of what the running
/// functions' variables lead to: containers, attributes, gradients. Nothing runs for it. Empty where no tensor of a device is found.
std::vector<std::string> memory_holders(Interpreter& in);

}  // namespace tessera::stdlib
