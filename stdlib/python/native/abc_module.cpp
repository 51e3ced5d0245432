// _abc: the registry of an abstract base class and the answers that it remembers.
//
// Answers are kept by the version of the class that was asked about. Versions are never used twice and change with the
// class, so neither a cache entry of a dead class nor that of a changed one is ever found.
// compile: few-inlines (no faster with more inlines)
#include <memory>
#include <unordered_set>
#include <vector>

#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/objects/module.h"
#include "lang/objects/weak.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "stdlib/python/native/native_modules.h"

namespace tessera::stdlib {

using namespace lang;

namespace {

// Of one interpreter: `registrations` invalidates every negative answer.
struct AbcState {
  int64_t registrations = 0;
  Type* data_type = nullptr;
  Str *impl, *subclass_hook, *flags, *subclasses;
};

// The value of `_abc_impl` in the dict of an abstract base class.
struct AbcData : Object {
  std::vector<Value> registry;  // weak references
  std::unordered_set<uint32_t> positive, negative;
  int64_t negative_since = 0;  // the count of registrations that the negative answers are of
};

constexpr size_t kMostAnswers = 4096;  // a program that makes classes without end starts over

AbcState& state_of(const Args& args) { return **static_cast<std::shared_ptr<AbcState>*>(args.callee->data); }

AbcData* data_of(const AbcState& state, const Value& cls) {
  if (is_type(cls)) {
    const Value& found = type_lookup(as_type(cls), state.impl);
    if (found.is_object() && found.as_object()->type == state.data_type) return object_cast<AbcData>(found);
  }
  throw_error(ErrorKind::TypeError, "%s", is_type(cls) ? "_abc_impl is set to a wrong type" : "class expected");
}

void remember(std::unordered_set<uint32_t>& answers, uint32_t version) {
  if (answers.size() >= kMostAnswers) answers.clear();
  answers.insert(version);
}

// --- abstract methods

bool is_abstract(Interpreter& in, const Value& value) {
  if (!value.is_object()) return false;
  const Value mark = find_attr(in, value, in.names->isabstractmethod);
  return !mark.is_undefined() && truth(in, mark);
}

Value abstract_methods(Interpreter& in, Type* type) {
  const Value names = make_set(in);
  std::vector<std::pair<Value, Value>> own;
  dict_for_each(type->attributes(), [&](const Value& key, const Value& value) { own.emplace_back(key, value); });
  for (const auto& [key, value] : own)
    if (is_abstract(in, value)) set_add(in, as_set(names), key);
  const std::vector<Type*> bases = type->bases;
  for (Type* base : bases) {
    const Value theirs = find_attr(in, Value(base), in.names->abstractmethods);
    if (theirs.is_undefined()) continue;
    for_each(in, theirs, [&](const Value& name) {
      if (!is_str(name)) return;
      const Value value = find_attr(in, Value(type), intern(in, text_of(name)));
      if (!value.is_undefined() && is_abstract(in, value)) set_add(in, as_set(names), name);
    });
  }
  return call(in, Value(in.types.frozenset), {names});
}

// Which patterns of `match` take the instances: a class of collections.abc says it by __abc_tpflags__.
void take_pattern_flags(Interpreter& in, const AbcState& state, Type* type) {
  constexpr int64_t kSequence = 1 << 5, kMapping = 1 << 6;
  const Value* given = dict_get_str(type->attributes(), state.flags);
  if (given == nullptr || !given->is_int()) return;
  const int64_t flags = given->as_int();
  set_type_attribute(in, type, state.flags, Value());
  type->type_flags &= ~(kMatchesSequence | kMatchesMapping);
  if (flags & kSequence) type->type_flags |= kMatchesSequence;
  else if (flags & kMapping) type->type_flags |= kMatchesMapping;
}

Value abc_init(Interpreter& in, const Args& args) {
  const AbcState& state = state_of(args);
  if (!is_type(args[0])) throw_error(ErrorKind::TypeError, "class expected");
  Type* const type = as_type(args[0]);
  set_type_attribute(in, type, in.names->abstractmethods, abstract_methods(in, type));
  set_type_attribute(in, type, state.impl, Value::adopt(make_object<AbcData>(in, state.data_type)));
  take_pattern_flags(in, state, type);
  return Value::none();
}

// --- registration

// A class whose order says nothing yet is matched as what it is registered with.
void take_kind(Type* to, const Type* from) {
  constexpr uint32_t kKinds = kMatchesSequence | kMatchesMapping;
  for (const Type* base : to->mro)
    if (base->type_flags & kKinds) return;
  for (const Type* base : from->mro) {
    if (!(base->type_flags & kKinds)) continue;
    to->type_flags |= base->type_flags & kKinds;
    return;
  }
}

Value abc_register(Interpreter& in, const Args& args) {
  AbcState& state = state_of(args);
  const Value &cls = args[0], &subclass = args[1];
  if (!is_type(subclass)) throw_error(ErrorKind::TypeError, "Can only register classes");
  AbcData* const data = data_of(state, cls);
  const Value keep(data);
  if (is_subclass(in, subclass, cls)) return subclass;
  if (is_subclass(in, cls, subclass)) throw_error(ErrorKind::RuntimeError, "Refusing to create an inheritance cycle");
  Type* const reference = in.named_type("ReferenceType");
  data->registry.push_back(make_weak_reference(in, reference, subclass, Value::none()));
  ++state.registrations;
  take_kind(as_type(subclass), as_type(cls));
  return subclass;
}

// --- checks

bool in_registry(Interpreter& in, AbcData* data, const Value& subclass) {
  for (size_t i = 0; i < data->registry.size();) {
    const Value known = weak_target(object_cast<WeakReference>(data->registry[i]));
    if (known.is_undefined()) {
      data->registry.erase(data->registry.begin() + static_cast<ptrdiff_t>(i));
      continue;
    }
    ++i;
    if (known.is(subclass) || is_subclass(in, subclass, known)) return true;
  }
  return false;
}

bool find_subclass(Interpreter& in, const AbcState& state, AbcData* data, const Value& cls, const Value& subclass) {
  const Value answer = call(in, get_attr(in, cls, state.subclass_hook), {subclass});
  if (answer.is_bool()) return answer.as_bool();
  if (!answer.is(in.not_implemented))
    throw_error(ErrorKind::AssertionError, "__subclasshook__ must return either False, True, or NotImplemented");
  if (as_type(subclass)->is_subtype_of(as_type(cls))) return true;
  if (in_registry(in, data, subclass)) return true;
  const Value children = call(in, get_attr(in, cls, state.subclasses));
  if (!is_list(children)) throw_error(ErrorKind::TypeError, "__subclasses__() must return a list");
  const Value each_child = tuple_from(in, children);
  for (const Value& child : *as_tuple(each_child))
    if (is_subclass(in, subclass, child)) return true;
  return false;
}

bool check_subclass(Interpreter& in, const AbcState& state, const Value& cls, const Value& subclass) {
  if (!is_type(subclass)) throw_error(ErrorKind::TypeError, "issubclass() arg 1 must be a class");
  AbcData* const data = data_of(state, cls);
  const Value keep(data);
  const uint32_t version = as_type(subclass)->version;
  if (data->positive.count(version) != 0) return true;
  if (data->negative_since < state.registrations) {
    data->negative.clear();
    data->negative_since = state.registrations;
  } else if (data->negative.count(version) != 0) {
    return false;
  }
  const RecursionGuard guard(in, " in __subclasscheck__");
  const bool found = find_subclass(in, state, data, cls, subclass);
  if (as_type(subclass)->version == version) remember(found ? data->positive : data->negative, version);
  return found;
}

Value abc_subclasscheck(Interpreter& in, const Args& args) {
  return Value::boolean(check_subclass(in, state_of(args), args[0], args[1]));
}

// By the class that the instance claims, and by its type where that is another.
Value abc_instancecheck(Interpreter& in, const Args& args) {
  const AbcState& state = state_of(args);
  const Value &cls = args[0], &instance = args[1];
  Type* const type = type_of(in, instance);
  AbcData* const data = data_of(state, cls);
  const Value claimed = may_claim_class(in, type) ? find_attr(in, instance, in.names->class_) : Value(type);
  if (claimed.is(Value(type))) {
    if (data->positive.count(type->version) != 0) return Value::boolean(true);
    const bool current = data->negative_since == state.registrations;
    if (current && data->negative.count(type->version) != 0) return Value::boolean(false);
  }
  const auto asks = [&](const Value& subclass) {
    return truth(in, call_method(in, cls, in.names->subclasscheck, {subclass}));
  };
  return Value::boolean(asks(claimed) || (!claimed.is(Value(type)) && asks(Value(type))));
}

// --- looking inside, for tests and ABCMeta._dump_registry

Value abc_get_dump(Interpreter& in, const Args& args) {
  const AbcData* data = data_of(state_of(args), args[0]);
  const auto number_set = [&](const std::unordered_set<uint32_t>& numbers) {
    const Value set = make_set(in);
    for (uint32_t n : numbers) set_add(in, as_set(set), Value::integer(n));
    return set;
  };
  const Value registry = make_set(in);
  for (const Value& reference : data->registry) set_add(in, as_set(registry), reference);
  return make_tuple(in, {registry, number_set(data->positive), number_set(data->negative),
                         Value::integer(data->negative_since)});
}

Value abc_reset_registry(Interpreter&, const Args& args) {
  data_of(state_of(args), args[0])->registry.clear();
  return Value::none();
}

Value abc_reset_caches(Interpreter&, const Args& args) {
  AbcData* const data = data_of(state_of(args), args[0]);
  data->positive.clear();
  data->negative.clear();
  return Value::none();
}

Value abc_token(Interpreter&, const Args& args) { return Value::integer(state_of(args).registrations); }

constexpr NativeDef kRows[] = {
    {"_abc_init(self, /)", abc_init, "Collect the abstract methods of a new class."},
    {"_abc_register(self, subclass, /)", abc_register, "Make a class a virtual subclass."},
    {"_abc_instancecheck(self, instance, /)", abc_instancecheck, "isinstance() for an abstract base class."},
    {"_abc_subclasscheck(self, subclass, /)", abc_subclasscheck, "issubclass() for an abstract base class."},
    {"_get_dump(self, /)", abc_get_dump, "The registry and the caches of a class."},
    {"_reset_registry(self, /)", abc_reset_registry, "Forget what is registered."},
    {"_reset_caches(self, /)", abc_reset_caches, "Forget the remembered answers."},
    {"get_cache_token()", abc_token, "A number that changes with every registration."},
};

Type* make_data_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "_abc_data";
  spec.module = "_abc";
  spec.kind = ObjectKind::Other;
  spec.size = sizeof(AbcData);
  spec.flags = kFinalType;
  Type* const type = in.new_type(spec);
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, known_cast<AbcData>(self)); };
  return type;
}

}  // namespace

void fill_abc(Interpreter& in, Module& module) {
  in.import("_weakref");  // its type of references
  const auto state = std::make_shared<AbcState>();
  state->data_type = make_data_type(in);
  state->impl = intern(in, "_abc_impl");
  state->subclass_hook = intern(in, "__subclasshook__");
  state->flags = intern(in, "__abc_tpflags__");
  state->subclasses = intern(in, "__subclasses__");
  for (const NativeDef& row : kRows) {
    auto* const data = new std::shared_ptr<AbcState>(state);
    const Value made = in.new_function(row.signature, row.doc, row.function, data,
                                       [](void* p) { delete static_cast<std::shared_ptr<AbcState>*>(p); });
    auto* const function = object_cast<NativeFunction>(made);
    function->module = module.name;
    dict_set_str(in, module.dict, function->name, made);
  }
}

}  // namespace tessera::stdlib
