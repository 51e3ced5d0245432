// CPython explains a fault by parsing a second time with rules for common mistakes. So do we, but by looking at the tokens.
#include "lang/parse_faults.h"

namespace tessera {

SyntaxError explain_fault(const Source& source, const Tokens& tokens, std::uint32_t furthest, bool expression) {
  (void)expression;
  if (tokens.error && (tokens.error->pervasive || tokens.kind(furthest) == Token::kError)) {
    SyntaxError error = make_syntax_error(source, tokens.error->span, tokens.error->message, tokens.error->error_class);
    error.incomplete = tokens.error->at_end;
    return error;
  }
  return make_syntax_error(source, tokens.spans[furthest], "invalid syntax");
}

}  // namespace tessera
