// array: numbers of one kind, one behind the other in memory, as `array.array` keeps them.
//
// An item is as wide as its type code says and is made a value when it is read.
// compile: small (seldom in an inner loop)
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "lang/objects/class.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/booking.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/objects/own_type.h"
#include "lang/types/setup.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/bytes.h"
#include "lang/types/iterators.h"
#include "lang/types/range.h"
#include "lang/types/sequence.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

// One type code: its item's width, and what an int must lie between.
struct ItemKind {
  char code;
  uint8_t size;
  int64_t least, most;
  const char* c_name;  // in messages; null: not an int
};

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
constexpr ItemKind kKinds[] = {
    {'b', 1, -128, 127, "signed char"},
    {'B', 1, 0, 255, "unsigned byte integer"},
    {'h', 2, -32768, 32767, "signed short integer"},
    {'H', 2, 0, 65535, "unsigned short"},
    {'i', 4, -2147483648LL, 2147483647, "signed integer"},
    {'I', 4, 0, 4294967295LL, "unsigned int"},
    {'l', 8, kLeast, kMost, "signed long"},
    {'L', 8, 0, kMost, "unsigned long"},
    {'q', 8, kLeast, kMost, "signed long long"},
    {'Q', 8, 0, kMost, "unsigned long long"},
    {'f', 4, 0, 0, nullptr},
    {'d', 8, 0, 0, nullptr},
    {'u', 4, 0, 0, nullptr},
};

struct Array : Object {
  const ItemKind* items = nullptr;
  std::vector<unsigned char> bytes;
  Booking booked;        // of `bytes`
  uint32_t exports = 0;  // views of the items: the array may not change its size

  void check_resizable() const {
    if (exports != 0) throw Error(ErrorKind::BufferError, "cannot resize an array that is exporting buffers");
  }
  void room_for(size_t more) {
    if (more != 0) check_resizable();
    booked.cover(type->owner->heap, bytes.size() + more);
  }
  size_t size() const { return bytes.size() / items->size; }
  unsigned char* at(size_t i) { return bytes.data() + i * items->size; }
};

Array* array_of(const Value& v) { return object_cast<Array>(v); }
Array* self_of(const Args& args) { return array_of(args[0]); }
constexpr char kArrayLayout[] = "array.array";
bool is_array(const Value& v) { return has_layout(v, kArrayLayout); }

template <class T>
T read(const unsigned char* from) {
  T item;
  std::memcpy(&item, from, sizeof(T));
  return item;
}

template <class T>
void write(unsigned char* to, T item) {
  std::memcpy(to, &item, sizeof(T));
}

// The letter of an item of 'u', whose bytes may be any.
Value character(Interpreter& in, uint32_t code) {
  if (code > 0x10ffff) throw Error(ErrorKind::ValueError, "chr() arg not in range(0x110000)");
  return char_str(in, code);
}

Value load(Interpreter& in, Array* a, size_t i) {
  const unsigned char* const p = a->at(i);
  switch (a->items->code) {
    case 'b': return Value::integer(read<int8_t>(p));
    case 'B': return Value::integer(read<uint8_t>(p));
    case 'h': return Value::integer(read<int16_t>(p));
    case 'H': return Value::integer(read<uint16_t>(p));
    case 'i': return Value::integer(read<int32_t>(p));
    case 'I': return Value::integer(read<uint32_t>(p));
    case 'f': return Value::real(static_cast<double>(read<float>(p)));
    case 'd': return Value::real(read<double>(p));
    case 'u': return character(in, read<uint32_t>(p));
    case 'L':
    case 'Q': return whole_from_uint64(in, read<uint64_t>(p));
    default: return Value::integer(read<int64_t>(p));
  }
}

// --- from a value to an item

// CPython converts the number to a wider type of C first, and each step has words of its own.
[[noreturn]] void out_of_bounds(const ItemKind& kind, bool above, int64_t item) {
  if (!above && kind.least == 0 && kind.code != 'B' && kind.code != 'H') {
    if (kind.code == 'Q') throw Error(ErrorKind::OverflowError, "can't convert negative int to unsigned");
    throw Error(ErrorKind::OverflowError, "can't convert negative value to unsigned int");
  }
  const char* name = kind.c_name;
  if (kind.code == 'b' && (item < INT16_MIN || item > INT16_MAX)) name = "signed short integer";
  if (kind.code == 'H' && (item < INT32_MIN || item > INT32_MAX)) name = "signed integer";
  throw_error(ErrorKind::OverflowError, "%s is %s", name, above ? "greater than maximum" : "less than minimum");
}

// Beyond int64: the upper half of 'L' and 'Q', or CPython's error of the item's conversion.
int64_t big_item(const ItemKind& kind, const Value& whole) {
  uint64_t bits;
  const bool fits = whole_to_uint64(whole, bits), negative = whole_sign(whole) < 0;
  if (fits && kind.size == 8 && kind.least == 0) return static_cast<int64_t>(bits);
  if (kind.code == 'q' || kind.code == 'Q')
    throw Error(ErrorKind::OverflowError,
                kind.code == 'Q' && negative ? "can't convert negative int to unsigned" : "int too big to convert");
  if (kind.code != 'I' && kind.code != 'L') whole_to_int64(whole, "long");
  if (negative || fits) out_of_bounds(kind, !negative, negative ? INT64_MIN : INT64_MAX);
  whole_to_int64(whole, "unsigned long");
  return 0;
}

int64_t int_item(Interpreter& in, const ItemKind& kind, const Value& value) {
  const Value whole = whole_index(in, value);
  if (is_big_int(whole)) return big_item(kind, whole);
  const int64_t item = whole.as_int();
  if (item < kind.least || item > kind.most) out_of_bounds(kind, item > kind.most, item);
  return item;
}

uint32_t character_item(const Value& value) {
  if (!is_str(value) || as_str(value)->length != 1)
    throw Error(ErrorKind::TypeError, "array item must be unicode character");
  const char* p = as_str(value)->data;
  return decode_char(p);
}

// Eight bytes, of which the first `kind.size` are the item. Asking the value may run a script: the array is not touched.
struct Item {
  unsigned char bytes[8];
};

Item item_of(Interpreter& in, const ItemKind& kind, const Value& value) {
  Item item = {};
  if (kind.code == 'f') write(item.bytes, static_cast<float>(real_argument(in, value)));
  else if (kind.code == 'd') write(item.bytes, real_argument(in, value));
  else if (kind.code == 'u') write(item.bytes, character_item(value));
  else write(item.bytes, int_item(in, kind, value));  // little-endian: the low bytes come first
  return item;
}

void append_item(Interpreter& in, Array* a, const Value& value) {
  const Item item = item_of(in, *a->items, value);
  a->room_for(a->items->size);
  a->bytes.insert(a->bytes.end(), item.bytes, item.bytes + a->items->size);
}

void extend_with(Interpreter& in, Array* a, const Value& iterable) {
  if (is_array(iterable)) {
    if (array_of(iterable)->items != a->items)
      throw Error(ErrorKind::TypeError, "can only extend with array of same kind");
    const std::vector<unsigned char> more = array_of(iterable)->bytes;
    a->room_for(more.size());
    a->bytes.insert(a->bytes.end(), more.begin(), more.end());
    return;
  }
  for_each(in, iterable, [&](const Value& v) { append_item(in, a, v); });
}

void add_bytes(Interpreter& in, Array* a, const Value& value);

// --- making

const ItemKind& kind_of(Interpreter& in, const Value& code) {
  if (!is_str(code) || as_str(code)->length != 1) {
    throw_error(ErrorKind::TypeError, "array() argument 1 must be a unicode character, not %s",
                argument_type(in, code));
  }
  for (const ItemKind& kind : kKinds) {
    if (text_of(code)[0] == kind.code) return kind;
  }
  throw Error(ErrorKind::ValueError, "bad typecode (must be b, B, u, h, H, i, I, l, L, q, Q, f or d)");
}

Value make_array(Interpreter& in, Type* type, const Args& args) {
  if (args.positional() < 1 || args.positional() > 2) {
    throw_error(ErrorKind::TypeError, "array() takes at %s (%u given)",
                args.positional() < 1 ? "least 1 argument" : "most 2 arguments", args.positional());
  }
  Array* a = make_object<Array>(in, type);
  Value made = Value::adopt(a);
  a->items = &kKinds[0];  // until the argument has been asked
  const bool known = !is_str(args[0]) || text_of(args[0]).size() != 1 || std::any_of(std::begin(kKinds), std::end(kKinds), [&](const ItemKind& kind) { return kind.code == text_of(args[0])[0]; });
  if (!known && args.positional() == 2) iter(in, args[1]);  // CPython looks at the items first
  a->items = &kind_of(in, args[0]);
  if (args.positional() == 2) {
    if (is_array(args[1]) && array_of(args[1])->items->code == 'u' && a->items->code != 'u') {
      throw_error(ErrorKind::TypeError, "cannot use a unicode array to initialize an array with typecode '%c'",
                  a->items->code);
    }
    if (is_str(args[1]) && a->items->code != 'u') {
      throw_error(ErrorKind::TypeError, "cannot use a str to initialize an array with typecode '%c'", a->items->code);
    }
    if (is_bytes(args[1]) || is_byte_array(args[1])) {
      add_bytes(in, a, args[1]);
    } else if (is_array(args[1])) {
      Array* const source = array_of(args[1]);
      for (size_t i = 0; i < source->size(); ++i) append_item(in, a, load(in, source, i));
    } else {
      extend_with(in, a, args[1]);
    }
  }
  return made;
}

Value array_of_bytes(Interpreter& in, const Array* like, std::vector<unsigned char> bytes) {
  // A copy or a part of an array of a subclass is an array.
  const auto native = [](const Type* type) { return (type->type_flags & kScriptClass) == 0; };
  const std::vector<Type*>& mro = like->type->mro;
  Array* a = make_object<Array>(in, *std::find_if(mro.begin(), mro.end(), native));
  Value made = Value::adopt(a);
  a->items = like->items;
  a->booked.set(in.heap, bytes.size());
  a->bytes = std::move(bytes);
  return made;
}

// --- slots

void destroy_array(Interpreter& in, Object* self) { free_object(in, known_cast<Array>(self)); }

int64_t array_length(Interpreter&, const Value& self) { return static_cast<int64_t>(array_of(self)->size()); }

size_t position(Interpreter& in, Array* a, const Value& key, const char* outside) {
  int64_t i;
  if (key.is_int()) [[likely]] {
    i = key.as_int();
  } else {
    if (!key.is_bool() && type_lookup(type_of(in, key), in.names->index).is_undefined())
      throw Error(ErrorKind::TypeError, "array indices must be integers");
    i = index_sized(in, key, ErrorKind::IndexError);
  }
  if (i < 0) i += static_cast<int64_t>(a->size());
  if (i < 0 || i >= static_cast<int64_t>(a->size())) throw Error(ErrorKind::IndexError, outside);
  return static_cast<size_t>(i);
}

Value array_get(Interpreter& in, const Value& self, const Value& key) {
  Array* const a = array_of(self);
  if (!is_slice(key)) return load(in, a, position(in, a, key, "array index out of range"));
  const SliceParts parts = unpack_slice(in, as_slice(key));
  const SliceIndices s = adjust_slice(parts, static_cast<int64_t>(a->size()));
  std::vector<unsigned char> bytes;
  bytes.reserve(static_cast<size_t>(s.count) * a->items->size);
  for (int64_t k = 0; k < s.count; ++k) {
    const unsigned char* const from = a->at(static_cast<size_t>(s.start + k * s.step));
    bytes.insert(bytes.end(), from, from + a->items->size);
  }
  return array_of_bytes(in, a, std::move(bytes));
}

void set_slice(Interpreter& in, Array* a, const Slice* slice, const Value& value) {
  if (!is_array(value)) {
    throw_error(ErrorKind::TypeError, "can only assign array (not \"%s\") to array slice",
                std::string(type_name(in, value)).c_str());
  }
  if (array_of(value)->items != a->items) throw Error(ErrorKind::TypeError, "bad argument type for built-in operation");
  const SliceParts parts = unpack_slice(in, slice);
  const std::vector<unsigned char> items = array_of(value)->bytes;
  const SliceIndices s = adjust_slice(parts, static_cast<int64_t>(a->size()));
  const size_t width = a->items->size;
  if (s.step == 1) {
    if (items.size() != static_cast<size_t>(s.count) * width) a->check_resizable();
    a->booked.cover(in.heap, a->bytes.size() + items.size());
    const auto begin = a->bytes.begin() + s.start * static_cast<int64_t>(width);
    const auto rest = a->bytes.erase(begin, begin + s.count * static_cast<int64_t>(width));
    a->bytes.insert(rest, items.begin(), items.end());
    return;
  }
  if (items.size() / width != static_cast<size_t>(s.count)) {
    throw_error(ErrorKind::ValueError, "attempt to assign array of size %zu to extended slice of size %lld",
                items.size() / width, static_cast<long long>(s.count));
  }
  for (int64_t k = 0; k < s.count; ++k)
    std::memcpy(a->at(static_cast<size_t>(s.start + k * s.step)), items.data() + static_cast<size_t>(k) * width, width);
}

void array_set(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  Array* const a = array_of(self);
  if (is_slice(key)) return set_slice(in, a, as_slice(key), value);
  const auto at = [&](const Value& index) { return position(in, a, index, "array assignment index out of range"); };
  const Value place = Value::integer(static_cast<int64_t>(at(key)));
  const Item item = item_of(in, *a->items, value);
  std::memcpy(a->at(at(place)), item.bytes, a->items->size);  // the value's conversion may have changed the length
}

void remove_item(Array* a, size_t i) {
  a->check_resizable();
  const auto begin = a->bytes.begin() + static_cast<int64_t>(i * a->items->size);
  a->bytes.erase(begin, begin + a->items->size);
}

void array_del(Interpreter& in, const Value& self, const Value& key) {
  Array* const a = array_of(self);
  if (!is_slice(key)) return remove_item(a, position(in, a, key, "array assignment index out of range"));
  const SliceParts parts = unpack_slice(in, as_slice(key));
  const SliceIndices s = adjust_slice(parts, static_cast<int64_t>(a->size()));
  if (s.count != 0) a->check_resizable();
  std::vector<bool> gone(a->size());
  for (int64_t k = 0; k < s.count; ++k) gone[static_cast<size_t>(s.start + k * s.step)] = true;
  size_t kept = 0;
  for (size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) std::memmove(a->at(kept++), a->at(i), a->items->size);
  }
  a->bytes.resize(kept * a->items->size);
}

int64_t find(Interpreter& in, Array* a, const Value& item, size_t from, size_t to) {
  for (size_t i = from; i < std::min(to, a->size()); ++i) {
    if (equals(in, load(in, a, i), item)) return static_cast<int64_t>(i);
  }
  return -1;
}

bool array_contains(Interpreter& in, const Value& self, const Value& item) {
  return find(in, array_of(self), item, 0, SIZE_MAX) >= 0;
}

struct ArrayIterator : Object {
  Value array;
  size_t index = 0;
};

Value array_iter(Interpreter& in, const Value& self) {
  const Value& type = type_lookup(self.as_object()->type, intern(in, "_iterator"));
  ArrayIterator* it = make_object<ArrayIterator>(in, own_type(type, layout_of<ArrayIterator>, "array._iterator"));
  it->array = self;
  return Value::adopt(it);
}

bool iterator_step(Interpreter& in, const Value& self, Value& out) {
  ArrayIterator* it = object_cast<ArrayIterator>(self);
  if (it->array.is_undefined()) return false;
  if (it->index >= array_of(it->array)->size()) {
    it->array = Value();
    return false;
  }
  out = load(in, array_of(it->array), it->index++);
  return true;
}

void destroy_iterator(Interpreter& in, Object* self) { free_object(in, known_cast<ArrayIterator>(self)); }
Value iterator_self(Interpreter&, const Value& self) { return self; }

Value to_list(Interpreter& in, Array* a) {
  std::vector<Value> items;
  items.reserve(a->size());
  in_pieces(in, a->size(), [&](size_t i, size_t end) {
    for (; i < end; ++i) items.push_back(load(in, a, i));
  });
  return make_list(in, items.data(), items.size());
}

std::string text_of_array(Interpreter& in, Array* a) {
  std::string text;
  for (size_t i = 0; i < a->size(); ++i) {
    const uint32_t code = read<uint32_t>(a->at(i));
    if (code > 0x10FFFF) throw_error(ErrorKind::ValueError, "character U+%x is not in range [U+0000; U+10ffff]", code);
    text += text_of(load(in, a, i));
  }
  return text;
}

Value array_repr(Interpreter& in, const Value& self) {
  Array* const a = array_of(self);
  std::string text = std::string(a->type->name->view()) + "('" + a->items->code + "'";
  if (a->size() != 0) {
    const Value shown = a->items->code == 'u' ? make_str(in, text_of_array(in, a)) : to_list(in, a);
    text += ", " + repr_text(in, shown);
  }
  return make_str(in, text + ")");
}

// Item by item: a NaN is not equal to itself here, as it is in lists.
size_t first_difference(Interpreter& in, Array* a, Array* b) {
  const size_t size = std::min(a->size(), b->size());
  size_t at = 0;
  bool same = true;
  in_pieces(in, size, [&](size_t i, size_t end) {
    for (; same && i < end; ++i) {
      same = truth(in, compare(in, CompareOp::Eq, load(in, a, i), load(in, b, i)));
      at += same;
    }
  });
  return at;
}

Value array_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (!is_array(other)) return in.not_implemented;
  Array *const a = array_of(self), *const b = array_of(other);
  const size_t at = first_difference(in, a, b);
  if (at < std::min(a->size(), b->size())) return compare(in, op, load(in, a, at), load(in, b, at));
  return compare(in, op, Value::integer(static_cast<int64_t>(a->size())), Value::integer(static_cast<int64_t>(b->size())));
}

std::vector<unsigned char> repeated(Interpreter& in, const Array* a, int64_t times) {
  std::vector<unsigned char> bytes;
  if (times <= 0 || a->bytes.empty()) return bytes;
  if (a->bytes.size() > static_cast<size_t>(kMost / times)) throw Error(ErrorKind::MemoryError, std::string());
  try {
    in.heap.expect(a->bytes.size() * static_cast<size_t>(times));
    bytes.reserve(a->bytes.size() * static_cast<size_t>(times));
  } catch (const std::exception&) {
    throw Error(ErrorKind::MemoryError, std::string());
  }
  StopBudget budget(in);
  for (int64_t i = 0; i < times; ++i, budget.take(a->bytes.size()))
    bytes.insert(bytes.end(), a->bytes.begin(), a->bytes.end());
  return bytes;
}

Value array_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  Array* const a = array_of(self);
  int64_t times = 0;
  if (op == BinaryOp::Add && !reflected) {
    if (!is_array(other)) {
      throw_error(ErrorKind::TypeError, "can only append array (not \"%s\") to array",
                  std::string(type_name(in, other)).c_str());
    }
    if (array_of(other)->items != a->items)
      throw Error(ErrorKind::TypeError, "bad argument type for built-in operation");
    std::vector<unsigned char> bytes = a->bytes;
    bytes.insert(bytes.end(), array_of(other)->bytes.begin(), array_of(other)->bytes.end());
    return array_of_bytes(in, a, std::move(bytes));
  }
  if (op == BinaryOp::Mul && repetition_count(in, other, times)) return array_of_bytes(in, a, repeated(in, a, times));
  if (op == BinaryOp::Mul && is_last_to_repeat(in, other, reflected)) throw_cannot_repeat(in, other);
  return in.not_implemented;
}

Value array_inplace(Interpreter& in, BinaryOp op, const Value& self, const Value& other) {
  Array* const a = array_of(self);
  int64_t times = 0;
  if (op == BinaryOp::Add) {
    if (!is_array(other)) {
      throw_error(ErrorKind::TypeError, "can only extend array with array (not \"%s\")",
                  std::string(type_name(in, other)).c_str());
    }
    extend_with(in, a, other);
    return self;
  }
  if (op != BinaryOp::Mul || !repetition_count(in, other, times)) return in.not_implemented;
  if (times != 1) a->check_resizable();
  a->bytes = repeated(in, a, times);
  return self;
}

// --- methods

Value array_append(Interpreter& in, const Args& args) {
  append_item(in, self_of(args), args[1]);
  return Value::none();
}

Value array_extend(Interpreter& in, const Args& args) {
  extend_with(in, self_of(args), args[1]);
  return Value::none();
}

Value array_fromlist(Interpreter& in, const Args& args) {
  if (!is_list(args[1])) throw Error(ErrorKind::TypeError, "arg must be list");
  Array* const a = self_of(args);
  const size_t before = a->bytes.size();
  try {
    extend_with(in, a, args[1]);
  } catch (...) {
    a->bytes.resize(std::min(before, a->bytes.size()));
    throw;
  }
  return Value::none();
}

Value array_fromunicode(Interpreter& in, const Args& args) {
  if (!is_str(args[1]))
    throw_error(ErrorKind::TypeError, "fromunicode() argument must be str, not %s", argument_type(in, args[1]));
  if (self_of(args)->items->code != 'u')
    throw Error(ErrorKind::ValueError, "fromunicode() may only be called on unicode type arrays");
  extend_with(in, self_of(args), args[1]);
  return Value::none();
}

Value array_insert(Interpreter& in, const Args& args) {
  Array* const a = self_of(args);
  int64_t i = int_argument(in, args[1]);
  const Item item = item_of(in, *a->items, args[2]);
  const auto size = static_cast<int64_t>(a->size());
  if (i < 0) i = std::max<int64_t>(0, i + size);
  i = std::min(i, size);
  a->room_for(a->items->size);
  a->bytes.insert(a->bytes.begin() + i * a->items->size, item.bytes, item.bytes + a->items->size);
  return Value::none();
}

Value array_pop(Interpreter& in, const Args& args) {
  Array* const a = self_of(args);
  const int64_t given = int_argument(in, args[1]);
  if (a->size() == 0) throw Error(ErrorKind::IndexError, "pop from empty array");
  const size_t i = position(in, a, Value::integer(given), "pop index out of range");
  Value item = load(in, a, i);
  remove_item(a, i);
  return item;
}

Value array_remove(Interpreter& in, const Args& args) {
  const int64_t at = find(in, self_of(args), args[1], 0, SIZE_MAX);
  if (at < 0) throw Error(ErrorKind::ValueError, "array.remove(x): x not in array");
  remove_item(self_of(args), static_cast<size_t>(at));
  return Value::none();
}

size_t clamp_index(Interpreter& in, const Value& v, size_t size) {
  if (!is_index(in, v)) throw Error(ErrorKind::TypeError, "slice indices must be integers or have an __index__ method");
  const Value whole = whole_index(in, v);
  int64_t i = !is_big_int(whole) ? whole.as_int() : whole_sign(whole) < 0 ? INT64_MIN : INT64_MAX;
  if (i < 0) i = std::max<int64_t>(0, i + static_cast<int64_t>(size));
  return static_cast<size_t>(std::min<int64_t>(i, static_cast<int64_t>(size)));
}

Value array_index(Interpreter& in, const Args& args) {
  Array* const a = self_of(args);
  const size_t start = clamp_index(in, args[2], a->size()), stop = clamp_index(in, args[3], a->size());
  const int64_t at = find(in, a, args[1], start, stop);
  if (at < 0) throw Error(ErrorKind::ValueError, "array.index(x): x not in array");
  return Value::integer(at);
}

Value array_count(Interpreter& in, const Args& args) {
  int64_t count = 0;
  for (int64_t at = find(in, self_of(args), args[1], 0, SIZE_MAX); at >= 0;
       at = find(in, self_of(args), args[1], static_cast<size_t>(at) + 1, SIZE_MAX))
    ++count;
  return Value::integer(count);
}

Value array_reverse(Interpreter&, const Args& args) {
  Array* const a = self_of(args);
  const size_t width = a->items->size;
  for (size_t i = 0, j = a->size(); i + 1 < j; ++i) {
    --j;
    std::swap_ranges(a->at(i), a->at(i) + width, a->at(j));
  }
  return Value::none();
}

Value array_byteswap(Interpreter&, const Args& args) {
  Array* const a = self_of(args);
  for (size_t i = 0; i < a->size(); ++i) std::reverse(a->at(i), a->at(i) + a->items->size);
  return Value::none();
}

Value array_tolist(Interpreter& in, const Args& args) { return to_list(in, self_of(args)); }

Value array_tobytes(Interpreter& in, const Args& args) {
  const std::vector<unsigned char>& bytes = self_of(args)->bytes;
  return make_bytes(in, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void add_bytes(Interpreter& in, Array* a, const Value& value) {
  const PinnedBuffer more(in, value, false);  // its own bytes may not move meanwhile
  if (more.get().item_size != 1) throw Error(ErrorKind::TypeError, "a bytes-like object is required");
  if (more.view().size() % a->items->size != 0)
    throw Error(ErrorKind::ValueError, "bytes length not a multiple of item size");
  a->room_for(more.view().size());
  a->bytes.insert(a->bytes.end(), more.view().begin(), more.view().end());
}

Value array_frombytes(Interpreter& in, const Args& args) {
  add_bytes(in, self_of(args), args[1]);
  return Value::none();
}

Value array_tounicode(Interpreter& in, const Args& args) {
  if (self_of(args)->items->code != 'u')
    throw Error(ErrorKind::ValueError, "tounicode() may only be called on unicode type arrays");
  return make_str(in, text_of_array(in, self_of(args)));
}

Value array_copy(Interpreter& in, const Args& args) { return array_of_bytes(in, self_of(args), self_of(args)->bytes); }

Value array_typecode(Interpreter& in, const Args& args) {
  return make_str(in, std::string_view(&self_of(args)->items->code, 1));
}

Value array_itemsize(Interpreter&, const Args& args) { return Value::integer(self_of(args)->items->size); }

// `*` as a method: what is no int raises here.
Value array_times(Interpreter& in, const Args& args) {
  int64_t times = 0;
  if (!repetition_count(in, args[1], times)) times = index(in, args[1]);
  return array_of_bytes(in, self_of(args), repeated(in, self_of(args), times));
}

Value array_times_in_place(Interpreter& in, const Args& args) {
  if (!is_index(in, args[1])) index(in, args[1]);
  return array_inplace(in, BinaryOp::Mul, args[0], args[1]);
}

Value array_add(Interpreter& in, const Args& args) { return array_binary(in, BinaryOp::Add, args[0], args[1], false, 0); }

Value array_buffer_info(Interpreter& in, const Args& args) {
  Array* const a = self_of(args);
  return make_tuple(in, {Value::integer(static_cast<int64_t>(reinterpret_cast<intptr_t>(a->bytes.data()))),
                         Value::integer(static_cast<int64_t>(a->size()))});
}

Value array_tofile(Interpreter& in, const Args& args) {
  constexpr size_t kBlock = 1 << 16;
  const Value write = get_attr(in, args[1], intern(in, "write"));
  for (size_t at = 0; at < self_of(args)->bytes.size(); at += kBlock) {  // write() may run a script
    const std::vector<unsigned char>& bytes = self_of(args)->bytes;
    call(in, write, {make_bytes(in, {reinterpret_cast<const char*>(bytes.data()) + at, std::min(kBlock, bytes.size() - at)})});
  }
  return Value::none();
}

Value array_fromfile(Interpreter& in, const Args& args) {
  Array* const a = self_of(args);
  const int64_t count = int_argument(in, args[2]);
  int64_t size;
  if (count < 0) throw Error(ErrorKind::ValueError, "negative count");
  if (__builtin_mul_overflow(count, static_cast<int64_t>(a->items->size), &size))
    throw Error(ErrorKind::MemoryError, std::string());
  const Value bytes = call_method(in, args[1], intern(in, "read"), {Value::integer(size)});
  if (!is_bytes(bytes)) throw Error(ErrorKind::TypeError, "read() didn't return bytes");
  add_bytes(in, a, bytes);
  if (static_cast<int64_t>(as_bytes(bytes)->size) != size)
    throw Error(ErrorKind::EOFError, "read() didn't return enough bytes");
  return Value::none();
}

// --- pickling: CPython's numbers of machine formats

struct MachineFormat {
  uint8_t size;
  bool is_signed, big_endian;
  char kind;  // i: int, f: float, u: text
};
constexpr MachineFormat kFormats[] = {
    {1, false, false, 'i'}, {1, true, false, 'i'},  {2, false, false, 'i'}, {2, false, true, 'i'}, {2, true, false, 'i'},
    {2, true, true, 'i'},   {4, false, false, 'i'}, {4, false, true, 'i'},  {4, true, false, 'i'}, {4, true, true, 'i'},
    {8, false, false, 'i'}, {8, false, true, 'i'},  {8, true, false, 'i'},  {8, true, true, 'i'},  {4, true, false, 'f'},
    {4, true, true, 'f'},   {8, true, false, 'f'},  {8, true, true, 'f'},   {2, false, false, 'u'}, {2, false, true, 'u'},
    {4, false, false, 'u'}, {4, false, true, 'u'}};

// The number of an array's own format.
int64_t format_of(const ItemKind& kind) {
  const char group = kind.code == 'u' ? 'u' : kind.c_name == nullptr ? 'f' : 'i';
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    const MachineFormat& each = kFormats[i];
    const bool same_sign = group != 'i' || each.is_signed == (kind.least < 0);
    if (each.kind == group && each.size == kind.size && same_sign && !each.big_endian) return static_cast<int64_t>(i);
  }
  return 0;
}

Value array_reduce(Interpreter& in, const Args& args) {
  Array* const a = self_of(args);
  const Value type(a->type), code = make_str(in, std::string_view(&a->items->code, 1)),
              attributes = attributes_to_keep(in, args[0]);
  if (int_argument(in, args[1]) < 3)
    return make_tuple(in, {type, make_tuple(in, {code, to_list(in, a)}), attributes});
  const Value make = get_attr(in, Value(in.import("array")), intern(in, "_array_reconstructor"));
  return make_tuple(in, {make,
                         make_tuple(in, {type, code, Value::integer(format_of(*a->items)), array_tobytes(in, args)}),
                         attributes});
}

// One item of a format of another machine as a value.
Value foreign_item(Interpreter& in, const MachineFormat& format, const unsigned char* from) {
  unsigned char bytes[8] = {};
  for (size_t i = 0; i < format.size; ++i) bytes[i] = from[format.big_endian ? format.size - 1 - i : i];
  if (format.kind == 'f') {
    return Value::real(format.size == 4 ? static_cast<double>(read<float>(bytes)) : read<double>(bytes));
  }
  const uint64_t whole = read<uint64_t>(bytes);
  if (!format.is_signed) return whole_from_uint64(in, whole);
  const int unused = 64 - 8 * format.size;
  return Value::integer(static_cast<int64_t>(whole << unused) >> unused);
}

Value reconstruct(Interpreter& in, const Args& args) {
  Type* const array_type = static_cast<Type*>(args.callee->data);
  if (!args[0].is_object() || args[0].as_object()->kind != ObjectKind::Type) {
    throw_error(ErrorKind::TypeError, "first argument must be a type object, not %s",
                std::string(type_name(in, args[0])).c_str());
  }
  Type* const type = object_cast<Type>(args[0]);
  if (!type->is_subtype_of(array_type)) {
    throw_error(ErrorKind::TypeError, "%s is not a subtype of array.array", std::string(type->name->view()).c_str());
  }
  const ItemKind* kind = nullptr;
  for (const ItemKind& each : kKinds) {
    if (is_str(args[1]) && text_of(args[1]) == std::string_view(&each.code, 1)) kind = &each;
  }
  if (!is_str(args[1]) || as_str(args[1])->length != 1) {
    throw_error(ErrorKind::TypeError, "_array_reconstructor() argument 2 must be a unicode character, not %s",
                std::string(type_name(in, args[1])).c_str());
  }
  if (kind == nullptr) throw Error(ErrorKind::ValueError, "second argument must be a valid type code");
  const int64_t number = int_argument(in, args[2]);
  if (number < 0 || number >= static_cast<int64_t>(std::size(kFormats)))
    throw Error(ErrorKind::ValueError, "third argument must be a valid machine format code.");
  if (!is_bytes(args[3])) {
    throw_error(ErrorKind::TypeError, "fourth argument should be bytes, not %s",
                std::string(type_name(in, args[3])).c_str());
  }
  const MachineFormat& format = kFormats[number];
  const bool own = number == format_of(*kind);
  for (const ItemKind& each : kKinds) {  // integers of another width come as the kind that holds them
    const bool fits = format.kind == 'i' && each.c_name != nullptr && each.size == format.size;
    if (!own && fits && (each.least < 0) == format.is_signed) kind = &each;
  }
  Value made = call(in, args[0], {make_str(in, std::string_view(&kind->code, 1))});
  if (!is_array(made)) throw Error(ErrorKind::TypeError, "array expected");
  Array* const a = array_of(made);
  if (own) {
    add_bytes(in, a, args[3]);
    return made;
  }
  const std::string_view bytes = as_bytes(args[3])->view();
  if (format.kind == 'u') {
    const char* const names[] = {"utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"};
    extend_with(in, a, call_method(in, args[3], intern(in, "decode"), {make_str(in, names[number - 18])}));
    return made;
  }
  if (bytes.size() % format.size != 0) throw Error(ErrorKind::ValueError, "string length not a multiple of item size");
  for (size_t i = 0; i < bytes.size(); i += format.size) {
    append_item(in, a, foreign_item(in, format, reinterpret_cast<const unsigned char*>(bytes.data()) + i));
    in.poll();
  }
  return made;
}

Value iterator_reduce(Interpreter& in, const Args& args) {
  const ArrayIterator* it = object_cast<ArrayIterator>(args[0]);
  const Value make = get_attr(in, Value(in.import("builtins")), intern(in, "iter"));
  if (it->array.is_undefined()) return make_tuple(in, {make, make_tuple(in, {make_tuple(in, {})})});
  return make_tuple(in, {make, make_tuple(in, {it->array}), Value::integer(static_cast<int64_t>(it->index))});
}

Value iterator_setstate(Interpreter& in, const Args& args) {
  ArrayIterator* it = object_cast<ArrayIterator>(args[0]);
  const int64_t index = iterator_position(in, args[1]);
  if (!it->array.is_undefined()) {
    it->index = static_cast<size_t>(std::clamp<int64_t>(index, 0, static_cast<int64_t>(array_of(it->array)->size())));
  }
  return Value::none();
}

const NativeDef kIteratorMethods[] = {{"__reduce__(self)", iterator_reduce},
                                      {"__setstate__(self, state, /)", iterator_setstate}};

const NativeDef kMethods[] = {
    {"__add__(self, value, /)", array_add},
    {"__mul__(self, value, /)", array_times},
    {"__rmul__(self, value, /)", array_times},
    {"__reduce_ex__(self, protocol, /)", array_reduce, "Return state information for pickling."},
    {"buffer_info(self)", array_buffer_info, "The address of the items and how many there are."},
    {"tofile(self, f, /)", array_tofile, "Write the items to a file, as they stand in memory."},
    {"fromfile(self, f, n, /)", array_fromfile, "Add n items from a file."},
    {"__iadd__(self, value, /)", [](Interpreter& in, const Args& a) { return array_inplace(in, BinaryOp::Add, a[0], a[1]); }},
    {"__imul__(self, value, /)", array_times_in_place},
    {"append(self, v, /)", array_append, "Add an item at the end."},
    {"extend(self, bb, /)", array_extend, "Add many items at the end."},
    {"fromlist(self, list, /)", array_fromlist, "Add the items of a list, all or none."},
    {"fromunicode(self, ustr, /)", array_fromunicode, "Add the characters of a text."},
    {"insert(self, i, v, /)", array_insert, "Put v before position i."},
    {"pop(self, i=-1, /)", array_pop, "Take item i."},
    {"remove(self, v, /)", array_remove, "Remove the first item that equals v."},
    {"index(self, v, start=0, stop=9223372036854775807, /)", array_index, "Where the first item is that equals v."},
    {"count(self, v, /)", array_count, "How many items equal v."},
    {"reverse(self)", array_reverse, "Turn around in place."},
    {"byteswap(self)", array_byteswap, "Reverse the bytes of every item."},
    {"tobytes(self)", array_tobytes, "The items as they stand in memory."},
    {"frombytes(self, buffer, /)", array_frombytes, "Add items from bytes, as they stand in memory."},
    {"tolist(self)", array_tolist, "The items as a list."},
    {"tounicode(self)", array_tounicode, "The items as a text."},
    {"__copy__(self)", array_copy},
    {"__deepcopy__(self, memo, /)", array_copy},
};

Type* make_iterator_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "arrayiterator";
  spec.module = "array";
  spec.size = sizeof(ArrayIterator);
  spec.flags = kFinalType;
  Type* type = in.new_type(spec);
  type->slots.layout = layout_of<ArrayIterator>;
  type->slots.destroy = destroy_iterator;
  type->slots.iter = iterator_self;
  type->slots.next = iterator_step;
  slot_methods(in, type);
  in.add_methods(type, kIteratorMethods, std::size(kIteratorMethods));
  return type;
}

bool array_buffer(Interpreter&, const Value& value, Buffer& out, BufferLayout*) {
  Array* const a = array_of(value);
  out.data = reinterpret_cast<char*>(a->bytes.data());
  out.size = a->bytes.size();
  out.readonly = false;
  out.format = a->items->code == 'u' ? 'w' : a->items->code;
  out.item_size = a->items->size;
  out.exports = &a->exports;
  return true;
}

}  // namespace

void fill_array(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "array";
  spec.module = "array";
  spec.size = sizeof(Array);
  spec.doc = "Numbers of one kind, close together.";
  Type* type = in.new_type(spec);
  TypeSlots& slots = type->slots;
  slots.layout = kArrayLayout;
  add_buffer_source(in, kArrayLayout, array_buffer);
  slots.destroy = destroy_array;
  slots.repr = array_repr;
  slots.hash = nullptr;
  slots.length = array_length;
  slots.compare = array_compare;
  slots.binary = array_binary;
  slots.inplace = array_inplace;
  slots.get_item = array_get;
  slots.set_item = array_set;
  slots.del_item = array_del;
  slots.contains = array_contains;
  slots.iter = array_iter;
  type->make = make_array;
  in.add_methods(type, kMethods, std::size(kMethods));
  in.add_property(type, "typecode", array_typecode);
  in.add_property(type, "itemsize", array_itemsize);
  dict_set_str(in, type->attributes(), intern(in, "_iterator"), Value(make_iterator_type(in)));
  set_member(in, module, "array", Value(type));
  set_member(in, module, "ArrayType", Value(type));
  const Value abc = get_attr(in, Value(in.import("collections.abc")), intern(in, "MutableSequence"));
  call_method(in, abc, intern(in, "register"), {Value(type)});
  in.def(module, "_array_reconstructor(arraytype, typecode, mformat_code, items, /)", "Make an array of a pickle.",
         reconstruct);
  object_cast<NativeFunction>(*dict_get_str(module.dict, intern(in, "_array_reconstructor")))->data = type;
  set_member(in, module, "typecodes", make_str(in, "bBuhHiIlLqQfd"));
}

}  // namespace tessera::stdlib
