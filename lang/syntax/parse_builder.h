// From the grammar's tree to the typed one.
//
// Three things are settled here that the grammar leaves open: how operators bind (a Pratt fold over the flat list), what
// literals mean, and what may be assigned to, be a parameter or be an argument. What is not allowed is thrown as a Refusal,
// CPython's message and the place, and caught in parse(); a text that is right never throws.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/syntax/ast.h"
#include "lang/syntax/parse_parameter_faults.h"
#include "lang/syntax/syntax_error.h"
#include "lang/syntax/syntax_tree.h"

namespace tessera::lang {

struct Refusal {
  std::string message;
  Span span;
  SyntaxError::Class error_class = SyntaxError::Class::kSyntaxError;
};

// What CPython calls an expression when it refuses to assign to it.
const char* expression_name(const ast::Expr& expr);

class Builder {
 public:
  Builder(const Source& source, const Tokens& tokens, ast::Tree& tree)
      : source_(source), tokens_(tokens), tree_(tree), most_levels_(most_levels(tree)) {}

  ast::Block file(const SyntaxNode& node) { return statements(node.all()); }
  ast::Expr* expression(const SyntaxNode& node);

 private:
  using Nodes = std::span<const SyntaxNode>;

  // A level of the typed tree; more than ast::kMaxDepth of them are refused.
  class Level {
   public:
    Level(Builder& builder, std::uint32_t levels = 1);
    ~Level() { builder_.depth_ -= levels_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Builder& builder_;
    std::uint32_t levels_;
  };

  // An operand while operators are folded: its text may be wider than its node, by parentheses.
  struct Operand {
    ast::Expr* expr;
    Span span;
  };
  struct OperatorList {
    Nodes nodes;
    std::size_t at = 0;

    bool done() const { return at == nodes.size(); }
    const SyntaxNode& current() const { return nodes[at]; }
  };

  // Expressions (parse_expressions.cpp).
  ast::Expr* conditional(const SyntaxNode& node);
  ast::Expr* fold(Nodes nodes);
  Operand fold_from(OperatorList& list, int least_power);
  Operand fold_prefix(OperatorList& list);
  Operand fold_step(OperatorList& list, Operand left, int power);
  Operand fold_arithmetic(OperatorList& list, Operand left, int power);
  Operand fold_compare(OperatorList& list, Operand left, int power);
  Operand fold_logical(OperatorList& list, Operand left, int power);
  ast::CompareOp compare_operator(OperatorList& list, Span& span);
  ast::Expr* primary(const SyntaxNode& node);
  ast::Expr* trailer(ast::Expr* object, const SyntaxNode& node, Span span);
  ast::Expr* call(ast::Expr* callee, const SyntaxNode& node, Span span);
  void arguments(const SyntaxNode& node, std::vector<ast::Expr*>& positional, std::vector<ast::Keyword>& keywords);
  [[noreturn]] void refuse_arguments(const SyntaxNode& node);
  ast::Expr* slices(const SyntaxNode& node);
  ast::Expr* slice(const SyntaxNode& node);
  ast::Expr* paren(const SyntaxNode& node);
  ast::Expr* list(const SyntaxNode& node);
  ast::Expr* brace(const SyntaxNode& node);
  ast::Expr* dict(const SyntaxNode& node);
  ast::Expr* lambda(const SyntaxNode& node);
  ast::Expr* comprehension(ast::ComprehensionKind kind, const SyntaxNode& element, const SyntaxNode* value,
                           const SyntaxNode& clauses, Span span);
  std::span<ast::ForClause> for_clauses(const SyntaxNode& node);
  ast::Expr* yield(const SyntaxNode& node);
  ast::Expr* walrus(const SyntaxNode& node);
  ast::Expr* tuple(Nodes nodes, Span span);
  ast::Expr* constant(const SyntaxNode& node);
  ast::ExprList expressions(Nodes nodes);           // commas skipped

  // Literals (parse_literals.cpp).
  ast::Expr* number(const SyntaxNode& node);
  ast::Expr* strings(const SyntaxNode& node);
  ast::Expr* bytes_literal(const SyntaxNode& node);
  void string_piece(const SyntaxNode& leaf, std::string& text);
  void format_pieces(Nodes nodes, bool raw, std::string& text, std::vector<ast::FStringPart>& parts);
  ast::FStringPart field(const SyntaxNode& node, bool raw, std::string& text);
  void flush(std::string& text, std::vector<ast::FStringPart>& parts);
  void decode(std::string_view body, bool raw, const SyntaxNode& node, std::string& text);

  // Statements (parse_statements.cpp).
  ast::Block statements(Nodes nodes);
  ast::Block block(const SyntaxNode& node) { return statements(node.all()); }
  ast::Stmt* statement(const SyntaxNode& node);
  ast::Stmt* simple_statement(const SyntaxNode& node);
  ast::Stmt* compound_statement(const SyntaxNode& node);
  ast::Stmt* expression_statement(const SyntaxNode& node);
  ast::Stmt* assign(Nodes nodes, Span span);
  ast::Stmt* augmented_assign(const SyntaxNode& left, const SyntaxNode& node, Span span);
  ast::Stmt* annotated_assign(const SyntaxNode& left, const SyntaxNode& node, Span span);
  ast::Stmt* raise(const SyntaxNode& node);
  ast::Stmt* import(const SyntaxNode& node);
  ast::Stmt* import_from(const SyntaxNode& node);
  ast::ImportAlias alias(const SyntaxNode& node);
  ast::Stmt* if_statement(const SyntaxNode& node);
  ast::Stmt* loop(const SyntaxNode& node);
  ast::Stmt* with(const SyntaxNode& node);
  ast::Stmt* try_statement(const SyntaxNode& node);
  ast::ExceptHandler handler(const SyntaxNode& node);
  bool of_groups(const SyntaxNode& node);
  ast::Stmt* function(const SyntaxNode& node, ast::ExprList decorators);
  ast::Stmt* class_statement(const SyntaxNode& node, ast::ExprList decorators);
  ast::Stmt* decorated(const SyntaxNode& node);
  ast::Stmt* async_statement(const SyntaxNode& node, ast::ExprList decorators);
  std::span<ast::Identifier> name_list(const SyntaxNode& node);
  ast::Parameters parameters(Nodes nodes);
  ast::Parameters parameters(Nodes nodes, ParametersOf owner, std::uint32_t begin);  // the list's first token
  ast::Identifier dotted(const SyntaxNode& node);
  ast::Expr* target(const SyntaxNode& node);
  void check_comparison(const ast::Expr& whole, const SyntaxNode& node, const SyntaxNode& right);
  bool is_target(const ast::Expr& expr);
  void check_target(const ast::Expr& expr, const char* verb, bool starred_allowed = false);

  // Patterns (parse_patterns.cpp).
  ast::Stmt* match(const SyntaxNode& node);
  ast::Pattern* pattern(const SyntaxNode& node);
  ast::Pattern* open_pattern(const SyntaxNode& node);
  ast::Pattern* sequence_pattern(Nodes nodes, Span span);
  ast::Pattern* paren_pattern(const SyntaxNode& node);
  ast::Pattern* as_pattern(const SyntaxNode& node);
  ast::Pattern* name_pattern(const SyntaxNode& node);
  ast::Pattern* instance_pattern(const SyntaxNode& node);
  ast::Pattern* mapping_pattern(const SyntaxNode& node);
  ast::Pattern* or_pattern(const SyntaxNode& node);
  ast::Pattern* capture(ast::Pattern* inner, const SyntaxNode& name, Span span);
  ast::Expr* number_value(const SyntaxNode& node);
  ast::Expr* dotted_value(const SyntaxNode& node);

  // Small things.
  template <class Node, class... Fields>
  Node* make(Span span, Fields&&... fields) {
    if constexpr (std::is_base_of_v<ast::Expr, Node>) {
      return tree_.arena().make<Node>(ast::Expr{Node::kKind, span}, std::forward<Fields>(fields)...);
    } else if constexpr (std::is_base_of_v<ast::Stmt, Node>) {
      return tree_.arena().make<Node>(ast::Stmt{Node::kKind, span}, std::forward<Fields>(fields)...);
    } else {
      return tree_.arena().make<Node>(ast::Pattern{Node::kKind, span}, std::forward<Fields>(fields)...);
    }
  }
  template <class Item>
  std::span<Item> keep(const std::vector<Item>& items) {
    return tree_.arena().copy(items);
  }
  Token token(const SyntaxNode& node) const { return tokens_.kind(node.first); }
  Span token_span(std::uint32_t index) const { return tokens_.spans[index]; }
  Span span(const SyntaxNode& node) const { return {token_span(node.first).begin, token_span(node.last - 1).end}; }
  Span statement_span(const SyntaxNode& node) const;  // without the NEWLINE and DEDENTs at its end
  std::string_view text(const SyntaxNode& node) const { return source_.text(span(node)); }
  ast::Identifier identifier(const SyntaxNode& node) { return {tree_.intern(text(node)), span(node)}; }
  [[noreturn]] static void refuse(std::string message, Span span) { throw Refusal{std::move(message), span}; }

  const Source& source_;
  const Tokens& tokens_;
  ast::Tree& tree_;
  // On a small stack fewer than kMaxDepth: the builder and every later walker recurse with the tree.
  static std::uint32_t most_levels(const ast::Tree& tree);

  std::uint32_t most_levels_;
  std::uint32_t depth_ = 0;
};

}  // namespace tessera::lang
