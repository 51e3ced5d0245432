// The pieces of a text that may be half a program: names, numbers, strings, comments, operators, ends of lines. Unlike the
// lexer it refuses nothing, for who types is in the middle of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::lang {

struct Piece {
  enum class Kind : uint8_t { Name, Number, String, OpenString, Comment, Operator, Newline };
  Kind kind;
  size_t begin, end;
  size_t inside = 0;  // of strings: where what is between the quotes begins

  bool is(std::string_view text, std::string_view what) const { return text.substr(begin, end - begin) == what; }
};

// OpenString: one that the text ends in. Operators are single characters.
std::vector<Piece> pieces_of(std::string_view text);

bool is_name_byte(char c);

// The bracket that is open at the end: its place among the pieces, or npos.
size_t open_bracket(std::string_view text, const std::vector<Piece>& pieces);
// The first piece of the statement that the last one belongs to.
size_t statement_begin(std::string_view text, const std::vector<Piece>& pieces);
// Where a text's logical lines begin that stand at its left edge: outside of brackets and strings.
std::vector<size_t> logical_lines(std::string_view text);
// Does it end with a semicolon, comments left out?
bool ends_with_semicolon(std::string_view text);

}  // namespace tessera::lang
