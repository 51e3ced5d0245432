#include "repl/page/utf16.h"

#include <algorithm>
#include <cstdint>

namespace tessera::repl::page {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;

// The character at `at`, which moves behind it.
uint32_t next_character(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at++);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 && first < 0xF5 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first >= 0xF5) return kReplacement;
  uint32_t character = first & (0x3F >> more);
  for (int i = 0; i < more; ++i, ++at) {
    if (at >= text.size() || (byte(at) & 0xC0) != 0x80) return kReplacement;
    character = character << 6 | (byte(at) & 0x3F);
  }
  const bool overlong = (more == 2 && character < 0x800) || (more == 3 && character < 0x10000);
  if (overlong || character > 0x10FFFF || (character >= 0xD800 && character < 0xE000)) return kReplacement;
  return character;
}

void append_utf8(std::string& out, uint32_t character) {
  if (character < 0x80) {
    out += static_cast<char>(character);
    return;
  }
  const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  constexpr uint32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kFirst[more] | character >> (6 * more));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (character >> (6 * i) & 0x3F));
}

}  // namespace

std::u16string to_utf16(std::string_view text) {
  std::u16string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const uint32_t character = next_character(text, at);
    if (character < 0x10000) {
      out += static_cast<char16_t>(character);
    } else {
      out += static_cast<char16_t>(0xD800 + ((character - 0x10000) >> 10));
      out += static_cast<char16_t>(0xDC00 + ((character - 0x10000) & 0x3FF));
    }
  }
  return out;
}

std::string to_utf8(std::u16string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    uint32_t character = text[i];
    const bool high = character >= 0xD800 && character < 0xDC00;
    if (high && i + 1 < text.size() && text[i + 1] >= 0xDC00 && text[i + 1] < 0xE000) {
      character = 0x10000 + ((character - 0xD800) << 10) + (text[++i] - 0xDC00U);
    } else if (character >= 0xD800 && character < 0xE000) {
      character = kReplacement;
    }
    append_utf8(out, character);
  }
  return out;
}

size_t byte_of_unit(std::string_view text, size_t units) {
  size_t at = 0;
  for (size_t before = 0; at < text.size() && before < units;) before += next_character(text, at) < 0x10000 ? 1 : 2;
  return at;
}

size_t units_before(std::string_view text, size_t bytes) {
  size_t units = 0;
  for (size_t at = 0; at < std::min(bytes, text.size());) units += next_character(text, at) < 0x10000 ? 1 : 2;
  return units;
}

}  // namespace tessera::repl::page
