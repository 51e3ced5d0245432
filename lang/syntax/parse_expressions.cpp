// The builder's expressions.
// compile: few-inlines (runs once for a program's text)
#include <unordered_set>

#include "lang/syntax/parse_argument_faults.h"
#include "lang/syntax/parse_builder.h"

namespace tessera::lang {

using namespace ast;

namespace {

// How tightly operators bind; a prefix binds its operand with the power of its own row.
enum Power : int {
  kNoPower = 0,
  kOr,
  kAnd,
  kNot,
  kCompare,
  kBitOrPower,
  kBitXorPower,
  kBitAndPower,
  kShift,
  kSum,
  kProduct,
  kPrefix,
  kPowerOf,
};

int infix_power(Token token) {
  switch (token) {
    case Token::kOr: return kOr;
    case Token::kAnd: return kAnd;
    case Token::kIn:
    case Token::kIs:
    case Token::kNot:
    case Token::kEqual:
    case Token::kNotEqual:
    case Token::kLess:
    case Token::kLessEqual:
    case Token::kGreater:
    case Token::kGreaterEqual: return kCompare;
    case Token::kPipe: return kBitOrPower;
    case Token::kCaret: return kBitXorPower;
    case Token::kAmpersand: return kBitAndPower;
    case Token::kShiftLeft:
    case Token::kShiftRight: return kShift;
    case Token::kPlus:
    case Token::kMinus: return kSum;
    case Token::kStar:
    case Token::kSlash:
    case Token::kDoubleSlash:
    case Token::kPercent:
    case Token::kAt: return kProduct;
    case Token::kDoubleStar: return kPowerOf;
    default: return kNoPower;
  }
}

BinaryOp binary_op(Token token) {
  switch (token) {
    case Token::kPlus: return BinaryOp::kAdd;
    case Token::kMinus: return BinaryOp::kSubtract;
    case Token::kStar: return BinaryOp::kMultiply;
    case Token::kSlash: return BinaryOp::kDivide;
    case Token::kDoubleSlash: return BinaryOp::kFloorDivide;
    case Token::kPercent: return BinaryOp::kModulo;
    case Token::kDoubleStar: return BinaryOp::kPower;
    case Token::kAt: return BinaryOp::kMatMultiply;
    case Token::kShiftLeft: return BinaryOp::kShiftLeft;
    case Token::kShiftRight: return BinaryOp::kShiftRight;
    case Token::kAmpersand: return BinaryOp::kBitAnd;
    case Token::kPipe: return BinaryOp::kBitOr;
    default: return BinaryOp::kBitXor;
  }
}

bool is_operator_leaf(const SyntaxNode& node) {
  return node.kind == Syntax::token || node.kind == Syntax::prefix_operator || node.kind == Syntax::not_operator;
}

constexpr const char* kStarredHere = "cannot use starred expression here";

}  // namespace

std::uint32_t Builder::most_levels(const ast::Tree& tree) {
  constexpr std::size_t kBytesOfLevel = 2048;  // measured: compiling nested displays takes 1.4 KB a level
  const Growth* const growth = tree.arena().growth();
  if (growth == nullptr) return kMaxDepth;
  return static_cast<std::uint32_t>(std::min<std::size_t>(kMaxDepth, growth->stack_left() / kBytesOfLevel));
}

Builder::Level::Level(Builder& builder, std::uint32_t levels) : builder_(builder), levels_(levels) {
  builder.depth_ += levels;
  if (builder.depth_ <= builder.most_levels_) return;
  builder.depth_ -= levels;
  throw Refusal{"maximum recursion depth exceeded during compilation", {0, 0}, SyntaxError::Class::kRecursionError};
}

Expr* Builder::expression(const SyntaxNode& node) {
  Level level(*this);
  switch (node.kind) {
    case Syntax::any_name: return make<Name>(span(node), tree_.intern(text(node)));
    case Syntax::constant: return constant(node);
    case Syntax::number: return number(node);
    case Syntax::strings: return strings(node);
    case Syntax::paren: return paren(node);
    case Syntax::list: return list(node);
    case Syntax::brace: return brace(node);
    case Syntax::primary: return primary(node);
    case Syntax::await_primary: return make<Await>(span(node), expression(node[0]));
    case Syntax::bitor_expression:
    case Syntax::disjunction: return fold(node.all());
    case Syntax::conditional: return conditional(node);
    case Syntax::lambda: return lambda(node);
    case Syntax::named_expression: return walrus(node);
    case Syntax::starred: return make<Starred>(span(node), expression(node[0]));
    case Syntax::star_expressions:
    case Syntax::targets:
    case Syntax::match_subject: return tuple(node.all(), span(node));
    case Syntax::yield_expression: return yield(node);
    default: break;
  }
  refuse("invalid syntax", span(node));
}

Expr* Builder::constant(const SyntaxNode& node) {
  ConstantValue value = ConstantValue::kNone;
  if (token(node) == Token::kTrue) value = ConstantValue::kTrue;
  if (token(node) == Token::kFalse) value = ConstantValue::kFalse;
  if (token(node) == Token::kEllipsis) value = ConstantValue::kEllipsis;
  return make<Constant>(span(node), value);
}

// then_0 if condition_0 else then_1 if condition_1 else ... last
Expr* Builder::conditional(const SyntaxNode& node) {
  Level level(*this, node.count / 2);
  Expr* result = expression(node[node.count - 1]);
  std::uint32_t end = span(node).end;
  for (std::size_t i = node.count - 1; i >= 2; i -= 2) {
    Span here{span(node[i - 2]).begin, end};
    Expr* condition = expression(node[i - 1]);
    result = make<Conditional>(here, condition, expression(node[i - 2]), result);
  }
  return result;
}

// ---- Operators --------------------------------------------------------------------------------------------------------

Expr* Builder::fold(Nodes nodes) {
  OperatorList list{nodes};
  return fold_from(list, kNoPower + 1).expr;
}

Builder::Operand Builder::fold_from(OperatorList& list, int least_power) {
  Level level(*this);
  Operand left =
      is_operator_leaf(list.current()) ? fold_prefix(list) : Operand{expression(list.current()), span(list.current())};
  if (!list.done() && !is_operator_leaf(list.current())) ++list.at;
  while (!list.done()) {
    int power = infix_power(token(list.current()));
    if (power < least_power) break;
    left = fold_step(list, left, power);
  }
  return left;
}

// A prefix operator and its operand; leaves list.at behind the operand.
Builder::Operand Builder::fold_prefix(OperatorList& list) {
  const SyntaxNode& op = list.nodes[list.at++];
  bool is_not = token(op) == Token::kNot;
  bool negative = token(op) == Token::kMinus;
  Operand operand = fold_from(list, is_not ? kCompare : kPowerOf);
  UnaryOp kind = is_not ? UnaryOp::kNot : negative ? UnaryOp::kNegative : UnaryOp::kInvert;
  if (token(op) == Token::kPlus) kind = UnaryOp::kPositive;
  Span whole = join(span(op), operand.span);
  return {make<Unary>(whole, kind, operand.expr), whole};
}

Builder::Operand Builder::fold_step(OperatorList& list, Operand left, int power) {
  if (power == kCompare) return fold_compare(list, left, power);
  if (power <= kAnd) return fold_logical(list, left, power);
  return fold_arithmetic(list, left, power);
}

Builder::Operand Builder::fold_arithmetic(OperatorList& list, Operand left, int power) {
  std::vector<BinaryStep> steps;
  Span whole = left.span;
  int right_power = power == kPowerOf ? kPowerOf : power + 1;  // ** associates to the right
  while (!list.done() && infix_power(token(list.current())) == power) {
    const SyntaxNode& op = list.nodes[list.at++];
    Operand right = fold_from(list, right_power);
    whole = join(whole, right.span);
    steps.push_back({binary_op(token(op)), right.expr, span(op), right.span.end});
  }
  return {make<Binary>(whole, left.expr, keep(steps)), whole};
}

CompareOp Builder::compare_operator(OperatorList& list, Span& where) {
  const SyntaxNode& op = list.nodes[list.at++];
  where = span(op);
  auto followed_by = [&](Token second) {
    if (token(list.current()) != second || !is_operator_leaf(list.current())) return false;
    where = join(where, span(list.nodes[list.at++]));
    return true;
  };
  switch (token(op)) {
    case Token::kEqual: return CompareOp::kEqual;
    case Token::kNotEqual: return CompareOp::kNotEqual;
    case Token::kLess: return CompareOp::kLess;
    case Token::kLessEqual: return CompareOp::kLessEqual;
    case Token::kGreater: return CompareOp::kGreater;
    case Token::kGreaterEqual: return CompareOp::kGreaterEqual;
    case Token::kIn: return CompareOp::kIn;
    case Token::kIs: return followed_by(Token::kNot) ? CompareOp::kIsNot : CompareOp::kIs;
    default: followed_by(Token::kIn); return CompareOp::kNotIn;
  }
}

Builder::Operand Builder::fold_compare(OperatorList& list, Operand left, int power) {
  std::vector<CompareStep> steps;
  Span whole = left.span;
  while (!list.done() && infix_power(token(list.current())) == power) {
    Span where;
    CompareOp op = compare_operator(list, where);
    Operand right = fold_from(list, power + 1);
    whole = join(whole, right.span);
    steps.push_back({op, right.expr, where});
  }
  return {make<Compare>(whole, left.expr, keep(steps)), whole};
}

Builder::Operand Builder::fold_logical(OperatorList& list, Operand left, int power) {
  std::vector<Expr*> operands{left.expr};
  Span whole = left.span;
  while (!list.done() && infix_power(token(list.current())) == power) {
    ++list.at;
    Operand right = fold_from(list, power + 1);
    whole = join(whole, right.span);
    operands.push_back(right.expr);
  }
  return {make<Logical>(whole, power == kOr ? LogicalOp::kOr : LogicalOp::kAnd, keep(operands)), whole};
}

// ---- Names, attributes, calls, subscripts -----------------------------------------------------------------------------

Expr* Builder::primary(const SyntaxNode& node) {
  Level level(*this, node.count);
  Expr* result = expression(node[0]);
  std::uint32_t begin = span(node).begin;
  for (const SyntaxNode& part : node.all().subspan(1)) result = trailer(result, part, {begin, span(part).end});
  return result;
}

Expr* Builder::trailer(Expr* object, const SyntaxNode& node, Span whole) {
  if (node.kind == Syntax::attribute) return make<Attribute>(whole, object, identifier(node[0]));
  if (node.kind == Syntax::call) return call(object, node, whole);
  return make<Subscript>(whole, object, slices(node[0]));
}

Expr* Builder::call(Expr* callee, const SyntaxNode& node, Span whole) {
  std::vector<Expr*> positional;
  std::vector<Keyword> keywords;
  arguments(node, positional, keywords);
  return make<Call>(whole, callee, keep(positional), keep(keywords));
}

void Builder::arguments(const SyntaxNode& node, std::vector<Expr*>& positional, std::vector<Keyword>& keywords) {
  bool unpacked = false;
  for (const SyntaxNode& item : node.all()) {
    switch (item.kind) {
      case Syntax::keyword_argument:
        keywords.push_back({identifier(item[0]), expression(item[1]), span(item)});
        break;
      case Syntax::double_star_argument:
        unpacked = true;
        keywords.push_back({{}, expression(item[0]), span(item)});
        break;
      case Syntax::star_argument:
        if (unpacked) refuse_arguments(node);
        positional.push_back(make<Starred>(span(item), expression(item[0])));
        break;
      default: {
        if (item.count == 2) {  // a generator expression without its own parentheses
          bool alone = node.count == 1 && tokens_.kind(node.last - 2) != Token::kComma;
          if (!alone) refuse_arguments(node);
          positional.push_back(comprehension(ComprehensionKind::kGenerator, item[0], nullptr, item[1], span(node)));
          break;
        }
        if (!keywords.empty()) refuse_arguments(node);
        const SyntaxNode& value = item[0];
        const bool named = value.kind == Syntax::named_expression && value[0].kind == Syntax::any_name;
        if (value.kind == Syntax::named_expression && !named) refuse("invalid syntax", token_span(value[1].first));
        positional.push_back(expression(value));
      }
    }
  }
}

void Builder::refuse_arguments(const SyntaxNode& node) {
  const auto fault = argument_fault(tokens_, node.first + 1, node.first + 1, tree_.arena());
  if (!fault) refuse("invalid syntax", span(node));
  refuse(fault->message, join(token_span(fault->first), token_span(fault->last - 1)));
}

Expr* Builder::slices(const SyntaxNode& node) {
  if (node.kind == Syntax::star_argument) {  // a[*b] is a[(*b,)]
    std::vector<Expr*> one{slice(node)};
    return make<Tuple>(span(node), keep(one));
  }
  if (node.kind != Syntax::slices) return slice(node);
  std::vector<Expr*> elements;
  for (const SyntaxNode& item : node.all()) {
    if (item.kind != Syntax::comma_mark) elements.push_back(slice(item));
  }
  return make<Tuple>(span(node), keep(elements));
}

Expr* Builder::slice(const SyntaxNode& node) {
  if (node.kind == Syntax::star_argument) return make<Starred>(span(node), expression(node[0]));
  if (node.kind != Syntax::slice && node.kind != Syntax::slice_colon) return expression(node);
  Expr* parts[3] = {};
  std::size_t part = 0;
  for (const SyntaxNode& item : node.all()) {
    if (item.kind == Syntax::slice_colon) ++part;
    else parts[part] = expression(item);
  }
  return make<Slice>(span(node), parts[0], parts[1], parts[2]);
}

// ---- Displays and comprehensions ----------------------------------------------------------------------------------------

ExprList Builder::expressions(Nodes nodes) {
  std::vector<Expr*> result;
  result.reserve(nodes.size());
  for (const SyntaxNode& node : nodes) {
    if (node.kind != Syntax::comma_mark) result.push_back(expression(node));
  }
  return keep(result);
}

Expr* Builder::tuple(Nodes nodes, Span where) { return make<Tuple>(where, expressions(nodes)); }

Expr* Builder::paren(const SyntaxNode& node) {
  Span where = span(node);
  if (node.count == 0) return make<Tuple>(where, ExprList{});
  if (node.count == 1) {
    if (node[0].kind == Syntax::starred) refuse(kStarredHere, span(node[0]));
    return expression(node[0]);
  }
  if (node[1].kind != Syntax::comma_mark) {
    return comprehension(ComprehensionKind::kGenerator, node[0], nullptr, node[1], where);
  }
  return tuple(node.all(), where);
}

Expr* Builder::list(const SyntaxNode& node) {
  if (node.count == 2 && node[1].kind == Syntax::comprehension_clauses) {
    return comprehension(ComprehensionKind::kList, node[0], nullptr, node[1], span(node));
  }
  return make<List>(span(node), expressions(node.all()));
}

Expr* Builder::brace(const SyntaxNode& node) {
  if (node.count == 0) return make<Dict>(span(node), std::span<DictItem>{});
  if (node[0].kind == Syntax::dict_unpack || (node.count > 1 && node[1].kind == Syntax::dict_value)) return dict(node);
  if (node.count == 2 && node[1].kind == Syntax::comprehension_clauses) {
    return comprehension(ComprehensionKind::kSet, node[0], nullptr, node[1], span(node));
  }
  return make<Set>(span(node), expressions(node.all()));
}

// Children: a key and its dict_value (the first pair; the value may bring a comprehension or the other items), or items.
Expr* Builder::dict(const SyntaxNode& node) {
  std::vector<DictItem> items;
  auto add = [&](const SyntaxNode& item) {
    if (item.kind == Syntax::dict_unpack) return items.push_back({nullptr, expression(item[0])});
    Expr* key = expression(item[0]);
    items.push_back({key, expression(item[1])});
  };
  if (node[0].kind == Syntax::dict_unpack) {
    for (const SyntaxNode& item : node.all()) add(item);
    return make<Dict>(span(node), keep(items));
  }
  if (node[0].kind == Syntax::starred || node[0].kind == Syntax::named_expression) {
    refuse("invalid syntax", token_span(node[1].first));
  }
  const SyntaxNode& rest = node[1];
  if (rest.count == 2 && rest[1].kind == Syntax::comprehension_clauses) {
    return comprehension(ComprehensionKind::kDict, node[0], &rest[0], rest[1], span(node));
  }
  Expr* key = expression(node[0]);
  items.push_back({key, expression(rest[0])});
  for (const SyntaxNode& item : rest.all().subspan(1)) add(item);
  return make<Dict>(span(node), keep(items));
}

Expr* Builder::comprehension(ComprehensionKind kind, const SyntaxNode& element, const SyntaxNode* value,
                             const SyntaxNode& clauses, Span where) {
  if (element.kind == Syntax::starred) refuse("iterable unpacking cannot be used in comprehension", span(element));
  Expr* first = expression(element);
  Expr* second = value != nullptr ? expression(*value) : nullptr;
  return make<Comprehension>(where, kind, first, second, for_clauses(clauses));
}

std::span<ForClause> Builder::for_clauses(const SyntaxNode& node) {
  std::vector<ForClause> clauses;
  for (const SyntaxNode& clause : node.all()) {
    const bool is_async = clause[0].kind == Syntax::async_mark;
    const auto parts = clause.all().subspan(is_async ? 1 : 0);
    std::vector<Expr*> conditions;
    Expr* variable = target(parts[0]);
    Expr* iterable = expression(parts[1]);
    for (const SyntaxNode& condition : parts.subspan(2)) conditions.push_back(expression(condition[0]));
    clauses.push_back({variable, iterable, keep(conditions), is_async});
  }
  return keep(clauses);
}

// ---- lambda, yield, := ------------------------------------------------------------------------------------------------

Expr* Builder::lambda(const SyntaxNode& node) {
  Parameters given = parameters(node.all().first(node.count - 1), ParametersOf::kLambda, node.first + 1);
  return make<Lambda>(span(node), given, expression(node[node.count - 1]), false);
}

Expr* Builder::yield(const SyntaxNode& node) {
  if (node.count == 0) return make<Yield>(span(node), nullptr);
  if (node[0].kind == Syntax::yield_from) return make<YieldFrom>(span(node), expression(node[0][0]));
  return make<Yield>(span(node), expression(node[0]));
}

Expr* Builder::walrus(const SyntaxNode& node) {
  const SyntaxNode& left = node[0];
  if (left.kind != Syntax::any_name) {
    refuse(std::string("cannot use assignment expressions with ") + expression_name(*expression(left)), span(left));
  }
  return make<Walrus>(span(node), identifier(left), expression(node[1][0]));
}

const char* expression_name(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kConstant:
      switch (as<Constant>(expr).value) {
        case ConstantValue::kNone: return "None";
        case ConstantValue::kFalse: return "False";
        case ConstantValue::kTrue: return "True";
        case ConstantValue::kEllipsis: return "ellipsis";
      }
      return "literal";
    case ExprKind::kIntLiteral:
    case ExprKind::kBigIntLiteral:
    case ExprKind::kFloatLiteral:
    case ExprKind::kImaginaryLiteral:
    case ExprKind::kStringLiteral:
    case ExprKind::kBytesLiteral: return "literal";
    case ExprKind::kFString: return "f-string expression";
    case ExprKind::kName: return "name";
    case ExprKind::kTuple: return "tuple";
    case ExprKind::kList: return "list";
    case ExprKind::kSet: return "set display";
    case ExprKind::kDict: return "dict literal";
    case ExprKind::kStarred: return "starred";
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kLogical: return "expression";
    case ExprKind::kCompare: return "comparison";
    case ExprKind::kConditional: return "conditional expression";
    case ExprKind::kLambda: return "lambda";
    case ExprKind::kWalrus: return "named expression";
    case ExprKind::kAttribute: return "attribute";
    case ExprKind::kSubscript: return "subscript";
    case ExprKind::kSlice: return "slice";
    case ExprKind::kCall: return "function call";
    case ExprKind::kComprehension:
      switch (as<Comprehension>(expr).result) {
        case ComprehensionKind::kGenerator: return "generator expression";
        case ComprehensionKind::kList: return "list comprehension";
        case ComprehensionKind::kSet: return "set comprehension";
        case ComprehensionKind::kDict: return "dict comprehension";
      }
      return "expression";
    case ExprKind::kYield:
    case ExprKind::kYieldFrom: return "yield expression";
    case ExprKind::kAwait: return "await expression";
  }
  return "expression";
}

}  // namespace tessera::lang
