// Syntax errors in a list of parameters: CPython's messages, found in the order in which CPython's parser meets the faults.
#pragma once

#include <cstdint>
#include <optional>

#include "lang/syntax/arena.h"
#include "lang/syntax/lexer.h"

namespace tessera::lang {

enum class ParametersOf : std::uint8_t { kDef, kLambda };

struct ParameterFault {
  const char* message;
  std::uint32_t first, last;  // the tokens that the error shows
};

// Returns the fault of the parameter list that begins at token `begin`. Returns nothing if the list is complete and correct, or if an
// annotation or a default value in it is broken, which has messages of its own.
std::optional<ParameterFault> parameter_fault(const Tokens& tokens, ParametersOf owner, std::uint32_t begin, Arena& arena);

}  // namespace tessera::lang
