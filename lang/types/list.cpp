// The list's memory; its methods are in list_methods.cpp and its sort in sort.cpp.
#include "lang/types/list.h"

#include <algorithm>
#include <cstring>

#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/types/big_range.h"
#include "lang/types/dict.h"
#include "lang/types/few_items.h"
#include "lang/types/iterators.h"
#include "lang/types/range.h"
#include "lang/types/sequence.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

// Values may be moved as bytes: nothing points into them.
void move_values(Value* to, const Value* from, size_t count) noexcept {
  if (count != 0) std::memmove(static_cast<void*>(to), static_cast<const void*>(from), count * sizeof(Value));  // an empty list has no place
}

void set_capacity(Interpreter& in, List* list, size_t capacity) {
  if (capacity > 0xfffffff0u) throw Error(ErrorKind::MemoryError, std::string());
  const size_t bytes = capacity * sizeof(Value);
  list->items = static_cast<Value*>(list->items == nullptr
                                        ? in.allocate(bytes)
                                        : in.reallocate(list->items, list->capacity * sizeof(Value), bytes));
  list->capacity = static_cast<uint32_t>(capacity);
}

}  // namespace

void destroy_list(Interpreter& in, Object* self) {
  List* list = known_cast<List>(self);
  end_values(list->items, list->size);
  if (list->items != nullptr) in.deallocate(list->items, list->capacity * sizeof(Value));
  free_object(in, list);
}

void traverse_list(Object* self, Visitor& visitor) {
  for (const Value& item : *known_cast<List>(self)) visitor(item);
}

Value make_list(Interpreter& in, size_t capacity) {
  Value result = Value::adopt(make_plain<List>(in, in.types.list));
  if (capacity != 0) set_capacity(in, as_list(result), capacity);
  return result;
}

namespace {

// Lists of more than a few items. Apart, so that the short ones save few registers.
template <class Item>
[[gnu::noinline]] Value make_long_list(Interpreter& in, Item* items, size_t count) {
  Value result = make_list(in, count);
  List* list = as_list(result);
  in_pieces(in, count, [&](size_t i, size_t end) {
    for (; i < end; ++i) new (list->items + i) Value(std::move(items[i]));
    list->size = static_cast<uint32_t>(end);
  });
  return result;
}

}  // namespace

Value make_list(Interpreter& in, const Value* items, size_t count) {
  if (!are_few(count)) return make_long_list(in, items, count);
  return few_items(in, count, [&](Value* place, size_t i) { new (place) Value(items[i]); });
}

Value make_list_moving(Interpreter& in, Value* items, size_t count) {
  if (!are_few(count)) return make_long_list(in, items, count);
  return few_items(in, count, [&](Value* place, size_t i) { new (place) Value(std::move(items[i])); });
}

void list_reserve(Interpreter& in, List* list, size_t capacity) {
  if (capacity > list->capacity) set_capacity(in, list, std::max<size_t>(capacity, list->size + list->size / 8 + 6));
}

void list_grow(Interpreter& in, List* list) {
  const size_t size = list->size;
  set_capacity(in, list, size < 4 ? 4 : size + size / 2);
  list->aux = 1;
}

void list_insert(Interpreter& in, List* list, size_t at, Value value) {
  if (list->size == list->capacity) list_grow(in, list);
  move_values(list->items + at + 1, list->items + at, list->size - at);
  new (list->items + at) Value(std::move(value));
  ++list->size;
}

Value list_pop(Interpreter&, List* list, size_t at) {
  Value item = std::move(list->items[at]);
  --list->size;
  move_values(list->items + at, list->items + at + 1, list->size - at);
  return item;
}

void list_clear(Interpreter& in, List* list) {
  Value* items = list->items;
  const uint32_t size = list->size, capacity = list->capacity;
  list->items = nullptr;
  list->size = list->capacity = 0;
  end_values(items, size);
  if (items != nullptr) in.deallocate(items, capacity * sizeof(Value));
}

// Replaces list[from:to] by the given values, which are shared.
void list_replace(Interpreter& in, List* list, size_t from, size_t to, const Value* items, size_t count) {
  const size_t removed = to - from;
  if (count > removed) list_reserve(in, list, list->size + (count - removed));
  constexpr size_t kFew = 8;
  alignas(Value) unsigned char few[kFew * sizeof(Value)];
  std::vector<Value> many;
  if (removed > kFew) many.resize(removed);
  Value* const old = removed > kFew ? many.data() : reinterpret_cast<Value*>(few);
  move_values(old, list->items + from, removed);
  if (count != removed) move_values(list->items + from + count, list->items + to, list->size - to);
  for (size_t i = 0; i < count; ++i) new (list->items + from + i) Value(items[i]);
  list->size = static_cast<uint32_t>(list->size - removed + count);
  if (removed <= kFew) return end_values(old, removed);
  while (!many.empty()) many.pop_back();
}

namespace {

// The builtin containers, whose iterators no script can see: without the iterator.
void extend_by_chars(Interpreter& in, List* list, const Str* s) {
  list_reserve(in, list, size_t{list->size} + s->length);
  StopBudget budget(in);
  for (const char *p = s->data, *end = p + s->size; p < end; budget.take())
    list_append(in, list, char_str(in, decode_char(p)));
}

void extend_by_range(Interpreter& in, List* list, const Range* range) {
  list_reserve(in, list, list->size + static_cast<size_t>(range->length));
  uint64_t item = static_cast<uint64_t>(range->start);
  in_pieces(in, static_cast<size_t>(range->length), [&](size_t i, size_t end) {
    for (; i < end; ++i, item += static_cast<uint64_t>(range->step))
      list_append(in, list, Value::integer(static_cast<int64_t>(item)));
  });
}

void extend_by_set(Interpreter& in, List* list, const Set* set) {
  list_reserve(in, list, size_t{list->size} + set->count);
  StopBudget budget(in);
  set_for_each(set, [&](const Value& key) {
    budget.take();
    list_append(in, list, key);
  });
}

void extend_by_dict(Interpreter& in, List* list, const Dict* dict, IteratorKind kind) {
  list_reserve(in, list, size_t{list->size} + dict->count);
  StopBudget budget(in);
  dict_for_each(dict, [&](const Value& key, const Value& value) {
    budget.take();
    if (kind == IteratorKind::DictItems) list_append(in, list, make_tuple(in, {key, value}));
    else list_append(in, list, kind == IteratorKind::DictKeys ? key : value);
  });
}

}  // namespace

void list_extend(Interpreter& in, List* list, const Value& iterable) {
  if (iterable.is_object()) {
    Type* type = iterable.as_object()->type;
    if (type == in.types.list || type == in.types.tuple) {
      const size_t count = type == in.types.list ? as_list(iterable)->size : as_tuple(iterable)->size;
      list_reserve(in, list, list->size + count);
      const Value* items = type == in.types.list ? as_list(iterable)->items : as_tuple(iterable)->items;
      in_pieces(in, count, [&](size_t i, size_t end) { list_append_all(list, items + i, end - i); });
      return;
    }
    if (type == in.types.str) return extend_by_chars(in, list, as_str(iterable));
    if (type == in.types.set || type == in.types.frozenset) return extend_by_set(in, list, as_set(iterable));
    if (is_range(iterable)) return extend_by_range(in, list, as_range(iterable));
    if (type == in.types.dict) return extend_by_dict(in, list, as_dict(iterable), IteratorKind::DictKeys);
    if (type == in.types.dict_keys || type == in.types.dict_values || type == in.types.dict_items) {
      const Value held = object_cast<DictView>(iterable)->dict;
      const IteratorKind kind = type == in.types.dict_keys     ? IteratorKind::DictKeys
                                : type == in.types.dict_values ? IteratorKind::DictValues
                                                               : IteratorKind::DictItems;
      return extend_by_dict(in, list, as_dict(held), kind);
    }
  }
  const Value it = iter(in, iterable);
  // A range beyond 64 bits refuses here, or has room made for all of it.
  if (is_big_range(in, iterable)) list_reserve(in, list, list->size + static_cast<size_t>(length(in, iterable)));
  ask_length(in, iterable);
  Value item;
  while (next(in, it, item)) list_append(in, list, std::move(item));
}

void list_fill(Interpreter& in, List* list, const Value& iterable) {
  Generator* const generator = gatherable(iterable);
  if (generator == nullptr) return list_extend(in, list, iterable);
  const Value keep(generator);
  Gathering gathered(Gathering::Takes::All);
  for (Value item;;) {
    const bool more = generator_gather(in, generator, gathered, item);
    for (Value& each : gathered) list_append(in, list, std::move(each));
    if (!more) return;
    list_append(in, list, std::move(item));
  }
}

bool is_short_source(Interpreter& in, const Value& iterable) noexcept {
  constexpr size_t kShort = 1024;
  if (!iterable.is_object()) return false;
  const Object* const object = iterable.as_object();
  const BuiltinTypes& types = in.types;
  switch (object->kind) {
    case ObjectKind::List: return object->type == types.list && known_cast<const List>(object)->size <= kShort;
    case ObjectKind::Tuple: return object->type == types.tuple && known_cast<const Tuple>(object)->size <= kShort;
    case ObjectKind::Str: return object->type == types.str && known_cast<const Str>(object)->size <= kShort;
    case ObjectKind::Dict: return object->type == types.dict && known_cast<const Dict>(object)->count <= kShort;
    case ObjectKind::Set: return (object->type->type_flags & kScriptClass) == 0 && known_cast<const Set>(object)->count <= kShort;
    case ObjectKind::Range: return is_range(iterable) && as_range(iterable)->length <= static_cast<int64_t>(kShort);
    default: return false;
  }
}

Value list_from(Interpreter& in, const Value& iterable) {
  Value result = make_list(in);
  list_fill(in, as_list(result), iterable);
  return result;
}

}  // namespace tessera::lang
