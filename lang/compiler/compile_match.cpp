// match: patterns as tests that jump to the next case when they fail.
//
// The subject, and each part of it that a pattern looks at, stands in a temporary of its own; a look at it takes a copy,
// since temporaries die when they are read. Names are bound when the whole pattern has matched: until then each has a
// temporary below those of the tests, the same one in every alternative of an or-pattern.
// compile: small (match statements are few)
#include <algorithm>
#include <utility>

#include "lang/compiler/compiler.h"
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

using namespace ast;

void Compiler::operator()(MatchStmt& s) {
  const uint32_t subject = on_top(*s.subject);
  const uint32_t outer_leftovers = std::exchange(leftovers_end_, subject + 1);
  Unwind held{Unwind::Kind::Subject};
  held.reg = subject;
  held.blocks = 0;
  unwinds_.push_back(std::move(held));
  const Assigned before = assigned_;
  Label end;
  Assigned joined;
  joined.set();
  for (MatchCase& c : s.cases) match_case(c, subject, end, joined);
  joined &= assigned_;  // no case matched
  unwinds_.pop_back();
  bind(end);
  assigned_ = joined | before;
  clear_from(subject, leftovers_end_ - subject, s.subject->span);
  leftovers_end_ = outer_leftovers;
}

bool Compiler::is_wildcard(const Pattern& p) {
  const auto* capture = try_as<CapturePattern>(&p);
  return capture != nullptr && capture->pattern == nullptr && capture->name.empty();
}

void Compiler::match_case(MatchCase& c, uint32_t subject, Label& end, Assigned& joined) {
  Label fail;
  top_ = subject + 1;
  captures_.clear();
  collect_captures(*c.pattern);
  const Assigned before = assigned_;
  const uint32_t first = top_;
  place_captures();
  if (is_wildcard(*c.pattern)) mark_line(c.pattern->span);
  pattern(*c.pattern, subject, fail);
  const std::vector<Capture> captured = std::move(captures_);
  for (const Capture& capture : captured) bind_capture(capture);
  top_ = first;
  // A return in the body clears what is in use, which the parts that were looked at no longer are.
  if (leftovers_end_ > first) clear_from(first, leftovers_end_ - first, c.span);
  if (c.guard != nullptr) condition(*c.guard, false, fail);
  block(c.body);
  joined &= assigned_;
  if (reachable()) hidden_jump(end, c.span);
  bind(fail);
  clear_captures(captured, first, c.span);
  assigned_ = before;
}

void Compiler::collect_captures(Pattern& p) {
  auto add = [&](const Identifier& name) {
    if (name.empty()) return;
    for (const Capture& c : captures_) {
      if (c.name.data() == name.text.data()) return;
    }
    captures_.push_back({name.text, 0, false, name.span.end != 0 ? name.span : p.span});
  };
  switch (p.kind) {
    case PatternKind::kSequence:
      for (Pattern* e : as<SequencePattern>(p).elements) collect_captures(*e);
      return;
    case PatternKind::kStar: return add(as<StarPattern>(p).name);
    case PatternKind::kMapping:
      for (MappingPatternItem& item : as<MappingPattern>(p).items) collect_captures(*item.value);
      return add(as<MappingPattern>(p).rest);
    case PatternKind::kInstance:
      for (Pattern* e : as<InstancePattern>(p).arguments) collect_captures(*e);
      for (KeywordPattern& k : as<InstancePattern>(p).keywords) collect_captures(*k.value);
      return;
    case PatternKind::kCapture:
      if (as<CapturePattern>(p).pattern != nullptr) collect_captures(*as<CapturePattern>(p).pattern);
      return add(as<CapturePattern>(p).name);
    case PatternKind::kOr:
      for (Pattern* e : as<OrPattern>(p).alternatives) collect_captures(*e);
      return;
    default: return;
  }
}

// Each gets a register, or a far variable where there are too many of them.
void Compiler::place_captures() {
  for (Capture& capture : captures_) {
    capture.far = !has_room_for(1);
    if (!capture.far) {
      capture.place = take_temporary(capture.span);
      continue;
    }
    capture.place = static_cast<uint32_t>(code_->far_locals.size());
    code_->far_locals.push_back(intern(in_, ""));
  }
}

// The value in R[from], which stays unless it is the top temporary, is that of the name.
void Compiler::capture(std::string_view name, uint32_t from, Span span) {
  for (const Capture& c : captures_) {
    if (c.name.data() != name.data()) continue;
    if (!c.far) return emit(Op::Copy, c.place, from, 0, span);
    emit_word(Op::StoreFar, copy(from, span), 0, 0, c.place, span);
    --top_;
    return;
  }
  throw CompileError{{}, "internal error: a pattern's name was not collected"};
}

void Compiler::bind_capture(const Capture& captured) {
  if (!captured.far) return store_variable(captured.name, captured.place, captured.span);
  const uint32_t reg = take_temporary(captured.span);
  emit_x(Op::LoadFar, reg, Emitter::name(captured.name), captured.span);
  put(make_wide(Op::Nop, 0, captured.place), {captured.span});
  store_variable(captured.name, reg, captured.span);
  clear_from(reg, 1, captured.span);
  emit_word(Op::StoreFar, reg, 0, 0, captured.place, captured.span);
  --top_;
}

// The case has failed. R[first]: the first capture's.
void Compiler::clear_captures(const std::vector<Capture>& captured, uint32_t first, Span span) {
  uint32_t near = 0;
  for (const Capture& c : captured) {
    near += !c.far;
    if (!c.far) continue;
    clear_from(take_temporary(span), 1, span);
    emit_word(Op::StoreFar, --top_, 0, 0, c.place, span);
  }
  if (near > 0) clear_from(first, near, span);
}

// A part of the subject stands in R[reg] until the whole pattern has matched or failed.
void Compiler::leaves(uint32_t reg) { leftovers_end_ = std::max(leftovers_end_, reg + 1); }

// Falls through when the value in R[subject], which stays, matches.
void Compiler::pattern(Pattern& p, uint32_t subject, Label& fail) {
  const uint32_t mark = top_;
  switch (p.kind) {
    case PatternKind::kValue: value_pattern(as<ValuePattern>(p), subject, fail); break;
    case PatternKind::kSingleton: {
      const uint32_t looked = copy(subject, p.span);
      const auto& singleton = as<SingletonPattern>(p);
      if (singleton.value == ConstantValue::kNone) {
        test(Op::JumpNone, looked, 0, false, fail, p.span);
      } else {
        const uint32_t wanted = constant_value(Value::boolean(singleton.value == ConstantValue::kTrue), kOnTop, p.span);
        test(Op::JumpIs, looked, wanted, false, fail, p.span);
      }
      break;
    }
    case PatternKind::kSequence: sequence_pattern(as<SequencePattern>(p), subject, fail); break;
    case PatternKind::kStar: break;  // sequence_pattern's
    case PatternKind::kMapping: mapping_pattern(as<MappingPattern>(p), subject, fail); break;
    case PatternKind::kInstance: instance_pattern(as<InstancePattern>(p), subject, fail); break;
    case PatternKind::kCapture: {
      auto& capture = as<CapturePattern>(p);
      if (capture.pattern != nullptr) pattern(*capture.pattern, subject, fail);
      if (!capture.name.empty()) this->capture(capture.name.text, subject, p.span);
      break;
    }
    case PatternKind::kOr: or_pattern(as<OrPattern>(p), subject, fail); break;
  }
  top_ = mark;
}

void Compiler::value_pattern(ValuePattern& p, uint32_t subject, Label& fail) {
  const uint32_t looked = copy(subject, p.span);
  compare_jump(ast::CompareOp::kEqual, looked, *p.value, false, fail, p.span);
}

void Compiler::or_pattern(OrPattern& p, uint32_t subject, Label& fail) {
  Label matched;
  for (size_t i = 0; i < p.alternatives.size(); ++i) {
    if (i + 1 == p.alternatives.size()) {
      pattern(*p.alternatives[i], subject, fail);
      break;
    }
    Label next;
    pattern(*p.alternatives[i], subject, next);
    jump(matched, p.span);
    bind(next);
  }
  bind(matched);
}

// The item at a place of a sequence that has been found long enough.
void Compiler::item_pattern(Pattern& p, uint32_t sequence, int64_t index, Label& fail) {
  if (is_wildcard(p)) return;
  const uint32_t mark = top_;
  const uint32_t item = copy(sequence, p.span);
  if (index < 0) {  // from its end, as the sequence counts: it need not know negative indices
    const uint32_t at = take_temporary(p.span), less = constant_value(Value::integer(-index), kOnTop, p.span);
    emit(Op::Length, at, sequence, 0, p.span);
    emit(Op::Sub, at, at, less, p.span);
    emit(Op::GetItem, item, item, at, p.span);
  } else if (index <= INT16_MAX) {
    emit(Op::GetItemI, item, item, static_cast<uint16_t>(index), p.span);
  } else {
    const uint32_t at = constant_value(Value::integer(index), kOnTop, p.span);
    emit(Op::GetItem, item, item, at, p.span);
  }
  top_ = item + 1;
  leaves(item);
  pattern(p, item, fail);
  top_ = mark;
}

void Compiler::sequence_pattern(SequencePattern& p, uint32_t subject, Label& fail) {
  const auto count = static_cast<int64_t>(p.elements.size());
  int64_t star = -1;
  for (int64_t i = 0; i < count; ++i) {
    if (is<StarPattern>(*p.elements[static_cast<size_t>(i)])) star = i;
  }
  const uint32_t mark = top_;
  uint32_t reg = copy(subject, p.span);
  intrinsic(IntrinsicId::MatchSequence, reg, p.span);
  test(Op::JumpIf, reg, 0, false, fail, p.span);
  const int64_t least = star >= 0 ? count - 1 : count;
  if (least > 0 || star < 0) {
    top_ = mark;
    reg = take_temporary(p.span);
    emit(Op::Length, reg, subject, 0, p.span);
    const bool exact = star < 0;
    if (least <= INT16_MAX) {
      test(exact ? Op::JumpEqI : Op::JumpGeI, reg, static_cast<uint16_t>(least), false, fail, p.span);
    } else {
      const uint32_t wanted = constant_value(Value::integer(least), kOnTop, p.span);
      test(exact ? Op::JumpEq : Op::JumpGe, reg, wanted, false, fail, p.span);
    }
  }
  top_ = mark;
  for (int64_t i = 0; i < count; ++i) {
    Pattern& element = *p.elements[static_cast<size_t>(i)];
    if (i != star) {
      item_pattern(element, subject, star >= 0 && i > star ? i - count : i, fail);
      continue;
    }
    const Identifier& name = as<StarPattern>(element).name;
    if (name.empty()) continue;
    const uint32_t first = copy(subject, element.span);
    constant_value(Value::integer(star), kOnTop, element.span);
    constant_value(Value::integer(count - 1 - star), kOnTop, element.span);
    intrinsic(IntrinsicId::MatchSlice, first, element.span);
    capture(name.text, first, element.span);
    clear_from(first, 1, element.span);
    top_ = mark;
  }
}

void Compiler::mapping_pattern(MappingPattern& p, uint32_t subject, Label& fail) {
  const uint32_t mark = top_;
  const uint32_t reg = copy(subject, p.span);
  intrinsic(IntrinsicId::MatchMapping, reg, p.span);
  test(Op::JumpIf, reg, 0, false, fail, p.span);
  top_ = mark;
  const uint32_t keys = top_;
  std::vector<Expr*> wanted;
  const Value seen = make_dict(in_);
  for (MappingPatternItem& item : p.items) {
    wanted.push_back(item.key);
    const Value key = fold(*item.key);
    if (key.is_undefined()) continue;
    if (dict_get(in_, as_dict(seen), key) != nullptr)
      throw CompileError{p.span, "mapping pattern checks duplicate key (" + repr_text(in_, key) + ")"};
    dict_set(in_, as_dict(seen), key, Value::none());
  }
  if (has_room_for(wanted.size())) {
    take_temporary(p.span);
    for (Expr* key : wanted) on_top(*key);
    emit(Op::BuildTuple, keys, keys + 1, static_cast<uint32_t>(wanted.size()), p.span);
  } else {
    sequence(*wanted[0], ExprList(wanted), kOnTop);
    emit(Op::ListToTuple, keys, 0, 0, p.span);
  }
  top_ = keys + 1;
  leaves(keys);
  if (!p.items.empty()) {
    const uint32_t values = copy(subject, p.span);
    leaves(values);
    copy(keys, p.span);
    intrinsic(IntrinsicId::MatchKeys, values, p.span);
    const uint32_t looked = copy(values, p.span);
    test(Op::JumpNone, looked, 0, true, fail, p.span);
    top_ = values + 1;
    for (size_t i = 0; i < p.items.size(); ++i) item_pattern(*p.items[i].value, values, static_cast<int64_t>(i), fail);
    top_ = keys + 1;
  }
  if (!p.rest.empty()) {
    const uint32_t rest = copy(subject, p.span);
    copy(keys, p.span);
    intrinsic(IntrinsicId::MatchRest, rest, p.span);
    capture(p.rest.text, rest, p.span);
    clear_from(rest, 1, p.span);
  }
  top_ = mark;
}

void Compiler::instance_pattern(InstancePattern& p, uint32_t subject, Label& fail) {
  const uint32_t mark = top_;
  const uint32_t values = copy(subject, p.span);
  leaves(values);
  on_top(*p.type);
  constant_value(Value::integer(static_cast<int64_t>(p.arguments.size())), kOnTop, p.span);
  std::vector<Value> names;
  for (const KeywordPattern& k : p.keywords) names.emplace_back(static_cast<Object*>(name_text(k.name.text)));
  constant_value(make_tuple(in_, names.data(), names.size()), kOnTop, p.span);
  intrinsic(IntrinsicId::MatchClass, values, p.span);
  const uint32_t looked = copy(values, p.span);
  test(Op::JumpNone, looked, 0, true, fail, p.span);
  top_ = values + 1;
  int64_t at = 0;
  for (Pattern* argument : p.arguments) item_pattern(*argument, values, at++, fail);
  for (KeywordPattern& k : p.keywords) item_pattern(*k.value, values, at++, fail);
  top_ = mark;
}

}  // namespace tessera::lang
