// Making short lists: all of it inline, where displays, slices and sums of lists come by.
#pragma once

#include <cstddef>

#include "lang/core/make_object.h"
#include "lang/types/list.h"

namespace tessera::lang {

// Whose memory comes from the free lists, and which are made without a look at the clock.
inline bool are_few(size_t count) { return count - 1 < Heap::kLargestSmall / sizeof(Value); }

// A list of a few items: `fill(place, i)` makes each.
template <class Fill>
[[gnu::always_inline]] inline Value few_items(Interpreter& in, size_t count, Fill&& fill) {
  List* const list = make_plain<List>(in, in.types.list);
  Value made = Value::adopt(list);
  list->items = static_cast<Value*>(in.allocate(count * sizeof(Value)));
  list->capacity = static_cast<uint32_t>(count);
  for (size_t i = 0; i < count; ++i) fill(list->items + i, i);
  list->size = static_cast<uint32_t>(count);
  return made;
}

}  // namespace tessera::lang
