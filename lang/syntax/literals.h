// The values of literals: numbers, and the escapes of strings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lang/syntax/arena.h"

namespace tessera::lang {

struct NumberValue {
  enum class Kind : std::uint8_t { kInt, kFloat, kImaginary, kBigInt };
  Kind kind;
  std::uint64_t integer = 0;  // kInt: below 2^63
  double real = 0;
};

// `text` is a number as the lexer accepts it, underscores and all.
NumberValue parse_number(std::string_view text);

// A string literal taken apart: its prefix, and what stands between the quotes.
struct StringParts {
  std::string_view body;
  bool raw = false;
  bool bytes = false;
};
StringParts split_string(std::string_view literal);

// Appends the value of `body` to `out` with escapes replaced. Answers CPython's message when an escape is malformed.
std::optional<std::string> decode_escapes(std::string_view body, std::string& out, Growth* growth = nullptr);
// The same for what stands in b'...': \x and octal escapes give bytes, \u, \U and \N are none.
std::optional<std::string> decode_byte_escapes(std::string_view body, std::string& out);

}  // namespace tessera::lang
