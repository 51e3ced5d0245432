// try, with, and how blocks are left.
//
// A `finally` body is compiled once for the normal end, once for exceptions, and once for each break, continue or return
// that goes through it. The words of such an exit are not protected by the block that they leave: its protection is cut
// into ranges around them.
// compile: small (runs once for a program's text)
#include "lang/compiler/compiler.h"
#include "lang/core/interpreter.h"

namespace tessera::lang {

using namespace ast;

namespace {

// How many finally bodies may stand in each other and be compiled for each way out (see try_finally).
constexpr int kMostCopiedFinally = 3;

}  // namespace

// ---- Leaving blocks --------------------------------------------------------------------------------------------------

void Compiler::push_protected(Unwind::Kind kind) {
  Unwind u{kind};
  u.protects = true;
  u.open = here();
  unwinds_.push_back(std::move(u));
}

void Compiler::close_range(Unwind& u) {
  if (u.open < here()) u.ranges.emplace_back(u.open, here());
}

void Compiler::pop_protected(uint32_t handler_word, uint32_t target) {
  const Unwind u = std::move(unwinds_.back());
  unwinds_.pop_back();
  for (auto [begin, end] : u.ranges) {
    code_->handlers.push_back({begin, end, handler_word, static_cast<uint16_t>(target)});
  }
}

void Compiler::leave_to(size_t depth, bool by_return, Span span) {
  std::vector<Unwind> left;
  const uint32_t mark = top_;
  while (unwinds_.size() > depth) {
    left.push_back(std::move(unwinds_.back()));
    unwinds_.pop_back();
    if (left.back().protects) close_range(left.back());
    leave_one(left.back(), by_return, span);
    top_ = mark;
  }
  while (!left.empty()) {
    unwinds_.push_back(std::move(left.back()));
    left.pop_back();
    // The jump or return that follows cannot fail.
    if (unwinds_.back().protects) unwinds_.back().open = here();
  }
}

void Compiler::leave_one(const Unwind& u, bool by_return, Span span) {
  switch (u.kind) {
    case Unwind::Kind::Loop:
      if (u.has_state && !by_return) clear_from(u.reg, 3, span);
      return;
    case Unwind::Kind::Try: return;
    case Unwind::Kind::Subject:
      if (!by_return) clear_from(u.reg, 1, span);
      return;
    case Unwind::Kind::Finally: {
      const Assigned before = assigned_;
      block(u.finally_body);
      assigned_ = before;
      return;
    }
    case Unwind::Kind::Handler:
      // A return lets go of everything at once, but the blocks on its way must not find the exception that is handled here.
      if (!by_return || runs_blocks()) end_handler(u.reg, span);
      return;
    case Unwind::Kind::Named: {
      const Hidden hidden(*this);
      const uint32_t reg = take_temporary(span);
      emit(Op::LoadNone, reg, 0, 0, span);
      store_variable(u.name, reg, span);
      delete_variable(u.name, span);
      return;
    }
    case Unwind::Kind::With:
      call_exit(u.reg, u.is_async, u.span);
      if (!by_return) clear_from(u.reg, 1, u.span);
      return;
  }
}

bool Compiler::runs_blocks() const {
  return std::any_of(unwinds_.begin(), unwinds_.end(),
                     [](const Unwind& u) { return u.kind == Unwind::Kind::Finally || u.kind == Unwind::Kind::With; });
}

// The exception that is being handled where the blocks in `unwinds_` stand.
uint32_t Compiler::enclosing_handler() const {
  for (size_t i = unwinds_.size(); i-- > 0;) {
    if (unwinds_[i].kind == Unwind::Kind::Handler) return unwinds_[i].reg;
  }
  return kNoRegister;
}

void Compiler::begin_handler(uint32_t target, Span span, uint8_t blocks) {
  Unwind u{Unwind::Kind::Handler};
  u.blocks = blocks;
  u.reg = target;
  u.span = span;
  unwinds_.push_back(std::move(u));
}

void Compiler::end_handler(uint32_t target, Span span) {
  const Hidden hidden(*this);
  emit(Op::EndHandler, target, enclosing_handler(), 0, span);
}

// ---- try -------------------------------------------------------------------------------------------------------------

void Compiler::operator()(TryStmt& s) {
  mark_line(s.span);
  if (s.finally_body.empty()) try_except(s);
  else try_finally(s);
}

void Compiler::try_finally(TryStmt& s) {
  const uint32_t target = top_;
  const Assigned before = assigned_;
  const Span span = s.finally_body.front()->span;
  check_block_depth(s.span);
  push_protected(Unwind::Kind::Finally);
  unwinds_.back().finally_body = s.finally_body;
  if (s.handlers.empty()) block(s.body);
  else try_except(s);
  Unwind& u = unwinds_.back();
  close_range(u);
  const Unwind kept = std::move(u);
  unwinds_.pop_back();

  // Deep inside of other finally bodies one copy must do, since each level would double what is inside of it: the normal
  // end comes to the handler with None for an exception.
  const bool once = ++finally_depth_ > kMostCopiedFinally;
  const Assigned after_body = assigned_;
  Label end, merged;
  if (reachable()) {
    if (once) emit(Op::LoadNone, target, 0, 0, span);
    else block(s.finally_body);
    hidden_jump(once ? merged : end, span);
  }
  const Assigned after = assigned_;
  assigned_ = before;
  unwinds_.push_back(kept);
  pop_protected(here(), target);
  take_temporary(span);  // the exception
  begin_handler(target, span);
  if (once) bind(merged);
  block(s.finally_body);
  if (once) {
    emit(Op::Copy, take_temporary(span), target, 0, span);
    test(Op::JumpNone, --top_, 0, true, end, span);
  }
  emit(Op::Reraise, target, 0, 0, span);
  unwinds_.pop_back();
  top_ = target;
  assigned_ = after_body.all() ? after_body : after;
  --finally_depth_;
  bind(end);
}

void Compiler::try_except(TryStmt& s) {
  const uint32_t target = top_;
  const Assigned before = assigned_;
  check_block_depth(s.span, 2);
  push_protected(Unwind::Kind::Try);
  block(s.body);
  close_range(unwinds_.back());
  const Unwind kept = std::move(unwinds_.back());
  unwinds_.pop_back();
  block(s.else_body);
  Label end;
  if (reachable()) hidden_jump(end, s.span);
  Assigned joined = assigned_;

  unwinds_.push_back(kept);
  pop_protected(here(), target);
  take_temporary(s.span);  // the exception
  begin_handler(target, s.span, 2);
  if (s.groups) {
    assigned_ = before;
    group_clauses(s, target, end);
    joined &= before;
  } else {
    for (ExceptHandler& handler : s.handlers) {
      assigned_ = before;
      except_clause(handler, target, end);
      joined &= assigned_;
    }
    if (s.handlers.back().type != nullptr) {
      const Hidden hidden(*this);
      emit(Op::Reraise, target, 0, 0, s.handlers.back().span);
    }
  }
  unwinds_.pop_back();
  top_ = target;
  assigned_ = joined;
  bind(end);
}

void Compiler::except_clause(ExceptHandler& handler, uint32_t target, Label& end) {
  Label next;
  top_ = target + 1;
  note_blocks(true);
  if (handler.type != nullptr) {
    const uint32_t type = value(*handler.type);
    top_ = target + 1;
    const uint32_t matches = take_temporary(handler.span);
    emit(Op::Match, matches, target, type, handler.type->span);
    test(Op::JumpIf, matches, 0, false, next, handler.type->span);
    top_ = target + 1;
  }
  if (handler.name.empty()) block(handler.body);
  else named_body(handler, target);
  if (reachable()) {
    // What is being handled from here on is decided without this clause.
    const Unwind own = std::move(unwinds_.back());
    unwinds_.pop_back();
    end_handler(target, handler.span);
    unwinds_.push_back(own);
    hidden_jump(end, handler.span);
  }
  bind(next);
}

// except*: every clause gets the part of the exception that is its own. R[target + 1] is what none has taken yet,
// R[target + 2] the list of what clauses have raised; both go on together at the end.
void Compiler::group_clauses(TryStmt& s, uint32_t target, Label& end) {
  const Assigned before = assigned_;
  const uint32_t rest = take_temporary(s.span), raised = take_temporary(s.span);
  {
    const Hidden hidden(*this);
    emit(Op::Copy, rest, target, 0, s.span);
    emit(Op::BuildList, raised, raised, 0, s.span);
  }
  for (ExceptHandler& handler : s.handlers) {
    assigned_ = before;
    top_ = raised + 1;
    group_clause(handler, rest, raised);
  }
  assigned_ = before;
  top_ = raised + 1;
  const Hidden hidden(*this);
  emit(Op::ListAppend, raised, copy(rest, s.span), 0, s.span);
  top_ = raised + 1;
  const uint32_t first = copy(target, s.span);
  copy(raised, s.span);
  intrinsic(IntrinsicId::RaiseGroup, first, s.span);
  Label nothing;
  test(Op::JumpNone, copy(first, s.span), 0, true, nothing, s.span);
  emit(Op::Reraise, first, 0, 0, s.span);
  bind(nothing);
  clear_from(rest, 3, s.span);
  const Unwind own = std::move(unwinds_.back());
  unwinds_.pop_back();
  end_handler(target, s.span);
  unwinds_.push_back(own);
  hidden_jump(end, s.span);
}

void Compiler::group_clause(ExceptHandler& handler, uint32_t rest, uint32_t raised) {
  const Span span = handler.span;
  const uint32_t match = copy(rest, span);
  const uint32_t left = on_top(*handler.type);  // the classes, then what this clause leaves
  intrinsic(IntrinsicId::MatchGroup, match, handler.type->span);
  top_ = left + 1;
  emit(Op::Unpack, match, match, 2, span);
  emit(Op::Move, rest, left, 0, span);
  top_ = left;
  Label next, done;
  test(Op::JumpNone, copy(match, span), 0, true, next, span);
  top_ = left;
  emit(Op::EndHandler, left, match, 0, span);  // the part is what is being handled now
  begin_handler(match, span, 0);
  push_protected(Unwind::Kind::Try);
  unwinds_.back().blocks = 0;
  if (handler.name.empty()) block(handler.body);
  else named_body(handler, match);
  close_range(unwinds_.back());
  const Unwind kept = std::move(unwinds_.back());
  unwinds_.pop_back();
  if (reachable()) hidden_jump(done, span);
  unwinds_.push_back(kept);
  pop_protected(here(), left);
  top_ = left;
  take_temporary(span);  // what the clause has raised
  emit(Op::ListAppend, raised, left, 0, span);
  top_ = left;
  bind(done);
  unwinds_.pop_back();
  end_handler(match, span);
  bind(next);
}

// except E as name: the name is gone after the clause, however it ends.
void Compiler::named_body(ExceptHandler& handler, uint32_t target) {
  const Span span = handler.name.span;
  const uint32_t copied = copy(target, span);
  store_variable(handler.name.text, copied, span);
  top_ = copied;
  push_protected(Unwind::Kind::Named);
  unwinds_.back().blocks = 0;
  unwinds_.back().name = handler.name.text;
  block(handler.body);
  close_range(unwinds_.back());
  Unwind u = std::move(unwinds_.back());
  unwinds_.pop_back();
  const Assigned after = assigned_;
  Label end;
  if (reachable()) {
    leave_one(u, false, span);
    top_ = copied;
    hidden_jump(end, span);
  }
  unwinds_.push_back(u);
  pop_protected(here(), copied);
  take_temporary(span);
  begin_handler(copied, span);
  leave_one(u, false, span);
  const Hidden hidden(*this);
  emit(Op::Reraise, copied, 0, 0, span);
  unwinds_.pop_back();
  top_ = copied;
  assigned_ = after;
  bind(end);
}

// ---- with ------------------------------------------------------------------------------------------------------------

void Compiler::operator()(WithStmt& s) { with_items(s, 0); }

// __exit__(None, None, None), or __aexit__ and its await; R[exit] stays.
void Compiler::call_exit(uint32_t exit, bool is_async, Span span) {
  const uint32_t callee = copy(exit, span);
  for (int i = 0; i < 3; ++i) emit(Op::LoadNone, take_temporary(span), 0, 0, span);
  emit_call(callee, 3, callee, span);
  if (is_async) await_on_top(callee, IntrinsicId::AwaitableExit, span);
  clear_from(callee, 1, span);
  top_ = callee;
}

void Compiler::with_items(WithStmt& s, size_t index) {
  if (index == s.items.size()) return block(s.body);
  check_block_depth(s.span);
  WithItem& item = s.items[index];
  const Span span = s.span;  // the statement's, as CPython marks it
  const uint32_t exit = on_top(*item.context);
  emit(Op::WithSetup, exit, s.is_async ? 1 : 0, 0, span);
  const uint32_t target = take_temporary(span);
  emit_call(target, 0, target, span);
  if (s.is_async) await_on_top(target, IntrinsicId::AwaitableEnter, span);
  push_protected(Unwind::Kind::With);
  unwinds_.back().reg = exit;
  unwinds_.back().span = span;
  unwinds_.back().is_async = s.is_async;
  if (item.target != nullptr) store(*item.target, target);
  else clear_from(target, 1, span);
  top_ = target;
  const Assigned before = assigned_;
  with_items(s, index + 1);
  note_blocks(true);  // the call of __exit__ is at the statement's line
  close_range(unwinds_.back());
  const Unwind kept = std::move(unwinds_.back());
  unwinds_.pop_back();
  Label end;
  if (reachable()) {
    call_exit(exit, s.is_async, span);
    hidden_jump(end, span);
  }
  // The exception is in `target`; a true answer of __exit__ ends it.
  unwinds_.push_back(kept);
  pop_protected(here(), target);
  top_ = target + 1;
  begin_handler(target, span);
  const uint32_t callee = copy(exit, span);
  for (int i = 0; i < 3; ++i) take_temporary(span);
  emit(Op::ExitArguments, callee + 1, target, 0, span);
  emit_call(callee, 3, callee, span);
  if (s.is_async) {
    top_ = callee + 1;
    await_on_top(callee, IntrinsicId::AwaitableExit, span);
  }
  Label swallowed;
  test(Op::JumpIf, callee, 0, true, swallowed, span);
  emit(Op::Reraise, target, 0, 0, span);
  bind(swallowed);
  unwinds_.pop_back();
  end_handler(target, span);
  bind(end);
  clear_from(exit, 1, span);
  top_ = exit;
  assigned_ = before;
}

}  // namespace tessera::lang
