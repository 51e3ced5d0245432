// x[...]: an index of the language to the tensor library's.
#pragma once

#include "stdlib/torch/state.h"

namespace tessera::stdlib {

Value get_tensor_item(Interpreter& in, const Value& self, const Value& key);
void set_tensor_item(Interpreter& in, const Value& self, const Value& key, const Value& value);

}  // namespace tessera::stdlib
