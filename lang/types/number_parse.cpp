// int('…', base) and float('…').
#include <cctype>
#include <charconv>
#include <climits>
#include <cmath>
#include <limits>

#include "lang/core/error.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/str.h"
#include "lang/types/unicode.h"

namespace tessera::lang {
namespace {

// Digits of any script become ASCII digits, blanks of any kind become spaces; the ends are stripped.
std::string plain_number(std::string_view text) {
  if (all_ascii(text)) {
    while (!text.empty() && unicode::is_ascii_space(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
    while (!text.empty() && unicode::is_ascii_space(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
    return std::string(text);
  }
  std::string out;
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    const uint32_t cp = decode_char(p);
    const int digit = unicode::decimal_value(cp);
    if (cp >= 128 && digit >= 0) {
      out += static_cast<char>('0' + digit);
    } else if (unicode::is(cp, unicode::kSpace)) {
      out += ' ';
    } else {
      append_char(out, cp);
    }
  }
  const size_t first = out.find_first_not_of(' ');
  if (first == out.npos) return std::string();
  return out.substr(first, out.find_last_not_of(' ') - first + 1);
}

int digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

// The base that a prefix names, or 0.
int prefix_base(std::string_view s) noexcept {
  if (s.size() < 2 || s[0] != '0') return 0;
  const char c = static_cast<char>(s[1] | 0x20);
  return c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
}

// The digits without underscores. False: an underscore or a character is where none may be.
bool plain_digits(std::string_view s, int base, std::string& out) {
  bool last_was_digit = false;
  for (char c : s) {
    const bool digit = c != '_';
    if (digit ? digit_value(c) >= base : !last_was_digit) return false;
    if (digit) out += c;
    last_was_digit = digit;
  }
  return last_was_digit;
}

// False: malformed. `base` becomes the one that a prefix names.
bool split_literal(std::string_view s, int& base, bool& negative, std::string& digits) {
  negative = !s.empty() && s[0] == '-';
  if (!s.empty() && (s[0] == '+' || s[0] == '-')) s.remove_prefix(1);
  const int prefix = prefix_base(s);
  if (base == 0 && prefix == 0) {
    // A decimal literal as in source text: no leading zeros but for zero itself.
    if (s.size() > 1 && s[0] == '0' && s.find_first_not_of("0_") != s.npos) return false;
    base = 10;
  } else if (prefix != 0 && (base == 0 || base == prefix)) {
    base = prefix;
    s.remove_prefix(2);
    if (!s.empty() && s[0] == '_') s.remove_prefix(1);
  }
  return plain_digits(s, base, digits);
}

Value number_of_digits(Interpreter& in, const std::string& digits, int base, bool negative) {
  if (digits.size() <= 12) {  // of any base below 2**63
    uint64_t value = 0;
    for (char c : digits) value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit_value(c));
    return Value::integer(negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value));
  }
  return whole_of_digits(in, digits, static_cast<unsigned>(base), negative);
}

bool equals_ignoring_case(std::string_view a, std::string_view lower) noexcept {
  if (a.size() != lower.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(a[i])) != lower[i]) return false;
  }
  return true;
}

}  // namespace

// Underscores may stand between digits only. False: one stands elsewhere.
bool strip_underscores(std::string& s) {
  if (s.find('_') == s.npos) return true;
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '_') {
      out += s[i];
    } else if (i == 0 || i + 1 == s.size() || !std::isdigit(static_cast<unsigned char>(s[i - 1])) ||
               !std::isdigit(static_cast<unsigned char>(s[i + 1]))) {
      return false;
    }
  }
  s = std::move(out);
  return true;
}

namespace {

// A number as most are written: ASCII digits with or without a sign, that fit into 64 bits. Undefined: any other text.
Value short_decimal(std::string_view text) {
  constexpr size_t kMostDigits = 18;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > kMostDigits) return Value();
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return Value();
    value = value * 10 + (c - '0');
  }
  return Value::integer(negative ? -value : value);
}

}  // namespace

Value parse_int(Interpreter& in, std::string_view text, int base) {
  if (base == 10) {
    if (const Value number = short_decimal(text); !number.is_undefined()) return number;
  }
  int radix = base;
  bool negative;
  std::string digits;
  if (!split_literal(plain_number(text), radix, negative, digits)) return Value();
  return number_of_digits(in, digits, radix, negative);
}

bool parse_float_text(std::string_view text, double& out) {
  std::string_view s = text;
  bool negative = false;
  if (!s.empty() && (s[0] == '+' || s[0] == '-')) {
    negative = s[0] == '-';
    s.remove_prefix(1);
  }
  if (s.empty()) return false;
  if (equals_ignoring_case(s, "inf") || equals_ignoring_case(s, "infinity")) {
    out = std::numeric_limits<double>::infinity();
  } else if (equals_ignoring_case(s, "nan")) {
    out = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (s[0] != '.' && !std::isdigit(static_cast<unsigned char>(s[0]))) return false;
    if (s == ".") return false;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
    if (end != s.data() + s.size()) {
      // "1." and "1.e5" are numbers too; from_chars reads them, so anything left over is not.
      return false;
    }
    if (error == std::errc::result_out_of_range) out = std::strtod(std::string(s).c_str(), nullptr);
  }
  if (negative) out = -out;
  return true;
}

bool parse_float(std::string_view text, double& out) {
  std::string s = plain_number(text);
  return strip_underscores(s) && parse_float_text(s, out);
}

}  // namespace tessera::lang
