// Searching, splitting, stripping and replacing.
#include <algorithm>
#include <cstring>

#include "lang/core/failure.h"
#include "lang/core/booking.h"
#include "lang/core/interpreter.h"
#include "lang/core/error.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/bytes.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/list.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/str_methods.h"
#include "lang/types/text_search.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/types/unicode.h"

namespace tessera::lang {

namespace {

int64_t bound(Interpreter& in, const Value& value, int64_t missing, int64_t length) {
  if (value.is_none() || value.is_undefined()) return missing;
  int64_t i;
  if (value.is_int() || value.is_bool()) {
    i = value.as_int();
  } else {
    if (!is_index(in, value)) throw Error(ErrorKind::TypeError, "slice indices must be integers or None or have an __index__ method");
    const Value whole = whole_index(in, value);
    i = !is_big_int(whole) ? whole.as_int() : whole_sign(whole) < 0 ? -length - 1 : INT64_MAX;
  }
  if (i < 0) i = std::max<int64_t>(i + length, 0);
  return i;
}

}  // namespace

bool byte_range(Interpreter& in, Str* s, const Value& start, const Value& end, size_t& from, size_t& to) {
  const int64_t first = bound(in, start, 0, s->length);
  const int64_t last = std::min<int64_t>(bound(in, end, s->length, s->length), s->length);
  if (first > last) return false;
  from = byte_offset(in, s, static_cast<uint32_t>(first));
  to = byte_offset(in, s, static_cast<uint32_t>(last));
  return true;
}

namespace {

[[noreturn]] void must_be_str(Interpreter& in, const Value& got) {
  throw Error(ErrorKind::TypeError, "must be str, not " + std::string(type_name(in, got)));
}

std::string_view needle_of(Interpreter& in, const Value& value) {
  if (!is_str(value)) must_be_str(in, value);
  return text_of(value);
}

// The byte offset of the first or last occurrence in the range, or kNowhere.
size_t locate(Interpreter& in, const Args& args, bool last) {
  Str* s = as_str(args[0]);
  size_t from, to;
  const bool some = byte_range(in, s, args[2], args[3], from, to);
  const std::string_view needle = needle_of(in, args[1]);
  if (!some) return kNowhere;
  const std::string_view text = s->view().substr(from, to - from);
  const size_t at = last ? rfind_text(in, text, needle) : find_text(in, text, needle);
  return at == kNowhere ? kNowhere : from + at;
}

Value position(const Args& args, size_t byte) {
  return Value::integer(
      byte == kNowhere ? -1 : static_cast<int64_t>(char_index(as_str(args[0]), static_cast<uint32_t>(byte))));
}

Value find(Interpreter& in, const Args& args) { return position(args, locate(in, args, false)); }
bool short_find(Interpreter& in, Value* args, Value& answer) {
  if (!is_str(args[1])) return false;
  const size_t byte = find_text(in, text_of(args[0]), text_of(args[1]));
  answer = position(Args{args, 2}, byte);
  return true;
}
Value rfind(Interpreter& in, const Args& args) { return position(args, locate(in, args, true)); }

Value found_or_error(Interpreter& in, const Args& args, size_t byte) {
  if (byte == kNowhere) return failure(in, ErrorKind::ValueError, {"substring not found"});
  return position(args, byte);
}
Value index_of(Interpreter& in, const Args& args) { return found_or_error(in, args, locate(in, args, false)); }
Value rindex(Interpreter& in, const Args& args) { return found_or_error(in, args, locate(in, args, true)); }

Value count(Interpreter& in, const Args& args) {
  Str* s = as_str(args[0]);
  size_t from, to;
  const bool some = byte_range(in, s, args[2], args[3], from, to);
  const std::string_view needle = needle_of(in, args[1]);
  if (!some) return Value::integer(0);
  const std::string_view text = s->view().substr(from, to - from);
  if (needle.empty()) return Value::integer(static_cast<int64_t>(count_chars(text)) + 1);
  in.check_stop(static_cast<int64_t>(text.size() >> 10));
  if (needle.size() == 1) return Value::integer(std::count(text.begin(), text.end(), needle[0]));
  int64_t n = 0;
  for (size_t at = find_text(in, text, needle); at != kNowhere; at = find_text(in, text, needle, at + needle.size()))
    ++n;
  return Value::integer(n);
}

Value has_affix(Interpreter& in, const Args& args, const char* name, bool at_end) {
  Str* s = as_str(args[0]);
  const Value& affix = args[1];
  size_t from = 0, to = s->size;
  const bool valid = (args[2].is_none() && args[3].is_none()) || byte_range(in, s, args[2], args[3], from, to);
  if (!is_str(affix) && !is_tuple(affix)) {
    throw Error(ErrorKind::TypeError, std::string(name) + " first arg must be str or a tuple of str, not " +
                                          std::string(type_name(in, affix)));
  }
  const std::string_view text = valid ? s->view().substr(from, to - from) : std::string_view();
  auto matches = [&](std::string_view part) {
    return valid && (at_end ? text.ends_with(part) : text.starts_with(part));
  };
  if (is_str(affix)) return Value::boolean(matches(text_of(affix)));
  for (const Value& each : *as_tuple(affix)) {
    if (!is_str(each)) {
      throw Error(ErrorKind::TypeError,
                  std::string("tuple for ") + name + " must only contain str, not " + std::string(type_name(in, each)));
    }
    if (matches(text_of(each))) return Value::boolean(true);
  }
  return Value::boolean(false);
}
template <bool kAtEnd>
bool short_affix(Interpreter&, Value* args, Value& answer) {
  if (!is_str(args[1])) return false;
  const std::string_view text = text_of(args[0]), part = text_of(args[1]);
  answer = Value::boolean(kAtEnd ? text.ends_with(part) : text.starts_with(part));
  return true;
}
Value startswith(Interpreter& in, const Args& args) { return has_affix(in, args, "startswith", false); }
Value endswith(Interpreter& in, const Args& args) { return has_affix(in, args, "endswith", true); }

// Bytes of a string as a string; of ASCII nobody needs to count the characters.
Value part_of(Interpreter& in, const Str* s, std::string_view part) {
  return make_str(in, part, s->is_ascii() ? part.size() : count_chars(part));
}

Value removeprefix(Interpreter& in, const Args& args) {
  const std::string_view text = text_of(args[0]), affix = text_of(args[1]);
  return text.starts_with(affix) ? part_of(in, as_str(args[0]), text.substr(affix.size())) : plain_str(in, args[0]);
}
Value removesuffix(Interpreter& in, const Args& args) {
  const std::string_view text = text_of(args[0]), affix = text_of(args[1]);
  return text.ends_with(affix) ? part_of(in, as_str(args[0]), text.substr(0, text.size() - affix.size()))
                               : plain_str(in, args[0]);
}

// One ASCII character by another: nothing moves.
Value replace_byte(Interpreter& in, const Str* s, char old, char fresh, size_t first, int64_t left) {
  Str* out = new_str(in, s->size, s->length);
  std::memcpy(out->data, s->data, s->size);
  for (char *p = out->data + first, *end = out->data + s->size; p < end && left > 0; ++p) {
    if (*p != old) continue;
    *p = fresh;
    --left;
  }
  return Value::adopt(out);
}

// A short text with few places, whose result can be made at its size. Returns Undefined, with nothing done, for any other;
// `at` is the first place.
Value replace_few(Interpreter& in, const Str* s, const Str* old, const Str* fresh, size_t at, int64_t left) {
  constexpr size_t kMostPlaces = 16, kShort = 1 << 12;
  if (s->size > kShort || fresh->size > kShort) return Value();
  size_t places[kMostPlaces], count = 0;
  for (; at != kNowhere && left > 0; at = find_text(in, s->view(), old->view(), at + old->size), --left) {
    if (count == kMostPlaces) return Value();
    places[count++] = at;
  }
  const size_t size = s->size + count * fresh->size - count * old->size;
  if (size <= 1) return Value();  // such texts are shared
  Str* const made = new_str(in, size, s->length + count * fresh->length - count * old->length);
  char* to = made->data;
  const auto append = [&to](const char* from, size_t size) {
    copy_few(to, from, size);
    to += size;
  };
  size_t done = 0;
  for (size_t i = 0; i < count; ++i) {
    append(s->data + done, places[i] - done);
    append(fresh->data, fresh->size);
    done = places[i] + old->size;
  }
  append(s->data + done, s->size - done);
  return Value::adopt(made);
}

Value replace(Interpreter& in, const Args& args) {
  const Str* s = as_str(args[0]);
  const std::string_view text = s->view(), old = text_of(args[1]), fresh = text_of(args[2]);
  int64_t left = args[3].as_int();
  if (left < 0) left = INT64_MAX;
  std::string out;
  Booking booked;  // of `out`
  if (old.empty()) {
    booked.cover(in.heap,
                 text.size() + std::min(static_cast<uint64_t>(left), text.size() + uint64_t{1}) * fresh.size());
    const char* p = text.data();
    const char* const end = p + text.size();
    for (; left > 0; --left) {
      out += fresh;
      if (p == end) break;
      const char* const start = p;
      decode_char(p);
      out.append(start, p);
    }
    out.append(p, end);
    return make_str(in, out);
  }
  size_t at = find_text(in, text, old), done = 0;
  if (at == kNowhere || left == 0) return plain_str(in, args[0]);
  if (old.size() == 1 && fresh.size() == 1) return replace_byte(in, s, old[0], fresh[0], at, left);
  if (Value made = replace_few(in, s, as_str(args[1]), as_str(args[2]), at, left); !made.is_undefined()) return made;
  for (; at != kNowhere && left > 0; at = find_text(in, text, old, done), --left) {
    booked.cover(in.heap, out.size() + (at - done) + fresh.size());
    out.append(text, done, at - done);
    out += fresh;
    done = at + old.size();
  }
  booked.cover(in.heap, out.size() + text.size() - done);
  out.append(text, done);
  return make_str(in, out);
}

// --- stripping

enum Ends { kLeft = 1, kRight = 2 };

bool in_set(std::string_view set, uint32_t cp) {
  for (const char *p = set.data(), *end = p + set.size(); p < end;) {
    if (decode_char(p) == cp) return true;
  }
  return false;
}

// Blanks of ASCII, as bits: 9 to 13, 28 to 32.
constexpr uint64_t kAsciiBlanks = 0x1f0003e00;
bool is_ascii_blank(char c) { return static_cast<unsigned char>(c) <= 32 && (kAsciiBlanks >> c & 1); }

std::string_view strip_text(std::string_view text, bool blanks, std::string_view set, int ends) {
  if (blanks) {  // those of ASCII are most of them, and most that stand beside them are of ASCII too
    while ((ends & kLeft) && !text.empty() && is_ascii_blank(text.front())) text.remove_prefix(1);
    while ((ends & kRight) && !text.empty() && is_ascii_blank(text.back())) text.remove_suffix(1);
    const bool begins = !(ends & kLeft) || text.empty() || static_cast<unsigned char>(text.front()) < 128;
    const bool stops = !(ends & kRight) || text.empty() || static_cast<unsigned char>(text.back()) < 128;
    if (begins && stops) return text;
  }
  auto goes = [&](uint32_t cp) { return blanks ? unicode::is(cp, unicode::kSpace) : in_set(set, cp); };
  const char* begin = text.data();
  const char* end = begin + text.size();
  while ((ends & kLeft) && begin < end) {
    const char* p = begin;
    if (!goes(decode_char(p))) break;
    begin = p;
  }
  while ((ends & kRight) && begin < end) {
    const char* p = end - 1;
    while ((static_cast<unsigned char>(*p) & 0xc0) == 0x80) --p;
    const char* q = p;
    if (!goes(decode_char(q))) break;
    end = p;
  }
  return {begin, static_cast<size_t>(end - begin)};
}

template <int kEnds>
Value strip(Interpreter& in, const Args& args) {
  const char* const name = kEnds == kLeft ? "lstrip" : kEnds == kRight ? "rstrip" : "strip";
  if (!args[1].is_none() && !is_str(args[1]))
    throw Error(ErrorKind::TypeError, std::string(name) + " arg must be None or str");
  const std::string_view text = text_of(args[0]);
  const std::string_view result =
      strip_text(text, args[1].is_none(), args[1].is_none() ? std::string_view() : text_of(args[1]), kEnds);
  return result.size() == text.size() ? plain_str(in, args[0]) : part_of(in, as_str(args[0]), result);
}

// Without characters of its own: whitespace.
template <int kEnds>
bool short_strip(Interpreter& in, Value* args, Value& answer) {
  const std::string_view text = text_of(args[0]), result = strip_text(text, true, std::string_view(), kEnds);
  answer = result.size() == text.size() ? plain_str(in, args[0]) : part_of(in, as_str(args[0]), result);
  return true;
}

// --- splitting

struct Pieces {
  Interpreter& in;
  const Str* of;
  Value list;
  Pieces(Interpreter& i, const Value& text) : in(i), of(as_str(text)), list(make_list(i, 4)) {}
  void add(std::string_view piece) {
    in.check_stop();
    list_append(in, as_list(list), part_of(in, of, piece));
  }
  [[gnu::always_inline]] inline void add_ascii(std::string_view piece) {
    in.check_stop();
    if (piece.size() == 1) list_append(in, as_list(list), in.shared->chars[static_cast<unsigned char>(piece[0])]);
    else list_append(in, as_list(list), make_str(in, piece, piece.size()));
  }
};

bool is_blank_at(std::string_view text, size_t at, size_t& width) {
  const unsigned char c = static_cast<unsigned char>(text[at]);
  if (c < 128) {
    width = 1;
    return unicode::is_ascii_space(c);
  }
  const char* p = text.data() + at;
  const bool blank = unicode::is(decode_char(p), unicode::kSpace);
  width = static_cast<size_t>(p - text.data()) - at;
  return blank;
}

void split_ascii_blanks(Pieces& out, std::string_view text, int64_t most) {
  const char* p = text.data();
  const char* const end = p + text.size();
  for (;;) {
    while (p < end && is_ascii_blank(*p)) ++p;
    if (p == end) return;
    const char* const start = p;
    if (most-- == 0) {
      out.add_ascii({start, static_cast<size_t>(end - start)});
      return;
    }
    while (p < end && !is_ascii_blank(*p)) ++p;
    out.add_ascii({start, static_cast<size_t>(p - start)});
  }
}

void split_blanks(Pieces& out, std::string_view text, int64_t most) {
  size_t i = 0, width = 0;
  while (i < text.size()) {
    while (i < text.size() && is_blank_at(text, i, width)) i += width;
    if (i == text.size()) return;
    if (most-- == 0) {
      out.add(text.substr(i));
      return;
    }
    const size_t start = i;
    while (i < text.size() && !is_blank_at(text, i, width)) i += width;
    out.add(text.substr(start, i - start));
  }
}

// At one byte of an ASCII text: sixteen places are looked at together, which short pieces share.
void split_at_byte(Pieces& out, std::string_view text, char separator, int64_t most) {
  size_t start = 0;
  constexpr size_t kShort = 48;  // byte by byte
  if (text.size() <= kShort) {
    for (size_t at = 0; at < text.size() && most != 0; ++at) {
      if (text[at] != separator) continue;
      out.add_ascii(text.substr(start, at - start));
      start = at + 1;
      --most;
    }
    return out.add_ascii(text.substr(start));
  }
  for (PlacesOf places(out.in, text, separator); most != 0; --most) {
    const size_t at = places.next();
    if (at == kNowhere) break;
    out.add_ascii(text.substr(start, at - start));
    start = at + 1;
  }
  out.add_ascii(text.substr(start));
}

void split_text(Pieces& out, std::string_view text, std::string_view separator, int64_t most) {
  size_t start = 0;
  for (; most != 0; --most) {
    const size_t at = find_text(out.in, text, separator, start);
    if (at == kNowhere) break;
    out.add(text.substr(start, at - start));
    start = at + separator.size();
  }
  out.add(text.substr(start));
}

void rsplit_blanks(Pieces& out, std::string_view text, int64_t most) {
  for (;;) {
    text = strip_text(text, true, {}, kRight);
    if (text.empty()) break;
    if (most-- == 0) {
      out.add(strip_text(text, true, {}, kRight));
      break;
    }
    size_t i = text.size(), width = 0;
    for (;;) {  // back to the blank before the word
      if (i == 0) break;
      size_t p = i - 1;
      while ((static_cast<unsigned char>(text[p]) & 0xc0) == 0x80) --p;
      if (is_blank_at(text, p, width)) break;
      i = p;
    }
    out.add(text.substr(i));
    text = text.substr(0, i);
  }
  std::reverse(as_list(out.list)->begin(), as_list(out.list)->end());
}

void rsplit_text(Pieces& out, std::string_view text, std::string_view separator, int64_t most) {
  for (; most != 0; --most) {
    const size_t at = rfind_text(out.in, text, separator);
    if (at == kNowhere) break;
    out.add(text.substr(at + separator.size()));
    text = text.substr(0, at);
  }
  out.add(text);
  std::reverse(as_list(out.list)->begin(), as_list(out.list)->end());
}

Value split_by(Interpreter& in, const Args& args, bool from_right) {
  const std::string_view text = text_of(args[0]);
  Pieces out(in, args[0]);
  const int64_t most = args[2].as_int() < 0 ? INT64_MAX : args[2].as_int();
  if (args[1].is_none()) {
    if (from_right) rsplit_blanks(out, text, most);
    else if (as_str(args[0])->is_ascii()) split_ascii_blanks(out, text, most);
    else split_blanks(out, text, most);
    return out.list;
  }
  if (!is_str(args[1]))
    throw Error(ErrorKind::TypeError, "must be str or None, not " + std::string(type_name(in, args[1])));
  const std::string_view separator = text_of(args[1]);
  if (separator.empty()) throw Error(ErrorKind::ValueError, "empty separator");
  if (from_right) rsplit_text(out, text, separator, most);
  else if (separator.size() == 1 && as_str(args[0])->is_ascii()) split_at_byte(out, text, separator[0], most);
  else split_text(out, text, separator, most);
  return out.list;
}
Value split(Interpreter& in, const Args& args) { return split_by(in, args, false); }
Value rsplit(Interpreter& in, const Args& args) { return split_by(in, args, true); }

// text.split() of a text that is soon done with.
bool short_split(Interpreter& in, Value* args, Value& answer) {
  constexpr uint32_t kShort = 1024;
  const Str* const text = as_str(args[0]);
  if (text->size > kShort || !text->is_ascii()) return false;
  Pieces out(in, args[0]);
  split_ascii_blanks(out, text->view(), INT64_MAX);
  answer = std::move(out.list);
  return true;
}

bool is_line_end(uint32_t cp) {
  return (cp >= 10 && cp <= 13) || (cp >= 28 && cp <= 30) || cp == 0x85 || cp == 0x2028 || cp == 0x2029;
}

// Behind the eight-byte words from `p` on that have neither a control character nor one beyond ASCII, among which all line ends are.
const char* skip_plain(const char* p, const char* end) {
  constexpr uint64_t kOnes = 0x0101010101010101u, kHighs = 0x80 * kOnes;
  for (uint64_t word; end - p >= 8; p += sizeof word) {
    std::memcpy(&word, p, sizeof word);
    if ((((word - 0x20 * kOnes) | word) & kHighs) != 0) break;
  }
  return p;
}

Value splitlines(Interpreter& in, const Args& args) {
  const std::string_view text = text_of(args[0]);
  const bool keep = args[1].as_int() != 0;
  Pieces out(in, args[0]);
  const char* p = text.data();
  const char* const end = p + text.size();
  const char* start = p;
  while ((p = skip_plain(p, end)) < end) {
    const char* const at = p;
    const uint32_t cp = decode_char(p);
    if (!is_line_end(cp)) {
      const bool plain = cp >= 0x20 && cp < 0x80;
      for (int most = 7; plain && most > 0 && p < end && *p >= 0x20 && *p < 0x7f; --most) ++p;  // the rest of a word
      continue;
    }
    if (cp == '\r' && p < end && *p == '\n') ++p;
    out.add({start, static_cast<size_t>((keep ? p : at) - start)});
    start = p;
  }
  if (start < end) out.add({start, static_cast<size_t>(end - start)});
  return out.list;
}

Value partition_at(Interpreter& in, const Args& args, bool last) {
  const std::string_view text = text_of(args[0]), separator = needle_of(in, args[1]);
  if (separator.empty()) throw Error(ErrorKind::ValueError, "empty separator");
  const size_t at = last ? rfind_text(in, text, separator) : find_text(in, text, separator);
  const Str* const s = as_str(args[0]);
  Value parts[3];
  if (at == kNowhere) {
    for (Value& part : parts) part = in.shared->empty_str;
    parts[last ? 2 : 0] = plain_str(in, args[0]);
  } else {
    parts[0] = part_of(in, s, text.substr(0, at));
    parts[1] = args[1];
    parts[2] = part_of(in, s, text.substr(at + separator.size()));
  }
  return make_tuple_moving(in, parts, 3);
}
Value partition(Interpreter& in, const Args& args) { return partition_at(in, args, false); }
Value rpartition(Interpreter& in, const Args& args) { return partition_at(in, args, true); }

constexpr NativeDef kRows[] = {
    {"find(self, sub, start=None, end=None, /)", find, "The lowest index where sub is found, or -1.", {short_find, 2}},
    {"rfind(self, sub, start=None, end=None, /)", rfind, "The highest index where sub is found, or -1."},
    {"index(self, sub, start=None, end=None, /)", index_of, "The lowest index where sub is found, or ValueError."},
    {"rindex(self, sub, start=None, end=None, /)", rindex, "The highest index where sub is found, or ValueError."},
    {"count(self, sub, start=None, end=None, /)", count, "The number of non-overlapping occurrences of sub."},
    {"startswith(self, prefix, start=None, end=None, /)", startswith, "True if the string starts with prefix.",
     {short_affix<false>, 2}},
    {"endswith(self, suffix, start=None, end=None, /)", endswith, "True if the string ends with suffix.", {short_affix<true>, 2}},
    {"removeprefix(self, prefix: str, /)", removeprefix, "The string without the given prefix, if it is there."},
    {"removesuffix(self, suffix: str, /)", removesuffix, "The string without the given suffix, if it is there."},
    {"replace(self, old: str, new: str, count: int = -1, /)", replace,
     "A copy with occurrences of old replaced by new."},
    {"strip(self, chars=None, /)", strip<kLeft | kRight>, "A copy without leading and trailing whitespace, or chars.",
     {short_strip<kLeft | kRight>, 1}},
    {"lstrip(self, chars=None, /)", strip<kLeft>, "A copy without leading whitespace, or chars.",
     {short_strip<kLeft>, 1}},
    {"rstrip(self, chars=None, /)", strip<kRight>, "A copy without trailing whitespace, or chars.",
     {short_strip<kRight>, 1}},
    {"split(self, /, sep=None, maxsplit: int = -1)", split, "A list of the substrings between separators.",
     {short_split, 1}},
    {"rsplit(self, /, sep=None, maxsplit: int = -1)", rsplit,
     "A list of the substrings between separators, from the end."},
    {"splitlines(self, /, keepends: cint = False)", splitlines, "A list of the lines."},
    {"partition(self, sep, /)", partition, "The parts before and after the first separator, and it in between."},
    {"rpartition(self, sep, /)", rpartition, "The parts before and after the last separator, and it in between."},
};

}  // namespace

void str_search_methods(Interpreter& in) { add_rows(in, in.types.str, kRows); }

}  // namespace tessera::lang
