// enumerate, zip, map, filter and reversed: types whose objects are iterators.
#include <algorithm>

#include "lang/core/bind.h"
#include "lang/builtins/builtins.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/core/protocol.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/iterators.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"

namespace tessera::lang {
namespace {

// zip and map: several iterators, and a function.
struct JoinedIterator : GcObject {
  Value iterators;  // tuple
  Value function;   // of a map
  Value last;       // of a zip: see recycled_tuple
  bool strict = false;
  bool finished = false;
};

struct FilterIterator : GcObject {
  Value iterator, function;
};

// reversed() of something that has __len__ and __getitem__.
struct ReversedIterator : GcObject {
  Value sequence;
  int64_t index = 0;
};

template <class T>
T* start(Interpreter& in, Type* type, IteratorKind kind) {
  T* it = make_object<T>(in, type);
  it->aux = static_cast<uint16_t>(kind);
  return it;
}

Value itself(Interpreter&, const Value& self) { return self; }

// --- enumerate

[[noreturn]] void refuse_enumerate(const Args& args, std::string_view keyword) {
  if (!keyword.empty() && args.count <= 2)
    throw Error(ErrorKind::TypeError, "'" + std::string(keyword) + "' is an invalid keyword argument for enumerate()");
  if (args.positional() == 0) throw Error(ErrorKind::TypeError, "enumerate() missing required argument 'iterable'");
  throw_error(ErrorKind::TypeError, "enumerate() takes at most 2 arguments (%u given)", args.count);
}

// CPython asks keywords by their number: the iterable is the first one unless that is `start` of two.
Value make_enumerate(Interpreter& in, Type* type, const Args& args) {
  const uint32_t given = args.positional();
  if (args.count == 0 || args.count > 2) refuse_enumerate(args, {});
  Value parts[2];
  for (uint32_t i = 0; i < given; ++i) parts[i] = args[i];
  const bool swapped = given == 0 && args.count == 2 && text_of(args.keyword_names->items[0]) == "start";
  for (uint32_t i = given; i < args.count; ++i) {
    const uint32_t at = swapped ? 1 - i : i;
    const std::string_view name = text_of(args.keyword_names->items[i - given]);
    if (name != (at == 0 ? "iterable" : "start")) refuse_enumerate(args, name);
    parts[at] = args[i];
  }
  const auto& [iterable, first] = parts;
  const Value number = first.is_undefined() ? Value::integer(0) : whole_index(in, first);
  EnumerateIterator* it = start<EnumerateIterator>(in, type, IteratorKind::Enumerate);
  Value result = Value::adopt(it);
  if (number.is_int()) it->count = number.as_int();
  else it->far = number;
  it->iterator = iter(in, iterable);
  return result;
}

}  // namespace

Value next_number(Interpreter& in, EnumerateIterator* it) {
  if (it->far.is_undefined()) {
    if (it->count != INT64_MAX) return Value::integer(it->count++);
    it->far = Value::integer(INT64_MAX);
  }
  Value number = it->far;
  it->far = whole_binary(in, BinaryOp::Add, number, Value::integer(1));
  return number;
}

namespace {

bool next_enumerate(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();  // a chain of lazy iterators may be of any length
  EnumerateIterator* it = object_cast<EnumerateIterator>(self);
  Value item;
  if (!next_at_once(in, it->iterator, item) && !next(in, it->iterator, item)) {
    it->last = Value();
    return pass_stop_value(in, it->iterator, self);
  }
  out = recycled_tuple(in, it->last, 2);
  as_tuple(out)->items[0] = next_number(in, it);
  std::swap(as_tuple(out)->items[1], item);
  return true;
}

// --- zip and map

Value iterators_of(Interpreter& in, const Args& args, uint32_t first, const char* function) {
  const uint32_t given = args.positional();
  Tuple* iterators = new_tuple(in, given - first);
  Value result = Value::adopt(iterators);
  (void)function;
  for (uint32_t i = first; i < given; ++i) iterators->items[i - first] = iter(in, args[i]);
  return result;
}

Value make_zip(Interpreter& in, Type* type, const Args& args) {
  bool strict = false;
  for (uint32_t i = 0; args.keyword_names != nullptr && i < args.keyword_names->size; ++i) {
    const std::string_view name = text_of(args.keyword_names->items[i]);
    if (args.keyword_names->size > 1)
      throw_error(ErrorKind::TypeError, "zip() takes at most 1 keyword argument (%u given)", args.keyword_names->size);
    if (name != "strict")
      throw Error(ErrorKind::TypeError, "'" + std::string(name) + "' is an invalid keyword argument for zip()");
    strict = truth(in, args[args.positional() + i]);
  }
  JoinedIterator* it = start<JoinedIterator>(in, type, IteratorKind::Zip);
  Value result = Value::adopt(it);
  it->strict = strict;
  it->iterators = iterators_of(in, args, 0, "zip");
  return result;
}

// In strict mode iterator `at` ended first: complains unless all end here.
void check_lengths(Interpreter& in, const Tuple* iterators, uint32_t at) {
  auto others = [](uint32_t n) { return n == 1 ? std::string("argument 1") : "arguments 1-" + std::to_string(n); };
  if (at > 0) {
    throw Error(ErrorKind::ValueError, "zip() argument " + std::to_string(at + 1) + " is shorter than " + others(at));
  }
  Value item;
  for (uint32_t i = 1; i < iterators->size; ++i) {
    if (next(in, iterators->items[i], item)) {
      throw Error(ErrorKind::ValueError, "zip() argument " + std::to_string(i + 1) + " is longer than " + others(i));
    }
  }
}

bool next_zip(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();  // a chain of lazy iterators may be of any length
  JoinedIterator* it = object_cast<JoinedIterator>(self);
  const Value holder = it->iterators;
  const Tuple* iterators = as_tuple(holder);
  if (iterators->size == 0) return false;
  Value result = recycled_tuple(in, it->last, iterators->size);
  Value* const row = as_tuple(result)->items;
  for (uint32_t i = 0; i < iterators->size; ++i) {
    if (next_at_once(in, iterators->items[i], row[i]) || next(in, iterators->items[i], row[i])) continue;
    it->last = Value();
    if (it->strict) check_lengths(in, iterators, i);
    return pass_stop_value(in, iterators->items[i], self);
  }
  out = std::move(result);
  return true;
}

Value make_map(Interpreter& in, Type* type, const Args& args) {
  refuse_keywords("map", args);
  if (args.count < 2) throw Error(ErrorKind::TypeError, "map() must have at least two arguments.");
  JoinedIterator* it = start<JoinedIterator>(in, type, IteratorKind::Map);
  Value result = Value::adopt(it);
  it->function = args[0];
  it->iterators = iterators_of(in, args, 1, "map");
  return result;
}

// A StopIteration of the function ends the iteration, as in CPython, where it is no other than the iterator's own.
bool call_any_or_stop(Interpreter& in, const Value& self, const Value& function, const Args& args, Value& out) {
  try {
    out = call(in, function, args);
    return true;
  } catch (const Thrown& thrown) {
    return stopped_by(in, self, thrown.exception);
  }
}

bool call_or_stop(Interpreter& in, const Value& self, const Value& function, const Args& args, Value& out) {
  if (!is_function(function)) return call_any_or_stop(in, self, function, args, out);
  Value answer = in.vm().call_function_answer(as_function(function), Value(), args);
  if (is_failure(answer)) [[unlikely]]
    return stopped_by(in, self, take_failure(answer));
  out = std::move(answer);
  return true;
}

bool next_map(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();  // a chain of lazy iterators may be of any length
  JoinedIterator* it = object_cast<JoinedIterator>(self);
  const Value holder = it->iterators, function = it->function;
  const Tuple* iterators = as_tuple(holder);
  if (iterators->size == 1) {
    Value item;
    if (!next_at_once(in, iterators->items[0], item) && !next(in, iterators->items[0], item))
      return pass_stop_value(in, iterators->items[0], self);
    Args args;
    args.values = &item;
    args.count = 1;
    return call_or_stop(in, self, function, args, out);
  }
  std::vector<Value> items(iterators->size);
  for (uint32_t i = 0; i < iterators->size; ++i) {
    if (!next(in, iterators->items[i], items[i])) return pass_stop_value(in, iterators->items[i], self);
  }
  Args args;
  args.values = items.data();
  args.count = iterators->size;
  return call_or_stop(in, self, function, args, out);
}

// --- filter

Value make_filter(Interpreter& in, Type* type, const Args& args) {
  refuse_keywords("filter", args);
  check_count("filter", args, 2, 2);
  FilterIterator* it = start<FilterIterator>(in, type, IteratorKind::Filter);
  Value result = Value::adopt(it);
  it->function = args[0];
  it->iterator = iter(in, args[1]);
  return result;
}

bool next_filter(Interpreter& in, const Value& self, Value& out) {
  in.vm().check_native_stack();  // a chain of lazy iterators may be of any length
  FilterIterator* it = object_cast<FilterIterator>(self);
  const Value function = it->function, iterator = it->iterator;
  const bool plain = function.is_none() || (function.is_object() && function.as_object() == in.types.boolean);
  Value item;
  while (next(in, iterator, item)) {
    Value kept = item;
    if (!plain) {
      Args args;
      args.values = &item;
      args.count = 1;
      if (!call_or_stop(in, self, function, args, kept)) return false;
    }
    if (!(kept.is_int() || kept.is_bool() ? kept.as_int() != 0 : truth(in, kept))) continue;
    out = std::move(item);
    return true;
  }
  return pass_stop_value(in, iterator, self);
}

// --- reversed

Value make_reversed(Interpreter& in, Type* type, const Args& args) {
  refuse_keywords("reversed", args);
  check_count("reversed", args, 1, 1);
  const Value& x = args[0];
  const Type* of = type_of(in, x);
  const Value method = type_lookup(of, in.names->reversed);
  if (!method.is_undefined() && !method.is_none()) return call_special(in, method, x);
  const bool sequence = method.is_undefined() && of->slots.get_item != nullptr && of->slots.length != nullptr &&
                        of->instance_kind != ObjectKind::Dict;
  if (!sequence && method.is_undefined() && of->slots.get_item != nullptr && of->slots.length == nullptr && (of->type_flags & kScriptClass))
    throw_error(ErrorKind::TypeError, "object of type '%s' has no len()", std::string(type_name(in, x)).c_str());
  if (!sequence) throw Error(ErrorKind::TypeError, "'" + std::string(type_name(in, x)) + "' object is not reversible");
  const int64_t size = length(in, x);
  ReversedIterator* it = start<ReversedIterator>(in, type, IteratorKind::Other);
  it->sequence = x;
  it->index = size;
  return Value::adopt(it);
}

bool next_reversed(Interpreter& in, const Value& self, Value& out) {
  ReversedIterator* it = object_cast<ReversedIterator>(self);
  if (it->sequence.is_undefined() || it->index == 0) {
    it->sequence = Value();
    return false;
  }
  const Value sequence = it->sequence;
  try {
    out = get_item(in, sequence, Value::integer(--it->index));
  } catch (const Error& error) {
    if (error.kind != ErrorKind::IndexError) throw;
    it->sequence = Value();
    return false;
  }
  return true;
}

// --- pickling: the same call again, with the iterators as they are

Value same_call(Interpreter& in, const Value& self, const Value& arguments, const Value& state = Value()) {
  const Value type(self.as_object()->type);
  return state.is_undefined() ? make_tuple(in, {type, arguments}) : make_tuple(in, {type, arguments, state});
}

Value reduce_enumerate(Interpreter& in, const Args& args) {
  const auto* it = object_cast<EnumerateIterator>(args[0]);
  return same_call(in, args[0], make_tuple(in, {it->iterator, it->far.is_undefined() ? Value::integer(it->count) : it->far}));
}

Value reduce_zip(Interpreter& in, const Args& args) {
  const auto* it = object_cast<JoinedIterator>(args[0]);
  return same_call(in, args[0], it->iterators, it->strict ? Value::boolean(true) : Value());
}

Value zip_set_state(Interpreter& in, const Args& args) {
  object_cast<JoinedIterator>(args[0])->strict = truth(in, args[1]);
  return Value::none();
}

Value reduce_map(Interpreter& in, const Args& args) {
  const auto* it = object_cast<JoinedIterator>(args[0]);
  const Tuple& iterators = *as_tuple(it->iterators);
  std::vector<Value> arguments{it->function};
  arguments.insert(arguments.end(), iterators.items, iterators.items + iterators.size);
  return same_call(in, args[0], make_tuple_moving(in, arguments.data(), arguments.size()));
}

Value reduce_filter(Interpreter& in, const Args& args) {
  const auto* it = object_cast<FilterIterator>(args[0]);
  return same_call(in, args[0], make_tuple(in, {it->function, it->iterator}));
}

Value reduce_reversed(Interpreter& in, const Args& args) {
  const auto* it = object_cast<ReversedIterator>(args[0]);
  if (it->sequence.is_undefined()) return same_call(in, args[0], make_tuple(in, {in.shared->empty_tuple}));
  return same_call(in, args[0], make_tuple(in, {it->sequence}), Value::integer(it->index - 1));
}

Value reversed_set_state(Interpreter& in, const Args& args) {
  auto* it = object_cast<ReversedIterator>(args[0]);
  if (it->sequence.is_undefined()) return Value::none();
  const int64_t size = length(in, it->sequence);
  it->index = std::clamp<int64_t>(iterator_position(in, args[1]), -1, size - 1) + 1;
  return Value::none();
}

Value reversed_hint(Interpreter& in, const Args& args) {
  const auto* it = object_cast<ReversedIterator>(args[0]);
  if (it->sequence.is_undefined()) return Value::integer(0);
  const int64_t left = it->index;
  return Value::integer(length(in, it->sequence) < left ? 0 : left);
}

constexpr char kReduceDoc[] = "Return state information for pickling.";
constexpr char kStateDoc[] = "Set state information for unpickling.";
constexpr NativeDef kEnumerateRows[] = {{"__reduce__(self)", reduce_enumerate, kReduceDoc}};
constexpr NativeDef kZipRows[] = {{"__reduce__(self)", reduce_zip, kReduceDoc},
                                  {"__setstate__(self, state, /)", zip_set_state, kStateDoc}};
constexpr NativeDef kMapRows[] = {{"__reduce__(self)", reduce_map, kReduceDoc}};
constexpr NativeDef kFilterRows[] = {{"__reduce__(self)", reduce_filter, kReduceDoc}};
constexpr NativeDef kReversedRows[] = {{"__length_hint__(self, /)", reversed_hint, "Private method returning an estimate of len(list(it))."},
                                       {"__reduce__(self)", reduce_reversed, kReduceDoc},
                                       {"__setstate__(self, state, /)", reversed_set_state, kStateDoc}};

void fill_lazy(Interpreter& in, Type* type) {
  slot_methods(in, type);
  const BuiltinTypes& t = in.types;
  if (type == t.enumerate) {
    add_rows(in, type, kEnumerateRows);
    add_class_getitem(in, type);
  }
  if (type == t.zip) add_rows(in, type, kZipRows);
  if (type == t.map) add_rows(in, type, kMapRows);
  if (type == t.filter) add_rows(in, type, kFilterRows);
  if (type == t.reversed) add_rows(in, type, kReversedRows);
}

// --- the types

template <class T>
Type* lazy_type(Interpreter& in, const char* name, Value (*make)(Interpreter&, Type*, const Args&),
                bool (*step)(Interpreter&, const Value&, Value&), void (*traverse)(Object*, Visitor&)) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "builtins";
  spec.kind = ObjectKind::Iterator;
  spec.size = sizeof(T);
  Type* type = in.new_type(spec);
  type->make = make;
  type->slots.destroy = destroy_plain<T>;
  type->slots.traverse = traverse;
  type->slots.iter = itself;
  type->slots.next = step;
  type->fill_later(fill_lazy);
  return type;
}

void visit_joined(Object* self, Visitor& visitor) {
  visitor(known_cast<JoinedIterator>(self)->iterators);
  visitor(known_cast<JoinedIterator>(self)->function);
  visitor(known_cast<JoinedIterator>(self)->last);
}
void visit_filter(Object* self, Visitor& visitor) {
  visitor(known_cast<FilterIterator>(self)->iterator);
  visitor(known_cast<FilterIterator>(self)->function);
}
void visit_enumerate(Object* self, Visitor& visitor) {
  visitor(known_cast<EnumerateIterator>(self)->iterator);
  visitor(known_cast<EnumerateIterator>(self)->last);
}
void visit_reversed(Object* self, Visitor& visitor) { visitor(known_cast<ReversedIterator>(self)->sequence); }

}  // namespace

void make_lazy_iterator_types(Interpreter& in) {
  BuiltinTypes& t = in.types;
  t.enumerate = lazy_type<EnumerateIterator>(in, "enumerate", make_enumerate, next_enumerate, visit_enumerate);
  t.zip = lazy_type<JoinedIterator>(in, "zip", make_zip, next_zip, visit_joined);
  t.map = lazy_type<JoinedIterator>(in, "map", make_map, next_map, visit_joined);
  t.filter = lazy_type<FilterIterator>(in, "filter", make_filter, next_filter, visit_filter);
  t.reversed = lazy_type<ReversedIterator>(in, "reversed", make_reversed, next_reversed, visit_reversed);
}

}  // namespace tessera::lang
