// bytes and bytearray in operators, comparisons, indexing and iteration; both constructors.
// compile: few-inlines (no faster with more inlines)
#include <algorithm>
#include <cstring>

#include "lang/core/bind_maker.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/types/bytes_parts.h"
#include "lang/builtins/builtins.h"
#include "lang/types/codec.h"
#include "lang/types/hash_key.h"
#include "lang/types/iterators.h"
#include "lang/types/number.h"
#include "lang/types/range.h"
#include "lang/types/sequence.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/text_search.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

Value repr_slot(Interpreter& in, const Value& self) {
  if (is_bytes(self)) return make_str(in, quote_bytes(as_bytes(self)->view()));
  std::string quoted = quote_bytes(as_byte_array(self)->view());
  if (quoted[1] == '"') {  // a bytearray's repr escapes single quotes in double ones, too
    for (size_t i = quoted.find('\''); i != quoted.npos; i = quoted.find('\'', i + 2)) quoted.insert(i, 1, '\\');
  }
  return make_str(in, std::string(self.as_object()->type->name->view()) + "(" + quoted + ")");
}

int64_t hash_slot(Interpreter&, const Value& self) {
  Bytes* b = as_bytes(self);
  if (b->hash == 0) b->hash = hash_is_keyed ? keyed_hash_bytes(b->view()) : hash_text(b->view());
  return b->hash;
}

int64_t length_slot(Interpreter&, const Value& self) { return static_cast<int64_t>(bytes_of(self).size()); }

// bytes compare with bytes alone and a bytearray with any buffer without gaps; otherwise the other object is asked.
Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  const bool released = is_memory_view(other) && as_memory_view(other)->owner.is_undefined();
  if (is_bytes(self) ? !is_bytes(other) : released || !is_bytes_without_gaps(in, other)) return in.not_implemented;
  Buffer shown;
  find_buffer(in, other, shown);
  const std::string_view left = bytes_of(self), right(shown.data, shown.size);
  if (op == CompareOp::Eq) return Value::boolean(left == right);
  if (op == CompareOp::Ne) return Value::boolean(left != right);
  const int order = left.compare(right);
  return Value::boolean(order_holds(op, order < 0 ? -1 : order > 0));
}

// `bytes`: of an immutable one, as CPython words it.
size_t repeated_size(size_t size, int64_t times, bool bytes = false) {
  if (times <= 0 || size == 0) return 0;
  const unsigned __int128 whole = static_cast<unsigned __int128>(size) * static_cast<uint64_t>(times);
  if (bytes && whole > INT64_MAX) throw Error(ErrorKind::OverflowError, "repeated bytes are too long");
  if (whole > (size_t{1} << 62)) throw Error(ErrorKind::MemoryError, std::string());
  return static_cast<size_t>(whole);
}

Value repeat(Interpreter& in, const Value& self, int64_t times) {
  if (times == 1 && self.as_object()->type == bytes_types(in).bytes) return self;
  const size_t size = repeated_size(bytes_of(self).size(), times, is_bytes(self));
  if (is_bytes(self)) {
    Bytes* out = new_bytes(in, size);
    Value made = Value::adopt(out);
    repeat_in_pieces(in, out->data(), bytes_of(self), size);
    return made;
  }
  Value made = make_byte_array(in, {});
  byte_array_resize(in, as_byte_array(made), size);
  repeat_in_pieces(in, as_byte_array(made)->data, bytes_of(self), size);
  return made;
}

Value concat(Interpreter& in, const Value& self, const Value& other) {
  if (!is_bytes_without_gaps(in, other)) {
    throw Error(ErrorKind::TypeError,
                "can't concat " + std::string(type_name(in, other)) + " to " + std::string(type_name(in, self)));
  }
  const BytesLike right(in, other);
  const std::string_view left = bytes_of(self);
  if (is_byte_array(self)) {
    Value made = make_byte_array(in, left);
    byte_array_append(in, as_byte_array(made), right);
    return made;
  }
  Bytes* out = new_bytes(in, left.size() + right.view().size());
  std::memcpy(out->data(), left.data(), left.size());
  if (!right.view().empty()) std::memcpy(out->data() + left.size(), right.view().data(), right.view().size());
  return Value::adopt(out);
}

// Whether += is to ask the right operand first, as + does: concatenation comes after __radd__. Only script classes have it and may be
// bytes-like.
bool adds_itself(Interpreter& in, const Value& other) {
  return other.is_object() && other.as_object()->kind == ObjectKind::Instance &&
         !type_lookup(other.as_object()->type, in.names->radd).is_undefined();
}

Value binary_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  int64_t times;
  if (op == BinaryOp::Mul && repetition_count(in, other, times)) return repeat(in, self, times);
  if (reflected) return in.not_implemented;
  if (op == BinaryOp::Mul) throw_cannot_repeat(in, other);
  if (op == BinaryOp::Add) {
    const bool left_to_it = adds_itself(in, other) && is_bytes_without_gaps(in, other);  // a number of numpy
    return left_to_it ? in.not_implemented : concat(in, self, other);
  }
  if (op == BinaryOp::Mod) {
    const std::string format(bytes_of(self));
    return bytes_alike(in, self, percent_format_bytes(in, format, other));
  }
  return in.not_implemented;
}

Value inplace_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other) {
  ByteArray* a = as_byte_array(self);
  int64_t times;
  if (op == BinaryOp::Add) {
    if (adds_itself(in, other)) return in.not_implemented;
    if (!is_bytes_without_gaps(in, other)) {
      throw Error(ErrorKind::TypeError,
                  "can't concat " + std::string(type_name(in, other)) + " to " + std::string(type_name(in, self)));
    }
    if (other.is(self) && a->size != 0)  // as CPython has it: what is added holds the memory still
      throw Error(ErrorKind::BufferError, "Existing exports of data: object cannot be re-sized");
    byte_array_append(in, a, BytesLike(in, other));
    return self;
  }
  if (op != BinaryOp::Mul || !repetition_count(in, other, times)) return in.not_implemented;
  const size_t old = a->size, size = repeated_size(old, times);
  byte_array_resize(in, a, size);
  for (size_t at = old; at < size; at += old) std::memcpy(a->data + at, a->data, old);
  return self;
}

// --- indexing

int64_t position(Interpreter& in, const Value& self, const Value& key) {
  int64_t i = index_of_key(in, key, is_bytes(self) ? "byte" : "bytearray");
  const int64_t size = length_slot(in, self);
  if (i < 0) i += size;
  if (i < 0 || i >= size)
    throw Error(ErrorKind::IndexError, is_bytes(self) ? "index out of range" : "bytearray index out of range");
  return i;
}

Value get_item_slot(Interpreter& in, const Value& self, const Value& key) {
  if (!is_slice(key)) {
    const int64_t at = position(in, self, key);
    return Value::integer(static_cast<unsigned char>(bytes_of(self)[static_cast<size_t>(at)]));
  }
  const SliceParts parts = unpack_slice(in, as_slice(key));
  const std::string_view bytes = bytes_of(self);
  const SliceIndices r = adjust_slice(parts, static_cast<int64_t>(bytes.size()));
  if (r.step == 1) {
    if (static_cast<size_t>(r.count) == bytes.size() && self.as_object()->type == bytes_types(in).bytes) return self;
    return bytes_alike(in, self, bytes.substr(static_cast<size_t>(r.start), static_cast<size_t>(r.count)));
  }
  std::string out(static_cast<size_t>(r.count), '\0');
  int64_t at = r.start;
  for (char& c : out) {
    c = bytes[static_cast<size_t>(at)];
    at += r.step;
  }
  return bytes_alike(in, self, out);
}

// a[from:from + removed] = bytes
void replace_range(Interpreter& in, ByteArray* a, size_t from, size_t removed, std::string_view bytes) {
  const size_t tail = a->size - from - removed;
  if (bytes.size() > removed) {
    byte_array_resize(in, a, a->size + bytes.size() - removed);
    std::memmove(a->data + from + bytes.size(), a->data + from + removed, tail);
  } else if (bytes.size() < removed) {
    check_resizable(a);
    std::memmove(a->data + from + bytes.size(), a->data + from + removed, tail);
    byte_array_resize(in, a, from + bytes.size() + tail);
  }
  if (!bytes.empty()) std::memcpy(a->data + from, bytes.data(), bytes.size());
}

void delete_slice(Interpreter& in, ByteArray* a, SliceIndices r) {
  if (r.count == 0) return;
  if (r.step < 0) {
    r.start += (r.count - 1) * r.step;
    r.step = -r.step;
  }
  if (r.step == 1) return replace_range(in, a, static_cast<size_t>(r.start), static_cast<size_t>(r.count), {});
  check_resizable(a);
  size_t to = static_cast<size_t>(r.start);
  int64_t next = r.start, left = r.count;
  for (size_t i = to; i < a->size; ++i) {
    if (left > 0 && static_cast<int64_t>(i) == next) {
      next += r.step;
      --left;
    } else {
      a->data[to++] = a->data[i];
    }
  }
  byte_array_resize(in, a, to);
}

// What counts as a number cannot be assigned to a slice, even if it is bytes-like as the arrays of NumPy.
bool is_number(Interpreter& in, const Value& value) {
  const Value plain = unboxed(value);
  if (!plain.is_object()) return !plain.is_none();
  const Type* const type = plain.as_object()->type;
  return !(type_lookup(type, in.names->index).is_undefined() && type_lookup(type, in.names->int_).is_undefined() &&
           type_lookup(type, in.names->float_).is_undefined());
}

void set_slice(Interpreter& in, const Value& self, const Slice* slice, const Value& value) {
  std::string fresh;
  if (is_bytes_like(in, value) && !is_number(in, value)) {
    fresh = BytesLike(in, value, BytesLike::kCopyGaps).view();
  } else if (is_number(in, value) || is_str(value)) {
    throw Error(ErrorKind::TypeError, "can assign only bytes, buffers, or iterables of ints in range(0, 256)");
  } else {
    Value iterator;
    if (!may_iterate(in, value, &iterator))
      throw_error(ErrorKind::TypeError, "cannot convert '%s' object to bytearray", std::string(type_name(in, value)).c_str());
    fresh = bytes_of(bytes_from_items(in, value, iterator, "byte must be in range(0, 256)"));
  }
  const SliceParts parts = unpack_slice(in, slice);
  ByteArray* a = as_byte_array(self);
  const SliceIndices r = adjust_slice(parts, static_cast<int64_t>(a->size));
  if (r.step == 1) {
    replace_range(in, a, static_cast<size_t>(r.start), static_cast<size_t>(r.count), fresh);
  } else if (fresh.empty()) {
    delete_slice(in, a, r);
  } else if (fresh.size() != static_cast<size_t>(r.count)) {
    throw Error(ErrorKind::ValueError, "attempt to assign bytes of size " + std::to_string(fresh.size()) +
                                           " to extended slice of size " + std::to_string(r.count));
  } else {
    int64_t at = r.start;
    for (const char c : fresh) {
      a->data[at] = c;
      at += r.step;
    }
  }
}

void set_item_slot(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  if (is_slice(key)) return set_slice(in, self, as_slice(key), value);
  const Value whole = Value::integer(index_of_key(in, key, "bytearray"));
  const unsigned char byte = byte_value(in, value);
  const int64_t at = position(in, self, whole);  // the value's __index__ may have changed the length
  as_byte_array(self)->data[at] = static_cast<char>(byte);
}

void del_item_slot(Interpreter& in, const Value& self, const Value& key) {
  ByteArray* a = as_byte_array(self);
  if (!is_slice(key)) return replace_range(in, a, static_cast<size_t>(position(in, self, key)), 1, {});
  const SliceParts parts = unpack_slice(in, as_slice(key));
  delete_slice(in, a, adjust_slice(parts, static_cast<int64_t>(a->size)));
}

bool contains_slot(Interpreter& in, const Value& self, const Value& item) {
  if (is_index(in, item)) {
    const char byte = static_cast<char>(byte_value(in, item));
    return bytes_of(self).find(byte) != std::string_view::npos;
  }
  const BytesLike part(in, item);
  return find_text(in, bytes_of(self), part) != kNowhere;
}

// --- iteration

struct BytesIterator : GcObject {
  Value sequence;  // Undefined: exhausted
  size_t index = 0;
};

BytesIterator* iterator_of(const Value& v) { return object_cast<BytesIterator>(v); }

Value iter_slot(Interpreter& in, const Value& self) {
  BytesIterator* it = make_object<BytesIterator>(in, bytes_types(in).iterator);
  it->sequence = self;
  return Value::adopt(it);
}

bool next_slot(Interpreter&, const Value& self, Value& out) {
  BytesIterator* it = iterator_of(self);
  if (it->sequence.is_undefined()) return false;
  const std::string_view bytes = bytes_of(it->sequence);
  if (it->index >= bytes.size()) {
    const Value gone = std::move(it->sequence);
    return false;
  }
  out = Value::integer(static_cast<unsigned char>(bytes[it->index++]));
  return true;
}

Value length_hint(Interpreter&, const Args& args) {
  const BytesIterator* it = iterator_of(args[0]);
  if (it->sequence.is_undefined()) return Value::integer(0);
  const size_t size = bytes_of(it->sequence).size();
  return Value::integer(size > it->index ? static_cast<int64_t>(size - it->index) : 0);
}

Value iterator_reduce(Interpreter& in, const Args& args) {
  const BytesIterator* it = iterator_of(args[0]);
  const Value function = *find_builtin(in, intern(in, "iter"));
  if (it->sequence.is_undefined()) return make_tuple(in, {function, make_tuple(in, {in.shared->empty_tuple})});
  return make_tuple(in, {function, make_tuple(in, {it->sequence}), Value::integer(static_cast<int64_t>(it->index))});
}

Value iterator_set_state(Interpreter& in, const Args& args) {
  const int64_t position = iterator_position(in, args[1]);
  BytesIterator* it = iterator_of(args[0]);
  if (!it->sequence.is_undefined()) {
    const auto size = static_cast<int64_t>(bytes_of(it->sequence).size());
    it->index = static_cast<size_t>(std::clamp<int64_t>(position, 0, size));
  }
  return Value::none();
}

constexpr NativeDef kHintRows[] = {
    {"__reduce__(self)", iterator_reduce, "Return state information for pickling."},
    {"__setstate__(self, state, /)", iterator_set_state, "Set state information for unpickling."},
    {"__length_hint__(self, /)", length_hint, "Private method returning an estimate of len(list(it))."}};

Type* make_iterator_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "bytes_iterator";
  spec.module = "builtins";
  spec.kind = ObjectKind::Iterator;
  spec.size = sizeof(BytesIterator);
  spec.flags = kFinalType;
  Type* type = in.new_type(spec);
  type->make = refuse_to_make;
  type->slots.destroy = destroy_plain<BytesIterator>;
  type->slots.iter = [](Interpreter&, const Value& self) { return self; };
  type->slots.next = next_slot;
  type->slots.traverse = [](Object* self, Visitor& visitor) { visitor(known_cast<BytesIterator>(self)->sequence); };
  slot_methods(in, type);
  add_rows(in, type, kHintRows);
  return type;
}

// --- constructors

Value encoded(Interpreter& in, const Value& text, const Value& encoding, const Value& errors) {
  return encode_text(in, text, encoding.is_undefined() ? "utf-8" : text_of(encoding),
                     errors.is_undefined() ? "strict" : text_of(errors));
}

struct MakeArguments {
  Value source, encoding, errors;
};

MakeArguments read_arguments(Interpreter& in, const char* name, const Args& args) {
  constexpr std::string_view kNames[] = {"source", "encoding", "errors"};
  Value found[3];
  bind_maker(in, (std::string(name) + "(source=..., encoding=..., errors=...)").c_str(), args, found);
  for (int i = 1; i < 3; ++i) {
    if (found[i].is_undefined()) continue;
    if (is_str(found[i])) {
      check_c_text(in, found[i]);
      continue;
    }
    throw_error(ErrorKind::TypeError, "%s() argument '%s' must be str, not %s", name, kNames[i].data(),
                found[i].is_none() ? "None" : std::string(type_name(in, found[i])).c_str());
  }
  return {found[0], found[1], found[2]};
}

}  // namespace

Value bytes_from_items(Interpreter& in, const Value& iterable, const Value& iterator, const char* out_of_range) {
  Value made = make_byte_array(in, {});
  const auto add = [&](const Value& item) {
    const char byte = static_cast<char>(byte_value(in, item, out_of_range));
    byte_array_append(in, as_byte_array(made), {&byte, 1});
  };
  if (iterator.is_undefined()) for_each(in, iterable, add);
  else
    for (Value item; next(in, iterator, item);) add(item);
  return made;
}

namespace {

// Whether the constructors take the object for a count: one whose __index__ raises TypeError (an array of several numbers) is a
// bytes-like object or an iterable after all.
bool is_size(Interpreter& in, const Value& source, int64_t& size) {
  if (!is_index(in, source)) return false;
  try {
    size = index_sized(in, source, ErrorKind::OverflowError);
    return true;
  } catch (const Error& error) {
    if (error.kind != ErrorKind::TypeError) throw;
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::TypeError)) throw;
  }
  return false;
}

// A bytes-like object with the bytes of the constructors' arguments.
Value bytes_from_arguments(Interpreter& in, const char* name, const MakeArguments& a) {
  const Value& source = a.source;
  if (!source.is_undefined() && is_str(source)) {
    if (a.encoding.is_undefined()) throw Error(ErrorKind::TypeError, "string argument without an encoding");
    return encoded(in, source, a.encoding, a.errors);
  }
  if (!a.encoding.is_undefined()) throw Error(ErrorKind::TypeError, "encoding without a string argument");
  if (!a.errors.is_undefined()) throw Error(ErrorKind::TypeError, "errors without a string argument");
  if (source.is_undefined()) return make_bytes(in, {});
  int64_t size = 0;
  if (is_size(in, source, size)) {
    if (size < 0) throw Error(ErrorKind::ValueError, "negative count");
    if (size > (int64_t{1} << 62) && std::string_view(name) == "bytearray") throw Error(ErrorKind::MemoryError, std::string());
    Bytes* zeros = new_bytes(in, static_cast<size_t>(size));
    std::memset(zeros->data(), 0, zeros->size);
    return Value::adopt(zeros);
  }
  if (is_bytes_like(in, source)) return source;
  Value iterator;
  if (!may_iterate(in, source, &iterator)) {
    throw_error(ErrorKind::TypeError, "cannot convert '%s' object to %s", std::string(type_name(in, source)).c_str(),
                name);
  }
  const bool fixed = std::string_view(name) == "bytes";
  if (fixed) ask_length(in, source);
  return bytes_from_items(in, source, iterator, fixed ? "bytes must be in range(0, 256)" : "byte must be in range(0, 256)");
}

// What an object's own __bytes__ gives; Undefined: it has none.
Value own_bytes(Interpreter& in, const Value& source) {
  if (!source.is_object()) return Value();
  const Value method = type_lookup(source.as_object()->type, intern(in, "__bytes__"));
  if (method.is_undefined()) return Value();
  Value answer = call_special(in, method, source);
  if (!is_bytes(answer)) {
    throw_error(ErrorKind::TypeError, "__bytes__ returned non-bytes (type %s)",
                std::string(type_name(in, answer)).c_str());
  }
  return answer;
}

void fill_byte_array(Interpreter& in, const Value& self, const MakeArguments& a) {
  ByteArray* array = as_byte_array(self);
  byte_array_resize(in, array, 0);  // before anything else, as CPython
  const Value from = bytes_from_arguments(in, "bytearray", a);
  if (from.is(self)) return;
  byte_array_append(in, array, BytesLike(in, from, BytesLike::kCopyGaps));
}

Value byte_array_init(Interpreter& in, const Args& args) {
  fill_byte_array(in, args[0], {args[1], args[2], args[3]});
  return Value::none();
}

constexpr NativeDef kInitRows[] = {
    {"__init__(self, source=..., encoding: str = ..., errors: str = ...)", byte_array_init, ""}};

}  // namespace

Value make_bytes_from(Interpreter& in, Type* type, const Args& args) {
  const MakeArguments a = read_arguments(in, "bytes", args);
  Value from;
  if (a.encoding.is_undefined() && a.errors.is_undefined()) from = own_bytes(in, a.source);
  if (!from.is_undefined() && type == bytes_types(in).bytes) return from;  // of whatever class of bytes it is
  if (from.is_undefined()) from = bytes_from_arguments(in, "bytes", a);
  if (type == bytes_types(in).bytes && from.as_object()->type == type) return from;
  const BytesLike bytes(in, from, BytesLike::kCopyGaps);
  Bytes* made = new_bytes(in, bytes.view().size(), type);
  if (made->size != 0) std::memcpy(made->data(), bytes.view().data(), made->size);
  return Value::adopt(made);
}

Value make_byte_array_from(Interpreter& in, Type* type, const Args& args) {
  Value made = make_byte_array(in, {}, type);
  const Value& init = type_lookup(type, in.names->init);
  const bool script = init.is_object() && init.as_object()->kind == ObjectKind::Function;
  if (!script) fill_byte_array(in, made, read_arguments(in, "bytearray", args));
  return made;
}

Value bytes_alike(Interpreter& in, const Value& self, std::string_view bytes) {
  return is_bytes(self) ? make_bytes(in, bytes) : make_byte_array(in, bytes);
}

void bytes_slots(Interpreter& in, BytesTypes& types) {
  types.iterator = make_iterator_type(in);
  for (Type* type : {types.bytes, types.byte_array}) {
    TypeSlots& s = type->slots;
    s.repr = repr_slot;
    s.str = repr_slot;
    s.length = length_slot;
    s.compare = compare_slot;
    s.binary = binary_slot;
    s.get_item = get_item_slot;
    s.contains = contains_slot;
    s.iter = iter_slot;
  }
  types.bytes->slots.hash = hash_slot;
  TypeSlots& s = types.byte_array->slots;
  s.hash = nullptr;
  s.inplace = inplace_slot;
  s.set_item = set_item_slot;
  s.del_item = del_item_slot;
  add_rows(in, types.byte_array, kInitRows);
}

}  // namespace tessera::lang
