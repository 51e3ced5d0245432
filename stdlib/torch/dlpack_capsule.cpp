// PyCapsule objects that hold a managed tensor, and the functions of torch._C that fill and empty them.
//
// A capsule owns what it holds until a tensor is made of it, which is once: then it is empty, and its name says `used_`.
// Whichever has it last calls the deleter.
// compile: small (runs once for a tensor that is handed over)
#include "stdlib/torch/dlpack_capsule.h"

#include <algorithm>
#include <cstdio>

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/own_type.h"
#include "lang/types/tuple.h"
#include "runtime/autograd/engine.h"
#include "runtime/dlpack.h"
#include "stdlib/python/native/support.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/to.h"

namespace tessera::stdlib {
namespace {

constexpr char kCapsuleLayout[] = "PyCapsule";
constexpr uint64_t kReadOnly = 1, kIsCopy = 2;  // flags of a versioned tensor

struct Capsule : Object {
  DLManagedTensor* plain = nullptr;  // one of the two, until it is used
  DLManagedTensorVersioned* versioned = nullptr;
  bool is_versioned = false;

  bool used() const { return plain == nullptr && versioned == nullptr; }
};

template <class Managed>
void let_go(Managed* managed) {
  if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
}

void destroy_capsule(Interpreter& in, Object* self) {
  auto* const capsule = known_cast<Capsule>(self);
  let_go(capsule->plain);
  let_go(capsule->versioned);
  free_object(in, capsule);
}

Value capsule_repr(Interpreter& in, const Value& self) {
  const auto* const capsule = object_cast<Capsule>(self);
  char text[96];
  std::snprintf(text, sizeof text, "<capsule object \"%sdltensor%s\" at %p>", capsule->used() ? "used_" : "",
                capsule->is_versioned ? "_versioned" : "", static_cast<const void*>(capsule));
  return make_str(in, text);
}

Type* make_capsule_type(Interpreter& in) {
  Type* const type = in.new_type({.name = "PyCapsule",
                                  .module = "builtins",
                                  .size = sizeof(Capsule),
                                  .flags = kFinalType,
                                  .doc = "A tensor in the form that libraries hand each other, to be taken once."});
  type->slots.layout = kCapsuleLayout;
  type->slots.destroy = destroy_capsule;
  type->slots.repr = capsule_repr;
  return type;
}

[[noreturn]] void buffer_error(std::string message) { throw Error(ErrorKind::BufferError, std::move(message)); }

// (type, number); both are looked at before anything is done with them.
Device device_of_pair(Interpreter& in, const Value& pair) {
  if (!is_tuple(pair))
    throw Error(ErrorKind::TypeError,
                "_to_dlpack(): argument 'dl_device' must be tuple of ints, not " + std::string(type_name(in, pair)));
  const Tuple* const items = as_tuple(pair);
  if (items->size != 2) throw Error(ErrorKind::RuntimeError, "dl_device must be either None or a tuple of ints");
  const int64_t kind = index(in, items->items[0]), number = index(in, items->items[1]);
  const std::optional<DeviceType> type = tensor::type_of_dlpack(kind);
  if (!type) buffer_error("Unsupported device_type: " + std::to_string(kind));
  return *type == DeviceType::Cpu ? kCpu : Device(*type, static_cast<decltype(Device::index)>(number));
}

// What is shared: t itself, or a copy where one is asked for or another device.
Tensor to_be_shared(Interpreter& in, const Tensor& t, const Value& dl_device, const Value& copy) {
  const bool never = copy.is_bool() && !copy.as_bool(), always = copy.is_bool() && copy.as_bool();
  if (!dl_device.is_none()) {
    const Device wanted = device_of_pair(in, dl_device);
    if (wanted != t.device()) {
      if (never)
        throw Error(ErrorKind::ValueError, "cannot move (i.e. copy=False) tensor from " + t.device().str() + " to " +
                                               wanted.str() + " without copying.");
      return tensor_to(t, t.dtype(), wanted, true);
    }
  }
  return always ? tensor_to(t, t.dtype(), t.device(), true) : t;
}

// An empty capsule, so that nothing that is shared can get lost.
Capsule* new_capsule(Interpreter& in, bool versioned) {
  const Value type = get_attr(in, Value(static_cast<Object*>(in.import("torch._C"))), intern(in, "PyCapsule"));
  auto* const capsule = make_object<Capsule>(in, own_type(type, kCapsuleLayout, "torch._C.PyCapsule"));
  capsule->is_versioned = versioned;
  return capsule;
}

Value to_capsule(Interpreter& in, const Args& args, bool versioned, bool read_only) {
  if (!is_tensor(torch_state(in), args[0]))
    throw Error(ErrorKind::TypeError, "_to_dlpack(): argument 'data' (position 1) must be Tensor, not " +
                                          std::string(type_name(in, args[0])));
  return in_torch(in, args, [&] {
    const Tensor& t = tensor_of(args[0]);
    if (tensor::dlpack_type(t.device().type) == 0) buffer_error("Cannot pack tensors on " + t.device().str());
    if (t.has_math_bits()) buffer_error("Can't export tensors with the conjugate bit set");
    const Tensor shared = to_be_shared(in, detached_alias(t), args[1], args[2]);
    Capsule* const capsule = new_capsule(in, versioned);
    Value made = Value::adopt(capsule);
    if (!versioned) {
      capsule->plain = to_dlpack(shared);
    } else {
      capsule->versioned = to_dlpack_versioned(shared);
      capsule->versioned->flags = (read_only ? kReadOnly : 0) | (shared.data_ptr() != t.data_ptr() ? kIsCopy : 0);
    }
    return made;
  });
}

Value to_plain_capsule(Interpreter& in, const Args& args) { return to_capsule(in, args, false, false); }
Value to_versioned_capsule(Interpreter& in, const Args& args) { return to_capsule(in, args, true, truth(in, args[3])); }

Value from_capsule(Interpreter& in, const Args& args) {
  auto* const capsule = has_layout(args[0], kCapsuleLayout) ? object_cast<Capsule>(args[0]) : nullptr;
  if (capsule == nullptr || capsule->used())
    throw Error(
        ErrorKind::RuntimeError,
        "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
        "might have already constructed a tensor from it once.");
  return in_torch(in, std::span<const Value>(), [&] {
    Tensor taken = capsule->is_versioned ? from_dlpack(capsule->versioned) : from_dlpack(capsule->plain);
    capsule->plain = nullptr;  // the tensor has it now
    capsule->versioned = nullptr;
    return wrap_tensor(in, std::move(taken));
  });
}

// (type, number) of a device as DLPack counts them.
Value device_pair(Interpreter& in, const Args& args) {
  Device device;
  if (!to_device(in, args[0], device)) throw Error(ErrorKind::TypeError, "a device is needed");
  const int64_t type = tensor::dlpack_type(device.type);
  if (type == 0) buffer_error("Cannot pack tensors on " + device.str());
  return make_tuple(in, {Value::integer(type), Value::integer(std::max<int64_t>(device.index, 0))});
}

}  // namespace

void add_dlpack_functions(Interpreter& in, Module& module) {
  set_member(in, module, "PyCapsule", Value(make_capsule_type(in)));
  const struct {
    const char* signature;
    NativeFn function;
  } rows[] = {
      {"_to_dlpack(data, *, dl_device=None, copy=None)", to_plain_capsule},
      {"_to_dlpack_versioned(data, *, dl_device=None, copy=None, read_only=False)", to_versioned_capsule},
      {"_from_dlpack(capsule, /)", from_capsule},
      {"_torchDeviceToDLDevice(device, /)", device_pair},
  };
  for (const auto& row : rows) in.def(module, row.signature, "", row.function);
}

}  // namespace tessera::stdlib
