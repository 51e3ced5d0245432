// An example of an op for its help: the first of its samples that is short, as a program would write it, with what it gives.
#pragma once

#include <span>
#include <string>

#include "stdlib/torch/binder.h"

namespace tessera::stdlib {

/// Lines with `>>> ` and the result's repr, or nothing.
std::string op_example(const OpFunction& function);
/// Whether a gradient flows through the first sample of any form that gives floating numbers.
bool is_differentiable(const OpFunction& function);

}  // namespace tessera::stdlib
