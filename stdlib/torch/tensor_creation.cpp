// Tensors made by the type or by another tensor: constructors, copies, what pickle writes.
#include "stdlib/torch/tensor_methods.h"
#include "stdlib/torch/torch_function.h"

#include <algorithm>

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "runtime/autograd/engine.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/tensor_cycles.h"
#include "stdlib/torch/tensor_type.h"
#include "stdlib/torch/sparse_tensors.h"
#include "stdlib/torch/to.h"

namespace tessera::stdlib {
namespace {

Value new_tensor(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  const Value dtype = args[2].is_none() ? torch_state(in).dtypes[static_cast<int>(t.dtype())] : args[2];
  const Value device = args[3].is_none() ? wrap_device(in, t.device()) : args[3];
  return in_torch(in, args, [&] { return wrap_tensor(in, tensor_from_data(in, args[1], dtype, device, true)); });
}

// The constructor of old: sizes make an uninitialised tensor, torch.Tensor(2, 3), a list one of its values; the rest stands in
// torch._tensor_types. `own` is the dtype that the constructor stands for, none that of torch.Tensor; it heeds no default device.
Value legacy_tensor(Interpreter& in, const Args& args, uint32_t at, const Value& own, Device home) {
  const std::span<const Value> given(args.values + at, args.count - at);
  const bool plain = args.keyword_names == nullptr || args.keyword_names->size == 0;
  DType dtype = torch_state(in).context.default_dtype;
  if (!own.is_none()) to_dtype(in, own, dtype);
  if (plain && !given.empty() && std::ranges::all_of(given, [](const Value& v) { return v.is_int(); })) {
    std::vector<int64_t> sizes;
    for (const Value& size : given) sizes.push_back(size.as_int());
    return wrap_tensor(in, Tensor::empty(sizes, dtype, home));
  }
  if (plain && given.size() == 1 && is_list(given[0]))
    return wrap_tensor(in, tensor_from_data(in, given[0], torch_state(in).dtypes[static_cast<int>(dtype)],
                                            wrap_device(in, home), true));
  std::vector<Value> values{own};
  values.insert(values.end(), given.begin(), given.end());
  const Value module(static_cast<Object*>(in.import("torch._tensor_types")));
  struct Default {
    Device& device;
    const Device before;
    ~Default() { device = before; }
  } of_script{torch_state(in).context.default_device, torch_state(in).context.default_device};
  of_script.device = home;
  return call(in, get_attr(in, module, intern(in, "_of_old")),
              Args{values.data(), static_cast<uint32_t>(values.size()), args.keyword_names, nullptr});
}

Value new_of_old(Interpreter& in, const Args& args) {
  const Value own = torch_state(in).dtypes[static_cast<int>(self_of(args).dtype())];
  return in_torch(in, args, [&] { return legacy_tensor(in, args, 1, own, self_of(args).device()); });
}

// PyTorch copies a subclass by its new_empty(). Tensor's own makes a plain tensor, whose class is another one.
void check_deep_copy(Interpreter& in, const Value& self) {
  Str* const name = intern(in, "new_empty");  // names the op: a method that a class may override
  const Type* const tensor = torch_state(in).tensor;
  if (!asks_torch_function(self) ||
      type_lookup(self.as_object()->type, name).as_object() != type_lookup(tensor, name).as_object())
    return;
  throw Error(
      ErrorKind::RuntimeError,
      "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types that "
      "implement new_empty() and for which that function returns another instance of the same subclass. You should "
      "either properly implement new_empty() for your subclass or override __deepcopy__() if it is intended behavior "
      "for new_empty() to return an instance of a different type.");
}

Value call_utility(Interpreter& in, const char* name, std::initializer_list<Value> values) {
  return call(in, get_attr(in, Value(static_cast<Object*>(in.import("torch._utils"))), intern(in, name)), values);
}

// The attributes of a tensor: its `__dict__`, or None if it has none yet.
Value attributes_of_tensor(Interpreter& in, const Value& self) {
  return has_attributes_dict(self.as_object()) ? Value(static_cast<Object*>(attributes_dict(in, self.as_object()))) : Value::none();
}

Value deep_copy(Interpreter& in, const Args& args) {
  const Value attributes = attributes_of_tensor(in, args[0]);
  const Value made = in_torch(in, args, [&]() -> Value {
    const Tensor& t = self_of(args);
    if (!is_leaf(t))
      throw Error(
          ErrorKind::RuntimeError,
          "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If "
          "you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
          "https://github.com/pytorch/pytorch/pull/103001");
    check_deep_copy(in, args[0]);
    if (is_sparse(torch_state(in), t)) return call_sparse(in, "_deep_copy", {args[0]});
    Tensor copy = tensor_to(detached(t), t.dtype(), t.device(), true);
    if (t.requires_grad()) set_requires_grad(copy, true);
    return asks_torch_function(args[0]) ? as_instance(in, copy, args[0].as_object()->type)
                                        : wrap_tensor(in, std::move(copy));
  });
  const AutogradMeta* const meta = self_of(args).impl()->autograd;
  const bool is_plain = args[0].as_object()->type == torch_state(in).tensor;
  if (!is_plain || !attributes.is_none() || (meta != nullptr && meta->grad.defined()))
    call_utility(in, "_copy_attributes", {args[0], made, args[1], attributes});
  return made;
}

// How pickle writes a tensor; the words are in the language, since they are names that other programs read.
Value reduce(Interpreter& in, const Args& args) {
  return call_utility(in, "_reduce_tensor", {args[0], attributes_of_tensor(in, args[0])});
}

constexpr NativeDef kMethods[] = {
    {"new_tensor(self, data, dtype=None, device=None, requires_grad=False)", new_tensor,
     "A tensor of data with this dtype."},
    {"__deepcopy__(self, memo)", deep_copy},
    {"__reduce_ex__(self, protocol)", reduce, "What pickle writes."},
    {"new", new_of_old, "A tensor of this dtype: of sizes, or of a sequence's values."},
};

}  // namespace

Value make_tensor(Interpreter& in, Type* type, const Args& args) {
  const Value made = in_torch(in, args, [&] { return legacy_tensor(in, args, 0, Value::none(), kCpu); });
  return type == torch_state(in).tensor ? made : as_instance(in, tensor_of(made), type);
}

Value make_subclass(Interpreter& in, const Args& args) {
  if (!args[0].is_object() || args[0].as_object()->kind != ObjectKind::Type)
    throw Error(ErrorKind::TypeError, "cls must be a type (got " + std::string(type_name(in, args[0])) + ")");
  Type* type = object_cast<Type>(args[0]);
  if (!type->is_subtype_of(torch_state(in).tensor))
    throw Error(ErrorKind::TypeError,
                "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
                "Make sure your class inherits from Tensor.");
  const Tensor& from = expect_tensor(in, args[1], "data");
  if (truth(in, args[2]) && !is_differentiable(from.dtype()))
    throw Error(ErrorKind::RuntimeError, "Only Tensors of floating point and complex dtype can require gradients");
  auto* object = make_untracked<TensorObject>(in, type);
  Value result = Value::adopt(object);
  if (type->attributes_offset != 0) track_tensor(in, result);
  in_torch(in, args, [&] {
    TorchState& state = torch_state(in);
    object->tensor = is_sparse(state, from) ? make_sparse(state, from.sizes(), from.dtype(), sparse_parts(state, from)) : detached_alias(from);
    set_requires_grad(object->tensor, truth(in, args[2]));
  });
  return result;
}

MethodTables creation_methods() { return {{}, kMethods}; }

}  // namespace tessera::stdlib
