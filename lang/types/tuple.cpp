// The tuple's memory; its methods are in tuple_methods.cpp.
#include "lang/types/tuple.h"

#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/types/list.h"
#include "lang/types/types.h"

namespace tessera::lang {

static constexpr size_t kFewItems = 16;

void destroy_tuple(Interpreter& in, Object* self) {
  Tuple* tuple = known_cast<Tuple>(self);
  const size_t bytes = tuple->size * sizeof(Value);
  end_values(tuple->items, tuple->size);
  free_object(in, tuple, bytes);
}

void traverse_tuple(Object* self, Visitor& visitor) {
  for (const Value& item : *known_cast<Tuple>(self)) visitor(item);
}

Tuple* new_tuple(Interpreter& in, size_t count, Type* type) {
  if (count > 0xfffffff0u) throw Error(ErrorKind::MemoryError, std::string());
  look_while_making(in.interrupt);
  Tuple* tuple = make_object<Tuple>(in, type != nullptr ? type : in.types.tuple, count * sizeof(Value));
  tuple->items = reinterpret_cast<Value*>(reinterpret_cast<char*>(tuple) + tuple->type->instance_size);
  if (count <= kFewItems) {
    for (size_t i = 0; i < count; ++i) new (tuple->items + i) Value(Value::none());
    tuple->size = static_cast<uint32_t>(count);
    return tuple;
  }
  try {
    in_pieces(in, count, [&](size_t i, size_t end) {
      for (; i < end; ++i) new (tuple->items + i) Value(Value::none());
    });
  } catch (...) {  // an object that is no tuple yet: what is there has no references
    if (tuple->flags & kTracked) in.collector().untrack(tuple);
    Type* const own = tuple->type;
    free_object(in, tuple, count * sizeof(Value));
    if (!(own->flags & kImmortal)) --own->refcount;  // not the last one: the caller's
    throw;
  }
  tuple->size = static_cast<uint32_t>(count);
  return tuple;
}

namespace {

// Can the collector meet the value? Numbers and strings refer to nothing.
bool is_traversable(const Value& v) noexcept { return v.is_object() && v.as_object()->kind != ObjectKind::Str; }

// Of a few items. A tuple of numbers and strings is no part of a cycle, so the collector does not learn of it.
template <class Item>
[[gnu::always_inline]] inline Value small_tuple(Interpreter& in, Item* items, size_t count) {
  Tuple* const tuple = make_plain_untracked<Tuple>(in, in.types.tuple, count * sizeof(Value));
  Value made = Value::adopt(tuple);
  tuple->gc_index = tuple->gc_refs = 0;  // no hash yet: hash_slot in tuple_methods.cpp
  Value* const place = reinterpret_cast<Value*>(tuple + 1);
  tuple->items = place;
  tuple->size = static_cast<uint32_t>(count);
  bool tracked = false;
  for (size_t i = 0; i < count; ++i) {
    new (place + i) Value(std::move(items[i]));
    tracked |= is_traversable(place[i]);
  }
  if (tracked) in.collector().track(tuple);
  return made;
}

// Of more items. Apart, so that the short ones save few registers.
template <class Item>
[[gnu::noinline]] Value long_tuple(Interpreter& in, Item* items, size_t count) {
  Tuple* tuple = new_tuple(in, count);
  Value made = Value::adopt(tuple);
  in_pieces(in, count, [&](size_t i, size_t end) {
    for (; i < end; ++i) tuple->items[i] = std::move(items[i]);
  });
  return made;
}

}  // namespace

Value make_tuple(Interpreter& in, const Value* items, size_t count) {
  if (count == 0) return in.shared->empty_tuple;
  return count <= kFewItems ? small_tuple(in, items, count) : long_tuple(in, items, count);
}

Value make_tuple(Interpreter& in, std::initializer_list<Value> items) {
  return make_tuple(in, items.begin(), items.size());
}

Value make_tuple_moving(Interpreter& in, Value* items, size_t count) {
  if (count == 0) return in.shared->empty_tuple;
  return count <= kFewItems ? small_tuple(in, items, count) : long_tuple(in, items, count);
}

Value recycled_tuple(Interpreter& in, Value& last, size_t count) {
  // From here on the count is two: if an old item's end asks the same iterator, that finds the tuple taken.
  if (last.is_object() && last.as_object()->refcount == 1) return last;
  last = Value::adopt(new_tuple(in, count));
  return last;
}

Value tuple_from(Interpreter& in, const Value& iterable) {
  if (iterable.is_object() && iterable.as_object()->type == in.types.tuple) return iterable;
  if (iterable.is_object() && iterable.as_object()->type == in.types.list) {
    return make_tuple(in, as_list(iterable)->items, as_list(iterable)->size);
  }
  const Value items = list_from(in, iterable);
  return make_tuple_moving(in, as_list(items)->items, as_list(items)->size);
}

}  // namespace tessera::lang
