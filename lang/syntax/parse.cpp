// The stations of parsing, one after another, and the one place where a Refusal is caught.
// compile: few-inlines (runs once for a program's text)
#include "lang/syntax/parse.h"

#include <algorithm>
#include <optional>
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

bool in_field(const Tokens& tokens, std::uint32_t offset) {
  std::string open;  // the f-strings and fields around the place, as tokens
  for (std::size_t i = 0; i < tokens.size() && tokens.spans[i].begin <= offset; ++i) {
    const Token token = tokens.kind(i);
    if (token == Token::kFStart || token == Token::kFOpen) open += tokens.kinds[i];
    else if ((token == Token::kFEnd || token == Token::kFClose) && !open.empty()) open.pop_back();
  }
  return !open.empty() && static_cast<Token>(open.back()) == Token::kFOpen;
}

// CPython parses the expression of a field by itself, and its parser says so of every fault that it finds there.
SyntaxError refused(const Source& source, const Tokens& tokens, const Refusal& refusal) {
  const bool named = refusal.message.starts_with("f-string") || !in_field(tokens, refusal.span.begin);
  return make_syntax_error(source, refusal.span, named ? refusal.message : "f-string: " + refusal.message, refusal.error_class);
}

// The statements before token `end` as a text of their own.
Tokens tokens_before(const Tokens& tokens, std::size_t end) {
  Tokens before;
  before.kinds = tokens.kinds.substr(0, end);
  before.spans.assign(tokens.spans.begin(), tokens.spans.begin() + static_cast<std::ptrdiff_t>(end));
  const auto add = [&](Token token) {
    before.kinds += static_cast<char>(token);
    before.spans.push_back(tokens.spans[end]);
  };
  const auto count = [&](Token token) { return std::count(before.kinds.begin(), before.kinds.end(), static_cast<char>(token)); };
  for (auto blocks = count(Token::kIndent) - count(Token::kDedent); blocks > 0; --blocks) add(Token::kDedent);
  add(Token::kEnd);
  return before;
}

// Our grammar takes what its builder refuses then, such as f(a=1, b); CPython's parser stops at the first of both kinds of faults. Looks at the
// statements before the one with the fault: within its block, or before its block if that has no other.
std::optional<SyntaxError> earlier_refusal(const Source& source, const Tokens& tokens, std::size_t fault, Growth* growth) {
  if (tokens.error && tokens.error->pervasive && !tokens.error->open_bracket) return {};
  const auto breaks = [&](std::size_t i) { return tokens.kind(i) == Token::kNewline || tokens.kind(i) == Token::kIndent || tokens.kind(i) == Token::kDedent; };
  std::size_t line = std::min(fault, tokens.size() - 1);
  while (line > 0 && !breaks(line - 1)) --line;
  std::size_t outer = 0, depth = 0;
  for (std::size_t i = 0; i < line; ++i) {
    if (tokens.kind(i) == Token::kIndent) ++depth;
    if (tokens.kind(i) == Token::kDedent) --depth;
    if (depth == 0 && (tokens.kind(i) == Token::kNewline || tokens.kind(i) == Token::kDedent) && tokens.kind(i + 1) != Token::kIndent) outer = i + 1;
  }
  for (const std::size_t end : {line, outer}) {
    if (end == 0) continue;
    const Tokens before = tokens_before(tokens, end);
    Arena scratch(growth);
    const GrammarResult grammar = match_grammar(before, GrammarStart::kFile, scratch);
    if (grammar.root == nullptr) continue;
    try {
      ast::Tree tree(growth);
      Builder(source, before, tree).file(*grammar.root);
      return {};
    } catch (const Refusal& refusal) {
      SyntaxError error = refused(source, before, refusal);
      const bool behind = tokens.error && error.line > source.line_number(tokens.error->span.begin);
      return behind ? std::nullopt : std::optional(std::move(error));
    }
  }
  return {};
}

}  // namespace

ParseResult parse(const Source& source, ParseMode mode, Growth* growth) {
  const bool is_expression = mode == ParseMode::kExpression;
  const Tokens tokens = tokenize(source, growth);
  Arena scratch(growth);
  GrammarResult grammar =
      match_grammar(tokens, is_expression ? GrammarStart::kExpression : GrammarStart::kFile, scratch);
  if (grammar.too_deep) return failed(too_deep(source));
  if (grammar.root == nullptr && !is_expression) {
    if (std::optional<SyntaxError> earlier = earlier_refusal(source, tokens, grammar.furthest, growth)) return failed(*std::move(earlier));
  }
  if (grammar.root == nullptr) return failed(explain_fault(source, tokens, grammar.furthest));
  ParseResult result;
  auto tree = std::make_unique<ast::Tree>(growth);
  try {
    Builder builder(source, tokens, *tree);
    if (is_expression) tree->expression = builder.expression((*grammar.root)[0]);
    else tree->body = builder.file(*grammar.root);
  } catch (const Refusal& refusal) {
    return failed(refused(source, tokens, refusal));
  }
  try {
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
