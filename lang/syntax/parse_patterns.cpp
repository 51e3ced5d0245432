// The builder's match statement and its patterns.
// compile: small (match statements are few)
#include "lang/syntax/parse_builder.h"

namespace tessera::lang {

using namespace ast;

Stmt* Builder::match(const SyntaxNode& node) {
  Expr* subject = expression(node[0]);
  std::vector<MatchCase> cases;
  for (const SyntaxNode& part : node.all().subspan(1)) {
    Pattern* what = open_pattern(part[0]);
    Expr* guard = part[1].kind == Syntax::guard ? expression(part[1][0]) : nullptr;
    cases.push_back({what, guard, block(part[part.count - 1]), statement_span(part)});
  }
  return make<MatchStmt>(statement_span(node), subject, keep(cases));
}

// After `case`: a comma makes a sequence without brackets.
Pattern* Builder::open_pattern(const SyntaxNode& node) {
  return node.kind == Syntax::open_pattern ? sequence_pattern(node.all(), span(node)) : pattern(node);
}

Pattern* Builder::pattern(const SyntaxNode& node) {
  Level level(*this);
  Span where = span(node);
  switch (node.kind) {
    case Syntax::number_pattern: return make<ValuePattern>(where, number_value(node));
    case Syntax::string_pattern: return make<ValuePattern>(where, expression(node[0]));
    case Syntax::constant_pattern: {
      Expr* value = constant(node);
      return make<SingletonPattern>(where, as<Constant>(*value).value);
    }
    case Syntax::dotted_name:
      if (node.count == 1) return capture(nullptr, node[0], where);
      return make<ValuePattern>(where, dotted_value(node));
    case Syntax::name_pattern: return instance_pattern(node);
    case Syntax::paren_pattern: return paren_pattern(node);
    case Syntax::list_pattern:
      return sequence_pattern(node.count == 1 && node[0].kind == Syntax::pattern_items ? node[0].all() : node.all(),
                              where);
    case Syntax::mapping_pattern: return mapping_pattern(node);
    case Syntax::or_pattern: return or_pattern(node);
    case Syntax::pattern: return as_pattern(node);
    case Syntax::pattern_star: {
      bool wildcard = token(node[0]) == Token::kSoftUnderscore;
      return make<StarPattern>(where, wildcard ? Identifier{} : identifier(node[0]));
    }
    default: refuse("invalid syntax", where);
  }
}

Pattern* Builder::capture(Pattern* inner, const SyntaxNode& name, Span where) {
  bool wildcard = token(name) == Token::kSoftUnderscore;
  return make<CapturePattern>(where, inner, wildcard ? Identifier{} : identifier(name));
}

Pattern* Builder::sequence_pattern(Nodes nodes, Span where) {
  std::vector<Pattern*> elements;
  for (const SyntaxNode& node : nodes) {
    if (node.kind != Syntax::comma_mark) elements.push_back(pattern(node));
  }
  return make<SequencePattern>(where, keep(elements));
}

Pattern* Builder::paren_pattern(const SyntaxNode& node) {
  if (node.count == 0) return make<SequencePattern>(span(node), std::span<Pattern*>{});
  return node[0].kind == Syntax::open_pattern ? sequence_pattern(node[0].all(), span(node)) : pattern(node[0]);
}

Pattern* Builder::as_pattern(const SyntaxNode& node) {
  return capture(pattern(node[0]), node[1][0], span(node));
}

Pattern* Builder::or_pattern(const SyntaxNode& node) {
  std::vector<Pattern*> alternatives;
  for (const SyntaxNode& part : node.all()) alternatives.push_back(pattern(part));
  return make<OrPattern>(span(node), keep(alternatives));
}

Expr* Builder::dotted_value(const SyntaxNode& node) {
  Level level(*this, node.count);
  Expr* value = expression(node[0]);
  for (const SyntaxNode& part : node.all().subspan(1)) {
    value = make<Attribute>(Span{span(node).begin, span(part).end}, value, identifier(part));
  }
  return value;
}

Pattern* Builder::instance_pattern(const SyntaxNode& node) {
  Expr* type = dotted_value(node[0]);
  std::vector<Pattern*> positional;
  std::vector<KeywordPattern> keywords;
  for (const SyntaxNode& part : node[1].all()) {
    if (part.kind == Syntax::pattern_keyword) {
      Identifier name = identifier(part[0]);
      keywords.push_back({name, pattern(part[1])});
      continue;
    }
    positional.push_back(pattern(part));
  }
  return make<InstancePattern>(span(node), type, keep(positional), keep(keywords));
}

Pattern* Builder::mapping_pattern(const SyntaxNode& node) {
  std::vector<MappingPatternItem> items;
  Identifier rest{};
  for (const SyntaxNode& part : node.all()) {
    if (part.kind == Syntax::mapping_rest) {
      rest = identifier(part[0]);
      continue;
    }
    const SyntaxNode& key = part[0];
    Expr* value = nullptr;
    if (key.kind == Syntax::number_pattern) value = number_value(key);
    else if (key.kind == Syntax::dotted_key) value = dotted_value(key);
    else value = key.kind == Syntax::string_pattern ? expression(key[0]) : constant(key);
    items.push_back({value, pattern(part[1])});
  }
  return make<MappingPattern>(span(node), keep(items), rest);
}

// -1, 2.5, 1 - 2j. Children: minus?, number, (sign, number)?
Expr* Builder::number_value(const SyntaxNode& node) {
  std::size_t at = 0;
  bool negative = node[0].kind == Syntax::minus_mark;
  if (negative) ++at;
  Expr* value = number(node[at]);
  Span where = join(span(node[0]), span(node[at]));
  if (negative) value = make<Unary>(where, UnaryOp::kNegative, value);
  if (++at == node.count) return value;
  Expr* imaginary = number(node[at + 1]);
  if (is<ImaginaryLiteral>(*number(node[negative ? 1 : 0]))) refuse("real number required in complex literal", token_span(node[at - 1].first));
  if (!is<ImaginaryLiteral>(*imaginary)) refuse("imaginary number required in complex literal", imaginary->span);
  BinaryOp op = token(node[at]) == Token::kMinus ? BinaryOp::kSubtract : BinaryOp::kAdd;
  std::vector<BinaryStep> steps{{op, imaginary, span(node[at]), imaginary->span.end}};
  return make<Binary>(span(node), value, keep(steps));
}

}  // namespace tessera::lang
