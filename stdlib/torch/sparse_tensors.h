// Sparse tensors: hollow tensors (Note [Hollow tensors] in dispatch.h) of the class Tensor, whose row in the table of hollow tensors holds
// their parts, an object of torch._sparse with the layout, the indices and the values.
//
// Calls, operators and attributes of sparse tensors are answered by torch._sparse, which is written in the language and records its own
// derivatives. The bit kHasSparse of TorchState::modes is set when a program makes its first sparse tensor; until then nothing asks.
#pragma once

#include <initializer_list>
#include <string_view>

#include "lang/objects/module.h"
#include "runtime/ops/argument.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

// The parts of a sparse tensor; undefined for other tensors (dispatch.cpp).
Value sparse_parts(const TorchState& state, const Tensor& t);
// A sparse tensor with these parts (dispatch.cpp).
Tensor make_sparse(TorchState& state, Ints sizes, DType dtype, const Value& parts);

inline bool is_sparse(const TorchState& state, const Tensor& t) {
  return t.device().is_meta() && !sparse_parts(state, t).is_undefined();
}
inline bool is_sparse(const TorchState& state, const Value& v) { return is_tensor(state, v) && is_sparse(state, tensor_of(v)); }

// Whether an argument, or an item of one, is a sparse tensor.
bool has_sparse(const TorchState& state, const Args& args);

// Calls a function of torch._sparse.
Value call_sparse(Interpreter& in, const char* function, std::initializer_list<Value> args);

// gather(self, dim, index, sparse_grad=True) of a tensor that requires a gradient.
Value call_gathered(Interpreter& in, const tensor::Arg* args);

// Lets torch._sparse answer a call of a function (or of the function with this name, a str). Returns false if no operand is sparse, or if
// the function itself can answer: it reads only shape, dtype and place in the graph.
bool answered_for_sparse(Interpreter& in, const TorchState& state, const Value& function, const Args& args, Value& result);

// Whether a value is a layout other than torch.strided.
bool names_sparse_layout(const TorchState& state, const Value& v);
// Makes the result of a function that was given `layout=` with a sparse layout. Returns false if it was not.
bool made_sparse(Interpreter& in, const TorchState& state, std::string_view name, const Args& args, Value& result);

// An attribute of a tensor once there are sparse tensors: TypeSlots::get_attr of the class Tensor (torch_function.cpp).
Value attribute_of_sparse(Interpreter& in, const Value& self, Str* name);

// The native half of torch._sparse.
void add_sparse_functions(Interpreter& in, Module& module);

}  // namespace tessera::stdlib
