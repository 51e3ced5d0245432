// Range and slice objects.
#pragma once

#include <cstdint>

#include "lang/core/make_object.h"
#include "lang/core/object.h"
#include "lang/core/object_cast.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Range : Object {
  static constexpr ObjectKind kKind = ObjectKind::Range;
  int64_t start = 0, stop = 0, step = 1;
  int64_t length = 0;
};

struct Slice : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Slice;
  Value start, stop, step;
};

inline bool is_range(const Value& v) noexcept { return v.is_object() && v.as_object()->kind == ObjectKind::Range; }
inline Range* as_range(const Value& v) noexcept { return known_cast<Range>(v); }
inline bool is_slice(const Value& v) noexcept { return v.is_object() && v.as_object()->kind == ObjectKind::Slice; }
inline Slice* as_slice(const Value& v) noexcept { return known_cast<Slice>(v); }

// ValueError for step 0. A BigRange (big_range.h) if the length does not fit into 64 bits.
Value make_range(Interpreter& in, int64_t start, int64_t stop, int64_t step);
int64_t range_length(int64_t start, int64_t stop, int64_t step);  // -1: beyond 64 bits
Value make_slice(Interpreter& in, const Value& start, const Value& stop, const Value& step);

// What a slice means for a sequence of `length` items: `count` items, the first at `start`, each `step` further.
struct SliceIndices {
  int64_t start, stop, step, count;
};
SliceIndices slice_indices(Interpreter& in, const Slice* slice, int64_t length);
// The same in two steps, for lists: the first may run a script (__index__) that changes the length.
struct SliceParts {
  Value start, stop;  // an int or None
  int64_t step;
};
// A bound of a slice as an index from `low` to `high`; negative bounds count from the end of a sequence of `length` items.
inline int64_t clip_bound(int64_t bound, int64_t length, int64_t low, int64_t high) noexcept {
  if (bound < 0) {
    bound += length;
    return bound < low ? low : bound;
  }
  return bound > high ? high : bound;
}
SliceParts unpack_slice(Interpreter& in, const Slice* slice);
SliceIndices adjust_slice(const SliceParts& parts, int64_t length);

}  // namespace tessera::lang
