// bytes, bytearray and memoryview.
//
// A bytes object is a header with its bytes behind it; a bytearray owns a block that grows; a memoryview refers to what
// another object holds and keeps that from moving. The three types and their methods are made when a script first names
// one of them or a native first makes one: programs that touch no bytes do not pay for them.
//
// What gives its memory to others (a `Buffer`) counts its takers in `exports`, and refuses to change its size meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/core/make_object.h"
#include "lang/core/object.h"
#include "lang/core/object_cast.h"
#include "lang/core/value.h"
#include "lang/types/types.h"

namespace tessera::lang {

struct Bytes : Object {
  int64_t hash = 0;  // 0: not computed yet
  size_t size = 0;

  char* data() noexcept { return reinterpret_cast<char*>(this) + type->instance_size; }
  std::string_view view() noexcept { return {data(), size}; }
};

struct ByteArray : Object {
  char* data = nullptr;
  size_t size = 0, capacity = 0;
  uint32_t exports = 0;

  std::string_view view() const noexcept { return {data, size}; }
};

// The format of a buffer's items, in the letters of the struct module. An item whose format has more than one letter ("Zd", "2w") can be
// copied, but not converted to a value.
struct ItemFormat {
  const char* text = "B";  // up to a null; it lasts as long as the memory is held

  ItemFormat() = default;
  ItemFormat(char letter, bool is_native = false) noexcept;  // native: behind '@'
  explicit ItemFormat(const char* lasting) noexcept : text(lasting) {}
  bool operator==(const ItemFormat& other) const noexcept { return std::string_view(text) == other.text; }
  // The letter, which may stand behind '@'; 0: there are several.
  char letter() const noexcept {
    const char* const first = text + (text[0] == '@');
    return first[0] != 0 && first[1] == 0 ? first[0] : 0;
  }
};

// Memory of an object, one item behind the other.
struct Buffer {
  char* data = nullptr;
  size_t size = 0;  // in bytes
  bool readonly = true;
  ItemFormat format;
  uint32_t item_size = 1;
  uint32_t* exports = nullptr;  // null: it never moves
  // Holds the memory, where the object itself may let go of it. A memoryview: the object stands for it, and views of it are views of that.
  Value keeper;
};

// Where the items of a buffer lie if it has several dimensions, or gaps. Strides are in bytes.
struct BufferLayout {
  std::vector<int64_t> shape, strides;
  bool given = false;  // false: one dimension without gaps
};

struct MemoryView : GcObject {
  Value owner;   // Undefined: released
  Value keeper;  // see Buffer
  char* data = nullptr;
  ItemFormat format;
  bool readonly = true;
  uint32_t item_size = 1;
  uint32_t exports = 0;                 // views of this view
  uint32_t* pinned = nullptr;           // the owner's count
  std::vector<int64_t> shape, strides;  // strides in bytes
  int64_t hash = 0;

  int64_t items() const noexcept;
  bool contiguous() const noexcept;
  bool column_contiguous() const noexcept;
};

// False: the value has no memory to show. Runs no script. If `layout` is null, the memory has to be without gaps: BufferError.
using BufferSource = bool (*)(Interpreter& in, const Value& value, Buffer& out, BufferLayout* layout);

struct BytesTypes {
  Type *bytes, *byte_array, *memory_view, *iterator;
  struct Source {
    const char* layout;
    BufferSource get;
  };
  std::vector<Source> sources;  // other objects with memory to show: array.array
};

BytesTypes& make_bytes_types(Interpreter& in);
inline BytesTypes& bytes_types(Interpreter& in) {
  return in.shared->bytes != nullptr ? *in.shared->bytes : make_bytes_types(in);
}
// The class that a builtin name stands for, or Undefined: `bytes`, `bytearray`, `memoryview`.
Value bytes_builtin(Interpreter& in, const Str* name);
// Objects of this layout (TypeSlots::layout) have memory to show.
void add_buffer_source(Interpreter& in, const char* layout, BufferSource get);

inline constexpr char kBytesLayout[] = "bytes", kByteArrayLayout[] = "bytearray", kMemoryViewLayout[] = "memoryview";
void destroy_memory_view(Interpreter& in, Object* self);
inline bool is_bytes(const Value& v) noexcept { return has_layout(v, kBytesLayout); }
inline bool is_byte_array(const Value& v) noexcept { return has_layout(v, kByteArrayLayout); }
inline bool is_memory_view(const Value& v) noexcept { return has_layout(v, kMemoryViewLayout); }
inline Bytes* as_bytes(const Value& v) noexcept { return known_cast<Bytes>(v); }
inline ByteArray* as_byte_array(const Value& v) noexcept { return known_cast<ByteArray>(v); }
inline MemoryView* as_memory_view(const Value& v) noexcept { return known_cast<MemoryView>(v); }

// Of a bytes or bytearray.
inline std::string_view bytes_of(const Value& v) noexcept {
  return is_bytes(v) ? as_bytes(v)->view() : as_byte_array(v)->view();
}

Value make_bytes(Interpreter& in, std::string_view bytes);
Bytes* new_bytes(Interpreter& in, size_t size, Type* type = nullptr);  // to be filled in
Value make_byte_array(Interpreter& in, std::string_view bytes, Type* type = nullptr);
void byte_array_resize(Interpreter& in, ByteArray* array,
                       size_t size);  // new bytes are zero; BufferError when exported
void byte_array_append(Interpreter& in, ByteArray* array, std::string_view bytes);
void check_resizable(const ByteArray* array);

// The memory of a bytes-like object; false: it is none. If `layout` is null, memory with gaps raises BufferError (ValueError for
// arrays of NumPy).
bool find_buffer(Interpreter& in, const Value& value, Buffer& out, BufferLayout* layout = nullptr);
// The same without an error: false if it is readonly or has gaps.
bool find_writable(Interpreter& in, const Value& value, Buffer& out);
bool is_bytes_like(Interpreter& in, const Value& value);
bool is_bytes_without_gaps(Interpreter& in, const Value& value);
bool lies_in_rows(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, int64_t item_size) noexcept;

// The bytes of a bytes-like object; "a bytes-like object is required, not 'str'". Its owner lives and may not change its size meanwhile,
// whatever scripts run. The view ends with it: scripts/lint refuses a view of a temporary.
class BytesLike {
 public:
  enum Gaps { kRefuseGaps, kCopyGaps };
  BytesLike(Interpreter& in, const Value& value, Gaps gaps = kRefuseGaps) : owner_(value) {
    if (is_bytes(value)) [[likely]] view_ = as_bytes(value)->view();
    else pin(in, gaps);
  }
  ~BytesLike() {
    if (exports_ != nullptr) --*exports_;
  }
  BytesLike(const BytesLike&) = delete;
  BytesLike& operator=(const BytesLike&) = delete;
  std::string_view view() const noexcept { return view_; }
  operator std::string_view() const noexcept { return view_; }

 private:
  void pin(Interpreter& in, Gaps gaps);

  Value owner_, keeper_;
  std::string_view view_;
  uint32_t* exports_ = nullptr;
};

// The same for memory that may be written: "a read-write bytes-like object is required".
class PinnedBuffer {
 public:
  PinnedBuffer(Interpreter& in, const Value& value, bool writable);
  ~PinnedBuffer();
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  const Buffer& get() const noexcept { return buffer_; }
  std::string_view view() const noexcept { return {buffer_.data, buffer_.size}; }

 private:
  Value owner_;
  Buffer buffer_;
};

Value make_memory_view(Interpreter& in, const Value& owner);
Value memory_view_bytes(Interpreter& in, const MemoryView* view, bool by_columns = false);
// One item by its format letter (native sizes), and the width of one; 0: unknown. The items of views have no 'e'.
uint32_t format_width(char format) noexcept;
Value load_item(Interpreter& in, char format, const char* from);
void store_item(Interpreter& in, char format, const Value& value, char* to);

// A byte from an int-like: ValueError with these words when it is out of range.
unsigned char byte_value(Interpreter& in, const Value& value,
                         const char* out_of_range = "byte must be in range(0, 256)");
bool is_index(Interpreter& in, const Value& value);
std::string quote_bytes(std::string_view bytes);
// Hexadecimal digits with a separator (Undefined: none) between groups of bytes.
std::string hex_text(Interpreter& in, std::string_view bytes, const Value& separator, int64_t group);

}  // namespace tessera::lang
