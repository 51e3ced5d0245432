// The compiler of one code object; functions inside of it are compiled by compilers of their own.
//
// Registers: a value that is wanted goes where the caller says (`want`): a given register, a fresh temporary on top, or
// anywhere, which for a local variable is its own register and costs nothing. Temporaries are a stack: `top_` is the next
// free one, and whoever takes temporaries puts `top_` back. A result is written by the last instruction of its
// expression, after the operands' temporaries are given back, so it may take the first operand's place.
//
// Note [Early writes]: an expression that writes its result before it has read everything (`and`, `or`, comprehensions)
// must not work in a local's register: x = x2 or x. Those work in a temporary and move.
//
// Unset locals: `assigned_` knows which locals certainly hold a value here, so that reads need no check. Code that
// cannot be reached counts as having assigned everything, which makes joining of branches an intersection.
#pragma once

#include <bitset>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lang/compiler/compile.h"
#include "lang/compiler/emit.h"
#include "lang/compiler/resolve.h"
#include "lang/syntax/ast.h"

namespace tessera::lang {

// What all compilers of one source share.
struct CompileUnit {
  Interpreter& in;
  std::shared_ptr<const Source> source;
  ast::Tree& tree;
  Scopes scopes;
  CompileOptions options{CompileMode::Module};
  bool text_annotations = false;  // from __future__ import annotations
};

class Compiler : Emitter {
 public:
  Compiler(CompileUnit& unit, Scope& scope, Compiler* outer, std::string_view name, Span span);

  Value compile_module();
  Value compile_function(ast::FunctionStmt& s);
  Value compile_lambda(ast::Lambda& node);
  Value compile_generator(ast::Comprehension& node);
  Value compile_class(ast::ClassStmt& node);

  // Statements and expressions, called by ast::visit.
  void operator()(ast::ExpressionStmt& s);
  void operator()(ast::AssignStmt& s);
  void operator()(ast::AugmentedAssignStmt& s);
  void operator()(ast::AnnotatedAssignStmt& s);
  void operator()(ast::DeleteStmt& s);
  void operator()(ast::PassStmt& s) { mark_line(s.span); }
  void operator()(ast::BreakStmt& s);
  void operator()(ast::ContinueStmt& s);
  void operator()(ast::ReturnStmt& s);
  void operator()(ast::RaiseStmt& s);
  void operator()(ast::AssertStmt& s);
  void operator()(ast::GlobalStmt&) {}
  void operator()(ast::NonlocalStmt&) {}
  void operator()(ast::ImportStmt& s);
  void operator()(ast::ImportFromStmt& s);
  void operator()(ast::IfStmt& s);
  void operator()(ast::WhileStmt& s);
  void operator()(ast::ForStmt& s);
  void operator()(ast::WithStmt& s);
  void operator()(ast::TryStmt& s);
  void operator()(ast::MatchStmt& s);
  void operator()(ast::FunctionStmt& s);
  void operator()(ast::ClassStmt& s);

 private:
  using Assigned = std::bitset<256>;

  // Where a value is wanted: >= 0 a register.
  static constexpr int kAnywhere = -1;
  static constexpr int kOnTop = -2;

  // --- registers
  uint32_t take_temporary(Span span);
  // Whether so many more temporaries may be taken at once, and leave enough for
  // what is nested in them.
  bool has_far_variables() const { return !code_->far_locals.empty(); }  // Note [Far variables]
  bool has_room_for(size_t count) const { return top_ + count <= kMostAtOnceInAll; }
  static constexpr size_t kMostAtOnceInAll = 210;
  bool is_temporary(uint32_t reg) const { return reg >= first_temporary_; }
  // The register for a result whose operands' temporaries are given back.
  uint32_t result(int want, Span span) { return want >= 0 ? static_cast<uint32_t>(want) : take_temporary(span); }
  // R[to] = R[from]; a temporary is emptied by it.
  void move(uint32_t to, uint32_t from, Span span) {
    emit(is_temporary(from) ? Op::Move : Op::Copy, to, from, 0, span);
  }
  // A register to work in for a result that is written early; finish() moves it where it is wanted.
  uint32_t workplace(int want, Span span);
  uint32_t finish(uint32_t work, int want, uint32_t mark, Span span);
  void return_value(ast::Expr& e, Span span);
  void emit_return(Op op, uint32_t reg, Span span);
  // An instruction with a name (`s`, `g` or `N` in its form). `d`: LoadNameCell's.
  void emit_name(Op op, uint32_t a, uint32_t b, uint32_t d, std::string_view text, const Place& place);
  void wide_name(Op op, uint32_t a, uint32_t b, uint32_t d, std::string_view text, const Place& place);
  void clear_from(uint32_t reg, uint32_t count, Span span) {
    const Hidden hidden(*this);
    emit(Op::Clear, reg, count, 0, span);
  }

  // --- expressions: answer the register of the value
  uint32_t value(ast::Expr& e, int want = kAnywhere);
  uint32_t on_top(ast::Expr& e) { return value(e, kOnTop); }
  uint32_t constant_value(const Value& v, int want, Span span);
  uint32_t name_value(std::string_view name, Span span, int want);
  uint32_t fstring(ast::FString& e, int want);
  void fstring_part(const ast::FStringPart& part, Span whole, bool joined);  // joined: BuildString comes behind
  uint32_t sequence(ast::Expr& e, ast::ExprList elements, int want);
  uint32_t tuple_display(ast::Expr& e, ast::ExprList elements, int want);
  uint32_t dict_display(ast::Dict& e, int want);
  uint32_t unary(ast::Unary& e, int want);
  uint32_t binary(ast::Binary& e, int want);
  uint32_t binary_step(ast::BinaryOp op, uint32_t left, const Value& left_constant, ast::Expr& right, uint32_t mark,
                       int want, const Place& place);
  void deciding_operand(ast::Expr& e, ast::LogicalOp op, uint32_t work, Label& end);
  uint32_t logical(ast::Logical& e, int want);
  uint32_t comparison(ast::Compare& e, int want);
  void compare_step(ast::CompareOp op, uint32_t to, uint32_t left, uint32_t right, Span span);
  uint32_t conditional(ast::Conditional& e, int want);
  uint32_t lambda(ast::Lambda& e, int want);
  uint32_t walrus(ast::Walrus& e, int want);
  uint32_t attribute(ast::Attribute& e, int want);
  uint32_t subscript(ast::Subscript& e, int want);
  uint32_t slice(ast::Slice& e, int want);
  uint32_t slice_bounds(ast::Slice& e);
  uint32_t yield(ast::Yield& e, int want);
  uint32_t yield_from(ast::YieldFrom& e, int want);
  uint32_t await(ast::Await& e, int want);
  // Awaits the iterator in R[iterator], the top temporary, and leaves its result in R[to].
  void delegate(uint32_t iterator, uint32_t to, Span span);
  void await_on_top(uint32_t reg, IntrinsicId awaitable, Span span);
  uint32_t comprehension(ast::Comprehension& e, int want);
  uint32_t generator_expression(ast::Comprehension& e, int want);
  void comprehension_loops(ast::Comprehension& e, size_t clause, uint32_t state, uint32_t target);
  uint32_t call(ast::Call& e, int want);
  uint32_t method_call(ast::Call& e, ast::Attribute& callee, int want);
  uint32_t spread_call(ast::Call& e, int want);
  void emit_call(uint32_t callee, uint32_t count, uint32_t to, Span span);
  bool is_plain_super(ast::Expr& e);
  uint32_t super_operands(ast::Call& e);
  uint32_t super_call(ast::Call& e, int want);
  void super_method(ast::Call& e, std::string_view name, Span lookup);
  uint32_t keyword_names(std::span<ast::Keyword> keywords);
  bool is_harmless(ast::Expr& e);
  uint32_t only_read(ast::Expr& e, int want);
  bool can_fold_list(ast::ExprList elements, std::vector<Value>& values, size_t least);
  uint32_t big_int(const ast::BigIntLiteral& e, int want);
  Value fold(const ast::Expr& e) { return fold_constant(in_, e); }
  Place place_of_step(const ast::Binary& e, const ast::BinaryStep& step);
  Place place_of_subscript(const ast::Subscript& e);
  Span span_from_name(Span span, const ast::Attribute& e);

  // --- conditions: jump when the truth of e is `when`, else fall through
  void condition(ast::Expr& e, bool when, Label& label);
  void compare_condition(ast::Compare& e, bool when, Label& label);
  uint32_t compare_link(ast::CompareOp op, uint32_t left, ast::Expr& right, uint32_t mark, Label& fail, Span span);
  void compare_jump(ast::CompareOp op, uint32_t left, ast::Expr& right, bool when, Label& label, Span span);

  // --- variables and targets
  Symbol& symbol(std::string_view name);
  std::string_view mangled(std::string_view name) { return mangle(unit_.tree, scope_->class_name, name); }
  void load_variable(const Symbol& s, uint32_t to, Span span);
  void load_far(const Symbol& s, uint32_t to, Span span);
  uint32_t far_value(const Symbol& s, Span span);
  void make_cell_of(const Symbol& s, Span span);
  void store_variable(std::string_view name, uint32_t from, Span span);
  void delete_variable(std::string_view name, Span span);
  void check_set(const Symbol& s, Span span);
  int own_register(std::string_view name);  // of a plain local, else -1
  void store(ast::Expr& target, uint32_t from);
  void unpack(ast::ExprList targets, uint32_t from, Span span);
  void unpack_many(ast::ExprList targets, size_t star, uint32_t from, Span span);
  void unpack_values(ast::Expr& target, ast::Expr& values, Span span);
  void remove(ast::Expr& target);
  void annotate(ast::AnnotatedAssignStmt& s);
  uint32_t annotation(ast::Expr& e);
  // Whether the names of the scope live in the mapping R[0]: class bodies, and the outermost code of eval and exec.
  bool in_mapping(const Scope& scope) const {
    return scope.kind == ScopeKind::Class || (scope.kind == ScopeKind::Module && unit_.options.names_in_mapping);
  }

  // --- statements
  void block(ast::Block statements);
  // Writes down what is held here (StatementAt).
  void note_blocks(bool begins);
  // For tracers, a statement that does nothing.
  void mark_line(Span span) { emit(Op::Nop, 0, 0, 0, span); }
  // A jump that belongs to no statement.
  void hidden_jump(Label& label, Span span) {
    const Hidden hidden(*this);
    jump(label, span);
  }
  void body_with_doc(ast::Block body);
  void for_loop(ast::Expr& target, ast::Expr& iterable, Span span, const std::function<void()>& body,
                ast::Block else_body, bool is_statement);
  void iterate(ast::Expr& iterable, uint32_t state, Span span);
  int loop_target(ast::Expr& target);
  void async_for(ast::ForStmt& s);
  void async_iterate(ast::Expr& iterable, uint32_t state, Span span);
  void async_next(uint32_t state, uint32_t item, Label& end, Span span);
  void if_arm(ast::IfArm& arm, Label& end, bool last, Assigned& joined);
  void decorated(ast::ExprList decorators, std::string_view name, Span span, const std::function<void(uint32_t)>& make);
  void many_decorators(ast::ExprList decorators, Span span, const std::function<void(uint32_t)>& make);
  void make_function(ast::Parameters parameters, ast::Expr* returns, const Value& code, uint32_t to, Span span,
                     bool annotations);
  void parameter_annotations(ast::Parameters parameters, ast::Expr* returns, uint32_t to, Span span);
  void class_value(ast::ClassStmt& s, uint32_t to);
  void import_module(const ast::ImportAlias& alias, Span span);
  void check_future(const ast::ImportFromStmt& s);

  // --- leaving blocks: what stands between here and the place that is jumped to
  struct Unwind {
    enum class Kind : uint8_t { Loop, Try, Finally, Handler, Named, With, Subject };
    Kind kind;
    uint32_t reg = 0;              // For: its state; Handler: the exception; With: __exit__; Subject: that of a match
    Label* break_label = nullptr;  // Loop
    Label* continue_label = nullptr;
    bool has_state = false;     // Loop: a for, whose state goes at `break`
    bool is_async = false;      // With, Loop
    int32_t held = -1;          // number in Code::blocks, once it has one
    ast::Block finally_body{};  // Finally
    std::string_view name{};    // Named: `except E as name`
    Span span{};
    // Words that this block protects, so far; an exit's own code is left out.
    bool protects = false;
    uint8_t blocks = 1;  // as which CPython counts it against its limit of nested blocks
    uint32_t open = 0;
    std::vector<std::pair<uint32_t, uint32_t>> ranges{};
  };
  void push_protected(Unwind::Kind kind);
  // Ends the innermost block's protection: its rows get this handler.
  void pop_protected(uint32_t handler_word, uint32_t target);
  void close_range(Unwind& u);
  // Emits what leaving the blocks above `depth` takes, from the inside out.
  void leave_to(size_t depth, bool by_return, Span span);
  void leave_one(const Unwind& u, bool by_return, Span span);
  void call_exit(uint32_t exit, bool is_async, Span span);
  uint32_t enclosing_handler() const;
  bool leaves_code(size_t depth) const;
  void leaving_jump(Label& label, bool runs_code, Span span);
  static bool held_of(const Unwind& u, HeldBlock& held);
  void begin_handler(uint32_t target, Span span, uint8_t blocks = 1);
  void end_handler(uint32_t target, Span span);
  bool runs_blocks() const;  // whether leaving what `unwinds_` holds runs a finally or calls __exit__
  void try_except(ast::TryStmt& s);
  void try_finally(ast::TryStmt& s);
  void except_clause(ast::ExceptHandler& handler, uint32_t target, Label& end);
  void named_body(ast::ExceptHandler& handler, uint32_t target);
  void group_clauses(ast::TryStmt& s, uint32_t target, Label& end);
  void group_clause(ast::ExceptHandler& handler, uint32_t rest, uint32_t raised);
  void with_items(ast::WithStmt& s, size_t index);
  void check_block_depth(Span span, uint32_t blocks = 1);

  // --- match
  struct Capture {
    std::string_view name;
    uint32_t place;  // a register, or the number of a far variable
    bool far;
    Span span;
  };
  void match_case(ast::MatchCase& c, uint32_t subject, Label& end, Assigned& joined);
  void collect_captures(ast::Pattern& p);
  void place_captures();
  void capture(std::string_view name, uint32_t from, Span span);
  void bind_capture(const Capture& captured);
  void clear_captures(const std::vector<Capture>& captured, uint32_t first, Span span);
  void leaves(uint32_t reg);
  void pattern(ast::Pattern& p, uint32_t subject, Label& fail);
  void sequence_pattern(ast::SequencePattern& p, uint32_t subject, Label& fail);
  void mapping_pattern(ast::MappingPattern& p, uint32_t subject, Label& fail);
  void instance_pattern(ast::InstancePattern& p, uint32_t subject, Label& fail);
  void or_pattern(ast::OrPattern& p, uint32_t subject, Label& fail);
  void value_pattern(ast::ValuePattern& p, uint32_t subject, Label& fail);
  void item_pattern(ast::Pattern& p, uint32_t sequence, int64_t index, Label& fail);
  uint32_t copy(uint32_t reg, Span span);
  uint32_t intrinsic(IntrinsicId id, uint32_t first, Span span);
  static bool is_wildcard(const ast::Pattern& p);

  // --- code objects
  void prologue(Span span);
  void set_signature(ast::Parameters parameters);
  Value done(Span span);
  Value finished();
  void leave_scope_of(Scope* outer) { scope_ = outer; }
  Scope& scope_of(uint32_t mark) { return *unit_.scopes.all[mark]; }
  std::string qualified(std::string_view name);
  bool reachable() const { return !assigned_.all(); }
  void unreachable() { assigned_.set(); }

  CompileUnit& unit_;
  Scope* scope_;      // changes inside of comprehensions
  Scope& own_scope_;  // of this code
  Compiler* outer_;
  Value held_;  // owns the code
  uint32_t first_temporary_ = 0;
  uint32_t top_ = 0;
  uint32_t statement_top_ = 0;         // what top_ was when the running statement began
  uint32_t returned_ = kNoRegister;  // the answer of a `return` that leaves blocks
  Assigned assigned_;
  Assigned never_sure_;  // registers of locals that are deleted somewhere
  std::vector<Unwind> unwinds_;
  int finally_depth_ = 0;
  std::vector<Capture> captures_;
  uint32_t leftovers_end_ = 0;  // of a match: above the parts that its patterns have looked at
};

}  // namespace tessera::lang
