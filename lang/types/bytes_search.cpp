// bytes and bytearray: searching, splitting, stripping and replacing.
// compile: small (bytes are rare in inner loops)
#include <algorithm>
#include <cstring>

#include "lang/core/failure.h"
#include "lang/core/booked_text.h"
#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/bytes.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes_parts.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/text_search.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

std::string_view self_of(const Args& args) { return bytes_of(args[0]); }

int64_t bound(Interpreter& in, const Value& value, int64_t missing) {
  if (value.is_none() || value.is_undefined()) return missing;
  if (!is_index(in, value))
    throw Error(ErrorKind::TypeError, "slice indices must be integers or None or have an __index__ method");
  const Value whole = whole_index(in, value);
  if (is_big_int(whole)) return whole_sign(whole) < 0 ? INT64_MIN : INT64_MAX;
  return whole.as_int();
}

struct Range {
  size_t from = 0, to = 0;
  bool valid = false;
};

// The ends as they are given: CPython reads them before what is searched for, which may change the object.
struct Given {
  Given(Interpreter& in, const Args& args) : first(bound(in, args[2], 0)), last(bound(in, args[3], INT64_MAX)) {}
  int64_t first, last;
};

Range range_of(const Args& args, Given ends) {
  auto [first, last] = ends;
  const int64_t size = static_cast<int64_t>(self_of(args).size());
  if (first < 0) first = std::max<int64_t>(first + size, 0);
  if (last < 0) last = std::max<int64_t>(last + size, 0);
  last = std::min(last, size);
  if (first > last) return {};
  return {static_cast<size_t>(first), static_cast<size_t>(last), true};
}

// What is searched for: bytes, or the one byte that an int stands for.
class Needle {
 public:
  Needle(Interpreter& in, const Value& value) {
    if (is_bytes_like(in, value)) {
      text_ = BytesLike(in, value).view();
      view_ = text_;
    } else if (is_index(in, value)) {
      byte_ = static_cast<char>(byte_value(in, value));
      view_ = {&byte_, 1};
    } else {
      throw Error(ErrorKind::TypeError,
                  "argument should be integer or bytes-like object, not '" + std::string(type_name(in, value)) + "'");
    }
  }
  Needle(const Needle&) = delete;
  Needle& operator=(const Needle&) = delete;
  std::string_view view() const { return view_; }

 private:
  char byte_ = 0;
  std::string text_;
  std::string_view view_;
};

int64_t locate(Interpreter& in, const Args& args, bool last) {
  const Given ends(in, args);
  const Needle needle(in, args[1]);
  const Range r = range_of(args, ends);
  if (!r.valid) return -1;
  const std::string_view text = self_of(args).substr(r.from, r.to - r.from);
  const size_t at = last ? rfind_text(in, text, needle.view()) : find_text(in, text, needle.view());
  return at == kNowhere ? -1 : static_cast<int64_t>(r.from + at);
}

template <bool kLast>
Value find(Interpreter& in, const Args& args) {
  return Value::integer(locate(in, args, kLast));
}

template <bool kLast>
Value index_of(Interpreter& in, const Args& args) {
  const int64_t at = locate(in, args, kLast);
  if (at < 0) return failure(in, ErrorKind::ValueError, {"subsection not found"});
  return Value::integer(at);
}

Value count(Interpreter& in, const Args& args) {
  const Given ends(in, args);
  const Needle needle(in, args[1]);
  const Range r = range_of(args, ends);
  if (!r.valid) return Value::integer(0);
  const std::string_view text = self_of(args).substr(r.from, r.to - r.from), part = needle.view();
  if (part.empty()) return Value::integer(static_cast<int64_t>(text.size()) + 1);
  if (part.size() == 1) return Value::integer(std::count(text.begin(), text.end(), part[0]));
  int64_t n = 0;
  for (size_t at = find_text(in, text, part); at != kNowhere; at = find_text(in, text, part, at + part.size())) ++n;
  return Value::integer(n);
}

template <bool kAtEnd>
Value has_affix(Interpreter& in, const Args& args) {
  const char* const name = kAtEnd ? "endswith" : "startswith";
  const Range r = range_of(args, Given(in, args));
  auto matches = [&](const Value& part) {
    const BytesLike affix(in, part);
    if (!r.valid) return false;
    const std::string_view text = self_of(args).substr(r.from, r.to - r.from);
    return kAtEnd ? text.ends_with(affix.view()) : text.starts_with(affix.view());
  };
  if (is_tuple(args[1])) {
    for (const Value& each : *as_tuple(args[1])) {
      if (matches(each)) return Value::boolean(true);
    }
    return Value::boolean(false);
  }
  if (!is_bytes_like(in, args[1])) {
    throw_error(ErrorKind::TypeError, "%s first arg must be bytes or a tuple of bytes, not %s", name,
                std::string(type_name(in, args[1])).c_str());
  }
  return Value::boolean(matches(args[1]));
}

// What a method that may leave everything as it is gives then.
Value unchanged(Interpreter& in, const Value& self) {
  return self.as_object()->type == bytes_types(in).bytes ? self : bytes_alike(in, self, bytes_of(self));
}

Value removeprefix(Interpreter& in, const Args& args) {
  const BytesLike affix(in, args[1]);
  const std::string_view text = self_of(args);
  return text.starts_with(affix.view()) ? bytes_alike(in, args[0], text.substr(affix.view().size()))
                                        : unchanged(in, args[0]);
}
Value removesuffix(Interpreter& in, const Args& args) {
  const BytesLike affix(in, args[1]);
  const std::string_view text = self_of(args);
  return text.ends_with(affix.view()) ? bytes_alike(in, args[0], text.substr(0, text.size() - affix.view().size()))
                                      : unchanged(in, args[0]);
}

Value replace_between(Interpreter& in, const Value& self, std::string_view fresh, int64_t left) {
  BookedText out(in);
  const std::string_view text = bytes_of(self);
  size_t at = 0;
  for (; left > 0; --left) {
    out += fresh;
    if (at == text.size()) break;
    out += text.substr(at++, 1);
  }
  out += text.substr(at);
  return bytes_alike(in, self, out.str());
}

Value replace(Interpreter& in, const Args& args) {
  const BytesLike old_bytes(in, args[1]), fresh_bytes(in, args[2]);
  const int64_t most = index(in, args[3]);
  int64_t left = most < 0 ? INT64_MAX : most;
  const std::string_view text = self_of(args), old = old_bytes.view(), fresh = fresh_bytes.view();
  if (left == 0) return unchanged(in, args[0]);
  if (old.empty()) return replace_between(in, args[0], fresh, left);
  size_t at = find_text(in, text, old), done = 0;
  if (at == kNowhere) return unchanged(in, args[0]);
  BookedText out(in);
  for (; at != kNowhere && left > 0; at = find_text(in, text, old, done), --left) {
    out += text.substr(done, at - done);
    out += fresh;
    done = at + old.size();
  }
  out += text.substr(done);
  return bytes_alike(in, args[0], out.str());
}

// --- stripping

enum Ends { kLeft = 1, kRight = 2 };

constexpr std::string_view kBlanks = " \t\n\r\x0b\x0c";

std::string_view strip_bytes(std::string_view text, std::string_view set, int ends) {
  size_t from = 0, to = text.size();
  while ((ends & kLeft) && from < to && set.find(text[from]) != set.npos) ++from;
  while ((ends & kRight) && to > from && set.find(text[to - 1]) != set.npos) --to;
  return text.substr(from, to - from);
}

template <int kEnds>
Value strip(Interpreter& in, const Args& args) {
  std::string set(kBlanks);
  if (!args[1].is_none()) set = BytesLike(in, args[1]).view();
  const std::string_view text = self_of(args), result = strip_bytes(text, set, kEnds);
  return result.size() == text.size() ? unchanged(in, args[0]) : bytes_alike(in, args[0], result);
}

// --- splitting

struct Pieces {
  Interpreter& in;
  const Value& of;
  Value list;
  Pieces(Interpreter& i, const Value& self) : in(i), of(self), list(make_list(i)) {}
  void add(std::string_view piece) {
    in.check_stop();
    list_append(in, as_list(list), bytes_alike(in, of, piece));
  }
};

bool is_blank(char c) { return kBlanks.find(c) != kBlanks.npos; }

void split_blanks(Pieces& out, std::string_view text, int64_t most) {
  size_t i = 0;
  for (;;) {
    while (i < text.size() && is_blank(text[i])) ++i;
    if (i == text.size()) return;
    if (most-- == 0) return out.add(text.substr(i));
    const size_t start = i;
    while (i < text.size() && !is_blank(text[i])) ++i;
    out.add(text.substr(start, i - start));
  }
}

void rsplit_blanks(Pieces& out, std::string_view text, int64_t most) {
  for (;;) {
    text = strip_bytes(text, kBlanks, kRight);
    if (text.empty()) return;
    if (most-- == 0) return out.add(text);
    size_t i = text.size();
    while (i > 0 && !is_blank(text[i - 1])) --i;
    out.add(text.substr(i));
    text = text.substr(0, i);
  }
}

void split_at(Pieces& out, std::string_view text, std::string_view separator, int64_t most) {
  size_t start = 0;
  for (; most != 0; --most) {
    const size_t at = find_text(out.in, text, separator, start);
    if (at == kNowhere) break;
    out.add(text.substr(start, at - start));
    start = at + separator.size();
  }
  out.add(text.substr(start));
}

void rsplit_at(Pieces& out, std::string_view text, std::string_view separator, int64_t most) {
  for (; most != 0; --most) {
    const size_t at = rfind_text(out.in, text, separator);
    if (at == kNowhere) break;
    out.add(text.substr(at + separator.size()));
    text = text.substr(0, at);
  }
  out.add(text);
}

template <bool kFromRight>
Value split(Interpreter& in, const Args& args) {
  const int64_t most = args[2].as_int() < 0 ? INT64_MAX : args[2].as_int();
  std::string separator;
  if (!args[1].is_none()) {
    separator = BytesLike(in, args[1]).view();
    if (separator.empty()) throw Error(ErrorKind::ValueError, "empty separator");
  }
  Pieces out(in, args[0]);
  const std::string_view text = self_of(args);
  if (args[1].is_none()) kFromRight ? rsplit_blanks(out, text, most) : split_blanks(out, text, most);
  else kFromRight ? rsplit_at(out, text, separator, most) : split_at(out, text, separator, most);
  if (kFromRight) std::reverse(as_list(out.list)->begin(), as_list(out.list)->end());
  return out.list;
}

Value splitlines(Interpreter& in, const Args& args) {
  const std::string_view text = self_of(args);
  const bool keep = args[1].as_int() != 0;
  Pieces out(in, args[0]);
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '\n' && text[i] != '\r') {
      ++i;
      continue;
    }
    const size_t end = i;
    i += text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n' ? 2 : 1;
    out.add(text.substr(start, (keep ? i : end) - start));
    start = i;
  }
  if (start < text.size()) out.add(text.substr(start));
  return out.list;
}

template <bool kLast>
Value partition(Interpreter& in, const Args& args) {
  const BytesLike separator(in, args[1]);
  if (separator.view().empty()) throw Error(ErrorKind::ValueError, "empty separator");
  const std::string_view text = self_of(args);
  const size_t at = kLast ? rfind_text(in, text, separator) : find_text(in, text, separator);
  auto part = [&](std::string_view bytes) { return bytes_alike(in, args[0], bytes); };
  if (at == kNowhere && kLast) return make_tuple(in, {part({}), part({}), unchanged(in, args[0])});
  if (at == kNowhere) return make_tuple(in, {unchanged(in, args[0]), part({}), part({})});
  const Value middle = is_bytes(args[0]) ? args[1] : part(separator);
  return make_tuple(in, {part(text.substr(0, at)), middle, part(text.substr(at + separator.view().size()))});
}

constexpr NativeDef kRows[] = {
    {"find(self, sub, start=None, end=None, /)", find<false>, "The lowest index where sub is found, or -1."},
    {"rfind(self, sub, start=None, end=None, /)", find<true>, "The highest index where sub is found, or -1."},
    {"index(self, sub, start=None, end=None, /)", index_of<false>, "The lowest index of sub, or ValueError."},
    {"rindex(self, sub, start=None, end=None, /)", index_of<true>, "The highest index of sub, or ValueError."},
    {"count(self, sub, start=None, end=None, /)", count, "The number of non-overlapping occurrences of sub."},
    {"startswith(self, prefix, start=None, end=None, /)", has_affix<false>, "True if it starts with prefix."},
    {"endswith(self, suffix, start=None, end=None, /)", has_affix<true>, "True if it ends with suffix."},
    {"removeprefix(self, prefix, /)", removeprefix, "The bytes without the given prefix, if it is there."},
    {"removesuffix(self, suffix, /)", removesuffix, "The bytes without the given suffix, if it is there."},
    {"replace(self, old, new, count=-1, /)", replace, "A copy with occurrences of old replaced by new."},
    {"strip(self, bytes=None, /)", strip<kLeft | kRight>, "A copy without leading and trailing blanks, or bytes."},
    {"lstrip(self, bytes=None, /)", strip<kLeft>, "A copy without leading blanks, or bytes."},
    {"rstrip(self, bytes=None, /)", strip<kRight>, "A copy without trailing blanks, or bytes."},
    {"split(self, /, sep=None, maxsplit: int = -1)", split<false>, "A list of the parts between separators."},
    {"rsplit(self, /, sep=None, maxsplit: int = -1)", split<true>, "The parts between separators, from the end."},
    {"splitlines(self, /, keepends: cint = False)", splitlines, "A list of the lines."},
    {"partition(self, sep, /)", partition<false>, "The parts before and after the first separator, and it between."},
    {"rpartition(self, sep, /)", partition<true>, "The parts before and after the last separator, and it between."},
};

}  // namespace

void bytes_search_methods(Interpreter& in, Type* type) { add_rows(in, type, kRows); }

}  // namespace tessera::lang
