// Calls with sparse operands on their way to torch._sparse.
// compile: small (only programs with sparse tensors come here)
#include "stdlib/torch/sparse_tensors.h"

#include <algorithm>
#include <cstring>

#include "lang/core/bind.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/types/dict.h"
#include "runtime/format.h"
#include "runtime/ops/view_ops.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/profiler_events.h"
#include "stdlib/torch/torch_function.h"

namespace tessera::stdlib {
namespace {

Value function_of_sparse(Interpreter& in, const char* function) {
  return get_attr(in, Value(static_cast<Object*>(in.import("torch._sparse"))), intern(in, function));
}

bool has_sparse(const TorchState& state, const Value& v) {
  if (is_sparse(state, v)) return true;
  const std::span<const Value> items = items_of(v);
  return std::any_of(items.begin(), items.end(), [&](const Value& item) { return is_sparse(state, item); });
}

Value keywords_of(Interpreter& in, const Args& args) {
  Value keywords = make_dict(in);
  for (uint32_t i = args.positional(); i < args.count; ++i)
    dict_set(in, as_dict(keywords), args.keyword_names->items[i - args.positional()], args[i]);
  return keywords;
}

bool answer(Interpreter& in, const char* function, const Value& name, const Args& args, Value& result) {
  const Value given[] = {name, make_tuple(in, args.values, args.positional()), keywords_of(in, args)};
  result = call(in, function_of_sparse(in, function), Args{given, 3});
  return !(result.is_object() && result.as_object() == in.not_implemented.as_object());
}

// Has the attributes of a class, and of those below it that do not ask for themselves, looked up for sparse tensors first.
void look_for_sparse(Interpreter& in, Type* type) {
  if (type->slots.get_attr == nullptr) type->slots.get_attr = attribute_of_sparse;
  type_changed(in, type);
  for (Type* below : type->subclasses)
    if (below != nullptr) look_for_sparse(in, below);
}

// torch._C._make_sparse(size, dtype, parts)
Value make_sparse_tensor(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  std::vector<int64_t> sizes;
  DType dtype = kFloat32;
  if (!to_ints(in, args[0], sizes) || !to_dtype(in, args[1], dtype)) throw Error(ErrorKind::TypeError, "_make_sparse() takes a size and a dtype");
  for (const int64_t size : sizes)
    if (size < 0)
      throw Error(ErrorKind::RuntimeError, "Trying to create tensor with negative dimension " + std::to_string(size) + ": " + shape_str(sizes));
  if ((state.modes & kHasSparse) == 0) {
    state.modes |= kHasSparse;
    look_for_sparse(in, state.tensor);
  }
  return in_torch(in, args, [&] { return wrap_tensor(in, make_sparse(state, sizes, dtype, args[2])); });
}

// torch._C._sparse_parts(tensor), or None.
Value parts_of(Interpreter& in, const Args& args) {
  if (!is_tensor(torch_state(in), args[0])) return Value::none();
  Value parts = sparse_parts(torch_state(in), tensor_of(args[0]));
  return parts.is_undefined() ? Value::none() : parts;
}

// torch._C._tensor_text(tensor, name): the tensor as it is printed, under another name, which says how far its lines are moved in.
Value text_of_tensor(Interpreter& in, const Args& args) {
  return make_str(in, in_torch(in, args, [&] { return tensor_text(tensor_of(args[0]), std::string(text_of(args[1]))); }));
}

// torch._C._resize_sparse(tensor, size)
Value resize_sparse(Interpreter& in, const Args& args) {
  std::vector<int64_t> sizes;
  if (!is_sparse(torch_state(in), args[0]) || !to_ints(in, args[1], sizes))
    throw Error(ErrorKind::TypeError, "_resize_sparse() takes a sparse tensor and a size");
  tensor_of(args[0]).impl()->set_layout(sizes, tensor::contiguous_strides(sizes));
  return args[0];
}

}  // namespace

Value call_gathered(Interpreter& in, const tensor::Arg* args) {
  return call_sparse(in, "_gathered",
                     {wrap_tensor(in, args[0].tensor()), Value::integer(args[1].number().to_int()), wrap_tensor(in, args[2].tensor())});
}

bool has_sparse(const TorchState& state, const Args& args) {
  return std::any_of(args.values, args.values + args.count, [&](const Value& v) { return has_sparse(state, v); });
}

Value call_sparse(Interpreter& in, const char* function, std::initializer_list<Value> args) {
  return call(in, function_of_sparse(in, function), Args{args.begin(), static_cast<uint32_t>(args.size())});
}

bool answered_for_sparse(Interpreter& in, const TorchState& state, const Value& function, const Args& args, Value& result) {
  if ((state.modes & kHasSparse) == 0 || !has_sparse(state, args)) return false;
  const Value name = is_str(function) ? function : get_attr(in, function, intern(in, "__name__"));
  std::string_view op = text_of(name);
  if (op.starts_with("__") && op.ends_with("__") && op.size() > 4) op = op.substr(2, op.size() - 4);
  const NotedCall noted(in, op, args);
  return answer(in, "_answer", name, args, result);
}

bool names_sparse_layout(const TorchState& state, const Value& v) {
  return v.is_object() && v.as_object()->type == state.layout &&
         std::strcmp(known_cast<TagObject>(v)->text, "torch.strided") != 0;
}

bool made_sparse(Interpreter& in, const TorchState& state, std::string_view name, const Args& args, Value& result) {
  if (std::none_of(args.values + args.positional(), args.values + args.count,
                   [&](const Value& v) { return names_sparse_layout(state, v); }))
    return false;
  return answer(in, "_made_with_layout", make_str(in, name), args, result);
}

void add_sparse_functions(Interpreter& in, Module& module) {
  in.def(module, "_make_sparse(size, dtype, parts)", "", make_sparse_tensor);
  in.def(module, "_sparse_parts(value)", "", parts_of);
  in.def(module, "_tensor_text(tensor: Tensor, name: str)", "", text_of_tensor);
  in.def(module, "_resize_sparse(tensor, size)", "", resize_sparse);
}

}  // namespace tessera::stdlib
