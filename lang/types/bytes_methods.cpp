// bytes and bytearray: joining, padding, case, translating, hexadecimal text, decoding; what changes a bytearray.
// compile: small (bytes are rare in inner loops)
#include <algorithm>
#include <array>
#include <cstring>

#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/booking.h"
#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes_parts.h"
#include "lang/types/codec.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/sequence.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

using Byte = unsigned char;

std::string_view self_of(const Args& args) { return bytes_of(args[0]); }
ByteArray* array_of(const Args& args) { return as_byte_array(args[0]); }

bool is_lower(Byte c) { return c >= 'a' && c <= 'z'; }
bool is_upper(Byte c) { return c >= 'A' && c <= 'Z'; }
bool is_alpha(Byte c) { return is_lower(c) || is_upper(c); }
bool is_digit(Byte c) { return c >= '0' && c <= '9'; }
bool is_alnum(Byte c) { return is_alpha(c) || is_digit(c); }
bool is_space(Byte c) { return c == ' ' || (c >= 9 && c <= 13); }
bool is_ascii_byte(Byte c) { return c < 128; }
char lower(char c) { return is_upper(static_cast<Byte>(c)) ? static_cast<char>(c + 32) : c; }
char upper(char c) { return is_lower(static_cast<Byte>(c)) ? static_cast<char>(c - 32) : c; }

template <bool (*kIs)(Byte)>
Value all_are(Interpreter&, const Args& args) {
  const std::string_view text = self_of(args);
  return Value::boolean(!text.empty() &&
                        std::all_of(text.begin(), text.end(), [](char c) { return kIs(static_cast<Byte>(c)); }));
}
Value isascii(Interpreter&, const Args& args) {
  const std::string_view text = self_of(args);
  return Value::boolean(
      std::all_of(text.begin(), text.end(), [](char c) { return is_ascii_byte(static_cast<Byte>(c)); }));
}
template <bool (*kIs)(Byte), bool (*kIsNot)(Byte)>
Value cased(Interpreter&, const Args& args) {
  bool found = false;
  for (const char c : self_of(args)) {
    if (kIsNot(static_cast<Byte>(c))) return Value::boolean(false);
    found = found || kIs(static_cast<Byte>(c));
  }
  return Value::boolean(found);
}
Value istitle(Interpreter&, const Args& args) {
  bool found = false, inside = false;
  for (const char c : self_of(args)) {
    const Byte b = static_cast<Byte>(c);
    if (is_upper(b) ? inside : is_lower(b) && !inside) return Value::boolean(false);
    inside = is_alpha(b);
    found = found || inside;
  }
  return Value::boolean(found);
}

template <class F>
Value mapped(Interpreter& in, const Args& args, F&& f) {
  std::string out(self_of(args));
  for (char& c : out) c = f(c);
  return bytes_alike(in, args[0], out);
}
Value lower_method(Interpreter& in, const Args& args) { return mapped(in, args, lower); }
Value upper_method(Interpreter& in, const Args& args) { return mapped(in, args, upper); }
Value swapcase(Interpreter& in, const Args& args) {
  return mapped(in, args, [](char c) { return is_lower(static_cast<Byte>(c)) ? upper(c) : lower(c); });
}
Value capitalize(Interpreter& in, const Args& args) {
  bool first = true;
  return mapped(in, args, [&](char c) { return std::exchange(first, false) ? upper(c) : lower(c); });
}
Value title(Interpreter& in, const Args& args) {
  bool inside = false;
  return mapped(in, args, [&](char c) {
    const char changed = inside ? lower(c) : upper(c);
    inside = is_alpha(static_cast<Byte>(c));
    return changed;
  });
}

// --- padding

char fill_of(Interpreter& in, const Value& fill, const char* name) {
  if ((is_bytes(fill) || is_byte_array(fill)) && bytes_of(fill).size() == 1) return bytes_of(fill)[0];
  throw_error(ErrorKind::TypeError, "%s() argument 2 must be a byte string of length 1, not %s", name,
              fill.is_none() ? "None" : std::string(type_name(in, fill)).c_str());
}

Value padded(Interpreter& in, const Args& args, int64_t left, int64_t right, char fill) {
  left = std::max<int64_t>(left, 0), right = std::max<int64_t>(right, 0);
  const std::string_view text = self_of(args);
  if (!is_bytes(args[0]) && left + right > (int64_t{1} << 40)) throw Error(ErrorKind::MemoryError, std::string());
  Bytes* out = new_bytes(in, static_cast<size_t>(left + right) + text.size());
  Value made = Value::adopt(out);
  std::memset(out->data(), fill, static_cast<size_t>(left));
  text.copy(out->data() + left, text.size());  // an empty text may have no address
  std::memset(out->data() + static_cast<size_t>(left) + text.size(), fill, static_cast<size_t>(right));
  return is_bytes(args[0]) ? made : make_byte_array(in, out->view());
}
// How many bytes a text lacks of the width; a negative width is compared, since the difference could overflow.
int64_t missing(const Args& args) {
  const auto size = static_cast<int64_t>(self_of(args).size());
  return std::max(args[1].as_int(), size) - size;
}
Value ljust(Interpreter& in, const Args& args) {
  return padded(in, args, 0, missing(args), fill_of(in, args[2], "ljust"));
}
Value rjust(Interpreter& in, const Args& args) {
  return padded(in, args, missing(args), 0, fill_of(in, args[2], "rjust"));
}
Value center(Interpreter& in, const Args& args) {
  const int64_t room = missing(args), left = room <= 0 ? 0 : room / 2 + (room & args[1].as_int() & 1);
  return padded(in, args, left, room - left, fill_of(in, args[2], "center"));
}
Value zfill(Interpreter& in, const Args& args) {
  Value made = padded(in, args, missing(args), 0, '0');
  const std::string_view text = self_of(args);
  const int64_t room = missing(args);
  if (room > 0 && !text.empty() && (text[0] == '+' || text[0] == '-')) {
    char* data = is_bytes(made) ? as_bytes(made)->data() : as_byte_array(made)->data;
    std::swap(data[0], data[room]);
  }
  return made;
}

Value expandtabs(Interpreter& in, const Args& args) {
  const int64_t tab = whole_to_int(args[1]);
  std::string out;
  Booking booked;
  int64_t column = 0;
  for (const char c : self_of(args)) {
    if (c == '\t') {
      const int64_t n = tab > 0 ? tab - column % tab : 0;
      in.poll();
      booked.cover(in.heap, out.size() + static_cast<size_t>(n));
      out.append(static_cast<size_t>(n), ' ');
      column += n;
      continue;
    }
    out += c;
    column = c == '\n' || c == '\r' ? 0 : column + 1;
  }
  return bytes_alike(in, args[0], out);
}

// --- joining, translating

Value join(Interpreter& in, const Args& args) {
  const Value items = list_from(in, iterable_to_join(in, args[1]));  // an iterator's length is asked, as for str
  const std::string separator(self_of(args));
  const List* list = as_list(items);
  size_t size = list->size == 0 ? 0 : separator.size() * (list->size - 1);
  for (uint32_t i = 0; i < list->size; ++i) {
    if (!is_bytes_without_gaps(in, (*list)[i])) {
      throw_error(ErrorKind::TypeError, "sequence item %u: expected a bytes-like object, %s found", i,
                  std::string(type_name(in, (*list)[i])).c_str());
    }
    size += BytesLike(in, (*list)[i]).view().size();
  }
  Bytes* out = new_bytes(in, size);
  Value made = Value::adopt(out);
  char* p = out->data();
  for (uint32_t i = 0; i < list->size; ++i) {
    if (i != 0) p = std::copy(separator.begin(), separator.end(), p);
    const BytesLike item(in, (*list)[i]);
    p = std::copy(item.view().begin(), item.view().end(), p);
  }
  return is_bytes(args[0]) ? made : make_byte_array(in, out->view());
}

Value maketrans(Interpreter& in, const Args& args) {
  const BytesLike from(in, args[0]), to(in, args[1]);
  if (from.view().size() != to.view().size())
    throw Error(ErrorKind::ValueError, "maketrans arguments must have same length");
  Bytes* table = new_bytes(in, 256);
  for (int i = 0; i < 256; ++i) table->data()[i] = static_cast<char>(i);
  for (size_t i = 0; i < from.view().size(); ++i) table->data()[static_cast<Byte>(from.view()[i])] = to.view()[i];
  return Value::adopt(table);
}

Value translate(Interpreter& in, const Args& args) {
  std::string table;
  if (!args[1].is_none()) {
    table = BytesLike(in, args[1]).view();
    if (table.size() != 256) throw Error(ErrorKind::ValueError, "translation table must be 256 characters long");
  }
  std::array<bool, 256> gone{};
  if (!args[2].is_undefined()) {
    const BytesLike unwanted(in, args[2]);
    for (const char c : unwanted.view()) gone[static_cast<Byte>(c)] = true;
  }
  std::string out;
  Booking booked;
  booked.cover(in.heap, self_of(args).size());
  out.reserve(self_of(args).size());
  for (const char c : self_of(args)) {
    constexpr size_t kPiece = 1 << 16;
    if (out.size() % kPiece == 0) in.check_stop();
    if (!gone[static_cast<Byte>(c)]) out += table.empty() ? c : table[static_cast<Byte>(c)];
  }
  return bytes_alike(in, args[0], out);
}

// --- text

Value decode(Interpreter& in, const Args& args) {
  return decode_text(in, self_of(args), text_of(args[1]), text_of(args[2]));
}

int digit_of(char c) {
  if (is_digit(static_cast<Byte>(c))) return c - '0';
  const char low = lower(c);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

Value fromhex(Interpreter& in, const Args& args) {
  const std::string_view text = text_of(args[1]);
  const auto wrong_at = [&](size_t at) {
    throw_error(ErrorKind::ValueError, "non-hexadecimal number found in fromhex() arg at position %zu", count_chars(text.substr(0, at)));
  };
  const auto foreign = std::find_if(text.begin(), text.end(), [](char c) { return static_cast<Byte>(c) >= 0x80; });
  if (foreign != text.end()) wrong_at(static_cast<size_t>(foreign - text.begin()));
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (is_space(static_cast<Byte>(text[i]))) {
      ++i;
      continue;
    }
    const int high = digit_of(text[i]), low = high < 0 || i + 1 >= text.size() ? -1 : digit_of(text[i + 1]);
    if (low < 0) wrong_at(high < 0 ? i : i + 1);
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  Type* const type = object_cast<Type>(args[0]);
  const bool fixed = type->slots.layout == kBytesLayout;
  const Value plain = fixed ? make_bytes(in, out) : make_byte_array(in, out);
  return type == (fixed ? bytes_types(in).bytes : bytes_types(in).byte_array) ? plain : call(in, args[0], {plain});
}

}  // namespace

// The digits with a separator between groups.
std::string hex_text(Interpreter& in, std::string_view bytes, const Value& separator, int64_t group) {
  std::string mark;
  if (!separator.is_undefined()) {
    if (length(in, separator) != 1) throw Error(ErrorKind::ValueError, "sep must be length 1.");
    if (!is_str(separator) && !is_bytes(separator)) throw Error(ErrorKind::TypeError, "sep must be str or bytes.");
    mark = is_str(separator) ? text_of(separator) : bytes_of(separator);
    if (static_cast<Byte>(mark[0]) > 127) throw Error(ErrorKind::ValueError, "sep must be ASCII.");
  }
  const size_t width = static_cast<size_t>(group < 0 ? -group : group), size = bytes.size();
  std::string out;
  out.reserve(size * 2);
  for (size_t i = 0; i < size; ++i) {
    const size_t counted = group < 0 ? i : size - i;  // groups are counted from the end, negative ones from the begin
    if (i != 0 && width != 0 && !mark.empty() && counted % width == 0) out += mark;
    out += "0123456789abcdef"[static_cast<Byte>(bytes[i]) >> 4];
    out += "0123456789abcdef"[static_cast<Byte>(bytes[i]) & 15];
  }
  return out;
}

namespace {

Value hex(Interpreter& in, const Args& args) {
  return make_str(in, hex_text(in, BytesLike(in, args[0]).view(), args[1], args[2].as_int()));
}

Value plain_bytes(Interpreter& in, const Args& args) {
  return args[0].as_object()->type == bytes_types(in).bytes ? args[0] : make_bytes(in, self_of(args));
}
Value new_arguments(Interpreter& in, const Args& args) { return make_tuple(in, {make_bytes(in, self_of(args))}); }

constexpr NativeDef kTextRows[] = {
    {"join(self, iterable_of_bytes, /)", join, "Concatenate any number of bytes objects, with this one between."},
    {"zfill(self, width: int, /)", zfill, "Pad a number with zeros on the left."},
    {"expandtabs(self, /, tabsize: cint = 8)", expandtabs, "A copy with tabs replaced by spaces."},
    {"translate(self, table, /, delete=...)", translate, "Replace each byte by what the table has at its place."},
    {"maketrans(frm, to, /)", maketrans, "A table for translate()."},
    {"decode(self, /, encoding: cstr = 'utf-8', errors: cstr = 'strict')", decode, "The text of the bytes."},
    {"fromhex(cls, string: str, /)", fromhex, "The bytes of a text of hexadecimal digits."},
    {"hex(self, /, sep=..., bytes_per_sep: cint = 1)", hex, "The bytes as hexadecimal digits."},
    {"lower(self, /)", lower_method, "A copy in lowercase."},
    {"upper(self, /)", upper_method, "A copy in uppercase."},
    {"swapcase(self, /)", swapcase, "A copy with uppercase and lowercase exchanged."},
    {"capitalize(self, /)", capitalize, "A copy with only the first byte in uppercase."},
    {"title(self, /)", title, "A copy with words in titlecase."},
    {"isalpha(self, /)", all_are<is_alpha>, "True if all bytes are letters, and there is one."},
    {"isdigit(self, /)", all_are<is_digit>, "True if all bytes are digits, and there is one."},
    {"isalnum(self, /)", all_are<is_alnum>, "True if all bytes are letters or digits, and there is one."},
    {"isspace(self, /)", all_are<is_space>, "True if all bytes are blanks, and there is one."},
    {"isascii(self, /)", isascii, "True if all bytes are ASCII."},
    {"islower(self, /)", cased<is_lower, is_upper>, "True if the letters are lowercase, and there is one."},
    {"isupper(self, /)", cased<is_upper, is_lower>, "True if the letters are uppercase, and there is one."},
    {"istitle(self, /)", istitle, "True if words begin with the only uppercase letters."},
};

// The fill byte is a bytes object, which a signature cannot have as a default.
Value with_blank(Interpreter& in, const Args& args, NativeFn pad) {
  if (!args[2].is_undefined()) return pad(in, args);
  const Value all[] = {args[0], args[1], make_bytes(in, " ")};
  Args filled = args;
  filled.values = all;
  return pad(in, filled);
}

constexpr NativeDef kPadRows[] = {
    {"ljust(self, width: int, fillbyte=..., /)",
     [](Interpreter& in, const Args& args) { return with_blank(in, args, ljust); }, "Left-justified in a field."},
    {"rjust(self, width: int, fillbyte=..., /)",
     [](Interpreter& in, const Args& args) { return with_blank(in, args, rjust); }, "Right-justified in a field."},
    {"center(self, width: int, fillbyte=..., /)",
     [](Interpreter& in, const Args& args) { return with_blank(in, args, center); }, "Centered in a field."},
};

constexpr NativeDef kBytesRows[] = {{"__bytes__(self, /)", plain_bytes, "The bytes themselves."}, {"__getnewargs__(self, /)", new_arguments, ""}};

// --- what changes a bytearray

Value append(Interpreter& in, const Args& args) {
  const char byte = static_cast<char>(byte_value(in, args[1]));
  byte_array_append(in, array_of(args), {&byte, 1});
  return Value::none();
}

Value extend(Interpreter& in, const Args& args) {
  if (is_bytes_like(in, args[1])) {
    if (!is_bytes_without_gaps(in, args[1]))
      throw_error(ErrorKind::TypeError, "can't set bytearray slice from %s", std::string(type_name(in, args[1])).c_str());
    if (args[1].is(args[0])) byte_array_append(in, array_of(args), self_of(args));  // pinned, it could not grow
    else byte_array_append(in, array_of(args), BytesLike(in, args[1]));
    return Value::none();
  }
  Value iterator;
  if (!may_iterate(in, args[1], &iterator)) {
    throw_error(ErrorKind::TypeError, "can't extend bytearray with %s", std::string(type_name(in, args[1])).c_str());
  }
  ask_length(in, args[1]);
  const Value more = bytes_from_items(in, args[1], iterator, "byte must be in range(0, 256)");
  byte_array_append(in, array_of(args), bytes_of(more));
  return Value::none();
}

Value insert(Interpreter& in, const Args& args) {
  const char byte = static_cast<char>(byte_value(in, args[2]));
  ByteArray* a = array_of(args);
  const int64_t size = static_cast<int64_t>(a->size);
  int64_t at = args[1].as_int();
  if (at < 0) at = std::max<int64_t>(at + size, 0);
  at = std::min(at, size);
  byte_array_resize(in, a, a->size + 1);
  std::memmove(a->data + at + 1, a->data + at, static_cast<size_t>(size - at));
  a->data[at] = byte;
  return Value::none();
}

void remove_at(Interpreter& in, ByteArray* a, size_t at) {
  check_resizable(a);
  std::memmove(a->data + at, a->data + at + 1, a->size - at - 1);
  byte_array_resize(in, a, a->size - 1);
}

Value pop(Interpreter& in, const Args& args) {
  ByteArray* a = array_of(args);
  int64_t at = args[1].as_int();
  if (a->size == 0) throw Error(ErrorKind::IndexError, "pop from empty bytearray");
  if (at < 0) at += static_cast<int64_t>(a->size);
  if (at < 0 || at >= static_cast<int64_t>(a->size)) throw Error(ErrorKind::IndexError, "pop index out of range");
  const Byte byte = static_cast<Byte>(a->data[at]);
  remove_at(in, a, static_cast<size_t>(at));
  return Value::integer(byte);
}

Value remove(Interpreter& in, const Args& args) {
  const char byte = static_cast<char>(byte_value(in, args[1]));
  ByteArray* a = array_of(args);
  const size_t at = a->view().find(byte);
  if (at == std::string_view::npos) throw Error(ErrorKind::ValueError, "value not found in bytearray");
  remove_at(in, a, at);
  return Value::none();
}

Value reverse(Interpreter&, const Args& args) {
  std::reverse(array_of(args)->data, array_of(args)->data + array_of(args)->size);
  return Value::none();
}
Value clear(Interpreter& in, const Args& args) {
  byte_array_resize(in, array_of(args), 0);
  return Value::none();
}
Value copy(Interpreter& in, const Args& args) { return make_byte_array(in, self_of(args)); }

// How pickle and copy take it apart: the type, its bytes, its attributes.
Value reduce(Interpreter& in, const Args& args) {
  const Value type(args[0].as_object()->type);
  const Value parts = self_of(args).empty() ? make_tuple(in, {}) : make_tuple(in, {make_bytes(in, self_of(args))});
  const Value state = call_method(in, args[0], intern(in, "__getstate__"));
  return make_tuple(in, {type, parts, state});
}

constexpr NativeDef kArrayRows[] = {
    {"append(self, item, /)", append, "Append a byte."},
    {"extend(self, iterable_of_ints, /)", extend, "Append all bytes of an iterable or a buffer."},
    {"insert(self, index: int, item, /)", insert, "Insert a byte before index."},
    {"pop(self, index: int = -1, /)", pop, "Remove and return a byte."},
    {"remove(self, value, /)", remove, "Remove the first occurrence of a byte."},
    {"reverse(self, /)", reverse, "Reverse the order in place."},
    {"clear(self, /)", clear, "Remove all bytes."},
    {"copy(self, /)", copy, "A copy."},
    {"__reduce__(self, /)", reduce, ""},
    {"__alloc__(self, /)", [](Interpreter&, const Args& args) { return Value::integer(self_of(args).empty() ? 0 : static_cast<int64_t>(self_of(args).size()) + 1); },
     "How many bytes there is room for."},
};

}  // namespace

void bytes_text_methods(Interpreter& in, Type* type) {
  add_rows(in, type, kTextRows);
  add_rows(in, type, kPadRows);
  if (type->slots.layout == kBytesLayout) add_rows(in, type, kBytesRows);
}

void byte_array_methods(Interpreter& in, Type* type) { add_rows(in, type, kArrayRows); }

}  // namespace tessera::lang
