// Why tokens are not of the language, in CPython's words. Runs only when the grammar has refused them.
#pragma once

#include "lang/syntax/lexer.h"
#include "lang/syntax/syntax_error.h"

namespace tessera::lang {

// `furthest` is the furthest token that the grammar looked at.
SyntaxError explain_fault(const Source& source, const Tokens& tokens, std::uint32_t furthest);

}  // namespace tessera::lang
