// torch.dtype, torch.device, torch.Size, torch.Generator and the tags torch.strided, torch.contiguous_format ….
// compile: small (seldom in an inner loop)
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/types/range.h"
#include "runtime/device/backend.h"
#include "runtime/ops/random_draws.h"
#include "stdlib/torch/torch_module.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/tensor_type.h"

namespace tessera::stdlib {
namespace {

template <class T>
void destroy(Interpreter& in, Object* self) {
  free_object(in, known_cast<T>(self));
}

int64_t identity_hash(Interpreter&, const Value& self) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(self.as_object()) >> 4);
}

// dtype ------------------------------------------------------------------------------------------------------------

DType dtype_of(const Value& v) { return object_cast<DTypeObject>(v)->dtype; }

Value dtype_repr(Interpreter& in, const Value& self) {
  return make_str(in, std::string("torch.") + name(dtype_of(self)));
}

Value dtype_is_floating(Interpreter&, const Args& args) { return Value::boolean(is_floating(dtype_of(args[0]))); }
Value dtype_is_complex(Interpreter&, const Args& args) { return Value::boolean(is_complex(dtype_of(args[0]))); }
Value dtype_is_signed(Interpreter&, const Args& args) {
  const DType dtype = dtype_of(args[0]);
  const auto of_class = facts(dtype).of_class;
  if (of_class == tensor::DTypeClass::Bits) throw Error(ErrorKind::RuntimeError, "Bits types are undefined");
  if (of_class == tensor::DTypeClass::Quantized)
    throw Error(ErrorKind::RuntimeError, "isSignedType not supported for quantized types");
  return Value::boolean(is_signed(dtype));
}
Value dtype_itemsize(Interpreter&, const Args& args) {
  return Value::integer(static_cast<int64_t>(item_size(dtype_of(args[0]))));
}

// To pickle a dtype is its name in torch.
Value dtype_reduce(Interpreter& in, const Args& args) { return make_str(in, name(dtype_of(args[0]))); }

Value dtype_to_real(Interpreter& in, const Args& args) {
  return torch_state(in).dtypes[static_cast<int>(real_type(dtype_of(args[0])))];
}
Value dtype_to_complex(Interpreter& in, const Args& args) {
  const DType type = dtype_of(args[0]);
  const DType made = is_complex(type) ? type : complex_of_parts(type);
  if (!is_complex(made))
    throw Error(ErrorKind::RuntimeError, std::string("Unknown Complex ScalarType for ") + scalar_type_name(type));
  return torch_state(in).dtypes[static_cast<int>(made)];
}

const NativeDef kDTypeMethods[] = {
    {"__reduce__(self)", dtype_reduce},
    {"to_real(self)", dtype_to_real, "The type of the parts of complex numbers; of others itself."},
    {"to_complex(self)", dtype_to_complex, "The complex type whose parts it suits."}};

void make_dtypes(Interpreter& in, TorchState& state) {
  state.dtype = in.new_type({.name = "dtype", .module = "torch", .size = sizeof(DTypeObject), .flags = kFinalType});
  state.dtype->slots.destroy = destroy<DTypeObject>;
  state.dtype->slots.repr = dtype_repr;
  state.dtype->slots.hash = identity_hash;
  state.dtype->fill_later([](Interpreter& i, Type* type) {
    i.add_methods(type, kDTypeMethods, std::size(kDTypeMethods));
    i.add_property(type, "is_floating_point", dtype_is_floating);
    i.add_property(type, "is_complex", dtype_is_complex);
    i.add_property(type, "is_signed", dtype_is_signed);
    i.add_property(type, "itemsize", dtype_itemsize);
  });
  for (int i = 0; i < kDTypeCount; ++i) {
    auto* object = make_object<DTypeObject>(in, state.dtype);
    object->dtype = static_cast<DType>(i);
    state.dtypes[i] = Value::adopt(object);
  }
}

// device -----------------------------------------------------------------------------------------------------------

Device device_of(const Value& v) { return object_cast<DeviceObject>(v)->device; }

Value device_repr(Interpreter& in, const Value& self) {
  const Device d = device_of(self);
  std::string text = std::string("device(type='") + name(d.type) + "'";
  if (d.index >= 0) text += ", index=" + std::to_string(d.index);
  return make_str(in, text + ")");
}

Value device_str(Interpreter& in, const Value& self) { return make_str(in, device_of(self).str()); }

Value device_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if ((op != CompareOp::Eq && op != CompareOp::Ne) || !other.is_object() ||
      other.as_object()->type != torch_state(in).device)
    return in.not_implemented;
  return Value::boolean((device_of(self) == device_of(other)) == (op == CompareOp::Eq));
}

int64_t device_hash(Interpreter&, const Value& self) {
  return static_cast<int64_t>(device_of(self).type) * 131 + device_of(self).index;
}

Value device_type_name(Interpreter& in, const Args& args) { return make_str(in, name(device_of(args[0]).type)); }
Value device_index(Interpreter&, const Args& args) {
  const int8_t index = device_of(args[0]).index;
  return index < 0 ? Value::none() : Value::integer(index);
}

Value make_device(Interpreter& in, Type*, const Args& args) {
  return in_torch(in, args, [&] {
    Device device;
    if (args.count == 0 || !to_device(in, args[0], device))
      throw Error(ErrorKind::TypeError, "device(): argument 'type' (position 1) must be str, not " +
                                            (args.count == 0 ? "NoneType" : std::string(type_name(in, args[0]))));
    if (args.count > 1) device.index = static_cast<int8_t>(index(in, args[1]));
    return wrap_device(in, device);
  });
}

Value device_reduce(Interpreter& in, const Args& args) {
  const Device d = device_of(args[0]);
  const Value type = make_str(in, name(d.type));
  return make_tuple(in, {Value(torch_state(in).device),
                         d.index < 0 ? make_tuple(in, {type}) : make_tuple(in, {type, Value::integer(d.index)})});
}

// with torch.device(...): new tensors are made there.
Value device_enter(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  state.outer_devices.push_back(state.context.default_device);
  state.context.default_device = device_of(args[0]);
  return args[0];
}

Value device_exit(Interpreter& in, const Args&) {
  TorchState& state = torch_state(in);
  if (state.outer_devices.empty()) throw Error(ErrorKind::RuntimeError, "this device was not entered");
  state.context.default_device = state.outer_devices.back();
  state.outer_devices.pop_back();
  return Value::none();
}

const NativeDef kDeviceMethods[] = {
    {"__reduce__(self)", device_reduce}, {"__enter__(self)", device_enter}, {"__exit__(self, *exc)", device_exit}};

// Size -------------------------------------------------------------------------------------------------------------

Value as_size(Interpreter& in, const Value& tuple) {
  Tuple* from = as_tuple(tuple);
  Tuple* size = new_tuple(in, from->size, torch_state(in).size);
  for (uint32_t i = 0; i < from->size; ++i) size->items[i] = from->items[i];
  return Value::adopt(size);
}

Value size_repr(Interpreter& in, const Value& self) {
  std::string text = "torch.Size([";
  const Tuple* tuple = as_tuple(self);
  for (uint32_t i = 0; i < tuple->size; ++i) text += (i > 0 ? ", " : "") + repr_text(in, tuple->items[i]);
  return make_str(in, text + "])");
}

Value size_get_item(Interpreter& in, const Value& self, const Value& key) {
  const Value item = in.types.tuple->slots.get_item(in, self, key);
  return is_slice(key) ? as_size(in, item) : item;
}

Value size_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t dying) {
  const Value result = in.types.tuple->slots.binary(in, op, self, other, reflected, dying);
  return is_tuple(result) ? as_size(in, result) : result;
}

Value size_numel(Interpreter& in, const Args& args) {
  int64_t n = 1;
  for (const Value& item : *as_tuple(args[0])) n *= index(in, item);
  return Value::integer(n);
}

Value make_size(Interpreter& in, Type*, const Args& args) {
  const Value items = args.count == 0 ? make_tuple(in, {}) : tuple_from(in, args[0]);
  uint32_t place = 0;
  for (const Value& item : *as_tuple(items)) {
    if (!item.is_int() && !(item.is_object() && item.as_object()->type == torch_state(in).tensor))
      throw Error(ErrorKind::TypeError, "torch.Size() takes an iterable of 'int' (item " + std::to_string(place) +
                                            " is '" + std::string(type_name(in, item)) + "')");
    ++place;
  }
  return as_size(in, items);
}

// Generator --------------------------------------------------------------------------------------------------------

Generator& generator_of(const Value& v) {
  return static_cast<Generator&>(*object_cast<GeneratorObject>(v)->generator);
}

// What a generator of a device is: one that counts a place there, or the host's under the device's name.
CountedPtr<Generator> new_generator(Device device) {
  if (device.is_cpu()) return make_counted<Generator>();
  CountedPtr<DeviceGenerator> place;
  if (!draws_on_host()) place = make_counted<DeviceGenerator>();
  return make_counted<Generator>(device, std::move(place));
}

Value make_generator(Interpreter& in, Type* type, const Args& args) {
  Device device;
  if (args.count > 0 && !args[0].is_none()) {
    in_torch(in, args, [&] {
      if (!to_device(in, args[0], device))
        throw Error(ErrorKind::TypeError, "Generator(): argument 'device' (position 1) must be torch.device, not " +
                                              std::string(type_name(in, args[0])));
      if (device.type == tensor::accelerator()) device = resolve_device(device);
    });
    if (!device.is_cpu() && !tensor::has_generators(device))
      throw Error(ErrorKind::RuntimeError,
                  std::string("Device type ") + name(device.type) + " has no generator of its own");
  }
  auto* object = make_object<GeneratorObject>(in, type);
  object->generator = new_generator(device);
  return Value::adopt(object);
}

Value generator_manual_seed(Interpreter& in, const Args& args) {
  if (!args[1].is_int() && !args[1].is_bool())
    throw Error(ErrorKind::RuntimeError, "manual_seed expected a long, but got " + std::string(type_name(in, args[1])));
  generator_of(args[0]).manual_seed(static_cast<uint64_t>(index(in, args[1])));
  return args[0];
}

Value generator_initial_seed(Interpreter&, const Args& args) {
  return Value::integer(static_cast<int64_t>(generator_of(args[0]).initial_seed()));
}

Value generator_seed(Interpreter& in, const Args& args) { return Value::integer(seed_anew(in, generator_of(args[0]))); }

Value generator_get_state(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const std::vector<uint8_t> bytes = generator_of(args[0]).state();
    return wrap_tensor(in, Tensor::from_values(bytes, {static_cast<int64_t>(bytes.size())}));
  });
}

Value generator_set_state(Interpreter& in, const Args& args) {
  if (!is_tensor(torch_state(in), args[1]))
    throw Error(ErrorKind::TypeError, "expected a torch.ByteTensor, but got " + std::string(type_name(in, args[1])));
  const Tensor& state = expect_tensor(in, args[1], "new_state");
  return in_torch(in, args, [&] {
    check(state.dtype() == kUInt8 && state.is_contiguous(), TensorErrorKind::Type,
          "RNG state must be a torch.ByteTensor");
    generator_of(args[0]).set_state({state.data<uint8_t>(), static_cast<size_t>(state.numel())});
    return args[0];
  });
}

Value generator_clone_state(Interpreter& in, const Args& args) {
  auto* object = make_object<GeneratorObject>(in, torch_state(in).generator);
  const Value copy = Value::adopt(object);
  object->generator = new_generator(generator_of(args[0]).device());
  generator_of(copy).set_state(generator_of(args[0]).state());
  return copy;
}

Value generator_graphsafe(Interpreter&, const Args& args) {
  throw Error(ErrorKind::NotImplementedError,
              std::string(args.callee->name->view()) + " is not supported in this Generator");
}

DeviceGenerator& place_of(const Value& generator) {
  if (DeviceGenerator* place = generator_of(generator).place()) return *place;
  throw Error(ErrorKind::RuntimeError, "CPU Generator does not use offset");
}

Value generator_get_offset(Interpreter&, const Args& args) {
  return Value::integer(static_cast<int64_t>(place_of(args[0]).state().offset));
}

Value generator_set_offset(Interpreter& in, const Args& args) {
  DeviceGenerator& place = place_of(args[0]);
  const int64_t offset = index(in, args[1]);
  if (offset % 4 != 0) throw Error(ErrorKind::RuntimeError, "offset must be a multiple of 4");
  place.set_state({place.state().seed, static_cast<uint64_t>(offset)});
  return args[0];
}

Value generator_repr(Interpreter& in, const Value& self) {
  char text[64];
  std::snprintf(text, sizeof text, "<torch._C.Generator object at %p>", static_cast<void*>(self.as_object()));
  return make_str(in, text);
}

Value generator_device(Interpreter& in, const Args& args) { return wrap_device(in, generator_of(args[0]).device()); }

const NativeDef kGeneratorMethods[] = {
    {"manual_seed(self, seed)", generator_manual_seed, "Sets the seed and answers the generator."},
    {"initial_seed(self)", generator_initial_seed, "The seed that it was given."},
    {"seed(self)", generator_seed, "Takes a seed from the system and answers it."},
    {"get_state(self)", generator_get_state, "Its state as bytes."},
    {"set_state(self, new_state)", generator_set_state, "Goes on from a state that get_state gave."},
    {"clone_state(self)", generator_clone_state, "Another generator in the same state."},
    {"graphsafe_get_state(self)", generator_graphsafe},
    {"graphsafe_set_state(self, state)", generator_graphsafe},
    {"get_offset(self)", generator_get_offset, "How far a device's sequence is used up."},
    {"set_offset(self, offset)", generator_set_offset, "Goes on from another place of a device's sequence."},
};

Value tag_repr(Interpreter& in, const Value& self) {
  return make_str(in, object_cast<TagObject>(self)->text);
}

Value size_reduce(Interpreter& in, const Args& args) {
  return make_tuple(in, {Value(torch_state(in).size), make_tuple(in, {tuple_from(in, args[0])})});
}

const NativeDef kSizeMethods[] = {{"numel(self)", size_numel, "The product of the sizes."},
                                  {"__reduce__(self)", size_reduce}};

}  // namespace

void make_small_types(Interpreter& in, TorchState& state) {
  make_dtypes(in, state);

  state.device = in.new_type({.name = "device", .module = "torch", .size = sizeof(DeviceObject), .flags = kFinalType});
  state.device->slots.destroy = destroy<DeviceObject>;
  state.device->slots.repr = device_repr;
  state.device->slots.str = device_str;
  state.device->slots.compare = device_compare;
  state.device->slots.hash = device_hash;
  state.device->make = make_device;
  state.device->fill_later([](Interpreter& i, Type* type) {
    i.add_methods(type, kDeviceMethods, std::size(kDeviceMethods));
    i.add_property(type, "type", device_type_name);
    i.add_property(type, "index", device_index);
  });

  state.size = in.new_type(
      {.name = "Size", .module = "torch", .kind = ObjectKind::Tuple, .size = sizeof(Tuple), .base = in.types.tuple});
  state.size->slots.repr = size_repr;
  state.size->slots.str = size_repr;
  state.size->slots.get_item = size_get_item;
  state.size->slots.binary = size_binary;
  state.size->make = make_size;
  state.size->fill_later(
      [](Interpreter& i, Type* type) { i.add_methods(type, kSizeMethods, std::size(kSizeMethods)); });

  state.generator = in.new_type({.name = "Generator", .module = "torch._C", .size = sizeof(GeneratorObject)});
  state.generator->slots.destroy = destroy<GeneratorObject>;
  state.generator->slots.repr = generator_repr;
  state.generator->slots.hash = identity_hash;
  state.generator->make = make_generator;
  state.generator->fill_later([](Interpreter& i, Type* type) {
    i.add_methods(type, kGeneratorMethods, std::size(kGeneratorMethods));
    i.add_property(type, "device", generator_device);
  });

  const auto tag_type = [&](const char* name) {
    Type* const type = in.new_type({.name = name, .module = "torch", .size = sizeof(TagObject), .flags = kFinalType});
    type->slots.destroy = destroy<TagObject>;
    type->slots.repr = tag_repr;
    type->slots.hash = identity_hash;
    return type;
  };
  state.layout = tag_type("layout");
  state.memory_format = tag_type("memory_format");
}

}  // namespace tessera::stdlib
