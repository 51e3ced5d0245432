// Methods that give a tensor with another dtype, on another device, or as an array of numpy.
// compile: small (tolist and item of objects apart, conversions are rare)
#include "stdlib/torch/tensor_methods.h"

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/math_bits.h"
#include "stdlib/torch/call_refusal.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/dispatch.h"
#include "stdlib/torch/profiler_events.h"
#include "stdlib/torch/to.h"

namespace tessera::stdlib {
namespace {

Value converted(Interpreter& in, const Args& args, DType dtype, Device device, bool copy, const char* format = nullptr,
                bool wait = true) {
  const NotedCall noted(in, "to", args);
  if ((torch_state(in).modes & kDispatches) != 0) [[unlikely]] {
    const Value given[] = {args[0], torch_state(in).dtypes[static_cast<int>(dtype)],
                           wrap_device(in, device == self_of(args).device() ? shown_device(torch_state(in), self_of(args)) : device),
                           Value::boolean(copy), format == nullptr ? Value::none() : make_str(in, format)};
    if (auto answer = dispatch_at_door(in, "to", Args{given, 5})) return *std::move(answer);
  }
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
      if (is_tensor(torch_state(in), args[i])) dtype = tensor_of(args[i]).dtype(), device = shown_device(torch_state(in), tensor_of(args[i]));
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
      else if (name == "memory_format") format = memory_format_name(in, args[i]);
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
  return memory_format_name(in, args[i]);
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
  return converted(in, args, other.dtype(), shown_device(torch_state(in), other), false);
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
  if (facts(t.dtype()).numpy == 0)
    throw Error(ErrorKind::TypeError, std::string("Got unsupported ScalarType ") + scalar_type_name(t.dtype()));
  const Value array = get_attr(in, Value(static_cast<Object*>(in.import("numpy"))), intern(in, "ndarray"));
  return call(in, array, {wrap_tensor(in, detached_alias(resolved(t)))});
}

constexpr NativeDef kMethods[] = {
    {"cpu(self, *, memory_format=None)", cpu, "The tensor on the CPU."},
    {"cuda(self, device=None, non_blocking=False, *, memory_format=None)", cuda, "The tensor on a CUDA device."},
    {"type_as(self, other)", type_as, "The tensor with the dtype of another."},
    {"type(self, dtype=None, non_blocking=False)", type, "The type's name, or the tensor with another dtype."},
    {"numpy(self, *, force=False)", numpy, "A numpy array that shares the memory."},
    {"to", to, "The tensor with another dtype or on another device."},
};

}  // namespace

const char* memory_format_name(Interpreter& in, const Value& v) {
  if (v.is_none()) return nullptr;
  if (!v.is_object() || v.as_object()->type != torch_state(in).memory_format)
    throw Error(ErrorKind::TypeError,
                "memory_format must be a torch.memory_format, not " + std::string(type_name(in, v)));
  return object_cast<TagObject>(v)->text;
}

MethodTables conversion_methods() { return {{}, kMethods}; }

}  // namespace tessera::stdlib
