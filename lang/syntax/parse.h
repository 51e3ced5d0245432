// Text to tree. No exception leaves this header but those of `growth`: what is wrong with the text is a value.
//
// The way: lexer (PEGTL, one byte per token) -> grammar (PEGTL over those bytes) -> builder (typed nodes, operators folded
// by binding powers, literals decoded) -> checks of placement (return outside a function, ...). Names are not resolved here.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "lang/syntax/ast.h"
#include "lang/syntax/source.h"
#include "lang/syntax/syntax_error.h"

namespace tessera::lang {

enum class ParseMode : std::uint8_t {
  kFile,        // statements: a module, a script, or one entry at a prompt
  kExpression,  // one expression, as for eval()
};

struct ParseResult {
  std::unique_ptr<ast::Tree> tree;   // null when the text is wrong
  std::optional<SyntaxError> error;  // set when the text is wrong

  explicit operator bool() const { return tree != nullptr; }
};

ParseResult parse(const Source& source, ParseMode mode = ParseMode::kFile, Growth* growth = nullptr);

// What a prompt asks after each line: run it, show an error, or read another line?
// A compound statement counts as incomplete until a blank line ends it: "if x:\n  y\n\n" is complete, one "\n" less is not.
enum class Completeness : std::uint8_t { kComplete, kIncomplete, kInvalid };

Completeness is_complete(std::string_view text);

}  // namespace tessera::lang
