// What a text most likely does not mean: the SyntaxWarnings and DeprecationWarnings of CPython's compiler.
#pragma once

#include <string>
#include <vector>

#include "lang/syntax/ast.h"
#include "lang/syntax/source.h"

namespace tessera::lang {

class Interpreter;

struct SyntaxWarningAt {
  Span span;
  std::string message;
  bool is_deprecation;  // an escape sequence that means nothing; the others are SyntaxWarnings
};

// In the order of the text.
std::vector<SyntaxWarningAt> find_syntax_warnings(const Source& source, const ast::Tree& tree);

// Tells them through the module `warnings`. One that a filter makes an error raises SyntaxError at its place.
void tell_syntax_warnings(Interpreter& in, const Source& source, const std::vector<SyntaxWarningAt>& warnings);

}  // namespace tessera::lang
