// Asking before a function of torch does its work: modes, then classes of operands.
// compile: small (who asks before ops is called by few programs)
#include "stdlib/torch/torch_function.h"

#include <algorithm>

#include "lang/compiler/chunk.h"
#include "lang/core/bind.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/vm/vm.h"
#include "runtime/ops/views.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/dispatch.h"
#include "stdlib/torch/sparse_tensors.h"
#include "stdlib/torch/tensor_cycles.h"

namespace tessera::stdlib {
namespace {

using Disabled = FunctionModes::Disabled;

// ---- Who is asked ------------------------------------------------------------------------------------------------------

// The operands whose class is asked, one operand of each class, subclasses before their bases.
class Asked {
 public:
  explicit Asked(Interpreter& in) : in_(in) {}

  // A tensor's class, or a class of a script that has the method without being a tensor's.
  void add(const Value& v) {
    const bool other = v.is_object() && v.as_object()->kind == ObjectKind::Instance &&
                       !type_lookup(v.as_object()->type, intern(in_, "__torch_function__")).is_undefined();
    if (!other && !asks_torch_function(v)) return;
    Type* const type = v.as_object()->type;
    const auto same = [&](const Value& other) { return other.as_object()->type == type; };
    if (std::any_of(values.begin(), values.end(), same)) return;
    const auto base = std::find_if(values.begin(), values.end(),
                                   [&](const Value& other) { return type->is_subtype_of(other.as_object()->type); });
    values.insert(base, v);
  }
  // Also those in a list or tuple: torch.stack([a, b]).
  void add_all(const Value& v) {
    add(v);
    if (!is_sequence(v)) return;
    for (const Value& item : items_of(v)) add(item);
  }

  std::vector<Value> values;

 private:
  Interpreter& in_;
};

// The arguments of a call of __torch_function__: func, types, args and, if the call has keywords, kwargs.
struct Question {
  Question(Interpreter& in, const Value& function, const Asked& asked, const Args& args, bool with_keywords) : in_(in) {
    std::vector<Value> types;
    for (const Value& v : asked.values) types.push_back(Value(static_cast<Object*>(v.as_object()->type)));
    values_ = {function, make_tuple(in, types.data(), types.size()), make_tuple(in, args.values, args.positional())};
    if (args.keyword_names == nullptr && !with_keywords) return;
    Value keywords = make_dict(in);
    for (uint32_t i = args.positional(); i < args.count; ++i)
      dict_set(in, object_cast<Dict>(keywords), args.keyword_names->items[i - args.positional()], args[i]);
    values_.push_back(std::move(keywords));
  }

  // False: the answer is NotImplemented.
  bool answered_by(const Value& who, Value& result) const {
    const Value method = get_attr(in_, who, intern(in_, "__torch_function__"));
    result = call(in_, method, Args{values_.data(), static_cast<uint32_t>(values_.size())});
    return !(result.is_object() && result.as_object() == in_.not_implemented.as_object());
  }

 private:
  Interpreter& in_;
  std::vector<Value> values_;
};

// While a mode answers, what it calls asks the modes around it.
class WithoutInnermost {
 public:
  explicit WithoutInnermost(TorchState& state) : state_(state), mode(state.function_modes.entered.back()) {
    state_.function_modes.entered.pop_back();
    if (state_.function_modes.entered.empty()) state_.modes &= ~kHasFunctionModes;
  }
  ~WithoutInnermost() {
    state_.function_modes.entered.push_back(mode);
    state_.modes |= kHasFunctionModes;
  }
  WithoutInnermost(const WithoutInnermost&) = delete;

 private:
  TorchState& state_;

 public:
  const Value mode;
};

// "torch.sum", "torch.Tensor.sum", "torch.Tensor.shape.__get__", as PyTorch names what nobody has answered for.
std::string name_in_refusal(Interpreter& in, const Value& function) {
  const Value name = find_attr(in, function, intern(in, "__name__"));
  if (!is_str(name)) return repr_text(in, function);
  if (function.as_object()->kind != ObjectKind::NativeFunction) {
    const Value property = find_attr(in, function, intern(in, "__self__"));
    const Value of = property.is_undefined() ? Value() : find_attr(in, property, intern(in, "__name__"));
    return "torch.Tensor." + (is_str(of) ? std::string(text_of(of)) + "." : "") + std::string(text_of(name));
  }
  return (known_cast<NativeFunction>(function)->owner != nullptr ? "torch.Tensor." : "torch.") +
         std::string(text_of(name));
}

[[noreturn]] void refuse_unanswered(Interpreter& in, const Value& function, const Asked& asked, bool by_mode) {
  std::string text = "Multiple dispatch failed for '" + name_in_refusal(in, function) +
                     "'; all __torch_function__ handlers returned NotImplemented:\n\n";
  if (by_mode) text += "  - mode object\n";
  for (const Value& v : asked.values)
    text += "  - tensor subclass " + repr_text(in, Value(static_cast<Object*>(v.as_object()->type))) + "\n";
  throw Error(ErrorKind::TypeError, text + "\nFor more information, try re-running with TORCH_LOGS=not_implemented");
}

}  // namespace

bool call_torch_function(Interpreter& in, TorchState& state, const Value& function, const Args& args, Value& result,
                         AskForm form) {
  const FunctionModes& modes = state.function_modes;
  const bool by_mode = (state.modes & kHasFunctionModes) != 0 && modes.disabled != Disabled::All;
  Asked asked(in);
  if (modes.disabled == Disabled::Nothing)
    for (uint32_t i = 0; i < args.count; ++i) asked.add_all(args[i]);
  if (!by_mode && asked.values.empty()) return answered_for_sparse(in, state, function, args, result);
  const Question question(in, function, asked, args, form.with_keywords);
  if (by_mode) {
    const WithoutInnermost outer(state);
    if (question.answered_by(outer.mode, result)) return true;
  }
  for (const Value& v : asked.values)
    if (question.answered_by(v, result)) return true;
  if (asked.values.empty() && answered_for_sparse(in, state, function, args, result)) return true;
  if (!form.is_operator) refuse_unanswered(in, function, asked, by_mode);
  result = in.not_implemented;
  return true;
}

std::optional<Value> ask_at_door(Interpreter& in, std::string_view method, std::initializer_list<Value> operands,
                                 AskForm form) {
  TorchState& state = torch_state(in);
  const auto may_answer = [&](const Value& v) {
    return asks_torch_function(v) || is_sparse(state, v) || (v.is_object() && v.as_object()->kind == ObjectKind::Instance) || is_tuple(v);
  };
  if ((state.modes & kHasFunctionModes) == 0 && std::none_of(operands.begin(), operands.end(), may_answer)) return {};
  const Value function = find_attr(in, Value(static_cast<Object*>(state.tensor)), intern(in, std::string(method)));
  Value result;
  const Args args{operands.begin(), static_cast<uint32_t>(operands.size())};
  if (function.is_undefined() || !call_torch_function(in, state, function, args, result, form)) return {};
  return result;
}

// ---- Attributes --------------------------------------------------------------------------------------------------------

namespace {

// `x.sum` of an instance whose class is to be asked: the function and its self, which ask when they are called.
struct AskingMethod {
  Value function, self;
};

Value call_asking_method(Interpreter& in, const Args& args) {
  const auto& method = *static_cast<const AskingMethod*>(args.callee->data);
  std::vector<Value> values{method.self};
  values.insert(values.end(), args.values, args.values + args.count);
  const Args with_self{values.data(), static_cast<uint32_t>(values.size()), args.keyword_names};
  Value result;
  if (call_torch_function(in, torch_state(in), method.function, with_self, result)) return result;
  return call(in, method.function, with_self);
}

Value make_asking_method(Interpreter& in, const Value& function, const Value& self) {
  auto method = std::make_unique<AskingMethod>(AskingMethod{function, self});
  const Value made = in.new_function(known_cast<NativeFunction>(function)->name->view().data(), "", call_asking_method,
                                     method.get(), [](void* data) { delete static_cast<AskingMethod*>(data); });
  method.release();
  return made;
}

// Tensor's own methods and attributes ask; what a class between has defined does not, nor do names of Python's.
Value attribute_of_subclass(Interpreter& in, const Value& self, Str* name) {
  TorchState& state = torch_state(in);
  if (state.function_modes.disabled != Disabled::Nothing || name->view().starts_with("__"))
    return generic_find_attr(in, self, name);
  const Value found = type_lookup(self.as_object()->type, name);
  const Value* const of_tensor = dict_get_str(state.tensor->attributes(), name);
  if (of_tensor == nullptr || !found.is_object() || !of_tensor->is_object() ||
      of_tensor->as_object() != found.as_object())
    return generic_find_attr(in, self, name);
  if (is_native_method(found)) return make_asking_method(in, found, self);
  if (found.as_object()->kind != ObjectKind::Property) return generic_find_attr(in, self, name);
  Value result;
  const Value getter = get_attr(in, found, intern(in, "__get__"));
  if (call_torch_function(in, state, getter, Args{&self, 1}, result)) return result;
  return generic_find_attr(in, self, name);
}

// function(*values, **keywords); None stands for none.
Value call_spread(Interpreter& in, const Value& function, const Value& values, const Value& keywords) {
  const auto refuse = [&](const std::string& why, const Value& given) {
    const Value name = find_attr(in, function, intern(in, "__name__"));
    throw Error(ErrorKind::TypeError,
                (is_str(name) ? std::string(text_of(name)) : std::string(type_name(in, function))) +
                    "() argument after " + why + ", not " + std::string(type_name(in, given)));
  };
  std::vector<Value> given, names;
  if (!values.is_none()) {
    if (!is_tuple(values) && !is_list(values)) refuse("* must be an iterable", values);
    for_each(in, values, [&](const Value& v) { given.push_back(v); });
  }
  if (!keywords.is_none()) {
    if (!is_dict(keywords)) refuse("** must be a mapping", keywords);
    dict_for_each(as_dict(keywords),
                  [&](const Value& name, const Value& v) { names.push_back(name), given.push_back(v); });
  }
  if (!std::all_of(names.begin(), names.end(), is_str)) throw Error(ErrorKind::TypeError, "keywords must be strings");
  const Value keyword_names = names.empty() ? Value() : make_tuple(in, names.data(), names.size());
  return call(
      in, function,
      Args{given.data(), static_cast<uint32_t>(given.size()), names.empty() ? nullptr : as_tuple(keyword_names)});
}

// The native function torch._C._disabled_torch_function_impl. A class with this function as __torch_function__ is not asked.
Value dont_ask(Interpreter& in, const Args& args) { return call_spread(in, args[0], args[2], args[3]); }

bool wants_to_be_asked(Interpreter& in, const TorchState& state, const Type* type) {
  Str* const name = intern(in, "__torch_function__");
  for (Type* each : type->mro) {
    if (each == state.tensor) return true;
    const Value* const own = dict_get_str(each->attributes(), name);
    if (own == nullptr) continue;
    return !(own->is_object() && own->as_object()->kind == ObjectKind::NativeFunction &&
             known_cast<NativeFunction>(*own)->function == NativeFn(dont_ask));
  }
  return false;
}

}  // namespace

Value attribute_of_sparse(Interpreter& in, const Value& self, Str* name) {
  const TorchState& state = torch_state(in);
  if (!is_sparse(state, self) || name->view().starts_with("__")) return generic_find_attr(in, self, name);
  const Value own = call_sparse(in, "_attribute", {Value(static_cast<Object*>(name)), self});
  if (!own.is_object() || own.as_object() != in.not_implemented.as_object()) return own;
  const Value found = type_lookup(state.tensor, name);
  return is_native_method(found) ? make_asking_method(in, found, self) : generic_find_attr(in, self, name);
}

void adjust_tensor_subclass(Interpreter& in, Type* type) {
  TorchState& state = torch_state(in);
  const bool asks = wants_to_be_asked(in, state, type);
  note_dispatching_class(in, type);
  type->type_flags = asks ? type->type_flags | kAsksFirst : type->type_flags & ~kAsksFirst;
  if (asks) state.modes |= kHasSubclasses, type->slots.get_attr = attribute_of_subclass;
  else if (type->slots.get_attr == attribute_of_subclass || type->slots.get_attr == nullptr)
    type->slots.get_attr = (state.modes & kHasSparse) != 0 ? attribute_of_sparse : nullptr;
}

// ---- The answer of Tensor itself ---------------------------------------------------------------------------------------

namespace {

class DisabledFor {
 public:
  DisabledFor(TorchState& state, Disabled what) : state_(state), before_(state.function_modes.disabled) {
    state_.function_modes.disabled = std::max(before_, what);
  }
  ~DisabledFor() { state_.function_modes.disabled = before_; }
  DisabledFor(const DisabledFor&) = delete;

 private:
  TorchState& state_;
  Disabled before_;
};

}  // namespace

Value as_instance(Interpreter& in, const Tensor& tensor, Type* type) {
  auto* object = make_untracked<TensorObject>(in, type);
  Value made = Value::adopt(object);
  object->tensor = tensor;
  if (type->attributes_offset != 0) track_tensor(in, made);
  return made;
}

Value replace_tensors(Interpreter& in, const TorchState& state, const Value& v,
                      const std::function<Value(const Value& tensor)>& replace) {
  if (is_tensor(state, v)) return replace(v);
  if (!is_sequence(v)) return v;
  in.vm().check_native_stack();
  const std::span<const Value> items = items_of(v);
  std::vector<Value> replaced(items.begin(), items.end());  // making an object may run a script that changes the list
  for (Value& item : replaced) item = replace_tensors(in, state, item, replace);
  const Value list = make_list(in, replaced.data(), replaced.size());
  return call(in, Value(static_cast<Object*>(v.as_object()->type)), {list});
}

namespace {

// Tensors among the results become instances of the class.
Value convert(Interpreter& in, const TorchState& state, const Value& v, Type* type) {
  return replace_tensors(in, state, v, [&](const Value& tensor) {
    return tensor.as_object()->type->is_subtype_of(type) ? tensor : as_instance(in, tensor_of(tensor), type);
  });
}

// Whether a function's result keeps its class: getters of tensors that autograd holds (grad, _base).
bool stays(Interpreter& in, const TorchState& state, const Value& function) {
  for (const char* name : {"grad", "_grad", "_base"}) {
    const Value* const property = dict_get_text(state.tensor->attributes(), name);
    if (property != nullptr && equals(in, get_attr(in, *property, intern(in, "__get__")), function)) return true;
  }
  return false;
}

// (cls, func, types, args=(), kwargs=None)
Value answer_of_tensor(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  Type* const type = object_cast<Type>(args[0]);
  bool is_below_all = true;
  for_each(in, args[2], [&](const Value& other) { is_below_all = is_below_all && is_subclass(in, args[0], other); });
  if (!is_below_all) return in.not_implemented;
  Value result;
  {
    const DisabledFor subclasses(state, Disabled::Subclasses);
    result = call_spread(in, args[1], args[3], args[4]);
  }
  return type == state.tensor || stays(in, state, args[1]) ? result : convert(in, state, result, type);
}

// x.as_subclass(cls): the same memory and history, as an instance of the class.
Value as_subclass(Interpreter& in, const Args& args) {
  const TorchState& state = torch_state(in);
  if (!args[1].is_object() || args[1].as_object()->kind != ObjectKind::Type)
    throw Error(ErrorKind::TypeError, "cls must be a type (got " + std::string(type_name(in, args[1])) + ")");
  Type* const type = object_cast<Type>(args[1]);
  if (!type->is_subtype_of(state.tensor))
    throw Error(ErrorKind::TypeError,
                "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
                "Make sure your class inherits from Tensor.");
  return in_torch(in, args, [&] { return as_instance(in, tensor::alias(tensor_of(args[0])), type); });
}

// ---- Modes -------------------------------------------------------------------------------------------------------------

Value enter_mode(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  state.function_modes.entered.push_back(args[0]);
  state.modes |= kHasFunctionModes;
  return Value::none();
}

Value leave_mode(Interpreter& in, const Args&) {
  TorchState& state = torch_state(in);
  if (!state.function_modes.entered.empty()) state.function_modes.entered.pop_back();
  if (state.function_modes.entered.empty()) state.modes &= ~kHasFunctionModes;
  return Value::none();
}

Value modes_entered(Interpreter& in, const Args&) {
  const std::vector<Value>& entered = torch_state(in).function_modes.entered;
  return make_tuple(in, entered.data(), entered.size());
}

// Answers what was disabled before.
Value disable(Interpreter& in, const Args& args) {
  FunctionModes& modes = torch_state(in).function_modes;
  const auto before = static_cast<int64_t>(modes.disabled);
  modes.disabled = static_cast<Disabled>(std::clamp<int64_t>(args[0].as_int(), Disabled::Nothing, Disabled::All));
  return Value::integer(before);
}

// Lets a function of the library ask its arguments before it begins: Note [Calls that ask] in lang/vm/call.cpp.
Value ask_arguments(Interpreter& in, const Args& args) {
  Code* const code = object_cast<lang::Function>(args[0])->code;
  code->code_flags = static_cast<uint16_t>((code->code_flags & ~(lang::kSimpleCall | lang::kPlainParameters)) | lang::kAsksArguments);
  set_attr(in, args[0], intern(in, "__asked__"), args[1]);
  return Value::none();
}

Value has_torch_function(Interpreter& in, const Args& args) {
  const TorchState& state = torch_state(in);
  if (state.function_modes.disabled == Disabled::All) return Value::boolean(false);
  if ((state.modes & kHasFunctionModes) != 0) return Value::boolean(true);
  bool found = false;
  for_each(in, args[0], [&](const Value& v) {
    if (!v.is_object() || v.as_object()->type == state.tensor) return;
    if (is_tensor(state, v))
      found = found || (asks_torch_function(v) && state.function_modes.disabled == Disabled::Nothing);
    else found = found || !type_lookup(v.as_object()->type, intern(in, "__torch_function__")).is_undefined();
  });
  return Value::boolean(found);
}

}  // namespace

void add_torch_function_functions(Interpreter& in, Module& module) {
  in.def(module, "_disabled_torch_function_impl(func, types, args=None, kwargs=None)",
         "Says that a class is not asked.", dont_ask);
  in.def(module, "_push_on_torch_function_stack(mode)", "", enter_mode);
  in.def(module, "_pop_torch_function_stack()", "", leave_mode);
  in.def(module, "_torch_function_stack()", "", modes_entered);
  in.def(module, "_disable_torch_function(what: int)", "", disable);
  in.def(module, "_has_torch_function(args)", "", has_torch_function);
  in.def(module, "_ask_arguments(function, asked)", "", ask_arguments);
}

void add_torch_function_methods(Interpreter& in, Type* tensor) {
  const Value answer =
      in.new_function("__torch_function__(cls, func, types, args=None, kwargs=None)",
                      "Runs the function; its results become instances of the class.", answer_of_tensor);
  auto* const native = object_cast<NativeFunction>(answer);
  native->owner = tensor, native->takes_class = true;
  dict_set_str(in, tensor->attributes(), native->name, make_class_method(in, answer));
  const Value method =
      in.new_function("as_subclass(self, cls)", "The same tensor as an instance of a class.", as_subclass);
  own_method(in, object_cast<NativeFunction>(method), tensor);
  dict_set_str(in, tensor->attributes(), intern(in, "as_subclass"), method);
}

}  // namespace tessera::stdlib
