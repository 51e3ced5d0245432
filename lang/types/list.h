// Lists: a vector of values.
//
// Items may run script code when they are destroyed (a __del__), so nothing is destroyed while `items` or `size` are half
// changed: take the values out first, then let them go.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <new>
#include <utility>

#include "lang/core/make_object.h"
#include "lang/core/object.h"
#include "lang/core/object_cast.h"
#include "lang/core/value.h"

namespace tessera::lang {

// Object::aux is 1 once the list has grown by one: object_sizes.cpp.
struct List : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::List;
  Value* items = nullptr;
  uint32_t size = 0;
  uint32_t capacity = 0;

  Value* begin() { return items; }
  Value* end() { return items + size; }
  Value& operator[](size_t i) { return items[i]; }
  const Value& operator[](size_t i) const { return items[i]; }
};

inline bool is_list(const Value& v) noexcept { return v.is_object() && v.as_object()->kind == ObjectKind::List; }
inline List* as_list(const Value& v) noexcept { return known_cast<List>(v); }

Value make_list(Interpreter& in, size_t capacity = 0);
Value make_list(Interpreter& in, const Value* items, size_t count);  // shares the items
// Takes the items out of their places, which are left Undefined.
Value make_list_moving(Interpreter& in, Value* items, size_t count);

void list_reserve(Interpreter& in, List* list, size_t capacity);
void list_grow(Interpreter& in, List* list);  // room for one more, by about an eighth
inline void list_append(Interpreter& in, List* list, Value value) {
  if (list->size == list->capacity) list_grow(in, list);
  new (list->items + list->size) Value(std::move(value));
  ++list->size;
}
// Shares the items; there must be room for them.
inline void list_append_all(List* list, const Value* items, size_t count) {
  for (size_t i = 0; i < count; ++i) new (list->items + list->size + i) Value(items[i]);
  list->size += static_cast<uint32_t>(count);
}
void list_insert(Interpreter& in, List* list, size_t at, Value value);
Value list_pop(Interpreter& in, List* list, size_t at);
// Appends every item of an iterable.
void list_extend(Interpreter& in, List* list, const Value& iterable);
// The same for a list that no script sees yet.
void list_fill(Interpreter& in, List* list, const Value& iterable);
void list_clear(Interpreter& in, List* list);
// May a short way go through the items? They are few, and those of a list, tuple, str, dict or set of no subclass, or of a range.
bool is_short_source(Interpreter& in, const Value& iterable) noexcept;
// list(iterable), as a new list.
Value list_from(Interpreter& in, const Value& iterable);
// Stable; `key` None or Undefined: the items themselves. "list modified during sort" as CPython's.
void list_sort(Interpreter& in, List* list, const Value& key, bool reverse);

// The item at an int index with CPython's meaning of negative ones; null when out of range.
inline Value* list_at(List* list, int64_t index) noexcept {
  if (index < 0) index += list->size;
  return static_cast<uint64_t>(index) < list->size ? list->items + index : nullptr;
}

}  // namespace tessera::lang
