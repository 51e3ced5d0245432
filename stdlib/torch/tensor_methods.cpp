// Methods of a tensor that are no ops: layout questions, conversions, the way to numbers and lists, autograd.
#include <algorithm>

#include "lang/core/bind.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/core/protocol.h"
#include "lang/types/bigint.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/setup.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/pinned.h"
#include "stdlib/torch/call_refusal.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/error_operands.h"
#include "stdlib/torch/graph.h"
#include "stdlib/torch/op_namespaces.h"
#include "stdlib/torch/op_call.h"
#include "stdlib/torch/tensor_cycles.h"
#include "stdlib/torch/tensor_type.h"
#include "stdlib/torch/to.h"

namespace tessera::stdlib {
namespace {

const Tensor& self_of(const Args& args) { return tensor_of(args[0]); }

// Layout -----------------------------------------------------------------------------------------------------------

int64_t dim_argument(Interpreter& in, const char* function, const Value& v) {
  int64_t dim = 0;
  if (!to_int(in, v, dim))
    throw Error(ErrorKind::TypeError, std::string(function) + "(): argument 'dim' (position 1) must be int, not " +
                                          std::string(type_name(in, v)));
  return dim;
}

// Here a number has no dimension at all, where elsewhere it counts as having one.
int64_t dim_of(Interpreter& in, const char* function, const Tensor& self, const Value& v) {
  const int64_t dim = dim_argument(in, function, v);
  tensor::check(self.dim() > 0, tensor::TensorErrorKind::Index, "Dimension specified as ", dim,
                " but tensor has no dimensions");
  return dim;
}

Value size(Interpreter& in, const Args& args) {
  if (args[1].is_none()) return wrap_size(in, self_of(args).sizes());
  return in_torch(in, args,
                  [&] { return Value::integer(self_of(args).size(dim_of(in, "size", self_of(args), args[1]))); });
}

Value stride(Interpreter& in, const Args& args) {
  if (!args[1].is_none())
    return in_torch(in, args,
                    [&] { return Value::integer(self_of(args).stride(dim_of(in, "stride", self_of(args), args[1]))); });
  const Ints strides = self_of(args).strides();
  Tuple* tuple = new_tuple(in, strides.size());
  for (size_t i = 0; i < strides.size(); ++i) tuple->items[i] = Value::integer(strides[i]);
  return Value::adopt(tuple);
}

Value dim(Interpreter&, const Args& args) { return Value::integer(self_of(args).dim()); }
Value numel(Interpreter&, const Args& args) { return Value::integer(self_of(args).numel()); }
Value element_size(Interpreter&, const Args& args) {
  return Value::integer(static_cast<int64_t>(item_size(self_of(args).dtype())));
}
Value storage_offset(Interpreter&, const Args& args) { return Value::integer(self_of(args).offset()); }
Value data_ptr(Interpreter&, const Args& args) {
  const Tensor& t = self_of(args);
  return Value::integer(t.device().is_meta() ? 0 : static_cast<int64_t>(reinterpret_cast<uintptr_t>(t.impl()->data)));
}
Value is_floating_point(Interpreter&, const Args& args) { return Value::boolean(is_floating(self_of(args).dtype())); }
Value is_complex_tensor(Interpreter&, const Args& args) { return Value::boolean(is_complex(self_of(args).dtype())); }
Value get_device(Interpreter&, const Args& args) {
  const Device d = self_of(args).device();
  return Value::integer(d.is_cpu() ? -1 : d.index);
}

// The whole run of memory that the tensor looks at, as a flat tensor: what scripts ask of a storage.
Value storage(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  if (TorchState& state = torch_state(in); !state.warned_of_storage) {
    state.warned_of_storage = true;  // once in a program, as PyTorch
    in_torch(in, args, [&] {
      Context::current().warn(
          "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This "
          "should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
          "tensor.untyped_storage() instead of tensor.storage()");
    });
  }
  const int64_t count = static_cast<int64_t>(t.storage().bytes() / item_size(t.dtype()));
  const int64_t one = 1;
  const Value flat = wrap_tensor(in, without_math_bits(detached_alias(t)).view_of({&count, 1}, {&one, 1}, -t.offset()));
  return call(in, get_attr(in, Value(static_cast<Object*>(in.import("torch.storage"))), intern(in, "TypedStorage")),
              {flat});
}

// The same as bytes.
Value untyped_storage(Interpreter& in, const Args& args) {
  return call(in, get_attr(in, Value(static_cast<Object*>(in.import("torch.storage"))), intern(in, "_untyped")),
              {args[0]});
}

// How pickle writes a tensor; the words are in the language, since they are names that other programs read.
Value reduce(Interpreter& in, const Args& args) {
  return call(in, get_attr(in, Value(static_cast<Object*>(in.import("torch._utils"))), intern(in, "_reduce_tensor")),
              {args[0]});
}

// Numbers ----------------------------------------------------------------------------------------------------------

// The one element of a tensor; of uint64 not all are int64 numbers.
Value number_of(Interpreter& in, const Tensor& t) {
  const Scalar number = t.item();
  return t.dtype() == DType::UInt64 ? whole_from_uint64(in, static_cast<uint64_t>(number.to_int()))
                                    : wrap_number(in, number);
}

// float(t), int(t): the same as item(), refused with other words.
Value as_number(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  return in_torch(in, args, [&] {
    check(t.numel() == 1, TensorErrorKind::Value, "only one element tensors can be converted to Python scalars");
    return number_of(in, t);
  });
}

Value item(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  return in_torch(in, args, [&] {
    check(t.numel() == 1, TensorErrorKind::Runtime, "a Tensor with ", t.numel(),
          " elements cannot be converted to Scalar");
    return number_of(in, t);
  });
}

Value tolist(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] { return tensor_to_list(in, self_of(args)); });
}

Value absolute(Interpreter& in, const Args& args) {
  return call_op_by_name(in, "abs", {args.values, 1, nullptr, nullptr});
}

/// A complex number without an imaginary part is a real one.
bool is_complex_tensor(const Args& args) { return is_complex(self_of(args).dtype()); }

void warn_of_scalar(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  if (!self_of(args).requires_grad() || !state.context.grad_enabled || state.warned_of_scalar) return;
  state.warned_of_scalar = true;  // once in a program, as PyTorch
  in_torch(in, args, [&] {
    Context::current().warn(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first.");
  });
}

Value as_float(Interpreter& in, const Args& args) {
  warn_of_scalar(in, args);
  const Value number = as_number(in, args);
  if (is_complex_tensor(args)) return Value::real(in_torch(in, args, [&] { return self_of(args).item().to_double(); }));
  return Value::real(to_float(in, number));
}

Value as_int(Interpreter& in, const Args& args) {
  const Value number = as_number(in, args);
  if (is_complex_tensor(args)) return Value::integer(in_torch(in, args, [&] { return self_of(args).item().to_int(); }));
  return call(in, Value(static_cast<Object*>(in.types.integer)), {number});
}

Value as_index(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  if (t.numel() != 1 || is_floating(t.dtype()))
    throw Error(ErrorKind::TypeError, "only integer tensors of a single element can be converted to an index");
  return Value::integer(in_torch(in, args, [&] { return t.item().to_int(); }));
}

Value as_bool(Interpreter& in, const Args& args) { return Value::boolean(truth(in, args[0])); }

// Conversions ------------------------------------------------------------------------------------------------------

const char* memory_format(Interpreter& in, const Value& v) {
  if (v.is_none()) return nullptr;
  if (!v.is_object() || v.as_object()->type != torch_state(in).memory_format)
    throw Error(ErrorKind::TypeError,
                "memory_format must be a torch.memory_format, not " + std::string(type_name(in, v)));
  return object_cast<TagObject>(v)->text;
}

Value is_contiguous(Interpreter& in, const Args& args) {
  const char* const format = args.count > 1 ? memory_format(in, args[1]) : nullptr;
  return Value::boolean(format ? tensor_lies_in(self_of(args), format) : self_of(args).is_contiguous());
}

Value converted(Interpreter& in, const Args& args, DType dtype, Device device, bool copy, const char* format = nullptr,
                bool wait = true) {
  return in_torch(in, args[0], [&] {
    const Tensor& self = self_of(args);
    Tensor result = format ? tensor_to(self, dtype, device, copy, format) : tensor_to(self, dtype, device, copy, wait);
    return result.same(self_of(args)) ? args[0] : wrap_tensor(in, std::move(result));
  });
}

[[noreturn]] void refuse_to(Interpreter& in, const Args& args) {
  throw Error(
      ErrorKind::TypeError,
      "to() received an invalid combination of arguments - got " +
          argument_types(in, args.values + 1, args.positional() - 1, args.keyword_names) +
          ", but expected one of:\n"
          " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False, *, "
          "torch.memory_format memory_format = None)\n"
          " * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = "
          "None)\n"
          " * (Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = "
          "None)\n");
}

// to(dtype), to(device), to(device, dtype), to(other), each also by keyword.
Value to(Interpreter& in, const Args& args) {
  return in_torch(in, args[0], [&]() -> Value {
    DType dtype = self_of(args).dtype();
    Device device = self_of(args).device();
    bool copy = false, wait = true;
    const char* format = nullptr;
    uint32_t flags = 0;  // positional non_blocking, then copy
    const uint32_t positional = args.positional();
    for (uint32_t i = 1; i < positional; ++i) {
      if (is_tensor(torch_state(in), args[i])) dtype = tensor_of(args[i]).dtype(), device = tensor_of(args[i]).device();
      else if (args[i].is_bool() && flags == 0) wait = !args[i].as_bool(), ++flags;
      else if (args[i].is_bool() && flags == 1) copy = args[i].as_bool(), ++flags;
      else if (!args[i].is_none() && !to_dtype(in, args[i], dtype) && !to_device(in, args[i], device))
        refuse_to(in, args);
    }
    for (uint32_t i = positional; i < args.count; ++i) {
      const std::string_view name = text_of(args.keyword_names->items[i - positional]);
      const bool none = args[i].is_none();
      if (name == "dtype" && (none || to_dtype(in, args[i], dtype))) continue;
      if (name == "device" && (none || to_device(in, args[i], device))) continue;
      if (name == "copy") copy = truth(in, args[i]);
      else if (name == "other" || name == "tensor") dtype = expect_tensor(in, args[i], "other").dtype();
      else if (name == "memory_format") format = memory_format(in, args[i]);
      else if (name == "non_blocking") wait = !truth(in, args[i]);
      else refuse_to(in, args);
    }
    return converted(in, args, dtype, device, copy, format, wait);
  });
}

// What PyTorch's parser of arguments says of one that is none of the type that it wants.
[[noreturn]] void refuse_argument(Interpreter& in, const std::string& argument, const char* wanted, const Value& v) {
  throw Error(ErrorKind::TypeError, argument + " must be " + wanted + ", not " + std::string(type_name(in, v)));
}

// memory_format= of cpu() and cuda().
const char* format_argument(Interpreter& in, const Args& args, const char* method, uint32_t i) {
  if (args.count <= i || args[i].is_none()) return nullptr;
  if (!args[i].is_object() || args[i].as_object()->type != torch_state(in).memory_format)
    refuse_argument(in, std::string(method) + "(): argument 'memory_format'", "torch.memory_format", args[i]);
  return memory_format(in, args[i]);
}

Value cpu(Interpreter& in, const Args& args) {
  return converted(in, args, self_of(args).dtype(), kCpu, false, format_argument(in, args, "cpu", 1));
}

Value cuda(Interpreter& in, const Args& args) {
  Device device(DeviceType::Cuda);
  if (args.count > 1 && !args[1].is_none()) {
    const bool known = in_torch(in, args, [&] { return to_device(in, args[1], device); });
    if (!known) refuse_argument(in, "cuda(): argument 'device' (position 1)", "torch.device", args[1]);
    if (!device.is_cuda()) throw Error(ErrorKind::RuntimeError, "Invalid device, must be cuda device");
  }
  if (args.count > 2 && !args[2].is_bool()) refuse_argument(in, "cuda(): argument 'non_blocking'", "bool", args[2]);
  const bool wait = args.count <= 2 || !args[2].as_bool();
  const char* const format = format_argument(in, args, "cuda", 3);
  return converted(in, args, self_of(args).dtype(), device, false, format, wait);
}

Value type_as(Interpreter& in, const Args& args) {
  const Tensor& other = expect_tensor(in, args[1], "type_as(): argument 'other' (position 1)");
  return converted(in, args, other.dtype(), other.device(), false);
}

// type() names the tensor's type, type(dtype) converts. "torch.FloatTensor" is PyTorch's older name of a dtype.
Value type(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  if (args[1].is_none())
    return make_str(
        in, (t.device().is_cpu() ? std::string("torch.") : std::string("torch.") + name(t.device().type) + ".") +
                scalar_type_name(t.dtype()) + "Tensor");
  DType dtype;
  if (to_dtype(in, args[1], dtype)) return converted(in, args, dtype, t.device(), false);
  // The functions of those names stand for their types too: t.type(torch.LongTensor).
  const Value function_name = is_str(args[1]) ? Value() : find_attr(in, args[1], intern(in, "__name__"));
  const std::string wanted = is_str(args[1])         ? std::string(text_of(args[1]))
                             : is_str(function_name) ? "torch." + std::string(text_of(function_name))
                                                     : str_text(in, args[1]);
  for (int i = 0; i < kDTypeCount; ++i) {
    const std::string old_name = std::string("torch.") + scalar_type_name(static_cast<DType>(i)) + "Tensor";
    if (wanted == old_name) return converted(in, args, static_cast<DType>(i), t.device(), false);
  }
  throw Error(ErrorKind::ValueError, "invalid type: '" + wanted + "'");
}

Value numpy(Interpreter& in, const Args& args) {
  const Tensor& given = self_of(args);
  const bool force = truth(in, args[1]);
  const Tensor t = force && !given.device().is_cpu()
                       ? in_torch(in, args, [&] { return tensor_to(detached(given), given.dtype(), kCpu, false); })
                       : given;
  if (!t.device().is_cpu())
    throw Error(ErrorKind::TypeError, "can't convert " + t.device().str() +
                                          " device type tensor to numpy. Use Tensor.cpu() to "
                                          "copy the tensor to host memory first.");
  if (t.requires_grad() && !force)
    rethrow(in,
            TensorError(TensorErrorKind::Runtime,
                        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."),
            std::span<const Value>(args.values, 1));
  if (t.has_math_bits() && !force)
    throw Error(ErrorKind::RuntimeError, std::string("Can't call numpy() on Tensor that has ") +
                                             (t.is_conj() ? "conjugate bit set. Use tensor.resolve_conj()"
                                                          : "negative bit set. Use tensor.resolve_neg()") +
                                             ".numpy() instead.");
  if (t.dtype() == kBFloat16) throw Error(ErrorKind::TypeError, "Got unsupported ScalarType BFloat16");
  const Value array = get_attr(in, Value(static_cast<Object*>(in.import("numpy"))), intern(in, "ndarray"));
  return call(in, array, {wrap_tensor(in, detached_alias(resolved(t)))});
}

// Autograd ---------------------------------------------------------------------------------------------------------

Value backward_from(Interpreter& in, const Args& args) {
  if (args[1].is_none() && args[4].is_none()) {  // as every training step calls it
    in_torch(in, args, [&] {
      const bool create = truth(in, args[3]);
      backward({self_of(args)}, {}, args[2].is_none() ? create : truth(in, args[2]), create);
    });
    return Value::none();
  }
  const Value autograd = Value(static_cast<Object*>(in.import("torch.autograd")));
  return call(in, get_attr(in, autograd, intern(in, "backward")),
              {args[0], args[1], args[2], args[3], Value::none(), args[4]});
}

Value detach(Interpreter& in, const Args& args) { return wrap_tensor(in, detached(self_of(args))); }

Value detach_inplace(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] { detach_(self_of(args)); });
  return args[0];
}

Value requires_grad_inplace(Interpreter& in, const Args& args) {
  if (!args[1].is_bool())
    throw Error(ErrorKind::TypeError,
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not " + given_type(in, args[1]));
  if (args[1].as_bool() && !is_differentiable(self_of(args).dtype()))
    throw Error(ErrorKind::RuntimeError, "only Tensors of floating point dtype can require gradients");
  in_torch(in, args, [&] { set_requires_grad(self_of(args), args[1].as_bool()); });
  return args[0];
}

Value retain_grad_method(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] { retain_grad(self_of(args)); });
  return Value::none();
}

// The hook keeps the script's function alive as long as the tensor; it runs while backward() does.
Value register_hook(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  if (!t.requires_grad())
    throw Error(ErrorKind::RuntimeError, "cannot register a hook on a tensor that doesn't require gradient");
  const uint64_t id = add_hook(t, ScriptHook{&in, args[1]});
  track_tensor(in, args[0]);
  const Value script(static_cast<Object*>(in.import("torch._script")));
  return call(in, get_attr(in, script, intern(in, "_TensorHookHandle")),
              {args[0], Value::integer(static_cast<int64_t>(id))});
}

Value register_leaf_hook(Interpreter& in, const Args& args) {
  const Value reference = get_attr(in, Value(static_cast<Object*>(in.import("_weakref"))), intern(in, "ReferenceType"));
  const Value leaf = call(in, reference, {args[0]});
  const uint64_t id = in_torch(in, args, [&] {
    return add_accumulated_hook(self_of(args), ScriptLeafHook{&in, args[1], leaf});
  });
  track_tensor(in, args[0]);
  const Value script(static_cast<Object*>(in.import("torch._script")));
  return call(in, get_attr(in, script, intern(in, "_TensorHookHandle")),
              {args[0], Value::integer(static_cast<int64_t>(id))});
}

Value is_inference(Interpreter&, const Args& args) {
  return Value::boolean(self_of(args).impl()->flags & TensorImpl::kInference);
}

Value remove_tensor_hook(Interpreter&, const Args& args) {
  remove_hook(self_of(args), static_cast<uint64_t>(args[1].as_int()));
  return Value::none();
}

// Relatives --------------------------------------------------------------------------------------------------------

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

Value is_same_size(Interpreter& in, const Args& args) {
  return Value::boolean(self_of(args).sizes() == expect_tensor(in, args[1], "other").sizes());
}

Value itself(Interpreter&, const Args& args) { return args[0]; }

Value pin(Interpreter& in, const Args& args) {
  return in_torch(in, args[0], [&] {
    Tensor result = pin_memory(self_of(args));
    return result.same(self_of(args)) ? args[0] : wrap_tensor(in, std::move(result));
  });
}
Value pinned(Interpreter& in, const Args& args) {
  return in_torch(in, args[0], [&] { return Value::boolean(is_pinned(self_of(args))); });
}

Value reversed(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  if (t.dim() == 0) return args[0];
  const Value operands[] = {args[0], make_tuple(in, {Value::integer(0)})};
  return call_op_by_name(in, "flip", {operands, 2, nullptr, nullptr});
}

Value inverted(Interpreter& in, const Args& args) { return unary(in, UnaryOp::Invert, args[0]); }

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
    object->tensor = detached_alias(from);
    set_requires_grad(object->tensor, truth(in, args[2]));
  });
  return result;
}

Value deep_copy(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const Tensor& t = self_of(args);
    if (!is_leaf(t))
      throw Error(
          ErrorKind::RuntimeError,
          "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If "
          "you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
          "https://github.com/pytorch/pytorch/pull/103001");
    Tensor copy = tensor_to(detached(t), t.dtype(), t.device(), true);
    if (t.requires_grad()) set_requires_grad(copy, true);
    return wrap_tensor(in, std::move(copy));
  });
}

// Methods without arguments. They take their arguments raw: TensorBase, PyTorch's name for what these belong to, is no
// class here.
const NativeDef kPlainMethods[] = {
    {"dim", dim, "The number of dimensions."},
    {"ndimension", dim, "The number of dimensions."},
    {"numel", numel, "The number of elements."},
    {"nelement", numel, "The number of elements."},
    {"element_size", element_size, "Bytes of an element."},
    {"storage_offset", storage_offset, "Where the first element stands in the storage, in elements."},
    {"data_ptr", data_ptr, "The address of the first element."},
    {"const_data_ptr", data_ptr, "The address of the first element."},
    {"is_floating_point", is_floating_point, "Whether the elements are floating-point numbers."},
    {"is_complex", is_complex_tensor, "Whether the elements are complex numbers."},
    {"get_device", get_device, "The device's index, -1 for the CPU."},
    {"item", item, "The one element as a number."},
    {"tolist", tolist, "The elements as nested lists."},
    {"__abs__", absolute},
    {"__float__", as_float},
    {"__int__", as_int},
    {"__index__", as_index},
    {"__bool__", as_bool},
    {"detach", detach, "The same elements, outside of autograd."},
    {"detach_", detach_inplace, "Takes this tensor out of autograd."},
    {"retain_grad", retain_grad_method, "Keeps .grad although this is no leaf."},
};

// Methods that are functions of torch written in the language.
const char* const kScriptMethods[] = {"__dlpack__",     "__dlpack_device__", "apply_",     "dense_dim", "dim_order",
                                      "histogram",      "is_nonzero",        "is_shared",  "is_signed", "map_",
                                      "nonzero_static", "record_stream",     "sparse_dim", "to_dense",  "to_sparse"};

Value call_script(Interpreter& in, const Args& args) {
  const Value module(static_cast<Object*>(in.import("torch._rarely")));
  return call(in, get_attr(in, module, args.callee->name), args);
}

[[noreturn]] void refuse_plain(const Args& args) {
  const std::string method = "TensorBase." + std::string(args.callee->name->view()) + "() takes no ";
  const bool keywords = args.keyword_names != nullptr && args.keyword_names->size != 0;
  throw Error(ErrorKind::TypeError,
              method + (keywords ? "keyword arguments" : "arguments (" + std::to_string(args.count - 1) + " given)"));
}

Value call_plain(Interpreter& in, const Args& args) {
  if (args.count != 1) refuse_plain(args);
  return static_cast<const NativeDef*>(args.callee->data)->function(in, args);
}

const NativeDef kMethods[] = {
    {"size(self, dim=None)", size, "The sizes, or one of them."},
    {"stride(self, dim=None)", stride, "How many elements to the next one along each dimension."},
    {"storage(self)", storage, "The memory that the tensor looks at."},
    {"untyped_storage(self)", untyped_storage, "The memory that the tensor looks at."},
    {"is_contiguous(self, *, memory_format=None)", is_contiguous, "Whether the elements lie row by row without gaps."},
    {"__reversed__(self)", reversed},
    {"__invert__(self)", inverted},
    {"cpu(self, *, memory_format=None)", cpu, "The tensor on the CPU."},
    {"cuda(self, device=None, non_blocking=False, *, memory_format=None)", cuda, "The tensor on a CUDA device."},
    {"type_as(self, other)", type_as, "The tensor with the dtype of another."},
    {"type(self, dtype=None, non_blocking=False)", type, "The type's name, or the tensor with another dtype."},
    {"numpy(self, *, force=False)", numpy, "A numpy array that shares the memory."},
    {"backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None)", backward_from,
     "Gathers gradients in the leaves that this tensor was computed from."},
    {"requires_grad_(self, requires_grad=True)", requires_grad_inplace, "Sets whether gradients flow to it."},
    {"register_hook(self, hook: callable)", register_hook, "Calls the hook with the gradient when it is computed."},
    {"register_post_accumulate_grad_hook(self, hook: callable)", register_leaf_hook,
     "Calls the hook with the leaf after .grad has taken up a gradient."},
    {"is_inference(self)", is_inference, "Whether it was made in inference mode."},
    {"_remove_hook(self, id: int)", remove_tensor_hook},
    {"new_tensor(self, data, dtype=None, device=None, requires_grad=False)", new_tensor,
     "A tensor of data with this dtype."},
    {"is_same_size(self, other)", is_same_size, "Whether the sizes are equal."},
    {"pin_memory(self, device=None)", pin, "The tensor in memory that a device copies from on its own."},
    {"is_pinned(self, device=None)", pinned, "Whether it lies in such memory."},
    {"share_memory_(self)", itself, "The tensor: memory is shared by threads anyway."},
    {"__deepcopy__(self, memo)", deep_copy},
    {"__reduce_ex__(self, protocol)", reduce, "What pickle writes."},
};

Value make_tensor(Interpreter& in, Type*, const Args& args) {
  return in_torch(in, args, [&] { return legacy_tensor(in, args, 0, Value::none(), kCpu); });
}

}  // namespace

void add_tensor_methods(Interpreter& in, TorchState& state) {
  Type* type = state.tensor;
  const Namespace& methods = tensor_namespace();
  for (const std::string& name : names_in_namespace(methods))
    dict_set_str(in, type->attributes(), intern(in, name), find_in_namespace(in, methods, name));
  in.add_methods(type, kMethods, std::size(kMethods));
  const auto add_own = [&](const Value& method) {
    auto* const native = object_cast<NativeFunction>(method);
    own_method(in, native, type);
    dict_set_str(in, type->attributes(), native->name, method);
  };
  for (const NativeDef& row : kPlainMethods) {
    add_own(in.new_function(row.signature, row.doc, call_plain, const_cast<NativeDef*>(&row)));
  }
  for (const char* name : kScriptMethods) add_own(in.new_function(name, "", call_script));
  add_own(in.new_function("to", "The tensor with another dtype or on another device.", to));
  add_own(in.new_function("new", "A tensor of this dtype: of sizes, or of a sequence's values.", new_of_old));
  dict_set_str(
      in, type->attributes(), intern(in, "_make_subclass"),
      make_static_method(in, in.new_function("_make_subclass(cls, data, requires_grad=False)", "", make_subclass)));
  // The names that division had.
  for (const auto& [old, name] : {std::pair("__div__", "__truediv__"), std::pair("__rdiv__", "__rtruediv__"),
                                  std::pair("__idiv__", "__itruediv__")})
    dict_set_str(in, type->attributes(), intern(in, old),
                 get_attr(in, Value(static_cast<Object*>(type)), intern(in, name)));
  type_changed(in, type);  // what was looked up in vain on the way here must be looked up again
}

void make_tensor_type(Interpreter& in, TorchState& state) {
  state.tensor = in.new_type({.name = "Tensor",
                              .module = "torch",
                              .size = sizeof(TensorObject),
                              .doc = "An array of numbers of one type, with any number of dimensions."});
  state.tensor->make = make_tensor;
  fill_tensor_slots(state);
  show_parameters(in);
  state.tensor->fill_later([](Interpreter& i, Type* type) {
    slot_methods(i, type);
    operator_methods(i, type, ~(1u << static_cast<int>(BinaryOp::DivMod)));
    add_tensor_attributes(i, torch_state(i));
    add_tensor_methods(i, torch_state(i));
  });
}

}  // namespace tessera::stdlib
