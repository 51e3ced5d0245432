// Making, joining and indexing strings; their methods are in str_methods.cpp.
#include "lang/types/hash_key.h"
#include "lang/types/str.h"

#include "lang/core/error.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/types.h"
#include "lang/types/unicode.h"

namespace tessera::lang {
namespace {

constexpr size_t kLongest = 0xffff0000u;
constexpr uint32_t kOffsetStep = 32;
constexpr size_t kGrowInPlace = 128;  // shorter results are copied: a block of their own would cost more than it saves

[[noreturn, gnu::cold]] void throw_too_long() { throw Error(ErrorKind::MemoryError, std::string()); }
void check_size(size_t size) {
  if (size > kLongest) [[unlikely]]
    throw_too_long();
}

void drop_offsets(Interpreter& in, Str* s) noexcept {
  if (s->offsets == nullptr) return;
  in.deallocate(s->offsets, (s->length / kOffsetStep + 1) * sizeof(uint32_t));
  s->offsets = nullptr;
}

inline bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

void build_offsets(Interpreter& in, Str* s) {
  auto* table = static_cast<uint32_t*>(in.allocate((s->length / kOffsetStep + 1) * sizeof(uint32_t)));
  uint32_t chars = 0;
  for (uint32_t byte = 0; byte < s->size; ++byte) {
    if (is_continuation(s->data[byte])) continue;
    if (chars % kOffsetStep == 0) table[chars / kOffsetStep] = byte;
    ++chars;
  }
  if (chars % kOffsetStep == 0) table[chars / kOffsetStep] = s->size;
  s->offsets = table;
}

// new_str, repeated where most strings come from.
[[gnu::always_inline]] inline Str* new_str_here(Interpreter& in, size_t size, size_t length) {
  check_size(size);
  look_while_making(in.interrupt);
  // As make_object, for a type that lives as long as the interpreter and has no attributes.
  const size_t bytes = Heap::usable(sizeof(Str) + size + 1);
  Str* s = new (in.heap.allocate(bytes)) Str();
  s->refcount = 1;
  s->kind = ObjectKind::Str;
  s->flags = 0;
  s->aux = 0;
  s->type = in.types.str;
  s->data = reinterpret_cast<char*>(s) + sizeof(Str);
  s->data[size] = 0;
  s->size = static_cast<uint32_t>(size);
  s->length = static_cast<uint32_t>(length);
  s->inline_size = static_cast<uint32_t>(bytes - sizeof(Str));
  return s;
}

// The last bytes of a text, 1 to 7 of them, as a word whose other bytes are zero. Two loads that may overlap: bytes copied one by
// one to a word would be waited for by whoever loads it.
uint64_t last_word(const char* p, size_t n) noexcept {
  if (n >= 4) {
    uint32_t first, last;
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + n - 4, 4);
    return first | uint64_t{last} << (8 * (n - 4));
  }
  const auto byte = [p](size_t i) { return uint64_t{static_cast<unsigned char>(p[i])} << (8 * i); };
  return byte(0) | byte(n / 2) | byte(n - 1);
}

}  // namespace

Str* new_str(Interpreter& in, size_t size, size_t length) { return new_str_here(in, size, length); }

void destroy_str(Interpreter& in, Object* self) {
  Str* s = known_cast<Str>(self);
  if (s->offsets != nullptr) drop_offsets(in, s);
  if (s->capacity != 0) in.deallocate(s->data, s->capacity);
  free_object(in, s, s->inline_size);
}

Value make_str(Interpreter& in, std::string_view text, size_t length) {
  if (text.empty()) return in.shared->empty_str;
  if (text.size() <= 2 && length == 1) {
    const char* p = text.data();
    return char_str(in, decode_char(p));
  }
  Str* s = new_str_here(in, text.size(), length);
  Value made = Value::adopt(s);
  copy_in_pieces(in, s->data, text.data(), text.size());
  return made;
}

Value make_str(Interpreter& in, std::string_view text) { return make_str(in, text, count_chars(text)); }

Value plain_str(Interpreter& in, const Value& text) {
  if (text.as_object()->type == in.types.str) return text;
  return make_str(in, text_of(text), as_str(text)->length);
}

Value char_str(Interpreter& in, uint32_t cp) {
  if (cp < 128) return in.shared->chars[cp];
  char bytes[4];
  const size_t size = encode_char(bytes, cp);
  if (cp < 256) return Value(intern(in, {bytes, size}));  // shared, as those of ASCII
  Str* s = new_str(in, size, 1);
  std::memcpy(s->data, bytes, size);
  return Value::adopt(s);
}

Value make_str_lossy(Interpreter& in, std::string_view bytes) {
  if (all_ascii(bytes)) return make_str(in, bytes, bytes.size());
  std::string out;
  size_t i = 0;
  while (i < bytes.size()) {
    const unsigned char c = static_cast<unsigned char>(bytes[i]);
    const size_t n = c < 0x80                ? 1
                     : c >= 0xc2 && c < 0xe0 ? 2
                     : c >= 0xe0 && c < 0xf0 ? 3
                     : c >= 0xf0 && c < 0xf5 ? 4
                                             : 0;
    bool good = n != 0 && i + n <= bytes.size();
    for (size_t k = 1; good && k < n; ++k) good = is_continuation(bytes[i + k]);
    if (good && n > 2) {
      const unsigned char d = static_cast<unsigned char>(bytes[i + 1]);
      good = !(c == 0xe0 && d < 0xa0) && !(c == 0xed && d >= 0xa0) && !(c == 0xf0 && d < 0x90) &&
             !(c == 0xf4 && d >= 0x90);
    }
    if (good) {
      out.append(bytes.substr(i, n));
      i += n;
    } else {
      out += "\xef\xbf\xbd";
      ++i;
    }
  }
  return make_str(in, out);
}

// Eight bytes at a time through a 64x64->128 bit product whose halves are folded together.
int64_t hash_text(std::string_view text) noexcept {
  if (hash_is_keyed) [[unlikely]]
    return keyed_hash_text(text);
  auto mix = [](uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t h = 0x9e3779b97f4a7c15u ^ text.size();
  const char* p = text.data();
  size_t n = text.size();
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    h = mix(h ^ word, 0xd6e8feb86659fd93u);
  }
  uint64_t tail = 0;
  if (n != 0) tail = last_word(p, n);
  else if (text.empty()) return 0;  // as for CPython
  h = mix(h ^ tail, 0xa0761d6478bd642fu);
  const int64_t result = static_cast<int64_t>(h);
  return result == 0 || result == -1 ? 0x5bd1e995 : result;
}

bool append_in_place(Interpreter& in, Str* left, std::string_view right, size_t right_length) {
  const size_t size = left->size + right.size();
  check_size(size);
  const size_t room = left->capacity != 0 ? left->capacity : left->inline_size;
  if (size + 1 > room) {
    const size_t capacity = std::min(size * 2 + 1, kLongest + 1);
    char* data = static_cast<char*>(in.allocate(capacity));
    std::memcpy(data, left->data, left->size);
    std::memcpy(data + left->size, right.data(), right.size());
    drop_offsets(in, left);
    if (left->capacity != 0) in.deallocate(left->data, left->capacity);
    left->data = data;
    left->capacity = static_cast<uint32_t>(capacity);
  } else {
    std::memmove(left->data + left->size, right.data(), right.size());
    drop_offsets(in, left);
  }
  left->size = static_cast<uint32_t>(size);
  left->length += static_cast<uint32_t>(right_length);
  left->data[size] = 0;
  left->hash = 0;
  return true;
}

Value str_concat(Interpreter& in, const Str* left, const Str* right) {
  Str* s = new_str_here(in, size_t{left->size} + right->size, size_t{left->length} + right->length);
  Value made = Value::adopt(s);
  copy_in_pieces(in, s->data, left->data, left->size);
  copy_in_pieces(in, s->data + left->size, right->data, right->size);
  return made;
}

bool grows_in_place(const Interpreter& in, const Str* left, const Str* right) noexcept {
  const size_t size = size_t{left->size} + right->size;
  return left->refcount == 1 && left->type == in.types.str && !(left->flags & (kInterned | kImmortal)) &&
         (size >= kGrowInPlace || size < left->inline_size);
}

Value str_concat(Interpreter& in, Value&& left, const Str* right) {
  Str* s = as_str(left);
  if (right->size == 0 && s->type == in.types.str) return std::move(left);
  if (grows_in_place(in, s, right)) {
    append_in_place(in, s, right->view(), right->length);
    return std::move(left);
  }
  return str_concat(in, s, right);
}

uint32_t byte_offset(Interpreter& in, Str* s, uint32_t index) {
  if (s->is_ascii()) return index;
  if (index >= s->length) return s->size;
  if (s->offsets == nullptr) {
    if (index < kOffsetStep) {  // near the start: not worth a table
      return static_cast<uint32_t>(skip_chars(s->data, index) - s->data);
    }
    build_offsets(in, s);
  }
  const char* const near = s->data + s->offsets[index / kOffsetStep];
  return static_cast<uint32_t>(skip_chars(near, index % kOffsetStep) - s->data);
}

uint32_t char_index(const Str* s, uint32_t byte) {
  if (s->is_ascii()) return byte;
  return static_cast<uint32_t>(count_chars(s->view().substr(0, byte)));
}

Value str_at(Interpreter& in, Str* s, uint32_t index) {
  if (s->is_ascii()) return in.shared->chars[static_cast<unsigned char>(s->data[index])];
  const char* p = s->data + byte_offset(in, s, index);
  return char_str(in, decode_char(p));
}

Value str_slice(Interpreter& in, Str* s, uint32_t begin, uint32_t end) {
  if (begin == 0 && end == s->length && s->type == in.types.str) return Value(s);
  const uint32_t from = byte_offset(in, s, begin);
  const uint32_t to = byte_offset(in, s, end);
  return make_str(in, s->view().substr(from, to - from), end - begin);
}

uint32_t decode_char(const char*& p) noexcept {
  const auto* b = reinterpret_cast<const unsigned char*>(p);
  if (b[0] < 0x80) {
    p += 1;
    return b[0];
  }
  if (b[0] < 0xe0) {
    p += 2;
    return (b[0] & 0x1fu) << 6 | (b[1] & 0x3fu);
  }
  if (b[0] < 0xf0) {
    p += 3;
    return (b[0] & 0x0fu) << 12 | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu);
  }
  p += 4;
  return (b[0] & 0x07u) << 18 | (b[1] & 0x3fu) << 12 | (b[2] & 0x3fu) << 6 | (b[3] & 0x3fu);
}

size_t encode_char(char* out, uint32_t cp) noexcept {
  auto put = [out](size_t i, uint32_t byte) { out[i] = static_cast<char>(byte); };
  if (cp < 0x80) {
    put(0, cp);
    return 1;
  }
  if (cp < 0x800) {
    put(0, 0xc0 | cp >> 6);
    put(1, 0x80 | (cp & 0x3f));
    return 2;
  }
  if (cp < 0x10000) {
    put(0, 0xe0 | cp >> 12);
    put(1, 0x80 | (cp >> 6 & 0x3f));
    put(2, 0x80 | (cp & 0x3f));
    return 3;
  }
  put(0, 0xf0 | cp >> 18);
  put(1, 0x80 | (cp >> 12 & 0x3f));
  put(2, 0x80 | (cp >> 6 & 0x3f));
  put(3, 0x80 | (cp & 0x3f));
  return 4;
}

void append_char(std::string& out, uint32_t cp) {
  if (cp < 0x80) {
    out += static_cast<char>(cp);
    return;
  }
  char bytes[4];
  out.append(bytes, encode_char(bytes, cp));
}

const char* skip_chars(const char* p, int64_t count) noexcept {
  for (; count > 0; --count) {
    do ++p;
    while (is_continuation(*p));
  }
  return p;
}

const char* skip_chars_back(const char* p, int64_t count) noexcept {
  for (; count > 0; --count) {
    do --p;
    while (is_continuation(*p));
  }
  return p;
}

// Eight bytes at a time: a continuation byte has its highest bit set and the next one clear.
size_t count_chars(std::string_view text) noexcept {
  size_t continuations = 0, i = 0;
  const auto count = [&continuations](uint64_t word) {
    const uint64_t bits = (word >> 7) & ~(word >> 6) & 0x0101010101010101u;
    continuations += (bits * 0x0101010101010101u) >> 56;
  };
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    count(word);
  }
  if (i < text.size()) count(last_word(text.data() + i, text.size() - i));
  return text.size() - continuations;
}

bool all_ascii(std::string_view text) noexcept {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if (word & 0x8080808080808080u) return false;
  }
  if (i != 0 && i < text.size()) {  // the last eight, some of which have been looked at
    uint64_t word;
    std::memcpy(&word, text.data() + text.size() - 8, 8);
    return (word & 0x8080808080808080u) == 0;
  }
  for (; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 128) return false;
  }
  return true;
}

void check_encodable(Interpreter& in, const Value& text) {
  const Str* s = as_str(text);
  if (s->is_ascii()) return;
  auto is_surrogate = [s](size_t i) {
    return static_cast<unsigned char>(s->data[i]) == 0xed && static_cast<unsigned char>(s->data[i + 1]) >= 0xa0;
  };
  for (size_t i = 0; i < s->size; ++i) {
    if (!is_surrogate(i)) continue;
    size_t end = i;
    while (end < s->size && is_surrogate(end)) end += 3;
    const int64_t first = char_index(s, static_cast<uint32_t>(i));
    const int64_t last = first + static_cast<int64_t>(end - i) / 3;
    const Value error_class(error_type(in, ErrorKind::UnicodeEncodeError));
    throw Thrown(call(in, error_class,
                      {make_str(in, "utf-8"), text, Value::integer(first), Value::integer(last),
                       make_str(in, "surrogates not allowed")}));
  }
}

std::string quote(std::string_view text, bool ascii) {
  const bool doubled = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char mark = doubled ? '"' : '\'';
  std::string out;
  out.reserve(text.size() + 2);
  out += mark;
  char buffer[16];
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    const char* const start = p;
    while (p < end && *p >= 0x20 && *p < 0x7f && *p != mark && *p != '\\') ++p;
    if (p != start) {
      out.append(start, p);
      continue;
    }
    const uint32_t cp = decode_char(p);
    if (cp == static_cast<unsigned char>(mark) || cp == '\\') {
      out += '\\';
      out += static_cast<char>(cp);
    } else if (cp == '\t' || cp == '\n' || cp == '\r') {
      out += cp == '\t' ? "\\t" : cp == '\n' ? "\\n" : "\\r";
    } else if (!ascii && cp >= 0x80 && unicode::is(cp, unicode::kPrintable)) {
      out.append(start, p);
    } else {
      std::snprintf(buffer, sizeof buffer, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
      out += buffer;
    }
  }
  out += mark;
  return out;
}

void InternTable::make_room() {
  if (count_ < (mask_ + 1) / 3 * 2) return;
  InternTable larger(2 * (mask_ + 1));
  for_each([&](Str* s) { larger.insert(s); });
  *this = std::move(larger);
}

Str* intern(Interpreter& in, std::string_view text) {
  InternTable& table = in.shared->interned;
  const int64_t hash = hash_text(text);
  if (Str* const found = table.find(text, hash)) return found;
  table.make_room();
  Str* s;
  if (text.size() == 1 && static_cast<unsigned char>(text[0]) < 128 && in.shared->chars[0].is_object()) {
    s = as_str(in.shared->chars[static_cast<unsigned char>(text[0])]);
    ++s->refcount;
  } else if (text.empty() && in.shared->empty_str.is_object()) {
    s = as_str(in.shared->empty_str);
    ++s->refcount;
  } else {
    s = new_str(in, text.size(), count_chars(text));
    std::memcpy(s->data, text.data(), text.size());
  }
  s->flags |= kInterned;
  s->hash = hash;
  table.insert(s);
  return s;
}

}  // namespace tessera::lang
