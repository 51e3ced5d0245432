// Strings: UTF-8 inside, code points outside.
//
// `length` counts code points; where it equals `size` the text is ASCII and position i is byte i. Other strings build a
// table of byte offsets (one for every 32 code points) the first time somebody asks for a position. The bytes stand behind
// the object or, after they have grown in place, in a block of their own with room to spare; a zero byte follows them.
//
// Invariant: the bytes are valid UTF-8, except that lone surrogates (U+D800..DFFF, from escapes) are encoded as if they
// were characters. Strings never change, with one exception: append_in_place() for a string that one owner holds.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "lang/core/object.h"
#include "lang/core/object_cast.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

struct Str : Object {
  static constexpr ObjectKind kKind = ObjectKind::Str;
  char* data = nullptr;
  uint32_t size = 0;            // bytes
  uint32_t length = 0;          // code points
  int64_t hash = 0;             // 0: not computed yet
  uint32_t inline_size = 0;     // bytes behind the object, for its allocation
  uint32_t capacity = 0;        // of the block of its own; 0: the bytes stand behind the object
  uint32_t* offsets = nullptr;  // byte offset of code point 32*i, built on first use; not ASCII only

  std::string_view view() const noexcept { return {data, size}; }
  bool is_ascii() const noexcept { return size == length; }
};

inline bool is_str(const Value& v) noexcept { return v.is_object() && v.as_object()->kind == ObjectKind::Str; }
inline Str* as_str(const Value& v) noexcept { return known_cast<Str>(v); }
inline std::string_view text_of(const Value& v) noexcept { return as_str(v)->view(); }

// Makes a string of valid UTF-8. Empty and one-character ASCII strings are shared.
Value make_str(Interpreter& in, std::string_view text);
// Of bytes from outside: what is not valid UTF-8 becomes U+FFFD.
Value make_str_lossy(Interpreter& in, std::string_view bytes);
// With the number of code points known.
Value make_str(Interpreter& in, std::string_view text, size_t length);
// The string itself, or the text of an object of a subclass as a string.
Value plain_str(Interpreter& in, const Value& text);
// A string whose bytes the caller fills in: `size` bytes that will hold `length` code points.
Str* new_str(Interpreter& in, size_t size, size_t length);
// One character; ASCII ones are shared.
Value char_str(Interpreter& in, uint32_t code_point);

int64_t hash_text(std::string_view text) noexcept;
inline int64_t str_hash(Str* s) noexcept {
  if (s->hash == 0) s->hash = hash_text(s->view());
  return s->hash;
}

// Short texts, as most keys of dicts are, take no call: up to 16 bytes are two words that may overlap.
inline bool same_bytes(const char* a, const char* b, size_t size) noexcept {
  const auto differ = [&](auto word) {
    decltype(word) first_a, first_b, last_a, last_b;
    std::memcpy(&first_a, a, sizeof word);
    std::memcpy(&first_b, b, sizeof word);
    std::memcpy(&last_a, a + size - sizeof word, sizeof word);
    std::memcpy(&last_b, b + size - sizeof word, sizeof word);
    return ((first_a ^ first_b) | (last_a ^ last_b)) != 0;
  };
  if (size > 16) return std::memcmp(a, b, size) == 0;
  if (size >= 8) return !differ(uint64_t{});
  if (size >= 4) return !differ(uint32_t{});
  for (size_t i = 0; i < size; ++i)
    if (a[i] != b[i]) return false;
  return true;
}
inline bool str_equal(const Str* a, const Str* b) noexcept {
  if (a == b) return true;
  if (a->size != b->size || (a->flags & b->flags & kInterned)) return false;
  return same_bytes(a->data, b->data, a->size);
}
// Order of code points, which is the order of UTF-8 bytes.
inline int str_compare(const Str* a, const Str* b) noexcept {
  const uint32_t n = a->size < b->size ? a->size : b->size;
  const int c = n == 0 ? 0 : std::memcmp(a->data, b->data, n);
  return c != 0 ? c : (a->size < b->size ? -1 : a->size > b->size);
}

// left + right. With `left_dying` (the caller's register is the only owner when the count is one) the left string grows in
// place, with twice the room it needs, so that a loop of s += t is linear. The answer may be the left object itself.
Value str_concat(Interpreter& in, Value&& left, const Str* right);
Value str_concat(Interpreter& in, const Str* left, const Str* right);
// Whether a string that its one owner gives up grows where it lies: in the room of its block, or, from a length on that is worth a
// block of its own, there.
bool grows_in_place(const Interpreter& in, const Str* left, const Str* right) noexcept;
bool append_in_place(Interpreter& in, Str* left, std::string_view right, size_t right_length);

// The byte where code point `index` (0 <= index <= length) begins.
uint32_t byte_offset(Interpreter& in, Str* s, uint32_t index);
// The code-point index of a byte offset that begins a character.
uint32_t char_index(const Str* s, uint32_t byte);
// s[index] for 0 <= index < length.
Value str_at(Interpreter& in, Str* s, uint32_t index);
// s[begin:end] for 0 <= begin <= end <= length.
Value str_slice(Interpreter& in, Str* s, uint32_t begin, uint32_t end);

// UTF-8, for text that is known to be valid.
uint32_t decode_char(const char*& p) noexcept;  // reads one, moves on
void append_char(std::string& out, uint32_t code_point);
size_t encode_char(char* out, uint32_t code_point) noexcept;  // up to four bytes; how many
size_t count_chars(std::string_view text) noexcept;
// The place `count` characters on, or before; so many must be there.
const char* skip_chars(const char* p, int64_t count) noexcept;
const char* skip_chars_back(const char* p, int64_t count) noexcept;
bool all_ascii(std::string_view text) noexcept;

// UnicodeEncodeError for a text with lone surrogates, which no file can take.
void check_encodable(Interpreter& in, const Value& text);

// repr('…') with CPython's choice of quotes and escapes. `ascii`: what is not ASCII is escaped.
std::string quote(std::string_view text, bool ascii = false);

}  // namespace tessera::lang
