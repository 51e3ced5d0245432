// The stations of parsing, one after another, and the one place where a Refusal is caught.
// compile: few-inlines (runs once for a program's text)
#include "lang/syntax/parse.h"

#include <utility>

#include "lang/syntax/parse_builder.h"
#include "lang/syntax/parse_checks.h"
#include "lang/syntax/parse_faults.h"
#include "lang/syntax/parse_grammar.h"

namespace tessera::lang {
namespace {

ParseResult failed(SyntaxError error) {
  ParseResult result;
  result.error = std::move(error);
  return result;
}

SyntaxError too_deep(const Source& source) {
  return make_syntax_error(source, {0, 0}, "maximum recursion depth exceeded during compilation",
                           SyntaxError::Class::kRecursionError);
}

// eval() ignores blanks before its expression, where a file would call them indentation.
void drop_indentation(Tokens& tokens) {
  if (tokens.kinds.empty() || tokens.kind(0) != Token::kIndent) return;
  tokens.kinds.erase(0, 1);
  tokens.spans.erase(tokens.spans.begin());
  if (tokens.error) return;
  std::size_t dedent = tokens.kinds.size() - 2;
  tokens.kinds.erase(dedent, 1);
  tokens.spans.erase(tokens.spans.begin() + static_cast<std::ptrdiff_t>(dedent));
}

}  // namespace

ParseResult parse(const Source& source, ParseMode mode, Growth* growth) {
  bool is_expression = mode == ParseMode::kExpression;
  Tokens tokens = tokenize(source, growth);
  if (is_expression) drop_indentation(tokens);
  Arena scratch(growth);
  GrammarResult grammar =
      match_grammar(tokens, is_expression ? GrammarStart::kExpression : GrammarStart::kFile, scratch);
  if (grammar.too_deep) return failed(too_deep(source));
  if (grammar.root == nullptr) return failed(explain_fault(source, tokens, grammar.furthest));
  ParseResult result;
  auto tree = std::make_unique<ast::Tree>(growth);
  try {
    Builder builder(source, tokens, *tree);
    if (is_expression) tree->expression = builder.expression((*grammar.root)[0]);
    else tree->body = builder.file(*grammar.root);
    check_placement(*tree);
  } catch (const Refusal& refusal) {
    return failed(make_syntax_error(source, refusal.span, refusal.message, refusal.error_class));
  }
  result.tree = std::move(tree);
  return result;
}

Completeness is_complete(std::string_view text) {
  // Behind a backslash comes a line; without the newline the lexer says whether it is one that joins lines.
  if (text.ends_with("\\\n") && is_complete(text.substr(0, text.size() - 1)) == Completeness::kIncomplete)
    return Completeness::kIncomplete;
  Source source("<input>", text);
  ParseResult result = parse(source);
  if (result.error) return result.error->incomplete ? Completeness::kIncomplete : Completeness::kInvalid;
  if (result.tree->body.empty()) return Completeness::kComplete;
  // A compound statement goes on until a blank line, even if it could end here.
  bool compound = result.tree->body.back()->kind >= ast::StmtKind::kIf;
  std::string_view lines = source.text();
  if (lines.ends_with('\n')) lines.remove_suffix(1);
  std::string_view last = lines.substr(lines.rfind('\n') + 1);
  bool blank = last.find_first_not_of(" \t\f") == std::string_view::npos;
  return compound && !blank ? Completeness::kIncomplete : Completeness::kComplete;
}

}  // namespace tessera::lang
