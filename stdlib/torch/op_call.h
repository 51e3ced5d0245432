// Function objects of ops, and calls of them: plain operands go to the op's fast pointers, everything else through the
// binders of its overloads to the boxed kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stdlib/torch/binder.h"

namespace tessera::stdlib {

// The function object of these entries; `name` is what messages and help call it.
Value make_op_function(Interpreter& in, OpFunction function);
// Calls with arguments as a script gives them.
Value call_op(Interpreter& in, OpFunction& function, const Args& args);
// The op behind a function object, or null for other objects.
OpFunction* op_function_of(const Value& function);
// What the forms of an op's function object are, best first; none for other objects.
std::vector<std::string> schemas_of(Interpreter& in, const Value& function);
// For natives that end in an op: calls it by its name in the registry, whatever it is shown as.
Value call_op_by_name(Interpreter& in, std::string_view name, const Args& args);

// Tensors of inference mode are written only there.
void refuse_write();
inline bool is_inference(const Tensor& t) { return t.defined() && (t.impl()->flags & TensorImpl::kInference); }
inline void check_may_write(const Tensor& t) {
  if (is_inference(t)) [[unlikely]]
    refuse_write();
}

// Fast pointers of several overloads together: what a call with plain operands may take.
FastPaths merge_fast_paths(std::span<const OpEntry* const> entries);

}  // namespace tessera::stdlib
