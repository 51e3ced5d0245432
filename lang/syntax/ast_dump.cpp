// The tree as indented text: one node a line, with the line it stands on, its kind and what it holds; children below.
// compile: small (output of --dump)
#include <charconv>
#include <cstdio>

#include "lang/syntax/ast.h"

namespace tessera::lang::ast {
namespace {

constexpr const char* kExprNames[] = {
#define EXPRESSION(Kind) #Kind,
#include "lang/syntax/ast_nodes.def"
};
constexpr const char* kStmtNames[] = {
#define STATEMENT(Kind) #Kind,
#include "lang/syntax/ast_nodes.def"
};
constexpr const char* kPatternNames[] = {
#define PATTERN(Kind) #Kind,
#include "lang/syntax/ast_nodes.def"
};
constexpr const char* kUnaryNames[] = {"-", "+", "~", "not"};
constexpr const char* kBinaryNames[] = {"+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"};
constexpr const char* kCompareNames[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
constexpr const char* kConstantNames[] = {"None", "False", "True", "..."};
constexpr const char* kComprehensionNames[] = {"generator", "list", "set", "dict"};
constexpr const char* kParameterNames[] = {"positional-only ", "", "*", "keyword-only ", "**"};

template <class Enum, std::size_t N>
const char* name_of(const char* const (&names)[N], Enum value) {
  return names[static_cast<std::size_t>(value)];
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') result += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20) result += '.';
    else result += c;
  }
  return result + '"';
}

std::string number(double value) {
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

class Dumper {
 public:
  explicit Dumper(const Source& source) : source_(source) {}

  std::string take() { return std::move(out_); }

  void child(const char* role, const Expr* expr) {
    if (expr == nullptr) return;
    begin(role, expr->span, name_of(kExprNames, expr->kind));
    visit(*expr, *this);
    --depth_;
  }
  void child(const char* role, const Pattern* pattern) {
    if (pattern == nullptr) return;
    begin(role, pattern->span, std::string(name_of(kPatternNames, pattern->kind)) + "Pattern");
    visit(*pattern, *this);
    --depth_;
  }
  void child(const char* role, const Stmt* stmt) {
    begin(role, stmt->span, name_of(kStmtNames, stmt->kind));
    visit(*stmt, *this);
    --depth_;
  }
  template <class List>
  void children(const char* role, const List& list) {
    for (const auto* item : list) child(role, item);
  }
  void block(const char* role, Block body) {
    if (body.empty()) return;
    section(role);
    children("", body);
    --depth_;
  }

  // Statements.
  void operator()(const ExpressionStmt& s) { child("", s.value); }
  void operator()(const AssignStmt& s) { children("target", s.targets), child("value", s.value); }
  void operator()(const AugmentedAssignStmt& s) {
    note(std::string(name_of(kBinaryNames, s.op)) + "=");
    child("target", s.target), child("value", s.value);
  }
  void operator()(const AnnotatedAssignStmt& s) {
    child("target", s.target), child("annotation", s.annotation), child("value", s.value);
  }
  void operator()(const DeleteStmt& s) { children("", s.targets); }
  void operator()(const PassStmt&) {}
  void operator()(const BreakStmt&) {}
  void operator()(const ContinueStmt&) {}
  void operator()(const ReturnStmt& s) { child("", s.value); }
  void operator()(const RaiseStmt& s) { child("", s.exception), child("from", s.cause); }
  void operator()(const AssertStmt& s) { child("", s.condition), child("message", s.message); }
  void operator()(const GlobalStmt& s) { names(s.names); }
  void operator()(const NonlocalStmt& s) { names(s.names); }
  void operator()(const ImportStmt& s) { aliases(s.names); }
  void operator()(const ImportFromStmt& s) {
    note("from " + std::string(s.level, '.') + std::string(s.module.text) + (s.star ? " *" : ""));
    aliases(s.names);
  }
  void operator()(const IfStmt& s) {
    for (const IfArm& arm : s.arms) child("if", arm.condition), block("then", arm.body);
    block("else", s.else_body);
  }
  void operator()(const WhileStmt& s) { child("", s.condition), block("body", s.body), block("else", s.else_body); }
  void operator()(const ForStmt& s) {
    if (s.is_async) note("(async)");
    child("target", s.target), child("in", s.iterable), block("body", s.body), block("else", s.else_body);
  }
  void operator()(const WithStmt& s) {
    if (s.is_async) note("(async)");
    for (const WithItem& item : s.items) child("", item.context), child("as", item.target);
    block("body", s.body);
  }
  void operator()(const TryStmt& s) {
    block("body", s.body);
    for (const ExceptHandler& handler : s.handlers) {
      section((s.groups ? "except*" : "except") +
              (handler.name.empty() ? "" : " as " + std::string(handler.name.text)));
      child("type", handler.type), children("", handler.body);
      --depth_;
    }
    block("else", s.else_body), block("finally", s.finally_body);
  }
  void operator()(const MatchStmt& s) {
    child("", s.subject);
    for (const MatchCase& part : s.cases) {
      section("case");
      child("", part.pattern), child("if", part.guard), block("body", part.body);
      --depth_;
    }
  }
  void operator()(const FunctionStmt& s) {
    note(std::string(s.name.text) + (s.is_async ? " (async)" : "") + (s.is_generator ? " (generator)" : ""));
    children("decorator", s.decorators), parameters(s.parameters), child("returns", s.returns), block("body", s.body);
  }
  void operator()(const ClassStmt& s) {
    note(s.name.text);
    children("decorator", s.decorators), children("base", s.bases), keywords(s.keywords), block("body", s.body);
  }

  // Expressions.
  void operator()(const Constant& e) { note(name_of(kConstantNames, e.value)); }
  void operator()(const IntLiteral& e) { note(std::to_string(e.value)); }
  void operator()(const BigIntLiteral& e) { note(std::string(e.text)); }
  void operator()(const FloatLiteral& e) { note(number(e.value)); }
  void operator()(const ImaginaryLiteral& e) { note(number(e.value) + "j"); }
  void operator()(const StringLiteral& e) { note(quoted(e.value)); }
  void operator()(const BytesLiteral& e) { note("b" + quoted(e.value)); }
  void operator()(const FString& e) {
    for (const FStringPart& part : e.parts) {
      if (part.value == nullptr) {
        section(quoted(part.text));
        --depth_;
        continue;
      }
      child(part.conversion != 0 ? (std::string("!") + part.conversion).c_str() : "field", part.value);
      child("format", part.format);
    }
  }
  void operator()(const Name& e) { note(e.name); }
  void operator()(const Tuple& e) { children("", e.elements); }
  void operator()(const List& e) { children("", e.elements); }
  void operator()(const Set& e) { children("", e.elements); }
  void operator()(const Dict& e) {
    for (const DictItem& item : e.items)
      child("key", item.key), child(item.key != nullptr ? "value" : "**", item.value);
  }
  void operator()(const Starred& e) { child("", e.value); }
  void operator()(const Unary& e) { note(name_of(kUnaryNames, e.op)), child("", e.operand); }
  void operator()(const Binary& e) {
    child("", e.first);
    for (const BinaryStep& step : e.steps) child(name_of(kBinaryNames, step.op), step.right);
  }
  void operator()(const Logical& e) { note(e.op == LogicalOp::kAnd ? "and" : "or"), children("", e.operands); }
  void operator()(const Compare& e) {
    child("", e.first);
    for (const CompareStep& step : e.steps) child(name_of(kCompareNames, step.op), step.right);
  }
  void operator()(const Conditional& e) {
    child("if", e.condition), child("then", e.then_value), child("else", e.else_value);
  }
  void operator()(const Lambda& e) { parameters(e.parameters), child("body", e.body); }
  void operator()(const Walrus& e) { note(e.target.text), child("", e.value); }
  void operator()(const Attribute& e) { note("." + std::string(e.name.text)), child("", e.object); }
  void operator()(const Subscript& e) { child("", e.object), child("index", e.index); }
  void operator()(const Slice& e) { child("lower", e.lower), child("upper", e.upper), child("step", e.step); }
  void operator()(const Call& e) { child("", e.callee), children("argument", e.arguments), keywords(e.keywords); }
  void operator()(const Comprehension& e) {
    note(name_of(kComprehensionNames, e.result));
    child("element", e.element), child("value", e.value);
    for (const ForClause& clause : e.clauses) {
      child(clause.is_async ? "async for" : "for", clause.target), child("in", clause.iterable), children("if", clause.conditions);
    }
  }
  void operator()(const Yield& e) { child("", e.value); }
  void operator()(const YieldFrom& e) { child("", e.value); }
  void operator()(const Await& e) { child("", e.value); }

  // Patterns.
  void operator()(const ValuePattern& p) { child("", p.value); }
  void operator()(const SingletonPattern& p) { note(name_of(kConstantNames, p.value)); }
  void operator()(const SequencePattern& p) { children("", p.elements); }
  void operator()(const StarPattern& p) { note(p.name.empty() ? "_" : p.name.text); }
  void operator()(const MappingPattern& p) {
    if (!p.rest.empty()) note("**" + std::string(p.rest.text));
    for (const MappingPatternItem& item : p.items) child("key", item.key), child("value", item.value);
  }
  void operator()(const InstancePattern& p) {
    child("type", p.type), children("", p.arguments);
    for (const KeywordPattern& item : p.keywords) child((std::string(item.name.text) + "=").c_str(), item.value);
  }
  void operator()(const CapturePattern& p) { note(p.name.empty() ? "_" : p.name.text), child("", p.pattern); }
  void operator()(const OrPattern& p) { children("", p.alternatives); }

 private:
  void margin(std::uint32_t line) {
    char number[16];
    if (line != 0) std::snprintf(number, sizeof number, "%5u  ", line);
    else std::snprintf(number, sizeof number, "%7s", "");
    if (!out_.empty()) out_ += '\n';
    out_ += number;
    out_.append(2 * depth_, ' ');
  }
  void begin(const char* role, Span span, const std::string& kind) {
    margin(source_.line_number(span.begin));
    if (*role != '\0') out_.append(role).append(": ");
    out_ += kind;
    ++depth_;
  }
  void section(const std::string& title) {
    margin(0);
    out_ += title;
    ++depth_;
  }
  void note(std::string_view text) { out_.append(" ").append(text); }
  void names(std::span<const Identifier> list) {
    for (const Identifier& name : list) note(name.text);
  }
  void aliases(std::span<const ImportAlias> list) {
    for (const ImportAlias& alias : list) {
      note(alias.name.text);
      if (!alias.as_name.empty()) out_.append(" as ").append(alias.as_name.text);
    }
  }
  void keywords(std::span<const Keyword> list) {
    for (const Keyword& keyword : list) {
      child(keyword.name.empty() ? "**" : (std::string(keyword.name.text) + "=").c_str(), keyword.value);
    }
  }
  void parameters(Parameters list) {
    for (const Parameter& parameter : list) {
      section("parameter " + std::string(name_of(kParameterNames, parameter.kind)) + std::string(parameter.name.text));
      child("annotation", parameter.annotation), child("default", parameter.default_value);
      --depth_;
    }
  }

  const Source& source_;
  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string dump_tree(const Tree& tree, const Source& source) {
  Dumper dumper(source);
  dumper.children("", tree.body);
  dumper.child("", tree.expression);
  std::string text = dumper.take();
  return text.empty() ? text : text + '\n';
}

}  // namespace tessera::lang::ast
