// compile: small (seldom in an inner loop)
#include "stdlib/torch/autocast.h"

#include <optional>

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "runtime/autograd/engine.h"
#include "runtime/device/traits.h"
#include "runtime/ops.h"
#include "stdlib/torch/torch_function.h"

namespace tessera::stdlib {
namespace {

using tensor::Autocast;

// Returns the autocast class of an op from its entry. Functions written in the language have theirs in torch/amp/_lists.tsr, which numbers the
// classes in the order of Autocast.
Autocast policy_of(Interpreter& in, std::string_view name, bool cuda) {
  if (name.starts_with("special_")) name.remove_prefix(8);
  for (const OpEntry* entry : tensor::find_op(name))
    if (const Autocast said = cuda ? entry->facts->autocast_cuda : entry->facts->autocast; said != Autocast::None)
      return said;
  const Value* table = dict_get_text(in.import("torch.amp._lists")->dict, cuda ? "CUDA" : "CPU");
  const Value* place = table != nullptr && is_dict(*table) ? dict_get_text(as_dict(*table), name) : nullptr;
  const bool is_policy = place != nullptr && place->is_int() && place->as_int() > 0 &&
                         place->as_int() <= static_cast<int64_t>(Autocast::Product);
  return is_policy ? static_cast<Autocast>(place->as_int()) : Autocast::None;
}

// Asked of an op once; 0: not yet.
Autocast policy_of(Interpreter& in, OpFunction& function, bool cuda) {
  uint8_t& known = function.autocast[cuda];
  if (known == 0)
    known = 1 + static_cast<uint8_t>(function.is_inplace ? Autocast::None : policy_of(in, function.name, cuda));
  return static_cast<Autocast>(known - 1);
}

std::span<const Value> items_of(const Value& v) {
  if (is_tuple(v)) return {as_tuple(v)->items, as_tuple(v)->size};
  if (is_list(v)) return {as_list(v)->items, as_list(v)->size};
  return {};
}

// The tensors of a call; lists are looked into once.
std::vector<const Tensor*> tensors_of(const TorchState& state, std::span<const Value> values, bool deep = true) {
  std::vector<const Tensor*> found;
  for (const Value& v : values) {
    if (is_tensor(state, v)) found.push_back(&tensor_of(v));
    else if (deep)
      for (const Tensor* t : tensors_of(state, items_of(v), false)) found.push_back(t);
  }
  return found;
}

// What a call becomes on one kind of device.
class Caster {
 public:
  Caster(Interpreter& interpreter, bool cuda) : in_(interpreter), state_(torch_state(in_)), cuda_(cuda) {}

  // Numbers of 64 bits stay, and what is on another kind of device.
  bool eligible(const Tensor& t) const {
    return tensor::autocasts_as_cuda(t.device()) == cuda_ && is_floating(t.dtype()) && t.dtype() != kFloat64;
  }
  DType lower() const { return state_.autocast.dtypes[cuda_]; }

  DType type_for(Autocast policy, std::span<const Value> values) const {
    if (policy == Autocast::Float32) return kFloat32;
    DType widest = lower();
    if (policy != Autocast::Widest) return widest;
    for (const Tensor* t : tensors_of(state_, values)) {
      if (!eligible(*t) || t->dtype() == widest) continue;
      if (t->dtype() != kFloat32 && widest != kFloat32)
        throw Error(ErrorKind::RuntimeError, "Unexpected floating ScalarType in at::autocast::prioritize");
      widest = kFloat32;
    }
    return widest;
  }

  Value cast(const Value& v, DType to, bool deep = true) const {
    if (is_tensor(state_, v)) return eligible(tensor_of(v)) && tensor_of(v).dtype() != to ? cast_tensor(v, to) : v;
    if (!deep || (!is_tuple(v) && !is_list(v))) return v;
    const std::span<const Value> items = items_of(v);
    Value made = make_tuple(in_, items.data(), items.size());
    for (Value& item : *as_tuple(made)) item = cast(item, to, false);
    return made;
  }

 private:
  // Modes and classes below autograd see the conversion.
  Value converted(const Value& v, DType to) const {
    if ((state_.modes & kDispatches) == 0) [[likely]]
      return wrap_tensor(in_, to_dtype(tensor_of(v), to));
    return call_method(in_, v, intern(in_, "to"), {state_.dtypes[static_cast<int>(to)]});
  }
  // A block casts a weight once: what is made of it later shares the cast, also where it is recorded.
  Value cast_tensor(const Value& v, DType to) const {
    const Tensor& t = tensor_of(v);
    Value& weights = state_.autocast.weights;
    const bool keeps = state_.autocast.cache && to == lower() && t.dtype() == kFloat32 && t.requires_grad() &&
                       is_leaf(t) && !state_.context.inference_mode;
    if (!keeps) return converted(v, to);
    if (weights.is_undefined()) weights = make_dict(in_);
    Dict* const dict = object_cast<Dict>(weights);
    const Value key = Value::integer(static_cast<int64_t>(reinterpret_cast<intptr_t>(t.impl())));
    if (const Value* known = dict_get(in_, dict, key))
      if (const Value cast = as_tuple(*known)->items[1]; tensor_of(cast).dtype() == to) return cast;
    const GradMode recording(true);
    const Value made = converted(v, to);
    dict_set(in_, dict, key, make_tuple(in_, {v, made}));  // with what has the address
    return made;
  }

  Interpreter& in_;
  TorchState& state_;
  bool cuda_;
};

// The kind of device whose lists count for a call: 0 and 1, or neither.
std::optional<bool> device_of(const TorchState& state, std::span<const Value> values) {
  bool found[2] = {};
  for (const Tensor* t : tensors_of(state, values)) found[tensor::autocasts_as_cuda(t->device())] = true;
  for (const bool cuda : {true, false})
    if (found[cuda] && state.autocast.on[cuda]) return cuda;
  return {};
}

// Ops that a listed op is made of are not listed again.
struct Off {
  explicit Off(TorchState& s) : state(s), before(s.modes & kAutocasts) { state.modes &= ~kAutocasts; }
  ~Off() { state.modes |= before; }
  TorchState& state;
  uint32_t before;
};

bool is_keyword(const Args& args, uint32_t i, std::string_view name) {
  return i >= args.positional() && text_of(args.keyword_names->items[i - args.positional()]) == name;
}

// A call that gives dtype=float32, where it gives none itself; false: there is nothing to change.
bool call_total(Interpreter& in, OpFunction& function, const Args& args, const Caster& caster, Value& result) {
  const TorchState& state = torch_state(in);
  const Tensor& first = *tensors_of(state, {args.values, args.count}).front();
  if (!caster.eligible(first) || first.dtype() == kFloat32) return false;
  std::vector<Value> values(args.values, args.values + args.count), names(args.count - args.positional() + 1);
  for (uint32_t i = 0; i + 1 < names.size(); ++i) names[i] = args.keyword_names->items[i];
  names.back() = make_str(in, "dtype");
  uint32_t at = args.count;
  for (uint32_t i = 0; i < args.count; ++i) {
    if (is_keyword(args, i, "dtype")) at = i, names.pop_back();
    if (values[i].is_object() && values[i].as_object()->type == state.dtype) return false;
  }
  values.resize(std::max<size_t>(values.size(), at + 1));
  values[at] = state.dtypes[static_cast<int>(kFloat32)];
  const Value keywords = make_tuple(in, names.data(), names.size());
  result =
      call_op(in, function, Args{values.data(), static_cast<uint32_t>(values.size()), as_tuple(keywords), args.callee});
  return true;
}

}  // namespace

bool call_autocast(Interpreter& in, OpFunction& function, const Args& args, Value& result) {
  TorchState& state = torch_state(in);
  const std::span<const Value> given(args.values, args.count);
  const auto listed = [&](bool cuda) {
    return state.autocast.on[cuda] && policy_of(in, function, cuda) != Autocast::None;
  };
  if (!listed(false) && !listed(true)) return false;
  const std::optional<bool> cuda = device_of(state, given);
  if (!cuda || !listed(*cuda)) return false;
  for (uint32_t i = 0; i < args.count; ++i)
    if (is_keyword(args, i, "out") && !args[i].is_none()) return false;
  const Autocast policy = policy_of(in, function, *cuda);
  const Caster caster(in, *cuda);
  const Off off(state);
  if (policy == Autocast::Total) return call_total(in, function, args, caster, result);
  if (policy == Autocast::Product) {
    result = caster.cast(call_op(in, function, args), caster.lower());
    return true;
  }
  const DType to = caster.type_for(policy, given);
  std::vector<Value> values(given.begin(), given.end());
  for (Value& v : values) v = caster.cast(v, to);
  result = call_op(in, function, Args{values.data(), args.count, args.keyword_names, args.callee});
  return true;
}

namespace {

bool names_cuda(const Value& v) { return text_of(v) == "cuda"; }

// Of a function in the language that PyTorch's lists name: whether it has to go by _autocast.
Value autocasts(Interpreter& in, const Args& args) {
  const TorchState& state = torch_state(in);
  const AutocastModes& modes = state.autocast;
  if ((state.modes & kAutocasts) == 0) return Value::boolean(false);
  const auto listed = [&](bool cuda) {
    return modes.on[cuda] && policy_of(in, text_of(args[0]), cuda) != Autocast::None;
  };
  return Value::boolean(listed(false) || listed(true));
}

// Calls it with what it was given, its locals in their order, as the list of that name wants them.
Value autocast(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  std::vector<Value> values;
  dict_for_each(object_cast<Dict>(args[2]), [&](const Value&, const Value& v) { values.push_back(v); });
  if (const std::optional<bool> cuda = device_of(state, values))
    if (const Autocast policy = policy_of(in, text_of(args[0]), *cuda); policy != Autocast::None)
      in_torch(in, args, [&] {
        const Caster caster(in, *cuda);
        const DType to = caster.type_for(policy, values);
        for (Value& v : values) v = caster.cast(v, to);
      });
  const Off off(state);
  return call(in, args[1], Args{values.data(), static_cast<uint32_t>(values.size())});
}

// enabled, dtype, cache
Value get_autocast(Interpreter& in, const Args& args) {
  const TorchState& state = torch_state(in);
  const AutocastModes& modes = state.autocast;
  const bool cuda = names_cuda(args[0]);
  return make_tuple(in, {Value::boolean(modes.on[cuda]), state.dtypes[static_cast<int>(modes.dtypes[cuda])],
                         Value::boolean(modes.cache)});
}

Value set_autocast(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  AutocastModes& modes = state.autocast;
  const bool cuda = names_cuda(args[0]);
  DType dtype;
  if (!to_dtype(in, args[2], dtype))
    throw Error(ErrorKind::TypeError, "set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not " +
                                          std::string(type_name(in, args[2])));
  modes.on[cuda] = truth(in, args[1]);
  modes.dtypes[cuda] = dtype;
  modes.cache = truth(in, args[3]);
  state.modes = modes.on[0] || modes.on[1] ? state.modes | kAutocasts : state.modes & ~kAutocasts;
  return Value::none();
}

// A block more or less, of which the outermost drops the weights that were cast; 0 drops them now.
Value nest_autocast(Interpreter& in, const Args& args) {
  AutocastModes& modes = torch_state(in).autocast;
  const int64_t step = args[0].as_int();
  modes.nesting += step;
  if (step == 0) modes.weights = Value();
  return Value::integer(modes.nesting);
}

}  // namespace

void add_autocast_functions(Interpreter& in, Module& module) {
  in.def(module, "_get_autocast(device: str)", "", get_autocast);
  in.def(module, "_set_autocast(device: str, enabled, dtype, cache)", "", set_autocast);
  in.def(module, "_nest_autocast(step: int)", "", nest_autocast);
  in.def(module, "_autocasts(name: str)", "", autocasts);
  in.def(module, "_autocast(name: str, function, given: dict)", "", autocast);
}

}  // namespace tessera::stdlib
