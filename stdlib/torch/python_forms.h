// Functions that are written in Python in PyTorch, where an op serves them here: Python itself looks at their count and
// keywords, and what they call inside then speaks of the values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stdlib/torch/binder.h"

namespace tessera::stdlib {

// The call inside such a function: all values by place, self with them.
struct InnerCall {
  std::string name;
  std::optional<tensor::OpSchema> form;  // none: those of the op
  std::vector<Value> values;
};

// Throws Python's TypeError where a call has the wrong arguments for such a function. Else the call inside; none for other
// functions and for those whose values are spoken of under their own name.
std::optional<InnerCall> python_call(const OpFunction& function, const Args& args);

}  // namespace tessera::stdlib
