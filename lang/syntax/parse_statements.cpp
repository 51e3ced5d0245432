// The builder's statements, parameters and targets.
// compile: few-inlines (runs once for a program's text)
#include <utility>

#include "lang/syntax/parse_builder.h"

namespace tessera::lang {

using namespace ast;

namespace {

BinaryOp augmented_op(Token token) {
  switch (token) {
    case Token::kPlusAssign: return BinaryOp::kAdd;
    case Token::kMinusAssign: return BinaryOp::kSubtract;
    case Token::kStarAssign: return BinaryOp::kMultiply;
    case Token::kSlashAssign: return BinaryOp::kDivide;
    case Token::kDoubleSlashAssign: return BinaryOp::kFloorDivide;
    case Token::kPercentAssign: return BinaryOp::kModulo;
    case Token::kDoubleStarAssign: return BinaryOp::kPower;
    case Token::kAtAssign: return BinaryOp::kMatMultiply;
    case Token::kShiftLeftAssign: return BinaryOp::kShiftLeft;
    case Token::kShiftRightAssign: return BinaryOp::kShiftRight;
    case Token::kAmpersandAssign: return BinaryOp::kBitAnd;
    case Token::kPipeAssign: return BinaryOp::kBitOr;
    default: return BinaryOp::kBitXor;
  }
}

const SyntaxNode* find(std::span<const SyntaxNode> nodes, Syntax kind) {
  for (const SyntaxNode& node : nodes) {
    if (node.kind == kind) return &node;
  }
  return nullptr;
}

}  // namespace

Span Builder::statement_span(const SyntaxNode& node) const {
  std::uint32_t last = node.last - 1;
  while (last > node.first && (tokens_.kind(last) == Token::kNewline || tokens_.kind(last) == Token::kDedent)) --last;
  return {token_span(node.first).begin, token_span(last).end};
}

Block Builder::statements(Nodes nodes) {
  std::vector<Stmt*> result;
  result.reserve(nodes.size());
  for (const SyntaxNode& node : nodes) result.push_back(statement(node));
  return keep(result);
}

Stmt* Builder::statement(const SyntaxNode& node) {
  Level level(*this);
  Stmt* simple = simple_statement(node);
  return simple != nullptr ? simple : compound_statement(node);
}

Stmt* Builder::simple_statement(const SyntaxNode& node) {
  Span where = span(node);
  switch (node.kind) {
    case Syntax::expression_statement: return expression_statement(node);
    case Syntax::pass_statement: return make<PassStmt>(where);
    case Syntax::break_statement: return make<BreakStmt>(where);
    case Syntax::continue_statement: return make<ContinueStmt>(where);
    case Syntax::return_statement: return make<ReturnStmt>(where, node.count > 0 ? expression(node[0]) : nullptr);
    case Syntax::raise_statement: return raise(node);
    case Syntax::assert_statement: {
      Expr* condition = expression(node[0]);
      return make<AssertStmt>(where, condition, node.count > 1 ? expression(node[1]) : nullptr);
    }
    case Syntax::del_statement: {
      Expr* what = expression(node[0]);
      check_target(*what, "delete");
      bool listed = node[0].kind == Syntax::targets;
      return make<DeleteStmt>(where, listed ? as<Tuple>(*what).elements : keep(std::vector<Expr*>{what}));
    }
    case Syntax::global_statement: return make<GlobalStmt>(where, name_list(node));
    case Syntax::nonlocal_statement: return make<NonlocalStmt>(where, name_list(node));
    case Syntax::import_statement: return import(node);
    case Syntax::from_statement: return import_from(node);
    default: return nullptr;
  }
}

Stmt* Builder::compound_statement(const SyntaxNode& node) {
  switch (node.kind) {
    case Syntax::if_statement: return if_statement(node);
    case Syntax::while_statement:
    case Syntax::for_statement: return loop(node);
    case Syntax::with_statement: return with(node);
    case Syntax::try_statement: return try_statement(node);
    case Syntax::match_statement: return match(node);
    case Syntax::function_statement: return function(node, {});
    case Syntax::class_statement: return class_statement(node, {});
    case Syntax::decorated: return decorated(node);
    default: return async_statement(node, {});
  }
}

// The statement behind `async`, whose span begins there.
Stmt* Builder::async_statement(const SyntaxNode& node, ExprList decorators) {
  const SyntaxNode& what = node[1];
  Stmt* const made = what.kind == Syntax::function_statement ? function(what, decorators) : compound_statement(what);
  made->span.begin = span(node[0]).begin;
  if (auto* function = try_as<FunctionStmt>(made)) function->is_async = true;
  if (auto* loop = try_as<ForStmt>(made)) loop->is_async = true;
  if (auto* with = try_as<WithStmt>(made)) with->is_async = true;
  return made;
}

// ---- Assignment ---------------------------------------------------------------------------------------------------------

Stmt* Builder::expression_statement(const SyntaxNode& node) {
  Span where = span(node);
  if (node.count == 1) return make<ExpressionStmt>(where, expression(node[0]));
  const SyntaxNode& rest = node[1];
  if (rest.kind == Syntax::augmented) return augmented_assign(node[0], rest, where);
  if (rest.kind == Syntax::annotated) return annotated_assign(node[0], rest, where);
  return assign(node.all(), where);
}

// target = target = value: the first node, then one assignment for each `=`.
Stmt* Builder::assign(Nodes nodes, Span where) {
  std::vector<Expr*> targets;
  const SyntaxNode* side = &nodes[0];
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    Expr* left = expression(*side);
    if (side->kind == Syntax::yield_expression) refuse("assignment to yield expression not possible", span(*side));
    const SyntaxNode& right = nodes[i][0];
    if (nodes.size() == 2 && right.kind != Syntax::yield_expression) check_comparison(*left, *side, right);
    check_target(*left, "assign to", true);
    targets.push_back(left);
    side = &right;
  }
  return make<AssignStmt>(where, keep(targets), expression(*side));
}

// CPython takes `f() = 1` for a slip of `==`, but not where the left side is of a kind that nobody compares.
// It looks at the last element of a tuple, and at a name or an attribute there only if another element is no target.
void Builder::check_comparison(const Expr& whole, const SyntaxNode& node, const SyntaxNode& right) {
  const Expr* left = &whole;
  if (node.kind == Syntax::star_expressions && node[node.count - 1].kind != Syntax::comma_mark) {
    left = as<Tuple>(whole).elements.back();
  }
  switch (left->kind) {
    case ExprKind::kName:
    case ExprKind::kAttribute:
    case ExprKind::kSubscript:
      if (const Token first = token(right); first == Token::kNot || first == Token::kLambda || first == Token::kStar) return;
      if (left == &whole || is_target(whole)) return;
      if (left->kind == ExprKind::kName) refuse("invalid syntax. Maybe you meant '==' or ':=' instead of '='?", join(left->span, span(right)));
      break;
    case ExprKind::kStarred:
    case ExprKind::kTuple:
    case ExprKind::kList:
    case ExprKind::kLogical:
    case ExprKind::kCompare:
    case ExprKind::kConditional:
    case ExprKind::kLambda: return;
    case ExprKind::kConstant:
      if (as<Constant>(*left).value != ConstantValue::kEllipsis) return;
      break;
    case ExprKind::kUnary:
      if (as<Unary>(*left).op == UnaryOp::kNot) return;
      break;
    case ExprKind::kComprehension:
      if (as<Comprehension>(*left).result == ComprehensionKind::kGenerator) return;
      break;
    default: break;
  }
  refuse(std::string("cannot assign to ") + expression_name(*left) + " here. Maybe you meant '==' instead of '='?",
         left->span);
}

bool Builder::is_target(const Expr& expr) {
  try {
    check_target(expr, "assign to", true);
    return true;
  } catch (const Refusal&) {
    return false;
  }
}

// Names, attributes, subscripts, and sequences of these.
void Builder::check_target(const Expr& expr, const char* verb, bool starred_allowed) {
  switch (expr.kind) {
    case ExprKind::kName:
    case ExprKind::kAttribute:
    case ExprKind::kSubscript: return;
    case ExprKind::kStarred: {
      bool deleting = verb[0] == 'd';
      if (deleting || !starred_allowed) break;
      return check_target(*as<Starred>(expr).value, verb);
    }
    case ExprKind::kTuple:
      for (Expr* element : as<Tuple>(expr).elements) check_target(*element, verb, true);
      return;
    case ExprKind::kList:
      for (Expr* element : as<List>(expr).elements) check_target(*element, verb, true);
      return;
    default: break;
  }
  refuse(std::string("cannot ") + verb + " " + expression_name(expr), expr.span);
}

Expr* Builder::target(const SyntaxNode& node) {
  Expr* expr = expression(node);
  check_target(*expr, "assign to", true);
  return expr;
}

Stmt* Builder::augmented_assign(const SyntaxNode& left, const SyntaxNode& node, Span where) {
  Expr* variable = expression(left);
  bool fits = is<Name>(*variable) || is<Attribute>(*variable) || is<Subscript>(*variable);
  if (!fits) {
    refuse(std::string("'") + expression_name(*variable) + "' is an illegal expression for augmented assignment",
           variable->span);
  }
  Expr* value = expression(node[1]);
  return make<AugmentedAssignStmt>(where, variable, augmented_op(token(node[0])), span(node[0]), value);
}

Stmt* Builder::annotated_assign(const SyntaxNode& left, const SyntaxNode& node, Span where) {
  Expr* variable = expression(left);
  if (is<Tuple>(*variable) || is<List>(*variable)) {
    const char* kind = is<List>(*variable) ? "list" : "tuple";
    const bool bare = left.kind == Syntax::star_expressions;
    refuse(std::string("only single target (not ") + kind + ") can be annotated",
           bare ? as<ast::Tuple>(*variable).elements[0]->span : variable->span);
  }
  if (is<Starred>(*variable)) refuse("invalid syntax", token_span(left.last));
  bool fits = is<Name>(*variable) || is<Attribute>(*variable) || is<Subscript>(*variable);
  if (!fits) refuse("illegal target for annotation", variable->span);
  Expr* annotation = expression(node[0]);
  Expr* value = node.count > 1 ? expression(node[1][0]) : nullptr;
  return make<AnnotatedAssignStmt>(where, variable, annotation, value, left.kind == Syntax::any_name);
}

// ---- Simple statements --------------------------------------------------------------------------------------------------

Stmt* Builder::raise(const SyntaxNode& node) {
  Expr* exception = node.count > 0 ? expression(node[0]) : nullptr;
  return make<RaiseStmt>(span(node), exception, node.count > 1 ? expression(node[1]) : nullptr);
}

std::span<Identifier> Builder::name_list(const SyntaxNode& node) {
  std::vector<Identifier> names;
  for (const SyntaxNode& name : node.all()) names.push_back(identifier(name));
  return keep(names);
}

// a.b.c as one name, without the blanks that may stand around the dots.
Identifier Builder::dotted(const SyntaxNode& node) {
  std::string name;
  for (const SyntaxNode& part : node.all()) {
    if (!name.empty()) name += '.';
    name += text(part);
  }
  return {tree_.intern(name), span(node)};
}

ImportAlias Builder::alias(const SyntaxNode& node) {
  ImportAlias result{};
  result.name = node[0].kind == Syntax::dotted_name ? dotted(node[0]) : identifier(node[0]);
  if (node.count > 1) result.as_name = identifier(node[1][0]);
  result.span = span(node);
  return result;
}

Stmt* Builder::import(const SyntaxNode& node) {
  std::vector<ImportAlias> names;
  for (const SyntaxNode& item : node.all()) names.push_back(alias(item));
  return make<ImportStmt>(span(node), keep(names));
}

Stmt* Builder::import_from(const SyntaxNode& node) {
  Identifier module{};
  std::uint32_t level = 0;
  bool star = false;
  std::vector<ImportAlias> names;
  for (const SyntaxNode& part : node.all()) {
    if (part.kind == Syntax::from_dots) {
      for (std::uint32_t i = part.first; i < part.last; ++i) level += tokens_.kind(i) == Token::kEllipsis ? 3 : 1;
    } else if (part.kind == Syntax::dotted_name) {
      module = dotted(part);
    } else if (part.kind == Syntax::from_star) {
      star = true;
    } else {
      names.push_back(alias(part));
    }
  }
  return make<ImportFromStmt>(span(node), module, level, star, keep(names));
}

// ---- Compound statements ------------------------------------------------------------------------------------------------

Stmt* Builder::if_statement(const SyntaxNode& node) {
  std::vector<IfArm> arms;
  Block otherwise;
  for (const SyntaxNode& part : node.all()) {
    if (part.kind == Syntax::else_part) {
      otherwise = block(part[0]);
      continue;
    }
    Expr* condition = expression(part[0]);
    arms.push_back({condition, block(part[1]), statement_span(part)});
  }
  return make<IfStmt>(statement_span(node), keep(arms), otherwise);
}

Stmt* Builder::loop(const SyntaxNode& node) {
  Span where = statement_span(node);
  if (node.kind == Syntax::while_statement) {
    Expr* condition = expression(node[0]);
    Block body = block(node[1]);
    return make<WhileStmt>(where, condition, body, node.count > 2 ? block(node[2][0]) : Block{});
  }
  Expr* variable = target(node[0]);
  Expr* iterable = expression(node[1]);
  Block body = block(node[2]);
  return make<ForStmt>(where, variable, iterable, body, node.count > 3 ? block(node[3][0]) : Block{});
}

Stmt* Builder::with(const SyntaxNode& node) {
  std::vector<WithItem> items;
  for (const SyntaxNode& item : node.all().first(node.count - 1)) {
    Expr* context = expression(item[0]);
    items.push_back({context, item.count > 1 ? target(item[1][0]) : nullptr});
  }
  return make<WithStmt>(statement_span(node), keep(items), block(node[node.count - 1]));
}

Stmt* Builder::try_statement(const SyntaxNode& node) {
  Block body = block(node[0]);
  std::vector<ExceptHandler> handlers;
  Block otherwise;
  Block finally;
  for (const SyntaxNode& part : node.all().subspan(1)) {
    if (part.kind == Syntax::else_part) otherwise = block(part[0]);
    else if (part.kind == Syntax::finally_part) finally = block(part[0]);
    else handlers.push_back(handler(part));
  }
  return make<TryStmt>(statement_span(node), body, keep(handlers), otherwise, finally, of_groups(node));
}

// The clauses of one try are all `except` or all `except*`.
bool Builder::of_groups(const SyntaxNode& node) {
  bool groups = false, first = true;
  for (const SyntaxNode& part : node.all().subspan(1)) {
    if (part.kind == Syntax::else_part || part.kind == Syntax::finally_part) continue;
    const bool starred = find(part.all(), Syntax::star_handler) != nullptr;
    if (!first && starred != groups) {
      throw Refusal{"cannot have both 'except' and 'except*' on the same 'try'", statement_span(part)};
    }
    groups = starred;
    first = false;
  }
  return groups;
}

ExceptHandler Builder::handler(const SyntaxNode& node) {
  ExceptHandler result{};
  for (const SyntaxNode& part : node.all()) {
    if (part.kind == Syntax::star_handler) continue;
    if (part.kind == Syntax::block) result.body = block(part);
    else if (part.kind == Syntax::as_name) result.name = identifier(part[0]);
    else result.type = expression(part);
  }
  result.span = statement_span(node);
  return result;
}

Stmt* Builder::decorated(const SyntaxNode& node) {
  std::vector<Expr*> decorators;
  for (const SyntaxNode& part : node.all().first(node.count - 1)) decorators.push_back(expression(part[0]));
  const SyntaxNode& what = node[node.count - 1];
  if (what.kind == Syntax::function_statement) return function(what, keep(decorators));
  if (what.kind == Syntax::class_statement) return class_statement(what, keep(decorators));
  if (what[1].kind != Syntax::function_statement) refuse("invalid syntax", span(what[1]));
  return async_statement(what, keep(decorators));
}

Stmt* Builder::function(const SyntaxNode& node, ExprList decorators) {
  std::size_t end = node.count - 1;
  const SyntaxNode* returns = find(node.all(), Syntax::return_annotation);
  Nodes given = node.all().subspan(1, end - 1 - (returns != nullptr ? 1 : 0));
  Identifier name = identifier(node[0]);
  Parameters list = parameters(given, ParametersOf::kDef, node[0].last + 1);
  Expr* result = returns != nullptr ? expression((*returns)[0]) : nullptr;
  return make<FunctionStmt>(statement_span(node), name, list, result, block(node[end]), decorators, false);
}

Stmt* Builder::class_statement(const SyntaxNode& node, ExprList decorators) {
  std::vector<Expr*> bases;
  std::vector<Keyword> keywords;
  Identifier name = identifier(node[0]);
  if (node[1].kind == Syntax::call) {
    const SyntaxNode& given = node[1];
    bool generator = given.count == 1 && given[0].kind == Syntax::plain_argument && given[0].count == 2;
    if (generator) refuse("invalid syntax", token_span(given[0][1].first));
    arguments(given, bases, keywords);
  }
  return make<ClassStmt>(statement_span(node), name, keep(bases), keep(keywords), block(node[node.count - 1]),
                         decorators);
}

// ---- Parameters ---------------------------------------------------------------------------------------------------------

// Thrown for a list that is not as it must be; parameter_fault() says what is wrong with it.
struct Misplaced {};

// The nodes are flat: marks, names, and behind a name its annotation and default.
class ParameterList {
 public:
  using Kind = ParameterKind;

  void add_slash() {
    if (has_star_ || has_slash_ || has_keywords_ || parameters.empty()) throw Misplaced{};
    for (Parameter& parameter : parameters) parameter.kind = Kind::kPositionalOnly;
    has_slash_ = true;
  }

  void add_star() {
    if (has_keywords_ || has_star_) throw Misplaced{};
    has_star_ = bare_star_ = true;
  }

  // A name; `kind` is kRegular for one without a star.
  void add(Parameter parameter, Kind kind) {
    if (has_keywords_ || (kind != Kind::kRegular && parameter.default_value != nullptr)) throw Misplaced{};
    if (kind == Kind::kVarPositional) bare_star_ = false;
    if (kind == Kind::kRegular && has_star_) kind = Kind::kKeywordOnly, bare_star_ = false;
    if (kind == Kind::kVarKeyword) check_bare_star(), has_keywords_ = true;
    if (kind == Kind::kRegular) {
      if (has_default_ && parameter.default_value == nullptr) throw Misplaced{};
      has_default_ |= parameter.default_value != nullptr;
    }
    parameter.kind = kind;
    parameters.push_back(parameter);
  }

  void check_bare_star() const {
    if (bare_star_) throw Misplaced{};
  }

  std::vector<Parameter> parameters;

 private:
  bool bare_star_ = false;  // a `*` that no name has followed yet
  bool has_slash_ = false;
  bool has_star_ = false;
  bool has_keywords_ = false;
  bool has_default_ = false;
};

Parameters Builder::parameters(Nodes nodes, ParametersOf owner, std::uint32_t begin) {
  try {
    return parameters(nodes);
  } catch (const Misplaced&) {
    const auto fault = parameter_fault(tokens_, owner, begin, tree_.arena());
    if (!fault) refuse("invalid syntax", token_span(begin));
    refuse(fault->message, join(token_span(fault->first), token_span(fault->last - 1)));
  }
}

Parameters Builder::parameters(Nodes nodes) {
  ParameterList list;
  std::size_t i = 0;
  auto name_and_more = [&](Nodes from, std::size_t& at) {
    Parameter parameter{identifier(from[at++]), ParameterKind::kRegular, nullptr, nullptr};
    for (; at < from.size(); ++at) {
      bool annotation = from[at].kind == Syntax::annotation || from[at].kind == Syntax::star_annotation;
      bool value = from[at].kind == Syntax::default_value || from[at].kind == Syntax::lambda_default;
      if (annotation) parameter.annotation = expression(from[at][0]);
      else if (value) parameter.default_value = expression(from[at][0]);
      else break;
    }
    return parameter;
  };
  while (i < nodes.size()) {
    const SyntaxNode& node = nodes[i];
    if (node.kind == Syntax::slash_mark) {
      list.add_slash();
      ++i;
    } else if (node.kind == Syntax::star_mark) {
      list.add_star();
      bool named = ++i < nodes.size() && nodes[i].first == node.last && nodes[i].kind == Syntax::any_name;
      if (named) list.add(name_and_more(nodes, i), ParameterKind::kVarPositional);
    } else if (node.kind == Syntax::any_name) {
      list.add(name_and_more(nodes, i), ParameterKind::kRegular);
    } else {
      std::size_t at = 0;
      list.add(name_and_more(node.all(), at), ParameterKind::kVarKeyword);
      ++i;
    }
  }
  list.check_bare_star();
  return keep(list.parameters);
}

}  // namespace tessera::lang
