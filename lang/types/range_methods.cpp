// range and slice objects: slots and methods.
// compile: few-inlines (no faster with more inlines)
#include <cmath>

#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/types/big_range.h"
#include "lang/types/bigint.h"
#include "lang/types/dict.h"
#include "lang/types/format.h"
#include "lang/types/hash.h"
#include "lang/types/iterators.h"
#include "lang/types/number.h"
#include "lang/types/range.h"
#include "lang/types/sequence.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

int64_t item_at(const Range* r, int64_t i) {
  return static_cast<int64_t>(static_cast<uint64_t>(r->start) +
                              static_cast<uint64_t>(i) * static_cast<uint64_t>(r->step));
}

// The index of a value in the range, or -1.
int64_t position(const Range* r, int64_t value) {
  if (r->length == 0) return -1;
  const int64_t last = item_at(r, r->length - 1);
  if (r->step > 0 ? value < r->start || value > last : value > r->start || value < last) return -1;
  const __int128 distance = static_cast<__int128>(value) - r->start;
  return distance % r->step == 0 ? static_cast<int64_t>(distance / r->step) : -1;
}

Value repr_slot(Interpreter& in, const Value& self) {
  if (!is_range(self)) return make_str(in, big_range_repr(in, self));
  const Range* r = as_range(self);
  std::string out = "range(" + int_text(r->start) + ", " + int_text(r->stop);
  if (r->step != 1) out += ", " + int_text(r->step);
  return make_str(in, out + ")");
}

int64_t length_slot(Interpreter&, const Value& self) {
  return is_range(self) ? as_range(self)->length : whole_to_int64(as_big_range(self)->parts.length);
}

bool truth_slot(Interpreter&, const Value& self) {
  return is_range(self) ? as_range(self)->length != 0 : whole_sign(as_big_range(self)->parts.length) != 0;
}

int64_t hash_slot(Interpreter& in, const Value& self) {
  if (!is_range(self)) return big_range_hash(in, self);
  const Range* r = as_range(self);
  TupleHash sum;
  sum.add(hash_int(r->length));
  sum.add(r->length == 0 ? kHashNone : hash_int(r->start));
  sum.add(r->length <= 1 ? kHashNone : hash_int(r->step));
  return sum.finish(3);
}

Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (op != CompareOp::Eq && op != CompareOp::Ne) return in.not_implemented;
  if (!is_range(self) || !is_range(other)) {
    if (!is_range(other) && !is_big_range(in, other)) return in.not_implemented;
    return Value::boolean(ranges_equal(in, self, other) == (op == CompareOp::Eq));
  }
  const Range *a = as_range(self), *b = as_range(other);
  const bool same =
      a->length == b->length && (a->length == 0 || (a->start == b->start && (a->length == 1 || a->step == b->step)));
  return Value::boolean(same == (op == CompareOp::Eq));
}

// A number of a slice that slice_indices takes as it is, without clamping it to 64 bits.
bool is_narrow(const Value& part) { return part.is_none() || (part.is_int() && part.as_int() != INT64_MIN); }

// range[slice] in 64 bits; Undefined if a number does not fit.
Value narrow_slice(Interpreter& in, const Range* r, const Slice* slice) {
  if (!is_narrow(slice->start) || !is_narrow(slice->stop) || !is_narrow(slice->step)) return Value();
  const SliceIndices s = slice_indices(in, slice, r->length);
  const auto at = [&](int64_t i) { return r->start + static_cast<__int128>(i) * r->step; };
  const __int128 start = at(s.start), stop = at(s.stop), step = static_cast<__int128>(r->step) * s.step;
  for (const __int128 number : {start, stop, step}) {
    if (number != static_cast<int64_t>(number)) return Value();
  }
  return make_range(in, static_cast<int64_t>(start), static_cast<int64_t>(stop), static_cast<int64_t>(step));
}

Value get_item_slot(Interpreter& in, const Value& self, const Value& key) {
  if (!is_range(self)) return big_range_item(in, self, key);
  const Range* r = as_range(self);
  if (key.is_int()) return Value::integer(item_at(r, sequence_index(in, key, r->length, "range object")));
  Value part = is_slice(key) ? narrow_slice(in, r, as_slice(key)) : Value();
  return part.is_undefined() ? big_range_item(in, self, key) : part;
}

bool is_plain_number(const Value& v) { return is_whole(v) || v.is_float(); }

// The index of an int, a bool or a float in the range, or Undefined.
Value position_of(Interpreter& in, const Value& self, const Value& number) {
  if (number.is_float()) {
    const double d = number.as_float();
    return std::isfinite(d) && d == std::floor(d) ? position_of(in, self, whole_from_float(in, d)) : Value();
  }
  if (!is_range(self)) return big_range_position(in, self, number);
  const int64_t at = is_big_int(number) ? -1 : position(as_range(self), number.as_int());
  return at < 0 ? Value() : Value::integer(at);
}

bool contains_slot(Interpreter& in, const Value& self, const Value& item) {
  if (item.is_int() && is_range(self)) return position(as_range(self), item.as_int()) >= 0;
  if (is_plain_number(item)) return !position_of(in, self, item).is_undefined();
  if (!item.is_object()) return false;
  const Value it = range_iter(in, self);
  Value each;
  while (next(in, it, each)) {
    if (equals(in, each, item)) return true;
  }
  return false;
}

Value count(Interpreter& in, const Args& args) {
  if (is_plain_number(args[1])) return Value::integer(contains_slot(in, args[0], args[1]));
  int64_t n = 0;
  for_each(in, args[0], [&](const Value& each) { n += equals(in, each, args[1]); });
  return Value::integer(n);
}

Value index_of(Interpreter& in, const Args& args) {
  if (is_plain_number(args[1])) {
    Value at = position_of(in, args[0], args[1]);
    if (!at.is_undefined()) return at;
    if (is_whole(args[1])) throw Error(ErrorKind::ValueError, repr_text(in, args[1]) + " is not in range");
  } else {
    int64_t i = 0;
    const Value it = range_iter(in, args[0]);
    for (Value each; next(in, it, each); ++i) {
      if (equals(in, each, args[1])) return Value::integer(i);
    }
  }
  throw Error(ErrorKind::ValueError, "sequence.index(x): x not in sequence");
}

Value reversed_method(Interpreter& in, const Args& args) {
  if (!is_range(args[0]) || as_range(args[0])->step == INT64_MIN) return big_range_reversed(in, args[0]);
  const Range* r = as_range(args[0]);
  if (r->length == 0) return range_iter_of(in, 0, 1, 0);
  return range_iter_of(in, item_at(r, r->length - 1), -r->step, r->length);
}

Value start(Interpreter&, const Args& args) { return range_parts(args[0]).start; }
Value stop(Interpreter&, const Args& args) { return range_parts(args[0]).stop; }
Value step(Interpreter&, const Args& args) { return range_parts(args[0]).step; }

Value make_from(Interpreter& in, Type*, const Args& args) {
  refuse_keywords("range", args);
  check_count("range", args, 1, 3);
  bool narrow = true;
  for (uint32_t i = 0; i < args.count; ++i) narrow = narrow && args[i].is_int();
  if (narrow) {
    if (args.count == 1) return make_range(in, 0, args[0].as_int(), 1);
    return make_range(in, args[0].as_int(), args[1].as_int(), args.count == 3 ? args[2].as_int() : 1);
  }
  const Value one = Value::integer(1);
  if (args.count == 1) return make_any_range(in, Value::integer(0), whole_index(in, args[0]), one);
  const Value from = whole_index(in, args[0]), to = whole_index(in, args[1]);
  return make_any_range(in, from, to, args.count == 3 ? whole_index(in, args[2]) : one);
}

constexpr NativeDef kRows[] = {
    {"count(self, value, /)", count, "Return the number of occurrences of value."},
    {"index(self, value, /)", index_of, "Return the index of value."},
    {"__reversed__(self, /)", reversed_method, "Return a reverse iterator."},
};

// --- slice

Value slice_repr(Interpreter& in, const Value& self) {
  const Slice* s = as_slice(self);
  return make_str(
      in, "slice(" + repr_text(in, s->start) + ", " + repr_text(in, s->stop) + ", " + repr_text(in, s->step) + ")");
}

Value slice_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (!is_slice(other)) return in.not_implemented;
  const Slice *a = as_slice(self), *b = as_slice(other);
  return compare(in, op, make_tuple(in, {a->start, a->stop, a->step}), make_tuple(in, {b->start, b->stop, b->step}));
}

Value slice_make(Interpreter& in, Type*, const Args& args) {
  refuse_keywords("slice", args);
  check_count("slice", args, 1, 3);
  if (args.count == 1) return make_slice(in, Value::none(), args[0], Value::none());
  return make_slice(in, args[0], args[1], args.count == 3 ? args[2] : Value::none());
}

Value indices(Interpreter& in, const Args& args) {
  const Value whole = whole_index(in, args[1]);
  const Slice* slice = as_slice(args[0]);
  if (whole_sign(whole) < 0) throw Error(ErrorKind::ValueError, "length should not be negative");
  if (is_big_int(whole) || !is_narrow(slice->start) || !is_narrow(slice->stop) || !is_narrow(slice->step)) {
    const BigSlice r = big_slice(in, slice, whole);
    return make_tuple(in, {r.start, r.stop, r.step});
  }
  const SliceIndices r = slice_indices(in, slice, whole.as_int());
  return make_tuple(in, {Value::integer(r.start), Value::integer(r.stop), Value::integer(r.step)});
}

Value slice_start(Interpreter&, const Args& args) { return as_slice(args[0])->start; }
Value slice_stop(Interpreter&, const Args& args) { return as_slice(args[0])->stop; }
Value slice_step(Interpreter&, const Args& args) { return as_slice(args[0])->step; }

constexpr NativeDef kSliceRows[] = {
    {"indices(self, len, /)", indices, "Start, stop and step for a sequence of length len."}};

void destroy_range(Interpreter& in, Object* self) {
  if (self->kind == ObjectKind::Range) destroy_plain<Range>(in, self);
  else destroy_big_range(in, known_cast<BigRange>(self));
}

Type* final_type(Interpreter& in, const char* name, ObjectKind kind, size_t size) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "builtins";
  spec.kind = kind;
  spec.size = static_cast<uint32_t>(size);
  spec.flags = kFinalType;
  return in.new_type(spec);
}

}  // namespace

void make_range_types(Interpreter& in) {
  if (in.types.range == nullptr) in.types.range = final_type(in, "range", ObjectKind::Range, sizeof(Range));
  in.types.range->type_flags |= kMatchesSequence;
  TypeSlots& r = in.types.range->slots;
  r.destroy = destroy_range;
  r.repr = repr_slot;
  r.hash = hash_slot;
  r.length = length_slot;
  r.truth = truth_slot;
  r.compare = compare_slot;
  r.get_item = get_item_slot;
  r.contains = contains_slot;
  r.iter = range_iter;
  if (in.types.slice == nullptr) in.types.slice = final_type(in, "slice", ObjectKind::Slice, sizeof(Slice));
  TypeSlots& s = in.types.slice->slots;
  s.destroy = destroy_plain<Slice>;
  s.traverse = [](Object* self, Visitor& visitor) {
    const Slice* slice = known_cast<Slice>(self);
    visitor(slice->start);
    visitor(slice->stop);
    visitor(slice->step);
  };
  s.repr = slice_repr;
  s.hash = nullptr;
  s.compare = slice_compare;
}

namespace {

void fill_range(Interpreter& in, Type* type) {
  add_rows(in, type, kRows);
  in.add_member(type, "start", start);
  in.add_member(type, "stop", stop);
  in.add_member(type, "step", step);
  slot_methods(in, type);
}

void fill_slice(Interpreter& in, Type* type) {
  add_rows(in, type, kSliceRows);
  in.add_member(type, "start", slice_start);
  in.add_member(type, "stop", slice_stop);
  in.add_member(type, "step", slice_step);
  slot_methods(in, type);
  dict_set_str(in, type->attributes(), in.names->hash, Value::none());
}

}  // namespace

void range_methods(Interpreter& in) {
  in.types.range->make = make_from;
  in.types.range->fill_later(fill_range);
  in.types.slice->make = slice_make;
  in.types.slice->fill_later(fill_slice);
}

}  // namespace tessera::lang
