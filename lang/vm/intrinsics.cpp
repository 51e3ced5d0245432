// The rare steps: import, the class statement, match, super().
#include <algorithm>
#include <string>
#include <vector>

#include "lang/builtins/builtins.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/coroutine.h"
#include "lang/objects/exception.h"
#include "lang/objects/exception_group.h"
#include "lang/objects/module.h"
#include "lang/core/protocol.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/steps.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

// builtins.__import__ where a program has put another function in its place; Undefined: it is ours.
Value replaced_import(Interpreter& in, const Frame* frame) {
  const Value* found = dict_get_str(frame->function->builtins, in.names->import_);
  if (found == nullptr) throw Error(ErrorKind::ImportError, "__import__ not found");
  const bool ours = found->is_object() && found->as_object()->kind == ObjectKind::NativeFunction &&
                    known_cast<NativeFunction>(*found)->function == import_function;
  return ours ? Value() : *found;
}

// builtins.__build_class__ where a program has put another function in its place; Undefined: it is ours.
Value replaced_build_class(Interpreter& in, const Frame* frame) {
  const Value* found = dict_get_str(frame->function->builtins, in.names->build_class);
  if (found == nullptr) throw Error(ErrorKind::NameError, "__build_class__ not found");
  const bool ours = found->is_object() && found->as_object()->kind == ObjectKind::NativeFunction &&
                    known_cast<NativeFunction>(*found)->function == build_class_function;
  return ours ? Value() : *found;
}

// A class statement by a function of the program's: body, name, bases and keywords are its arguments.
Value build_class_by(Interpreter& in, const Value& build, const Value* operands) {
  std::vector<Value> values{operands[0], operands[1]}, names;
  for (const Value& base : *as_tuple(operands[2])) values.push_back(base);
  if (is_dict(operands[3])) {
    dict_for_each(as_dict(operands[3]), [&](const Value& key, const Value& value) {
      names.push_back(key);
      values.push_back(value);
    });
  }
  const Value keywords = make_tuple(in, names.data(), names.size());
  return call(in, build, Args{values.data(), static_cast<uint32_t>(values.size()), names.empty() ? nullptr : as_tuple(keywords)});
}

// The statement by a function of the program's: it gets the names that are wanted, and answers the first module of `a.b.c`
// where none are.
Value import_by(Interpreter& in, Frame* frame, const Value& import, const Value* operands) {
  const bool has_as_name = operands[2].is_bool();
  const Value wanted = has_as_name ? Value::none() : operands[2];
  const Value level = operands[1];
  const bool in_function = (frame->code->code_flags & (kClassBody | kNamesInMapping | kModuleBody)) == 0;  // its locals are in no dict
  const Value locals = in_function ? Value::none() : frame_locals(in, *frame);
  Value reached = call(in, import, {operands[0], Value(frame->function->globals), locals, wanted, level});
  const std::string_view name = text_of(operands[0]);
  for (size_t dot = name.find('.'); has_as_name && dot != std::string_view::npos;) {
    const size_t begin = dot + 1;
    dot = name.find('.', begin);
    reached = in.modules().import_from(reached, intern(in, name.substr(begin, dot - begin)));
  }
  return reached;
}

void setup_annotations(Interpreter& in, Frame* frame) {
  const Value& names = frame->registers[0];
  if (!contains(in, names, Value(in.names->annotations))) set_item(in, names, Value(in.names->annotations), make_dict(in));
}

void display(Interpreter& in, const Value& value) {
  const Value sys(static_cast<Object*>(in.import("sys")));
  const Value hook = find_attr(in, sys, intern(in, "displayhook"));
  if (hook.is_undefined()) throw Error(ErrorKind::RuntimeError, "lost sys.displayhook");
  call(in, hook, {value});
}

Value import_name(Interpreter& in, Frame* frame, const Value* operands) {
  if (const Value own = replaced_import(in, frame); !own.is_undefined()) return import_by(in, frame, own, operands);
  const std::string_view written = text_of(operands[0]);
  const uint32_t level = static_cast<uint32_t>(operands[1].as_int());
  Modules& modules = in.modules();
  const std::string name =
      level == 0 ? std::string(written) : modules.absolute_name(frame->function->globals, written, level);
  Value module = modules.import(name);
  const bool has_as_name = operands[2].is_bool();
  if ((!operands[2].is_none() && !has_as_name) || level != 0) return module;
  size_t dot = name.find('.');
  if (dot == std::string::npos) return module;
  Value reached = modules.import(name.substr(0, dot));
  while (has_as_name && dot != std::string::npos) {  // `import a.b as c` binds the attribute, which may hide the module
    const size_t begin = dot + 1;
    dot = name.find('.', begin);
    reached = modules.import_from(reached, intern(in, std::string_view(name).substr(begin, dot - begin)));
  }
  return reached;
}

// --- match

// What `case [...]` and `case {...}` ask: the flags of the first class of the mro that has one. Built-in containers have
// them, classes derived from or registered with collections.abc.Sequence and Mapping get them.
enum class PatternKind : uint8_t { Neither, Sequence, Mapping };

PatternKind pattern_kind(const Value& v) {
  if (!v.is_object() || is_str(v) || is_bytes(v) || is_byte_array(v)) return PatternKind::Neither;
  for (const Type* base : v.as_object()->type->mro) {
    if (base->type_flags & kMatchesSequence) return PatternKind::Sequence;
    if (base->type_flags & kMatchesMapping) return PatternKind::Mapping;
  }
  return PatternKind::Neither;
}

Value match_keys(Interpreter& in, const Value& subject, const Value& keys) {
  Value values = make_list(in);
  const Value seen = make_set(in);
  for (const Value& key : *as_tuple(keys)) {
    if (!set_add(in, as_set(seen), key)) {
      throw_error(ErrorKind::ValueError, "mapping pattern checks duplicate key (%s)", repr_text(in, key).c_str());
    }
    if (is_dict(subject)) {
      const Value* found = dict_get(in, as_dict(subject), key);
      if (found == nullptr) return Value::none();
      list_append(in, as_list(values), *found);
    } else {
      if (!contains(in, subject, key)) return Value::none();
      list_append(in, as_list(values), get_item(in, subject, key));
    }
  }
  return tuple_from(in, values);
}

Value match_rest(Interpreter& in, const Value& subject, const Value& keys) {
  Value rest = make_dict(in);
  dict_update(in, as_dict(rest), subject);
  for (const Value& key : *as_tuple(keys)) dict_delete(in, as_dict(rest), key);
  return rest;
}

// int(x), str(x) and the like match the subject itself.
bool matches_itself(Interpreter& in, const Type* type) {
  const BuiltinTypes& t = in.types;
  for (const Type* own : {t.boolean, t.integer, t.real, t.str, t.list, t.tuple, t.dict, t.set, t.frozenset}) {
    if (type->is_subtype_of(own)) return true;
  }
  const BytesTypes* const made = in.shared->bytes;
  return made != nullptr && (type->is_subtype_of(made->bytes) || type->is_subtype_of(made->byte_array));
}

[[noreturn]] void too_many_patterns(const Type* type, uint64_t allowed, uint64_t given) {
  throw_error(ErrorKind::TypeError, "%s() accepts %llu positional sub-pattern%s (%llu given)",
              std::string(type->name->view()).c_str(), static_cast<unsigned long long>(allowed),
              allowed == 1 ? "" : "s", static_cast<unsigned long long>(given));
}

[[noreturn]] void given_twice(const Type* type, const Str* name) {
  throw_error(ErrorKind::TypeError, "%s() got multiple sub-patterns for attribute '%s'",
              std::string(type->name->view()).c_str(), std::string(name->view()).c_str());
}

bool is_among(const Str* name, const Value* names, uint64_t count) {
  return std::any_of(names, names + count, [&](const Value& v) { return v.as_object() == name || str_equal(as_str(v), name); });
}

// The names of the attributes that `count` positional patterns mean: __match_args__, or null if the pattern takes the subject itself.
const Tuple* positional_names(Interpreter& in, Type* type, uint64_t count, Value& holder) {
  holder = find_attr(in, Value(type), in.names->match_args);
  if (holder.is_undefined()) {
    if (!matches_itself(in, type)) too_many_patterns(type, 0, count);
    if (count > 1) too_many_patterns(type, 1, count);
    return nullptr;
  }
  if (!is_tuple(holder)) {
    throw_error(ErrorKind::TypeError, "%s.__match_args__ must be a tuple (got %s)",
                std::string(type->name->view()).c_str(), std::string(type_name(in, holder)).c_str());
  }
  if (as_tuple(holder)->size < count) too_many_patterns(type, as_tuple(holder)->size, count);
  return as_tuple(holder);
}

// Fills `values` with the attributes that the positional patterns mean. Returns false if one is missing.
bool match_positional(Interpreter& in, const Value& subject, const Type* type, const Tuple& names, uint64_t count,
                      Value* values) {
  for (uint64_t i = 0; i < count; ++i) {
    if (!is_str(names[i]))
      throw_error(ErrorKind::TypeError, "__match_args__ elements must be strings (got %s)",
                  std::string(type_name(in, names[i])).c_str());
    if (is_among(as_str(names[i]), names.items, i)) given_twice(type, as_str(names[i]));
    values[i] = find_attr(in, subject, intern(in, text_of(names[i])));
    if (values[i].is_undefined()) return false;
  }
  return true;
}

Value match_class(Interpreter& in, const Value& subject, const Value& cls, int64_t positional, const Value& keywords) {
  if (!cls.is_object() || cls.as_object()->kind != ObjectKind::Type) {
    throw Error(ErrorKind::TypeError, "called match pattern must be a class");
  }
  if (!is_instance(in, subject, cls)) return Value::none();
  Type* const type = known_cast<Type>(cls);
  const Tuple& named = *as_tuple(keywords);
  const auto count = static_cast<uint64_t>(positional);
  Value holder;
  const Tuple* const names = count == 0 ? nullptr : positional_names(in, type, count, holder);
  const auto size = static_cast<size_t>(count + named.size);
  constexpr size_t kFew = 3;
  Value few[kFew];
  Value matched = size <= kFew ? Value() : Value::adopt(new_tuple(in, size));
  Value* const values = size <= kFew ? few : as_tuple(matched)->items;
  if (names != nullptr && !match_positional(in, subject, type, *names, count, values)) return Value::none();
  if (names == nullptr && count != 0) values[0] = subject;
  for (uint32_t i = 0; i < named.size; ++i) {
    Str* const name = as_str(named[i]);
    if (is_among(name, named.items, i) || (names != nullptr && is_among(name, names->items, count)))
      given_twice(type, name);
    const Value* own = nullptr;
    if (has_only_own_attribute(in, subject, name, own) && own != nullptr) values[count + i] = *own;
    else values[count + i] = find_attr(in, subject, name);
    if (values[count + i].is_undefined()) return Value::none();
  }
  return size <= kFew ? make_tuple_moving(in, few, size) : matched;
}

Value match_slice(Interpreter& in, const Value& subject, int64_t first, int64_t after) {
  Value items = make_list(in);
  const int64_t end = length(in, subject) - after;
  for (int64_t i = first; i < end; ++i) list_append(in, as_list(items), get_item(in, subject, Value::integer(i)));
  return items;
}

// The items for as many targets as an instruction has no room for, and the list of a starred one among them.
Value unpack_many(Interpreter& in, Value& source, uint32_t count, const Value& after) {
  std::vector<Value> items(count);
  if (after.is_none()) {
    if (!unpack_step(in, items.data(), source, true, count)) in.vm().throw_pending();
  } else {
    const auto last = static_cast<uint32_t>(after.as_int());
    if (!unpack_star_step(in, items.data(), source, true, count - 1 - last, last)) in.vm().throw_pending();
  }
  return make_list(in, items.data(), count);
}

// --- Note [Wide operands] in opcodes.def

const Value& value_of_cell(const Value& cell) { return known_cast<const Cell>(cell)->value; }

Value wide_load_name(Interpreter& in, Frame* frame, const Value* o) {
  Value found;
  load_name_step(in, frame, found, o[0], as_str(o[2]), o[1].is_none() ? nullptr : known_cast<const Cell>(o[1]));
  return found;
}

// `free`: of the closure, and not the function's own.
Value wide_load_cell(Interpreter& in, const Value* o, bool free) {
  const Value& value = value_of_cell(o[0]);
  if (value.is_undefined() && free) throw_unbound_free(in, as_str(o[1]));
  if (value.is_undefined()) throw_unbound_local(in, as_str(o[1]));
  return value;
}

void wide_delete_cell(Interpreter& in, const Value* o, bool free) {
  wide_load_cell(in, o, free);
  const Value gone = std::move(known_cast<Cell>(o[0])->value);
}

Value super_zero(Interpreter& in, const Value& cls, const Value& self) {
  if (cls.is_undefined() || !cls.is_object() || cls.as_object()->kind != ObjectKind::Type) {
    throw Error(ErrorKind::RuntimeError, "super(): __class__ cell not found");
  }
  if (self.is_undefined()) throw Error(ErrorKind::RuntimeError, "super(): arg[0] deleted");
  return make_super(in, known_cast<Type>(cls), self);
}

Value run(Interpreter& in, IntrinsicId id, Value* o, Frame* frame) {
  switch (id) {
    case IntrinsicId::ImportName: return import_name(in, frame, o);
    case IntrinsicId::ImportFrom: return in.modules().import_from(o[0], as_str(o[1]));
    case IntrinsicId::ImportStar: in.modules().import_star(o[0], o[1].is_none() ? Value(frame->function->globals) : o[1]); return Value::none();
    case IntrinsicId::MatchSequence: return Value::boolean(pattern_kind(o[0]) == PatternKind::Sequence);
    case IntrinsicId::MatchMapping: return Value::boolean(pattern_kind(o[0]) == PatternKind::Mapping);
    case IntrinsicId::MatchKeys: return match_keys(in, o[0], o[1]);
    case IntrinsicId::MatchRest: return match_rest(in, o[0], o[1]);
    case IntrinsicId::MatchClass: return match_class(in, o[0], o[1], o[2].as_int(), o[3]);
    case IntrinsicId::MatchSlice: return match_slice(in, o[0], o[1].as_int(), o[2].as_int());
    case IntrinsicId::ShowResult: in.set_result(o[0]); return Value::none();
    case IntrinsicId::Display: display(in, o[0]); return Value::none();
    case IntrinsicId::SetupAnnotations: setup_annotations(in, frame); return Value::none();
    case IntrinsicId::SuperZero: return super_zero(in, o[0], o[1]);
    case IntrinsicId::Iter: return iter(in, o[0]);
    case IntrinsicId::DelegateIter: return delegate_iterator(in, o[0], *frame);
    case IntrinsicId::Awaitable: return awaitable(in, o[0], nullptr);
    case IntrinsicId::AwaitableEnter: return awaitable(in, o[0], "__aenter__");
    case IntrinsicId::AwaitableExit: return awaitable(in, o[0], "__aexit__");
    case IntrinsicId::AsyncIter: return async_iterator(in, o[0]);
    case IntrinsicId::AsyncNext: return async_next(in, o[0]);
    case IntrinsicId::IsStopAsyncIteration:
      return Value::boolean(is_error(in, o[0], ErrorKind::StopAsyncIteration));
    case IntrinsicId::WideGetAttr: return get_attr(in, o[0], as_str(o[1]));
    case IntrinsicId::WideSetAttr: set_attr(in, o[0], as_str(o[2]), o[1]); return Value::none();
    case IntrinsicId::WideDelAttr: del_attr(in, o[0], as_str(o[1])); return Value::none();
    case IntrinsicId::WideLoadName: return wide_load_name(in, frame, o);
    case IntrinsicId::WideStoreName: store_name_step(in, o[0], as_str(o[2]), o[1]); return Value::none();
    case IntrinsicId::WideDeleteName: delete_name_step(in, o[0], as_str(o[1])); return Value::none();
    case IntrinsicId::WideLoadCell: return wide_load_cell(in, o, false);
    case IntrinsicId::WideLoadFree: return wide_load_cell(in, o, true);
    case IntrinsicId::WideDeleteCell: wide_delete_cell(in, o, false); return Value::none();
    case IntrinsicId::WideDeleteFree: wide_delete_cell(in, o, true); return Value::none();
    case IntrinsicId::UnpackMany: return unpack_many(in, o[0], static_cast<uint32_t>(o[1].as_int()), o[2]);
    case IntrinsicId::MatchGroup: return match_exception_group(in, o[0], o[1]);
    case IntrinsicId::RaiseGroup: return group_to_raise(in, o[0], o[1]);
    default: return Value::none();
  }
}

constexpr uint32_t kOperands[] = {
#define TS_INTRINSIC(name, count) count,
#include "lang/compiler/intrinsics.def"
#undef TS_INTRINSIC
};

}  // namespace

namespace {

// The function that super().name calls with `self`, if the class after `start` and its bases are all that is searched. Null: a super
// object finds the attribute, whatever it is.
const Value* super_function(const Value& start, const Value& self, Str* name) {
  if (!self.is_object() || !start.is_object() || start.as_object()->kind != ObjectKind::Type) return nullptr;
  const Type* const type = self.as_object()->type;
  if (!(type->type_flags & kScriptClass) || self.as_object()->kind == ObjectKind::Type || type->own_order() != nullptr) return nullptr;
  const auto& order = type->mro;
  const auto at = std::find(order.begin(), order.end(), start.as_object());
  if (order.end() - at < 2) return nullptr;
  const Type* const next = at[1];
  if (next->mro.size() != static_cast<size_t>(order.end() - at) - 1 || next->own_order() != nullptr) return nullptr;
  const Value& found = type_lookup(next, name);
  return is_function(found) || is_native_method(found) ? &found : nullptr;
}

// Returns true if it has entered a frame.
bool take_intrinsic_step(Interpreter& in, Value& target, IntrinsicId id, Value* operands, Frame* frame) {
  if (id == IntrinsicId::SuperZero && frame->pc[-1].d != 0) {  // super().name(…)
    Str* const name = as_str(operands[2]);
    const Value* const function = name == in.names->class_ ? nullptr : super_function(operands[0], operands[1], name);
    if (function != nullptr) operands[0] = *function;
    target = function != nullptr ? Value::boolean(true) : Value();
    return false;
  }
  const Value build = id == IntrinsicId::BuildClass ? replaced_build_class(in, frame) : Value();
  if (id == IntrinsicId::BuildClass && build.is_undefined()) {
    Value state = begin_class(in, as_str(operands[1]), operands[2], operands[3]);
    Value names = as_tuple(state)->items[0], unused;
    in.vm().enter(as_function(operands[0]), &names, 1, FrameKind::ClassBody, 0, unused);
    in.vm().top()->constructed = std::move(state);
    return true;
  }
  Value answer = build.is_undefined() ? run(in, id, operands, frame) : build_class_by(in, build, operands);
  for (uint32_t i = 0; i < kOperands[static_cast<size_t>(id)]; ++i) operands[i] = Value();
  target = std::move(answer);
  return false;
}

}  // namespace

bool intrinsic_step(Interpreter& in, Value& target, IntrinsicId id, Value* operands, Frame* frame) {
  bool entered = false;
  return !in.vm().catches([&] { entered = take_intrinsic_step(in, target, id, operands, frame); }) || entered;
}

void finish_class_step(Interpreter& in, Frame* frame, const Value& state, const Value& cell) {
  const Word w = frame->pc[-1];
  Value* const operands = frame->registers + b_of(w);
  Value made = end_class(in, state, cell, as_str(operands[1]), operands[2]);
  for (uint32_t i = 0; i < kOperands[static_cast<size_t>(IntrinsicId::BuildClass)]; ++i) operands[i] = Value();
  frame->registers[a_of(w)] = std::move(made);
}

}  // namespace tessera::lang
