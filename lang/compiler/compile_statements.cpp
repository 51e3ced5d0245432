// Statements: assignment in all its forms, del, if, loops, import, assert.
// compile: few-inlines (runs once for a program's text)
#include <algorithm>
#include <utility>

#include "lang/compiler/compiler.h"
#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

using namespace ast;

void Compiler::block(Block statements) {
  const uint32_t outer_top = std::exchange(statement_top_, top_);
  for (Stmt* statement : statements) {
    in_.check_stop();
    const uint32_t mark = top_;
    note_blocks(true);
    visit(*statement, *this);
    top_ = mark;
  }
  note_blocks(false);
  statement_top_ = outer_top;
}

// Returns false if the block holds no temporary.
bool Compiler::held_of(const Unwind& u, HeldBlock& held) {
  held.reg = static_cast<uint16_t>(u.reg);
  switch (u.kind) {
    case Unwind::Kind::Loop:
      held.kind = u.is_async ? HeldKind::AsyncIteration : HeldKind::Iteration;
      return u.has_state;
    case Unwind::Kind::With: held.kind = HeldKind::Object; return true;
    case Unwind::Kind::Subject: held.kind = HeldKind::Subject; return true;
    case Unwind::Kind::Handler:
      held.kind = u.blocks == 2 ? HeldKind::Exception : u.blocks == 0 ? HeldKind::Group : HeldKind::FinallyException;
      if (held.kind == HeldKind::Group) held.reg -= 2;
      return true;
    default: return false;
  }
}

void Compiler::note_blocks(bool begins) {
  int32_t block = -1;
  const auto add = [&](HeldBlock held) {
    held.outer = block;
    code_->blocks.push_back(held);
    return static_cast<int32_t>(code_->blocks.size()) - 1;
  };
  for (Unwind& u : unwinds_) {
    HeldBlock held;
    if (u.held < 0 && held_of(u, held)) u.held = add(held);
    if (u.held >= 0) block = u.held;
  }
  if (returned_ != kNoRegister) block = add({block, HeldKind::Object, static_cast<uint16_t>(returned_)});
  std::vector<StatementAt>& statements = code_->statements;
  if (!statements.empty() && !statements.back().begins && statements.back().word == here()) statements.pop_back();
  statements.push_back({here(), block, begins});
}

void Compiler::operator()(ExpressionStmt& s) {
  if (unit_.options.shows_values && own_scope_.kind == ScopeKind::Module) {
    const uint32_t shown = intrinsic(IntrinsicId::Display, on_top(*s.value), s.value->span);
    return clear_from(shown, 1, s.value->span);
  }
  if (is<StringLiteral>(*s.value) || is<Constant>(*s.value) || is<IntLiteral>(*s.value) || is<BigIntLiteral>(*s.value) ||
      is<FloatLiteral>(*s.value))
    return mark_line(s.span);
  const uint32_t reg = value(*s.value);
  // What nobody wants goes at once, not when the register is used again.
  if (is_temporary(reg)) clear_from(reg, 1, s.value->span);
}

// ---- Assignment ------------------------------------------------------------------------------------------------------

namespace {

ExprList elements_of(Expr& e) {
  if (auto* tuple = try_as<ast::Tuple>(&e)) return tuple->elements;
  if (auto* list = try_as<ast::List>(&e)) return list->elements;
  return {};
}

bool has_star(ExprList elements) {
  for (const Expr* e : elements) {
    if (is<Starred>(*e)) return true;
  }
  return false;
}

constexpr size_t kMostUnpacked = 40;
constexpr size_t kMostTargets = 100;  // that are unpacked into registers
// CPython's limits.
constexpr size_t kMostBeforeStar = (1 << 8) - 1;
constexpr size_t kMostAfterStar = (INT32_MAX >> 8) - 1;

}  // namespace

void Compiler::operator()(AssignStmt& s) {
  if (s.targets.size() == 1) {
    Expr& target = *s.targets[0];
    if (const int reg = loop_target(target); reg >= 0) {
      const std::string_view name = as<Name>(target).name;
      value(*s.value, reg);
      if (!never_sure_.test(static_cast<size_t>(reg))) assigned_.set(static_cast<size_t>(reg));
      if (name == "__debug__") throw CompileError{target.span, "cannot assign to __debug__"};
      return;
    }
    const ExprList targets = elements_of(target),
                   values = is<ast::Tuple>(*s.value) ? elements_of(*s.value) : ExprList{};
    if (targets.size() > 1 && targets.size() == values.size() && targets.size() <= kMostUnpacked &&
        !has_star(targets) && !has_star(values)) {
      return unpack_values(target, *s.value, s.span);
    }
    return store(target, value(*s.value));
  }
  const uint32_t reg = value(*s.value);
  for (size_t i = 0; i < s.targets.size(); ++i) {
    const bool last = i + 1 == s.targets.size();
    const uint32_t mark = top_;
    store(*s.targets[i], last || !is_temporary(reg) ? reg : copy(reg, s.span));
    top_ = mark;
  }
}

// a, b = b, a + b: no tuple is made. The last value may go straight to its local, since nothing is read after it.
void Compiler::unpack_values(Expr& target, Expr& values, Span span) {
  const ExprList targets = elements_of(target), sources = elements_of(values);
  const uint32_t first = top_;
  const size_t last = targets.size() - 1;
  bool locals_only = true;
  for (Expr* t : targets) locals_only = locals_only && loop_target(*t) >= 0;
  for (size_t i = 0; i <= last; ++i) {
    if (i == last && locals_only) value(*sources[i], loop_target(*targets[i]));
    else on_top(*sources[i]);
  }
  // Stores go from left to right; a local written early could only be overwritten by the same name further left.
  for (size_t i = 0; i <= last; ++i) {
    if (i == last && locals_only)
      store_variable(as<Name>(*targets[i]).name, static_cast<uint32_t>(loop_target(*targets[i])), span);
    else if (!(locals_only && loop_target(*targets[i]) == loop_target(*targets[last]))) {
      store(*targets[i], first + static_cast<uint32_t>(i));
    }
  }
}

void Compiler::store(Expr& target, uint32_t from) {
  const uint32_t mark = top_;
  switch (target.kind) {
    case ExprKind::kName: store_variable(as<Name>(target).name, from, target.span); break;
    case ExprKind::kAttribute: {
      auto& attribute = as<Attribute>(target);
      if (attribute.name.text == "__debug__") throw CompileError{target.span, "cannot assign to __debug__"};
      const uint32_t object = value(*attribute.object);
      emit_name(Op::SetAttr, object, from, 0, mangled(attribute.name.text), {span_from_name(target.span, attribute)});
      break;
    }
    case ExprKind::kSubscript: {
      auto& subscript = as<Subscript>(target);
      const uint32_t object = value(*subscript.object);
      if (auto* slice = try_as<ast::Slice>(subscript.index); slice != nullptr && slice->step == nullptr) {
        emit(Op::SetSlice, object, slice_bounds(*slice), from, target.span);
        break;
      }
      const uint32_t index = value(*subscript.index);
      emit(Op::SetItem, object, index, from, target.span);
      break;
    }
    case ExprKind::kStarred: store(*as<Starred>(target).value, from); break;
    default: unpack(elements_of(target), from, target.span);
  }
  top_ = mark;
}

void Compiler::unpack(ExprList targets, uint32_t from, Span span) {
  size_t star = targets.size();
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!is<Starred>(*targets[i])) continue;
    if (star != targets.size()) throw CompileError{span, "multiple starred expressions in assignment"};
    star = i;
  }
  if (star < targets.size() && (star > kMostBeforeStar || targets.size() - 1 - star > kMostAfterStar))
    throw CompileError{span, "too many expressions in star-unpacking assignment"};
  if (targets.size() > kMostTargets || !has_room_for(targets.size())) return unpack_many(targets, star, from, span);
  const auto count = static_cast<uint32_t>(targets.size());
  // Locals that stand in a row take the items directly.
  const int first_local = targets.empty() ? -1 : loop_target(*targets[0]);
  bool in_a_row = first_local >= 0 && star == targets.size();
  for (uint32_t i = 0; in_a_row && i < count; ++i)
    in_a_row = loop_target(*targets[i]) == first_local + static_cast<int>(i);
  const uint32_t first = in_a_row ? static_cast<uint32_t>(first_local) : top_;
  if (!in_a_row) {
    for (uint32_t i = 0; i < count; ++i) take_temporary(span);
  }
  if (star == targets.size()) emit(Op::Unpack, first, from, count, span);
  else
    emit_word(Op::UnpackStar, first, from, static_cast<uint32_t>(star), count - 1 - static_cast<uint32_t>(star), span);
  for (uint32_t i = 0; i < count; ++i) {
    if (in_a_row) store_variable(as<Name>(*targets[i]).name, first + i, targets[i]->span);
    else store(*targets[i], first + i);
  }
}

// As unpack(), for very many targets: a list holds the items. `star`: the place of the starred target, or their number.
void Compiler::unpack_many(ExprList targets, size_t star, uint32_t from, Span span) {
  const auto count = static_cast<int64_t>(targets.size());
  const bool has_star = star != targets.size();
  const uint32_t list = take_temporary(span);
  move(list, from, span);
  constant_value(Value::integer(count), kOnTop, span);
  constant_value(has_star ? Value::integer(count - 1 - static_cast<int64_t>(star)) : Value::none(), kOnTop, span);
  intrinsic(IntrinsicId::UnpackMany, list, span);
  for (int64_t i = 0; i < count; ++i) {
    Expr& target = *targets[static_cast<size_t>(i)];
    const uint32_t item = copy(list, target.span);
    const uint32_t at = constant_value(Value::integer(i), kOnTop, target.span);
    emit(Op::GetItem, item, item, at, target.span);
    top_ = item + 1;
    store(target, item);
    top_ = list + 1;
  }
  clear_from(list, 1, span);
}

void Compiler::operator()(AugmentedAssignStmt& s) {
  const Place place{s.span, true};
  const uint32_t mark = top_;
  if (auto* name = try_as<Name>(s.target)) {
    const Symbol& target = symbol(name->name);
    if (target.kind == VariableKind::Register) {
      check_set(target, name->span);
      binary_step(s.op, target.index, Value(), *s.value, mark, target.index, place);
      return;
    }
    const uint32_t old = take_temporary(s.span);
    load_variable(target, old, name->span);
    store_variable(name->name, binary_step(s.op, old, Value(), *s.value, mark, kOnTop, place), s.span);
    return;
  }
  // Object and index are evaluated once, and needed twice.
  auto again = [&](uint32_t reg) { return is_temporary(reg) ? copy(reg, s.span) : reg; };
  if (auto* target = try_as<Attribute>(s.target)) {
    const uint32_t object = value(*target->object);
    const uint32_t above = top_;
    const uint32_t read = again(object);
    top_ = above;
    const uint32_t old = take_temporary(s.span);
    const std::string_view name = mangled(target->name.text);
    const Span span = span_from_name(target->span, *target);
    emit_name(Op::GetAttr, old, read, 0, name, {span});
    const uint32_t updated = binary_step(s.op, old, Value(), *s.value, above, kOnTop, place);
    emit_name(Op::SetAttr, object, updated, 0, name, {span});
    return;
  }
  auto& target = as<Subscript>(*s.target);
  const uint32_t object = value(*target.object);
  const uint32_t index = value(*target.index);
  const uint32_t above = top_;
  const uint32_t read_object = again(object), read_index = again(index);
  top_ = above;
  const uint32_t old = take_temporary(s.span);
  emit(Op::GetItem, old, read_object, read_index, target.span);
  const uint32_t updated = binary_step(s.op, old, Value(), *s.value, above, kOnTop, place);
  emit(Op::SetItem, object, index, updated, target.span);
}

void Compiler::operator()(AnnotatedAssignStmt& s) {
  if (s.value != nullptr) {
    const int reg = loop_target(*s.target);
    if (reg >= 0) store(*s.target, value(*s.value, reg));
    else store(*s.target, value(*s.value));
  }
  if (own_scope_.kind != ScopeKind::Function) annotate(s);
}

void Compiler::annotate(AnnotatedAssignStmt& s) {
  const uint32_t mark = top_;
  const uint32_t reg = annotation(*s.annotation);
  if (s.simple) {
    const std::string_view name = mangled(as<Name>(*s.target).name);
    const uint32_t dict = take_temporary(s.span);
    if (in_mapping(own_scope_)) emit_name(Op::LoadName, dict, 0, 0, "__annotations__", {s.span});
    else emit_name(Op::LoadGlobal, dict, 0, 0, "__annotations__", {s.span});
    const uint32_t key = constant_value(Value(static_cast<Object*>(name_text(name))), kOnTop, s.span);
    emit(Op::SetItem, dict, key, reg, s.span);
  } else {
    clear_from(reg, is_temporary(reg) ? 1 : 0, s.span);
  }
  top_ = mark;
}

namespace {

// Returns true for names, attributes and subscripts in the spacing of ast.unparse, as most annotations are.
bool is_in_usual_form(std::string_view text) {
  const auto is_name_byte = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  char before = '[';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool in_word = is_name_byte(before) || before == '.';
    if (c >= '0' && c <= '9' ? !in_word : !is_name_byte(c) && std::string_view("[], |.").find(c) == std::string_view::npos) return false;
    if (c == ' ' && before != ',' && before != '|' && !(i + 1 < text.size() && text[i + 1] == '|')) return false;
    if ((before == ',' || before == '|') && c != ' ') return false;
    if (c == '|' && before != ' ') return false;
    before = c;
  }
  return true;
}

// The text of an annotation in the usual spacing.
Value unparsed(Interpreter& in, std::string_view text) {
  if (is_in_usual_form(text)) return make_str(in, text);
  const bool starred = text.starts_with('*');
  const Value ast(static_cast<Object*>(in.import("ast")));
  const Value whole = make_str(in, "(" + std::string(starred ? text.substr(1) : text) + "\n)");
  const Value tree = call(in, get_attr(in, ast, intern(in, "parse")), {whole, make_str(in, "<annotation>"), make_str(in, "eval")});
  const Value plain = call(in, get_attr(in, Value(in.import("_ast_unparse")), intern(in, "unparse_annotation")), {tree});
  return starred ? make_str(in, "*" + std::string(object_cast<Str>(plain)->view())) : plain;
}

}  // namespace

uint32_t Compiler::annotation(Expr& e) {
  if (unit_.text_annotations && !unit_.options.annotations_written) return constant_value(unparsed(in_, unit_.source->text(e.span)), kOnTop, e.span);
  const auto* const star = try_as<Starred>(&e);
  if (star == nullptr) return value(e);
  // def f(*args: *Ts): the only item of Ts.
  const uint32_t item = top_;
  on_top(*star->value);
  emit(Op::Unpack, item, item, 1, e.span);
  return item;
}

void Compiler::operator()(DeleteStmt& s) {
  for (Expr* target : s.targets) remove(*target);
}

void Compiler::remove(Expr& target) {
  const uint32_t mark = top_;
  if (auto* name = try_as<Name>(&target)) {
    delete_variable(name->name, target.span);
  } else if (auto* attribute = try_as<Attribute>(&target)) {
    const uint32_t object = value(*attribute->object);
    emit_name(Op::DelAttr, object, 0, 0, mangled(attribute->name.text), {span_from_name(target.span, *attribute)});
  } else if (auto* subscript = try_as<Subscript>(&target)) {
    const uint32_t object = value(*subscript->object);
    emit(Op::DelItem, object, value(*subscript->index), 0, target.span);
  } else {
    for (Expr* element : elements_of(target)) remove(*element);
  }
  top_ = mark;
}

// ---- Branches and loops ----------------------------------------------------------------------------------------------

void Compiler::operator()(IfStmt& s) {
  Label end;
  Assigned joined;
  joined.set();
  for (size_t i = 0; i < s.arms.size(); ++i)
    if_arm(s.arms[i], end, i + 1 == s.arms.size() && s.else_body.empty(), joined);
  block(s.else_body);
  assigned_ &= joined;
  bind(end);
}

void Compiler::if_arm(IfArm& arm, Label& end, bool last, Assigned& joined) {
  Label otherwise;
  condition(*arm.condition, false, otherwise);
  const Assigned before = assigned_;
  block(arm.body);
  joined &= assigned_;
  if (!last && reachable()) hidden_jump(end, arm.span);
  bind(otherwise);
  assigned_ = before;
}

// CPython's limit, counted as CPython counts: the clauses of a try are two blocks deep.
void Compiler::check_block_depth(Span span, uint32_t blocks) {
  constexpr uint32_t kMostBlocks = 20;
  for (const Unwind& u : unwinds_) blocks += u.blocks;
  if (blocks > kMostBlocks) throw CompileError{span, "too many statically nested blocks"};
}

void Compiler::operator()(WhileStmt& s) {
  check_block_depth(s.span);
  Label body, test, end;
  const Value constant = fold(*s.condition);
  const bool forever = (constant.is_bool() || constant.is_int()) && constant.as_int() != 0;
  const Assigned before = assigned_;
  if (forever) mark_line(s.condition->span);
  else hidden_jump(test, s.condition->span);
  bind(body);
  Unwind loop{Unwind::Kind::Loop};
  loop.break_label = &end;
  loop.continue_label = forever ? &body : &test;
  unwinds_.push_back(std::move(loop));
  block(s.body);
  unwinds_.pop_back();
  assigned_ = before;
  bind(test);
  if (forever) jump(body, s.condition->span);
  else condition(*s.condition, true, body);
  assigned_ = before;
  block(s.else_body);
  assigned_ = before;
  bind(end);
}

void Compiler::operator()(ForStmt& s) {
  check_block_depth(s.span);
  if (s.is_async) return async_for(s);
  const uint32_t state = top_;
  iterate(*s.iterable, state, s.span);
  const int direct = loop_target(*s.target);
  const uint32_t item = direct >= 0 ? static_cast<uint32_t>(direct) : take_temporary(s.span);
  Label body, next, end;
  const Assigned before = assigned_;
  hidden_jump(next, s.iterable->span);
  bind(body);
  if (direct >= 0) store_variable(as<Name>(*s.target).name, item, s.target->span);
  else store(*s.target, item);
  top_ = state + 3;
  Unwind loop{Unwind::Kind::Loop};
  loop.reg = state;
  loop.has_state = true;
  loop.break_label = &end;
  loop.continue_label = &next;
  unwinds_.push_back(std::move(loop));
  block(s.body);
  unwinds_.pop_back();
  bind(next);
  branch(Op::ForNext, state, item, body, s.span);
  top_ = state;
  assigned_ = before;
  block(s.else_body);
  assigned_ = before;
  bind(end);
}

// R[state], and the two registers behind it as in other loops, is the asynchronous iterator.
void Compiler::async_iterate(Expr& iterable, uint32_t state, Span span) {
  value(iterable, kOnTop);
  intrinsic(IntrinsicId::AsyncIter, state, span);
  top_ = state + 1;
  clear_from(take_temporary(span), 2, span);
  take_temporary(span);
}

// R[item] = the next item, awaited. At the end R[state] is emptied, and it goes to `end`.
void Compiler::async_next(uint32_t state, uint32_t item, Label& end, Span span) {
  const uint32_t mark = top_;
  push_protected(Unwind::Kind::Try);
  const uint32_t next = copy(state, span);
  intrinsic(IntrinsicId::AsyncNext, next, span);
  delegate(next, item, span);
  close_range(unwinds_.back());
  const Unwind kept = std::move(unwinds_.back());
  unwinds_.pop_back();
  Label more;
  jump(more, span);
  unwinds_.push_back(kept);
  top_ = mark;
  pop_protected(here(), mark);
  take_temporary(span);  // the exception
  intrinsic(IntrinsicId::IsStopAsyncIteration, copy(mark, span), span);
  Label stopped;
  test(Op::JumpIf, mark + 1, 0, true, stopped, span);
  emit(Op::Reraise, mark, 0, 0, span);
  bind(stopped);
  end_handler(mark, span);
  clear_from(state, 1, span);
  jump(end, span);
  bind(more);
  top_ = mark;
}

void Compiler::async_for(ForStmt& s) {
  const uint32_t state = top_;
  const Span span = s.iterable->span;
  async_iterate(*s.iterable, state, span);
  const int direct = loop_target(*s.target);
  const uint32_t item = direct >= 0 ? static_cast<uint32_t>(direct) : take_temporary(s.span);
  Label next, exhausted, end;
  const Assigned before = assigned_;
  bind(next);
  async_next(state, item, exhausted, span);
  if (direct >= 0) store_variable(as<Name>(*s.target).name, item, s.target->span);
  else store(*s.target, item);
  top_ = state + 3;
  Unwind loop{Unwind::Kind::Loop};
  loop.reg = state;
  loop.has_state = true;
  loop.is_async = true;
  loop.break_label = &end;
  loop.continue_label = &next;
  unwinds_.push_back(std::move(loop));
  block(s.body);
  unwinds_.pop_back();
  jump(next, s.span);
  bind(exhausted);
  top_ = state;
  assigned_ = before;
  block(s.else_body);
  assigned_ = before;
  bind(end);
}

// Whether leaving the blocks above `depth` runs code of the text: for a tracer the statement that leaves them comes before that
// code, and not behind it once more.
bool Compiler::leaves_code(size_t depth) const {
  return std::any_of(unwinds_.begin() + static_cast<std::ptrdiff_t>(depth), unwinds_.end(),
                     [](const Unwind& u) { return u.kind == Unwind::Kind::Finally || u.kind == Unwind::Kind::With; });
}

void Compiler::leaving_jump(Label& label, bool runs_code, Span span) {
  if (runs_code) hidden_jump(label, span);
  else jump(label, span);
}

void Compiler::operator()(BreakStmt& s) {
  size_t at = unwinds_.size();
  while (unwinds_[at - 1].kind != Unwind::Kind::Loop) --at;
  const Unwind loop = unwinds_[at - 1];
  const bool runs_code = leaves_code(at);
  if (runs_code) mark_line(s.span);
  leave_to(at, false, s.span);
  if (loop.has_state) clear_from(loop.reg, 3, s.span);
  leaving_jump(*loop.break_label, runs_code, s.span);
  unreachable();
}

void Compiler::operator()(ContinueStmt& s) {
  size_t at = unwinds_.size();
  while (unwinds_[at - 1].kind != Unwind::Kind::Loop) --at;
  Label* const label = unwinds_[at - 1].continue_label;
  const bool runs_code = leaves_code(at);
  if (runs_code) mark_line(s.span);
  leave_to(at, false, s.span);
  leaving_jump(*label, runs_code, s.span);
  unreachable();
}

void Compiler::operator()(ReturnStmt& s) {
  // What runs on the way out may change or delete the name whose value is returned: `except E as e: return e`.
  bool leaves_blocks = false;
  for (const Unwind& u : unwinds_) {
    leaves_blocks |= u.kind == Unwind::Kind::Finally || u.kind == Unwind::Kind::With || u.kind == Unwind::Kind::Named;
  }
  if (s.value != nullptr && is<Conditional>(*s.value) && unwinds_.empty()) {
    return_value(*s.value, s.span);
    return unreachable();
  }
  uint32_t reg = 0;
  const Value constant = s.value == nullptr ? Value::none() : is<Constant>(*s.value) ? fold(*s.value) : Value();
  if (!constant.is_none()) reg = value(*s.value, leaves_blocks ? kOnTop : kAnywhere);
  const uint32_t outer_returned = std::exchange(returned_, leaves_blocks && !constant.is_none() ? reg : kNoRegister);
  const bool runs_code = leaves_code(0);
  if (runs_code && constant.is_none()) mark_line(s.span);
  leave_to(0, true, s.span);
  returned_ = outer_returned;
  const Hidden hidden(*this, runs_code);
  if (constant.is_none()) emit_return(Op::ReturnNone, 0, s.span);
  else emit_return(Op::Return, reg, s.span);
  unreachable();
}

// ---- raise, assert, import -------------------------------------------------------------------------------------------

void Compiler::operator()(RaiseStmt& s) {
  const uint32_t mark = top_;
  if (s.exception == nullptr) {
    emit(Op::Raise, 0, 0, 0, s.span);
  } else {
    const uint32_t reg = on_top(*s.exception);
    if (s.cause != nullptr) on_top(*s.cause);
    emit(Op::Raise, reg, s.cause != nullptr ? 2 : 1, 0, s.span);
  }
  top_ = mark;
  unreachable();
}

void Compiler::operator()(AssertStmt& s) {
  if (unit_.options.optimize > 0) return;
  Label fine;
  condition(*s.condition, true, fine);
  const Assigned before = assigned_;
  uint32_t reg = 0;
  if (s.message != nullptr) reg = value(*s.message);
  emit(Op::AssertFailed, reg, s.message != nullptr, 0, is<Constant>(*s.condition) ? s.span : s.condition->span);
  assigned_ = before;
  bind(fine);
}

uint32_t Compiler::intrinsic(IntrinsicId id, uint32_t first, Span span) {
  emit(Op::Intrinsic, first, first, static_cast<uint32_t>(id), span);
  top_ = first + 1;
  return first;
}

void Compiler::import_module(const ImportAlias& alias, Span span) {
  const uint32_t mark = top_;
  constant_value(Value(static_cast<Object*>(name_text(alias.name.text))), kOnTop, alias.span);
  constant_value(Value::integer(0), kOnTop, alias.span);
  constant_value(alias.as_name.empty() ? Value::none() : Value::boolean(true), kOnTop, alias.span);
  const uint32_t module = intrinsic(IntrinsicId::ImportName, mark, span);
  const std::string_view name = alias.as_name.empty() ? alias.name.text : alias.as_name.text;
  store_variable(unit_.tree.intern(name.substr(0, name.find('.'))), module, alias.span);
  top_ = mark;
}

void Compiler::operator()(ImportStmt& s) {
  for (const ImportAlias& alias : s.names) import_module(alias, s.span);
}

void Compiler::check_future(const ImportFromStmt& s) {
  if (s.star) throw CompileError{Span{s.span.begin, s.span.begin + 1}, "future feature * is not defined"};
  for (const ImportAlias& alias : s.names) {
    const std::string_view known[] = {"annotations",     "division",         "print_function",
                                      "absolute_import", "unicode_literals", "generators",
                                      "nested_scopes",   "with_statement",   "generator_stop"};
    if (std::find(std::begin(known), std::end(known), alias.name.text) != std::end(known)) continue;
    const Span where{s.span.begin, s.span.begin + 1};
    if (alias.name.text == "braces") throw CompileError{where, "not a chance"};
    throw CompileError{where, "future feature " + std::string(alias.name.text) + " is not defined"};
  }
}

void Compiler::operator()(ImportFromStmt& s) {
  if (s.module.text == "__future__" && s.level == 0) check_future(s);
  const uint32_t mark = top_;
  std::vector<Value> names;
  for (const ImportAlias& alias : s.names) names.emplace_back(static_cast<Object*>(name_text(alias.name.text)));
  if (s.star) names.emplace_back(static_cast<Object*>(name_text("*")));
  constant_value(Value(static_cast<Object*>(name_text(s.module.text))), kOnTop, s.span);
  constant_value(Value::integer(s.level), kOnTop, s.span);
  constant_value(make_tuple(in_, names.data(), names.size()), kOnTop, s.span);
  const uint32_t module = intrinsic(IntrinsicId::ImportName, mark, s.span);
  if (s.star) {
    if (in_mapping(own_scope_)) emit(Op::Copy, take_temporary(s.span), 0, 0, s.span);
    else emit(Op::LoadNone, take_temporary(s.span), 0, 0, s.span);
    intrinsic(IntrinsicId::ImportStar, module, s.span);
    return;
  }
  for (const ImportAlias& alias : s.names) {
    const uint32_t from = copy(module, s.span);
    constant_value(Value(static_cast<Object*>(name_text(alias.name.text))), kOnTop, s.span);
    store_variable(alias.as_name.empty() ? alias.name.text : alias.as_name.text,
                   intrinsic(IntrinsicId::ImportFrom, from, s.span), s.span);
    top_ = module + 1;
  }
  clear_from(module, 1, s.span);
}

}  // namespace tessera::lang
