// _functools: reduce, partial, cmp_to_key, and the function with a memory behind lru_cache and cache.
//
// A dict finds the result of a call by its arguments: an unbounded memory keeps the result itself there, a bounded one
// the number of a node. Nodes form a ring in the order of their last use, node 0 being its border. The key is the tuple of
// arguments, or the argument alone when it is one int or str, which is what most calls have.
#include <algorithm>

#include "lang/compiler/chunk.h"
#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/objects/exception.h"
#include "lang/types/sequence.h"
#include "lang/types/setup.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

constexpr int64_t kUnbounded = -1;

struct Node {
  Value key, result;
  uint32_t newer = 0, older = 0;
};

struct CachedFunction : GcObject {
  Value function, store;
  int64_t maxsize = kUnbounded, hits = 0, misses = 0;
  bool typed = false;
  std::vector<Node> nodes;  // bounded only
};

CachedFunction* cached_of(const Value& v) { return object_cast<CachedFunction>(v); }

Value key_of(Interpreter& in, const CachedFunction* f, const Args& args) {
  const bool keywords = args.keyword_names != nullptr && args.keyword_names->size > 0;
  if (!keywords && !f->typed) {
    if (args.count == 1) {
      const Value& only = args[0];
      if (only.is_int() || (only.is_object() && only.as_object()->type == in.types.str)) return only;
    }
    return make_tuple(in, args.values, args.count);
  }
  std::vector<Value> parts(args.values, args.values + args.positional());
  if (keywords) {
    parts.push_back(Value(f->type));  // no script passes this type: a border between positions and keywords
    for (uint32_t i = 0; i < args.keyword_names->size; ++i) {
      parts.push_back((*args.keyword_names)[i]);
      parts.push_back(args[args.positional() + i]);
    }
  }
  if (f->typed) {
    for (uint32_t i = 0; i < args.count; ++i) parts.push_back(Value(type_of(in, args[i])));
  }
  return make_tuple_moving(in, parts.data(), parts.size());
}

void unlink(CachedFunction* f, uint32_t n) {
  Node& node = f->nodes[n];
  f->nodes[node.newer].older = node.older;
  f->nodes[node.older].newer = node.newer;
}

void link_newest(CachedFunction* f, uint32_t n) {
  Node &node = f->nodes[n], &border = f->nodes[0];
  node.older = border.older;
  node.newer = 0;
  f->nodes[border.older].newer = n;
  border.older = n;
}

// The border's `older` is the newest node, its `newer` the oldest.
void remember(Interpreter& in, CachedFunction* f, const Value& key, const Value& result) {
  if (dict_get(in, as_dict(f->store), key) != nullptr) return;  // a call inside this one was the same
  if (f->nodes.empty()) f->nodes.emplace_back();
  uint32_t n = f->nodes[0].newer;
  Node old;  // let go when all is whole again
  if (static_cast<int64_t>(f->nodes.size()) - 1 < f->maxsize) {
    n = static_cast<uint32_t>(f->nodes.size());
    f->nodes.emplace_back();
  } else {
    unlink(f, n);
    old.key = std::move(f->nodes[n].key);
    old.result = std::move(f->nodes[n].result);
  }
  f->nodes[n].key = key;
  f->nodes[n].result = result;
  link_newest(f, n);
  const Value store = f->store;
  if (!old.key.is_undefined()) dict_delete(in, as_dict(store), old.key);
  dict_set(in, as_dict(store), key, Value::integer(n));
}

void check_names(const Args& args) {
  for (uint32_t i = 0; args.keyword_names != nullptr && i < args.keyword_names->size; ++i)
    if (!is_str((*args.keyword_names)[i])) throw Error(ErrorKind::TypeError, "keywords must be strings");
}

Value call_cached(Interpreter& in, const Value& self, const Args& args) {
  CachedFunction* f = cached_of(self);
  const Value keep = self;
  if (f->maxsize == 0) {
    ++f->misses;
    check_names(args);
    return call(in, f->function, args);
  }
  const Value key = key_of(in, f, args);
  if (const Value* found = dict_get(in, as_dict(f->store), key)) {
    ++f->hits;
    if (f->maxsize == kUnbounded) return *found;
    const uint32_t n = static_cast<uint32_t>(found->as_int());
    if (f->nodes[0].older != n) {
      unlink(f, n);
      link_newest(f, n);
    }
    return f->nodes[n].result;
  }
  ++f->misses;
  check_names(args);
  Value result = call(in, f->function, args);
  if (f->maxsize == kUnbounded) dict_set(in, as_dict(f->store), key, result);
  else remember(in, f, key, result);
  return result;
}

Value make_cached(Interpreter& in, Type* type, const Args& args) {
  if (args.count != 3)
    throw Error(ErrorKind::TypeError, "a cached function takes the function, the size and whether types count");
  if (!is_callable(in, args[0])) throw Error(ErrorKind::TypeError, "the first argument must be callable");
  CachedFunction* f = make_object<CachedFunction>(in, type);
  Value made = Value::adopt(f);
  f->function = args[0];
  f->maxsize = args[1].is_none() ? kUnbounded : int_argument(in, args[1]);
  f->typed = truth(in, args[2]);
  f->store = make_dict(in);
  return made;
}

Value bind(Interpreter& in, const Value& self, const Value& instance, Type*) {
  if (instance.is_undefined() || instance.is_none()) return self;
  return make_bound_method(in, self, instance);
}

Value cache_counts(Interpreter& in, const Args& args) {
  const CachedFunction* f = cached_of(args[0]);
  return make_tuple(in, {Value::integer(f->hits), Value::integer(f->misses),
                         f->maxsize == kUnbounded ? Value::none() : Value::integer(f->maxsize),
                         Value::integer(as_dict(f->store)->count)});
}

Value cache_clear(Interpreter& in, const Args& args) {
  CachedFunction* f = cached_of(args[0]);
  f->hits = f->misses = 0;
  const Value old = std::exchange(f->store, make_dict(in));
  const std::vector<Node> nodes = std::move(f->nodes);
  f->nodes.clear();
  return Value::none();
}

Value is_typed(Interpreter&, const Args& args) { return Value::boolean(cached_of(args[0])->typed); }

void destroy_cached(Interpreter& in, Object* self) { free_object(in, known_cast<CachedFunction>(self)); }

void traverse_cached(Object* self, Visitor& visitor) {
  visitor(known_cast<CachedFunction>(self)->function);
  visitor(known_cast<CachedFunction>(self)->store);
  for (const Node& node : known_cast<CachedFunction>(self)->nodes) {
    visitor(node.key);
    visitor(node.result);
  }
}

void clear_cached(Interpreter& in, Object* self) {
  CachedFunction* f = known_cast<CachedFunction>(self);
  const Value function = std::move(f->function);
  f->function = Value::none();
  const Value store = std::exchange(f->store, make_dict(in));
  const std::vector<Node> nodes = std::move(f->nodes);
  f->nodes.clear();
}

const NativeDef kMethods[] = {
    {"_counts(self)", cache_counts, "Hits, misses, greatest and current size."},
    {"_typed(self)", is_typed, "Do equal arguments of different types count as different?"},
    {"cache_clear(self)", cache_clear, "Forget everything."},
};

// --- partial

struct Partial : GcObject {
  Value function;
  Value args;      // a tuple
  Value keywords;  // a dict
};

Partial* partial_of(const Value& v) { return object_cast<Partial>(v); }

// Positional arguments before and after, then keywords: those of the call win over the partial's.
Value call_with_more(Interpreter& in, const Partial* p, const Args& args) {
  const Value keep_args = p->args, keep_keywords = p->keywords, function = p->function;
  const Tuple* first = as_tuple(keep_args);
  std::vector<Value> values(first->items, first->items + first->size);
  values.insert(values.end(), args.values, args.values + args.positional());
  const Value all = dict_copy(in, as_dict(keep_keywords));
  for (uint32_t i = 0; args.keyword_names != nullptr && i < args.keyword_names->size; ++i) {
    dict_set(in, as_dict(all), (*args.keyword_names)[i], args[args.positional() + i]);
  }
  std::vector<Value> names;
  dict_for_each(as_dict(all), [&](const Value& name, const Value& value) {
    if (!is_str(name)) throw Error(ErrorKind::TypeError, "keywords must be strings");
    names.push_back(name);
    values.push_back(value);
  });
  const Value named = make_tuple_moving(in, names.data(), names.size());
  return call(in, function, Args{values.data(), static_cast<uint32_t>(values.size()), as_tuple(named)});
}

Value call_partial(Interpreter& in, const Value& self, const Args& args) {
  const Value keep = self;
  const Partial* p = partial_of(keep);
  if (as_dict(p->keywords)->count != 0) return call_with_more(in, p, args);
  constexpr uint32_t kFew = 8;
  const Tuple* first = as_tuple(p->args);
  if (first->size + args.count > kFew) return call_with_more(in, p, args);
  check_names(args);
  Value values[kFew];
  std::copy_n(first->items, first->size, values);
  std::copy_n(args.values, args.count, values + first->size);
  return call(in, p->function, Args{values, first->size + args.count, args.keyword_names});
}

// A partial of a partial that carries nothing else is one partial of the inner function.
bool is_plain_partial(const Type* type, const Value& v) {
  if (!v.is_object() || v.as_object()->type != type) return false;
  if (type->attributes_offset == 0) return true;
  const Attributes& attributes = attributes_of(v.as_object());
  return attributes.count == 0 && (attributes.dict == nullptr || attributes.dict->count == 0);
}

Value make_partial(Interpreter& in, Type* type, const Args& args) {
  if (args.positional() == 0) throw Error(ErrorKind::TypeError, "type 'partial' takes at least one argument");
  if (!is_callable(in, args[0])) throw Error(ErrorKind::TypeError, "the first argument must be callable");
  Partial* p = make_object<Partial>(in, type);
  Value made = Value::adopt(p);
  p->function = args[0];
  p->args = make_tuple(in, args.values + 1, args.positional() - 1);
  if (is_plain_partial(type, args[0])) {
    const Partial* inner = partial_of(args[0]);
    p->function = inner->function;
    p->args = binary(in, BinaryOp::Add, inner->args, p->args);
    p->keywords = dict_copy(in, as_dict(inner->keywords));
  } else {
    p->keywords = make_dict(in);
  }
  for (uint32_t i = 0; args.keyword_names != nullptr && i < args.keyword_names->size; ++i) {
    dict_set(in, as_dict(p->keywords), (*args.keyword_names)[i], args[args.positional() + i]);
  }
  return made;
}

void destroy_partial(Interpreter& in, Object* self) { free_object(in, known_cast<Partial>(self)); }

void traverse_partial(Object* self, Visitor& visitor) {
  Partial* p = known_cast<Partial>(self);
  visitor(p->function);
  visitor(p->args);
  visitor(p->keywords);
}

void clear_partial(Interpreter& in, Object* self) {
  Partial* p = known_cast<Partial>(self);
  const Value function = std::exchange(p->function, Value::none());
  const Value args = std::exchange(p->args, make_tuple(in, {}));
  const Value keywords = std::exchange(p->keywords, make_dict(in));
}

Value partial_function(Interpreter&, const Args& args) { return partial_of(args[0])->function; }
Value partial_args(Interpreter&, const Args& args) { return partial_of(args[0])->args; }
Value partial_keywords(Interpreter&, const Args& args) { return partial_of(args[0])->keywords; }

Value partial_dict(Interpreter& in, const Args& args) {
  return Value(static_cast<Object*>(attributes_dict(in, args[0].as_object())));
}

Value set_partial_dict(Interpreter& in, const Args& args) {
  if (!is_dict(args[1]))
    throw_error(ErrorKind::TypeError, "__dict__ must be set to a dictionary, not a '%s'",
                std::string(type_name(in, args[1])).c_str());
  set_attributes_dict(in, args[0].as_object(), as_dict(args[1]));
  return Value::none();
}

Value delete_partial_dict(Interpreter&, const Args&) { throw Error(ErrorKind::TypeError, "cannot delete __dict__"); }

// functools.partial(f, 1, k=2); a partial inside of itself is three dots.
Value repr_partial(Interpreter& in, const Value& self) {
  const ReprMark mark(in, self.as_object());
  if (mark.again()) return make_str(in, "...");
  const Partial* p = partial_of(self);
  const Value args = p->args, keywords = p->keywords;
  const Type* type = self.as_object()->type;
  std::string text = type->type_flags & lang::kScriptClass ? std::string(type->name->view()) : "functools.partial";
  text += "(" + repr_text(in, p->function);
  for (const Value& each : *as_tuple(args)) text += ", " + repr_text(in, each);
  std::vector<std::pair<Value, Value>> named;
  dict_for_each(as_dict(keywords), [&](const Value& key, const Value& value) { named.emplace_back(key, value); });
  for (const auto& [key, value] : named) text += ", " + str_text(in, key) + "=" + repr_text(in, value);
  return make_str(in, text + ")");
}

Value reduce_partial(Interpreter& in, const Args& args) {
  const Partial* p = partial_of(args[0]);
  const Value attributes = partial_dict(in, args);
  const Value state = make_tuple(in, {p->function, p->args, as_dict(p->keywords)->count == 0 ? Value::none() : p->keywords,
                                      as_dict(attributes)->count == 0 ? Value::none() : attributes});
  return make_tuple(in, {Value(args[0].as_object()->type), make_tuple(in, {p->function}), state});
}

Value set_partial_state(Interpreter& in, const Args& args) {
  if (!is_tuple(args[1]) || as_tuple(args[1])->size != 4) throw Error(ErrorKind::TypeError, "invalid partial state");
  const Value state = args[1];
  const Tuple* parts = as_tuple(state);
  const Value &function = parts->items[0], &attributes = parts->items[3];
  if (!is_callable(in, function) || !is_tuple(parts->items[1]) || !(parts->items[2].is_none() || is_dict(parts->items[2])) ||
      !(attributes.is_none() || is_dict(attributes)))
    throw Error(ErrorKind::TypeError, "invalid partial state");
  Value given = parts->items[1], keywords = parts->items[2].is_none() ? make_dict(in) : parts->items[2];
  if (given.as_object()->type != in.types.tuple) given = make_tuple(in, as_tuple(given)->items, as_tuple(given)->size);
  if (keywords.as_object()->type != in.types.dict) keywords = dict_copy(in, as_dict(keywords));
  Partial* p = partial_of(args[0]);
  const Value old_function = std::exchange(p->function, function);
  const Value old_args = std::exchange(p->args, given);
  const Value old_keywords = std::exchange(p->keywords, keywords);
  const Value dict = attributes.is_none() ? make_dict(in) : attributes;
  set_attributes_dict(in, args[0].as_object(), as_dict(dict));
  return Value::none();
}

const NativeDef kPartialMethods[] = {
    {"__reduce__(self, /)", reduce_partial},
    {"__setstate__(self, state, /)", set_partial_state},
};

void add_partial(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "partial";
  spec.module = "functools";
  spec.flags = kTakesAnyKeywords;
  spec.size = sizeof(Partial) + sizeof(Attributes);
  spec.doc = "A call with some of its arguments already given.";
  Type* type = in.new_type(spec);
  type->attributes_offset = sizeof(Partial);
  type->slots.destroy = destroy_partial;
  type->slots.traverse = traverse_partial;
  type->slots.clear = clear_partial;
  type->slots.call = call_partial;
  type->slots.repr = repr_partial;
  type->make = make_partial;
  slot_methods(in, type);
  in.add_property(type, "func", partial_function);
  in.add_property(type, "args", partial_args);
  in.add_property(type, "keywords", partial_keywords);
  in.add_property(type, "__dict__", partial_dict, set_partial_dict, "", delete_partial_dict);
  in.add_methods(type, &kClassGetItem, 1);
  in.add_methods(type, kPartialMethods, std::size(kPartialMethods));
  set_member(in, module, "partial", Value(type));
}

// --- cmp_to_key: cmp_to_key(f) is a key without an object; called with one, it makes the keys that f orders.

struct OrderKey : GcObject {
  Value function;
  Value object;  // undefined: none yet
};

OrderKey* order_key_of(const Value& v) { return object_cast<OrderKey>(v); }

Value make_order_key(Interpreter& in, Type* type, const Value& function, const Value& object) {
  OrderKey* key = make_object<OrderKey>(in, type);
  Value made = Value::adopt(key);
  key->function = function;
  key->object = object;
  return made;
}

Value call_order_key(Interpreter& in, const Value& self, const Args& args) {
  check_keywords(args, "K", {"obj"}, 1);
  if (args.count > 1) throw_error(ErrorKind::TypeError, "K() takes at most 1 argument (%u given)", args.count);
  if (args.count == 0) throw Error(ErrorKind::TypeError, "K() missing required argument 'obj' (pos 1)");
  return make_order_key(in, self.as_object()->type, order_key_of(self)->function, args[0]);
}

Value compare_order_keys(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (!other.is_object() || other.as_object()->type != self.as_object()->type)
    throw Error(ErrorKind::TypeError, "other argument must be K instance");
  Value pair[2] = {order_key_of(self)->object, order_key_of(other)->object};
  if (pair[0].is_undefined() || pair[1].is_undefined()) throw Error(ErrorKind::AttributeError, "object");
  const Value function = order_key_of(self)->function;
  return compare(in, op, call(in, function, Args{pair, 2}), Value::integer(0));
}

void destroy_order_key(Interpreter& in, Object* self) { free_object(in, known_cast<OrderKey>(self)); }

void traverse_order_key(Object* self, Visitor& visitor) {
  visitor(known_cast<OrderKey>(self)->function);
  visitor(known_cast<OrderKey>(self)->object);
}

void clear_order_key(Interpreter&, Object* self) {
  OrderKey* key = known_cast<OrderKey>(self);
  const Value function = std::exchange(key->function, Value::none());
  const Value object = std::exchange(key->object, Value::none());
}

Value order_key_object(Interpreter&, const Args& args) {
  const Value& object = order_key_of(args[0])->object;
  if (object.is_undefined()) throw Error(ErrorKind::AttributeError, "obj");
  return object;
}

Value set_order_key_object(Interpreter&, const Args& args) {
  const Value before = std::exchange(order_key_of(args[0])->object, args[1]);
  return Value::none();
}

Value cmp_to_key(Interpreter& in, const Args& args) {
  return make_order_key(in, static_cast<Type*>(args.callee->data), args[0], Value());
}

void add_cmp_to_key(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "KeyWrapper";
  spec.module = "functools";
  spec.size = sizeof(OrderKey);
  Type* type = in.new_type(spec);
  type->slots.destroy = destroy_order_key;
  type->slots.traverse = traverse_order_key;
  type->slots.clear = clear_order_key;
  type->slots.call = call_order_key;
  type->slots.compare = compare_order_keys;
  type->slots.hash = nullptr;
  slot_methods(in, type);
  dict_set_str(in, type->attributes(), in.names->hash, Value::none());
  in.add_property(type, "obj", order_key_object, set_order_key_object);
  set_member(in, module, "cmp_to_key",
             in.new_function("cmp_to_key(mycmp)", "The key function for sorting that orders by mycmp(a, b), as a number.",
                             cmp_to_key, type));
}

Value reduce(Interpreter& in, const Args& args) {
  Value it;
  try {
    it = iter(in, args[1]);
  } catch (const std::exception&) {
    if (!is_error(in, current_native_exception(in), ErrorKind::TypeError)) throw;
    throw Error(ErrorKind::TypeError, "reduce() arg 2 must support iteration");
  }
  Value pair[2] = {args[2], Value()};
  if (pair[0].is_undefined() && !next(in, it, pair[0])) {
    throw Error(ErrorKind::TypeError, "reduce() of empty iterable with no initial value");
  }
  while (next(in, it, pair[1])) pair[0] = call(in, args[0], Args{pair, 2});
  return pair[0];
}

}  // namespace

void fill_functools(Interpreter& in, Module& module) {
  add_partial(in, module);
  add_cmp_to_key(in, module);
  in.def(module, "reduce(function, iterable, initial=..., /)", "function(function(a, b), c) ...", reduce);
  NativeTypeSpec spec;
  spec.name = "CachedFunction";
  spec.module = "functools";
  spec.flags = kTakesAnyKeywords;
  spec.size = sizeof(CachedFunction);
  Type* type = in.new_type(spec);
  type->slots.destroy = destroy_cached;
  type->slots.traverse = traverse_cached;
  type->slots.clear = clear_cached;
  type->slots.call = call_cached;
  type->slots.descr_get = bind;
  type->make = make_cached;
  slot_methods(in, type);
  in.add_methods(type, kMethods, std::size(kMethods));
  set_member(in, module, "CachedFunction", Value(type));
}

}  // namespace tessera::stdlib
