// The memory of bytes and bytearray, what counts as bytes-like, and how the types come into being.
#include "lang/types/bytes.h"

#include <algorithm>
#include <cstring>

#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/types/bytes_parts.h"
#include "lang/types/dict.h"
#include "lang/types/number.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"

namespace tessera::lang {
namespace {

constexpr size_t kLongest = size_t{1} << 62;

void destroy_bytes(Interpreter& in, Object* self) {
  Bytes* b = known_cast<Bytes>(self);
  free_object(in, b, b->size + 1);
}

void destroy_byte_array(Interpreter& in, Object* self) {
  ByteArray* a = known_cast<ByteArray>(self);
  if (a->data != nullptr) in.deallocate(a->data, a->capacity);
  free_object(in, a);
}

// Each is called as its layout.
template <class T>
Type* make_type(Interpreter& in, const char* layout, void (*destroy)(Interpreter&, Object*), uint32_t flags) {
  NativeTypeSpec spec;
  spec.name = layout;
  spec.module = "builtins";
  spec.size = sizeof(T);
  spec.flags = flags;
  Type* type = in.new_type(spec);
  type->slots.layout = layout;
  type->slots.destroy = destroy;
  return type;
}

void fill_bytes_type(Interpreter& in, Type* type) {
  const bool is_array = type == in.shared->bytes->byte_array;
  bytes_search_methods(in, type);
  bytes_text_methods(in, type);
  if (is_array) byte_array_methods(in, type);
  slot_methods(in, type);
  if (is_array) dict_set_str(in, type->attributes(), in.names->hash, Value::none());
}

}  // namespace

BytesTypes& make_bytes_types(Interpreter& in) {
  BytesTypes& types = *(in.shared->bytes = new BytesTypes());
  types.bytes = make_type<Bytes>(in, kBytesLayout, destroy_bytes, 0);
  types.byte_array = make_type<ByteArray>(in, kByteArrayLayout, destroy_byte_array, 0);
  types.memory_view = make_type<MemoryView>(in, kMemoryViewLayout, destroy_memory_view, kFinalType | kMatchesSequence);
  bytes_slots(in, types);
  types.bytes->make = make_bytes_from;
  types.byte_array->make = make_byte_array_from;
  for (Type* type : {types.bytes, types.byte_array}) type->fill_later(fill_bytes_type);
  fill_memory_view_slots(types.memory_view);
  return types;
}

Value bytes_builtin(Interpreter& in, const Str* name) {
  const std::string_view text = name->view();
  if (text == "bytes") return Value(bytes_types(in).bytes);
  if (text == "bytearray") return Value(bytes_types(in).byte_array);
  if (text == "memoryview") return Value(bytes_types(in).memory_view);
  return Value();
}

void add_buffer_source(Interpreter& in, const char* layout, BufferSource get) {
  bytes_types(in).sources.push_back({layout, get});
}

// --- memory

Bytes* new_bytes(Interpreter& in, size_t size, Type* type) {
  constexpr size_t kHead = 33;  // of CPython's object
  if (size > size_t{INT64_MAX} - kHead) throw Error(ErrorKind::OverflowError, "byte string is too large");
  if (size > kLongest) throw Error(ErrorKind::MemoryError, std::string());
  Bytes* b = make_object<Bytes>(in, type != nullptr ? type : bytes_types(in).bytes, size + 1);
  b->size = size;
  b->data()[size] = 0;
  return b;
}

Value make_bytes(Interpreter& in, std::string_view bytes) {
  Bytes* b = new_bytes(in, bytes.size());
  Value made = Value::adopt(b);
  copy_in_pieces(in, b->data(), bytes.data(), bytes.size());
  return made;
}

Value make_byte_array(Interpreter& in, std::string_view bytes, Type* type) {
  Value made = Value::adopt(make_object<ByteArray>(in, type != nullptr ? type : bytes_types(in).byte_array));
  byte_array_append(in, as_byte_array(made), bytes);
  return made;
}

void check_resizable(const ByteArray* array) {
  if (array->exports != 0) throw Error(ErrorKind::BufferError, "Existing exports of data: object cannot be re-sized");
}

void byte_array_resize(Interpreter& in, ByteArray* array, size_t size) {
  if (size == array->size) return;
  check_resizable(array);
  if (size > kLongest) throw Error(ErrorKind::MemoryError, std::string());
  if (size > array->capacity || size < array->capacity / 4) {
    const size_t capacity = size > array->size ? size + size / 8 + 16 : size + 16;
    array->data = static_cast<char*>(in.reallocate(array->data, array->capacity, capacity));
    array->capacity = capacity;
  }
  if (size > array->size) std::memset(array->data + array->size, 0, size - array->size);
  array->size = size;
}

void byte_array_append(Interpreter& in, ByteArray* array, std::string_view bytes) {
  if (bytes.empty()) return;
  const size_t old = array->size;
  // Its own bytes may be what is appended, and move.
  const bool inside = bytes.data() >= array->data && bytes.data() < array->data + old;
  const size_t at = inside ? static_cast<size_t>(bytes.data() - array->data) : 0;
  byte_array_resize(in, array, old + bytes.size());
  std::memmove(array->data + old, inside ? array->data + at : bytes.data(), bytes.size());
}

// --- bytes-like

namespace {

bool find_view(MemoryView* view, Buffer& out, BufferLayout* layout) {
  if (view->owner.is_undefined())
    throw Error(ErrorKind::ValueError, "operation forbidden on released memoryview object");
  if (layout != nullptr) {
    layout->shape = view->shape;
    layout->strides = view->strides;
    layout->given = true;
  } else if (!view->contiguous()) {
    throw Error(ErrorKind::BufferError, "memoryview: underlying buffer is not C-contiguous");
  }
  out.data = view->data;
  out.size = static_cast<size_t>(view->items()) * view->item_size;
  out.readonly = view->readonly;
  out.format = view->format;
  out.item_size = view->item_size;
  out.exports = &view->exports;
  return true;
}

}  // namespace

bool find_buffer(Interpreter& in, const Value& value, Buffer& out, BufferLayout* layout) {
  if (!value.is_object()) return false;
  const char* const name = value.as_object()->type->slots.layout;
  if (name == nullptr) return false;
  if (name == kBytesLayout) {
    out.data = as_bytes(value)->data();
    out.size = as_bytes(value)->size;
    return true;
  }
  if (name == kByteArrayLayout) {
    ByteArray* a = as_byte_array(value);
    out.data = a->data;
    out.size = a->size;
    out.readonly = false;
    out.exports = &a->exports;
    return true;
  }
  if (name == kMemoryViewLayout) return find_view(as_memory_view(value), out, layout);
  if (in.shared->bytes == nullptr) return false;
  for (const BytesTypes::Source& source : in.shared->bytes->sources) {
    if (source.layout == name) return source.get(in, value, out, layout);
  }
  return false;
}

bool lies_in_rows(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, int64_t item_size) noexcept {
  // CPython asks the stride of a single dimension even if there is no item: an empty slice with a step has gaps.
  if (shape.size() == 1) return shape[0] == 1 || strides[0] == item_size;
  for (const int64_t size : shape)
    if (size == 0) return true;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] > 1 && strides[i] != item_size) return false;
    item_size *= shape[i];
  }
  return true;
}

namespace {

bool has_gaps(const Buffer& buffer, const BufferLayout& layout) {
  return layout.given && !lies_in_rows(layout.shape, layout.strides, buffer.item_size);
}

}  // namespace

bool find_writable(Interpreter& in, const Value& value, Buffer& out) {
  BufferLayout layout;
  return find_buffer(in, value, out, &layout) && !out.readonly && !has_gaps(out, layout);
}

bool is_bytes_like(Interpreter& in, const Value& value) {
  if (is_bytes(value) || is_byte_array(value)) [[likely]]
    return true;
  Buffer buffer;
  BufferLayout layout;
  return find_buffer(in, value, buffer, &layout);
}

bool is_bytes_without_gaps(Interpreter& in, const Value& value) {
  if (is_bytes(value) || is_byte_array(value)) [[likely]]
    return true;
  Buffer buffer;
  BufferLayout layout;
  return find_buffer(in, value, buffer, &layout) && !has_gaps(buffer, layout);
}

void BytesLike::pin(Interpreter& in, Gaps gaps) {
  if (gaps == kCopyGaps && is_bytes_like(in, owner_) && !is_bytes_without_gaps(in, owner_)) {
    owner_ = memory_view_bytes(in, as_memory_view(make_memory_view(in, owner_)));
    view_ = as_bytes(owner_)->view();
    return;
  }
  Buffer buffer;
  if (!find_buffer(in, owner_, buffer)) {
    throw Error(ErrorKind::TypeError,
                "a bytes-like object is required, not '" + std::string(type_name(in, owner_)) + "'");
  }
  view_ = {buffer.data, buffer.size};
  keeper_ = std::move(buffer.keeper);
  exports_ = buffer.exports;
  if (exports_ != nullptr) ++*exports_;
}

PinnedBuffer::PinnedBuffer(Interpreter& in, const Value& value, bool writable) : owner_(value) {
  if (!find_buffer(in, value, buffer_)) {
    throw Error(ErrorKind::TypeError,
                "a bytes-like object is required, not '" + std::string(type_name(in, value)) + "'");
  }
  if (writable && buffer_.readonly) {
    throw Error(ErrorKind::TypeError,
                "a read-write bytes-like object is required, not '" + std::string(type_name(in, value)) + "'");
  }
  if (buffer_.exports != nullptr) ++*buffer_.exports;
}

PinnedBuffer::~PinnedBuffer() {
  if (buffer_.exports != nullptr) --*buffer_.exports;
}

// --- small steps

bool is_index(Interpreter& in, const Value& value) {
  const Value plain = unboxed(value);
  if (plain.is_int() || plain.is_bool()) return true;
  return value.is_object() && !type_lookup(value.as_object()->type, in.names->index).is_undefined();
}

unsigned char byte_value(Interpreter& in, const Value& value, const char* out_of_range) {
  const Value byte = value.is_int() ? value : whole_index(in, value);
  if (!byte.is_int() || byte.as_int() < 0 || byte.as_int() > 255) throw Error(ErrorKind::ValueError, out_of_range);
  return static_cast<unsigned char>(byte.as_int());
}

std::string quote_bytes(std::string_view bytes) {
  const bool doubled = bytes.find('\'') != bytes.npos && bytes.find('"') == bytes.npos;
  const char mark = doubled ? '"' : '\'';
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out = "b";
  out.reserve(bytes.size() + 3);
  out += mark;
  for (const char c : bytes) {
    const unsigned char u = static_cast<unsigned char>(c);
    if (c == mark || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\t' || c == '\n' || c == '\r') {
      out += c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\r";
    } else if (u < 0x20 || u >= 0x7f) {
      out += "\\x";
      out += kDigits[u >> 4];
      out += kDigits[u & 15];
    } else {
      out += c;
    }
  }
  return out += mark;
}

}  // namespace tessera::lang
