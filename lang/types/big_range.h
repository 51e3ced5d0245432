// Ranges with a bound, a step or a length beyond 64 bits: of the type range, with a layout of their own.
#pragma once

#include <cstdint>
#include <string>

#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"
#include "lang/core/value.h"
#include "lang/types/range.h"

namespace tessera::lang {

// The numbers of either kind of range; each is whole (bigint.h) and no bool.
struct RangeParts {
  Value start, stop, step, length;
};

// Its kind is ObjectKind::Other, so that is_range() is false and no reader takes it for a Range.
struct BigRange : Object {
  static constexpr ObjectKind kKind = ObjectKind::Other;  // of the type range
  RangeParts parts;
};
inline bool is_big_range(Interpreter& in, const Value& v) noexcept {
  return v.is_object() && v.as_object()->type == in.types.range && v.as_object()->kind != ObjectKind::Range;
}
inline BigRange* as_big_range(const Value& v) noexcept { return known_cast<BigRange>(v); }
RangeParts range_parts(const Value& range);

// A Range if all numbers fit, else a BigRange. ValueError for a step of 0.
Value make_any_range(Interpreter& in, const Value& start, const Value& stop, const Value& step);
// A BigRange in any case; the step is not 0.
Value make_big_range(Interpreter& in, const Value& start, const Value& stop, const Value& step);
void destroy_big_range(Interpreter& in, BigRange* range) noexcept;

// The slots and methods of range: for a BigRange, and for a Range with operands that are no ints of 64 bits.
std::string big_range_repr(Interpreter& in, const Value& range);
int64_t big_range_hash(Interpreter& in, const Value& range);
bool ranges_equal(Interpreter& in, const Value& a, const Value& b);
Value big_range_item(Interpreter& in, const Value& range, const Value& key);  // by an index or a slice
Value big_range_position(Interpreter& in, const Value& range, const Value& number);  // of a whole number; or Undefined
Value big_range_iter(Interpreter& in, const RangeParts& parts);                      // a longrange_iterator
Value big_range_reversed(Interpreter& in, const Value& range);

// slice.indices for a length of any size.
struct BigSlice {
  Value start, stop, step;
};
BigSlice big_slice(Interpreter& in, const Slice* slice, const Value& length);

}  // namespace tessera::lang
