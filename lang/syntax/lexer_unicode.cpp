// Which code points make a name. The tables are Unicode's; looking up is a binary search, and ASCII never gets here.
#include <algorithm>
#include <iterator>

#include "lang/syntax/lexer.h"

namespace tessera::lang {
namespace {

struct CodePointRange {
  char32_t first;
  char32_t last;
};

#include "lang/syntax/identifier_ranges.inc"

template <std::size_t N>
bool contains(const CodePointRange (&ranges)[N], char32_t c) {
  auto after = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                [](char32_t value, const CodePointRange& range) { return value < range.first; });
  return after != std::begin(ranges) && c <= std::prev(after)->last;
}

bool is_ascii_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

bool is_identifier_start(char32_t c) { return c < 0x80 ? is_ascii_letter(c) : contains(kStartRanges, c); }

bool is_identifier_part(char32_t c) {
  return c < 0x80 ? is_ascii_letter(c) || (c >= '0' && c <= '9') : contains(kPartRanges, c);
}

}  // namespace tessera::lang
