// The tree of a program: what the parser makes and what the resolver and the compiler read.
//
// One plain struct per kind of node, all of them in the arena of a Tree, which owns everything that they point to (names,
// string values, lists) but the Source. Nobody deletes a node; lists are std::span into the arena. `as<ast::Call>(*node)`
// narrows; `ast::visit(node, overloads)` calls with the narrowed type.
//
// What can be long is flat (the operands of a + b + c, the arms of if/elif, and/or, comparisons, string pieces), and what
// can be deep is bounded by kMaxDepth, so that whoever walks the tree may recurse without a thought for the stack.
//
// A Span covers the node's text. Parentheses around an expression belong to no node; a parent's span includes them.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "lang/syntax/arena.h"
#include "lang/syntax/source.h"

namespace tessera::lang::ast {

// Nodes nest at most this deep. Measured: a recursive walker with 500-byte frames stays below 1 MB of stack.
inline constexpr int kMaxDepth = 1000;

enum class ExprKind : std::uint8_t {
#define EXPRESSION(Kind) k##Kind,
#include "lang/syntax/ast_nodes.def"
};

enum class StmtKind : std::uint8_t {
#define STATEMENT(Kind) k##Kind,
#include "lang/syntax/ast_nodes.def"
};

enum class PatternKind : std::uint8_t {
#define PATTERN(Kind) k##Kind,
#include "lang/syntax/ast_nodes.def"
};

// The three families. `mark` is 0 and free for later passes (a resolver keeps its index there).
struct Expr {
  ExprKind kind;
  Span span;
  std::uint32_t mark = 0;
};

struct Stmt {
  StmtKind kind;
  Span span;  // of a compound statement: to the end of its last block
  std::uint32_t mark = 0;
};

struct Pattern {
  PatternKind kind;
  Span span;
  std::uint32_t mark = 0;
};

using ExprList = std::span<Expr*>;
using Block = std::span<Stmt*>;

// A name as written. Equal names of one Tree share their bytes, so data() identifies a name as well as its text does.
struct Identifier {
  std::string_view text;
  Span span;

  bool empty() const { return text.empty(); }
};

// ---- Expressions ---------------------------------------------------------------------------------------------------

enum class ConstantValue : std::uint8_t { kNone, kFalse, kTrue, kEllipsis };

struct Constant : Expr {
  static constexpr ExprKind kKind = ExprKind::kConstant;
  ConstantValue value;
};

struct IntLiteral : Expr {  // below 2**63
  static constexpr ExprKind kKind = ExprKind::kIntLiteral;
  std::int64_t value;
};

struct BigIntLiteral : Expr {  // any other: as written, with prefix and underscores
  static constexpr ExprKind kKind = ExprKind::kBigIntLiteral;
  std::string_view text;
};

struct FloatLiteral : Expr {
  static constexpr ExprKind kKind = ExprKind::kFloatLiteral;
  double value;
};

struct ImaginaryLiteral : Expr {  // 2.5j: the value is the imaginary part
  static constexpr ExprKind kKind = ExprKind::kImaginaryLiteral;
  double value;
};

// Adjacent literals are joined and escapes are decoded: UTF-8, where "\ud800" gives a lone surrogate's three bytes.
struct StringLiteral : Expr {
  static constexpr ExprKind kKind = ExprKind::kStringLiteral;
  std::string_view value;
};

struct BytesLiteral : Expr {  // joined and decoded likewise: any bytes
  static constexpr ExprKind kKind = ExprKind::kBytesLiteral;
  std::string_view value;
};

struct FString;

// A piece of an f-string: either text (value is null) or a replacement field.
struct FStringPart {
  std::string_view text;
  Expr* value = nullptr;
  char conversion = 0;        // 's', 'r', 'a' or 0; f"{x=}" has its "x=" as a text part before and 'r' here
  FString* format = nullptr;  // the part after ':', null when there is none
  Span span;
};

struct FString : Expr {
  static constexpr ExprKind kKind = ExprKind::kFString;
  std::span<FStringPart> parts;
};

struct Name : Expr {
  static constexpr ExprKind kKind = ExprKind::kName;
  std::string_view name;
};

struct Tuple : Expr {  // elements may be Starred, here, in List and in Set
  static constexpr ExprKind kKind = ExprKind::kTuple;
  ExprList elements;
};

struct List : Expr {
  static constexpr ExprKind kKind = ExprKind::kList;
  ExprList elements;
};

struct Set : Expr {
  static constexpr ExprKind kKind = ExprKind::kSet;
  ExprList elements;
};

struct DictItem {
  Expr* key;  // null for **value
  Expr* value;
};

struct Dict : Expr {
  static constexpr ExprKind kKind = ExprKind::kDict;
  std::span<DictItem> items;
};

struct Starred : Expr {
  static constexpr ExprKind kKind = ExprKind::kStarred;
  Expr* value;
};

enum class UnaryOp : std::uint8_t { kNegative, kPositive, kInvert, kNot };

struct Unary : Expr {
  static constexpr ExprKind kKind = ExprKind::kUnary;
  UnaryOp op;
  Expr* operand;
};

enum class BinaryOp : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kMatMultiply,
  kShiftLeft,
  kShiftRight,
  kBitAnd,
  kBitOr,
  kBitXor,
};

// One operator and its right side. The span of this step's result is {binary.span.begin, end}.
struct BinaryStep {
  BinaryOp op;
  Expr* right;
  Span op_span;
  std::uint32_t end;  // the right side's end, its closing parentheses included
};

// Operators of one precedence that associate to the left: ((first op0 right0) op1 right1)... A power has one step.
struct Binary : Expr {
  static constexpr ExprKind kKind = ExprKind::kBinary;
  Expr* first;
  std::span<BinaryStep> steps;

  Span step_span(const BinaryStep& step) const { return {span.begin, step.end}; }
};

enum class LogicalOp : std::uint8_t { kAnd, kOr };

struct Logical : Expr {
  static constexpr ExprKind kKind = ExprKind::kLogical;
  LogicalOp op;
  ExprList operands;  // two or more
};

enum class CompareOp : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIs,
  kIsNot,
  kIn,
  kNotIn,
};

struct CompareStep {
  CompareOp op;
  Expr* right;
  Span op_span;
};

struct Compare : Expr {  // a < b < c is one node with two steps
  static constexpr ExprKind kKind = ExprKind::kCompare;
  Expr* first;
  std::span<CompareStep> steps;
};

struct Conditional : Expr {  // then_value if condition else else_value
  static constexpr ExprKind kKind = ExprKind::kConditional;
  Expr* condition;
  Expr* then_value;
  Expr* else_value;
};

enum class ParameterKind : std::uint8_t { kPositionalOnly, kRegular, kVarPositional, kKeywordOnly, kVarKeyword };

struct Parameter {
  Identifier name;
  ParameterKind kind;
  Expr* annotation;     // null when absent
  Expr* default_value;  // null when absent
};

using Parameters = std::span<Parameter>;  // as written, which is in the order of ParameterKind

struct Lambda : Expr {
  static constexpr ExprKind kKind = ExprKind::kLambda;
  Parameters parameters;
  Expr* body;
  bool is_generator;  // has a yield of its own
};

struct Walrus : Expr {  // target := value
  static constexpr ExprKind kKind = ExprKind::kWalrus;
  Identifier target;
  Expr* value;
};

struct Attribute : Expr {
  static constexpr ExprKind kKind = ExprKind::kAttribute;
  Expr* object;
  Identifier name;
};

struct Subscript : Expr {  // a[i, j] has a Tuple as index; its elements, or the index itself, may be Slice
  static constexpr ExprKind kKind = ExprKind::kSubscript;
  Expr* object;
  Expr* index;
};

struct Slice : Expr {  // only in a Subscript's index; each part may be null
  static constexpr ExprKind kKind = ExprKind::kSlice;
  Expr* lower;
  Expr* upper;
  Expr* step;
};

struct Keyword {
  Identifier name;  // empty for **value
  Expr* value;
  Span span;
};

// As in CPython, positional arguments (Starred among them) are evaluated before keywords, whatever the written order.
struct Call : Expr {
  static constexpr ExprKind kKind = ExprKind::kCall;
  Expr* callee;
  ExprList arguments;
  std::span<Keyword> keywords;
};

struct ForClause {
  Expr* target;
  Expr* iterable;
  ExprList conditions;
  bool is_async;  // `async for`
};

enum class ComprehensionKind : std::uint8_t { kGenerator, kList, kSet, kDict };

struct Comprehension : Expr {
  static constexpr ExprKind kKind = ExprKind::kComprehension;
  ComprehensionKind result;
  Expr* element;  // the key in a dict comprehension
  Expr* value;    // dict comprehensions only
  std::span<ForClause> clauses;
  bool is_async = false;  // awaits: has an `async for`, or an `await` outside of its first iterable
};

struct Yield : Expr {
  static constexpr ExprKind kKind = ExprKind::kYield;
  Expr* value;  // null when absent
};

struct YieldFrom : Expr {
  static constexpr ExprKind kKind = ExprKind::kYieldFrom;
  Expr* value;
};

struct Await : Expr {
  static constexpr ExprKind kKind = ExprKind::kAwait;
  Expr* value;
};

// ---- Patterns ------------------------------------------------------------------------------------------------------

struct ValuePattern : Pattern {  // a number, a string or a dotted name: compared with ==
  static constexpr PatternKind kKind = PatternKind::kValue;
  Expr* value;
};

struct SingletonPattern : Pattern {  // None, True, False: compared with `is`
  static constexpr PatternKind kKind = PatternKind::kSingleton;
  ConstantValue value;
};

struct SequencePattern : Pattern {
  static constexpr PatternKind kKind = PatternKind::kSequence;
  std::span<Pattern*> elements;  // at most one StarPattern
};

struct StarPattern : Pattern {  // *name or *_ (empty name), inside a SequencePattern
  static constexpr PatternKind kKind = PatternKind::kStar;
  Identifier name;
};

struct MappingPatternItem {
  Expr* key;  // a literal or a dotted name
  Pattern* value;
};

struct MappingPattern : Pattern {
  static constexpr PatternKind kKind = PatternKind::kMapping;
  std::span<MappingPatternItem> items;
  Identifier rest;  // **rest; empty when absent
};

struct KeywordPattern {
  Identifier name;
  Pattern* value;
};

struct InstancePattern : Pattern {  // Class(a, b, key=c)
  static constexpr PatternKind kKind = PatternKind::kInstance;
  Expr* type;
  std::span<Pattern*> arguments;
  std::span<KeywordPattern> keywords;
};

// `pattern as name`; a bare name has no pattern; `_` has neither.
struct CapturePattern : Pattern {
  static constexpr PatternKind kKind = PatternKind::kCapture;
  Pattern* pattern;
  Identifier name;
};

struct OrPattern : Pattern {
  static constexpr PatternKind kKind = PatternKind::kOr;
  std::span<Pattern*> alternatives;
};

// ---- Statements ----------------------------------------------------------------------------------------------------

struct ExpressionStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kExpression;
  Expr* value;
};

// Targets are Name, Attribute, Subscript, Starred (inside a sequence), Tuple or List of these. So are those of `for`,
// `with` and comprehensions.
struct AssignStmt : Stmt {  // a = b = value
  static constexpr StmtKind kKind = StmtKind::kAssign;
  ExprList targets;
  Expr* value;
};

struct AugmentedAssignStmt : Stmt {  // the target is a Name, Attribute or Subscript, here and below
  static constexpr StmtKind kKind = StmtKind::kAugmentedAssign;
  Expr* target;
  BinaryOp op;
  Span op_span;
  Expr* value;
};

struct AnnotatedAssignStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kAnnotatedAssign;
  Expr* target;
  Expr* annotation;
  Expr* value;  // null when absent
  bool simple;  // a bare name without parentheses
};

struct DeleteStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kDelete;
  ExprList targets;
};

struct PassStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kPass;
};

struct BreakStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kBreak;
};

struct ContinueStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kContinue;
};

struct ReturnStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kReturn;
  Expr* value;  // null when absent
};

struct RaiseStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kRaise;
  Expr* exception;  // null when absent
  Expr* cause;      // null when absent
};

struct AssertStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kAssert;
  Expr* condition;
  Expr* message;  // null when absent
};

struct GlobalStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kGlobal;
  std::span<Identifier> names;
};

struct NonlocalStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kNonlocal;
  std::span<Identifier> names;
};

struct ImportAlias {
  Identifier name;     // "a.b.c" in `import a.b.c`, without blanks
  Identifier as_name;  // empty when absent
  Span span;
};

struct ImportStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kImport;
  std::span<ImportAlias> names;
};

struct ImportFromStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kImportFrom;
  Identifier module;    // empty in `from . import x`
  std::uint32_t level;  // number of leading dots
  bool star;            // import *: names is empty
  std::span<ImportAlias> names;
};

struct IfArm {
  Expr* condition;
  Block body;
  Span span;  // from `if` or `elif`
};

struct IfStmt : Stmt {  // `if` and each `elif`: one arm each
  static constexpr StmtKind kKind = StmtKind::kIf;
  std::span<IfArm> arms;
  Block else_body;
};

struct WhileStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kWhile;
  Expr* condition;
  Block body;
  Block else_body;
};

struct ForStmt : Stmt {  // CPython's For and AsyncFor
  static constexpr StmtKind kKind = StmtKind::kFor;
  Expr* target;
  Expr* iterable;
  Block body;
  Block else_body;
  bool is_async = false;
};

struct WithItem {
  Expr* context;
  Expr* target;  // null when absent
};

struct WithStmt : Stmt {  // CPython's With and AsyncWith
  static constexpr StmtKind kKind = StmtKind::kWith;
  std::span<WithItem> items;
  Block body;
  bool is_async = false;
};

struct ExceptHandler {
  Expr* type;       // null for a bare `except:`
  Identifier name;  // empty when absent
  Block body;
  Span span;
};

struct TryStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kTry;
  Block body;
  std::span<ExceptHandler> handlers;
  Block else_body;
  Block finally_body;
  bool groups;  // except*
};

struct MatchCase {
  Pattern* pattern;
  Expr* guard;  // null when absent
  Block body;
  Span span;
};

struct MatchStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kMatch;
  Expr* subject;
  std::span<MatchCase> cases;
};

struct FunctionStmt : Stmt {  // CPython's FunctionDef and AsyncFunctionDef; decorators have spans of their own
  static constexpr StmtKind kKind = StmtKind::kFunction;
  Identifier name;
  Parameters parameters;
  Expr* returns;  // annotation; null when absent
  Block body;
  ExprList decorators;
  bool is_generator;  // has a yield of its own
  bool is_async = false;
};

struct ClassStmt : Stmt {
  static constexpr StmtKind kKind = StmtKind::kClass;
  Identifier name;
  ExprList bases;  // Starred among them
  std::span<Keyword> keywords;
  Block body;
  ExprList decorators;
};

// ---- The tree ------------------------------------------------------------------------------------------------------

class Tree {
 public:
  explicit Tree(Growth* growth = nullptr) : arena_(growth) {}

  Block body;                  // of a file
  Expr* expression = nullptr;  // of ParseMode::kExpression; body is empty then
  // Where the module's own code first awaits, and the error if it is not compiled with top-level await; null if it does not.
  const char* await_refusal = nullptr;
  Span await_span{};
  // The message of the first SyntaxError that CPython raises only after its symbol table pass, such as "'return' outside function", and its
  // place in the text. The message is empty if there is no such error.
  std::string late_refusal;
  Span late_span{};

  Arena& arena() { return arena_; }
  const Arena& arena() const { return arena_; }

  // Bytes that live as long as the tree, equal text sharing its bytes.
  std::string_view intern(std::string_view text) {
    auto found = names_.find(text);
    return found != names_.end() ? *found : *names_.insert(arena_.copy(text)).first;
  }

 private:
  Arena arena_;
  std::unordered_set<std::string_view> names_;
};

// Indented text of the whole tree with line numbers, for people (tsr --dump).
std::string dump_tree(const Tree& tree, const Source& source);

// ---- Narrowing and visiting ----------------------------------------------------------------------------------------

template <class T, class Node>
bool is(const Node& node) {
  return node.kind == T::kKind;
}

template <class T, class Node>
auto& as(Node& node) {
  assert(is<T>(node));
  if constexpr (std::is_const_v<Node>) return static_cast<const T&>(node);
  else return static_cast<T&>(node);
}

// The node as a T, or null if it is of another kind (or null itself).
template <class T, class Node>
auto* try_as(Node* node) {
  using Result = std::conditional_t<std::is_const_v<Node>, const T, T>;
  return node != nullptr && is<T>(*node) ? static_cast<Result*>(node) : nullptr;
}

// clang-format would join each #include to the macro before it.
// clang-format off
template <class Visitor>
decltype(auto) visit(Expr& node, Visitor&& visitor) {
  switch (node.kind) {
#define EXPRESSION(Kind) case ExprKind::k##Kind: return visitor(static_cast<Kind&>(node));
#include "lang/syntax/ast_nodes.def"
  }
  __builtin_unreachable();
}

template <class Visitor>
decltype(auto) visit(const Expr& node, Visitor&& visitor) {
  switch (node.kind) {
#define EXPRESSION(Kind) case ExprKind::k##Kind: return visitor(static_cast<const Kind&>(node));
#include "lang/syntax/ast_nodes.def"
  }
  __builtin_unreachable();
}

template <class Visitor>
decltype(auto) visit(Stmt& node, Visitor&& visitor) {
  switch (node.kind) {
#define STATEMENT(Kind) case StmtKind::k##Kind: return visitor(static_cast<Kind##Stmt&>(node));
#include "lang/syntax/ast_nodes.def"
  }
  __builtin_unreachable();
}

template <class Visitor>
decltype(auto) visit(const Stmt& node, Visitor&& visitor) {
  switch (node.kind) {
#define STATEMENT(Kind) case StmtKind::k##Kind: return visitor(static_cast<const Kind##Stmt&>(node));
#include "lang/syntax/ast_nodes.def"
  }
  __builtin_unreachable();
}

template <class Visitor>
decltype(auto) visit(Pattern& node, Visitor&& visitor) {
  switch (node.kind) {
#define PATTERN(Kind) case PatternKind::k##Kind: return visitor(static_cast<Kind##Pattern&>(node));
#include "lang/syntax/ast_nodes.def"
  }
  __builtin_unreachable();
}

template <class Visitor>
decltype(auto) visit(const Pattern& node, Visitor&& visitor) {
  switch (node.kind) {
#define PATTERN(Kind) case PatternKind::k##Kind: return visitor(static_cast<const Kind##Pattern&>(node));
#include "lang/syntax/ast_nodes.def"
  }
  __builtin_unreachable();
}
// clang-format on

}  // namespace tessera::lang::ast
