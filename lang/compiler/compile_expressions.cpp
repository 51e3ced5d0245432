// Expressions: operators, displays, f-strings, attributes, subscripts, comprehensions.
// compile: few-inlines (runs once for a program's text)
#include "lang/compiler/compiler.h"
#include "lang/core/interpreter.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

using namespace ast;

namespace {

// Displays are built from this many registers at once; what is longer is appended to.
constexpr size_t kMostAtOnce = 32;
// From here on a list of constants is cheaper as one constant tuple that is copied.
constexpr size_t kLeastFolded = 4;
constexpr size_t kLeastFoldedSet = 3;  // as CPython, where it shows in the order of the elements

struct BinaryForms {
  Op registers;
  int constant_right;
  int constant_left;
};

BinaryForms forms_of(ast::BinaryOp op) {
  using B = ast::BinaryOp;
  auto i = [](Op o) { return static_cast<int>(o); };
  switch (op) {
    case B::kAdd: return {Op::Add, i(Op::AddK), i(Op::KAdd)};
    case B::kSubtract: return {Op::Sub, i(Op::SubK), i(Op::KSub)};
    case B::kMultiply: return {Op::Mul, i(Op::MulK), i(Op::KMul)};
    case B::kDivide: return {Op::TrueDiv, i(Op::TrueDivK), i(Op::KTrueDiv)};
    case B::kFloorDivide: return {Op::FloorDiv, i(Op::FloorDivK), -1};
    case B::kModulo: return {Op::Mod, i(Op::ModK), -1};
    case B::kPower: return {Op::Pow, i(Op::PowK), -1};
    case B::kMatMultiply: return {Op::MatMul, -1, -1};
    case B::kShiftLeft: return {Op::LShift, -1, -1};
    case B::kShiftRight: return {Op::RShift, -1, -1};
    case B::kBitAnd: return {Op::And, -1, -1};
    case B::kBitOr: return {Op::Or, -1, -1};
    case B::kBitXor: return {Op::Xor, -1, -1};
  }
  __builtin_unreachable();
}

bool has_star(ExprList elements) {
  for (const Expr* e : elements) {
    if (is<Starred>(*e)) return true;
  }
  return false;
}

}  // namespace

uint32_t Compiler::value(Expr& e, int want) {
  switch (e.kind) {
    case ExprKind::kConstant:
    case ExprKind::kIntLiteral:
    case ExprKind::kFloatLiteral:
    case ExprKind::kStringLiteral:
    case ExprKind::kBytesLiteral:
    case ExprKind::kImaginaryLiteral: return constant_value(fold(e), want, e.span);
    case ExprKind::kBigIntLiteral: return big_int(as<BigIntLiteral>(e), want);
    case ExprKind::kFString: return fstring(as<FString>(e), want);
    case ExprKind::kName: return name_value(as<Name>(e).name, e.span, want);
    case ExprKind::kTuple: return tuple_display(e, as<ast::Tuple>(e).elements, want);
    case ExprKind::kList: return sequence(e, as<ast::List>(e).elements, want);
    case ExprKind::kSet: return sequence(e, as<ast::Set>(e).elements, want);
    case ExprKind::kDict: return dict_display(as<ast::Dict>(e), want);
    case ExprKind::kStarred: throw CompileError{e.span, "can't use starred expression here"};
    case ExprKind::kUnary: return unary(as<Unary>(e), want);
    case ExprKind::kBinary: return binary(as<Binary>(e), want);
    case ExprKind::kLogical: return logical(as<Logical>(e), want);
    case ExprKind::kCompare: return comparison(as<Compare>(e), want);
    case ExprKind::kConditional: return conditional(as<Conditional>(e), want);
    case ExprKind::kLambda: return lambda(as<Lambda>(e), want);
    case ExprKind::kWalrus: return walrus(as<Walrus>(e), want);
    case ExprKind::kAttribute: return attribute(as<Attribute>(e), want);
    case ExprKind::kSubscript: return subscript(as<Subscript>(e), want);
    case ExprKind::kSlice: return slice(as<ast::Slice>(e), want);
    case ExprKind::kCall: return call(as<ast::Call>(e), want);
    case ExprKind::kComprehension: return comprehension(as<Comprehension>(e), want);
    case ExprKind::kYield: return yield(as<Yield>(e), want);
    case ExprKind::kYieldFrom: return yield_from(as<YieldFrom>(e), want);
    case ExprKind::kAwait: return await(as<Await>(e), want);
  }
  __builtin_unreachable();
}

uint32_t Compiler::big_int(const BigIntLiteral& e, int want) {
  try {
    return constant_value(big_int_literal(in_, e), want, e.span);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::ValueError) throw;
    throw CompileError{e.span, error.message +
                                   " - Consider hexadecimal for huge integer literals to avoid decimal conversion limits."};
  }
}

uint32_t Compiler::constant_value(const Value& v, int want, Span span) {
  const uint32_t to = result(want, span);
  load_constant(to, v, span);
  return to;
}

// ---- f-strings -------------------------------------------------------------------------------------------------------

void Compiler::fstring_part(const FStringPart& part, Span whole, bool joined) {
  if (part.value == nullptr) {
    constant_value(make_str(in_, part.text), kOnTop, whole);
    return;
  }
  const uint32_t mark = top_;
  const uint32_t reg = on_top(*part.value);
  if (part.format != nullptr) {
    part.format->span = whole;
    fstring(*part.format, kOnTop);
  }
  top_ = mark + 1;
  const bool as_it_is = joined && part.format == nullptr && part.conversion == 0;
  emit(Op::FormatValue, reg, as_it_is ? uint8_t{'j'} : static_cast<uint8_t>(part.conversion), part.format != nullptr,
       part.value->span);
}

uint32_t Compiler::fstring(FString& e, int want) {
  if (e.parts.empty()) return constant_value(make_str(in_, ""), want, e.span);
  if (e.parts.size() == 1 && e.parts[0].value == nullptr)
    return constant_value(make_str(in_, e.parts[0].text), want, e.span);
  const uint32_t mark = top_;
  size_t waiting = 0;
  for (const FStringPart& part : e.parts) {
    if (waiting == kMostAtOnce) {
      emit(Op::BuildString, mark, mark, kMostAtOnce, e.span);
      top_ = mark + 1;
      waiting = 1;
    }
    fstring_part(part, e.span, e.parts.size() > 1);
    ++waiting;
  }
  top_ = mark;
  const uint32_t to = result(want, e.span);
  if (waiting > 1) emit(Op::BuildString, to, mark, static_cast<uint32_t>(waiting), e.span);
  else if (to != mark) move(to, mark, e.span);
  return to;
}

// ---- Displays --------------------------------------------------------------------------------------------------------

bool Compiler::can_fold_list(ExprList elements, std::vector<Value>& values, size_t least) {
  if (elements.size() < least) return false;
  for (const Expr* e : elements) {
    if (least == kLeastFolded && is<ast::Tuple>(*e)) return false;  // would fold it at each level again
    Value v = fold(*e);
    if (v.is_undefined()) return false;
    values.push_back(std::move(v));
  }
  return true;
}

// The value of an expression whose object is only read: the right operand of `in`, the iterable of a for loop. A list or set display of
// constants becomes a tuple or frozenset among the code's constants there, as in CPython.
uint32_t Compiler::only_read(Expr& e, int want) {
  const auto* list = try_as<ast::List>(&e);
  const auto* set = try_as<ast::Set>(&e);
  std::vector<Value> values;
  if ((list == nullptr && set == nullptr) || !can_fold_list(list != nullptr ? list->elements : set->elements, values, 0)) return value(e, want);
  const Value constant = make_tuple(in_, values.data(), values.size());
  return constant_value(list != nullptr ? constant : set_from(in_, constant, true), want, e.span);
}

// A list or set display; also what a tuple with stars or many elements begins as.
uint32_t Compiler::sequence(Expr& e, ExprList elements, int want) {
  const bool set = is<ast::Set>(e);
  const Op build = set ? Op::BuildSet : Op::BuildList;
  const uint32_t mark = top_;
  if (std::vector<Value> values; can_fold_list(elements, values, set ? kLeastFoldedSet : kLeastFolded)) {
    const uint32_t work = workplace(want, e.span);
    emit(build, work, work, 0, e.span);
    Value constant = make_tuple(in_, values.data(), values.size());
    // CPython makes a frozenset of the constants, copies it element by element, and adds that to an empty set: three
    // steps that show in the order of the elements.
    if (set) constant = set_from(in_, list_from(in_, set_from(in_, constant, true)), true);
    constant_value(constant, kOnTop, e.span);
    emit(set ? Op::SetUpdate : Op::ListExtend, work, top_ - 1, 0, e.span);
    return finish(work, want, mark, e.span);
  }
  if (elements.size() <= kMostAtOnce && has_room_for(elements.size()) && !has_star(elements)) {
    for (Expr* element : elements) on_top(*element);
    top_ = mark;
    const uint32_t to = result(want, e.span);
    emit(build, to, mark, static_cast<uint32_t>(elements.size()), e.span);
    return to;
  }
  const uint32_t work = workplace(want, e.span);
  emit(build, work, work, 0, e.span);
  const uint32_t above = top_;
  for (Expr* element : elements) {
    auto* star = try_as<Starred>(element);
    const uint32_t reg = value(star != nullptr ? *star->value : *element);
    if (star != nullptr) emit(set ? Op::SetUpdate : Op::ListExtend, work, reg, 0, e.span);
    else emit(set ? Op::SetAdd : Op::ListAppend, work, reg, 0, element->span);
    top_ = above;
  }
  return finish(work, want, mark, e.span);
}

uint32_t Compiler::tuple_display(Expr& e, ExprList elements, int want) {
  if (const Value constant = fold(e); !constant.is_undefined()) return constant_value(constant, want, e.span);
  const uint32_t mark = top_;
  if (elements.size() <= kMostAtOnce && has_room_for(elements.size()) && !has_star(elements)) {
    for (Expr* element : elements) on_top(*element);
    top_ = mark;
    const uint32_t to = result(want, e.span);
    emit(Op::BuildTuple, to, mark, static_cast<uint32_t>(elements.size()), e.span);
    return to;
  }
  const uint32_t list = sequence(e, elements, kOnTop);
  emit(Op::ListToTuple, list, 0, 0, e.span);
  return finish(list, want, mark, e.span);
}

uint32_t Compiler::dict_display(ast::Dict& e, int want) {
  const uint32_t mark = top_;
  bool plain = e.items.size() <= kMostAtOnce / 2 && has_room_for(2 * e.items.size());
  for (const DictItem& item : e.items) plain = plain && item.key != nullptr;
  if (plain) {
    for (DictItem& item : e.items) {
      on_top(*item.key);
      on_top(*item.value);
    }
    top_ = mark;
    const uint32_t to = result(want, e.span);
    emit(Op::BuildDict, to, mark, static_cast<uint32_t>(e.items.size()), e.span);
    return to;
  }
  const uint32_t work = workplace(want, e.span);
  emit(Op::BuildDict, work, work, 0, e.span);
  const uint32_t above = top_;
  for (DictItem& item : e.items) {
    if (item.key == nullptr) {
      emit(Op::DictUpdate, work, value(*item.value), 0, e.span);
    } else {
      const uint32_t key = value(*item.key);
      emit(Op::DictSet, work, key, value(*item.value), e.span);
    }
    top_ = above;
  }
  return finish(work, want, mark, e.span);
}

// ---- Operators -------------------------------------------------------------------------------------------------------

uint32_t Compiler::unary(Unary& e, int want) {
  if (const Value constant = fold(e); !constant.is_undefined()) return constant_value(constant, want, e.span);
  const uint32_t mark = top_;
  const uint32_t operand = value(*e.operand);
  top_ = mark;
  const uint32_t to = result(want, e.span);
  const Op ops[] = {Op::Neg, Op::Pos, Op::Invert, Op::Not};
  emit(ops[static_cast<int>(e.op)], to, operand, 0, e.span);
  return to;
}

Place Compiler::place_of_step(const Binary& e, const BinaryStep& step) { return {e.step_span(step)}; }

uint32_t Compiler::binary(Binary& e, int want) {
  if (const Value constant = fold(e); !constant.is_undefined()) return constant_value(constant, want, e.span);
  const uint32_t mark = top_;
  Value constant = fold(*e.first);
  uint32_t left = constant.is_undefined() ? value(*e.first) : 0;
  for (size_t i = 0; i < e.steps.size(); ++i) {
    const int to = i + 1 == e.steps.size() ? want : kOnTop;
    left = binary_step(e.steps[i].op, left, constant, *e.steps[i].right, mark, to, place_of_step(e, e.steps[i]));
    constant = Value();
  }
  return left;
}

// left op right, where `left_constant`, when it is defined, stands for the register `left`. Temporaries from `mark` on
// belong to the operands.
uint32_t Compiler::binary_step(ast::BinaryOp op, uint32_t left, const Value& left_constant, Expr& right, uint32_t mark,
                               int want, const Place& place) {
  const BinaryForms forms = forms_of(op);
  if (left_constant.is_undefined()) {
    const Value constant = fold(right);
    if (fits_operand(constant) && (forms.registers == Op::Add || forms.registers == Op::Sub)) {
      top_ = mark;
      const uint32_t to = result(want, place.span);
      emit(forms.registers == Op::Add ? Op::AddI : Op::SubI, to, left, static_cast<uint16_t>(constant.as_int()), place);
      return to;
    }
    if (!constant.is_undefined() && forms.constant_right >= 0) {
      if (const uint32_t k = Emitter::constant(constant); k < kMostConstants) {
        top_ = mark;
        const uint32_t to = result(want, place.span);
        emit(static_cast<Op>(forms.constant_right), to, left, k, place);
        return to;
      }
    }
  } else {
    const uint32_t k = forms.constant_left >= 0 ? Emitter::constant(left_constant) : UINT32_MAX;
    if (k < kMostConstants) {
      const uint32_t reg = value(right);
      top_ = mark;
      const uint32_t to = result(want, place.span);
      emit(static_cast<Op>(forms.constant_left), to, k, reg, place);
      return to;
    }
    left = constant_value(left_constant, kOnTop, place.span);
  }
  const uint32_t reg = value(right);
  top_ = mark;
  const uint32_t to = result(want, place.span);
  emit(forms.registers, to, left, reg, place);
  return to;
}

uint32_t Compiler::walrus(Walrus& e, int want) {
  const uint32_t mark = top_;
  const uint32_t reg = value(*e.value, want == kAnywhere ? kOnTop : want);
  const uint32_t kept = is_temporary(reg) ? copy(reg, e.span) : reg;
  store_variable(e.target.text, kept, e.span);
  top_ = want >= 0 ? mark : mark + 1;
  return reg;
}

// ---- Attributes and subscripts ---------------------------------------------------------------------------------------

// The source position of an instruction that reads, writes or calls an attribute: the attribute's name, as in CPython, if the name is
// on another line than the beginning of the object; else the whole expression.
Span Compiler::span_from_name(Span span, const Attribute& e) {
  const uint32_t name = e.name.span.begin;
  if (name <= span.begin || unit_.source->text({span.begin, name}).find('\n') == std::string_view::npos) return span;
  return {name, span.end};
}

uint32_t Compiler::attribute(Attribute& e, int want) {
  const uint32_t mark = top_;
  const uint32_t object = value(*e.object);
  top_ = mark;
  const uint32_t to = result(want, e.span);
  emit_name(Op::GetAttr, to, object, 0, mangled(e.name.text), {span_from_name(e.span, e)});
  return to;
}

uint32_t Compiler::subscript(Subscript& e, int want) {
  const uint32_t mark = top_;
  const uint32_t object = value(*e.object);
  if (auto* slice = try_as<ast::Slice>(e.index); slice != nullptr && slice->step == nullptr) {
    const uint32_t bounds = slice_bounds(*slice);
    top_ = mark;
    const uint32_t to = result(want, e.span);
    emit(Op::GetSlice, to, object, bounds, e.span);
    return to;
  }
  const Value constant = is<ast::Tuple>(*e.index) ? Value() : fold(*e.index);
  if (fits_operand(constant)) {
    top_ = mark;
    const uint32_t to = result(want, e.span);
    emit(Op::GetItemI, to, object, static_cast<uint16_t>(constant.as_int()), e.span);
    return to;
  }
  if (!constant.is_undefined()) {
    if (const uint32_t k = Emitter::constant(constant); k < kMostConstants) {
      top_ = mark;
      const uint32_t to = result(want, e.span);
      emit(Op::GetItemK, to, object, k, e.span);
      return to;
    }
  }
  const uint32_t index = value(*e.index);
  top_ = mark;
  const uint32_t to = result(want, e.span);
  emit(Op::GetItem, to, object, index, e.span);
  return to;
}

// In two registers on top.
uint32_t Compiler::slice_bounds(ast::Slice& e) {
  const uint32_t first = top_;
  for (Expr* bound : {e.lower, e.upper}) {
    if (bound != nullptr) on_top(*bound);
    else emit(Op::LoadNone, take_temporary(e.span), 0, 0, e.span);
  }
  return first;
}

uint32_t Compiler::slice(ast::Slice& e, int want) {
  const uint32_t mark = slice_bounds(e);
  if (e.step != nullptr) on_top(*e.step);
  emit(Op::BuildSlice, mark, e.step != nullptr ? 3 : 2, 0, e.span);
  return finish(mark, want, mark, e.span);
}

// ---- Functions and generators ----------------------------------------------------------------------------------------

uint32_t Compiler::yield(Yield& e, int want) {
  const uint32_t mark = top_;
  uint32_t from;
  if (e.value != nullptr) {
    from = value(*e.value);
  } else {
    from = take_temporary(e.span);
    emit(Op::LoadNone, from, 0, 0, e.span);
  }
  top_ = mark;
  const uint32_t to = result(want, e.span);
  emit(Op::Yield, to, from, 0, e.span);
  return to;
}

uint32_t Compiler::yield_from(YieldFrom& e, int want) {
  const uint32_t mark = top_;
  const uint32_t iterator = on_top(*e.value);
  intrinsic(IntrinsicId::DelegateIter, iterator, e.span);
  top_ = mark;
  const uint32_t to = result(want, e.span);
  delegate(iterator, to, e.span);
  return to;
}

uint32_t Compiler::await(Await& e, int want) {
  const uint32_t mark = top_;
  const uint32_t iterator = on_top(*e.value);
  intrinsic(IntrinsicId::Awaitable, iterator, e.span);
  top_ = mark;
  const uint32_t to = result(want, e.span);
  delegate(iterator, to, e.span);
  return to;
}

void Compiler::delegate(uint32_t iterator, uint32_t to, Span span) {
  const uint32_t above = top_;
  top_ = iterator;
  take_temporary(span);
  emit(Op::LoadNone, take_temporary(span), 0, 0, span);
  emit(Op::YieldFrom, iterator, to, 0, span);
  top_ = above;
}

// R[reg], the top temporary, becomes the result of awaiting it.
void Compiler::await_on_top(uint32_t reg, IntrinsicId awaitable, Span span) {
  intrinsic(awaitable, reg, span);
  top_ = reg + 1;
  delegate(reg, reg, span);
}

uint32_t Compiler::lambda(Lambda& e, int want) {
  Compiler inner(unit_, scope_of(e.mark), this, "<lambda>", e.span);
  const Value code = inner.compile_lambda(e);
  const uint32_t mark = top_;
  const uint32_t reg = take_temporary(e.span);
  make_function(e.parameters, nullptr, code, reg, e.span, false);
  return finish(reg, want, mark, e.span);
}

uint32_t Compiler::generator_expression(Comprehension& e, int want) {
  Compiler inner(unit_, scope_of(e.mark), this, "<genexpr>", e.span);
  const Value code = inner.compile_generator(e);
  const uint32_t mark = top_;
  const uint32_t reg = take_temporary(e.span);
  make_function({}, nullptr, code, reg, e.span, false);
  Expr& iterable = *e.clauses[0].iterable;
  const uint32_t argument = on_top(iterable);
  const IntrinsicId iter = e.clauses[0].is_async ? IntrinsicId::AsyncIter : IntrinsicId::Iter;
  emit(Op::Intrinsic, argument, argument, static_cast<uint32_t>(iter), e.span);
  top_ = mark;
  const uint32_t to = result(want, e.span);
  emit_call(reg, 1, to, e.span);
  return to;
}

// ---- Comprehensions --------------------------------------------------------------------------------------------------

uint32_t Compiler::comprehension(Comprehension& e, int want) {
  using K = ComprehensionKind;
  if (e.result == K::kGenerator) return generator_expression(e, want);
  const uint32_t mark = top_;
  const uint32_t work = workplace(want, e.span);
  const uint32_t state = top_;
  if (e.clauses[0].is_async) async_iterate(*e.clauses[0].iterable, state, e.clauses[0].iterable->span);
  else iterate(*e.clauses[0].iterable, state, e.span);  // CPython reports a value that is not iterable at the whole comprehension
  const Op op = e.result == K::kList ? Op::BuildList : e.result == K::kSet ? Op::BuildSet : Op::BuildDict;
  const bool of_each = e.result != K::kSet && e.clauses.size() == 1 && e.clauses[0].conditions.empty() && !e.clauses[0].is_async;
  put(make_word(op, work, of_each ? state : work, 0, of_each ? 1 : 0), {e.span});
  Scope* outer = scope_;
  scope_ = &scope_of(e.mark);
  const uint32_t first = scope_->first_register, count = scope_->comprehension_registers;
  for (uint32_t r = first; r < first + count; ++r) assigned_.reset(r);
  for (const Symbol& s : scope_->symbols) {
    if (s.kind == VariableKind::FarCell && s.bound) {
      clear_from(take_temporary(e.span), 1, e.span);
      emit_word(Op::StoreFar, --top_, 0, 0, s.index, e.span);
    }
    make_cell_of(s, e.span);
  }
  const uint32_t begin = here();
  comprehension_loops(e, 0, state, work);
  const char* const name = e.result == K::kList ? "<listcomp>" : e.result == K::kSet ? "<setcomp>" : "<dictcomp>";
  code()->comprehensions.push_back({begin, here(), e.span, name});
  if (count > 0) clear_from(first, count, e.span);
  scope_ = outer;
  return finish(work, want, mark, e.span);
}

void Compiler::comprehension_loops(Comprehension& e, size_t clause_index, uint32_t state, uint32_t target) {
  using K = ComprehensionKind;
  ForClause& clause = e.clauses[clause_index];
  Label body, next;
  const int direct = loop_target(*clause.target);
  const uint32_t item = direct >= 0 ? static_cast<uint32_t>(direct) : take_temporary(e.span);
  const Assigned before = assigned_;
  if (clause.is_async) {
    bind(next);
    async_next(state, item, body, clause.iterable->span);
  } else {
    jump(next, clause.iterable->span);
    bind(body);
  }
  if (direct >= 0) assigned_.set(item);
  else store(*clause.target, item);
  const uint32_t mark = direct >= 0 ? top_ : item;
  top_ = mark;
  for (Expr* c : clause.conditions) condition(*c, false, next);
  if (clause_index + 1 < e.clauses.size()) {
    const uint32_t inner_state = top_;
    ForClause& inner = e.clauses[clause_index + 1];
    if (inner.is_async) async_iterate(*inner.iterable, inner_state, inner.iterable->span);
    else iterate(*inner.iterable, inner_state, e.span);
    comprehension_loops(e, clause_index + 1, inner_state, target);
  } else if (e.result == K::kGenerator) {
    const uint32_t reg = value(*e.element);
    emit(Op::Yield, is_temporary(reg) ? reg : take_temporary(e.span), reg, 0, e.element->span);
  } else if (e.result == K::kDict) {
    const uint32_t key = value(*e.element);
    emit(Op::DictSet, target, key, value(*e.value), e.span);
  } else {
    emit(e.result == K::kSet ? Op::SetAdd : Op::ListAppend, target, value(*e.element), 0, e.element->span);
  }
  top_ = mark;
  if (clause.is_async) {
    jump(next, clause.iterable->span);
    bind(body);  // the end
  } else {
    bind(next);
    branch(Op::ForNext, state, item, body, clause.iterable->span);
  }
  assigned_ = before;
}

// The register that a loop may write its items to directly, or -1.
int Compiler::loop_target(Expr& target) {
  const auto* name = try_as<Name>(&target);
  return name == nullptr ? -1 : own_register(name->name);
}

// Leaves the state of an iteration in three temporaries from `state` == top_ on.
void Compiler::iterate(Expr& iterable, uint32_t state, Span span) {
  auto* call = try_as<ast::Call>(&iterable);
  auto* callee = call == nullptr ? nullptr : try_as<Name>(call->callee);
  const bool direct = callee != nullptr && call->keywords.empty() && !has_star(call->arguments) &&
                      call->arguments.size() <= 3 && callee->name == "range";
  if (direct) {
    on_top(*callee);
    for (Expr* argument : call->arguments) on_top(*argument);
    emit(Op::ForPrepareCall, state, static_cast<uint32_t>(call->arguments.size()), 0, iterable.span);
  } else {
    only_read(iterable, kOnTop);
    emit(Op::ForPrepare, state, 0, 0, span);
  }
  top_ = state;
  for (int i = 0; i < 3; ++i) take_temporary(iterable.span);
}

}  // namespace tessera::lang
