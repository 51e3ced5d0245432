// The checks behind the lexer's rules that need no grammar: is the text UTF-8, is this number whole, does this field of an
// f-string end. All answer with CPython's message and the bytes it belongs to.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "lang/syntax/source.h"

namespace tessera::lang {

struct Fault {
  std::string message;
  Span span;
};

// The first NUL byte or byte that is not UTF-8.
std::optional<Fault> encoding_fault(const Source& source);

// What is wrong with the number that the lexer took as text[begin, end), judged by how it goes on.
std::optional<Fault> number_fault(std::string_view text, std::uint32_t begin, std::uint32_t end);

// The first character of a name that does not belong there (the span of a non-ASCII run is given).
std::optional<Fault> name_fault(std::string_view text, Span name);

// The message for a character that begins no token at all; empty for those the grammar refuses ('$', '?', '!').
std::string foreign_character(char32_t c);

// Code point at text[at], and how many bytes it takes; the text is known to be UTF-8.
struct CodePoint {
  char32_t value;
  std::uint32_t length;
};
CodePoint decode_utf8(std::string_view text, std::size_t at);
void append_utf8(std::string& out, char32_t c);

// Where the expression of an f-string's field that begins at `begin` ends (at '!', ':', '=' or '}' outside brackets and
// strings); sets `fault` when it does not.
std::uint32_t find_field_end(std::string_view text, Span body, std::uint32_t begin, std::optional<Fault>& fault);

}  // namespace tessera::lang
