// Code objects: modules, functions, class bodies; variables and where they live.
// compile: few-inlines (runs once for a program's text)
#include "lang/compiler/compile.h"

#include <algorithm>

#include "lang/compiler/compiler.h"
#include "lang/compiler/syntax_warnings.h"
#include "lang/compiler/fuse.h"
#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "lang/core/native_stack.h"
#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/syntax/parse.h"
#include "lang/types/str.h"

namespace tessera::lang {

using namespace ast;

namespace {

const StringLiteral* docstring(Block body) {
  if (body.empty()) return nullptr;
  const auto* statement = try_as<ExpressionStmt>(body.front());
  return statement == nullptr ? nullptr : try_as<StringLiteral>(statement->value);
}

Span first_line(const Source& source, Span span) {
  const size_t end = source.text().find('\n', span.begin);
  return {span.begin,
          std::min<uint32_t>(span.end, end == std::string_view::npos ? span.end : static_cast<uint32_t>(end))};
}

}  // namespace

Compiler::Compiler(CompileUnit& unit, Scope& scope, Compiler* outer, std::string_view name, Span span)
    : Emitter(unit.in, new_code(unit.in)),
      unit_(unit),
      scope_(&scope),
      own_scope_(scope),
      outer_(outer),
      held_(Value::adopt(code_)) {
  code_->source = unit.source;
  code_->name = intern(in_, name);
  code_->qualname = intern(in_, qualified(name));
  code_->doc = Value::none();
  if (unit_.text_annotations) code_->code_flags |= kTextAnnotations;
  code_->span = first_line(*unit.source, span);
  first_temporary_ = top_ = scope.register_count;
  code_->first_temporary = first_temporary_;
  code_->registers = first_temporary_;
  for (std::string_view local : scope.locals) code_->locals.push_back(intern(in_, local));
  while (code_->locals.size() < first_temporary_) code_->locals.push_back(intern(in_, ""));
  for (std::string_view local : scope.far_locals) code_->far_locals.push_back(intern(in_, local));
  code_->near_registers = first_temporary_;
  code_->captures = scope.captures;
  for (std::string_view captured : scope.captured_names) code_->free_names.push_back(intern(in_, captured));
}

std::string Compiler::qualified(std::string_view name) {
  if (outer_ == nullptr || outer_->own_scope_.kind == ScopeKind::Module) return std::string(name);
  if (Symbol* s = outer_->scope_->find(name); s != nullptr && s->declared_global) return std::string(name);
  std::string text(outer_->code_->qualname->view());
  text += outer_->own_scope_.kind == ScopeKind::Function ? ".<locals>." : ".";
  return text.append(name);
}

Value Compiler::done(Span span) {
  const Hidden hidden(*this);
  emit_return(Op::ReturnNone, 0, Span{span.end, span.end});  // reachable or not: labels may point behind the last word
  return finished();
}

Value Compiler::finished() {
  code_->registers = code_->near_registers + static_cast<uint32_t>(code_->far_locals.size());
  fuse_words(*code_);
  return held_;
}

// What is above the temporaries that are in use is dead, and was emptied when it was read; so is a temporary that is returned.
void Compiler::emit_return(Op op, uint32_t reg, Span span) {
  const bool far = !code_->far_locals.empty();
  const bool highest = op == Op::Return && is_temporary(reg) && reg + 1 == top_;
  emit(op, reg, far ? kNoRegister : std::max(highest ? reg : top_, first_temporary_), 0, span);
}

// The value of a conditional expression is returned by each branch itself.
void Compiler::return_value(Expr& e, Span span) {
  const uint32_t mark = top_;
  auto* const choice = try_as<Conditional>(&e);
  if (choice == nullptr) {
    emit_return(Op::Return, value(e), span);
  } else {
    Label otherwise;
    condition(*choice->condition, false, otherwise);
    const Assigned before = assigned_;
    return_value(*choice->then_value, span);
    bind(otherwise);
    assigned_ = before;
    return_value(*choice->else_value, span);
  }
  top_ = mark;
}

// ---- Kinds of code ---------------------------------------------------------------------------------------------------

Value Compiler::compile_module() {
  code_->code_flags |= kModuleBody;
  if (unit_.tree.await_refusal != nullptr) code_->code_flags |= kGenerator | kCoroutine;
  if (in_mapping(own_scope_)) {
    code_->code_flags |= kNamesInMapping | kSimpleCall;
    code_->positional_only = code_->positional = code_->near_parameters = 1;
    code_->parameters.push_back(intern(in_, ".namespace"));
    assigned_.set(0);
  }
  const Span span{0, static_cast<uint32_t>(unit_.source->text().size())};
  if (unit_.tree.expression != nullptr) {
    emit_return(Op::Return, value(*unit_.tree.expression), unit_.tree.expression->span);
    return finished();
  }
  if (unit_.options.shows_values) {
    block(unit_.tree.body);
    return done(span);
  }
  if (unit_.options.mode == CompileMode::Module) {
    body_with_doc(unit_.tree.body);
    return done(span);
  }
  Block body = unit_.tree.body;
  if (!body.empty() && is<ExpressionStmt>(*body.back())) {
    block(body.first(body.size() - 1));
    Expr& shown = *as<ExpressionStmt>(*body.back()).value;
    const uint32_t reg = on_top(shown);
    emit(Op::Intrinsic, reg, reg, static_cast<uint32_t>(IntrinsicId::ShowResult), shown.span);
  } else {
    block(body);
  }
  return done(span);
}

// The docstring of a module or class is stored under __doc__; that of a function belongs to its code.
void Compiler::body_with_doc(Block body) {
  if (own_scope_.has_annotations) {
    const Span span = body.front()->span;
    const uint32_t reg = top_;
    if (own_scope_.kind == ScopeKind::Module && in_mapping(own_scope_)) {
      intrinsic(IntrinsicId::SetupAnnotations, take_temporary(span), span);  // they may be there already
    } else {
      emit(Op::BuildDict, take_temporary(span), reg, 0, span);
      if (in_mapping(own_scope_)) emit_name(Op::StoreName, reg, 0, 0, "__annotations__", {span});
      else emit_name(Op::StoreGlobal, reg, 0, 0, "__annotations__", {span});
    }
    clear_from(reg, 1, span);
    top_ = reg;
  }
  if (const StringLiteral* doc = unit_.options.optimize > 1 ? nullptr : docstring(body)) {
    const Value text = make_str(in_, doc->value);
    if (own_scope_.kind == ScopeKind::Function) {
      code_->doc = text;
    } else {
      const uint32_t reg = take_temporary(doc->span);
      load_constant(reg, text, doc->span);
      if (in_mapping(own_scope_)) emit_name(Op::StoreName, reg, 0, 0, "__doc__", {doc->span});
      else emit_name(Op::StoreGlobal, reg, 0, 0, "__doc__", {doc->span});
      --top_;
    }
    body = body.subspan(1);
  }
  block(body);
}

void Compiler::set_signature(Parameters parameters) {
  using K = ParameterKind;
  bool plain = true;
  for (const ast::Parameter& p : parameters) {
    code_->positional_only += p.kind == K::kPositionalOnly;
    code_->positional += p.kind == K::kPositionalOnly || p.kind == K::kRegular;
    code_->keyword_only += p.kind == K::kKeywordOnly;
    if (p.kind == K::kVarPositional) code_->code_flags |= kVarArgs;
    if (p.kind == K::kVarKeyword) code_->code_flags |= kVarKeywords;
    plain = plain && (p.kind == K::kPositionalOnly || p.kind == K::kRegular);
  }
  const size_t near = own_scope_.near_parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    code_->parameters.push_back(intern(in_, i < near ? own_scope_.locals[i] : own_scope_.far_locals[i - near]));
    if (i < near) assigned_.set(i);
  }
  code_->near_parameters = static_cast<uint32_t>(near);
  const bool all_near = own_scope_.far_locals.empty();
  if (plain && all_near) {
    code_->code_flags |= kPlainParameters;
    if (!(code_->code_flags & kGenerator)) code_->code_flags |= kSimpleCall;
  }
}

// Cells for what functions inside share.
void Compiler::prologue(Span span) {
  for (const Symbol& s : own_scope_.symbols) {
    make_cell_of(s, span);
    if (s.kind != VariableKind::Register || !s.deleted) continue;
    never_sure_.set(s.index);
    assigned_.reset(s.index);  // a parameter's
  }
}

void Compiler::make_cell_of(const Symbol& s, Span span) {
  const Hidden hidden(*this);
  if ((s.kind == VariableKind::Cell || s.kind == VariableKind::FarCell) && s.bound)
    code_->cell_names.push_back(intern(in_, s.name));
  if (s.kind == VariableKind::Cell && s.bound) emit(Op::MakeCell, s.index, 0, 0, span);
  if (s.kind == VariableKind::FarCell && s.bound) emit_word(Op::MakeFarCell, 0, 0, 0, s.index, span);
}

Value Compiler::compile_function(FunctionStmt& s) {
  if (s.is_generator || s.is_async) code_->code_flags |= kGenerator;
  if (s.is_async) code_->code_flags |= s.is_generator ? kAsyncGenerator : kCoroutine;
  if (!s.decorators.empty()) code_->first = s.decorators.front()->span.begin;
  set_signature(s.parameters);
  prologue(code_->span);
  body_with_doc(s.body);
  return done(s.body.back()->span);
}

Value Compiler::compile_lambda(Lambda& node) {
  code_->code_flags |= kLambda;
  if (node.is_generator) code_->code_flags |= kGenerator;
  set_signature(node.parameters);
  prologue(node.span);
  return_value(*node.body, node.body->span);
  return finished();
}

// A function of one parameter, the iterator of the first clause.
Value Compiler::compile_generator(Comprehension& node) {
  code_->code_flags |= node.is_async ? kGenerator | kAsyncGenerator : kGenerator;
  if (own_scope_.far_locals.empty()) code_->code_flags |= kPlainParameters;
  code_->positional_only = code_->positional = code_->near_parameters = 1;
  code_->parameters.push_back(intern(in_, ".0"));
  assigned_.set(0);
  prologue(node.span);
  const uint32_t state = take_temporary(node.span);
  take_temporary(node.span);
  take_temporary(node.span);
  emit(Op::Copy, state, 0, 0, node.span);  // the variable ".0" stays, as one may see
  if (!node.clauses[0].is_async) emit(Op::ForPrepare, state, 0, 0, node.clauses[0].iterable->span);
  comprehension_loops(node, 0, state, 0);
  return done(node.span);
}

Value Compiler::compile_class(ClassStmt& node) {
  code_->code_flags |= kClassBody;
  if (!node.decorators.empty()) code_->first = node.decorators.front()->span.begin;
  code_->positional_only = code_->positional = code_->near_parameters = 1;
  code_->parameters.push_back(intern(in_, ".namespace"));
  assigned_.set(0);
  if (own_scope_.needs_class_cell) emit(Op::MakeCell, 1, 0, 0, code_->span);
  const uint32_t reg = take_temporary(node.span);
  emit_name(Op::LoadGlobal, reg, 0, 0, "__name__", {code_->span});
  emit_name(Op::StoreName, reg, 0, 0, "__module__", {code_->span});
  load_constant(reg, Value(static_cast<Object*>(code_->qualname)), code_->span);
  emit_name(Op::StoreName, reg, 0, 0, "__qualname__", {code_->span});
  --top_;
  body_with_doc(node.body);
  // The cell itself is the answer: whoever makes the class puts the class into it.
  if (own_scope_.needs_class_cell) emit_return(Op::Return, 1, code_->span);
  return done(node.span);
}

// ---- Registers -------------------------------------------------------------------------------------------------------

uint32_t Compiler::take_temporary(Span) {
  if (top_ >= kMostRegisters) throw Error(ErrorKind::RecursionError, "maximum recursion depth exceeded during compilation");
  const uint32_t reg = top_++;
  code_->near_registers = std::max(code_->near_registers, top_);
  return reg;
}

uint32_t Compiler::workplace(int want, Span span) {
  if (want >= 0 && is_temporary(static_cast<uint32_t>(want))) return static_cast<uint32_t>(want);
  return take_temporary(span);
}

uint32_t Compiler::finish(uint32_t work, int want, uint32_t mark, Span span) {
  top_ = mark;
  if (want < 0) {
    ++top_;
    return work;
  }
  if (static_cast<uint32_t>(want) != work) move(static_cast<uint32_t>(want), work, span);
  return static_cast<uint32_t>(want);
}

// ---- Variables -------------------------------------------------------------------------------------------------------

Symbol& Compiler::symbol(std::string_view name) {
  Symbol* found = scope_->find(mangled(name));
  if (found == nullptr) throw CompileError{{}, "internal error: name '" + std::string(name) + "' was not resolved"};
  return *found;
}

int Compiler::own_register(std::string_view name) {
  const Symbol& s = symbol(name);
  return s.kind == VariableKind::Register ? s.index : -1;
}

void Compiler::check_set(const Symbol& s, Span span) {
  if (assigned_.test(s.index)) return;
  emit_x(Op::CheckLocal, s.index, Emitter::name(s.name), span);
  if (!never_sure_.test(s.index)) assigned_.set(s.index);
}

void Compiler::load_variable(const Symbol& s, uint32_t to, Span span) {
  const bool in_class = scope_->kind == ScopeKind::Class;
  switch (s.kind) {
    case VariableKind::Register:
      check_set(s, span);
      if (to != s.index) move(to, s.index, span);
      return;
    case VariableKind::Cell: return emit_name(Op::LoadCell, to, s.index, 0, s.name, {span});
    case VariableKind::Free:
      if (in_class) return emit_name(Op::LoadNameCell, to, 0, s.index, s.name, {span});
      return emit_name(Op::LoadFree, to, s.index, 0, s.name, {span});
    case VariableKind::ClassName: return emit_name(Op::LoadName, to, 0, 0, s.name, {span});
    case VariableKind::FarFree:
      if (in_class) return emit_name(Op::LoadNameCell, to, 0, s.index, s.name, {span});
      return load_far(s, to, span);
    case VariableKind::FarRegister:
    case VariableKind::FarCell: return load_far(s, to, span);
    default:
      if (in_class && !s.declared_global) return emit_name(Op::LoadName, to, 0, 0, s.name, {span});
      return emit_name(Op::LoadGlobal, to, 0, 0, s.name, {span});
  }
}

void Compiler::emit_name(Op op, uint32_t a, uint32_t b, uint32_t d, std::string_view text, const Place& place) {
  if (op == Op::LoadNameCell && d > UINT8_MAX) return wide_name(op, a, b, d, text, place);
  if (!try_emit_name(op, a, b, d, text, place)) wide_name(op, a, b, d, text, place);
}

// Note [Wide operands] in opcodes.def.
void Compiler::wide_name(Op op, uint32_t a, uint32_t b, uint32_t d, std::string_view text, const Place& place) {
  const Span span = place.span;
  const uint32_t mark = top_;
  const char* const form = form_of(op);
  if (form[0] == 'r') top_ = std::max(top_, a + 2);  // LoadMethod's has two
  if (form[1] == 'r') top_ = std::max(top_, b + 1);
  const uint32_t first = top_;
  const auto take = [&](uint32_t reg) { move(take_temporary(span), reg, span); };
  const auto free_cell = [&](uint32_t index) { emit_word(Op::LoadFarFree, take_temporary(span), 0, 0, index, span); };
  IntrinsicId id{};
  bool answers = false;
  switch (op) {
    case Op::LoadMethod:
    case Op::GetAttr: take(b); id = IntrinsicId::WideGetAttr; answers = true; break;
    case Op::SetAttr: take(a); take(b); id = IntrinsicId::WideSetAttr; break;
    case Op::DelAttr: take(a); id = IntrinsicId::WideDelAttr; break;
    case Op::LoadName:
    case Op::LoadNameCell:
      copy(b, span);
      if (op == Op::LoadNameCell) free_cell(d);
      else emit(Op::LoadNone, take_temporary(span), 0, 0, span);
      id = IntrinsicId::WideLoadName;
      answers = true;
      break;
    case Op::StoreName: copy(b, span); take(a); id = IntrinsicId::WideStoreName; break;
    case Op::DeleteName: copy(b, span); id = IntrinsicId::WideDeleteName; break;
    case Op::LoadCell: copy(b, span); id = IntrinsicId::WideLoadCell; answers = true; break;
    case Op::DeleteCell: copy(b, span); id = IntrinsicId::WideDeleteCell; break;
    case Op::LoadFree: free_cell(b); id = IntrinsicId::WideLoadFree; answers = true; break;
    case Op::DeleteFree: free_cell(b); id = IntrinsicId::WideDeleteFree; break;
    default: throw CompileError{span, "internal error: an instruction has no wide form"};
  }
  constant_value(Value(static_cast<Object*>(name_text(text))), kOnTop, span);
  const uint32_t to = !answers ? first : op == Op::LoadMethod ? a + 1 : a;
  emit(Op::Intrinsic, to, first, static_cast<uint32_t>(id), place);
  if (!answers) clear_from(first, 1, span);
  if (op == Op::LoadMethod) clear_from(a, 1, span);
  top_ = mark;
}

// The far register's value, or the cell, in a temporary on top.
uint32_t Compiler::far_value(const Symbol& s, Span span) {
  const uint32_t reg = take_temporary(span);
  if (s.kind == VariableKind::FarFree) {
    emit_word(Op::LoadFarFree, reg, 0, 0, s.index, span);
  } else {
    emit_x(Op::LoadFar, reg, Emitter::name(s.name), span);
    put(make_wide(Op::Nop, 0, s.index), {span});
  }
  return reg;
}

// `to` is not written before it is known that the variable is set.
void Compiler::load_far(const Symbol& s, uint32_t to, Span span) {
  const uint32_t reg = far_value(s, span);
  --top_;
  if (s.kind == VariableKind::FarRegister) return move(to, reg, span);
  emit_name(Op::LoadCell, to, reg, 0, s.name, {span});
  if (to != reg) clear_from(reg, 1, span);
}

uint32_t Compiler::name_value(std::string_view name, Span span, int want) {
  if (name == "__debug__" && unit_.options.optimize >= 1) return constant_value(Value::boolean(false), want, span);
  const Symbol& s = symbol(name);
  if (want == kAnywhere && s.kind == VariableKind::Register && !s.walrus) {
    check_set(s, span);
    return s.index;
  }
  const uint32_t to = result(want, span);
  load_variable(s, to, span);
  return to;
}

void Compiler::store_variable(std::string_view name, uint32_t from, Span span) {
  const Symbol& s = symbol(name);
  if (s.name == "__debug__") throw CompileError{span, "cannot assign to __debug__"};
  switch (s.kind) {
    case VariableKind::Register:
      if (from != s.index) move(s.index, from, span);
      if (!never_sure_.test(s.index)) assigned_.set(s.index);
      return;
    case VariableKind::Cell: return emit(Op::StoreCell, from, s.index, 0, span);
    case VariableKind::Free: return emit(Op::StoreFree, from, s.index, 0, span);
    case VariableKind::ClassName: return emit_name(Op::StoreName, from, 0, 0, s.name, {span});
    case VariableKind::FarRegister: return emit_word(Op::StoreFar, from, 0, 0, s.index, span);
    case VariableKind::FarCell:
    case VariableKind::FarFree: {
      const uint32_t cell = far_value(s, span);
      emit(Op::StoreCell, from, cell, 0, span);
      return clear_from(--top_, 1, span);
    }
    default: return emit_name(Op::StoreGlobal, from, 0, 0, s.name, {span});
  }
}

void Compiler::delete_variable(std::string_view name, Span span) {
  const Symbol& s = symbol(name);
  switch (s.kind) {
    case VariableKind::Register: return emit_x(Op::DeleteLocal, s.index, Emitter::name(s.name), span);
    case VariableKind::Cell: return emit_name(Op::DeleteCell, 0, s.index, 0, s.name, {span});
    case VariableKind::Free: return emit_name(Op::DeleteFree, 0, s.index, 0, s.name, {span});
    case VariableKind::ClassName: return emit_name(Op::DeleteName, 0, 0, 0, s.name, {span});
    case VariableKind::FarRegister: {
      const uint32_t reg = far_value(s, span);
      clear_from(reg, 1, span);
      emit_word(Op::StoreFar, reg, 0, 0, s.index, span);
      --top_;
      return;
    }
    case VariableKind::FarCell:
    case VariableKind::FarFree: {
      const uint32_t cell = far_value(s, span);
      emit_name(Op::DeleteCell, 0, cell, 0, s.name, {span});
      return clear_from(--top_, 1, span);
    }
    default: return emit_name(Op::DeleteGlobal, 0, 0, 0, s.name, {span});
  }
}

// ---- The way in ------------------------------------------------------------------------------------------------------

namespace {

void find_imports(CompileUnit& unit) {
  bool beginning = true;  // only a docstring and other such imports may stand before one from __future__
  for (Stmt* statement : unit.tree.body) {
    const auto* import = try_as<ImportFromStmt>(statement);
    if (import == nullptr || import->module.text != "__future__") {
      const auto* text = try_as<ExpressionStmt>(statement);
      const bool docstring = statement == unit.tree.body[0] && text != nullptr && is<StringLiteral>(*text->value);
      if (!docstring) beginning = false;
    } else if (!beginning) {
      throw CompileError{import->span, "from __future__ imports must occur at the beginning of the file"};
    }
    if (import == nullptr) continue;
    if (import->module.text != "__future__") continue;
    for (const ImportAlias& alias : import->names) unit.text_annotations |= alias.name.text == "annotations";
  }
}

}  // namespace

Code* compile_tree(Interpreter& in, std::shared_ptr<const Source> source, Tree& tree, const CompileOptions& options) {
  CompileUnit unit{in, std::move(source), tree, resolve(tree, options.names_in_mapping), options, options.text_annotations};
  const bool awaits = tree.await_refusal != nullptr && !options.top_level_await, refused = !tree.late_refusal.empty();
  if (awaits && !(refused && tree.late_span.begin < tree.await_span.begin)) throw CompileError{tree.await_span, tree.await_refusal};
  if (refused) throw CompileError{tree.late_span, tree.late_refusal};
  if (options.optimize < 0) unit.options.optimize = in.host().flags.optimize;
  find_imports(unit);
  Compiler compiler(unit, unit.scopes.module(), nullptr, "<module>", {0, 0});
  Value code = compiler.compile_module();
  return known_cast<Code>(code.release());
}

void BookedGrowth::grew(std::size_t bytes) {
  in_.check_stop();
  booked_.set(in_.heap, bytes_ += bytes);
}

std::size_t BookedGrowth::stack_left() const { return native_stack_left(); }

namespace {

// The one statement of single mode may not be followed by others on lines of their own.
void check_single(const Source& source, Block body) {
  if (body.empty()) throw CompileError{Span{0, 0}, "invalid syntax"};
  for (size_t i = 1; i < body.size(); ++i) {
    const std::string_view between = source.text({body[i - 1]->span.end, body[i]->span.begin});
    if (between.find('\n') == std::string_view::npos) continue;
    throw CompileError{body[0]->span, "multiple statements found while compiling a single statement"};
  }
}

}  // namespace

Value compile_source(Interpreter& in, std::shared_ptr<const Source> source, const CompileOptions& options) {
  BookedGrowth growth(in);
  ParseResult parsed =
      parse(*source, options.mode == CompileMode::Expression ? ParseMode::kExpression : ParseMode::kFile, &growth);
  if (!parsed) throw_syntax_error(in, *source, *parsed.error);
  try {
    if (options.shows_values) check_single(*source, parsed.tree->body);
    Value code = Value::adopt(compile_tree(in, source, *parsed.tree, options));
    const bool is_own = source->name().starts_with("stdlib/");  // the modules of the program have nothing to be told
    if (!is_own) tell_syntax_warnings(in, *source, find_syntax_warnings(*source, *parsed.tree));
    in.check_stop(0);  // a text without loops and calls has no safe point of its own
    return code;
  } catch (const CompileError& error) {
    throw_syntax_error(in, *source, make_syntax_error(*source, error.span, error.message));
  }
}

}  // namespace tessera::lang
