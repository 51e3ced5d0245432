#include "repl/characters.h"

#include <clocale>
#include <cwchar>

#include <locale.h>

namespace tessera::repl {
namespace {

constexpr char32_t kBroken = 0xfffd;
constexpr char32_t kJoiner = 0x200d;      // zero width joiner: what follows belongs to the same picture
constexpr char32_t kEmojiShape = 0xfe0f;  // variation selector 16

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

size_t length_by_first_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x80) return 1;
  if (byte >= 0xc2 && byte < 0xe0) return 2;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  if (byte >= 0xf0 && byte < 0xf5) return 4;
  return 0;
}

// The process keeps the locale that it has ("C" as a rule, which knows no width): only these questions are asked in another.
// Null where the system has none for UTF-8.
locale_t utf8_locale() {
  static const locale_t made = [] {
    for (const char* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"})
      if (locale_t found = newlocale(LC_CTYPE_MASK, name, nullptr)) return found;
    return locale_t{};
  }();
  return made;
}

int libc_width(char32_t code) {
  const locale_t locale = utf8_locale();
  if (locale == locale_t{}) return 1;
  const locale_t before = uselocale(locale);
  const int width = wcwidth(static_cast<wchar_t>(code));
  uselocale(before);
  return width;
}

}  // namespace

CodePoint code_point_at(std::string_view text, size_t at) {
  const size_t length = length_by_first_byte(text[at]);
  const auto first = static_cast<unsigned char>(text[at]);
  if (length == 1) return {first, 1};
  if (length == 0 || at + length > text.size()) return {kBroken, 1};
  char32_t code = first & (0xff >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[at + i])) return {kBroken, 1};
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3f);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {kBroken, 1};
  return {code, length};
}

bool is_order(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

int columns_of(char32_t code) {
  if (code < 0x20 || code == 0x7f) return 0;
  if (code < 0x7f || is_order(code)) return 1;
  const int width = libc_width(code);
  return width < 0 ? 1 : width;  // not assigned in libc's table: newer than libc, most likely a picture of its own
}

int columns_of(std::string_view text) {
  int columns = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    columns += columns_of(point.code);
    at += point.bytes;
  }
  return columns;
}

size_t character_after(std::string_view text, size_t at) {
  if (at >= text.size()) return text.size();
  CodePoint point = code_point_at(text, at);
  at += point.bytes;
  if (point.code == '\n') return at;
  while (at < text.size()) {
    const CodePoint next = code_point_at(text, at);
    const bool joins = next.code == kJoiner || next.code == kEmojiShape || point.code == kJoiner ||
                       (next.code >= 0x300 && columns_of(next.code) == 0);
    if (!joins) break;
    at += next.bytes;
    point = next;
  }
  return at;
}

size_t character_before(std::string_view text, size_t at) {
  if (at == 0) return 0;
  // Combining ones are few: from the last character that is certain to begin one, forward.
  size_t from = at - 1;
  while (from > 0 && at - from < 64 && static_cast<unsigned char>(text[from]) >= 0x80) --from;
  while (from > 0 && is_continuation(text[from])) --from;
  for (;;) {
    const size_t next = character_after(text, from);
    if (next >= at) return from;
    from = next;
  }
}

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f)), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
  }
}

size_t unfinished_utf8(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const char c = text[text.size() - back];
    if (is_continuation(c)) continue;
    return length_by_first_byte(c) > back ? back : 0;
  }
  return 0;
}

std::string_view fitting(std::string_view text, int columns) {
  size_t at = 0;
  for (int taken = 0; at < text.size();) {
    const size_t next = character_after(text, at);
    taken += columns_of(text.substr(at, next - at));
    if (taken > columns) break;
    at = next;
  }
  return text.substr(0, at);
}

}  // namespace tessera::repl
