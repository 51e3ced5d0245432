// The builder's literals: numbers, strings and f-strings. Adjacent strings are joined into one node.
// compile: few-inlines (runs once for a program's text)
#include <algorithm>

#include "lang/syntax/literals.h"
#include "lang/syntax/parse_builder.h"

namespace tessera::lang {

using namespace ast;

Expr* Builder::number(const SyntaxNode& node) {
  NumberValue value = parse_number(text(node));
  if (value.kind == NumberValue::Kind::kInt) {
    return make<IntLiteral>(span(node), static_cast<std::int64_t>(value.integer));
  }
  if (value.kind == NumberValue::Kind::kBigInt) return make<BigIntLiteral>(span(node), tree_.intern(text(node)));
  if (value.kind == NumberValue::Kind::kFloat) return make<FloatLiteral>(span(node), value.real);
  return make<ImaginaryLiteral>(span(node), value.real);
}

void Builder::decode(std::string_view body, bool raw, const SyntaxNode& node, std::string& text) {
  if (raw) {
    text += body;
    return;
  }
  if (auto message = decode_escapes(body, text, tree_.arena().growth())) refuse(std::move(*message), span(node));
}

void Builder::string_piece(const SyntaxNode& leaf, std::string& value) {
  StringParts parts = split_string(text(leaf));
  decode(parts.body, parts.raw, leaf, value);
}

void Builder::flush(std::string& text, std::vector<FStringPart>& parts) {
  if (text.empty()) return;
  parts.push_back({.text = tree_.arena().copy(std::string_view(text)), .span = {}});
  text.clear();
}

Expr* Builder::bytes_literal(const SyntaxNode& node) {
  std::string value;
  for (const SyntaxNode& piece : node.all()) {
    const StringParts parts = split_string(text(piece));
    const bool ascii = std::all_of(parts.body.begin(), parts.body.end(), [](char c) { return c >= 0; });
    if (!ascii) refuse("bytes can only contain ASCII literal characters", span(piece));
    if (parts.raw) value += parts.body;
    else if (auto message = decode_byte_escapes(parts.body, value)) refuse(std::move(*message), span(piece));
  }
  return make<BytesLiteral>(span(node), tree_.arena().copy(std::string_view(value)));
}

Expr* Builder::strings(const SyntaxNode& node) {
  bool is_format = false;
  std::size_t bytes = 0;
  for (const SyntaxNode& piece : node.all()) {
    is_format |= piece.kind == Syntax::f_string;
    bytes += piece.kind == Syntax::token && token(piece) == Token::kBytes;
  }
  if (bytes != 0 && bytes != node.count) refuse("cannot mix bytes and nonbytes literals", span(node));
  if (bytes != 0) return bytes_literal(node);
  std::string value;
  std::vector<FStringPart> parts;
  for (const SyntaxNode& piece : node.all()) {
    if (piece.kind == Syntax::token) {
      string_piece(piece, value);
      continue;
    }
    std::string_view prefix = source_.text(token_span(piece.first));
    format_pieces(piece.all(), prefix.find_first_of("rR") != std::string_view::npos, value, parts);
  }
  if (!is_format) return make<StringLiteral>(span(node), tree_.intern(value));
  flush(value, parts);
  return make<FString>(span(node), keep(parts));
}

void Builder::format_pieces(Nodes nodes, bool raw, std::string& value, std::vector<FStringPart>& parts) {
  for (const SyntaxNode& piece : nodes) {
    if (piece.kind == Syntax::token) {
      if (token(piece) == Token::kFText) decode(text(piece), raw, piece, value);
      continue;
    }
    FStringPart part = field(piece, raw, value);
    flush(value, parts);
    parts.push_back(part);
  }
}

// Children: the expression, then kFEqual, kFConversion and the format, each if it is there.
FStringPart Builder::field(const SyntaxNode& node, bool raw, std::string& value) {
  FStringPart part;
  part.span = span(node);
  if (node[0].kind == Syntax::starred) refuse("f-string: cannot use starred expression here", span(node[0]));
  bool shows_text = false;
  const SyntaxNode* clauses = nullptr;
  for (const SyntaxNode& child : node.all().subspan(1)) {
    if (child.kind == Syntax::comprehension_clauses) {
      if (node[0].kind == Syntax::star_expressions) refuse("f-string: invalid syntax", token_span(child.first));
      clauses = &child;
    } else if (child.kind == Syntax::f_format) {
      std::string format_text;
      std::vector<FStringPart> format_parts;
      format_pieces(child.all(), raw, format_text, format_parts);
      flush(format_text, format_parts);
      part.format = make<FString>(span(child), keep(format_parts));
    } else if (token(child) == Token::kFEqual) {
      shows_text = true;
      value += text(child);
    } else {
      part.conversion = text(child)[0];
    }
  }
  if (shows_text && part.conversion == 0 && part.format == nullptr) part.conversion = 'r';
  if (clauses != nullptr)
    part.value = comprehension(ComprehensionKind::kGenerator, node[0], nullptr, *clauses, join(span(node[0]), span(*clauses)));
  else part.value = expression(node[0]);
  return part;
}

}  // namespace tessera::lang
