// Syntax errors in the arguments of a call: CPython's messages, found in the order in which CPython's parser looks for them.
#pragma once

#include <cstdint>
#include <optional>

#include "lang/syntax/arena.h"
#include "lang/syntax/lexer.h"

namespace tessera::lang {

struct ArgumentFault {
  const char* message;
  std::uint32_t first, last;  // the tokens that the error shows
  // The expression of the last argument that CPython reads before it raises this error: a fault in that expression is raised instead. 0: none.
  std::uint32_t expression = 0;
};

// Returns the fault of the arguments that begin at token `begin`, behind the call's parenthesis. `furthest` is the greatest token index
// that the parser has reached. A fault whose first token is kError stands for the lexer's own message. Returns nothing if all arguments can be read, or if
// the token that stops the reader is no fault of the order of arguments.
std::optional<ArgumentFault> argument_fault(const Tokens& tokens, std::uint32_t begin, std::uint32_t furthest, Arena& arena);
// Returns the first token before token `limit` that begins an argument which may not follow the arguments before it: `b` in f(a=1, b), `*b` in
// f(**a, *b). Returns `limit` if all arguments before that token are in order.
std::uint32_t misplaced_argument(const Tokens& tokens, std::uint32_t begin, std::uint32_t limit, Arena& arena);

}  // namespace tessera::lang
