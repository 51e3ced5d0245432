// Numbers as text, and the format specification.
#include "lang/types/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/str.h"

namespace tessera::lang {
namespace {

// Significant digits without a point, and the place of the point: 0.d1d2d3 * 10**point.
struct Decimal {
  std::string digits;
  int point = 0;
};

Decimal split_exponent(const char* text, size_t size) {
  Decimal d;
  size_t i = 0;
  for (; i < size && text[i] != 'e'; ++i) {
    if (text[i] != '.') d.digits += text[i];
  }
  d.point = std::atoi(text + i + 1) + 1;
  return d;
}

Decimal shortest_digits(double value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer - 1, value, std::chars_format::scientific).ptr;
  *end = 0;
  return split_exponent(buffer, static_cast<size_t>(end - buffer));
}

// With `precision` digits behind the point, as printf's %f and %e. No double has more than kMostDigits behind the point.
constexpr int kMostDigits = 1100;
constexpr int kMostZeros = 1 << 28;

std::string exact_digits(double value, std::chars_format form, int precision, bool keep_dot) {
  const int digits = std::min(precision, kMostDigits);
  const int zeros = precision - digits;
  if (zeros > kMostZeros) throw Error(ErrorKind::MemoryError, std::string());
  char buffer[kMostDigits + 330];
  const size_t size =
      static_cast<size_t>(std::to_chars(buffer, buffer + sizeof buffer, value, form, digits).ptr - buffer);
  std::string out(buffer, size);
  if (zeros == 0 && !(keep_dot && precision == 0)) return out;
  const size_t end = form == std::chars_format::scientific ? out.find('e') : size;
  if (zeros == 0) out.insert(end, 1, '.');
  else out.insert(end, static_cast<size_t>(zeros), '0');
  return out;
}

void append_exponent(std::string& out, int exponent, char letter) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "%c%c%02d", letter, exponent < 0 ? '-' : '+', std::abs(exponent));
  out += buffer;
}

// Writes digits plainly or with an exponent. `pad_to`: digits to show at least (for '#').
std::string layout(Decimal d, bool exponent_form, bool add_dot_zero, bool keep_dot, size_t pad_to, char letter) {
  if (d.digits.size() < pad_to) d.digits.append(pad_to - d.digits.size(), '0');
  std::string out;
  const int size = static_cast<int>(d.digits.size());
  if (exponent_form) {
    out += d.digits[0];
    if (size > 1 || keep_dot) out += '.';
    out.append(d.digits, 1);
    append_exponent(out, d.point - 1, letter);
    return out;
  }
  if (d.point <= 0) {
    out = "0." + std::string(static_cast<size_t>(-d.point), '0') + d.digits;
  } else if (d.point >= size) {
    out = d.digits + std::string(static_cast<size_t>(d.point - size), '0');
    if (add_dot_zero) out += ".0";
    else if (keep_dot) out += '.';
  } else {
    out = d.digits.substr(0, static_cast<size_t>(d.point)) + "." + d.digits.substr(static_cast<size_t>(d.point));
  }
  return out;
}

std::string general_text(double value, int precision, int flags, char letter) {
  if (precision == 0) precision = 1;
  Decimal d;
  if (value == 0) {
    d.digits = "0";
    d.point = 1;
  } else {
    const std::string text = exact_digits(value, std::chars_format::scientific, precision - 1, false);
    d = split_exponent(text.data(), text.size());
    while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  }
  const bool exponent_form = d.point <= -4 || d.point > precision - ((flags & kAddDotZero) ? 1 : 0);
  const size_t pad_to = (flags & kAlternate) ? static_cast<size_t>(precision) : 0;
  return layout(std::move(d), exponent_form, flags & kAddDotZero, flags & kAlternate, pad_to, letter);
}

std::string repr_text_of(double value, int flags, char letter) {
  Decimal d = value == 0 ? Decimal{"0", 1} : shortest_digits(value);
  const bool exponent_form = d.point <= -4 || d.point > 16;
  return layout(std::move(d), exponent_form, flags & kAddDotZero, flags & kAlternate, 0, letter);
}

std::string positive_text(double value, char type, int precision, int flags) {
  const bool alternate = flags & kAlternate;
  switch (type) {
    case 'r': return repr_text_of(value, flags, 'e');
    case 'e':
    case 'E': {
      std::string text = exact_digits(value, std::chars_format::scientific, precision, alternate);
      if (type == 'E') text[text.find('e')] = 'E';
      return text;
    }
    case 'f':
    case 'F': return exact_digits(value, std::chars_format::fixed, precision, alternate);
    case '%':
      if (std::isinf(value * 100)) return "inf%";
      return exact_digits(value * 100, std::chars_format::fixed, precision, alternate) + "%";
    default: return general_text(value, precision, flags, type == 'G' ? 'E' : 'e');
  }
}

}  // namespace

std::string float_text(double value, char type, int precision, int flags) {
  const bool upper = type == 'E' || type == 'F' || type == 'G';
  if (std::isnan(value)) return std::string(upper ? "NAN" : "nan") + (type == '%' ? "%" : "");
  std::string text;
  if (std::isinf(value)) {
    text = std::string(upper ? "INF" : "inf") + (type == '%' ? "%" : "");
  } else {
    text = positive_text(std::fabs(value), type, precision, flags);
  }
  if (std::signbit(value)) text.insert(0, 1, '-');
  return text;
}

std::string float_repr(double value) { return float_text(value, 'r', 0, kAddDotZero); }

std::string int_text(int64_t value) {
  char buffer[24];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

std::string digits_in_base(uint64_t value, unsigned base, bool upper) {
  char buffer[72];
  char* const end = std::to_chars(buffer, buffer + sizeof buffer, value, static_cast<int>(base)).ptr;
  std::string out(buffer, end);
  if (upper) {
    for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  }
  return out;
}

namespace {

bool is_align(char32_t c) noexcept { return c == '<' || c == '>' || c == '=' || c == '^'; }

int64_t read_number(const char*& p, const char* end) {
  int64_t value = 0;
  for (; p < end && *p >= '0' && *p <= '9'; ++p) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p - '0', &value)) {
      throw Error(ErrorKind::ValueError, "Too many decimal digits in format string");
    }
  }
  return value;
}

}  // namespace

FormatSpec parse_format_spec(std::string_view text, std::string_view type_name) {
  FormatSpec spec;
  const char* p = text.data();
  const char* const end = p + text.size();
  if (p < end) {
    const char* second = p;
    const uint32_t first = decode_char(second);
    if (second < end && is_align(static_cast<unsigned char>(*second))) {
      spec.fill = first;
      spec.align = *second;
      p = second + 1;
    } else if (is_align(first)) {
      spec.align = *p++;
    }
  }
  const bool fill_given = spec.align != 0 && p - text.data() > 1;
  if (p < end && (*p == '+' || *p == '-' || *p == ' ')) spec.sign = *p++, spec.sign_given = true;
  if (p < end && *p == 'z') ++p, spec.no_negative_zero = true;
  if (p < end && *p == '#') ++p, spec.alternate = true;
  if (p < end && *p == '0' && !fill_given) {
    ++p;
    spec.zero = true;
    spec.fill = '0';
    if (spec.align == 0) spec.align = type_name == "str" ? '<' : '=';
  }
  if (p < end && *p >= '0' && *p <= '9') spec.width = read_number(p, end);
  if (p < end && *p == ',') ++p, spec.grouping = ',';
  if (p < end && *p == '_') {
    if (spec.grouping != 0) throw Error(ErrorKind::ValueError, "Cannot specify both ',' and '_'.");
    ++p;
    spec.grouping = '_';
  }
  if (p < end && *p == ',' && spec.grouping != 0) {
    throw Error(ErrorKind::ValueError,
                spec.grouping == ',' ? "Cannot specify ',' with ','." : "Cannot specify both ',' and '_'.");
  }
  if (p < end && *p == '.') {
    ++p;
    if (p == end || *p < '0' || *p > '9') throw Error(ErrorKind::ValueError, "Format specifier missing precision");
    spec.precision = read_number(p, end);
    if (spec.precision > INT32_MAX) throw Error(ErrorKind::ValueError, "precision too big");
  }
  if (p < end) spec.type = decode_char(p);
  if (p < end) {
    throw Error(ErrorKind::ValueError, "Invalid format specifier '" + std::string(text) + "' for object of type '" +
                                           std::string(type_name) + "'");
  }
  if (spec.grouping != 0) {
    const char32_t t = spec.type == 0 && type_name == "str" ? U's' : spec.type;
    const bool float_or_int =
        t == 0 || t == 'd' || t == 'e' || t == 'f' || t == 'g' || t == 'E' || t == 'F' || t == 'G' || t == '%';
    const bool based = t == 'b' || t == 'o' || t == 'x' || t == 'X';
    if (!float_or_int && !(based && spec.grouping == '_')) {
      std::string shown;
      if (t > 32 && t < 128) {
        shown = std::string("'") + static_cast<char>(t) + "'";
      } else {
        char buffer[24];
        std::snprintf(buffer, sizeof buffer, "'\\x%x'", static_cast<unsigned>(t));
        shown = buffer;
      }
      throw Error(ErrorKind::ValueError, std::string("Cannot specify '") + spec.grouping + "' with " + shown + ".");
    }
  }
  return spec;
}

namespace {

[[noreturn]] void throw_unknown_code(char32_t type, std::string_view type_name) {
  std::string shown;
  if (type > 32 && type < 128) {
    shown = static_cast<char>(type);
  } else {
    char buffer[24];
    std::snprintf(buffer, sizeof buffer, "\\x%x", static_cast<unsigned>(type));
    shown = buffer;
  }
  throw Error(ErrorKind::ValueError,
              "Unknown format code '" + shown + "' for object of type '" + std::string(type_name) + "'");
}

// Groups of digits of the integer part, from the right; with zero filling the zeros are grouped too.
std::string group_digits(std::string_view digits, char separator, int group, int64_t min_width) {
  std::string reversed;
  int in_group = 0;
  size_t i = digits.size();
  while (i > 0 || static_cast<int64_t>(reversed.size()) < min_width) {
    if (in_group == group) {
      reversed += separator;
      in_group = 0;
    }
    reversed += i > 0 ? digits[--i] : '0';
    ++in_group;
  }
  return std::string(reversed.rbegin(), reversed.rend());
}

// sign + prefix + digits + rest, padded as the spec wants it.
std::string assemble(std::string_view sign, std::string_view prefix, std::string_view digits, std::string_view rest,
                     int group, const FormatSpec& spec) {
  std::string body;
  const bool zero_fill = spec.fill == '0' && spec.align == '=';
  if (spec.grouping != 0 && !digits.empty()) {  // inf and nan have no digits
    const int64_t others = static_cast<int64_t>(sign.size() + prefix.size() + rest.size());
    body = group_digits(digits, spec.grouping, group, zero_fill ? spec.width - others : 0);
  } else {
    body = digits;
  }
  std::string head = std::string(sign) + std::string(prefix);
  body += rest;
  if (spec.align == '=') {
    const int64_t missing = spec.width - static_cast<int64_t>(head.size() + body.size());
    for (int64_t i = 0; i < missing; ++i) append_char(head, spec.fill);
    return head + body;
  }
  head += body;
  return pad_text(head, head.size(), spec, '>');
}

void check_width(const FormatSpec& spec) {
  if (spec.width > (int64_t{1} << 31)) throw Error(ErrorKind::MemoryError, std::string());
}

std::string_view sign_of(bool negative, const FormatSpec& spec) {
  return negative ? "-" : spec.sign == '+' ? "+" : spec.sign == ' ' ? " " : "";
}

// `part`: of a complex number, which is written without a `.0`.
std::string format_float_spec(double value, const FormatSpec& spec, std::string_view type_name, bool part = false) {
  char type = static_cast<char>(spec.type);
  int precision = static_cast<int>(spec.precision), flags = spec.alternate ? kAlternate : 0;
  switch (spec.type) {
    case 0:
      if (!part) flags |= kAddDotZero;
      type = precision < 0 ? 'r' : 'g';
      break;
    case 'n': type = 'g'; break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case '%': break;
    default: throw_unknown_code(spec.type, type_name);
  }
  if (precision < 0) precision = 6;
  std::string text = float_text(value, type, precision, flags);
  if (spec.width < 0 && spec.grouping == 0 && spec.sign == '-' && !spec.no_negative_zero) return text;
  bool negative = text[0] == '-';
  if (negative) text.erase(0, 1);
  if (negative && spec.no_negative_zero && text.find_first_of("123456789") == text.npos && text[0] == '0')
    negative = false;
  size_t whole = 0;
  while (whole < text.size() && text[whole] >= '0' && text[whole] <= '9') ++whole;
  return assemble(sign_of(negative, spec), "", std::string_view(text).substr(0, whole),
                  std::string_view(text).substr(whole), 3, spec);
}

}  // namespace

namespace {

// What a spec asks for is refused before it is built, for the text is made outside of the script's memory.
void expect_text(Interpreter& in, const FormatSpec& spec) {
  check_width(spec);
  const int64_t wanted = std::max<int64_t>(spec.width, 0) + std::max<int64_t>(spec.precision, 0);
  if (wanted > 0) in.heap.expect(2 * static_cast<size_t>(wanted));
}

}  // namespace

std::string pad_text(std::string_view text, size_t length, const FormatSpec& spec, char default_align) {
  check_width(spec);
  const int64_t missing = spec.width - static_cast<int64_t>(length);
  if (missing <= 0) return std::string(text);
  const char align = spec.align != 0 ? spec.align : default_align;
  const int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  std::string fill;
  append_char(fill, spec.fill);
  std::string out;
  out.reserve(text.size() + static_cast<size_t>(missing) * fill.size());
  const auto put = [&](int64_t times) {
    if (fill.size() == 1) out.append(static_cast<size_t>(times), fill[0]);
    else
      for (int64_t i = 0; i < times; ++i) out += fill;
  };
  put(left);
  out += text;
  put(missing - left);
  return out;
}

Value format_str_value(Interpreter& in, std::string_view text, std::string_view spec_text) {
  const FormatSpec spec = parse_format_spec(spec_text, "str");
  expect_text(in, spec);
  if (spec.type != 0 && spec.type != 's') throw_unknown_code(spec.type, "str");
  if (spec.sign_given) {
    throw Error(ErrorKind::ValueError, spec.sign == ' ' ? "Space not allowed in string format specifier"
                                                        : "Sign not allowed in string format specifier");
  }
  if (spec.no_negative_zero) {
    throw Error(ErrorKind::ValueError, "Negative zero coercion (z) not allowed in string format specifier");
  }
  if (spec.alternate) throw Error(ErrorKind::ValueError, "Alternate form (#) not allowed in string format specifier");
  if (spec.align == '=') throw Error(ErrorKind::ValueError, "'=' alignment not allowed in string format specifier");
  if (spec.grouping != 0)
    throw Error(ErrorKind::ValueError, std::string("Cannot specify '") + spec.grouping + "' with 's'.");
  size_t length = count_chars(text);
  if (spec.precision >= 0 && static_cast<size_t>(spec.precision) < length) {
    const char* p = text.data();
    for (int64_t i = 0; i < spec.precision; ++i) decode_char(p);
    text = text.substr(0, static_cast<size_t>(p - text.data()));
    length = static_cast<size_t>(spec.precision);
  }
  return make_str(in, pad_text(text, length, spec, '<'));
}

namespace {

// The everyday formats of numbers, "5d", "05", ".2f", "8.3f": [0][width][.precision]type, in ASCII digits.
struct ShortSpec {
  bool zero = false, has_precision = false;
  uint32_t width = 0, precision = 0;
  char type = 0;  // 0: not given
};

constexpr uint32_t kWidest = 40;

// Returns false if the text is anything else, or asks for more than kWidest characters.
bool read_short(std::string_view text, ShortSpec& spec) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](uint32_t& value) {
    const char* const first = at;
    for (; at != end && *at >= '0' && *at <= '9' && value <= kWidest; ++at) value = 10 * value + static_cast<uint32_t>(*at - '0');
    return at != first && value <= kWidest;
  };
  if (at != end && *at == '0') spec.zero = true, ++at;
  if (at != end && *at >= '0' && *at <= '9' && !number(spec.width)) return false;
  if (at != end && *at == '.') {
    spec.has_precision = true;
    ++at;
    if (!number(spec.precision)) return false;
  }
  if (at != end) spec.type = *at++;
  return at == end;
}

// The number in front of `end`, padded on its left.
Value padded_number(Interpreter& in, const char* text, const char* end, const ShortSpec& spec) {
  const auto size = static_cast<size_t>(end - text);
  if (size >= spec.width) return make_str(in, {text, size}, size);
  char padded[kWidest];
  const size_t sign = spec.zero && *text == '-' ? 1 : 0, padding = spec.width - size;
  std::memcpy(padded, text, sign);
  std::memset(padded + sign, spec.zero ? '0' : ' ', padding);
  std::memcpy(padded + sign + padding, text + sign, size - sign);
  return make_str(in, {padded, spec.width}, spec.width);
}

// Undefined: the long way.
Value format_shortly(Interpreter& in, int64_t value, std::string_view text) {
  ShortSpec spec;
  if (!read_short(text, spec) || spec.has_precision || (spec.type != 0 && spec.type != 'd')) return Value();
  char digits[24];
  return padded_number(in, digits, std::to_chars(digits, std::end(digits), value).ptr, spec);
}

Value format_shortly(Interpreter& in, double value, std::string_view text) {
  constexpr double kMost = 1e15;  // 15 digits before the point
  ShortSpec spec;
  if (!(std::fabs(value) < kMost) || !read_short(text, spec) || spec.type != 'f') return Value();
  char digits[kWidest + 24];
  const int precision = spec.has_precision ? static_cast<int>(spec.precision) : 6;
  const auto done = std::to_chars(digits, std::end(digits), value, std::chars_format::fixed, precision);
  return padded_number(in, digits, done.ptr, spec);
}

void refuse_for_ints(const FormatSpec& spec) {
  if (spec.precision >= 0) throw Error(ErrorKind::ValueError, "Precision not allowed in integer format specifier");
  if (spec.no_negative_zero) throw Error(ErrorKind::ValueError, "Negative zero coercion (z) not allowed in integer format specifier");
}

}  // namespace

Value format_int_value(Interpreter& in, const Value& value, std::string_view spec_text, std::string_view type_name) {
  if (value.is_int()) {
    if (Value text = format_shortly(in, value.as_int(), spec_text); !text.is_undefined()) return text;
  }
  const FormatSpec spec = parse_format_spec(spec_text, type_name);
  expect_text(in, spec);
  check_width(spec);
  unsigned base = 10;
  std::string prefix;
  switch (spec.type) {
    case 0:
    case 'd':
    case 'n': break;
    case 'b': base = 2, prefix = "0b"; break;
    case 'o': base = 8, prefix = "0o"; break;
    case 'x': base = 16, prefix = "0x"; break;
    case 'X': base = 16, prefix = "0X"; break;
    case 'c': {
      refuse_for_ints(spec);
      if (spec.sign_given) throw Error(ErrorKind::ValueError, "Sign not allowed with integer format specifier 'c'");
      if (spec.alternate)
        throw Error(ErrorKind::ValueError, "Alternate form (#) not allowed with integer format specifier 'c'");
      const int64_t code = whole_to_int64(value, "long");
      if (code < 0 || code > 0x10ffff) throw Error(ErrorKind::OverflowError, "%c arg not in range(0x110000)");
      std::string text;
      append_char(text, static_cast<uint32_t>(code));
      return make_str(in, pad_text(text, 1, spec, '>'));
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case '%': return make_str(in, format_float_spec(whole_to_float(value), spec, type_name));
    default: throw_unknown_code(spec.type, type_name);
  }
  refuse_for_ints(spec);
  std::string digits = is_big_int(value) || base != 10 ? whole_text(in, value, base, spec.type == 'X') : int_text(value.as_int());
  if (spec.width < 0 && spec.grouping == 0 && spec.sign == '-' && !spec.alternate)
    return make_str(in, digits, digits.size());
  const bool negative = digits[0] == '-';
  if (negative) digits.erase(0, 1);
  return make_str(
      in, assemble(sign_of(negative, spec), spec.alternate ? prefix : "", digits, "", base == 10 ? 3 : 4, spec));
}

Value format_float_value(Interpreter& in, double value, std::string_view spec_text) {
  if (Value text = format_shortly(in, value, spec_text); !text.is_undefined()) return text;
  const FormatSpec spec = parse_format_spec(spec_text, "float");
  expect_text(in, spec);
  check_width(spec);
  return make_str(in, format_float_spec(value, spec, "float"));
}

Value format_complex_value(Interpreter& in, double real, double imag, std::string_view spec_text) {
  FormatSpec spec = parse_format_spec(spec_text, "complex");
  expect_text(in, spec);
  if (spec.type >= 0x80 || std::strchr("efgnEFG", static_cast<int>(spec.type)) == nullptr) throw_unknown_code(spec.type, "complex");
  if (spec.fill == '0') throw Error(ErrorKind::ValueError, "Zero padding is not allowed in complex format specifier");
  if (spec.align == '=')
    throw Error(ErrorKind::ValueError, "'=' alignment flag is not allowed in complex format specifier");
  FormatSpec part = spec;
  part.width = -1;
  part.align = 0;
  // Without a type the text is repr's: parentheses, and no real part if that is 0.0.
  const bool plain = spec.type == 0, with_real = !plain || real != 0 || std::signbit(real);
  std::string text;
  if (with_real) text = format_float_spec(real, part, "complex", true);
  if (with_real) part.sign = '+';
  text += format_float_spec(imag, part, "complex", true) + "j";
  if (plain && with_real) text = "(" + text + ")";
  return make_str(in, pad_text(text, text.size(), spec, '>'));
}

}  // namespace tessera::lang
