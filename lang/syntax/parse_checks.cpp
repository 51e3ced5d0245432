// One walk over the tree with a little context.
// compile: small (runs once for a program's text)
#include "lang/syntax/parse_checks.h"

#include <span>
#include <string>
#include <unordered_set>
#include <utility>

namespace tessera::lang {

using namespace ast;

namespace {

[[noreturn]] void refuse(std::string message, Span span) { throw Refusal{std::move(message), span}; }

class Checker {
 public:
  explicit Checker(Tree& tree) : tree_(tree) {}

  void check(Block block) {
    for (Stmt* stmt : block) check(*stmt);
  }
  void check(Expr* expr) {
    if (expr != nullptr) visit(*expr, *this);
  }

  // Statements.
  void operator()(ExpressionStmt& s) { check_value(s.value); }
  void operator()(AssignStmt& s) {
    for (Expr* target : s.targets) check_assigned(*target), check(target);
    check_value(s.value);
  }
  void operator()(AugmentedAssignStmt& s) { check(s.target), check_value(s.value); }
  void operator()(AnnotatedAssignStmt& s) { check(s.target), check(s.annotation), check_value(s.value); }
  void operator()(DeleteStmt& s) { check(s.targets); }
  void operator()(PassStmt&) {}
  void operator()(BreakStmt& s) {
    if (scope_.group_clause && !scope_.loop) late(kLeaving, s.span);
    if (!scope_.loop) late("'break' outside loop", s.span);
  }
  void operator()(ContinueStmt& s) {
    if (scope_.group_clause && !scope_.loop) late(kLeaving, s.span);
    if (!scope_.loop) late("'continue' not properly in loop", s.span);
  }
  void operator()(ReturnStmt& s) {
    if (scope_.group_clause) late(kLeaving, s.span);
    if (scope_.kind != Scope::kFunction) late("'return' outside function", s.span);
    if (s.value != nullptr && scope_.returned == nullptr) scope_.returned = &s;
    check_value(s.value);
  }
  void operator()(RaiseStmt& s) { check(s.exception), check(s.cause); }
  void operator()(AssertStmt& s) { check(s.condition), check(s.message); }
  void operator()(GlobalStmt&) {}
  void operator()(NonlocalStmt& s) {
    if (scope_.kind == Scope::kModule) refuse("nonlocal declaration not allowed at module level", s.span);
  }
  void operator()(ImportStmt&) {}
  void operator()(ImportFromStmt& s) {
    if (s.star && scope_.kind != Scope::kModule) {
      refuse("import * only allowed at module level", {s.span.end - 1, s.span.end});
    }
  }
  void operator()(IfStmt& s) {
    for (IfArm& arm : s.arms) check(arm.condition), check(arm.body);
    check(s.else_body);
  }
  void operator()(WhileStmt& s) {
    check(s.condition);
    loop_body(s.body);
    check(s.else_body);
  }
  void operator()(ForStmt& s) {
    if (s.is_async) check_async_statement("'async for' outside async function", s.span);
    check_assigned(*s.target);
    check(s.target), check_value(s.iterable);
    loop_body(s.body);
    check(s.else_body);
  }
  void operator()(WithStmt& s) {
    if (s.is_async) check_async_statement("'async with' outside async function", s.span);
    for (WithItem& item : s.items) {
      check(item.context);
      if (item.target != nullptr) check_assigned(*item.target), check(item.target);
    }
    check(s.body);
  }
  void operator()(TryStmt& s) {
    check(s.body);
    for (ExceptHandler& handler : s.handlers) {
      bool last = &handler == &s.handlers.back();
      if (handler.type == nullptr && !last) late("default 'except:' must be last", handler.span);
      check(handler.type);
      if (s.groups) group_clause(handler.body);
      else check(handler.body);
    }
    check(s.else_body), check(s.finally_body);
  }
  void operator()(MatchStmt& s) {
    check_value(s.subject);
    try {
      check_cases(s);
    } catch (const Refusal& refusal) {
      late(refusal.message, refusal.span);
    }
    for (MatchCase& part : s.cases) check(part.guard), check(part.body);
  }
  void operator()(FunctionStmt& s) {
    check(s.decorators);
    check_parameters(s.parameters);
    check(s.returns);
    Scope outer = enter(Scope::kFunction);
    scope_.is_async = s.is_async;
    check(s.body);
    if (s.is_async && scope_.yields && scope_.returned != nullptr) {
      late("'return' with value in async generator", scope_.returned->span);
    }
    s.is_generator = leave(outer);
  }
  void operator()(ClassStmt& s) {
    check_keywords(s.keywords, s.span);
    check(s.decorators), check(s.bases);
    for (Keyword& keyword : s.keywords) check(keyword.value);
    Scope outer = enter(Scope::kClass);
    check(s.body);
    leave(outer);
  }

  // Expressions.
  void operator()(Constant&) {}
  void operator()(IntLiteral&) {}
  void operator()(BigIntLiteral&) {}
  void operator()(FloatLiteral&) {}
  void operator()(ImaginaryLiteral&) {}
  void operator()(StringLiteral&) {}
  void operator()(BytesLiteral&) {}
  void operator()(FString& e) {
    for (FStringPart& part : e.parts) check(part.value), check(part.format);
  }
  void operator()(Name&) {}
  void operator()(Tuple& e) { check(e.elements); }
  void operator()(List& e) { check(e.elements); }
  void operator()(Set& e) { check(e.elements); }
  void operator()(Dict& e) {
    for (DictItem& item : e.items) check(item.key), check(item.value);
  }
  void operator()(Starred& e) { check(e.value); }
  void operator()(Unary& e) { check(e.operand); }
  void operator()(Binary& e) {
    check(e.first);
    for (BinaryStep& step : e.steps) check(step.right);
  }
  void operator()(Logical& e) { check(e.operands); }
  void operator()(Compare& e) {
    check(e.first);
    for (CompareStep& step : e.steps) check(step.right);
  }
  void operator()(Conditional& e) { check(e.condition), check(e.then_value), check(e.else_value); }
  void operator()(Lambda& e) {
    check_parameters(e.parameters);
    Scope outer = enter(Scope::kFunction);
    check(e.body);
    e.is_generator = leave(outer);
  }
  void operator()(Walrus& e) {
    if (in_iterable_) refuse("assignment expression cannot be used in a comprehension iterable expression", e.span);
    check(e.value);
  }
  void operator()(Attribute& e) { check(e.object); }
  void operator()(Subscript& e) { check(e.object), check(e.index); }
  void operator()(Slice& e) { check(e.lower), check(e.upper), check(e.step); }
  void operator()(Call& e) {
    check_keywords(e.keywords, e.span);
    check(e.callee), check(e.arguments);
    for (Keyword& keyword : e.keywords) check(keyword.value);
  }
  void operator()(Comprehension& e) {
    Comprehension* outer = comprehension_;
    for (ForClause& clause : e.clauses) {
      check_assigned(*clause.target);
      bool outer_iterable = std::exchange(in_iterable_, true);
      check(clause.iterable);
      in_iterable_ = outer_iterable;
      comprehension_ = &e;  // only the first iterable belongs to the scope around
      e.is_async |= clause.is_async;
      check(clause.target), check(clause.conditions);
    }
    check(e.element), check(e.value);
    comprehension_ = outer;
    if (e.is_async && e.result != ComprehensionKind::kGenerator) check_async_comprehension(e.span);
  }
  void operator()(Yield& e) { note_yield(e.span), check_value(e.value); }
  void operator()(YieldFrom& e) {
    note_yield(e.span);
    if (scope_.is_async) late("'yield from' inside async function", e.span);
    check(e.value);
  }
  void operator()(Await& e) {
    if (comprehension_ != nullptr) {
      comprehension_->is_async = true;
    } else if (scope_.kind == Scope::kModule) {
      top_level("'await' outside function", e.span);
    } else if (scope_.kind == Scope::kClass) {
      late("'await' outside function", e.span);
    } else if (!scope_.is_async) {
      late("'await' outside async function", e.span);
    }
    check(e.value);
  }

 private:
  struct Scope {
    enum Kind : std::uint8_t { kModule, kClass, kFunction };
    Kind kind = kModule;
    bool loop = false;
    bool group_clause = false;  // inside a clause of except*
    bool yields = false;
    bool is_async = false;
    const ReturnStmt* returned = nullptr;  // the first one with a value
    Comprehension* comprehension = nullptr;
  };

  void check(Stmt& stmt) { visit(stmt, *this); }
  // An expression that may not be a starred one.
  void check_value(Expr* expr) {
    check(expr);
    if (expr != nullptr && is<Starred>(*expr)) late("can't use starred expression here", expr->span);
  }
  void check(ExprList exprs) {
    for (Expr* expr : exprs) check(expr);
  }

  Scope enter(Scope::Kind kind) {
    Scope outer = scope_;
    scope_ = {kind};
    outer.comprehension = std::exchange(comprehension_, nullptr);
    return outer;
  }

  bool leave(Scope outer) {
    bool yields = scope_.yields;
    comprehension_ = outer.comprehension;
    scope_ = outer;
    return yields;
  }

  // All clauses of except* run; none may be left by a jump.
  void group_clause(Block body) {
    const bool outer = std::exchange(scope_.group_clause, true);
    const bool loop = std::exchange(scope_.loop, false);
    check(body);
    scope_.group_clause = outer;
    scope_.loop = loop;
  }

  static constexpr const char* kLeaving = "'break', 'continue' and 'return' cannot appear in an except* block";

  // A refusal of the compiler's, which stands behind those of names.
  void late(std::string message, Span span) {
    if (!tree_.late_refusal.empty()) return;
    tree_.late_refusal = std::move(message);
    tree_.late_span = span;
  }

  void loop_body(Block body) {
    bool outer = std::exchange(scope_.loop, true);
    check(body);
    scope_.loop = outer;
  }

  // The module's own code may await if it is compiled for that, which is not known here.
  void top_level(const char* refusal, Span span) {
    if (tree_.await_refusal != nullptr) return;
    tree_.await_refusal = refusal;
    tree_.await_span = span;
  }

  void check_async_statement(const char* refusal, Span span) {
    if (scope_.kind == Scope::kModule) top_level(refusal, span);
    else if (!scope_.is_async) late(refusal, span);
  }

  // A list, set or dict comprehension that awaits makes the comprehension around it asynchronous.
  void check_async_comprehension(Span span) {
    constexpr const char* kRefusal = "asynchronous comprehension outside of an asynchronous function";
    if (comprehension_ != nullptr) comprehension_->is_async = true;
    else if (scope_.kind == Scope::kModule) top_level(kRefusal, span);
    else if (!scope_.is_async) late(kRefusal, span);
  }

  void note_yield(Span span) {
    if (comprehension_ != nullptr) {
      refuse(std::string("'yield' inside ") + expression_name(*comprehension_), span);
    }
    if (scope_.kind != Scope::kFunction) late("'yield' outside function", span);
    scope_.yields = true;
  }

  void check_parameters(Parameters parameters) {
    std::unordered_set<std::string_view> names;
    for (Parameter& parameter : parameters) {
      check(parameter.annotation), check(parameter.default_value);
      if (!names.insert(parameter.name.text).second) {
        refuse("duplicate argument '" + std::string(parameter.name.text) + "' in function definition",
               parameter.name.span);
      }
    }
  }

  void check_keywords(std::span<const Keyword> keywords, Span call) {
    std::unordered_set<std::string_view> names;
    for (const Keyword& keyword : keywords) {
      if (keyword.name.text == "__debug__") late("cannot assign to __debug__", call);
    }
    for (const Keyword& keyword : keywords) {
      if (!keyword.name.text.empty() && !names.insert(keyword.name.text).second)
        late("keyword argument repeated: " + std::string(keyword.name.text), keyword.span);
    }
  }

  // What the grammar of targets leaves: how often, and where, a star may stand in one.
  void check_assigned(const Expr& target) {
    if (is<Starred>(target)) late("starred assignment target must be in a list or tuple", target.span);
    ExprList elements;
    if (is<Tuple>(target)) elements = as<Tuple>(target).elements;
    if (is<List>(target)) elements = as<List>(target).elements;
    bool starred = false;
    for (Expr* element : elements) {
      auto* star = try_as<Starred>(element);
      if (star != nullptr && std::exchange(starred, true)) {
        late("multiple starred expressions in assignment", target.span);
      }
      check_assigned(star != nullptr ? *star->value : *element);
    }
  }

  Scope scope_;
  Tree& tree_;
  Comprehension* comprehension_ = nullptr;  // the innermost one whose own scope we are in
  bool in_iterable_ = false;
};

}  // namespace

void check_placement(Tree& tree) {
  Checker checker(tree);
  checker.check(tree.body);
  checker.check(tree.expression);
}

}  // namespace tessera::lang
