// Conditions: comparisons fused with the jump that they decide, `and`, `or` and `not` as jumps.
// compile: few-inlines (runs once for a program's text)
#include "lang/compiler/compiler.h"

namespace tessera::lang {

using namespace ast;

namespace {

constexpr int kNoOp = -1;

struct JumpForms {
  Op registers;
  int number;  // Op with a small number as right operand
  int constant;
  bool negated;  // the test answers the opposite
};

JumpForms forms_of(ast::CompareOp op) {
  using C = ast::CompareOp;
  auto form = [](Op r, Op i, Op k) { return JumpForms{r, static_cast<int>(i), static_cast<int>(k), false}; };
  switch (op) {
    case C::kLess: return form(Op::JumpLt, Op::JumpLtI, Op::JumpLtK);
    case C::kLessEqual: return form(Op::JumpLe, Op::JumpLeI, Op::JumpLeK);
    case C::kGreater: return form(Op::JumpGt, Op::JumpGtI, Op::JumpGtK);
    case C::kGreaterEqual: return form(Op::JumpGe, Op::JumpGeI, Op::JumpGeK);
    case C::kEqual: return form(Op::JumpEq, Op::JumpEqI, Op::JumpEqK);
    case C::kNotEqual: return form(Op::JumpNe, Op::JumpNeI, Op::JumpNeK);
    case C::kIs: return {Op::JumpIs, kNoOp, kNoOp, false};
    case C::kIsNot: return {Op::JumpIs, kNoOp, kNoOp, true};
    case C::kIn: return {Op::JumpIn, kNoOp, kNoOp, false};
    case C::kNotIn: return {Op::JumpIn, kNoOp, kNoOp, true};
  }
  __builtin_unreachable();
}

bool is_true(const Value& constant) {
  if (constant.is_none()) return false;
  if (constant.is_float()) return constant.as_float() != 0;
  return constant.as_int() != 0;
}

bool is_simple(const Value& constant) {
  return constant.is_none() || constant.is_bool() || constant.is_int() || constant.is_float();
}

}  // namespace

void Compiler::condition(Expr& e, bool when, Label& label) {
  if (top_ == statement_top_) note_blocks(true);
  if (auto* unary = try_as<Unary>(&e); unary != nullptr && unary->op == ast::UnaryOp::kNot) {
    return condition(*unary->operand, !when, label);
  }
  if (auto* logical = try_as<Logical>(&e)) {
    const bool decides = logical->op == LogicalOp::kOr;  // an operand of this truth ends the evaluation
    Label skip;
    Assigned after_first;
    for (size_t i = 0; i < logical->operands.size(); ++i) {
      const bool last = i + 1 == logical->operands.size();
      condition(*logical->operands[i], last ? when : decides, last || decides == when ? label : skip);
      if (i == 0) after_first = assigned_;
    }
    bind(skip);
    assigned_ = after_first;
    return;
  }
  if (auto* compare = try_as<Compare>(&e)) return compare_condition(*compare, when, label);
  if (auto* named = try_as<Walrus>(&e)) {
    if (const int reg = own_register(named->target.text); reg >= 0) {
      value(*named->value, reg);
      store_variable(named->target.text, static_cast<uint32_t>(reg), e.span);
      return test(Op::JumpIf, static_cast<uint32_t>(reg), 0, when, label, e.span);
    }
  }
  if (const Value constant = fold(e); is_simple(constant)) {
    if (is_true(constant) == when) jump(label, e.span);
    return;
  }
  const uint32_t mark = top_;
  const uint32_t reg = value(e);
  top_ = mark;
  test(Op::JumpIf, reg, 0, when, label, e.span);
}

void Compiler::compare_condition(Compare& e, bool when, Label& label) {
  const uint32_t mark = top_;
  uint32_t left = value(*e.first);
  Label skip;
  Assigned after_first;
  for (size_t i = 0; i < e.steps.size(); ++i) {
    CompareStep& step = e.steps[i];
    const bool last = i + 1 == e.steps.size();
    if (last) compare_jump(step.op, left, *step.right, when, label, e.span);
    else left = compare_link(step.op, left, *step.right, mark, when ? skip : label, e.span);
    if (i == 0) after_first = assigned_;
  }
  top_ = mark;
  bind(skip);
  if (e.steps.size() > 1) assigned_ = after_first;
}

// A comparison of a chain that is not its last: jumps to `fail` when it is false. The register of its right operand, which the next one
// compares: a local, which no operand of the chain can bind, or the temporary `mark`, which is the first that is free.
uint32_t Compiler::compare_link(ast::CompareOp op, uint32_t left, Expr& right, uint32_t mark, Label& fail, Span span) {
  const JumpForms forms = forms_of(op);
  const uint32_t before = top_, reg = value(right);
  if (!is_temporary(reg)) {
    test(forms.registers, left, reg, forms.negated, fail, span);
    top_ = mark;
    return reg;
  }
  // A test empties the temporaries that it reads: the operand waits below a copy.
  top_ = before;
  const uint32_t kept = take_temporary(span);
  if (kept != reg) move(kept, reg, span);
  Label more;
  test(forms.registers, left, copy(kept, span), !forms.negated, more, span);
  clear_from(kept, 1, span);
  jump(fail, span);
  bind(more);
  if (kept != mark) move(mark, kept, span);
  top_ = mark + 1;
  return mark;
}

void Compiler::compare_jump(ast::CompareOp op, uint32_t left, Expr& right, bool when, Label& label, Span span) {
  const JumpForms forms = forms_of(op);
  const bool answer = when != forms.negated;
  const Value constant = fold(right);
  if (constant.is_none() && forms.registers == Op::JumpIs) {
    return test(Op::JumpNone, left, 0, answer, label, span);
  }
  if (forms.number != kNoOp && fits_operand(constant)) {
    return test(static_cast<Op>(forms.number), left, static_cast<uint16_t>(constant.as_int()), answer, label, span);
  }
  if (forms.constant != kNoOp && !constant.is_undefined()) {
    if (const uint32_t k = Emitter::constant(constant); k < kMostConstants) {
      return test(static_cast<Op>(forms.constant), left, k, answer, label, span);
    }
  }
  const uint32_t mark = top_;
  const uint32_t reg = forms.registers == Op::JumpIn ? only_read(right, kAnywhere) : value(right);
  top_ = mark;
  test(forms.registers, left, reg, answer, label, span);
}

uint32_t Compiler::copy(uint32_t reg, Span span) {
  const uint32_t to = take_temporary(span);
  emit(Op::Copy, to, reg, 0, span);
  return to;
}

void Compiler::compare_step(ast::CompareOp op, uint32_t to, uint32_t left, uint32_t right, Span span) {
  using C = ast::CompareOp;
  switch (op) {
    case C::kLess: return emit(Op::Lt, to, left, right, span);
    case C::kLessEqual: return emit(Op::Le, to, left, right, span);
    case C::kGreater: return emit(Op::Gt, to, left, right, span);
    case C::kGreaterEqual: return emit(Op::Ge, to, left, right, span);
    case C::kEqual: return emit(Op::Eq, to, left, right, span);
    case C::kNotEqual: return emit(Op::Ne, to, left, right, span);
    case C::kIs: return emit(Op::Is, to, left, right, span);
    case C::kIn: return emit(Op::Contains, to, left, right, span);
    case C::kIsNot: emit(Op::Is, to, left, right, span); return emit(Op::Not, to, to, 0, span);
    case C::kNotIn: emit(Op::Contains, to, left, right, span); return emit(Op::Not, to, to, 0, span);
  }
}

// A comparison as a value. In a chain each answer but the last ends it when it is false.
uint32_t Compiler::comparison(Compare& e, int want) {
  const uint32_t mark = top_;
  if (e.steps.size() == 1) {
    const ast::CompareOp op = e.steps[0].op;
    const bool contains = op == ast::CompareOp::kIn || op == ast::CompareOp::kNotIn;
    const uint32_t left = value(*e.first);
    const uint32_t right = contains ? only_read(*e.steps[0].right, kAnywhere) : value(*e.steps[0].right);
    top_ = mark;
    const uint32_t to = result(want, e.span);
    // `not in` writes twice: not into a local that may be read in between by nobody, so any register will do.
    compare_step(op, to, left, right, e.span);
    return to;
  }
  const uint32_t work = workplace(want, e.span);
  const uint32_t below = top_;
  uint32_t left = on_top(*e.first);
  Label end;
  Assigned after_first;
  for (size_t i = 0; i < e.steps.size(); ++i) {
    CompareStep& step = e.steps[i];
    const Span span = e.span;  // as in CPython the whole chain, whichever comparison of it fails
    if (i + 1 == e.steps.size()) {
      const uint32_t right = value(*step.right);
      compare_step(step.op, work, left, right, e.span);
      break;
    }
    const uint32_t kept = on_top(*step.right);
    const uint32_t copied = copy(kept, span);
    compare_step(step.op, work, left, copied, span);
    test(Op::JumpKeep, work, 0, false, end, span);
    move(below, kept, span);
    left = below;
    top_ = below + 1;
    if (i == 0) after_first = assigned_;
  }
  bind(end);
  clear_from(below + 1, 1, e.span);  // the middle operand, after which it was false
  assigned_ = after_first;
  return finish(work, want, mark, e.span);
}

// An operand of `op` that is not the last one: if its truth decides, it jumps to `end` with its value in `work`. In `(a and b) or c` a false
// `a` is no candidate for the value and goes to c directly, so that its truth is asked once, as in CPython.
void Compiler::deciding_operand(Expr& e, LogicalOp op, uint32_t work, Label& end) {
  const bool decides = op == LogicalOp::kOr;
  auto* inner = try_as<Logical>(&e);
  if (inner == nullptr || inner->op == op) {
    value(e, static_cast<int>(work));
    return test(Op::JumpKeep, work, 0, decides, end, e.span);
  }
  Label undecided;
  Assigned after_first;
  for (size_t i = 0; i < inner->operands.size(); ++i) {
    if (i + 1 < inner->operands.size()) condition(*inner->operands[i], !decides, undecided);
    else deciding_operand(*inner->operands[i], op, work, end);
    if (i == 0) after_first = assigned_;
  }
  bind(undecided);
  assigned_ = after_first;
}

uint32_t Compiler::logical(Logical& e, int want) {
  const uint32_t mark = top_;
  const uint32_t work = workplace(want, e.span);
  Label end;
  Assigned after_first;
  for (size_t i = 0; i < e.operands.size(); ++i) {
    if (i + 1 < e.operands.size()) deciding_operand(*e.operands[i], e.op, work, end);
    else value(*e.operands[i], static_cast<int>(work));
    if (i == 0) after_first = assigned_;
  }
  bind(end);
  assigned_ = after_first;
  return finish(work, want, mark, e.span);
}

uint32_t Compiler::conditional(Conditional& e, int want) {
  const uint32_t mark = top_;
  const uint32_t to = result(want, e.span);
  Label otherwise, end;
  condition(*e.condition, false, otherwise);
  const Assigned before = assigned_;
  value(*e.then_value, static_cast<int>(to));
  const Assigned after_then = assigned_;
  jump(end, e.span);
  bind(otherwise);
  assigned_ = before;
  value(*e.else_value, static_cast<int>(to));
  assigned_ &= after_then;
  bind(end);
  top_ = want >= 0 ? mark : mark + 1;
  return to;
}

}  // namespace tessera::lang
