#include "stdlib/torch/state.h"

#include "lang/core/error.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "runtime/device/accelerator_error.h"
#include "runtime/ops/linalg/linalg.h"
#include "runtime/ops/op.h"
#include "stdlib/torch/arrays.h"
#include "stdlib/torch/error_notes.h"
#include "stdlib/torch/memory_holders.h"

namespace tessera::stdlib {

TorchState& torch_state(Interpreter& in) { return *static_cast<TorchState*>(in.extension); }

void warn_through_language(Interpreter& in) {
  torch_state(in).context.warning_sink = [&in](const std::string& message) {
    in.import("warnings");
    in.warn(ErrorKind::UserWarning, message);
  };
}

[[gnu::hot]] Value wrap_tensor(Interpreter& in, Tensor tensor) {
  auto* object = make_untracked<TensorObject>(in, torch_state(in).tensor);
  object->tensor = std::move(tensor);
  return Value::adopt(object);
}

namespace {

bool holds(const Value& size, Ints sizes) {
  if (!size.is_object() || as_tuple(size)->size != sizes.size()) return false;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (as_tuple(size)->items[i].as_int() != sizes[i]) return false;
  return true;
}

}  // namespace

// A program looks at the same few shapes again and again, and a torch.Size never changes: it is handed out again.
Value wrap_size(Interpreter& in, Ints sizes) {
  TorchState& state = torch_state(in);
  uint64_t hash = sizes.size();
  for (const int64_t size : sizes) hash = hash * 31 + static_cast<uint64_t>(size);
  Value& recent = state.recent_sizes[(hash ^ hash >> 4) % TorchState::kRecentSizes];
  if (holds(recent, sizes)) return recent;
  Tuple* tuple = new_tuple(in, sizes.size(), state.size);
  for (size_t i = 0; i < sizes.size(); ++i) tuple->items[i] = Value::integer(sizes[i]);
  recent = Value::adopt(tuple);
  return recent;
}

Value wrap_device(Interpreter& in, Device device) {
  auto* object = make_object<DeviceObject>(in, torch_state(in).device);
  object->device = device;
  return Value::adopt(object);
}

Value wrap_number(Interpreter& in, const Scalar& number) {
  if (number.is_complex()) return make_complex(in, number.to_complex().real(), number.to_complex().imag());
  if (number.is_bool()) return Value::boolean(number.to_bool());
  if (number.is_int()) return Value::integer(number.to_int());
  return Value::real(number.to_double());
}

bool to_scalar(const Value& v, Scalar& out) {
  if (v.is_float()) out = Scalar(v.as_float());
  else if (v.is_int()) out = Scalar(v.as_int());
  else if (v.is_bool()) out = Scalar(v.as_bool());
  else if (v.is_object() && is_complex(*v.as_object()->type->owner, v)) {
    const auto* z = object_cast<const Complex>(v);
    out = Scalar(std::complex<double>(z->real, z->imag));
  } else if (is_big_int(v)) {
    throw Error(ErrorKind::OverflowError, "int too big to convert");
  } else if (v.is_object() &&
             v.as_object()->kind == ObjectKind::Boxed) {  // an int, float or str with a class of its own
    return to_scalar(object_cast<const Boxed>(v)->value, out);
  } else return false;
  return true;
}

namespace {

template <class List>
Value wrap_tuple(Interpreter& in, const List& list) {
  Tuple* tuple = new_tuple(in, list.size());
  Value holder = Value::adopt(tuple);
  for (size_t i = 0; i < list.size(); ++i) {
    if (i % 1024 == 1023) in.check_stop();
    tuple->items[i] = wrap_tensor(in, list[i]);
  }
  return holder;
}

struct ResultWrapper {
  Interpreter& in;
  Value operator()(std::monostate) const { return Value::none(); }
  Value operator()(bool x) const { return Value::boolean(x); }
  Value operator()(int64_t x) const { return Value::integer(x); }
  Value operator()(double x) const { return Value::real(x); }
  Value operator()(const Tensor& t) const { return wrap_tensor(in, t); }
  Value operator()(const TensorList& list) const { return wrap_tuple(in, list); }
  Value operator()(const std::vector<int64_t>& list) const { return wrap_size(in, list); }
  Value operator()(DType t) const { return torch_state(in).dtypes[static_cast<int>(t)]; }
  Value operator()(Device d) const { return wrap_device(in, d); }
  Value operator()(const std::string& text) const { return make_str(in, text); }
  template <class T>
  Value operator()(const T&) const {
    throw_error(ErrorKind::NotImplementedError, "this kind of result is not supported");
  }
};

}  // namespace

Value wrap_result(Interpreter& in, const OpArg& result) { return std::visit(ResultWrapper{in}, result); }

Tensor& expect_tensor(Interpreter& in, const Value& v, const char* what) {
  const TorchState& state = torch_state(in);
  if (is_tensor(state, v)) return tensor_of(v);
  if (is_array(in, v)) {
    // The array keeps its tensor alive while the call runs.
    const Value inner = get_attr(in, v, intern(in, "_t"));
    if (is_tensor(state, inner)) return tensor_of(inner);
  }
  throw_error(ErrorKind::TypeError, "%s must be Tensor, not %s", what, given_type(in, v).c_str());
}

std::string given_type(Interpreter& in, const Value& v) {
  const std::string name(type_name(in, v));
  if (!v.is_object()) return name;
  const Value module = find_attr(in, Value(static_cast<Object*>(v.as_object()->type)), intern(in, "__module__"));
  return is_str(module) && text_of(module) == "numpy" ? "numpy." + name : name;
}

bool to_dtype(Interpreter& in, const Value& v, DType& out) {
  const TorchState& state = torch_state(in);
  if (!v.is_object()) return false;
  Object* object = v.as_object();
  if (object->type == state.dtype) out = known_cast<DTypeObject>(object)->dtype;
  else if (object == in.types.real) out = kFloat64;
  else if (object == in.types.integer) out = kInt64;
  else if (object == in.types.boolean) out = kBool;
  else return false;
  return true;
}

bool to_device(Interpreter& in, const Value& v, Device& out) {
  const TorchState& state = torch_state(in);
  if (v.is_object() && v.as_object()->type == state.device) out = object_cast<DeviceObject>(v)->device;
  else if (is_str(v)) out = Device::parse(text_of(v));
  else if (v.is_int()) out = Device(DeviceType::Cuda, static_cast<int>(v.as_int()));
  else return false;
  return true;
}

// Errors -----------------------------------------------------------------------------------------------------------

std::string describe(const Tensor& t) { return std::string(name(t.dtype())) + shape_str(t.sizes()); }

namespace {

ErrorKind language_kind(TensorErrorKind kind) {
  switch (kind) {
    case TensorErrorKind::Type: return ErrorKind::TypeError;
    case TensorErrorKind::Value: return ErrorKind::ValueError;
    case TensorErrorKind::Index: return ErrorKind::IndexError;
    case TensorErrorKind::Key: return ErrorKind::KeyError;
    case TensorErrorKind::Attribute: return ErrorKind::AttributeError;
    case TensorErrorKind::NotImplemented: return ErrorKind::NotImplementedError;
    case TensorErrorKind::Memory: return ErrorKind::MemoryError;
    case TensorErrorKind::Overflow: return ErrorKind::OverflowError;
    case TensorErrorKind::ZeroDivision: return ErrorKind::ZeroDivisionError;
    case TensorErrorKind::Assertion: return ErrorKind::AssertionError;
    case TensorErrorKind::Cancelled: return ErrorKind::KeyboardInterrupt;
    case TensorErrorKind::OutOfMemory:
    case TensorErrorKind::Runtime: break;
  }
  return ErrorKind::RuntimeError;
}

// Of a class that is written in the language, in a module that the script may not have named yet.
Value exception_of(Interpreter& in, const char* module_name, const char* class_name, const Error& raised) {
  const Value module(static_cast<Object*>(in.import(module_name)));
  const Value type = get_attr(in, module, intern(in, class_name));
  const Value args = make_tuple(in, {make_str(in, raised.message)});
  // A program may have put anything in its place.
  const bool raises = is_type(type) && as_type(type)->is_subtype_of(error_type(in, ErrorKind::Exception));
  const Value exception = make_exception(in, raises ? as_type(type) : error_type(in, ErrorKind::RuntimeError), args);
  as_exception(exception)->notes = raised.notes;
  return exception;
}

[[noreturn]] void raise_accelerator_error(Interpreter& in, const Error& raised, int code) {
  const Value exception = exception_of(in, "torch._rarely", "AcceleratorError", raised);
  set_attr(in, exception, intern(in, "error_code"), Value::integer(code));
  if (code != kInvalidDevice) torch_state(in).device_error_told = true;
  throw Thrown(exception);
}

}  // namespace

void rethrow(Interpreter& in, const TensorError& error, std::span<const Value> operands) {
  // The kernel has seen the interpreter's own flags: there it stands why.
  if (error.kind() == TensorErrorKind::Cancelled) in.check_stop();
  Error raised(language_kind(error.kind()), error.message());
  try {
    raised.notes = notes_of(in, error.message(), operands);
  } catch (const std::exception&) {
    // No memory for them.
  }
  raised.notes.insert(raised.notes.end(), error.notes().begin(), error.notes().end());
  if (error.kind() == TensorErrorKind::OutOfMemory) {
    for (std::string& line : memory_holders(in)) raised.notes.push_back(std::move(line));
    throw Thrown(exception_of(in, "torch._rarely", "OutOfMemoryError", raised));
  }
  if (dynamic_cast<const LinAlgError*>(&error) != nullptr)
    throw Thrown(exception_of(in, "torch.linalg", "LinAlgError", raised));
  if (const auto* lost = dynamic_cast<const AcceleratorError*>(&error))
    raise_accelerator_error(in, raised, lost->code());
  throw raised;
}

}  // namespace tessera::stdlib
