#include "stdlib/torch/sparse_tensors.h"
#include "stdlib/torch/op_call.h"

#include "lang/types/dict.h"
#include "lang/types/tuple.h"
#include "lang/types/list.h"
#include "lang/core/bind.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "runtime/autograd/engine.h"
#include "runtime/fuse/launch_queue.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/pinned.h"
#include "stdlib/torch/autocast.h"
#include "stdlib/torch/batching.h"
#include "stdlib/torch/dispatch.h"
#include "stdlib/torch/op_example.h"
#include "stdlib/torch/call_refusal.h"
#include "stdlib/torch/profiler_events.h"
#include "stdlib/torch/return_types.h"
#include "stdlib/torch/torch_function.h"

namespace tessera::stdlib {
namespace {

// `x.float() is x` where x is float already: an op that hands its operand back keeps the object.
Value wrap_unless_same(Interpreter& in, Tensor result, const Value& operand) {
  return tensor_of(operand).same(result) ? operand : wrap_tensor(in, std::move(result));
}

// Calls with plain operands, which cost what the op costs.
bool call_fast(Interpreter& in, const TorchState& state, OpFunction& function, const Args& args, Value& result) {
  const FastPaths& fast = function.fast;
  const Tensor& x = tensor_of(args[0]);
  if (x.has_math_bits()) [[unlikely]]
    return false;
  if (args.count == 1) {
    if (function.is_inplace) {
      if (fast.unary_inplace == nullptr) return false;
      fast.unary_inplace(x);
      result = args[0];
      return true;
    }
    if (fast.unary == nullptr) return false;
    result = wrap_unless_same(in, fast.unary(x), args[0]);
    return true;
  }
  Scalar number;
  if (is_tensor(state, args[1])) {
    const Tensor& y = tensor_of(args[1]);
    if (y.has_math_bits()) [[unlikely]]
      return false;
    if (function.is_inplace ? fast.binary_inplace == nullptr : fast.binary == nullptr) return false;
    if (function.is_inplace) fast.binary_inplace(x, y), result = args[0];
    else result = wrap_tensor(in, fast.binary(x, y, 0));
    return true;
  }
  if (function.is_inplace ? fast.scalar_inplace == nullptr : fast.tensor_scalar == nullptr) return false;
  if (!takes_numbers(function) || !to_scalar(args[1], number)) return false;
  if (function.is_inplace) fast.scalar_inplace(x, number), result = args[0];
  else result = wrap_tensor(in, fast.tensor_scalar(x, number, 0));
  return true;
}

// The register of the argument holds the only handle of a temporary.
[[gnu::noinline, gnu::cold]] void announce_end(const Value& operand) {
  if (operand.as_object()->refcount == 1) tensor::Context::current().launch_queue().expect_end_of(tensor_of(operand));
}

// x.sum(), x.sum(1), x.sum(dim=1, keepdim=True).
bool call_reduction(Interpreter& in, const TorchState& state, const OpFunction& function, const Args& args,
                    Value& result) {
  const uint32_t given = args.positional();
  if (given == 0 || given > 3 || !is_tensor(state, args[0]) || tensor_of(args[0]).has_math_bits()) return false;
  const Value* dim = given > 1 ? &args[1] : nullptr;
  const Value* keepdim = given > 2 ? &args[2] : nullptr;
  for (uint32_t i = given; i < args.count; ++i) {
    const std::string_view name = as_str(args.keyword_names->items[i - given])->view();
    const Value*& place = name == "dim" ? dim : keepdim;
    if (place != nullptr || (name != "dim" && name != "keepdim")) return false;
    place = &args[i];
  }
  if (keepdim != nullptr && (dim == nullptr || !keepdim->is_bool())) return false;
  if (dim != nullptr && !dim->is_int()) return false;
  const std::optional<Dims> dims = dim ? std::optional<Dims>(Dims{dim->as_int()}) : std::nullopt;
  const bool keep = keepdim != nullptr && keepdim->as_bool();
  if (tensor::PendingLaunches::any()) [[unlikely]]
    announce_end(args[0]);
  result = wrap_tensor(in, function.fast.along(tensor_of(args[0]), dims, keep));
  return true;
}

void require_grad_of(Tensor& result) {
  check(is_differentiable(result.dtype()), TensorErrorKind::Runtime,
        "Only Tensors of floating point and complex dtype can require gradients");
  set_requires_grad(result, true);
}

// Items of a result that are the very tensors of a list that was given are its objects: atleast_1d([x])[0] is x.
void keep_objects(const TorchState& state, const Value& result, const Args& args) {
  if (args.count == 0 || !is_tuple(result)) return;
  const std::span<const Value> given =
      is_sequence(args[0]) ? items_of(args[0]) : std::span(args.values, args.positional());
  Tuple* const tuple = as_tuple(result);
  for (size_t i = 0; i < given.size() && i < tuple->size; ++i)
    if (is_tensor(state, given[i]) && is_tensor(state, tuple->items[i]) &&
        tensor_of(given[i]).same(tensor_of(tuple->items[i])))
      tuple->items[i] = given[i];
}

// The value that an in-place call writes to: its first argument, which may have come by keyword.
const Value* find_self(const TorchState& state, const Args& args, BoundCall& bound) {
  const Tensor& self = bound.args()[0].tensor();
  const Value* found = args.values;
  while (!is_tensor(state, *found) || &tensor_of(*found) != &self) ++found;
  return found;
}

// What makes a tensor makes it where out= lies and in its dtype, and refuses another.
void take_options_of(const Tensor& out, const Context& context, const Binder& binder, BoundCall& bound) {
  Arg& dtype = bound.args()[binder.entry().schema().find("dtype")];
  if (dtype.kind() == Arg::Kind::None) dtype = Arg(out.dtype());
  else
    check(dtype.dtype() == out.dtype(), TensorErrorKind::Runtime, "dtype ", scalar_type_name(dtype.dtype()),
          " does not match dtype of out parameter (", scalar_type_name(out.dtype()), ")");
  Arg& device = bound.args()[binder.entry().schema().find("device")];
  const Device wanted = device.kind() == Arg::Kind::None ? context.default_device : device.device();
  if (device.kind() == Arg::Kind::None && wanted.is_cpu()) device = Arg(out.device());
  else
    check(wanted.type == out.device().type, TensorErrorKind::Runtime, "device type ", name(wanted.type),
          " does not match device type of out parameter (", name(out.device().type), ")");
}

// Whether torch._sparse records the call, because its gradient is to be sparse.
bool wants_sparse_gradient(const Context& context, const Binder& binder, BoundCall& bound) {
  if (!binder.entry().facts->may_give_sparse_gradient) [[likely]]
    return false;
  const tensor::Arg& asked = bound.args()[binder.size() - 1];
  return asked.is_number() && asked.number().to_bool() && bound.args()[0].tensor().requires_grad() && context.grad_enabled;
}

Value run(Interpreter& in, TorchState& state, const OpFunction& function, const Binder& binder, const Args& args,
          BoundCall& bound) {
  if (bound.out_value.is_undefined() && wants_sparse_gradient(state.context, binder, bound)) [[unlikely]]
    return call_gathered(in, bound.args());
  const bool inplace = function.is_inplace || bound.inplace;
  const Value* const self = inplace ? find_self(state, args, bound) : nullptr;
  const std::span<Tensor> out = inplace ? std::span(&tensor_of(*self), 1) : std::span(bound.out);
  for (const Tensor& t : out) check_may_write(t);
  if (!out.empty() && !inplace && makes_tensors(binder.entry().schema()))
    take_options_of(out[0], state.context, binder, bound);
  OpCall call{binder.entry(), state.context, {bound.args(), binder.size()}, out, {}};
  call_entry(call);
  if (inplace) return *self;
  if (!bound.out_value.is_undefined()) return wrap_given(in, binder.entry(), bound.out_value);
  if (call.results.size() != 1)
    return call.results.empty() ? Value::none() : wrap_results(in, binder.entry(), call.results);
  Tensor* const result = std::get_if<Tensor>(&call.results[0]);
  if (result == nullptr) {
    const Value wrapped = wrap_result(in, call.results[0]);
    keep_objects(state, wrapped, args);
    return wrapped;
  }
  if (args.count > 0 && is_tensor(state, args[0]) && tensor_of(args[0]).same(*result)) return args[0];
  if (bound.pin_memory) [[unlikely]]
    *result = pin_memory(*result);
  if (bound.requires_grad) require_grad_of(*result);
  return wrap_tensor(in, std::move(*result));
}

Value call_op_function(Interpreter& in, const Args& args) {
  return call_op(in, *static_cast<OpFunction*>(args.callee->data), args);
}

// Every form's schema, and what the forms above it do.
std::string doc_of(const OpFunction& function) {
  std::string text;
  for (size_t i = 0; i < function.entries.size(); ++i) {
    const OpEntry& entry = *function.entries[i];
    text += std::string(entry.schema_text) + "\n";
    const bool last = i + 1 == function.entries.size();
    const std::string doc = entry.documentation();
    if (last || function.entries[i + 1]->documentation() != doc) text += "\n" + doc + (last ? "" : "\n\n");
  }
  if (!is_differentiable(function)) text += "\nNo gradient is defined.";
  if (const std::string example = op_example(function); !example.empty()) text += "\n\n" + example;
  return text;
}

}  // namespace

void refuse_write() {
  check(Context::current().inference_mode, TensorErrorKind::Runtime,
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
        "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.");
}

// Also ops that have no form of their own that makes a new tensor: copy_.
static bool writes_self(const OpFunction& function) {
  return function.is_inplace || (function.name.ends_with('_') && !function.name.ends_with("__"));
}

namespace {

// __torch_function__ gets the function object that the script called. A native that ends in an op has no such object and asks nobody.
bool answered_by_others(Interpreter& in, TorchState& state, const Args& args, Value& result) {
  if (args.callee == nullptr) return false;
  const Value callee(static_cast<Object*>(const_cast<NativeFunction*>(args.callee)));
  return call_torch_function(in, state, callee, args, result);
}

// Whether an argument, or an item of one, is a number that is a symbol (torch._dispatch.SymNumber), which no binder knows.
bool has_symbol(Interpreter& in, const Value* values, size_t count, int depth = 1) {
  Str* const mark = intern(in, "_is_symbolic_number");
  for (size_t i = 0; i < count; ++i) {
    const Value& v = values[i];
    if (depth > 0 && is_tuple(v) && has_symbol(in, as_tuple(v)->items, as_tuple(v)->size, 0)) return true;
    if (depth > 0 && is_list(v) && has_symbol(in, as_list(v)->items, as_list(v)->size, 0)) return true;
    if (!v.is_object()) continue;
    for (Type* each : v.as_object()->type->mro)
      if (dict_get_str(each->attributes(), mark) != nullptr) return true;
  }
  return false;
}

// Whether a form of the op takes the arguments. Dispatch modes are not asked about a call that no form takes, unless symbols are among them.
bool is_taken(Interpreter& in, const TorchState& state, OpFunction& function, const Args& args) {
  return in_torch(in, args, [&] {
    BoundCall bound;
    for (const Binder& binder : binders_of(in, function)) {
      if (binder.bind(in, state, args, bound)) return true;
      bound.reset();
    }
    return has_symbol(in, args.values, args.count);
  });
}

// The values of a call by the arguments of `form`, a deprecated order. Returns false if the call is of another form. `out` stays undefined
// if there is no out=.
bool read_old_order(const OpSchema& form, const OpFunction& function, const Args& args, std::vector<Value>& values, Value& out) {
  const auto self = static_cast<size_t>(form.find("self"));
  const uint32_t positional = args.positional();
  values.assign(form.args.size(), Value());
  size_t next = 0;
  if (function.is_method) {
    if (positional == 0) return false;
    values[self] = args[0];
  }
  for (uint32_t i = function.is_method; i < args.count; ++i) {
    size_t at = form.args.size();
    if (i < positional) {
      if (function.is_method && next == self) ++next;
      at = next++;
    } else {
      const std::string_view name = text_of(args.keyword_names->items[i - positional]);
      if (name == "out" && !function.is_method) {
        out = args[i];
        continue;
      }
      const int found = form.find(name == "input" && !function.is_method ? "self" : name);
      if (found >= 0) at = static_cast<size_t>(found);
    }
    if (at >= values.size() || !values[at].is_undefined()) return false;
    values[at] = args[i];
  }
  return std::ranges::none_of(values, [](const Value& v) { return v.is_undefined(); });
}

// A call in an order of arguments that PyTorch has deprecated, as one in today's order. Returns false if no such form takes it.
bool call_in_old_order(Interpreter& in, TorchState& state, OpFunction& function, const Args& args, Value& result) {
  const CallForms forms = call_forms(function.entries[0]->name);
  for (const OpSchema& form : forms.deprecated) {
    std::vector<Value> old, values, names;
    Value out;
    if (!read_old_order(form, function, args, old, out)) continue;
    for (const tensor::SchemaArg& arg : forms.listed[0].args) {
      const int at = form.find(arg.name);
      if (at < 0) continue;
      if (arg.keyword_only) names.emplace_back(intern(in, arg.name));
      values.push_back(old[static_cast<size_t>(at)]);
    }
    if (!out.is_undefined()) names.emplace_back(intern(in, "out")), values.push_back(out);
    const Value keywords = make_tuple(in, names.data(), names.size());
    const Args today{values.data(), static_cast<uint32_t>(values.size()), names.empty() ? nullptr : as_tuple(keywords), args.callee};
    if (!is_taken(in, state, function, today)) continue;
    if (!std::exchange(state.warned_of_order, true)) state.context.warn(deprecation_text(function, forms, form));
    result = call_op(in, function, today);
    return true;
  }
  return false;
}

// Inline in both of its callers: a call of its own costs an op on four numbers some nanoseconds.
// Runs the op after all modes have been asked. Operands of classes that are no tensors may have a __torch_function__ too.
[[gnu::always_inline]] inline Value enter(Interpreter& in, TorchState& state, OpFunction& function, const Args& args) {
  return in_torch(in, args, [&]() -> Value {
    Value result;
    if (args.count > 0 && is_tensor(state, args[0]) && is_inference(tensor_of(args[0])) && writes_self(function))
      refuse_write();
    const bool plain = args.keyword_names == nullptr && args.count - 1 < 2 && is_tensor(state, args[0]);
    if (plain && call_fast(in, state, function, args, result)) return result;
    if (function.fast.along != nullptr && call_reduction(in, state, function, args, result)) return result;
    BoundCall bound;
    for (const Binder& binder : binders_of(in, function)) {
      if (binder.bind(in, state, args, bound)) return run(in, state, function, binder, args, bound);
      bound.reset();
    }
    if (answered_by_others(in, state, args, result) || call_in_old_order(in, state, function, args, result) ||
        made_sparse(in, state, function.name, args, result))
      return result;
    refuse_call(in, function, args);
  });
}

[[gnu::noinline]] Value enter_with_modes(Interpreter& in, TorchState& state, OpFunction& function, const Args& args) {
  Value result;
  if ((state.modes & (kHasSubclasses | kHasFunctionModes)) != 0 && answered_by_others(in, state, args, result))
    return result;
  if ((state.modes & kHasSparse) != 0) {
    const std::string name = std::string(function.entries.front()->name) + (function.is_inplace ? "_" : "");
    if (answered_for_sparse(in, state, make_str(in, name), args, result)) return result;
  }
  if ((state.modes & kAutocasts) != 0 && in_torch(in, args, [&] { return call_autocast(in, function, args, result); }))
    return result;
  if ((state.modes & kDispatches) != 0 && is_taken(in, state, function, args)) {
    const std::string name = std::string(function.entries.front()->name) + (function.is_inplace ? "_" : "");
    if (auto answer = dispatch_at_door(in, name, args)) return *std::move(answer);
  }
  if ((state.modes & kVmaps) != 0 && function.entries.front()->has(tensor::kRandom))
    return in_torch(in, args, [&] { return draw_for_batch(in, state, function, args); });
  const NotedCall noted(in, function.entries.front()->name, args, function.is_inplace);
  return enter(in, state, function, args);
}

}  // namespace

Value call_op(Interpreter& in, OpFunction& function, const Args& args) {
  TorchState& state = torch_state(in);
  if (state.modes != 0) [[unlikely]]
    return enter_with_modes(in, state, function, args);
  return enter(in, state, function, args);
}

// Fast pointers may serve a name only where every overload that takes the same operands agrees with them.
FastPaths merge_fast_paths(std::span<const OpEntry* const> entries) {
  FastPaths merged;
  for (const OpEntry* entry : entries) {
    const FastPaths& f = entry->fast;
    if (merged.unary == nullptr) merged.unary = f.unary;
    if (merged.binary == nullptr) merged.binary = f.binary;
    if (merged.tensor_scalar == nullptr) merged.tensor_scalar = f.tensor_scalar;
    if (merged.scalar_tensor == nullptr) merged.scalar_tensor = f.scalar_tensor;
    if (merged.unary_inplace == nullptr) merged.unary_inplace = f.unary_inplace;
    if (merged.binary_inplace == nullptr) merged.binary_inplace = f.binary_inplace;
    if (merged.scalar_inplace == nullptr) merged.scalar_inplace = f.scalar_inplace;
    if (merged.along == nullptr) merged.along = f.along;
  }
  return merged;
}

Value make_op_function(Interpreter& in, OpFunction function) {
  function.fast = merge_fast_paths(function.entries);
  const bool is_method = function.is_method;
  auto owned = std::make_unique<OpFunction>(std::move(function));
  const Value made = in.new_function(owned->name.c_str(), "", call_op_function, owned.get(),
                                     [](void* data) { delete static_cast<OpFunction*>(data); });
  owned.release();
  auto* const native = object_cast<NativeFunction>(made);
  native->describe = [](const NativeFunction* self) { return doc_of(*static_cast<OpFunction*>(self->data)); };
  if (is_method) own_method(in, native, torch_state(in).tensor);
  return made;
}

OpFunction* op_function_of(const Value& function) {
  if (!function.is_object() || function.as_object()->kind != ObjectKind::NativeFunction) return nullptr;
  const auto* const native = known_cast<NativeFunction>(function);
  return native->function == call_op_function ? static_cast<OpFunction*>(native->data) : nullptr;
}

std::vector<std::string> schemas_of(Interpreter&, const Value& function) {
  std::vector<std::string> schemas;
  if (const OpFunction* const op = op_function_of(function))
    for (const OpEntry* entry : op->entries) schemas.emplace_back(entry->schema_text);
  return schemas;
}

Value call_op_by_name(Interpreter& in, std::string_view name, const Args& args) {
  Value& function = torch_state(in).ops_by_name[std::string(name)];
  if (function.is_undefined()) {
    const std::span<const OpEntry* const> entries = find_op(name);
    if (entries.empty())
      throw Error(ErrorKind::NotImplementedError, "operation '" + std::string(name) + "' does not exist");
    function = make_op_function(in, {std::string(name), {entries.begin(), entries.end()}});
  }
  const Value keep = function;
  return call_op(in, *static_cast<OpFunction*>(object_cast<NativeFunction>(keep)->data), args);
}

}  // namespace tessera::stdlib
