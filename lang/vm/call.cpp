// Calls: every way from a callee and its arguments to a running frame or an answer.
//
// Scripts that call scripts only push a frame, whatever stands between them: bound methods, classes whose __init__ is a
// script function, *args and **kwargs. Natives are called here and now.
#include "lang/vm/call.h"

#include <algorithm>
#include <vector>

#include "lang/core/bind.h"
#include "lang/core/booking.h"
#include "lang/core/failure.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/objects/attribute_reads.h"
#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/dict_display.h"
#include "lang/types/list.h"
#include "lang/types/tuple.h"
#include "lang/vm/operands.h"
#include "lang/vm/steps.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

// Arguments on the way from one place to another; freed whatever happens.
class Moved {
 public:
  Moved(Value* values, uint32_t count) : count_(count) {
    if (count > kInline) many_.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
      if (count > kInline) many_[i] = std::move(values[i]);
      else new (few() + i) Value(std::move(values[i]));
    }
  }
  ~Moved() {
    for (uint32_t i = 0; count_ <= kInline && i < count_; ++i) few()[i].~Value();
  }
  Moved(const Moved&) = delete;
  Moved& operator=(const Moved&) = delete;
  Value* data() { return count_ > kInline ? many_.data() : few(); }

 private:
  static constexpr uint32_t kInline = 8;
  Value* few() { return reinterpret_cast<Value*>(room_); }
  uint32_t count_;
  alignas(Value) unsigned char room_[kInline * sizeof(Value)];
  std::vector<Value> many_;
};

uint32_t default_count(const Function* function) {
  return function->defaults.is_undefined() ? 0 : as_tuple(function->defaults)->size;
}

// Arguments of a host's call that are laid out at once where they are wanted; more go through a vector.
constexpr uint32_t kMostDirect = 250;

bool is_native(const Value& v) { return v.is_object() && v.as_object()->kind == ObjectKind::NativeFunction; }

// The parameters were bound side by side; Note [Far variables]. From the last
// on, since the places may overlap.
void place_far(const Code* code, Value* window) {
  const size_t near = code->near_parameters, far = code->far_locals.size();
  const size_t parameters = code->parameters.size() - near;
  Value* const far_variables = window + code->near_registers;
  for (size_t i = far; i-- > parameters;) far_variables[i] = Value();
  for (size_t i = parameters; i-- > 0;) far_variables[i] = std::move(window[near + i]);
}

// The __call__ of an instance of a script's class.
Function* scripted_call(Interpreter& in, const Object* object) {
  return (object->type->type_flags & kScriptClass) ? special_function(in, object->type, SpecialSlot::Call) : nullptr;
}

// Is every parameter given, and *args the only one that is not plain?
bool takes_rest(const Code* code, uint32_t count) {
  constexpr uint16_t kOthers = kVarKeywords | kGenerator | kAsksArguments;
  return (code->code_flags & (kVarArgs | kOthers)) == kVarArgs && code->keyword_only == 0 && count >= code->positional &&
         code->far_locals.empty();
}

// Are the arguments with names all for **rest, the only parameter that is not plain?
bool takes_named_rest(const Code* code, uint32_t given, const Tuple* keywords) {
  constexpr uint16_t kOthers = kVarArgs | kGenerator | kAsksArguments;
  if ((code->code_flags & (kVarKeywords | kOthers)) != kVarKeywords || code->keyword_only != 0 || given != code->positional ||
      !code->far_locals.empty())
    return false;
  for (uint32_t k = 0; k < keywords->size; ++k) {
    const Value& name = (*keywords)[k];
    if (!is_str(name) || !(name.as_object()->flags & kInterned)) return false;
    for (uint32_t i = 0; i < given; ++i)
      if (code->parameters[i] == name.as_object()) return false;
  }
  return true;
}

// Lays the arguments out in the window, if *args or **rest is the only parameter that is not plain and takes all that are left over.
// Returns false if it has done nothing.
bool take_rest(Interpreter& in, const Code* code, Value* window, Value* arguments, uint32_t count, const Tuple* keywords) {
  Value rest;
  const uint32_t plain = code->positional;
  if (keywords == nullptr) {
    if (!takes_rest(code, count)) return false;
    rest = make_tuple_moving(in, arguments + plain, count - plain);
  } else {
    if (!takes_named_rest(code, count - keywords->size, keywords)) return false;
    rest = dict_of_names(in, keywords->items, arguments + plain, keywords->size);
  }
  for (uint32_t i = 0; arguments != window && i < plain; ++i) window[i] = std::move(arguments[i]);
  window[plain] = std::move(rest);
  return true;
}

// Do its defaults fill the parameters behind `count` plain ones, and does it run at once?
bool fits_with_defaults(const Function* function, uint32_t count) {
  const Code* const code = function->code;
  return (code->code_flags & (kSimpleCall | kGenerator)) == kSimpleCall && count < code->positional &&
         code->positional - count <= default_count(function);
}

// Are the arguments that have names the parameters that come next, in their order? Then each stands where it belongs.
bool names_follow(const Code* code, uint32_t given, const Tuple* keywords) {
  if (given < code->positional_only) return false;
  for (uint32_t i = 0; i < keywords->size; ++i) {
    if (keywords->items[i].as_object() != code->parameters[given + i]) return false;
  }
  return true;
}

// Note [Calls that ask]: a function whose code has kAsksArguments calls its attribute __asked__ with itself, the tuple and the dict of its
// arguments, if one of them is an instance of a script's class or of a class that has kAsksFirst. The result is the call's result, unless it
// is NotImplemented. Such code has none of the flags of simple calls, so no shorter way of a call has to look for it.
bool is_answered(Interpreter& in, Function* function, Value* arguments, uint32_t count, const Tuple* keywords, Value& out) {
  const auto may_answer = [](const Value& v) {
    return v.is_object() && (v.as_object()->kind == ObjectKind::Instance || (v.as_object()->type->type_flags & kAsksFirst));
  };
  if (std::none_of(arguments, arguments + count, may_answer) || !is_dict(function->dict)) return false;
  const Value* const found = dict_get_text(as_dict(function->dict), "__asked__");
  if (found == nullptr) return false;
  const Value asked = *found;  // the call may change the dict
  const uint32_t given = keywords == nullptr ? count : count - keywords->size;
  const Value named = make_dict(in);
  for (uint32_t i = given; i < count; ++i) dict_set(in, as_dict(named), keywords->items[i - given], arguments[i]);
  out = call(in, asked, {Value(function), make_tuple(in, arguments, given), named});
  if (!out.is(in.not_implemented)) return true;
  out = Value();
  return false;
}

[[gnu::cold]] Error not_callable(Interpreter& in, const Value& callee) {
  return make_error(ErrorKind::TypeError, {"'", type_name(in, callee), "' object is not callable"});
}

}  // namespace

// A window of the running frame may be used as it is, except by a generator: what it calls needs room on the stack.
Frame* VirtualMachine::begin_function(Function* function, Value* window, Value* arguments, uint32_t count,
                                      const Tuple* keywords, FrameKind kind, uint32_t result, Value& out) {
  Code* const code = function->code;
  if (window == nullptr || (kind != FrameKind::Entry && top_->generator != nullptr)) {
    window = top_ != nullptr ? top_->end : stack_;
  }
  if (window + code->registers > stack_end_) throw_too_deep(arguments, arguments == window ? count : 0);
  Value keep(function);
  if (keywords != nullptr && (code->code_flags & kPlainParameters) && count <= code->positional &&
      code->positional - count <= default_count(function) && names_follow(code, count - keywords->size, keywords)) {
    keywords = nullptr;
  }
  if (keywords == nullptr && begins_at_once(code, window, count)) [[likely]] {
    for (uint32_t i = 0; arguments != window && i < count; ++i) window[i] = std::move(arguments[i]);
    Frame* const frame = push_frame(function, window, count, kind, result);
    keep.release();  // the frame's
    return frame;
  }
  if (take_rest(in_, code, window, arguments, count, keywords)) {
    Frame* const frame = push_frame(function, window, code->positional + 1, kind, result);
    keep.release();
    return frame;
  }
  const bool simple = (code->code_flags & kPlainParameters) && keywords == nullptr && count <= code->positional &&
                      code->positional - count <= default_count(function);
  if (!simple) {
    Moved moved(arguments, count);
    if ((code->code_flags & kAsksArguments) && is_answered(in_, function, moved.data(), count, keywords, out)) return nullptr;
    if (!bind_parameters(in_, function, moved.data(), count, keywords, window)) return nullptr;
    count = code->near_parameters;
    if (!code->far_locals.empty()) place_far(code, window);
  } else if (arguments != window) {
    for (uint32_t i = 0; i < count; ++i) window[i] = std::move(arguments[i]);
  }
  if (simple && count < code->positional) {
    const Tuple* const defaults = as_tuple(function->defaults);
    for (uint32_t i = count; i < code->positional; ++i) {
      window[i] = defaults->items[defaults->size - (code->positional - i)];
    }
    count = code->positional;
  }
  if (code->code_flags & kGenerator) {
    out = make_generator(in_, function, window);
    return nullptr;
  }
  Frame* const frame = push_frame(function, window, count, kind, result);
  ++function->refcount;
  return frame;
}

Frame* VirtualMachine::begin_call(const Value& callee, Value* window, uint32_t count, const Tuple* keywords, uint32_t result) {
  if (keywords == nullptr && callee.is_object() && callee.as_object()->kind == ObjectKind::BoundMethod) {
    const BoundMethod* const method = known_cast<BoundMethod>(callee);
    if (is_native(method->function)) {
      const Value keep(callee);
      window[-1] = method->self;
      static_cast<void>(call_native_step(in_, known_cast<NativeFunction>(method->function), nullptr, window - 1, count + 1,
                                         top_->registers[result]));
      return nullptr;
    }
  }
  if (keywords == nullptr && &callee == window - 1 && is_of_script(callee) && top_->generator == nullptr) {
    Function* const method = special_function(in_, callee.as_object()->type, SpecialSlot::Call);
    if (method != nullptr && begins_at_once(method->code, &callee, count + 1)) {  // the callee stands where its self is wanted
      ++method->refcount;
      return push_frame(method, window - 1, count + 1, FrameKind::Call, result);
    }
  }
  return begin_other_call(callee, window, count, keywords, result);
}

Frame* VirtualMachine::begin_other_call(const Value& callee_place, Value* window, uint32_t count, const Tuple* keywords,
                                        uint32_t result) {
  Frame* const caller = top_;
  Value callee = &callee_place == window - 1 ? Value(std::move(window[-1])) : Value(callee_place);
  Value answer;
  if (callee.is_object()) {
    Object* const object = callee.as_object();
    switch (object->kind) {
      case ObjectKind::Function: {
        Function* const function = known_cast<Function>(object);
        const Code* const code = function->code;
        const bool has_room = caller->generator == nullptr && window + code->registers <= stack_end_;
        if (has_room && keywords == nullptr && fits_with_defaults(function, count)) [[likely]] {
          const Tuple* const defaults = as_tuple(function->defaults);
          for (uint32_t i = count; i < code->positional; ++i) {
            window[i] = defaults->items[defaults->size - (code->positional - i)];
          }
          Frame* const next = push_frame(function, window, code->positional, FrameKind::Call, result);
          callee.release();  // the frame's
          return next;
        }
        if (has_room && take_rest(in_, code, window, window, count, keywords)) {
          Frame* const next = push_frame(function, window, code->positional + 1, FrameKind::Call, result);
          callee.release();
          return next;
        }
        Frame* next = begin_function(function, window, window, count, keywords, FrameKind::Call,
                                     result, answer);
        if (next == nullptr && !is_raising()) caller->registers[result] = std::move(answer);
        return next;
      }
      case ObjectKind::BoundMethod: {
        const BoundMethod* method = known_cast<BoundMethod>(object);
        if (is_function(method->function)) {
          window[-1] = method->self;
          Function* const function = as_function(method->function);
          const Code* const code = function->code;
          if (caller->generator == nullptr && window + code->registers <= stack_end_) {
            const bool plain = keywords == nullptr && begins_at_once(code, window - 1, count + 1);
            if (plain || take_rest(in_, code, window - 1, window - 1, count + 1, keywords)) [[likely]] {
              Frame* const next = push_frame(function, window - 1, code->positional + !plain, FrameKind::Call, result);
              ++function->refcount;
              return next;
            }
          }
          Frame* next = begin_function(as_function(method->function), window - 1, window - 1, count + 1, keywords,
                                       FrameKind::Call, result, answer);
          if (next == nullptr && !is_raising()) caller->registers[result] = std::move(answer);
          return next;
        }
        if (!is_native(method->function)) break;
        window[-1] = method->self;
        return begin_other_call(method->function, window - 1, count + 1, keywords, result);
      }
      case ObjectKind::Type: return begin_construct(known_cast<Type>(object), window, count, keywords, result);
      case ObjectKind::NativeFunction: {
        const auto* const function = known_cast<NativeFunction>(object);
        if (keywords == nullptr) {
          static_cast<void>(call_native_step(in_, function, nullptr, window, count, caller->registers[result]));
          return nullptr;
        }
        if (!catches([&] { answer = call_native(in_, function, Args{window, count, keywords, function}); })) return nullptr;
        drop(window, count);
        caller->registers[result] = std::move(answer);
        return nullptr;
      }
      default:
        if (Function* const method = scripted_call(in_, object)) {
          window[-1] = callee;
          Frame* next =
              begin_function(method, window - 1, window - 1, count + 1, keywords, FrameKind::Call, result, answer);
          if (next == nullptr && !is_raising()) caller->registers[result] = std::move(answer);
          return next;
        }
        if (const auto slot = object->type->slots.call) {
          const bool returned = catches([&] {
            check_native_stack();
            answer = slot(in_, callee, Args{window, count, keywords});
          });
          if (!returned) return nullptr;
          drop(window, count);
          caller->registers[result] = std::move(answer);
          return nullptr;
        }
    }
  }
  if (!is_callable(in_, callee)) {
    raise_next(not_callable(in_, callee));
    return nullptr;
  }
  if (!catches([&] { answer = call(in_, callee, Args{window, count, keywords}); })) return nullptr;
  drop(window, count);
  caller->registers[result] = std::move(answer);
  return nullptr;
}

Frame* VirtualMachine::begin_invoke(Value* object, uint32_t count, InlineCache& cache, uint32_t result) {
  if (!object->is_object()) {  // an int's or a float's method: the loop's site only knows objects
    const uint32_t version = type_of(in_, *object)->version;
    const AttributeSite& site = cache.site_for(version);
    if (site.version == version && site.kind == AttributeSite::Kind::Method)
      return begin_method(*site.value, object, count + 1, result);
  } else if (const Value* const method = class_method_at_site(object->as_object(), cache)) {
    const Value function = *method;  // the object may end here, and its finalizer change the class
    Object* const receiver = object->as_object();
    if (receiver->kind != ObjectKind::Type) *object = Value(static_cast<Object*>(receiver->type));
    return begin_method(function, object, count + 1, result);
  }
  // The look-up has a place of its own, that of the instruction's first word.
  bool bound = false;
  Value error;
  --top_->pc;
  Value callee = get_method_or_error(in_, *object, cache.name, cache.fresh(), bound, error);
  if (callee.is_undefined()) [[unlikely]] {
    raise_next(error);
    return nullptr;
  }
  ++top_->pc;
  if (!bound) {
    *object = Value();
    return begin_call(callee, object + 1, count, nullptr, result);
  }
  return begin_method(callee, object, count + 1, result);
}

// The place before the window is not to be written to; a bound method is never found here.
Frame* VirtualMachine::begin_method(const Value& method, Value* window, uint32_t count, uint32_t result) {
  Frame* const caller = top_;
  Value answer;
  if (is_function(method)) {
    Frame* next = begin_function(as_function(method), window, window, count, nullptr, FrameKind::Call, result, answer);
    if (next != nullptr || is_raising()) return next;
  } else if (is_native(method)) {
    static_cast<void>(call_native_step(in_, known_cast<NativeFunction>(method), nullptr, window, count,
                                       caller->registers[result]));
    return nullptr;
  } else {
    if (!catches([&] { answer = call(in_, method, Args{window, count, nullptr}); })) return nullptr;
    drop(window, count);
  }
  caller->registers[result] = std::move(answer);
  return nullptr;
}

// Of a property that the object's class has, before the site knows it.
static const Value* find_getter(Interpreter& in, const Value& object, Str* name) {
  if (!object.is_object()) return nullptr;
  const Type* const type = object.as_object()->type;
  if (!(type->type_flags & kScriptClass) || (type->type_flags & (kHasGetAttrHook | kHasGetAttribute)) ||
      type->slots.get_attr != nullptr)
    return nullptr;
  const Value& found = type_lookup(type, name);
  if (!found.is_object() || found.as_object()->type != in.types.property) return nullptr;
  const Value& getter = known_cast<Property>(found)->get;
  return is_function(getter) ? &getter : nullptr;
}

Frame* VirtualMachine::begin_get_attribute(Word w, Str* name, InlineCache& cache) {
  Frame* const caller = top_;
  const Value& object = caller->registers[b_of(w)];
  const Value* getter = nullptr;
  if (object.is_object()) {
    const uint32_t version = object.as_object()->type->version;
    const AttributeSite& site = cache.site_for(version);
    if (site.version == version && site.kind == AttributeSite::Kind::Getter) getter = site.value;
    else if (method_is_cached(site, object.as_object())) {
      catches([&] {
        Value method = make_bound_method(in_, *site.value, object);
        if (b_of(w) >= caller->code->first_temporary) caller->registers[b_of(w)] = Value();
        caller->registers[a_of(w)] = std::move(method);
      });
      return nullptr;
    }
  }
  if (getter != nullptr && is_native(*getter)) {
    get_native_attribute_step(in_, caller, w, known_cast<NativeFunction>(*getter));
    return nullptr;
  }
  if (getter == nullptr && (getter = find_getter(in_, object, name)) != nullptr) {
    const uint32_t version = object.as_object()->type->version;
    if (version != kForgotten) cache.fresh() = {version, AttributeSite::Kind::Getter, 0, getter};
  }
  // property.__init__ may have changed the getter since the site was filled.
  if (getter == nullptr || !is_function(*getter)) {
    catches([&] { get_attribute_step(in_, caller, w, name, cache); });
    return nullptr;
  }
  const Value function = *getter;
  const bool dies = b_of(w) >= caller->code->first_temporary;
  Value answer;
  bool entered = false;
  if (!catches([&] { entered = enter_with(as_function(function), FrameKind::Call, a_of(w), answer, object); })) return nullptr;
  if (dies) caller->registers[b_of(w)].clear();
  if (entered) return top_;
  caller->registers[a_of(w)] = std::move(answer);
  return nullptr;
}

namespace {

// Callables that take keywords of any type, to keep them or to look them up: functools.partial(f, **{1: 2}), a cached function.
bool takes_any_keywords(const Value& callee) {
  if (!callee.is_object()) return false;
  const auto& order = (is_type(callee) ? as_type(callee) : callee.as_object()->type)->mro;
  return std::any_of(order.begin(), order.end(), [](const Type* type) { return (type->type_flags & kTakesAnyKeywords) != 0; });
}

}  // namespace

// f(*positional, **keywords): the operands are the callee, a list or tuple, and a dict.
Frame* VirtualMachine::begin_spread(Value* operands, bool has_keywords, uint32_t result) {
  Frame* const caller = top_;
  Value callee = std::move(operands[0]);
  const Value positional = std::move(operands[1]);
  const Value keywords = has_keywords ? std::move(operands[2]) : Value();
  if (is_function(callee) && (!has_keywords || as_dict(keywords)->count == 0)) {
    const uint32_t count = is_list(positional) ? as_list(positional)->size : as_tuple(positional)->size;
    const Value* const items = is_list(positional) ? as_list(positional)->items : as_tuple(positional)->items;
    Value* const window = caller->end;
    if (window + count >= stack_end_) throw_too_deep(nullptr, 0);
    for (uint32_t i = 0; i < count; ++i) window[i] = items[i];
    Function* const function = as_function(callee);
    if (begins_at_once(function->code, window, count)) [[likely]] {
      Frame* const next = push_frame(function, window, count, FrameKind::Call, result, caller);
      callee.release();  // the frame's
      return next;
    }
    Value answer;
    Frame* next = begin_function(as_function(callee), window, window, count, nullptr, FrameKind::Call, result, answer);
    if (next == nullptr && !is_raising()) caller->registers[result] = std::move(answer);
    return next;
  }
  const bool plain = !has_keywords || as_dict(keywords)->count == 0;
  if (plain && is_native(callee) && is_tuple(positional)) {  // which stays as it is
    catches([&] {
      Value answer = call(in_, callee, Args{as_tuple(positional)->items, as_tuple(positional)->size});
      caller->registers[result] = std::move(answer);
    });
    return nullptr;
  }
  std::vector<Value> values;
  if (is_list(positional)) {
    values.assign(as_list(positional)->begin(), as_list(positional)->end());
  } else {
    values.assign(as_tuple(positional)->begin(), as_tuple(positional)->end());
  }
  Value names;
  bool named = true;
  if (has_keywords && as_dict(keywords)->count != 0) {
    std::vector<Value> keys;
    dict_for_each(as_dict(keywords), [&](const Value& key, const Value& value) {
      named = named && is_str(key);
      keys.push_back(key);
      values.push_back(value);
    });
    names = make_tuple(in_, keys.data(), keys.size());
  }
  const Tuple* const name_tuple = names.is_undefined() ? nullptr : as_tuple(names);
  if (callee.is_object() && callee.as_object()->kind == ObjectKind::BoundMethod) {
    const BoundMethod* method = known_cast<BoundMethod>(callee);
    values.insert(values.begin(), method->self);
    callee = Value(method->function);
  } else if (callee.is_object()) {
    if (Function* const method = scripted_call(in_, callee.as_object())) {
      values.insert(values.begin(), callee);
      callee = Value(method);
    }
  }
  if (!named && !takes_any_keywords(callee)) throw Error(ErrorKind::TypeError, "keywords must be strings");
  Value answer;
  const uint32_t count = static_cast<uint32_t>(values.size());
  if (is_function(callee)) {
    Frame* next =
        begin_function(as_function(callee), nullptr, values.data(), count, name_tuple, FrameKind::Call, result, answer);
    if (next != nullptr || is_raising()) return next;
  } else {
    answer = call(in_, callee, Args{values.data(), count, name_tuple});
  }
  caller->registers[result] = std::move(answer);
  return nullptr;
}

Frame* VirtualMachine::begin_entry(Function* function, Value& out) {
  check_native_stack();
  Value* const window = top_ != nullptr ? top_->end : stack_;
  Frame* const frame = begin_function(function, window, window, 0, nullptr, FrameKind::Entry, 0, out);
  if (is_raising()) throw_pending();
  return frame;
}

[[gnu::always_inline]] inline Frame* VirtualMachine::begin_from_native(Function* function, const Value& self, const Args& args, Value& answer) {
  check_native_stack();
  Value* const window = top_ != nullptr ? top_->end : stack_;
  const uint32_t count = args.count + !self.is_undefined();
  if (args.keyword_names == nullptr && begins_at_once(function->code, window, count)) [[likely]] {
    assert(holds_no_object(window, window + count));
    Value* place = window;
    if (!self.is_undefined()) new (place++) Value(self);
    for (const Value *given = args.values, *const end = given + args.count; given != end; ++given) new (place++) Value(*given);
    Frame* const frame = push_frame(function, window, count, FrameKind::Entry, 0);
    ++function->refcount;
    return frame;
  }
  return begin_otherwise(function, self, args, answer);
}

Value VirtualMachine::call_function(Function* function, const Args& args) {
  return call_function(function, Value(), args);
}

Value VirtualMachine::call_function(Function* function, const Value& self, const Args& args) {
  Value answer;
  Frame* const frame = begin_from_native(function, self, args, answer);
  if (frame == nullptr ? answer.is_undefined() : !try_run(frame, answer)) [[unlikely]]
    throw_pending();
  return answer;
}

Value VirtualMachine::call_function_answer(Function* function, const Value& self, const Args& args) {
  Value answer;
  Frame* const frame = begin_from_native(function, self, args, answer);
  if (frame == nullptr ? answer.is_undefined() : !try_run(frame, answer)) [[unlikely]] {
    return failure_of(take_pending());
  }
  return answer;
}

Frame* VirtualMachine::begin_otherwise(Function* function, const Value& self, const Args& args, Value& answer) {
  Value* const window = top_ != nullptr ? top_->end : stack_;
  const uint32_t first = self.is_undefined() ? 0 : 1;
  const uint32_t count = args.count + first;
  if (count <= kMostDirect && window + kMostDirect + 1 < stack_end_) {
    if (first != 0) window[0] = self;
    for (uint32_t i = 0; i < args.count; ++i) window[first + i] = args[i];
    return begin_function(function, window, window, count, args.keyword_names, FrameKind::Entry, 0, answer);
  }
  std::vector<Value> values;
  values.reserve(count);
  if (first != 0) values.push_back(self);
  values.insert(values.end(), args.values, args.values + args.count);
  return begin_function(function, window, values.data(), count, args.keyword_names, FrameKind::Entry, 0, answer);
}

// --- for natives

namespace {

// A method of a method, and so on: all the selves go in front of the arguments at once, the innermost first.
Value call_chain(Interpreter& in, const BoundMethod* method, const Args& args) {
  std::vector<Value> values;
  Booking booked;
  for (;;) {
    values.push_back(method->self);
    if (values.size() % 1024 == 0) booked.set(in.heap, 2 * values.size() * sizeof(Value));
    const Value& inner = method->function;
    if (!inner.is_object() || inner.as_object()->kind != ObjectKind::BoundMethod) break;
    method = known_cast<const BoundMethod>(inner);
  }
  std::reverse(values.begin(), values.end());
  values.insert(values.end(), args.values, args.values + args.count);
  return call(in, method->function, Args{values.data(), static_cast<uint32_t>(values.size()), args.keyword_names});
}

}  // namespace


Value call(Interpreter& in, const Value& callee, const Args& args) {
  if (callee.is_object()) {
    Object* const object = callee.as_object();
    switch (object->kind) {
      case ObjectKind::Function: return in.vm().call_function(known_cast<Function>(object), args);
      case ObjectKind::NativeFunction: {
        in.vm().check_native_stack();  // `C.__len__ = len` calls itself
        const Value keep(callee);
        return call_native(in, known_cast<NativeFunction>(object), args);
      }
      case ObjectKind::BoundMethod: {
        const Value keep(callee);
        const BoundMethod* method = known_cast<BoundMethod>(object);
        if (is_function(method->function)) {
          return in.vm().call_function(as_function(method->function), method->self, args);
        }
        return call_chain(in, method, args);
      }
      default:
        if (const auto slot = object->type->slots.call) {
          in.vm().check_native_stack();
          return slot(in, callee, args);
        }
    }
  }
  throw not_callable(in, callee);
}

Value call(Interpreter& in, const Value& callee, std::initializer_list<Value> args) {
  return call(in, callee, Args{args.begin(), static_cast<uint32_t>(args.size())});
}

Value call_method(Interpreter& in, const Value& object, Str* name, std::initializer_list<Value> args) {
  AttributeSite site;
  bool bound = false;
  const Value method = get_method(in, object, name, site, bound);
  if (!bound) return call(in, method, args);
  if (is_function(method)) {
    return in.vm().call_function(as_function(method), object, Args{args.begin(), static_cast<uint32_t>(args.size())});
  }
  constexpr uint32_t kFew = 4;
  const auto count = static_cast<uint32_t>(args.size() + 1);
  if (count > kFew) {
    std::vector<Value> values{object};
    values.insert(values.end(), args.begin(), args.end());
    return call(in, method, Args{values.data(), count});
  }
  Value values[kFew];
  values[0] = object;
  std::copy(args.begin(), args.end(), values + 1);
  return call(in, method, Args{values, count});
}

bool is_callable(Interpreter& in, const Value& value) {
  if (!value.is_object()) return false;
  switch (value.as_object()->kind) {
    case ObjectKind::Function:
    case ObjectKind::NativeFunction:
    case ObjectKind::BoundMethod:
    case ObjectKind::Type: return true;
    default: return type_of(in, value)->slots.call != nullptr;
  }
}

}  // namespace tessera::lang
