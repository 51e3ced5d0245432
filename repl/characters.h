// Characters of UTF-8 text as a terminal shows them: where the next one begins, and how many columns it takes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera::repl {

// The code point at byte `at`, which must be inside; a broken byte is U+FFFD and one byte long.
struct CodePoint {
  char32_t code;
  size_t bytes;
};
CodePoint code_point_at(std::string_view text, size_t at);

// Columns of one code point: 0 for those that combine with the one before, 2 for wide ones, by libc's table for UTF-8
// whatever the locale is. Control characters take none here: whoever shows them writes them otherwise.
int columns_of(char32_t code);

// What a terminal would take for an order, or for another direction of what follows: never written to one, something else of
// one column stands for it. Broken bytes too.
bool is_order(char32_t code);
int columns_of(std::string_view text);

// What a cursor moves over as one: a code point with those that combine with it.
size_t character_after(std::string_view text, size_t at);
size_t character_before(std::string_view text, size_t at);

void append_utf8(std::string& text, char32_t code);

// Bytes that begin a character whose end has not come yet, at the end of `text`: 0 to 3.
size_t unfinished_utf8(std::string_view text);

// The longest beginning of whole characters that takes no more than `columns`.
std::string_view fitting(std::string_view text, int columns);

}  // namespace tessera::repl
