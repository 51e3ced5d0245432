// Sets and frozensets in operators, and their methods. Which set is copied, and which is walked, follows CPython, since
// it decides the order of the result.
#include "lang/core/failure.h"
#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/sequence.h"
#include "lang/types/set.h"
#include "lang/types/set_ops.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

bool frozen(Interpreter& in, const Value& v) { return is_frozen(in, as_set(v)); }

Value repr_slot(Interpreter& in, const Value& self) {
  Set* set = as_set(self);
  const Type* type = self.as_object()->type;
  const std::string name(type->name->view());
  const ReprMark mark(in, self.as_object());
  if (set->count == 0) return make_str(in, name + "()");
  if (mark.again()) return make_str(in, name + "(...)");
  const Value keys = list_from(in, self);  // a repr may change the set
  const std::string out = repr_items(in, keys, "{", "}");
  return make_str(in, type == in.types.set ? out : name + "(" + out + ")");
}

int64_t length_slot(Interpreter&, const Value& self) { return as_set(self)->count; }
int64_t hash_slot(Interpreter&, const Value& self) { return frozenset_hash(as_set(self)); }

// An unhashable set may be looked for in a set of frozensets.
bool contains_slot(Interpreter& in, const Value& self, const Value& key) {
  if (is_set(key) && key.as_object()->type->slots.hash == nullptr) {
    const Value as_frozen = set_copy(in, as_set(key), true);
    return set_contains(in, as_set(self), as_frozen);
  }
  return set_contains(in, as_set(self), key);
}

// Calls f(key, hash) for each element; f may change other sets, not this one.
template <class F>
void each(const Set* set, F&& f) {
  uint32_t i = 0;
  for (; const SetEntry* const entry = set_entry_from(set, i); ++i) {
    const Value key = entry->key;
    f(key, entry->hash);
  }
}

}  // namespace

void set_subtract(Interpreter& in, Set* set, const Value& other) {
  if (other.is_object() && other.as_object() == set) {
    set_clear(in, set);
  } else if (is_set(other)) {
    each(as_set(other), [&](const Value& key, int64_t h) { set_discard_hashed(in, set, key, h); });
  } else {
    for_each(in, other, [&](Value key) { set_discard(in, set, key); });
  }
  set_tidy(in, set);
}

void set_toggle(Interpreter& in, Set* set, const Value& other) {
  if (other.is_object() && other.as_object() == set) {
    set_clear(in, set);
    return;
  }
  const Value others = is_set(other) ? other : set_from(in, other);
  each(as_set(others), [&](const Value& key, int64_t h) {
    if (!set_discard_hashed(in, set, key, h)) set_add_hashed(in, set, key, h);
  });
}

namespace {

bool is_subset(Interpreter& in, Set* a, Set* b) {
  if (a->count > b->count) return false;
  uint32_t i = 0;
  for (; const SetEntry* const entry = set_entry_from(a, i); ++i) {
    const Value key = entry->key;
    if (!set_contains_hashed(in, b, key, entry->hash)) return false;
  }
  return true;
}

Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (!is_set(other)) return in.not_implemented;
  const RecursionGuard guard(in, " in comparison");
  Set *a = as_set(self), *b = as_set(other);
  switch (op) {
    case CompareOp::Eq: return Value::boolean(a->count == b->count && is_subset(in, a, b));
    case CompareOp::Ne: return Value::boolean(!(a->count == b->count && is_subset(in, a, b)));
    case CompareOp::Lt: return Value::boolean(a->count < b->count && is_subset(in, a, b));
    case CompareOp::Le: return Value::boolean(is_subset(in, a, b));
    case CompareOp::Gt: return Value::boolean(b->count < a->count && is_subset(in, b, a));
    case CompareOp::Ge: return Value::boolean(is_subset(in, b, a));
  }
  return in.not_implemented;
}

// Puts into a fresh set what stands in another one, which gives each key once unless a comparison has changed it.
void add_found(Interpreter& in, Set* result, bool unchanged, const Value& key, int64_t hash) {
  if (unchanged) set_add_new(in, result, key, hash);
  else set_add_hashed(in, result, key, hash);
}

Value intersect(Interpreter& in, const Value& self, const Value& other) {
  const bool freeze = frozen(in, self);
  if (other.is(self)) return set_copy(in, as_set(self), freeze);
  Value result = make_set(in, freeze);
  if (is_set(other)) {
    Set* walked = as_set(other);
    Set* asked = as_set(self);
    if (walked->count > asked->count) std::swap(walked, asked);
    const uint32_t version = walked->version;
    each(walked, [&](const Value& key, int64_t h) {
      if (set_contains_hashed(in, asked, key, h)) add_found(in, as_set(result), walked->version == version, key, h);
    });
    return result;
  }
  for_each(in, other, [&](Value key) {
    const int64_t h = hash(in, key);
    if (set_contains_hashed(in, as_set(self), key, h)) set_add_hashed(in, as_set(result), key, h);
  });
  return result;
}

Value subtract(Interpreter& in, const Value& self, const Value& other) {
  const bool freeze = frozen(in, self);
  Set* set = as_set(self);
  const bool is_dictionary = other.is_object() && other.as_object()->type == in.types.dict;
  const size_t size = is_set(other) ? as_set(other)->count : is_dictionary ? as_dict(other)->count : 0;
  if ((!is_set(other) && !is_dictionary) || (set->count >> 2) > size) {
    Value result = set_copy(in, set, freeze);
    set_subtract(in, as_set(result), other);
    return result;
  }
  Value result = make_set(in, freeze);
  const uint32_t version = set->version;
  each(set, [&](const Value& key, int64_t h) {
    const bool there =
        is_set(other) ? set_contains_hashed(in, as_set(other), key, h) : dict_find(in, as_dict(other), key, h) >= 0;
    if (!there) add_found(in, as_set(result), set->version == version, key, h);
  });
  return result;
}

Value unite(Interpreter& in, const Value& self, const Value& other) {
  Value result = set_copy(in, as_set(self), frozen(in, self));
  set_update(in, as_set(result), other);
  return result;
}

Value symmetric(Interpreter& in, const Value& self, const Value& other) {
  Value result = is_set(other) ? set_copy(in, as_set(other), frozen(in, self)) : set_from(in, other, frozen(in, self));
  set_toggle(in, as_set(result), self);
  return result;
}

Value binary_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  if (!is_set(other)) return in.not_implemented;
  const Value &a = reflected ? other : self, &b = reflected ? self : other;
  switch (op) {
    case BinaryOp::And: return intersect(in, a, b);
    case BinaryOp::Or: return unite(in, a, b);
    case BinaryOp::Sub: return subtract(in, a, b);
    case BinaryOp::Xor: return symmetric(in, a, b);
    default: return in.not_implemented;
  }
}

// The set becomes what another one holds.
void take_over(Set* set, Set* from) {
  std::swap(set->table, from->table);
  std::swap(set->mask, from->mask);
  std::swap(set->fill, from->fill);
  std::swap(set->count, from->count);
  ++set->version;  // the finger of pop() stays where it was, as CPython's
}

Value inplace_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other) {
  if (!is_set(other) || frozen(in, self)) return in.not_implemented;
  switch (op) {
    case BinaryOp::Or: set_update(in, as_set(self), other); break;
    case BinaryOp::And: {
      const Value result = intersect(in, self, other);
      take_over(as_set(self), as_set(result));
      break;
    }
    case BinaryOp::Sub: set_subtract(in, as_set(self), other); break;
    case BinaryOp::Xor: set_toggle(in, as_set(self), other); break;
    default: return in.not_implemented;
  }
  return self;
}

// --- methods

Value add(Interpreter& in, const Args& args) {
  set_add(in, as_set(args[0]), args[1]);
  return Value::none();
}

bool discard_key(Interpreter& in, const Args& args) {
  if (is_set(args[1]) && args[1].as_object()->type->slots.hash == nullptr) {
    const Value as_frozen = set_copy(in, as_set(args[1]), true);
    return set_discard(in, as_set(args[0]), as_frozen);
  }
  return set_discard(in, as_set(args[0]), args[1]);
}

Value discard(Interpreter& in, const Args& args) {
  discard_key(in, args);
  return Value::none();
}

Value remove(Interpreter& in, const Args& args) {
  if (!discard_key(in, args)) return failure(in, Error(ErrorKind::KeyError, args[1]));
  return Value::none();
}

Value pop(Interpreter& in, const Args& args) {
  Value key = set_pop(in, as_set(args[0]));
  if (key.is_undefined()) throw_key_error(in, make_str(in, "pop from an empty set"));
  return key;
}

Value clear(Interpreter& in, const Args& args) {
  set_clear(in, as_set(args[0]));
  return Value::none();
}

Value copy(Interpreter& in, const Args& args) {
  if (args[0].as_object()->type == in.types.frozenset) return args[0];
  return set_copy(in, as_set(args[0]), frozen(in, args[0]));
}

Value union_method(Interpreter& in, const Args& args) {
  Value result = set_copy(in, as_set(args[0]), frozen(in, args[0]));
  for (const Value& other : *as_tuple(args[1])) set_update(in, as_set(result), other);
  return result;
}

Value intersection(Interpreter& in, const Args& args) {
  if (as_tuple(args[1])->size == 0) return set_copy(in, as_set(args[0]), frozen(in, args[0]));
  Value result = args[0];
  for (const Value& other : *as_tuple(args[1])) result = intersect(in, result, other);
  return result;
}

Value difference(Interpreter& in, const Args& args) {
  if (as_tuple(args[1])->size == 0) return set_copy(in, as_set(args[0]), frozen(in, args[0]));
  Value result = subtract(in, args[0], as_tuple(args[1])->items[0]);
  for (uint32_t i = 1; i < as_tuple(args[1])->size; ++i) set_subtract(in, as_set(result), as_tuple(args[1])->items[i]);
  return result;
}

Value symmetric_difference(Interpreter& in, const Args& args) { return symmetric(in, args[0], args[1]); }

Value update(Interpreter& in, const Args& args) {
  for (const Value& other : *as_tuple(args[1])) set_update(in, as_set(args[0]), other);
  return Value::none();
}

Value intersection_update(Interpreter& in, const Args& args) {
  const Value result = intersection(in, args);
  if (!result.is(args[0])) take_over(as_set(args[0]), as_set(result));
  return Value::none();
}

Value difference_update(Interpreter& in, const Args& args) {
  for (const Value& other : *as_tuple(args[1])) set_subtract(in, as_set(args[0]), other);
  return Value::none();
}

Value symmetric_difference_update(Interpreter& in, const Args& args) {
  set_toggle(in, as_set(args[0]), args[1]);
  return Value::none();
}

Value issubset(Interpreter& in, const Args& args) {
  const Value other = is_set(args[1]) ? args[1] : set_from(in, args[1]);
  return Value::boolean(is_subset(in, as_set(args[0]), as_set(other)));
}

Value issuperset(Interpreter& in, const Args& args) {
  if (is_set(args[1])) return Value::boolean(is_subset(in, as_set(args[1]), as_set(args[0])));
  const Value it = iter(in, args[1]);
  Value key;
  while (next(in, it, key)) {
    if (!set_contains(in, as_set(args[0]), key)) return Value::boolean(false);
  }
  return Value::boolean(true);
}

Value isdisjoint(Interpreter& in, const Args& args) {
  if (is_set(args[1])) {
    Set *a = as_set(args[0]), *b = as_set(args[1]);
    if (a->count > b->count) std::swap(a, b);
    for (uint32_t i = 0; a->table != nullptr && i <= a->mask; ++i) {
      const Value key = a->table[i].key;
      if (!key.is_undefined() && set_contains_hashed(in, b, key, a->table[i].hash)) return Value::boolean(false);
    }
    return Value::boolean(true);
  }
  const Value it = iter(in, args[1]);
  Value key;
  while (next(in, it, key)) {
    if (set_contains(in, as_set(args[0]), key)) return Value::boolean(false);
  }
  return Value::boolean(true);
}

Value init(Interpreter& in, const Args& args) {
  if (as_dict(args[2])->count != 0) throw Error(ErrorKind::TypeError, "set() takes no keyword arguments");
  set_clear(in, as_set(args[0]));
  if (!args[1].is_undefined()) set_update(in, as_set(args[0]), args[1]);
  return Value::none();
}

Value make_from(Interpreter& in, Type* type, const Args& args) {
  const bool freeze = type->is_subtype_of(in.types.frozenset);
  Type* const base = freeze ? in.types.frozenset : in.types.set;
  const char* const name = freeze ? "frozenset" : "set";
  if (!freeze && type != base) return Value::adopt(make_object<Set>(in, type));  // filled by its __init__
  refuse_keywords(in, type, base, name, args);
  check_count(name, args, 0, 1);
  if (type == base && freeze && args.positional() == 1 && args[0].is_object() && args[0].as_object()->type == base)
    return args[0];
  if (type == base && freeze && args.positional() == 0) return in.shared->empty_frozenset;
  Value result = Value::adopt(make_object<Set>(in, type));
  if (args.positional() == 1) set_fill(in, as_set(result), args[0]);
  return result;
}

constexpr NativeDef kSharedRows[] = {
    {"copy(self, /)", copy, "Return a shallow copy."},
    {"union(self, /, *others)", union_method, "Return the union as a new set."},
    {"intersection(self, /, *others)", intersection, "Return the intersection as a new set."},
    {"difference(self, /, *others)", difference, "Return the elements that are in none of the others."},
    {"symmetric_difference(self, other, /)", symmetric_difference, "Return the elements that are in one of the two."},
    {"issubset(self, other, /)", issubset, "True if the other contains this set."},
    {"issuperset(self, other, /)", issuperset, "True if this set contains the other."},
    {"isdisjoint(self, other, /)", isdisjoint, "True if the two have nothing in common."},
};

constexpr NativeDef kSetRows[] = {
    {"add(self, element, /)", add, "Add an element."},
    {"discard(self, element, /)", discard, "Remove an element if it is there."},
    {"remove(self, element, /)", remove, "Remove an element; KeyError if it is not there."},
    {"pop(self, /)", pop, "Remove and return an arbitrary element."},
    {"clear(self, /)", clear, "Remove all elements."},
    {"update(self, /, *others)", update, "Add the elements of all others."},
    {"intersection_update(self, /, *others)", intersection_update, "Keep what is in all others too."},
    {"difference_update(self, /, *others)", difference_update, "Remove what is in the others."},
    {"symmetric_difference_update(self, other, /)", symmetric_difference_update, "Keep what is in one of the two."},
    {"__init__(self, iterable=..., /, **kwargs)", init, ""},
};

void fill_slots(Type* type) {
  TypeSlots& s = type->slots;
  s.destroy = destroy_set;
  s.traverse = traverse_set;
  s.clear = [](Interpreter& i, Object* self) { set_clear(i, known_cast<Set>(self)); };
  s.repr = repr_slot;
  s.length = length_slot;
  s.compare = compare_slot;
  s.binary = binary_slot;
  s.contains = contains_slot;
  s.iter = set_iter;
}

}  // namespace

void make_set_types(Interpreter& in) {
  NativeTypeSpec spec;
  spec.module = "builtins";
  spec.kind = ObjectKind::Set;
  spec.size = sizeof(Set);
  if (in.types.set == nullptr) {
    spec.name = "set";
    in.types.set = in.new_type(spec);
  }
  if (in.types.frozenset == nullptr) {
    spec.name = "frozenset";
    in.types.frozenset = in.new_type(spec);
  }
  fill_slots(in.types.set);
  fill_slots(in.types.frozenset);
  in.types.set->slots.inplace = inplace_slot;
  in.types.set->slots.hash = nullptr;
  in.types.frozenset->slots.hash = hash_slot;
}

namespace {

void fill_set_type(Interpreter& in, Type* type) {
  add_rows(in, type, kSharedRows);
  if (type == in.types.set) add_rows(in, type, kSetRows);
  slot_methods(in, type);
  if (type == in.types.set) dict_set_str(in, type->attributes(), in.names->hash, Value::none());
  add_class_getitem(in, type);
}

}  // namespace

void set_methods(Interpreter& in) {
  for (Type* type : {in.types.set, in.types.frozenset}) {
    type->make = make_from;
    type->fill_later(fill_set_type);
  }
}

}  // namespace tessera::lang
