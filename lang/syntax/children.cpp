// compile: small (runs after an error)
#include "lang/syntax/children.h"

namespace tessera::lang::ast {
namespace {

struct ChildExpressions {
  Each<Expr&> f;

  void give(Expr* e) {
    if (e != nullptr) f(*e);
  }
  void give(ExprList list) {
    for (Expr* e : list) give(e);
  }
  void give(std::span<Keyword> keywords) {
    for (const Keyword& k : keywords) give(k.value);
  }
  void give(Parameters parameters) {
    for (const Parameter& p : parameters) give(p.annotation), give(p.default_value);
  }

  // Expressions.
  void operator()(FString& e) {
    for (const FStringPart& part : e.parts) {
      give(part.value);
      if (part.format != nullptr) give(part.format);
    }
  }
  void operator()(Tuple& e) { give(e.elements); }
  void operator()(List& e) { give(e.elements); }
  void operator()(Set& e) { give(e.elements); }
  void operator()(Dict& e) {
    for (const DictItem& item : e.items) give(item.key), give(item.value);
  }
  void operator()(Starred& e) { give(e.value); }
  void operator()(Unary& e) { give(e.operand); }
  void operator()(Binary& e) {
    give(e.first);
    for (const BinaryStep& step : e.steps) give(step.right);
  }
  void operator()(Logical& e) { give(e.operands); }
  void operator()(Compare& e) {
    give(e.first);
    for (const CompareStep& step : e.steps) give(step.right);
  }
  void operator()(Conditional& e) { give(e.condition), give(e.then_value), give(e.else_value); }
  void operator()(Lambda& e) { give(e.parameters), give(e.body); }
  void operator()(Walrus& e) { give(e.value); }
  void operator()(Attribute& e) { give(e.object); }
  void operator()(Subscript& e) { give(e.object), give(e.index); }
  void operator()(Slice& e) { give(e.lower), give(e.upper), give(e.step); }
  void operator()(Call& e) { give(e.callee), give(e.arguments), give(e.keywords); }
  void operator()(Comprehension& e) {
    for (const ForClause& c : e.clauses) give(c.iterable), give(c.target), give(c.conditions);
    give(e.element), give(e.value);
  }
  void operator()(Yield& e) { give(e.value); }
  void operator()(YieldFrom& e) { give(e.value); }
  void operator()(Await& e) { give(e.value); }

  // Statements: what stands in their heads; blocks are for each_block.
  void operator()(ExpressionStmt& s) { give(s.value); }
  void operator()(AssignStmt& s) { give(s.value), give(s.targets); }
  void operator()(AugmentedAssignStmt& s) { give(s.target), give(s.value); }
  void operator()(AnnotatedAssignStmt& s) { give(s.value), give(s.target), give(s.annotation); }
  void operator()(DeleteStmt& s) { give(s.targets); }
  void operator()(ReturnStmt& s) { give(s.value); }
  void operator()(RaiseStmt& s) { give(s.exception), give(s.cause); }
  void operator()(AssertStmt& s) { give(s.condition), give(s.message); }
  void operator()(IfStmt& s) {
    for (const IfArm& arm : s.arms) give(arm.condition);
  }
  void operator()(WhileStmt& s) { give(s.condition); }
  void operator()(ForStmt& s) { give(s.iterable), give(s.target); }
  void operator()(WithStmt& s) {
    for (const WithItem& item : s.items) give(item.context), give(item.target);
  }
  void operator()(TryStmt& s) {
    for (const ExceptHandler& handler : s.handlers) give(handler.type);
  }
  void operator()(MatchStmt& s) {
    give(s.subject);
    for (const MatchCase& c : s.cases) give(c.guard);
  }
  void operator()(FunctionStmt& s) { give(s.decorators), give(s.parameters), give(s.returns); }
  void operator()(ClassStmt& s) { give(s.decorators), give(s.bases), give(s.keywords); }

  template <class Other>
  void operator()(Other&) {}  // names, literals, pass
};

}  // namespace

void each_expression(Expr& e, Each<Expr&> f) { visit(e, ChildExpressions{f}); }
void each_expression(Stmt& s, Each<Expr&> f) { visit(s, ChildExpressions{f}); }

void each_block(Stmt& s, Each<Block> f) {
  if (auto* branch = try_as<IfStmt>(&s)) {
    for (const IfArm& arm : branch->arms) f(arm.body);
    f(branch->else_body);
  } else if (auto* loop = try_as<WhileStmt>(&s)) {
    f(loop->body), f(loop->else_body);
  } else if (auto* each = try_as<ForStmt>(&s)) {
    f(each->body), f(each->else_body);
  } else if (auto* with = try_as<WithStmt>(&s)) {
    f(with->body);
  } else if (auto* tried = try_as<TryStmt>(&s)) {
    f(tried->body);
    for (const ExceptHandler& handler : tried->handlers) f(handler.body);
    f(tried->else_body), f(tried->finally_body);
  } else if (auto* match = try_as<MatchStmt>(&s)) {
    for (const MatchCase& c : match->cases) f(c.body);
  } else if (auto* function = try_as<FunctionStmt>(&s)) {
    f(function->body);
  } else if (auto* type = try_as<ClassStmt>(&s)) {
    f(type->body);
  }
}

}  // namespace tessera::lang::ast
