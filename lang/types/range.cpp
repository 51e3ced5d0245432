// Ranges and slices: what their numbers mean.
#include "lang/types/range.h"

#include <climits>

#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/types/big_range.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "lang/types/types.h"

namespace tessera::lang {

int64_t range_length(int64_t start, int64_t stop, int64_t step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const unsigned __int128 span = step > 0 ? static_cast<unsigned __int128>(static_cast<__int128>(stop) - start)
                                          : static_cast<unsigned __int128>(static_cast<__int128>(start) - stop);
  const unsigned __int128 stride =
      step > 0 ? static_cast<unsigned __int128>(step) : static_cast<unsigned __int128>(-static_cast<__int128>(step));
  const unsigned __int128 length = (span - 1) / stride + 1;
  return length > static_cast<unsigned __int128>(INT64_MAX) ? -1 : static_cast<int64_t>(length);
}

Value make_range(Interpreter& in, int64_t start, int64_t stop, int64_t step) {
  if (step == 0) throw Error(ErrorKind::ValueError, "range() arg 3 must not be zero");
  const int64_t length = range_length(start, stop, step);
  if (length < 0) return make_big_range(in, Value::integer(start), Value::integer(stop), Value::integer(step));
  Range* range = make_object<Range>(in, in.types.range);
  range->start = start;
  range->stop = stop;
  range->step = step;
  range->length = length;
  return Value::adopt(range);
}

Value make_slice(Interpreter& in, const Value& start, const Value& stop, const Value& step) {
  Slice* slice = make_object<Slice>(in, in.types.slice);
  slice->start = start;
  slice->stop = stop;
  slice->step = step;
  return Value::adopt(slice);
}

namespace {

// A bound beyond 64 bits is as good as the last one within.
int64_t slice_part(Interpreter& in, const Value& part) {
  if (part.is_int() || part.is_bool()) return part.as_int();
  if (is_index(in, part)) {
    const Value whole = whole_index(in, part);
    if (is_big_int(whole)) return whole_sign(whole) < 0 ? INT64_MIN : INT64_MAX;
    return whole.as_int();
  }
  throw Error(ErrorKind::TypeError, "slice indices must be integers or None or have an __index__ method");
}

}  // namespace

SliceParts unpack_slice(Interpreter& in, const Slice* slice) {
  SliceParts parts;
  parts.step = slice->step.is_none() ? 1 : slice_part(in, slice->step);
  if (parts.step == 0) throw Error(ErrorKind::ValueError, "slice step cannot be zero");
  if (parts.step == INT64_MIN) parts.step = -INT64_MAX;
  parts.start = slice->start.is_none() ? Value::none() : Value::integer(slice_part(in, slice->start));
  parts.stop = slice->stop.is_none() ? Value::none() : Value::integer(slice_part(in, slice->stop));
  return parts;
}

SliceIndices adjust_slice(const SliceParts& parts, int64_t length) {
  SliceIndices r;
  r.step = parts.step;
  const bool down = r.step < 0;
  const int64_t low = down ? -1 : 0, high = down ? length - 1 : length;
  r.start = parts.start.is_none() ? (down ? high : low) : clip_bound(parts.start.as_int(), length, low, high);
  r.stop = parts.stop.is_none() ? (down ? low : high) : clip_bound(parts.stop.as_int(), length, low, high);
  r.count = r.step == 1 ? (r.stop > r.start ? r.stop - r.start : 0) : range_length(r.start, r.stop, r.step);
  return r;
}

SliceIndices slice_indices(Interpreter& in, const Slice* slice, int64_t length) {
  return adjust_slice(unpack_slice(in, slice), length);
}

}  // namespace tessera::lang
