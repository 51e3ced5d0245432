// Ranges beyond 64 bits, their iterator, and slices of sequences of any length.
// compile: small (ranges beyond 64 bits are rare)
#include "lang/types/big_range.h"

#include "lang/builtins/builtins.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/types/bigint.h"
#include "lang/types/hash.h"
#include "lang/types/iterators.h"
#include "lang/types/number.h"
#include "lang/types/setup.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

static_assert(sizeof(BigRange) >= sizeof(Range));
constexpr size_t kExtra = sizeof(BigRange) - sizeof(Range);  // the size of the type range is that of a Range

struct BigRangeIterator : Object {
  Value next, step, left;
};
BigRangeIterator* iterator_of(const Value& v) { return object_cast<BigRangeIterator>(v); }

Value one() { return Value::integer(1); }
Value add(Interpreter& in, const Value& a, const Value& b) { return whole_binary(in, BinaryOp::Add, a, b); }
Value subtract(Interpreter& in, const Value& a, const Value& b) { return whole_binary(in, BinaryOp::Sub, a, b); }
Value multiply(Interpreter& in, const Value& a, const Value& b) { return whole_binary(in, BinaryOp::Mul, a, b); }

Value length_of(Interpreter& in, const Value& start, const Value& stop, const Value& step) {
  const bool down = whole_sign(step) < 0;
  const Value span = down ? subtract(in, start, stop) : subtract(in, stop, start);
  if (whole_sign(span) <= 0) return Value::integer(0);
  const Value steps = whole_binary(in, BinaryOp::FloorDiv, subtract(in, span, one()), whole_absolute(in, step));
  return add(in, steps, one());
}

Value item_at(Interpreter& in, const RangeParts& r, const Value& i) { return add(in, r.start, multiply(in, i, r.step)); }

bool has_index(Interpreter& in, const Value& value) {
  if (is_whole(value)) return true;
  return value.is_object() && !type_lookup(value.as_object()->type, in.names->index).is_undefined();
}

Value slice_number(Interpreter& in, const Value& given) {
  if (has_index(in, given)) return whole_index(in, given);
  throw Error(ErrorKind::TypeError, "slice indices must be integers or None or have an __index__ method");
}

// A bound of a slice of a sequence of `length` items: from 0 to length, from -1 to length - 1 if the slice goes down.
Value clipped(Interpreter& in, const Value& bound, const Value& length, bool down) {
  const Value low = Value::integer(down ? -1 : 0);
  const Value high = down ? subtract(in, length, one()) : length;
  Value at = slice_number(in, bound);
  if (whole_sign(at) >= 0) return compare_whole(at, high) > 0 ? high : at;
  at = add(in, at, length);
  return compare_whole(at, low) < 0 ? low : at;
}

}  // namespace

BigSlice big_slice(Interpreter& in, const Slice* slice, const Value& length) {
  const Value given_start = slice->start, given_stop = slice->stop;  // an __index__ may drop the slice
  Value step = slice->step.is_none() ? one() : slice_number(in, slice->step);
  if (whole_sign(step) == 0) throw Error(ErrorKind::ValueError, "slice step cannot be zero");
  const bool down = whole_sign(step) < 0;
  Value start = !given_start.is_none() ? clipped(in, given_start, length, down)
                : down                 ? subtract(in, length, one())
                                       : Value::integer(0);
  Value stop = !given_stop.is_none() ? clipped(in, given_stop, length, down) : down ? Value::integer(-1) : length;
  return {std::move(start), std::move(stop), std::move(step)};
}

Value make_any_range(Interpreter& in, const Value& start, const Value& stop, const Value& step) {
  if (start.is_int() && stop.is_int() && step.is_int())
    return make_range(in, start.as_int(), stop.as_int(), step.as_int());
  if (whole_sign(step) == 0) throw Error(ErrorKind::ValueError, "range() arg 3 must not be zero");
  return make_big_range(in, start, stop, step);
}

Value make_big_range(Interpreter& in, const Value& start, const Value& stop, const Value& step) {
  Value length = length_of(in, start, stop, step);
  BigRange* range = make_object<BigRange>(in, in.types.range, kExtra);
  range->kind = ObjectKind::Other;
  range->parts = {start, stop, step, std::move(length)};
  return Value::adopt(range);
}

void destroy_big_range(Interpreter& in, BigRange* range) noexcept { free_object(in, range, kExtra); }

RangeParts range_parts(const Value& range) {
  if (!is_range(range)) return as_big_range(range)->parts;
  const Range* r = as_range(range);
  return {Value::integer(r->start), Value::integer(r->stop), Value::integer(r->step), Value::integer(r->length)};
}

std::string big_range_repr(Interpreter& in, const Value& range) {
  const RangeParts& r = as_big_range(range)->parts;
  std::string out = "range(" + repr_text(in, r.start) + ", " + repr_text(in, r.stop);
  if (compare_whole(r.step, one()) != 0) out += ", " + repr_text(in, r.step);
  return out + ")";
}

int64_t big_range_hash(Interpreter& in, const Value& range) {
  const RangeParts& r = as_big_range(range)->parts;
  TupleHash sum;
  sum.add(hash(in, r.length));
  sum.add(whole_sign(r.length) == 0 ? kHashNone : hash(in, r.start));
  sum.add(compare_whole(r.length, one()) <= 0 ? kHashNone : hash(in, r.step));
  return sum.finish(3);
}

bool ranges_equal(Interpreter&, const Value& left, const Value& right) {
  const RangeParts a = range_parts(left), b = range_parts(right);
  if (compare_whole(a.length, b.length) != 0) return false;
  if (whole_sign(a.length) == 0) return true;
  if (compare_whole(a.start, b.start) != 0) return false;
  return compare_whole(a.length, one()) == 0 || compare_whole(a.step, b.step) == 0;
}

Value big_range_item(Interpreter& in, const Value& range, const Value& key) {
  const RangeParts r = range_parts(range);
  if (is_slice(key)) {
    const BigSlice s = big_slice(in, as_slice(key), r.length);
    return make_any_range(in, item_at(in, r, s.start), item_at(in, r, s.stop), multiply(in, r.step, s.step));
  }
  if (!has_index(in, key))
    throw Error(ErrorKind::TypeError, "range indices must be integers or slices, not " + std::string(type_name(in, key)));
  Value i = whole_index(in, key);
  if (whole_sign(i) < 0) i = add(in, i, r.length);
  if (whole_sign(i) < 0 || compare_whole(i, r.length) >= 0)
    throw Error(ErrorKind::IndexError, "range object index out of range");
  return item_at(in, r, i);
}

Value big_range_position(Interpreter& in, const Value& range, const Value& number) {
  const RangeParts& r = as_big_range(range)->parts;
  const Value distance = subtract(in, number, r.start);
  if (whole_sign(whole_binary(in, BinaryOp::Mod, distance, r.step)) != 0) return Value();
  Value at = whole_binary(in, BinaryOp::FloorDiv, distance, r.step);
  return whole_sign(at) < 0 || compare_whole(at, r.length) >= 0 ? Value() : at;
}

// --- its iterator

namespace {

bool next_in_big_range(Interpreter& in, const Value& self, Value& out) {
  BigRangeIterator* const it = iterator_of(self);
  if (whole_sign(it->left) == 0) return false;
  Value left = subtract(in, it->left, one()), next = add(in, it->next, it->step);
  out = std::move(it->next);
  it->next = std::move(next);
  it->left = std::move(left);
  return true;
}

Value length_hint(Interpreter&, const Args& args) { return iterator_of(args[0])->left; }

Value reduce(Interpreter& in, const Args& args) {
  const BigRangeIterator* const it = iterator_of(args[0]);
  const Value rest = make_any_range(in, it->next, add(in, it->next, multiply(in, it->left, it->step)), it->step);
  return make_tuple(in, {*find_builtin(in, intern(in, "iter")), make_tuple(in, {rest}), Value::integer(0)});
}

Value set_state(Interpreter& in, const Args& args) {
  BigRangeIterator* const it = iterator_of(args[0]);
  Value steps = whole_index(in, args[1]);
  if (whole_sign(steps) < 0) steps = Value::integer(0);
  if (compare_whole(steps, it->left) > 0) steps = it->left;
  Value left = subtract(in, it->left, steps);
  it->next = add(in, it->next, multiply(in, steps, it->step));
  it->left = std::move(left);
  return Value::none();
}

constexpr NativeDef kIteratorRows[] = {
    {"__length_hint__(self, /)", length_hint, "Private method returning an estimate of len(list(it))."},
    {"__reduce__(self)", reduce, "Return state information for pickling."},
    {"__setstate__(self, state, /)", set_state, "Set state information for unpickling."},
};

Type* iterator_type(Interpreter& in) {
  if (Type* const made = in.named_type("longrange_iterator")) return made;
  NativeTypeSpec spec;
  spec.name = "longrange_iterator";
  spec.module = "builtins";
  spec.kind = ObjectKind::Iterator;
  spec.size = sizeof(BigRangeIterator);
  spec.flags = kFinalType;
  Type* const type = in.new_type(spec);
  type->make = refuse_to_make;
  type->slots.destroy = destroy_plain<BigRangeIterator>;
  type->slots.iter = [](Interpreter&, const Value& self) { return self; };
  type->slots.next = next_in_big_range;
  type->fill_later([](Interpreter& owner, Type* filled) {
    slot_methods(owner, filled);
    add_rows(owner, filled, kIteratorRows);
  });
  return type;
}

}  // namespace

Value big_range_iter(Interpreter& in, const RangeParts& parts) {
  BigRangeIterator* const it = make_object<BigRangeIterator>(in, iterator_type(in));
  it->next = parts.start;
  it->step = parts.step;
  it->left = parts.length;
  return Value::adopt(it);
}

Value big_range_reversed(Interpreter& in, const Value& range) {
  const RangeParts r = range_parts(range);
  if (whole_sign(r.length) == 0) return big_range_iter(in, {r.start, r.start, one(), r.length});
  const Value last = item_at(in, r, subtract(in, r.length, one()));
  return big_range_iter(in, {last, Value(), whole_unary(in, UnaryOp::Neg, r.step), r.length});
}

}  // namespace tessera::lang
