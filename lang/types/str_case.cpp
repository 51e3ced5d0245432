// Case mapping and classification of strings.
#include <algorithm>
#include <cstring>

#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/str_methods.h"
#include "lang/types/types.h"
#include "lang/types/unicode.h"

namespace tessera::lang {
namespace {

using unicode::Case;

constexpr uint32_t kCapitalSigma = 0x3a3;

// A capital sigma ends a word when a cased letter stands before it and none behind (marks in between do not count).
bool is_final_sigma(std::string_view text, size_t at) {
  bool cased_before = false;
  const char* const begin = text.data();
  for (const char* p = begin + at; p > begin;) {
    do --p;
    while ((static_cast<unsigned char>(*p) & 0xc0) == 0x80);
    const char* q = p;
    const uint16_t flags = unicode::flags(decode_char(q));
    if (flags & unicode::kCaseIgnorable) continue;
    cased_before = flags & unicode::kCased;
    break;
  }
  if (!cased_before) return false;
  for (const char* p = begin + at + 2; p < begin + text.size();) {
    const uint16_t flags = unicode::flags(decode_char(p));
    if (flags & unicode::kCaseIgnorable) continue;
    return !(flags & unicode::kCased);
  }
  return true;
}

void append_lower(std::string& out, uint32_t cp, std::string_view text, size_t at) {
  if (cp == kCapitalSigma) {
    append_char(out, is_final_sigma(text, at) ? 0x3c2 : 0x3c3);
  } else {
    unicode::append_case(out, cp, Case::Lower);
  }
}

// Calls f(out, code point, byte offset) for each character and makes a string of out.
template <class F>
Value map_chars(Interpreter& in, std::string_view text, F&& f) {
  std::string out;
  out.reserve(text.size());
  const char* p = text.data();
  const char* const end = p + text.size();
  StopBudget budget(in);
  while (p < end) {
    budget.take();
    const size_t at = static_cast<size_t>(p - text.data());
    f(out, decode_char(p), at);
  }
  return make_str(in, out);
}

template <class F>
Value map_ascii(Interpreter& in, const Str* s, F&& f) {
  if (s->size == 1) return char_str(in, static_cast<unsigned char>(f(s->data[0])));
  Str* out = new_str(in, s->size, s->size);
  Value made = Value::adopt(out);
  const char* const from = s->data;
  char* const to = out->data;
  in_pieces(in, s->size, [&f, from, to](size_t i, size_t end) {
    for (; i < end; ++i) to[i] = f(from[i]);
  });
  return made;
}

constexpr auto ascii_lower = [](char c) {
  return static_cast<char>(c | (static_cast<unsigned char>(c - 'A') < 26) << 5);
};
constexpr auto ascii_upper = [](char c) {
  return static_cast<char>(c ^ (static_cast<unsigned char>(c - 'a') < 26) << 5);
};

// ASCII text with the letters of one case, 26 from `first` on, in the other: eight at a time.
Value flip_ascii(Interpreter& in, const Str* s, char first) {
  if (s->size == 1) {
    const char c = s->data[0];
    return char_str(in, static_cast<unsigned char>(c ^ (static_cast<unsigned char>(c - first) < 26) << 5));
  }
  constexpr uint64_t kOnes = 0x0101010101010101u;
  const uint64_t from_first = (0x80u - static_cast<unsigned char>(first)) * kOnes;
  const uint64_t behind_last = (0x80u - static_cast<unsigned char>(first) - 26) * kOnes;
  Str* out = new_str(in, s->size, s->size);
  Value made = Value::adopt(out);
  const auto flip = [=](char* to, const char* from) {
    uint64_t word;
    std::memcpy(&word, from, 8);
    const uint64_t letters = (word + from_first) & ~(word + behind_last) & (kOnes * 0x80);
    word ^= letters >> 2;  // 0x80 to 0x20, the bit between the cases
    std::memcpy(to, &word, 8);
  };
  in_pieces(in, s->size, [=, from = s->data, to = out->data](size_t i, size_t end) {
    for (; i + 8 <= end; i += 8) flip(to + i, from + i);
    if (i != end && end >= 8) return flip(to + end - 8, from + end - 8);  // some of them again
    for (; i < end; ++i) to[i] = static_cast<char>(from[i] ^ (static_cast<unsigned char>(from[i] - first) < 26) << 5);
  });
  return made;
}

constexpr auto is_ascii_letter = [](char c) { return static_cast<unsigned char>((c | 0x20) - 'a') < 26; };
constexpr auto ascii_swap = [](char c) { return static_cast<char>(c ^ is_ascii_letter(c) << 5); };

Value lower(Interpreter& in, const Args& args) {
  const Str* s = as_str(args[0]);
  if (s->is_ascii()) return flip_ascii(in, s, 'A');
  return map_chars(in, s->view(),
                   [&](std::string& out, uint32_t cp, size_t at) { append_lower(out, cp, s->view(), at); });
}

Value upper(Interpreter& in, const Args& args) {
  const Str* s = as_str(args[0]);
  if (s->is_ascii()) return flip_ascii(in, s, 'a');
  return map_chars(in, s->view(),
                   [](std::string& out, uint32_t cp, size_t) { unicode::append_case(out, cp, Case::Upper); });
}

Value casefold(Interpreter& in, const Args& args) {
  const Str* s = as_str(args[0]);
  if (s->is_ascii()) return flip_ascii(in, s, 'A');
  return map_chars(in, s->view(),
                   [](std::string& out, uint32_t cp, size_t) { unicode::append_case(out, cp, Case::Fold); });
}

Value swapcase(Interpreter& in, const Args& args) {
  const std::string_view text = text_of(args[0]);
  if (as_str(args[0])->is_ascii()) return map_ascii(in, as_str(args[0]), ascii_swap);
  return map_chars(in, text, [&](std::string& out, uint32_t cp, size_t at) {
    const uint16_t flags = unicode::flags(cp);
    if (flags & unicode::kUpper) append_lower(out, cp, text, at);
    else if (flags & unicode::kLower) unicode::append_case(out, cp, Case::Upper);
    else append_char(out, cp);
  });
}

Value capitalize(Interpreter& in, const Args& args) {
  const std::string_view text = text_of(args[0]);
  if (as_str(args[0])->is_ascii()) {
    bool first = true;
    return map_ascii(in, as_str(args[0]), [&first](char c) {
      const char mapped = first ? ascii_upper(c) : ascii_lower(c);
      first = false;
      return mapped;
    });
  }
  return map_chars(in, text, [&](std::string& out, uint32_t cp, size_t at) {
    if (at == 0) unicode::append_case(out, cp, Case::Title);
    else append_lower(out, cp, text, at);
  });
}

Value title(Interpreter& in, const Args& args) {
  const std::string_view text = text_of(args[0]);
  bool inside = false;
  if (as_str(args[0])->is_ascii()) {
    return map_ascii(in, as_str(args[0]), [&inside](char c) {
      const char mapped = inside ? ascii_lower(c) : ascii_upper(c);
      inside = is_ascii_letter(c);
      return mapped;
    });
  }
  return map_chars(in, text, [&](std::string& out, uint32_t cp, size_t at) {
    if (inside) append_lower(out, cp, text, at);
    else unicode::append_case(out, cp, Case::Title);
    inside = unicode::is(cp, unicode::kCased);
  });
}

// True when the text is not empty and every character has one of the flags.
bool all_have(Interpreter& in, std::string_view text, uint16_t flags) {
  if (text.empty()) return false;
  const char* p = text.data();
  const char* const end = p + text.size();
  for (; p < end; in.check_stop(kPieceSteps)) {
    const char* const stop = p + std::min(kPieceItems, static_cast<size_t>(end - p));
    while (p < stop) {
      const auto c = static_cast<unsigned char>(*p);
      const uint32_t cp = c < 128 ? (++p, c) : decode_char(p);
      if (!(unicode::flags(cp) & flags)) return false;
    }
  }
  return true;
}

template <uint16_t kFlags>
Value classify(Interpreter& in, const Args& args) {
  return Value::boolean(all_have(in, text_of(args[0]), kFlags));
}

Value isprintable(Interpreter& in, const Args& args) {
  return Value::boolean(text_of(args[0]).empty() || all_have(in, text_of(args[0]), unicode::kPrintable));
}
Value isascii(Interpreter&, const Args& args) { return Value::boolean(as_str(args[0])->is_ascii()); }
Value isidentifier(Interpreter&, const Args& args) { return Value::boolean(unicode::is_identifier(text_of(args[0]))); }

// islower, isupper: at least one cased character, and none of the other cases.
Value is_case(Interpreter& in, std::string_view text, uint16_t wanted, uint16_t unwanted) {
  bool found = false;
  const char* p = text.data();
  const char* const end = p + text.size();
  StopBudget budget(in);
  while (p < end) {
    budget.take();
    const uint16_t flags = unicode::flags(decode_char(p));
    if (flags & unwanted) return Value::boolean(false);
    found = found || (flags & wanted);
  }
  return Value::boolean(found);
}
Value islower(Interpreter& in, const Args& args) {
  return is_case(in, text_of(args[0]), unicode::kLower, unicode::kUpper | unicode::kTitle);
}
Value isupper(Interpreter& in, const Args& args) {
  return is_case(in, text_of(args[0]), unicode::kUpper, unicode::kLower | unicode::kTitle);
}

Value istitle(Interpreter& in, const Args& args) {
  const std::string_view text = text_of(args[0]);
  bool found = false, inside = false;
  const char* p = text.data();
  const char* const end = p + text.size();
  StopBudget budget(in);
  while (p < end) {
    budget.take();
    const uint16_t flags = unicode::flags(decode_char(p));
    if (flags & (unicode::kUpper | unicode::kTitle)) {
      if (inside) return Value::boolean(false);
      inside = found = true;
    } else if (flags & unicode::kLower) {
      if (!inside) return Value::boolean(false);
      found = true;
    } else {
      inside = false;
    }
  }
  return Value::boolean(found);
}

constexpr uint16_t kAlnum = unicode::kAlpha | unicode::kDecimal | unicode::kDigit | unicode::kNumeric;

constexpr NativeDef kRows[] = {
    {"lower(self, /)", lower, "Return a copy of the string converted to lowercase."},
    {"upper(self, /)", upper, "Return a copy of the string converted to uppercase."},
    {"casefold(self, /)", casefold, "Return a version of the string suitable for caseless comparisons."},
    {"swapcase(self, /)", swapcase, "Convert uppercase characters to lowercase and lowercase characters to uppercase."},
    {"capitalize(self, /)", capitalize,
     "Return a copy with the first character in title case and the rest in lower case."},
    {"title(self, /)", title, "Return a version of the string where each word is titlecased."},
    {"isalpha(self, /)", classify<unicode::kAlpha>, "True if all characters are alphabetic and there is at least one."},
    {"isalnum(self, /)", classify<kAlnum>, "True if all characters are alphanumeric and there is at least one."},
    {"isdecimal(self, /)", classify<unicode::kDecimal>,
     "True if all characters are decimals and there is at least one."},
    {"isdigit(self, /)", classify<unicode::kDigit>, "True if all characters are digits and there is at least one."},
    {"isnumeric(self, /)", classify<unicode::kNumeric>,
     "True if all characters are numeric and there is at least one."},
    {"isspace(self, /)", classify<unicode::kSpace>, "True if all characters are whitespace and there is at least one."},
    {"isprintable(self, /)", isprintable, "True if all characters are printable, or the string is empty."},
    {"isascii(self, /)", isascii, "True if all characters are ASCII, or the string is empty."},
    {"isidentifier(self, /)", isidentifier, "True if the string is a valid identifier."},
    {"islower(self, /)", islower, "True if all cased characters are lowercase and there is at least one."},
    {"isupper(self, /)", isupper, "True if all cased characters are uppercase and there is at least one."},
    {"istitle(self, /)", istitle, "True if the string is titlecased and there is at least one cased character."},
};

}  // namespace

void str_case_methods(Interpreter& in) { add_rows(in, in.types.str, kRows); }

}  // namespace tessera::lang
