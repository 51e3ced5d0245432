// What stands below the message of a tensor error: which variables the operands are, where they were made, and a hint.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stdlib/torch/state.h"

namespace tessera::stdlib {

// One note for each tensor among the operands, one for the layer that was running, and a hint where one is certain to help.
std::vector<std::string> notes_of(Interpreter& in, const std::string& message, std::span<const Value> operands);

}  // namespace tessera::stdlib
