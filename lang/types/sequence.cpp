// What lists, tuples, strings and ranges have in common.
#include "lang/types/sequence.h"

#include <algorithm>

#include "lang/core/booking.h"
#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

constexpr size_t kRoom = 128;                // for the text of an item, which has been booked as a string
constexpr size_t kLookMask = (1 << 12) - 1;  // items between two looks at whether to stop

struct Items {
  const Value* data;
  size_t size;
};

Items items_of(const Value& sequence) {
  if (is_list(sequence)) return {as_list(sequence)->items, as_list(sequence)->size};
  return {as_tuple(sequence)->items, as_tuple(sequence)->size};
}

int64_t clipped(Interpreter& in, const Value& bound, int64_t missing, int64_t size) {
  if (bound.is_undefined()) return missing;
  if (!is_index(in, bound)) throw Error(ErrorKind::TypeError, "slice indices must be integers or have an __index__ method");
  const Value whole = whole_index(in, bound);
  if (is_big_int(whole)) return whole_sign(whole) < 0 ? 0 : INT64_MAX;
  const int64_t i = whole.as_int();
  return i < 0 ? std::max<int64_t>(i + size, 0) : i;
}

}  // namespace

bool repetition_count(Interpreter& in, const Value& value, int64_t& times) {
  if (value.is_int()) [[likely]] {
    times = value.as_int();
    return true;
  }
  const Value plain = unboxed(value);
  if (plain.is_int() || plain.is_bool()) {
    times = plain.as_int();
    return true;
  }
  if (!is_index(in, value)) return false;
  times = index_sized(in, value, ErrorKind::OverflowError);
  return true;
}

void throw_cannot_repeat(Interpreter& in, const Value& by) {
  throw Error(ErrorKind::TypeError,
              "can't multiply sequence by non-int of type '" + std::string(type_name(in, by)) + "'");
}

bool is_last_to_repeat(Interpreter& in, const Value& other, bool reflected) {
  if (!other.is_object()) return true;
  const Type* const type = other.as_object()->type;
  if (reflected) return !(is_str(other) || is_list(other) || is_tuple(other) || is_bytes(other) || is_byte_array(other));
  return type->slots.binary == nullptr || (!(type->type_flags & kScriptClass) && type_lookup(type, intern(in, "__sub__")).is_undefined());
}

bool is_mapping_type(const Type* type) noexcept {
  if (type->slots.get_item == nullptr) return false;
  for (const Type* base : type->mro)
    if ((base->type_flags & kItemsByPosition) != 0 && base->slots.get_item == type->slots.get_item) return false;
  return true;
}

void throw_cannot_join(Interpreter& in, const char* type, const Value& other) {
  throw Error(ErrorKind::TypeError, std::string("can only concatenate ") + type + " (not \"" +
                                        std::string(type_name(in, other)) + "\") to " + type);
}

int64_t index_of_key(Interpreter& in, const Value& key, const char* type) {
  const Value plain = unboxed(key);
  if (plain.is_int() || plain.is_bool()) return plain.as_int();
  if (!is_index(in, key)) {
    const std::string_view name(type);
    throw Error(ErrorKind::TypeError, std::string(name.substr(0, name.find(' '))) +
                                          " indices must be integers or slices, not " +
                                          std::string(type_name(in, key)));
  }
  return index_sized(in, key, ErrorKind::IndexError);
}

int64_t index_sized(Interpreter& in, const Value& value, ErrorKind kind) {
  const Value whole = whole_index(in, value);
  if (!is_big_int(whole)) return whole.as_int();
  throw_error(kind, "cannot fit '%s' into an index-sized integer", std::string(type_name(in, value)).c_str());
}

namespace {

// f(), or Undefined where it raises a TypeError.
template <class F>
Value unless_type_error(Interpreter& in, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    if (error.kind != ErrorKind::TypeError) throw;
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::TypeError)) throw;
  }
  return {};
}

}  // namespace

int64_t length_hint(Interpreter& in, const Value& value, int64_t missing) {
  const Type* const type = type_of(in, value);
  if (type->slots.length != nullptr) {
    const Value size = unless_type_error(in, [&] { return Value::integer(length(in, value)); });
    if (!size.is_undefined()) return size.as_int();
  }
  const Value method = type_lookup(type, in.names->length_hint);
  if (method.is_undefined()) return missing;
  const Value hint = unless_type_error(in, [&] { return call_special(in, method, value); });
  if (hint.is_undefined() || hint.is(in.not_implemented)) return missing;
  if (!is_whole(unboxed(hint))) {
    throw_error(ErrorKind::TypeError, "__length_hint__ must be an integer, not %s", std::string(type_name(in, hint)).c_str());
  }
  const int64_t count = index(in, hint);
  if (count < 0) throw Error(ErrorKind::ValueError, "__length_hint__() should return >= 0");
  return count;
}

void ask_length(Interpreter& in, const Value& iterable) {
  if (!iterable.is_object() || !(iterable.as_object()->type->type_flags & kScriptClass)) return;
  constexpr int64_t kMost = int64_t{1} << 40;
  if (length_hint(in, iterable, 0) > kMost) throw Error(ErrorKind::MemoryError, std::string());
}

void throw_out_of_range(const char* type, const char* action) {
  throw Error(ErrorKind::IndexError, std::string(type) + action + " index out of range");
}

// Most tuples that are compared are keys: of strings and numbers.
Same same_tuples_quietly(Interpreter& in, const Tuple* a, const Tuple* b) noexcept {
  if (a->size != b->size) return Same::No;
  for (uint32_t i = 0; i < a->size; ++i) {
    if (a->items[i].is(b->items[i]) && !a->items[i].is_float()) continue;
    const Same same = same_quietly(in, a->items[i], b->items[i]);
    if (same != Same::Yes) return same;
  }
  return Same::Yes;
}

// From item `i` on; those before are equal.
static Value compare_items_from(Interpreter& in, CompareOp op, const Value& left, const Value& right, size_t i);

Value compare_items(Interpreter& in, CompareOp op, const Value& left, const Value& right) {
  const bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  const Items first = items_of(left), second = items_of(right);
  if (equality && first.size != second.size) return Value::boolean(op == CompareOp::Ne);
  // Few items that no script compares, up to one that decides.
  const size_t both = std::min(first.size, second.size);
  for (size_t i = 0; i < kLookMask && i <= both; ++i) {
    if (i == both) return Value::boolean(order_holds(op, first.size < second.size ? -1 : first.size > second.size));
    const Same same = same_quietly(in, first.data[i], second.data[i]);
    if (same == Same::Yes) continue;
    if (same == Same::No && equality) return Value::boolean(op == CompareOp::Ne);
    if (same == Same::No && !first.data[i].is_object() && !second.data[i].is_object())
      return compare(in, op, first.data[i], second.data[i]);
    return compare_items_from(in, op, left, right, i);
  }
  return compare_items_from(in, op, left, right, 0);
}

static Value compare_items_from(Interpreter& in, CompareOp op, const Value& left, const Value& right, size_t i) {
  const RecursionGuard guard(in, " in comparison");
  for (; i < items_of(left).size && i < items_of(right).size; ++i) {
    if ((i & kLookMask) == kLookMask) in.check_stop();
    const Value& a = items_of(left).data[i];
    const Value& b = items_of(right).data[i];
    const Same same = same_quietly(in, a, b);
    if (same == Same::Yes) continue;
    if (same == Same::No) break;
    const Value x = a, y = b;  // the comparison may change the lists
    if (!equals(in, x, y)) break;
  }
  const Items a = items_of(left), b = items_of(right);
  if (i >= a.size || i >= b.size) return Value::boolean(order_holds(op, a.size < b.size ? -1 : a.size > b.size));
  if (op == CompareOp::Eq) return Value::boolean(false);
  if (op == CompareOp::Ne) return Value::boolean(true);
  const Value x = a.data[i], y = b.data[i];
  return compare(in, op, x, y);
}

std::string repr_items(Interpreter& in, const Value& sequence, const char* open, const char* close) {
  std::string out = open;
  Booking booked;  // of `out`
  for (size_t i = 0; i < items_of(sequence).size; ++i) {
    in.check_stop();
    booked.cover(in.heap, out.size() + kRoom);
    if (i != 0) out += ", ";
    const Value item = items_of(sequence).data[i];
    out += repr_text(in, item);
  }
  out += close;
  return out;
}

int64_t find_item(Interpreter& in, const Value& sequence, const Value& value, const Value& start, const Value& stop) {
  const int64_t size = static_cast<int64_t>(items_of(sequence).size);
  const int64_t from = clipped(in, start, 0, size), to = clipped(in, stop, INT64_MAX, size);
  for (int64_t i = from; i < to && i < static_cast<int64_t>(items_of(sequence).size); ++i) {
    if ((static_cast<size_t>(i) & kLookMask) == 0) in.check_stop();
    const Same same = same_quietly(in, items_of(sequence).data[i], value);
    if (same == Same::Yes) return i;
    if (same == Same::No) continue;
    const Value item = items_of(sequence).data[i];  // the comparison may change the list
    if (equals(in, item, value)) return i;
  }
  return -1;
}

int64_t count_item(Interpreter& in, const Value& sequence, const Value& value) {
  int64_t n = 0;
  for (size_t i = 0; i < items_of(sequence).size; ++i) {
    if ((i & kLookMask) == 0) in.check_stop();
    const Same same = same_quietly(in, items_of(sequence).data[i], value);
    if (same != Same::Unsure) {
      n += same == Same::Yes;
      continue;
    }
    const Value item = items_of(sequence).data[i];
    n += equals(in, item, value);
  }
  return n;
}

ReprMark::ReprMark(Interpreter& in, Object* object) : in_(in) {
  auto& marks = in.shared->in_repr;
  again_ = std::find(marks.begin(), marks.end(), object) != marks.end();
  if (!again_) marks.push_back(object);
}

ReprMark::~ReprMark() {
  if (!again_) in_.shared->in_repr.pop_back();
}

}  // namespace tessera::lang
