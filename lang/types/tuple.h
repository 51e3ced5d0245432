// Tuples: a fixed number of values, behind the object.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "lang/core/make_object.h"
#include "lang/core/object.h"
#include "lang/core/object_cast.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Tuple : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Tuple;
  Value* items = nullptr;  // in the same allocation
  uint32_t size = 0;

  Value* begin() { return items; }
  Value* end() { return items + size; }
  const Value& operator[](size_t i) const { return items[i]; }
};

inline bool is_tuple(const Value& v) noexcept { return v.is_object() && v.as_object()->kind == ObjectKind::Tuple; }
inline Tuple* as_tuple(const Value& v) noexcept { return known_cast<Tuple>(v); }

// Of `count` items, all None; the maker fills them in before anybody else sees the tuple. `type` null: plain tuple.
Tuple* new_tuple(Interpreter& in, size_t count, Type* type = nullptr);
// These may be unknown to the collector, so nobody may put other items into their places.
Value make_tuple(Interpreter& in, const Value* items, size_t count);
Value make_tuple(Interpreter& in, std::initializer_list<Value> items);
Value make_tuple_moving(Interpreter& in, Value* items, size_t count);
// The tuple of `count` items for an iterator's next step, to be filled: `last`, the one it gave before, when nobody else
// has kept it, else a new one, which becomes `last`. Its old items go when the new ones take their places.
Value recycled_tuple(Interpreter& in, Value& last, size_t count);
Value tuple_from(Interpreter& in, const Value& iterable);  // tuple(iterable)

inline const Value* tuple_at(const Tuple* tuple, int64_t index) noexcept {
  if (index < 0) index += tuple->size;
  return static_cast<uint64_t>(index) < tuple->size ? tuple->items + index : nullptr;
}

}  // namespace tessera::lang
