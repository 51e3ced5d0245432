// What is wrong with the arguments of a call, in CPython's words and in the order in which its parser looks for the faults.
#pragma once

#include <cstdint>
#include <optional>

#include "lang/syntax/arena.h"
#include "lang/syntax/lexer.h"

namespace tessera::lang {

struct ArgumentFault {
  const char* message;
  std::uint32_t first, last;  // the tokens that the error shows
};

// A fault whose first token is kError is the text's own, as the lexer says it.
// Returns the fault of the arguments that begin at token `begin`, behind the call's parenthesis. `furthest` is the
// furthest token that has been looked at. Returns nothing if all of them are read, or if what stops the reading is no fault of the order of arguments.
std::optional<ArgumentFault> argument_fault(const Tokens& tokens, std::uint32_t begin, std::uint32_t furthest, Arena& arena);
// Returns the first token before token `limit` at which CPython stops to read these arguments since it may not follow those before it
// (f(a=1, b), f(**a, *b)); `limit` if there is none.
std::uint32_t misplaced_argument(const Tokens& tokens, std::uint32_t begin, std::uint32_t limit, Arena& arena);

}  // namespace tessera::lang
