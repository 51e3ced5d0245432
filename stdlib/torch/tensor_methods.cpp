// The type torch.Tensor, and its methods that are no ops: those of the themes (tensor_methods.h), operators by name, and those that are
// written in the language.
#include "stdlib/torch/tensor_methods.h"
#include "stdlib/torch/dispatch.h"
#include "stdlib/torch/torch_function.h"

#include "lang/core/bind.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/setup.h"
#include "stdlib/torch/error_operands.h"
#include "stdlib/torch/op_call.h"
#include "stdlib/torch/op_namespaces.h"
#include "stdlib/torch/sparse_tensors.h"
#include "stdlib/torch/tensor_type.h"

namespace tessera::stdlib {
namespace {

Value absolute(Interpreter& in, const Args& args) {
  if (const auto answer = ask(in, "abs", {args[0]})) return *answer;
  return call_op_by_name(in, "abs", {args.values, 1, nullptr, nullptr});
}

Value reversed(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  if (t.dim() == 0) return args[0];
  const Value operands[] = {args[0], make_tuple(in, {Value::integer(0)})};
  return call_op_by_name(in, "flip", {operands, 2, nullptr, nullptr});
}

Value inverted(Interpreter& in, const Args& args) { return unary(in, UnaryOp::Invert, args[0]); }

constexpr NativeDef kPlainOperators[] = {
    {"__abs__", absolute},
};

constexpr NativeDef kOperators[] = {
    {"__reversed__(self)", reversed},
    {"__invert__(self)", inverted},
};

// Methods that are functions of torch written in the language.
const char* const kScriptMethods[] = {"__dlpack__", "__dlpack_device__", "apply_",    "dim_order", "histogram",      "index",
                                      "int_repr",   "is_nonzero",        "is_shared", "is_signed", "map_",           "nonzero_static",
                                      "qscheme",    "record_stream",     "share_memory_"};
const char* const kSparseMethods[] = {
    "_coalesced_",   "_dimI",         "_dimV",         "_indices",      "_nnz",         "_values",     "ccol_indices",  "coalesce",
    "col_indices",   "crow_indices",  "dense_dim",     "indices",       "is_coalesced", "row_indices", "sparse_dim",    "sparse_mask",
    "sparse_resize_", "sparse_resize_and_clear_",      "to_dense",      "to_sparse",    "to_sparse_bsc", "to_sparse_bsr", "to_sparse_coo",
    "to_sparse_csc", "to_sparse_csr", "values"};

Value call_script(Interpreter& in, const Args& args) {
  const Value module(static_cast<Object*>(in.import("torch._rarely")));
  return call(in, get_attr(in, module, args.callee->name), args);
}

Value call_sparse_method(Interpreter& in, const Args& args) {
  Value result;
  if (answered_for_sparse(in, torch_state(in), Value(static_cast<Object*>(args.callee->name)), args, result)) return result;
  const Value module(static_cast<Object*>(in.import("torch._sparse._dense")));
  return call(in, get_attr(in, module, args.callee->name), args);
}

// PyTorch names TensorBase when a method without arguments gets some. These methods take their arguments raw, to say the same.
[[noreturn]] void refuse_plain(const Args& args) {
  const std::string method = "TensorBase." + std::string(args.callee->name->view()) + "() takes no ";
  const bool keywords = args.keyword_names != nullptr && args.keyword_names->size != 0;
  throw Error(ErrorKind::TypeError,
              method + (keywords ? "keyword arguments" : "arguments (" + std::to_string(args.count - 1) + " given)"));
}

Value call_plain(Interpreter& in, const Args& args) {
  if (args.count != 1) refuse_plain(args);
  Value result;
  if (answered_for_sparse(in, torch_state(in), Value(static_cast<Object*>(args.callee->name)), args, result)) return result;
  return static_cast<const NativeDef*>(args.callee->data)->function(in, args);
}

void add_own(Interpreter& in, Type* type, const Value& method) {
  auto* const native = object_cast<NativeFunction>(method);
  own_method(in, native, type);
  dict_set_str(in, type->attributes(), native->name, method);
}

void add_tables(Interpreter& in, Type* type, const MethodTables& tables) {
  in.add_methods(type, tables.methods.data(), tables.methods.size());
  for (const NativeDef& row : tables.plain)
    add_own(in, type, in.new_function(row.signature, row.doc, call_plain, const_cast<NativeDef*>(&row)));
}

}  // namespace

void add_tensor_methods(Interpreter& in, TorchState& state) {
  Type* type = state.tensor;
  const Namespace& methods = tensor_namespace();
  for (const std::string& name : names_in_namespace(methods))
    dict_set_str(in, type->attributes(), intern(in, name), find_in_namespace(in, methods, name));
  for (const MethodTables& tables : {layout_methods(), number_methods(), conversion_methods(), autograd_methods(), creation_methods(),
                                     MethodTables{kPlainOperators, kOperators}})
    add_tables(in, type, tables);
  add_torch_function_methods(in, type);
  add_dispatch_methods(in, type);
  for (const char* name : kScriptMethods) add_own(in, type, in.new_function(name, "", call_script));
  for (const char* name : kSparseMethods) add_own(in, type, in.new_function(name, "", call_sparse_method));
  dict_set_str(
      in, type->attributes(), intern(in, "_make_subclass"),
      make_static_method(in, in.new_function("_make_subclass(cls, data, require_grad=False)", "", make_subclass)));
  // The names that division had.
  for (const auto& [old, name] : {std::pair("__div__", "__truediv__"), std::pair("__rdiv__", "__rtruediv__"),
                                  std::pair("__idiv__", "__itruediv__")})
    dict_set_str(in, type->attributes(), intern(in, old),
                 get_attr(in, Value(static_cast<Object*>(type)), intern(in, name)));
  object_cast<NativeFunction>(*dict_get_text(type->attributes(), "__rdiv__"))->name = intern(in, "__rdiv__");
  type_changed(in, type);  // what was looked up in vain on the way here must be looked up again
}

void make_tensor_type(Interpreter& in, TorchState& state) {
  Type* const base = in.new_type({.name = "TensorBase", .module = "torch._C", .size = sizeof(TensorObject)});
  state.tensor = in.new_type({.name = "Tensor",
                              .module = "torch",
                              .size = sizeof(TensorObject),
                              .flags = kNamedAlone | kKeepsDictAside,
                              .base = base,
                              .doc = "An array of numbers of one type, with any number of dimensions."});
  state.tensor->make = make_tensor;
  fill_tensor_slots(state);
  state.tensor->slots.adjust = adjust_tensor_subclass;
  show_parameters(in);
  state.tensor->fill_later([](Interpreter& i, Type* type) {
    slot_methods(i, type);
    operator_methods(i, type, ~(1u << static_cast<int>(BinaryOp::DivMod)));
    add_tensor_attributes(i, torch_state(i));
    add_tensor_methods(i, torch_state(i));
  });
}

}  // namespace tessera::stdlib
