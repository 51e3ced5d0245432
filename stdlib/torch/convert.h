// One argument of a call to what a schema asks for.
#pragma once

#include "runtime/ops/schema.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

// True when the value fits the schema's kind. Nothing is raised: overloads are tried one after the other.
bool convert_argument(Interpreter& in, const Value& v, const SchemaArg& arg, bool number_for_tensor, OpArg& out);

// "Tensor", "int", "tuple of ints": how PyTorch's messages name a kind and a value.
const char* kind_name(const SchemaArg& arg);
std::string value_kind_name(Interpreter& in, const Value& v);

// Integers of a tuple, list or Size; false when some item is no integer.
bool to_ints(Interpreter& in, const Value& v, std::vector<int64_t>& out);

}  // namespace tessera::stdlib
