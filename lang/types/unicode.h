// What a character is and what its other cases are, for all of Unicode as CPython 3.11's str sees it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::lang::unicode {

enum Flag : uint16_t {
  kAlpha = 1,
  kDecimal = 2,
  kDigit = 4,
  kNumeric = 8,
  kSpace = 16,
  kPrintable = 32,
  kLower = 64,
  kUpper = 128,
  kTitle = 256,
  kCased = 512,
  kCaseIgnorable = 1024,
  kIdStart = 2048,
  kIdContinue = 4096,
  kSpecial = 8192,
};

uint16_t flags(uint32_t code_point) noexcept;
inline bool is(uint32_t code_point, Flag flag) noexcept { return (flags(code_point) & flag) != 0; }
int decimal_value(uint32_t code_point) noexcept;  // 0..9, or -1

enum class Case { Lower, Upper, Title, Fold };
// Appends the mapping of one character, which may be up to three. Final sigma is the caller's business.
void append_case(std::string& out, uint32_t code_point, Case which);

inline bool is_ascii_space(unsigned char c) noexcept { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }
bool is_identifier(std::string_view text) noexcept;

}  // namespace tessera::lang::unicode
