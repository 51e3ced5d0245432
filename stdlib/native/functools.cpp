// _functools: the function with a memory behind lru_cache and cache.
//
// Results stand in a dict, least recently used first: a hit moves its entry to the end when the size is bounded. The key
// is the tuple of arguments, or the argument alone when it is one int or str, which is what most calls have.
#include "lang/compiler/chunk.h"
#include "lang/cycles.h"
#include "lang/make_object.h"
#include "stdlib/native/native_modules.h"
#include "stdlib/native/support.h"

namespace tessera {
namespace {

constexpr int64_t kUnbounded = -1;

struct CachedFunction : GcObject {
  Value function, store;
  int64_t maxsize = kUnbounded, hits = 0, misses = 0;
  bool typed = false;
  const DictEntry* entries = nullptr;  // of the store, when `first` was noted
  uint32_t first = 0;                  // no live entry stands before this one
};

CachedFunction* cached_of(const Value& v) { return static_cast<CachedFunction*>(v.as_object()); }

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

void drop_oldest(Interpreter& in, CachedFunction* f) {
  Dict* store = as_dict(f->store);
  if (store->entries != f->entries || f->first > store->used) {
    f->entries = store->entries;
    f->first = 0;
  }
  while (f->first < store->used && store->entries[f->first].key.is_undefined()) ++f->first;
  if (f->first == store->used) return;
  const Value key = store->entries[f->first].key;
  const Value dropped = dict_pop(in, store, key);
}

Value call_cached(Interpreter& in, const Value& self, const Args& args) {
  CachedFunction* f = cached_of(self);
  const Value keep = self;
  const Value key = key_of(in, f, args);
  Dict* store = as_dict(f->store);
  if (const Value* found = dict_get(in, store, key)) {
    ++f->hits;
    Value result = *found;
    if (f->maxsize != kUnbounded) {
      dict_delete(in, store, key);
      dict_set(in, store, key, result);
    }
    return result;
  }
  ++f->misses;
  Value result = call(in, f->function, args);
  if (f->maxsize == 0) return result;
  store = as_dict(f->store);
  if (f->maxsize != kUnbounded && store->count >= static_cast<uint64_t>(f->maxsize) &&
      dict_get(in, store, key) == nullptr) {
    drop_oldest(in, f);
  }
  dict_set(in, store, key, result);
  return result;
}

Value make_cached(Interpreter& in, Type* type, const Args& args) {
  if (args.count != 3)
    throw Error(ErrorKind::TypeError, "a cached function takes the function, the size and whether types count");
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
  f->first = 0;
  const Value old = f->store;
  f->store = make_dict(in);
  return Value::none();
}

Value is_typed(Interpreter&, const Args& args) { return Value::boolean(cached_of(args[0])->typed); }

void destroy_cached(Interpreter& in, Object* self) { free_object(in, static_cast<CachedFunction*>(self)); }

void traverse_cached(Object* self, Visitor& visitor) {
  visitor(static_cast<CachedFunction*>(self)->function);
  visitor(static_cast<CachedFunction*>(self)->store);
}

void clear_cached(Interpreter& in, Object* self) {
  CachedFunction* f = static_cast<CachedFunction*>(self);
  const Value function = std::move(f->function);
  f->function = Value::none();
  const Value store = std::move(f->store);
  f->store = make_dict(in);
}

const NativeDef kMethods[] = {
    {"_counts(self)", cache_counts, "Hits, misses, greatest and current size."},
    {"_typed(self)", is_typed, "Do equal arguments of different types count as different?"},
    {"cache_clear(self)", cache_clear, "Forget everything."},
};

}  // namespace

void fill_functools(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "CachedFunction";
  spec.module = "functools";
  spec.size = sizeof(CachedFunction);
  Type* type = in.new_type(spec);
  type->slots.destroy = destroy_cached;
  type->slots.traverse = traverse_cached;
  type->slots.clear = clear_cached;
  type->slots.call = call_cached;
  type->slots.descr_get = bind;
  type->make = make_cached;
  in.add_methods(type, kMethods, std::size(kMethods));
  set_member(in, module, "CachedFunction", Value(type));
}

}  // namespace tessera
