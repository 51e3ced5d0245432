// compile: small (runs under dispatch modes alone)
#include "stdlib/torch/dispatch.h"

#include <algorithm>
#include <cstring>

#include "lang/core/bind.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "runtime/autograd/function.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/view_ops.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/sparse_tensors.h"
#include "stdlib/torch/tensor_cycles.h"

namespace tessera::stdlib {

// The table of hollow tensors. A storage that dies takes its row out; it may outlive the interpreter, so both hold the table.
struct HollowTable {
  struct Row {
    Device device;
    Value object;  // the instance for which the tensor goes through the engine; else undefined
    Value parts;   // of a sparse tensor: its indices and values; else undefined
  };
  std::unordered_map<const tensor::Storage*, Row> rows;
};

HollowRows::~HollowRows() {
  if (table != nullptr) std::exchange(table->rows, {}).clear();
}

namespace {

// ---- Who is asked ------------------------------------------------------------------------------------------------------

Value call_in_language(Interpreter& in, const char* function, const Args& args) {
  const Value module(static_cast<Object*>(in.import("torch._dispatch")));
  return call(in, get_attr(in, module, intern(in, function)), args);
}

// Tensor's own __torch_dispatch__: runs the op without asking classes.
Value dont_dispatch(Interpreter& in, const Args& args) { return call_in_language(in, "_run_disabled", args); }

// Whether a class below Tensor defines __torch_dispatch__.
bool class_dispatches(Interpreter& in, const TorchState& state, const Type* type) {
  Str* const name = intern(in, "__torch_dispatch__");
  for (Type* each : type->mro) {
    if (each == state.tensor) return false;
    const Value* const own = dict_get_str(each->attributes(), name);
    if (own == nullptr) continue;
    return !(own->is_object() && own->as_object()->kind == ObjectKind::NativeFunction &&
             known_cast<NativeFunction>(*own)->function == NativeFn(dont_dispatch));
  }
  return false;
}

bool dispatches(Interpreter& in, const TorchState& state, const Value& v) {
  return is_tensor(state, v) && v.as_object()->type != state.tensor && class_dispatches(in, state, v.as_object()->type);
}

bool any_dispatches(Interpreter& in, const TorchState& state, const Value& v, int depth = 2) {
  if (dispatches(in, state, v)) return true;
  if (depth == 0 || (!is_tuple(v) && !is_list(v))) return false;
  const Value* items = is_tuple(v) ? as_tuple(v)->items : as_list(v)->items;
  const size_t count = is_tuple(v) ? as_tuple(v)->size : as_list(v)->size;
  for (size_t i = 0; i < count; ++i)
    if (any_dispatches(in, state, items[i], depth - 1)) return true;
  return false;
}

// Whether a mode or an operand's class is to be asked.
bool asks_of(Interpreter& in, const TorchState& state, const Args& args) {
  if ((state.modes & kHasDispatchModes) != 0) return true;
  if (state.dispatch.classes_off) return false;
  for (uint32_t i = 0; i < args.count; ++i)
    if (any_dispatches(in, state, args[i])) return true;
  return false;
}

}  // namespace

std::optional<Value> dispatch_at_door(Interpreter& in, std::string_view name, const Args& args) {
  const TorchState& state = torch_state(in);
  if (!asks_of(in, state, args)) return {};
  const Value keywords = make_dict(in);
  for (uint32_t i = args.positional(); i < args.count; ++i)
    dict_set(in, as_dict(keywords), args.keyword_names->items[i - args.positional()], args[i]);
  const Value callee =
      args.callee == nullptr ? Value::none() : Value(static_cast<Object*>(const_cast<NativeFunction*>(args.callee)));
  const Value given[] = {Value(intern(in, name)), make_tuple(in, args.values, args.positional()), keywords, callee};
  return call_in_language(in, "_enter", Args{given, 4});
}

// ---- Hollow tensors ----------------------------------------------------------------------------------------------------

namespace {

HollowTable::Row* row_of(const TorchState& state, const Tensor& t) {
  if (!t.device().is_meta() || !t.storage().is_exposed() || state.hollow.table == nullptr) return nullptr;
  const auto found = state.hollow.table->rows.find(&t.storage());
  return found == state.hollow.table->rows.end() ? nullptr : &found->second;
}

Tensor make_hollow(TorchState& state, Ints sizes, Ints strides, DType dtype, HollowTable::Row row) {
  if (state.hollow.table == nullptr) state.hollow.table = std::make_shared<HollowTable>();
  const auto table = state.hollow.table;
  const auto key = std::make_shared<const tensor::Storage*>(nullptr);
  Tensor made = Tensor::from_blob(
      nullptr, sizes, strides, dtype,
      [table, key](void*) {
        if (auto node = table->rows.extract(*key); !node.empty()) const Value dropped = std::move(node.mapped().object);
      },
      Device(DeviceType::Meta));
  *key = &made.storage();
  table->rows.emplace(*key, std::move(row));
  return made;
}

}  // namespace

Value sparse_parts(const TorchState& state, const Tensor& t) {
  const HollowTable::Row* const row = row_of(state, t);
  return row != nullptr ? row->parts : Value();
}

Tensor make_sparse(TorchState& state, Ints sizes, DType dtype, const Value& parts) {
  const tensor::Dims strides = tensor::contiguous_strides(sizes);
  return make_hollow(state, sizes, strides, dtype, {kCpu, Value(), parts});
}

Device shown_device(const TorchState& state, const Tensor& t) {
  const HollowTable::Row* const row = row_of(state, t);
  return row != nullptr ? row->device : t.device();
}

Tensor to_gradient(Interpreter& in, const Value& v) {
  TorchState& state = torch_state(in);
  const Tensor& t = tensor_of(v);
  const HollowTable::Row* const row = row_of(state, t);
  if (row == nullptr) return resolved(t);
  if (!row->object.is_undefined() || !row->parts.is_undefined()) return t;
  return make_hollow(state, t.sizes(), t.strides(), t.dtype(), {row->device, v, Value()});
}

Value wrap_gradient(Interpreter& in, const Tensor& t) {
  const HollowTable::Row* const row = row_of(torch_state(in), t);
  return row != nullptr && !row->object.is_undefined() ? row->object : wrap_tensor(in, t);
}

// ---- Sweeps ------------------------------------------------------------------------------------------------------------

DispatchedSweeps::DispatchedSweeps(Interpreter& in) : in_(in) {
  if ((torch_state(in).modes & (kDispatches | kHasSparse)) == 0) [[likely]]
    return;
  before_ = tensor::set_sweep_ops(this);
  is_set_ = true;
}

DispatchedSweeps::~DispatchedSweeps() {
  if (is_set_) tensor::set_sweep_ops(before_);
}

bool DispatchedSweeps::are_shown(const Tensor& a, const Tensor& b) const {
  const TorchState& state = torch_state(in_);
  return (state.modes & kHasDispatchModes) != 0 || row_of(state, a) != nullptr || row_of(state, b) != nullptr;
}

Tensor first_gradient(Interpreter& in, const Value& root) {
  const TorchState& state = torch_state(in);
  if ((state.modes & kDispatches) == 0 || !is_tensor(state, root)) return {};
  const Tensor& t = tensor_of(root);
  const bool may_begin = t.requires_grad() && t.numel() == 1 && !is_complex(t.dtype());
  if (!may_begin || !asks_of(in, state, Args{&root, 1})) return {};
  return to_gradient(in, call_in_language(in, "_first_gradient", Args{&root, 1}));
}

Tensor DispatchedSweeps::sum(const Tensor& a, const Tensor& b) {
  if (is_sparse(torch_state(in_), a) || is_sparse(torch_state(in_), b))
    return to_gradient(in_, call_sparse(in_, "_sum_of_gradients", {wrap_gradient(in_, a), wrap_gradient(in_, b)}));
  if (!are_shown(a, b)) return {};
  const Value given[] = {wrap_gradient(in_, a), wrap_gradient(in_, b)};
  return to_gradient(in_, call_in_language(in_, "_sum_of_gradients", Args{given, 2}));
}

bool DispatchedSweeps::accumulate(const Tensor& leaf, Tensor& grad, const Tensor& arrived) {
  const TorchState& state = torch_state(in_);
  if (is_sparse(state, leaf) || is_sparse(state, arrived) || (grad.defined() && is_sparse(state, grad))) {
    const Value before = grad.defined() ? wrap_gradient(in_, grad) : Value::none();
    grad = to_gradient(in_, call_sparse(in_, "_accumulated", {wrap_tensor(in_, leaf), before, wrap_gradient(in_, arrived)}));
    return true;
  }
  if (!are_shown(leaf, arrived)) return false;
  const Value given[] = {wrap_tensor(in_, leaf), grad.defined() ? wrap_gradient(in_, grad) : Value::none(),
                         wrap_gradient(in_, arrived)};
  const Tensor kept = to_gradient(in_, call_in_language(in_, "_accumulated", Args{given, 3}));
  grad = kept;
  return true;
}

void DispatchedSweeps::prepare(const tensor::Node& node, TensorList& grads) {
  for (Tensor& grad : grads)
    if (grad.defined() && is_sparse(torch_state(in_), grad) && tensor::function_of(const_cast<tensor::Node&>(node)) == nullptr)
      grad = tensor_of(call_sparse(in_, "_densified", {wrap_gradient(in_, grad)}));
}

// ---- For torch._dispatch -------------------------------------------------------------------------------------------------

namespace {

// The modes of the thread, a list that torch._dispatch changes.
Value modes_entered(Interpreter& in, const Args&) {
  Value& modes = torch_state(in).dispatch.modes;
  if (modes.is_undefined()) modes = make_list(in);
  return modes;
}

// Bit 0: modes are asked. Bit 1: classes are. Returns what was set before.
Value set_dispatching(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  const int64_t before = ((state.modes & kHasDispatchModes) != 0 ? 1 : 0) | (state.dispatch.classes_off ? 0 : 2);
  const int64_t wanted = args[0].as_int();
  state.modes = (wanted & 1) != 0 ? state.modes | kHasDispatchModes : state.modes & ~kHasDispatchModes;
  state.dispatch.classes_off = (wanted & 2) == 0;
  return Value::integer(before);
}

Value is_dispatching(Interpreter& in, const Args& args) {
  return Value::boolean(dispatches(in, torch_state(in), args[0]));
}

// torch._C._dispatch_function(name, args), for functions that are one op in PyTorch and written in the language here. Returns NotImplemented
// if neither a mode nor the class of an operand takes part in dispatching.
Value dispatch_function(Interpreter& in, const Args& args) {
  const TorchState& state = torch_state(in);
  if ((state.modes & kDispatches) == 0) [[likely]]
    return in.not_implemented;
  if (!asks_of(in, state, Args{as_tuple(args[1])->items, static_cast<uint32_t>(as_tuple(args[1])->size)}))
    return in.not_implemented;
  return call_in_language(in, "_compose", args);
}

// The declaration of an entry as PyTorch writes it: an op that returns a view says of what.
std::string declaration(const OpEntry& entry) {
  std::string text = entry.schema_text;
  const size_t self = text.find("(Tensor self"), result = text.rfind(" -> Tensor");
  if (!entry.has(tensor::kView) || self == std::string::npos || result == std::string::npos) return text;
  const bool several = text.ends_with("[]");
  text.insert(result + std::strlen(" -> Tensor"), "(a)");
  text.insert(self + std::strlen("(Tensor"), several ? "(a -> *)" : "(a)");
  return text;
}

Value schemas_of_op(Interpreter& in, const Args& args) {
  std::vector<Value> schemas;
  for (const OpEntry* entry : tensor::find_op(text_of(args[0]))) schemas.push_back(make_str(in, declaration(*entry)));
  return make_tuple(in, schemas.data(), schemas.size());
}

// torch._C._op_says(name, fact): whether an entry of the name states a fact that the language asks for.
Value op_says(Interpreter&, const Args& args) {
  const auto entries = tensor::find_op(text_of(args[0]));
  const std::string_view fact = text_of(args[1]);
  return Value::boolean(std::any_of(entries.begin(), entries.end(), [&](const OpEntry* each) {
    if (fact == "view") return each->has(tensor::kView);
    if (fact == "no_gradient") return each->has(tensor::kNoGrad);
    if (fact == "inplace_argument") return each->has(tensor::kFunctional) && each->has(tensor::kInplace);
    if (fact == "numbers_as_tensors") return each->facts->takes_numbers_anywhere;
    if (fact == "shape_of_elements") return each->has(tensor::kDataDependent);
    if (fact == "random") return each->has(tensor::kRandom);
    throw Error(ErrorKind::ValueError, "no fact of an op: " + std::string(fact));
  }));
}

// torch._C._op_alias(name): the op of which this is another name, or None.
Value op_alias(Interpreter& in, const Args& args) {
  const auto entries = tensor::find_op(text_of(args[0]));
  const char* other = entries.empty() ? nullptr : entries.front()->facts->alias_of;
  return other == nullptr ? Value::none() : make_str(in, other);
}

// The parameters of _make_wrapper_subclass.
enum WrapperArgument : uint32_t {
  kClass,
  kSize,
  kStrides,
  kStorageOffset,
  kMemoryFormat,
  kDType,
  kLayout,
  kDevice,
  kPinMemory,
  kRequiresGrad,
  kPolicy,
  kDispatchDevice,
  kDispatchLayout
};

// Refuses what a hollow tensor cannot have, instead of ignoring it.
void check_wrapper(Interpreter& in, const Args& args) {
  if (args[kStrides].is_none() && !args[kStorageOffset].is_none())
    throw Error(ErrorKind::RuntimeError, "setting storage offset without stride not supported");
  if (!args[kPolicy].is_none()) {
    const std::string policy = str_text(in, args[kPolicy]);
    if (policy != "strides" && policy != "sizes")
      throw Error(ErrorKind::ValueError, "Unknown sizes_strides_policy: " + policy + "; expected 'strides' or 'sizes'");
    throw Error(
        ErrorKind::NotImplementedError,
        "dispatch_sizes_strides_policy is not supported: a wrapper keeps the size and the strides that it was given");
  }
  if (truth(in, args[kDispatchDevice]) || truth(in, args[kDispatchLayout]))
    throw Error(ErrorKind::NotImplementedError,
                "dispatch_device and dispatch_layout are not supported: a wrapper keeps the device that it was given");
  if (!args[kMemoryFormat].is_none() && str_text(in, args[kMemoryFormat]) != "torch.contiguous_format")
    throw Error(ErrorKind::NotImplementedError, "memory_format is not supported for wrappers: pass strides");
}

Value make_wrapper(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  if (!args[0].is_object() || args[0].as_object()->kind != ObjectKind::Type ||
      !object_cast<Type>(args[0])->is_subtype_of(state.tensor))
    throw Error(ErrorKind::TypeError, "cls must be a class derived from torch.Tensor");
  check_wrapper(in, args);
  std::vector<int64_t> sizes, strides;
  DType dtype = state.context.default_dtype;
  Device device = kCpu;
  for_each(in, args[kSize], [&](const Value& v) { sizes.push_back(index(in, v)); });
  if (!args[kDType].is_none() && !to_dtype(in, args[kDType], dtype))
    throw Error(ErrorKind::TypeError, "dtype must be a torch.dtype");
  if (args[kStrides].is_none()) {
    const tensor::Dims rows = tensor::contiguous_strides(sizes);
    strides.assign(rows.begin(), rows.end());
  } else {
    for_each(in, args[kStrides], [&](const Value& v) { strides.push_back(index(in, v)); });
  }
  return in_torch(in, args, [&] {
    if (!args[kDevice].is_none() && !to_device(in, args[kDevice], device))
      throw Error(ErrorKind::TypeError, "device must be a torch.device");
    for (const int64_t size : sizes)
      tensor::check(size >= 0, TensorErrorKind::Runtime, "Trying to create tensor with negative dimension ", size, ": ",
                    tensor::Dims(sizes));
    const Tensor made = make_hollow(state, sizes, strides, dtype, {device, Value(), Value()});
    if (truth(in, args[kRequiresGrad])) set_requires_grad(made, true);
    return as_instance(in, made, object_cast<Type>(args[0]));
  });
}

}  // namespace

void note_dispatching_class(Interpreter& in, const Type* type) {
  TorchState& state = torch_state(in);
  if (class_dispatches(in, state, type)) state.modes |= kHasDispatchClasses;
}

void add_dispatch_functions(Interpreter& in, Module& module) {
  in.def(module, "_dispatch_modes()", "", modes_entered);
  in.def(module, "_set_dispatching(bits: int)", "", set_dispatching);
  in.def(module, "_is_dispatching(value)", "", is_dispatching);
  in.def(module, "_dispatch_function(name: str, args: tuple)", "", dispatch_function);
  in.def(module, "_schemas_of_op(name: str)", "", schemas_of_op);
  in.def(module, "_op_says(name: str, fact: str)", "", op_says);
  in.def(module, "_op_alias(name: str)", "", op_alias);
  in.def(module, "_disabled_torch_dispatch_impl(func, types, args=(), kwargs=None)", "", dont_dispatch);
}

void add_dispatch_methods(Interpreter& in, Type* tensor) {
  const auto add = [&](const char* signature, NativeFn function) {
    const Value native = in.new_function(signature, "", function);
    dict_set_str(in, tensor->attributes(), object_cast<NativeFunction>(native)->name, make_static_method(in, native));
  };
  add("_make_wrapper_subclass(cls, size, strides=None, storage_offset=None, memory_format=None, dtype=None, layout=None, device=None, "
      "pin_memory=False, requires_grad=False, dispatch_sizes_strides_policy=None, dispatch_device=False, dispatch_layout=False)",
      make_wrapper);
  add("__torch_dispatch__(func, types, args=(), kwargs=None)", dont_dispatch);
}

}  // namespace tessera::stdlib
