// What PyTorch's argument parser knows of functions that one entry serves here where it has several: the forms it counts
// and lists, the names of their parameters, and where a number may stand for a tensor.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/ops/op.h"

namespace tessera::stdlib {

// The forms of an op, as schemas without a name; none where the entries' own schemas are the forms.
struct CallForms {
  std::vector<tensor::OpSchema> listed;
  // There are forms that no message shows (PyTorch's deprecated ones): a call is not explained by the one that it shows.
  bool more_hidden = false;
  std::vector<tensor::OpSchema> deprecated;  // those of them that are another order of the first listed form's arguments
};
CallForms call_forms(std::string_view op);

// Where a Python number is taken for a Tensor argument.
enum class NumberRule : uint8_t {
  Never,     // maximum(t, 1) is refused
  Listed,    // where a form says so
  Anywhere,  // add(1, t), add(1, 2): it becomes a tensor
};
NumberRule number_rule(const tensor::OpEntry& entry, const CallForms& forms);
// Whether a form has a number for this argument.
bool may_be_number(const CallForms& forms, std::string_view argument);

}  // namespace tessera::stdlib
