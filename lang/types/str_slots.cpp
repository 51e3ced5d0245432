// Strings in operators, comparisons, indexing and iteration.
#include <algorithm>

#include "lang/core/error.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/types/format.h"
#include "lang/types/iterators.h"
#include "lang/types/number.h"
#include "lang/types/range.h"
#include "lang/types/sequence.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/text_search.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

Value repr_slot(Interpreter& in, const Value& self) { return make_str(in, quote(text_of(self))); }

Value str_slot(Interpreter& in, const Value& self) { return plain_str(in, self); }

Value format_slot(Interpreter& in, const Value& self, std::string_view spec) {
  if (spec.empty()) return str(in, self);
  try {
    return format_str_value(in, text_of(self), spec);
  } catch (Error& error) {
    name_class_in(in, self, "str", error);
    throw;
  }
}

int64_t hash_slot(Interpreter&, const Value& self) { return str_hash(as_str(self)); }
int64_t length_slot(Interpreter&, const Value& self) { return as_str(self)->length; }

Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (!is_str(other)) return in.not_implemented;
  if (op == CompareOp::Eq) return Value::boolean(str_equal(as_str(self), as_str(other)));
  if (op == CompareOp::Ne) return Value::boolean(!str_equal(as_str(self), as_str(other)));
  const int order = str_compare(as_str(self), as_str(other));
  return Value::boolean(order_holds(op, order < 0 ? -1 : order > 0));
}

Value repeat(Interpreter& in, const Str* s, int64_t times) {
  if (times <= 0 || s->size == 0) return in.shared->empty_str;
  if (times == 1) return make_str(in, s->view(), s->length);
  unsigned __int128 size = static_cast<unsigned __int128>(s->size) * static_cast<uint64_t>(times);
  if (static_cast<unsigned __int128>(s->length) * static_cast<uint64_t>(times) > INT64_MAX)
    throw Error(ErrorKind::OverflowError, "repeated string is too long");
  if (size > 0xffff0000u) throw Error(ErrorKind::MemoryError, std::string());
  Str* out = new_str(in, static_cast<size_t>(size), static_cast<size_t>(s->length) * static_cast<size_t>(times));
  Value made = Value::adopt(out);
  repeat_in_pieces(in, out->data, s->view(), out->size);
  return made;
}

Value binary_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t dying) {
  int64_t times;
  if (op == BinaryOp::Mul && repetition_count(in, other, times)) return repeat(in, as_str(self), times);
  if (reflected) return in.not_implemented;
  if (op == BinaryOp::Mul) throw_cannot_repeat(in, other);
  if (op == BinaryOp::Add) {
    if (!is_str(other)) throw_cannot_join(in, "str", other);
    const Str* right = as_str(other);
    if ((dying & kLeftDying) && grows_in_place(in, as_str(self), right)) {
      append_in_place(in, as_str(self), right->view(), right->length);
      return self;
    }
    return str_concat(in, as_str(self), right);
  }
  if (op == BinaryOp::Mod) return percent_format(in, text_of(self), other);
  return in.not_implemented;
}

// s[begin:end] with the last character first.
Value turned_round(Interpreter& in, Str* s, uint32_t begin, uint32_t end) {
  const char* p = s->data + byte_offset(in, s, begin);
  const char* const last = s->data + byte_offset(in, s, end);
  Str* out = new_str(in, static_cast<size_t>(last - p), end - begin);
  Value made = Value::adopt(out);
  StopBudget budget(in);
  for (char* to = out->data + (last - p); p < last;) {
    budget.take();
    const char* const next = skip_chars(p, 1);
    to -= next - p;
    std::memcpy(to, p, static_cast<size_t>(next - p));
    p = next;
  }
  return made;
}

// s[start:stop:step]: walks over the bytes instead of asking for each place.
Value stepped(Interpreter& in, Str* s, const SliceIndices& r) {
  const size_t count = static_cast<size_t>(r.count);
  if (s->is_ascii()) {
    if (count == 1) return str_at(in, s, static_cast<uint32_t>(r.start));
    Str* out = new_str(in, count, count);
    Value made = Value::adopt(out);
    int64_t at = r.start;
    in_pieces(in, count, [&](size_t i, size_t end) {
      for (; i < end; ++i, at += r.step) out->data[i] = s->data[at];
    });
    return made;
  }
  if (r.step == -1)
    return turned_round(in, s, static_cast<uint32_t>(r.start + 1 - r.count), static_cast<uint32_t>(r.start + 1));
  std::string out;
  const char* p = s->data + byte_offset(in, s, static_cast<uint32_t>(r.start));
  for (size_t i = 0;;) {
    const char* end = p;
    decode_char(end);
    out.append(p, end);
    if (++i == count) return make_str(in, out, count);
    p = r.step > 0 ? skip_chars(end, r.step - 1) : skip_chars_back(p, -r.step);
  }
}

Value get_item_slot(Interpreter& in, const Value& self, const Value& key) {
  Str* s = as_str(self);
  if (is_slice(key)) {
    const SliceIndices r = slice_indices(in, as_slice(key), s->length);
    if (r.count == 0) return in.shared->empty_str;
    if (r.step == 1) return str_slice(in, s, static_cast<uint32_t>(r.start), static_cast<uint32_t>(r.start + r.count));
    return stepped(in, s, r);
  }
  int64_t i;
  const Value plain = unboxed(key);
  if (plain.is_int() || plain.is_bool()) {
    i = plain.as_int();
  } else {
    try {
      i = index_sized(in, key, ErrorKind::IndexError);
    } catch (const Error& error) {
      if (error.kind != ErrorKind::TypeError) throw;
      throw Error(ErrorKind::TypeError,
                  "string indices must be integers, not '" + std::string(type_name(in, key)) + "'");
    }
  }
  if (i < 0) i += s->length;
  if (i < 0 || i >= s->length) throw Error(ErrorKind::IndexError, "string index out of range");
  return str_at(in, s, static_cast<uint32_t>(i));
}

bool contains_slot(Interpreter& in, const Value& self, const Value& item) {
  if (!is_str(item)) {
    throw Error(ErrorKind::TypeError,
                "'in <string>' requires string as left operand, not " + std::string(type_name(in, item)));
  }
  const std::string_view text = text_of(self), part = text_of(item);
  constexpr size_t kShort = 16;
  if (part.size() == 1 && text.size() <= kShort) return text.find(part[0]) != text.npos;
  return find_text(in, text, part) != kNowhere;
}

}  // namespace

void str_slots(Interpreter& in) {
  TypeSlots& s = in.types.str->slots;
  s.destroy = destroy_str;
  s.repr = repr_slot;
  s.str = str_slot;
  s.format = format_slot;
  s.hash = hash_slot;
  s.length = length_slot;
  s.compare = compare_slot;
  s.binary = binary_slot;
  s.get_item = get_item_slot;
  s.contains = contains_slot;
  s.iter = str_iter;
}

}  // namespace tessera::lang
