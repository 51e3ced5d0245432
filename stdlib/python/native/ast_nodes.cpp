// The tree of a program as objects of the classes that the module ast defines, with CPython's names and fields.
// compile: small (runs once for a program's text)
#include "stdlib/python/native/ast_nodes.h"

#include <initializer_list>
#include <utility>

#include "lang/core/error.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

namespace ast = lang::ast;
using lang::Position;
using lang::Source;
using lang::Span;

enum class Context : uint8_t { Load, Store, Del };

constexpr const char* kBinary[] = {"Add", "Sub",     "Mult",   "Div",    "FloorDiv", "Mod",  "Pow",
                                   "MatMult", "LShift", "RShift", "BitAnd", "BitOr",    "BitXor"};
constexpr const char* kCompare[] = {"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Is", "IsNot", "In", "NotIn"};
constexpr const char* kUnary[] = {"USub", "UAdd", "Invert", "Not"};

class Maker {
 public:
  using Field = std::pair<const char*, Value>;

  Maker(Interpreter& in, const Source& source, const Value& classes) : in_(in), source_(source), classes_(classes) {}

  Value module(const ast::Tree& tree, std::string_view mode) {
    if (tree.expression != nullptr) return bare("Expression", {{"body", expr(tree.expression)}});
    if (mode == "single") return bare("Interactive", {{"body", block(tree.body)}});
    return bare("Module", {{"body", block(tree.body)}, {"type_ignores", make_list(in_)}});
  }

  // --- expressions
  Value operator()(const ast::Constant& e) {
    switch (e.value) {
      case ast::ConstantValue::kNone: return constant(e.span, Value::none());
      case ast::ConstantValue::kTrue: return constant(e.span, Value::boolean(true));
      case ast::ConstantValue::kFalse: return constant(e.span, Value::boolean(false));
      default: return constant(e.span, in_.ellipsis);
    }
  }
  Value operator()(const ast::IntLiteral& e) { return constant(e.span, Value::integer(e.value)); }
  Value operator()(const ast::BigIntLiteral& e) { return constant(e.span, lang::parse_int(in_, e.text, 0)); }
  Value operator()(const ast::FloatLiteral& e) { return constant(e.span, Value::real(e.value)); }
  Value operator()(const ast::ImaginaryLiteral& e) { return constant(e.span, make_complex(in_, 0, e.value)); }
  Value operator()(const ast::StringLiteral& e) {
    const char first = e.span.begin < e.span.end ? source_.text()[e.span.begin] : '\0';
    return constant(e.span, make_str(in_, e.value), first == 'u' || first == 'U');
  }
  Value operator()(const ast::BytesLiteral& e) { return constant(e.span, make_bytes(in_, e.value)); }
  Value operator()(const ast::FString& e) { return joined(e, e.span); }
  Value operator()(const ast::Name& e) {
    return node("Name", e.span, {{"id", make_str(in_, e.name)}, {"ctx", context()}});
  }
  Value operator()(const ast::Tuple& e) { return sequence("Tuple", e.span, e.elements); }
  Value operator()(const ast::List& e) { return sequence("List", e.span, e.elements); }
  Value operator()(const ast::Set& e) { return node("Set", e.span, {{"elts", loads(e.elements)}}); }
  Value operator()(const ast::Dict& e) {
    const Value keys = make_list(in_), values = make_list(in_);
    for (const ast::DictItem& item : e.items) {
      list_append(in_, as_list(keys), optional(item.key));
      list_append(in_, as_list(values), expr(item.value));
    }
    return node("Dict", e.span, {{"keys", keys}, {"values", values}});
  }
  Value operator()(const ast::Starred& e) {
    const Value ctx = context();
    return node("Starred", e.span, {{"value", in_context(e.value)}, {"ctx", ctx}});
  }
  Value operator()(const ast::Unary& e) {
    return node("UnaryOp", e.span, {{"op", plain(kUnary[static_cast<size_t>(e.op)])}, {"operand", expr(e.operand)}});
  }
  Value operator()(const ast::Binary& e) {
    Value left = expr(e.first);
    for (const ast::BinaryStep& step : e.steps) {
      left = node("BinOp", e.step_span(step),
                  {{"left", left}, {"op", plain(kBinary[static_cast<size_t>(step.op)])}, {"right", expr(step.right)}});
    }
    return left;
  }
  Value operator()(const ast::Logical& e) {
    return node("BoolOp", e.span,
                {{"op", plain(e.op == ast::LogicalOp::kAnd ? "And" : "Or")}, {"values", loads(e.operands)}});
  }
  Value operator()(const ast::Compare& e) {
    const Value ops = make_list(in_), comparators = make_list(in_);
    const Value left = expr(e.first);
    for (const ast::CompareStep& step : e.steps) {
      list_append(in_, as_list(ops), plain(kCompare[static_cast<size_t>(step.op)]));
      list_append(in_, as_list(comparators), expr(step.right));
    }
    return node("Compare", e.span, {{"left", left}, {"ops", ops}, {"comparators", comparators}});
  }
  Value operator()(const ast::Conditional& e) {
    return node("IfExp", e.span,
                {{"test", expr(e.condition)}, {"body", expr(e.then_value)}, {"orelse", expr(e.else_value)}});
  }
  Value operator()(const ast::Lambda& e) {
    return node("Lambda", e.span, {{"args", arguments(e.parameters)}, {"body", expr(e.body)}});
  }
  Value operator()(const ast::Walrus& e) {
    return node("NamedExpr", e.span, {{"target", name(e.target, "Store")}, {"value", expr(e.value)}});
  }
  Value operator()(const ast::Attribute& e) {
    const Value ctx = context();
    return node("Attribute", e.span, {{"value", expr(e.object)}, {"attr", make_str(in_, e.name.text)}, {"ctx", ctx}});
  }
  Value operator()(const ast::Subscript& e) {
    const Value ctx = context();
    return node("Subscript", e.span, {{"value", expr(e.object)}, {"slice", expr(e.index)}, {"ctx", ctx}});
  }
  Value operator()(const ast::Slice& e) {
    return node("Slice", e.span,
                {{"lower", optional(e.lower)}, {"upper", optional(e.upper)}, {"step", optional(e.step)}});
  }
  Value operator()(const ast::Call& e) {
    return node("Call", e.span,
                {{"func", expr(e.callee)}, {"args", loads(e.arguments)}, {"keywords", keywords(e.keywords)}});
  }
  Value operator()(const ast::Comprehension& e) {
    const Value clauses = make_list(in_);
    for (const ast::ForClause& clause : e.clauses) {
      const Value target = store(clause.target);
      list_append(in_, as_list(clauses),
                  bare("comprehension", {{"target", target},
                                         {"iter", expr(clause.iterable)},
                                         {"ifs", loads(clause.conditions)},
                                         {"is_async", Value::integer(clause.is_async)}}));
    }
    if (e.result == ast::ComprehensionKind::kDict) {
      return node("DictComp", e.span, {{"key", expr(e.element)}, {"value", expr(e.value)}, {"generators", clauses}});
    }
    const char* const kind = e.result == ast::ComprehensionKind::kList  ? "ListComp"
                             : e.result == ast::ComprehensionKind::kSet ? "SetComp"
                                                                        : "GeneratorExp";
    return node(kind, e.span, {{"elt", expr(e.element)}, {"generators", clauses}});
  }
  Value operator()(const ast::Await& e) { return node("Await", e.span, {{"value", expr(e.value)}}); }
  Value operator()(const ast::Yield& e) { return node("Yield", e.span, {{"value", optional(e.value)}}); }
  Value operator()(const ast::YieldFrom& e) { return node("YieldFrom", e.span, {{"value", expr(e.value)}}); }

  // --- patterns
  Value operator()(const ast::ValuePattern& p) { return node("MatchValue", p.span, {{"value", expr(p.value)}}); }
  Value operator()(const ast::SingletonPattern& p) {
    const Value value = p.value == ast::ConstantValue::kNone ? Value::none()
                                                             : Value::boolean(p.value == ast::ConstantValue::kTrue);
    return node("MatchSingleton", p.span, {{"value", value}});
  }
  Value operator()(const ast::SequencePattern& p) {
    return node("MatchSequence", p.span, {{"patterns", patterns(p.elements)}});
  }
  Value operator()(const ast::StarPattern& p) { return node("MatchStar", p.span, {{"name", text(p.name)}}); }
  Value operator()(const ast::MappingPattern& p) {
    const Value keys = make_list(in_), values = make_list(in_);
    for (const ast::MappingPatternItem& item : p.items) {
      list_append(in_, as_list(keys), expr(item.key));
      list_append(in_, as_list(values), visit(*item.value, *this));
    }
    return node("MatchMapping", p.span, {{"keys", keys}, {"patterns", values}, {"rest", text(p.rest)}});
  }
  Value operator()(const ast::InstancePattern& p) {
    const Value names = make_list(in_), values = make_list(in_);
    for (const ast::KeywordPattern& keyword : p.keywords) {
      list_append(in_, as_list(names), make_str(in_, keyword.name.text));
      list_append(in_, as_list(values), visit(*keyword.value, *this));
    }
    return node("MatchClass", p.span,
                {{"cls", expr(p.type)},
                 {"patterns", patterns(p.arguments)},
                 {"kwd_attrs", names},
                 {"kwd_patterns", values}});
  }
  Value operator()(const ast::CapturePattern& p) {
    const Value inner = p.pattern == nullptr ? Value::none() : visit(*p.pattern, *this);
    return node("MatchAs", p.span, {{"pattern", inner}, {"name", text(p.name)}});
  }
  Value operator()(const ast::OrPattern& p) {
    return node("MatchOr", p.span, {{"patterns", patterns(p.alternatives)}});
  }

  // --- statements
  Value operator()(const ast::ExpressionStmt& s) { return node("Expr", s.span, {{"value", expr(s.value)}}); }
  Value operator()(const ast::AssignStmt& s) {
    const Value targets = stores(s.targets);
    return node("Assign", s.span, {{"targets", targets}, {"value", expr(s.value)}, {"type_comment", Value::none()}});
  }
  Value operator()(const ast::AugmentedAssignStmt& s) {
    const Value target = store(s.target);
    return node("AugAssign", s.span,
                {{"target", target}, {"op", plain(kBinary[static_cast<size_t>(s.op)])}, {"value", expr(s.value)}});
  }
  Value operator()(const ast::AnnotatedAssignStmt& s) {
    const Value target = store(s.target);
    return node("AnnAssign", s.span,
                {{"target", target},
                 {"annotation", expr(s.annotation)},
                 {"value", optional(s.value)},
                 {"simple", Value::integer(s.simple)}});
  }
  Value operator()(const ast::DeleteStmt& s) {
    const Value targets = list_in(s.targets, Context::Del);
    return node("Delete", s.span, {{"targets", targets}});
  }
  Value operator()(const ast::PassStmt& s) { return node("Pass", s.span, {}); }
  Value operator()(const ast::BreakStmt& s) { return node("Break", s.span, {}); }
  Value operator()(const ast::ContinueStmt& s) { return node("Continue", s.span, {}); }
  Value operator()(const ast::ReturnStmt& s) { return node("Return", s.span, {{"value", optional(s.value)}}); }
  Value operator()(const ast::RaiseStmt& s) {
    return node("Raise", s.span, {{"exc", optional(s.exception)}, {"cause", optional(s.cause)}});
  }
  Value operator()(const ast::AssertStmt& s) {
    return node("Assert", s.span, {{"test", expr(s.condition)}, {"msg", optional(s.message)}});
  }
  Value operator()(const ast::GlobalStmt& s) { return node("Global", s.span, {{"names", names(s.names)}}); }
  Value operator()(const ast::NonlocalStmt& s) { return node("Nonlocal", s.span, {{"names", names(s.names)}}); }
  Value operator()(const ast::ImportStmt& s) { return node("Import", s.span, {{"names", aliases(s.names)}}); }
  Value operator()(const ast::ImportFromStmt& s) {
    Value imported = aliases(s.names);
    if (s.star) {
      const auto at = static_cast<uint32_t>(source_.text().rfind('*', s.span.end));
      list_append(in_, as_list(imported),
                  node("alias", {at, at + 1}, {{"name", make_str(in_, "*")}, {"asname", Value::none()}}));
    }
    return node("ImportFrom", s.span,
                {{"module", text(s.module)}, {"names", imported}, {"level", Value::integer(s.level)}});
  }
  Value operator()(const ast::IfStmt& s) {
    Value otherwise = block(s.else_body);
    for (size_t i = s.arms.size(); i-- > 0;) {
      const ast::IfArm& arm = s.arms[i];
      Value made = node("If", {arm.span.begin, s.span.end},
                        {{"test", expr(arm.condition)}, {"body", block(arm.body)}, {"orelse", otherwise}});
      if (i == 0) return made;
      otherwise = make_list(in_);
      list_append(in_, as_list(otherwise), made);
    }
    return Value::none();
  }
  Value operator()(const ast::WhileStmt& s) {
    return node("While", s.span,
                {{"test", expr(s.condition)}, {"body", block(s.body)}, {"orelse", block(s.else_body)}});
  }
  Value operator()(const ast::ForStmt& s) {
    const Value target = store(s.target);
    return node(s.is_async ? "AsyncFor" : "For", s.span,
                {{"target", target},
                 {"iter", expr(s.iterable)},
                 {"body", block(s.body)},
                 {"orelse", block(s.else_body)},
                 {"type_comment", Value::none()}});
  }
  Value operator()(const ast::WithStmt& s) {
    const Value items = make_list(in_);
    for (const ast::WithItem& item : s.items) {
      const Value target = item.target == nullptr ? Value::none() : store(item.target);
      list_append(in_, as_list(items), bare("withitem", {{"context_expr", expr(item.context)}, {"optional_vars", target}}));
    }
    return node(s.is_async ? "AsyncWith" : "With", s.span, {{"items", items}, {"body", block(s.body)}, {"type_comment", Value::none()}});
  }
  Value operator()(const ast::TryStmt& s) {
    const Value handlers = make_list(in_);
    for (const ast::ExceptHandler& h : s.handlers) {
      list_append(in_, as_list(handlers),
                  node("ExceptHandler", h.span,
                       {{"type", optional(h.type)}, {"name", text(h.name)}, {"body", block(h.body)}}));
    }
    return node(s.groups ? "TryStar" : "Try", s.span,
                {{"body", block(s.body)},
                 {"handlers", handlers},
                 {"orelse", block(s.else_body)},
                 {"finalbody", block(s.finally_body)}});
  }
  Value operator()(const ast::MatchStmt& s) {
    const Value cases = make_list(in_);
    for (const ast::MatchCase& c : s.cases) {
      const Value pattern = visit(*c.pattern, *this);
      list_append(in_, as_list(cases),
                  bare("match_case", {{"pattern", pattern}, {"guard", optional(c.guard)}, {"body", block(c.body)}}));
    }
    return node("Match", s.span, {{"subject", expr(s.subject)}, {"cases", cases}});
  }
  Value operator()(const ast::FunctionStmt& s) {
    return node(s.is_async ? "AsyncFunctionDef" : "FunctionDef", s.span,
                {{"name", make_str(in_, s.name.text)},
                 {"args", arguments(s.parameters)},
                 {"body", block(s.body)},
                 {"decorator_list", loads(s.decorators)},
                 {"returns", optional(s.returns)},
                 {"type_comment", Value::none()}});
  }
  Value operator()(const ast::ClassStmt& s) {
    return node("ClassDef", s.span,
                {{"name", make_str(in_, s.name.text)},
                 {"bases", loads(s.bases)},
                 {"keywords", keywords(s.keywords)},
                 {"body", block(s.body)},
                 {"decorator_list", loads(s.decorators)}});
  }

 private:
  // --- nodes
  Value bare(const char* class_name, std::initializer_list<Field> fields) {
    in_.check_stop();
    const Value* found = dict_get_text(as_dict(classes_), class_name);
    if (found == nullptr || !found->is_object() || found->as_object()->kind != ObjectKind::Type)
      throw_error(ErrorKind::RuntimeError, "ast: no class %s", class_name);
    Value made = lang::new_instance(in_, object_cast<Type>(*found));
    for (const auto& [name, value] : fields) set_attr(in_, made, intern(in_, name), value);
    return made;
  }

  Value node(const char* class_name, Span span, std::initializer_list<Field> fields) {
    Value made = bare(class_name, fields);
    const Position begin = source_.position(span.begin), end = source_.position(span.end);
    set_attr(in_, made, intern(in_, "lineno"), Value::integer(begin.line));
    set_attr(in_, made, intern(in_, "col_offset"), Value::integer(begin.byte_column));
    set_attr(in_, made, intern(in_, "end_lineno"), Value::integer(end.line));
    set_attr(in_, made, intern(in_, "end_col_offset"), Value::integer(end.byte_column));
    return made;
  }

  // Operators and contexts: one object of each, as in CPython.
  Value plain(const char* class_name) {
    const std::string key = std::string(".") + class_name;
    if (const Value* ready = dict_get_text(as_dict(classes_), key)) return *ready;
    const Value made = bare(class_name, {});
    dict_set_str(in_, as_dict(classes_), intern(in_, key), made);
    return made;
  }

  Value context() {
    return plain(context_ == Context::Load ? "Load" : context_ == Context::Store ? "Store" : "Del");
  }

  Value constant(Span span, Value value, bool has_u = false) {
    return node("Constant", span, {{"value", std::move(value)}, {"kind", has_u ? make_str(in_, "u") : Value::none()}});
  }

  Value name(const ast::Identifier& identifier, const char* ctx) {
    return node("Name", identifier.span, {{"id", make_str(in_, identifier.text)}, {"ctx", plain(ctx)}});
  }

  Value text(const ast::Identifier& identifier) {
    return identifier.empty() ? Value::none() : make_str(in_, identifier.text);
  }

  // --- expressions by context
  Value in_context(const ast::Expr* e) { return visit(*e, *this); }

  Value with(const ast::Expr* e, Context wanted) {
    const Context outer = std::exchange(context_, wanted);
    Value made = visit(*e, *this);
    context_ = outer;
    return made;
  }

  Value expr(const ast::Expr* e) { return with(e, Context::Load); }
  Value store(const ast::Expr* e) { return with(e, Context::Store); }
  Value optional(const ast::Expr* e) { return e == nullptr ? Value::none() : expr(e); }

  Value list_in(ast::ExprList elements, Context wanted) {
    Value list = make_list(in_);
    for (const ast::Expr* e : elements) list_append(in_, as_list(list), with(e, wanted));
    return list;
  }
  Value loads(ast::ExprList elements) { return list_in(elements, Context::Load); }
  Value stores(ast::ExprList elements) { return list_in(elements, Context::Store); }

  Value sequence(const char* class_name, Span span, ast::ExprList elements) {
    const Value ctx = context();
    return node(class_name, span, {{"elts", list_in(elements, context_)}, {"ctx", ctx}});
  }

  // All parts of an f-string have the place of the whole, as in CPython 3.11.
  Value joined(const ast::FString& e, Span whole) {
    const Value values = make_list(in_);
    for (const ast::FStringPart& part : e.parts) {
      if (part.value == nullptr) {
        if (!part.text.empty()) list_append(in_, as_list(values), constant(whole, make_str(in_, part.text)));
        continue;
      }
      const Value format = part.format == nullptr ? Value::none() : joined(*part.format, whole);
      list_append(in_, as_list(values),
                  node("FormattedValue", whole,
                       {{"value", expr(part.value)},
                        {"conversion", Value::integer(part.conversion == 0 ? -1 : part.conversion)},
                        {"format_spec", format}}));
    }
    return node("JoinedStr", whole, {{"values", values}});
  }

  Value block(ast::Block body) {
    Value list = make_list(in_);
    for (const ast::Stmt* s : body) list_append(in_, as_list(list), visit(*s, *this));
    return list;
  }

  Value patterns(std::span<ast::Pattern*> items) {
    Value list = make_list(in_);
    for (const ast::Pattern* p : items) list_append(in_, as_list(list), visit(*p, *this));
    return list;
  }

  Value names(std::span<ast::Identifier> items) {
    Value list = make_list(in_);
    for (const ast::Identifier& item : items) list_append(in_, as_list(list), make_str(in_, item.text));
    return list;
  }

  Value aliases(std::span<ast::ImportAlias> items) {
    Value list = make_list(in_);
    for (const ast::ImportAlias& a : items) {
      list_append(in_, as_list(list),
                  node("alias", a.span, {{"name", make_str(in_, a.name.text)}, {"asname", text(a.as_name)}}));
    }
    return list;
  }

  Value keywords(std::span<ast::Keyword> items) {
    Value list = make_list(in_);
    for (const ast::Keyword& k : items) {
      list_append(in_, as_list(list), node("keyword", k.span, {{"arg", text(k.name)}, {"value", expr(k.value)}}));
    }
    return list;
  }

  Value arguments(ast::Parameters parameters) {
    const Value positional_only = make_list(in_), regular = make_list(in_), keyword_only = make_list(in_);
    const Value defaults = make_list(in_), keyword_defaults = make_list(in_);
    Value var_positional = Value::none(), var_keyword = Value::none();
    for (const ast::Parameter& p : parameters) {
      const Span span{p.name.span.begin, p.annotation == nullptr ? p.name.span.end : p.annotation->span.end};
      Value made = node("arg", span,
                        {{"arg", make_str(in_, p.name.text)},
                         {"annotation", optional(p.annotation)},
                         {"type_comment", Value::none()}});
      switch (p.kind) {
        case ast::ParameterKind::kPositionalOnly: list_append(in_, as_list(positional_only), made); break;
        case ast::ParameterKind::kRegular: list_append(in_, as_list(regular), made); break;
        case ast::ParameterKind::kVarPositional: var_positional = made; continue;
        case ast::ParameterKind::kVarKeyword: var_keyword = made; continue;
        case ast::ParameterKind::kKeywordOnly:
          list_append(in_, as_list(keyword_only), made);
          list_append(in_, as_list(keyword_defaults), optional(p.default_value));
          continue;
      }
      if (p.default_value != nullptr) list_append(in_, as_list(defaults), expr(p.default_value));
    }
    return bare("arguments", {{"posonlyargs", positional_only},
                              {"args", regular},
                              {"vararg", var_positional},
                              {"kwonlyargs", keyword_only},
                              {"kw_defaults", keyword_defaults},
                              {"kwarg", var_keyword},
                              {"defaults", defaults}});
  }

  Interpreter& in_;
  const Source& source_;
  const Value& classes_;
  Context context_ = Context::Load;
};

}  // namespace

Value tree_objects(Interpreter& in, const Source& source, const ast::Tree& tree, std::string_view mode,
                   const Value& classes) {
  return Maker(in, source, classes).module(tree, mode);
}

}  // namespace tessera::stdlib
