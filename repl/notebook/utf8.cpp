#include "repl/notebook/utf8.h"

#include <cstddef>

namespace tessera::repl {
namespace {

// The length of the character at `at`; 0: it is none.
size_t character_at(std::string_view bytes, size_t at) {
  const auto byte = [&](size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
  const unsigned first = byte(at), second = byte(at + 1);
  const auto follows = [&](size_t i) { return (byte(at + i) & 0xc0) == 0x80; };
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf && follows(1)) return 2;
  if (first >= 0xe0 && first <= 0xef && follows(1) && follows(2))
    return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ? 0 : 3;
  if (first >= 0xf0 && first <= 0xf4 && follows(1) && follows(2) && follows(3))
    return (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f) ? 0 : 4;
  return 0;
}

// "\ud83d" alone, written as characters are.
bool is_half_pair(std::string_view bytes) {
  return bytes.size() == 3 && bytes[0] == '\xed' && (bytes[1] & 0xe0) == 0xa0 && (bytes[2] & 0xc0) == 0x80;
}

}  // namespace

std::string as_utf8(std::string_view bytes) {
  std::string text;
  for (size_t at = 0, good = 0;; ++at) {
    const size_t length = at < bytes.size() ? character_at(bytes, at) : 0;
    if (length > 0) {
      at += length - 1;
      continue;
    }
    text.append(bytes.substr(good, at - good));
    if (at >= bytes.size()) return text;
    text += "\xef\xbf\xbd";
    if (is_half_pair(bytes.substr(at, 3))) at += 2;
    good = at + 1;
  }
}

}  // namespace tessera::repl
