// Dicts in operators and indexing, their methods, and the views keys(), values(), items().
#include "lang/core/failure.h"
#include "lang/core/bind.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/core/error.h"
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

Value dict_pop_last(Interpreter& in, Dict* dict);

namespace {

Value repr_slot(Interpreter& in, const Value& self) {
  Dict* d = as_dict(self);
  if (d->count == 0) return make_str(in, "{}");
  const ReprMark mark(in, d);
  if (mark.again()) return make_str(in, "{...}");
  std::string out = "{";
  for (uint32_t i = 0; i < d->used; ++i) {
    if (d->entries[i].key.is_undefined()) continue;
    const Value key = d->entries[i].key, value = d->entries[i].value;
    if (out.size() > 1) out += ", ";
    out += repr_text(in, key) + ": ";
    out += repr_text(in, value);
  }
  return make_str(in, out + "}");
}

int64_t length_slot(Interpreter&, const Value& self) { return as_dict(self)->count; }

bool same_dicts(Interpreter& in, const Value& left, const Value& right) {
  const RecursionGuard guard(in, " in comparison");
  Dict* a = as_dict(left);
  Dict* b = as_dict(right);
  if (a->count != b->count) return false;
  for (uint32_t i = 0; i < a->used; ++i) {
    if (a->entries[i].key.is_undefined()) continue;
    const Value key = a->entries[i].key, value = a->entries[i].value;
    const int32_t at = dict_find(in, b, key, a->entries[i].hash);
    if (at < 0) return false;
    const Value other = b->entries[at].value;
    if (!equals(in, value, other)) return false;
  }
  return true;
}

Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (!is_dict(other) || (op != CompareOp::Eq && op != CompareOp::Ne)) return in.not_implemented;
  return Value::boolean(same_dicts(in, self, other) == (op == CompareOp::Eq));
}

Value binary_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  if (op != BinaryOp::Or || !is_dict(other)) return in.not_implemented;
  Value result = dict_copy(in, as_dict(reflected ? other : self));
  dict_update(in, as_dict(result), reflected ? self : other);
  return result;
}

Value inplace_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other) {
  if (op != BinaryOp::Or) return in.not_implemented;
  dict_update(in, as_dict(self), other);
  return self;
}

Value get_item_slot(Interpreter& in, const Value& self, const Value& key) {
  const Value* found = dict_get(in, as_dict(self), key);
  if (found != nullptr) return *found;
  if (self.as_object()->type != in.types.dict) {
    const Value missing = type_lookup(self.as_object()->type, in.names->missing);
    if (!missing.is_undefined()) return call_special(in, missing, self, {key});
  }
  throw_key_error(in, key);
}

void set_item_slot(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  dict_set(in, as_dict(self), key, value);
}

void del_item_slot(Interpreter& in, const Value& self, const Value& key) {
  const Value gone = dict_pop(in, as_dict(self), key);
  if (gone.is_undefined()) throw_key_error(in, key);
}

bool contains_slot(Interpreter& in, const Value& self, const Value& key) {
  return dict_get(in, as_dict(self), key) != nullptr;
}

Value iter_slot(Interpreter& in, const Value& self) { return dict_iter_of(in, self, IteratorKind::DictKeys); }

// --- methods

Value make_view(Interpreter& in, Type* type, const Value& dict) {
  DictView* view = make_object<DictView>(in, type);
  view->dict = dict;
  return Value::adopt(view);
}

Value keys(Interpreter& in, const Args& args) { return make_view(in, in.types.dict_keys, args[0]); }
Value values(Interpreter& in, const Args& args) { return make_view(in, in.types.dict_values, args[0]); }
Value items(Interpreter& in, const Args& args) { return make_view(in, in.types.dict_items, args[0]); }

Value get(Interpreter& in, const Args& args) {
  const Value* found = dict_get(in, as_dict(args[0]), args[1]);
  return found != nullptr ? *found : args[2];
}

Value set_default(Interpreter& in, const Args& args) {
  return dict_set_default(in, as_dict(args[0]), args[1], args[2]);
}

Value pop(Interpreter& in, const Args& args) {
  const bool empty = as_dict(args[0])->count == 0;  // then nobody asks for the key's hash
  Value gone = empty ? Value() : dict_pop(in, as_dict(args[0]), args[1]);
  if (!gone.is_undefined()) return gone;
  if (args[2].is_undefined()) return failure(in, Error(ErrorKind::KeyError, args[1]));
  return args[2];
}

Value popitem(Interpreter& in, const Args& args) {
  Value pair = dict_pop_last(in, as_dict(args[0]));
  if (pair.is_undefined()) throw_key_error(in, make_str(in, "popitem(): dictionary is empty"));
  return pair;
}

Value clear(Interpreter& in, const Args& args) {
  dict_clear(in, as_dict(args[0]));
  return Value::none();
}

Value copy(Interpreter& in, const Args& args) { return dict_copy(in, as_dict(args[0])); }

void fill(Interpreter& in, const char* name, Dict* dict, const Args& args, uint32_t first) {
  const uint32_t positional = args.positional();
  if (positional > first + 1) {
    throw Error(ErrorKind::TypeError,
                std::string(name) + " expected at most 1 argument, got " + std::to_string(positional - first));
  }
  if (positional > first) dict_update(in, dict, args[first]);
  for (uint32_t i = 0; args.keyword_names != nullptr && i < args.keyword_names->size; ++i) {
    dict_set(in, dict, args.keyword_names->items[i], args[positional + i]);
  }
}

Value update(Interpreter& in, const Args& args) {
  if (args[1].is_object() && as_tuple(args[1])->size > 1) {
    throw Error(ErrorKind::TypeError,
                "update expected at most 1 argument, got " + std::to_string(as_tuple(args[1])->size));
  }
  if (as_tuple(args[1])->size == 1) dict_update(in, as_dict(args[0]), as_tuple(args[1])->items[0]);
  dict_merge(in, as_dict(args[0]), as_dict(args[2]));
  return Value::none();
}

Value init(Interpreter& in, const Args& args) {
  if (as_tuple(args[1])->size > 1) {
    throw Error(ErrorKind::TypeError,
                "dict expected at most 1 argument, got " + std::to_string(as_tuple(args[1])->size));
  }
  return update(in, args);
}

Value fromkeys(Interpreter& in, const Args& args) {
  Value result = args[0].as_object() == in.types.dict ? make_dict(in) : call(in, args[0]);
  const bool plain = is_dict(result) && result.as_object()->type == in.types.dict;
  if (plain && args[1].is_object() && (args[1].as_object()->type == in.types.set || args[1].as_object()->type == in.types.frozenset)) {
    const Set* const set = as_set(args[1]);  // its hashes are known; comparing keys may run scripts, which may change it
    for (uint32_t i = 0; set->table != nullptr && i <= set->mask; ++i) {
      const SetEntry entry = set->table[i];
      if (!entry.key.is_undefined()) dict_set(in, as_dict(result), entry.key, entry.hash, args[2]);
    }
    return result;
  }
  for_each(in, args[1], [&](Value key) {
    if (plain) dict_set(in, as_dict(result), key, args[2]);
    else set_item(in, result, key, args[2]);
  });
  return result;
}

Value reversed_method(Interpreter& in, const Args& args) {
  return dict_iter_of(in, args[0], IteratorKind::DictKeys, true);
}

Value make_from(Interpreter& in, Type* type, const Args& args) {
  Value result = Value::adopt(make_object<Dict>(in, type));
  if (type != in.types.dict) return result;  // a subclass is filled by its __init__
  fill(in, "dict", as_dict(result), args, 0);
  return result;
}

bool short_get(Interpreter& in, Value* args, Value& answer) {
  const Value* found;
  if (!dict_get_surely(in, as_dict(args[0]), args[1], found)) return false;
  answer = found != nullptr ? *found : Value::none();
  return true;
}

bool short_update(Interpreter& in, Value* args, Value& answer) {
  if (!args[1].is_object() || args[1].as_object()->type != in.types.dict) return false;
  dict_merge(in, as_dict(args[0]), as_dict(args[1]));
  answer = Value::none();
  return true;
}

constexpr NativeDef kRows[] = {
    {"keys(self, /)", keys, "A view of the keys."},
    {"values(self, /)", values, "A view of the values."},
    {"items(self, /)", items, "A view of the (key, value) pairs."},
    {"get(self, key, default=None, /)", get, "The value for key if it is in the dictionary, else default.", {short_get, 2}},
    {"setdefault(self, key, default=None, /)", set_default,
     "Insert key with default if it is missing; return its value."},
    {"pop(self, key, default=..., /)", pop, "Remove key and return its value, or default."},
    {"popitem(self, /)", popitem, "Remove and return the last (key, value) pair."},
    {"clear(self, /)", clear, "Remove all items."},
    {"copy(self, /)", copy, "A shallow copy."},
    {"update(self, /, *args, **kwargs)", update, "Update from a mapping or an iterable of pairs, and from keywords.",
     {short_update, 2}},
    {"fromkeys(cls, iterable, value=None, /)", fromkeys, "A new dictionary with keys from iterable and one value."},
    {"__reversed__(self, /)", reversed_method, "Return a reverse iterator over the keys."},
    {"__init__(self, /, *args, **kwargs)", init, ""},
};

// --- views

Dict* dict_of(const Value& view) { return as_dict(object_cast<DictView>(view)->dict); }
const Value& held(const Value& view) { return object_cast<DictView>(view)->dict; }

int64_t view_length(Interpreter&, const Value& self) { return dict_of(self)->count; }

template <IteratorKind kKind>
Value view_iter(Interpreter& in, const Value& self) {
  return dict_iter_of(in, held(self), kKind);
}

// OrderedDict's views are called odict_keys and so on: its class says so in `_view_prefix`.
std::string view_name(Interpreter& in, const Value& view) {
  const std::string name(view.as_object()->type->name->view());
  const Type* kind = held(view).as_object()->type;
  if (kind == in.types.dict) return name;
  const Value& prefix = type_lookup(kind, intern(in, "_view_prefix"));
  return is_str(prefix) ? std::string(as_str(prefix)->view()) + name : name;
}

Value view_repr(Interpreter& in, const Value& self) {
  const ReprMark mark(in, self.as_object());
  const std::string name = view_name(in, self);
  if (mark.again()) return make_str(in, "...");
  return make_str(in, name + "(" + repr_text(in, list_from(in, self)) + ")");
}

bool keys_contain(Interpreter& in, const Value& self, const Value& key) {
  return dict_get(in, dict_of(self), key) != nullptr;
}

bool items_contain(Interpreter& in, const Value& self, const Value& pair) {
  if (!is_tuple(pair) || as_tuple(pair)->size != 2) return false;
  const Value* found = dict_get(in, dict_of(self), as_tuple(pair)->items[0]);
  if (found == nullptr) return false;
  const Value value = *found;
  return equals(in, value, as_tuple(pair)->items[1]);
}

bool is_set_like(Interpreter& in, const Value& v) {
  return is_set(v) ||
         (v.is_object() && (v.as_object()->type == in.types.dict_keys || v.as_object()->type == in.types.dict_items));
}

bool all_in(Interpreter& in, const Value& left, const Value& right) {
  bool every = true;
  const Value it = iter(in, left);
  Value item;
  while (every && next(in, it, item)) every = contains(in, right, item);
  return every;
}

Value view_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (!is_set_like(in, other)) return in.not_implemented;
  const int64_t a = length(in, self), b = length(in, other);
  switch (op) {
    case CompareOp::Eq: return Value::boolean(a == b && all_in(in, self, other));
    case CompareOp::Ne: return Value::boolean(!(a == b && all_in(in, self, other)));
    case CompareOp::Lt: return Value::boolean(a < b && all_in(in, self, other));
    case CompareOp::Le: return Value::boolean(a <= b && all_in(in, self, other));
    case CompareOp::Gt: return Value::boolean(a > b && all_in(in, other, self));
    case CompareOp::Ge: return Value::boolean(a >= b && all_in(in, other, self));
  }
  return in.not_implemented;
}

bool is_view(Interpreter& in, const Value& v) {
  return v.is_object() && (v.as_object()->type == in.types.dict_keys || v.as_object()->type == in.types.dict_items);
}

// Who is walked and who is asked decides the order of the result; this is CPython's choice.
Value view_intersect(Interpreter& in, const Value& left, const Value& right) {
  Value self = is_view(in, left) ? left : right, other = is_view(in, left) ? right : left;
  const bool plain_set = other.is_object() && other.as_object()->type == in.types.set;
  if (plain_set && length(in, self) <= as_set(other)->count) std::swap(self, other);
  else if (is_view(in, other) && length(in, other) > length(in, self)) std::swap(self, other);
  Value result = make_set(in);
  for_each(in, other, [&](Value key) {
    if (contains(in, self, key)) set_add(in, as_set(result), key);
  });
  return result;
}

// &, |, -, ^ give sets; the other side may be any iterable.
Value view_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  const Value &left = reflected ? other : self, &right = reflected ? self : other;
  if (op == BinaryOp::And) return view_intersect(in, left, right);
  if (op != BinaryOp::Or && op != BinaryOp::Sub && op != BinaryOp::Xor) return in.not_implemented;
  Value result = set_from(in, left);
  if (op == BinaryOp::Or) set_update(in, as_set(result), right);
  else if (op == BinaryOp::Sub) set_subtract(in, as_set(result), right);
  else set_toggle(in, as_set(result), right);
  return result;
}

Value view_reversed(Interpreter& in, const Args& args) {
  const Type* type = args[0].as_object()->type;
  return dict_iter_of(in, held(args[0]),
                      type == in.types.dict_keys     ? IteratorKind::DictKeys
                      : type == in.types.dict_values ? IteratorKind::DictValues
                                                     : IteratorKind::DictItems,
                      true);
}

Value view_isdisjoint(Interpreter& in, const Args& args) {
  const Value it = iter(in, args[1]);
  Value item;
  while (next(in, it, item)) {
    if (contains(in, args[0], item)) return Value::boolean(false);
  }
  return Value::boolean(true);
}

constexpr NativeDef kViewRows[] = {
    {"__reversed__(self, /)", view_reversed, "Return a reverse iterator over the view."},
    {"isdisjoint(self, other, /)", view_isdisjoint, "True if the view and the other have nothing in common."},
};

Value view_mapping(Interpreter& in, const Args& args) { return make_mapping_proxy(in, held(args[0])); }

Type* view_type(Interpreter& in, const char* name, bool set_like) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "builtins";
  spec.kind = ObjectKind::Other;
  spec.size = sizeof(DictView);
  spec.flags = kFinalType;
  Type* type = in.new_type(spec);
  type->make = refuse_to_make;
  TypeSlots& s = type->slots;
  s.destroy = destroy_plain<DictView>;
  s.traverse = [](Object* self, Visitor& visitor) { visitor(known_cast<DictView>(self)->dict); };
  s.repr = view_repr;
  s.length = view_length;
  if (set_like) {
    s.hash = nullptr;
    s.compare = view_compare;
    s.binary = view_binary;
  }
  return type;
}

}  // namespace

void dict_slots(Interpreter& in) {
  TypeSlots& s = in.types.dict->slots;
  s.destroy = destroy_dict;
  s.traverse = traverse_dict;
  s.clear = [](Interpreter& i, Object* self) { dict_clear(i, known_cast<Dict>(self)); };
  s.repr = repr_slot;
  s.hash = nullptr;
  s.length = length_slot;
  s.compare = compare_slot;
  s.binary = binary_slot;
  s.inplace = inplace_slot;
  s.get_item = get_item_slot;
  s.set_item = set_item_slot;
  s.del_item = del_item_slot;
  s.contains = contains_slot;
  s.iter = iter_slot;
}

void make_view_types(Interpreter& in) {
  in.types.dict_keys = view_type(in, "dict_keys", true);
  in.types.dict_keys->slots.iter = view_iter<IteratorKind::DictKeys>;
  in.types.dict_keys->slots.contains = keys_contain;
  in.types.dict_values = view_type(in, "dict_values", false);
  in.types.dict_values->slots.iter = view_iter<IteratorKind::DictValues>;
  in.types.dict_items = view_type(in, "dict_items", true);
  in.types.dict_items->slots.iter = view_iter<IteratorKind::DictItems>;
  in.types.dict_items->slots.contains = items_contain;
}

namespace {

void fill_dict(Interpreter& in, Type* type) {
  add_rows(in, type, kRows);
  slot_methods(in, type);
  dict_set_str(in, type->attributes(), in.names->hash, Value::none());
  add_class_getitem(in, type);
}

void fill_view(Interpreter& in, Type* type) {
  slot_methods(in, type);
  in.add_methods(type, kViewRows, type == in.types.dict_values ? 1 : 2);
  in.add_property(type, "mapping", view_mapping);
}

}  // namespace

void dict_methods(Interpreter& in) {
  in.types.dict->make = make_from;
  in.types.dict->fill_later(fill_dict);
  for (Type* type : {in.types.dict_keys, in.types.dict_values, in.types.dict_items}) type->fill_later(fill_view);
}

}  // namespace tessera::lang
