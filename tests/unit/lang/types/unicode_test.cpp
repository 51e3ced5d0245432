// The character tables, at places where a mistake would be easy to make.
#include "doctest/doctest.h"
#include "lang/types/str.h"
#include "lang/types/unicode.h"

using namespace tessera::lang;
using unicode::Case;

namespace {
std::string mapped(uint32_t code_point, Case which) {
  std::string out;
  unicode::append_case(out, code_point, which);
  return out;
}
}  // namespace

TEST_CASE("case mappings may change the number of characters") {
  CHECK(mapped(0xdf, Case::Upper) == "SS");
  CHECK(mapped(0xdf, Case::Fold) == "ss");
  CHECK(mapped(0x1c5, Case::Title) == "\xc7\x85");
  CHECK(mapped('A', Case::Lower) == "a");
  CHECK(mapped(0x10ffff, Case::Upper) == "\xf4\x8f\xbf\xbf");
}

TEST_CASE("decimal digits of any script") {
  CHECK(unicode::decimal_value('7') == 7);
  CHECK(unicode::decimal_value(0x0663) == 3);
  CHECK(unicode::decimal_value(0x1d7ff) == 9);
  CHECK(unicode::decimal_value(0xb2) == -1);
  CHECK(unicode::is(0xb2, unicode::kDigit));
}

TEST_CASE("identifiers") {
  CHECK(unicode::is_identifier("_a1"));
  CHECK(unicode::is_identifier("\xc3\xa9t\xc3\xa9"));
  CHECK_FALSE(unicode::is_identifier("1a"));
  CHECK_FALSE(unicode::is_identifier(""));
}

TEST_CASE("quote chooses quotes and escapes") {
  CHECK(quote("it's") == "\"it's\"");
  CHECK(quote("a\n\\'\"") == "'a\\n\\\\\\'\"'");
  CHECK(quote("\xc3\xa9\x7f") == "'\xc3\xa9\\x7f'");
  CHECK(quote("\xc3\xa9", true) == "'\\xe9'");
}

TEST_CASE("UTF-8 there and back") {
  for (uint32_t cp : {0u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xffffu, 0x10000u, 0x10ffffu}) {
    std::string bytes;
    append_char(bytes, cp);
    const char* p = bytes.data();
    CHECK(decode_char(p) == cp);
    CHECK(p == bytes.data() + bytes.size());
    CHECK(count_chars(bytes) == 1);
  }
}
