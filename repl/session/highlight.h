// What each piece of a text is, for colours: also of one that is half typed, where the parser can say nothing. A prompt and
// a page show it; where the next line of a block begins is read from it too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::repl {

enum class TokenClass : uint8_t {
  kPlain,
  kKeyword,
  kConstant,  // True, False, None
  kBuiltin,   // print, len, ...; self
  kDefined,   // the name behind def or class
  kNumber,
  kString,
  kComment,
  kDecorator,
  kBracket,
  kCommand,     // ":tensors", "%time", "!", the "?" behind a name
  kOpenString,  // a string of one line that does not end
};

struct TokenSpan {
  size_t begin = 0, end = 0;
  TokenClass what = TokenClass::kPlain;

  friend bool operator==(const TokenSpan&, const TokenSpan&) = default;
};

// In order; what lies between them is plain. Linear in the text, for every keystroke.
std::vector<TokenSpan> highlight(std::string_view text);

// The bracket at `cursor`, else the one before it, with its partner; of half-typed text too.
std::optional<std::pair<size_t, size_t>> matching_brackets(std::string_view text, const std::vector<TokenSpan>& spans,
                                                           size_t cursor);

// The indentation of the line that follows `text`: one level deeper behind a ':', below what follows an open bracket, one
// level less behind return, pass, break, continue and raise.
std::string next_indentation(std::string_view text);

// The last line of `text` is an else, elif, except, finally or case with its ':': the indentation that it should have, that
// of the statement it belongs to. None: it stands right, or belongs to nothing.
std::optional<std::string> clause_indentation(std::string_view text);

inline constexpr size_t kIndentation = 4;

}  // namespace tessera::repl
