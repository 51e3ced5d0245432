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

// Returns the fault of the arguments that begin at token `begin`, behind the call's parenthesis. `furthest` is the
// furthest token that has been looked at. Returns nothing if all of them are read, or if what stops the reading is no fault of the order of arguments.
std::optional<ArgumentFault> argument_fault(const Tokens& tokens, std::uint32_t begin, std::uint32_t furthest, Arena& arena);

}  // namespace tessera::lang
