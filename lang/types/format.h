// Numbers as text: repr, format specifications, the % operator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lang/core/error.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

// The shortest text that reads back as the same number, as Python writes it.
std::string float_repr(double value);
std::string int_text(int64_t value);

enum FloatFlags { kAlternate = 1, kAddDotZero = 2 };
// type: e f g E F G % r. The sign is in front when negative.
std::string float_text(double value, char type, int precision, int flags = 0);

// [[fill]align][sign][z][#][0][width][grouping][.precision][type]
struct FormatSpec {
  uint32_t fill = ' ';
  char align = 0;  // < > = ^, or 0: not given
  char sign = '-';
  bool sign_given = false;
  bool no_negative_zero = false;
  bool alternate = false;
  bool zero = false;
  int64_t width = -1;
  char grouping = 0;  // , or _
  int64_t precision = -1;
  char32_t type = 0;  // 0: not given
};
FormatSpec parse_format_spec(std::string_view text, std::string_view type_name);

Value format_str_value(Interpreter& in, std::string_view text, std::string_view spec);
// Names the class of `self` in the message of a format that was refused for the built-in type below it.
void name_class_in(Interpreter& in, const Value& self, std::string_view built_in, Error& error);
// `value` is whole (bigint.h).
Value format_int_value(Interpreter& in, const Value& value, std::string_view spec, std::string_view type_name = "int");
Value format_float_value(Interpreter& in, double value, std::string_view spec);
Value format_complex_value(Interpreter& in, double real, double imag, std::string_view spec);
// Pads text of `length` characters to the spec's width.
std::string pad_text(std::string_view text, size_t length, const FormatSpec& spec, char default_align);

// 'text' % values.
Value percent_format(Interpreter& in, std::string_view text, const Value& values);
// 'text'.format(*args, **kwargs); `mapping` for format_map, else Undefined.
std::string brace_format(Interpreter& in, std::string_view text, const Value& args, const Value& kwargs);

// What ascii() does to a text: everything else than ASCII escaped.
std::string escape_non_ascii(std::string_view text);

std::string digits_in_base(uint64_t value, unsigned base, bool upper = false);

}  // namespace tessera::lang
