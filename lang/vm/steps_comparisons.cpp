// The steps of comparisons and of `in`, whose answer is a value or decides a jump; and what becomes of the answers of special methods
// that were entered as frames.
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/objects/class_slots.h"
#include "lang/types/number.h"
#include "lang/vm/operands.h"
#include "lang/vm/special.h"
#include "lang/vm/steps.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

// Enters the method that is asked first. Returns false where none can be entered: `answer` is the result, or a failure.
bool compare_or_enter(Interpreter& in, CompareOp op, const Value& left, const Value& right, Value& answer) {
  if (!is_of_script(left) && !is_of_script(right)) {
    const auto slot = are_of_one_native_type(left, right) ? left.as_object()->type->slots.compare : nullptr;
    answer = slot != nullptr ? slot(in, op, left, right) : in.not_implemented;
    if (answer.is(in.not_implemented)) answer = compare_answer(in, op, left, right);
    return false;
  }
  SpecialCall call;
  if (are_of_one_class(left, right)) {
    const Type* const type = left.as_object()->type;
    call = {.function = special_function(in, type, slot_of(op)), .self = &left, .other = &right, .turn = Turn::Left};
    if (call.function == nullptr && op == CompareOp::Ne) {
      call.inverted = true;
      call.function = special_function(in, type, SpecialSlot::EqForNe);
    }
  } else {
    first_compare(in, op, left, right, call);
  }
  if (call.function != nullptr) return enter_operator(in, call, answer);
  answer = compare_answer(in, op, left, right);
  return false;
}

bool compare_to_value(Interpreter& in, Frame* frame, Word w, CompareOp op) {
  const uint32_t a = a_of(w), b = b_of(w), c = c_of(w);
  Value* const registers = frame->registers;
  Value answer;
  if (compare_or_enter(in, op, registers[b], registers[c], answer) || raise_failure(in, answer)) return true;
  drop_operands(frame, a, b, c);
  registers[a] = std::move(answer);
  return false;
}

// A comparison's operator and operands. Of a jump the register `c` is that of no operand.
struct Comparison {
  CompareOp op;
  bool jumps;
  Pair operands;
};

bool is_comparison(Op op) { return (op >= Op::Lt && op <= Op::Ge) || (op >= Op::JumpLt && op <= Op::JumpGeK); }

Comparison comparison_of(const Frame* frame, Word w, const Value& number) {
  constexpr int kOperators = static_cast<int>(CompareOp::Ge) + 1;
  const Value* const registers = frame->registers;
  const Op op = op_of(w);
  const auto from = [&](Op first) { return static_cast<CompareOp>((static_cast<int>(op) - static_cast<int>(first)) % kOperators); };
  const uint32_t a = a_of(w), b = b_of(w);
  if (op <= Op::Ge) return {from(Op::Lt), false, {registers[b], registers[c_of(w)], b, c_of(w)}};
  if (op < Op::JumpLtI) return {from(Op::JumpLt), true, {registers[a], registers[b], a, b}};
  const Value& right = op < Op::JumpLtK ? number : frame->code->constants[b];
  return {from(Op::JumpLt), true, {registers[a], right, a, kNoRegister}};
}

void jump_if(Frame* frame, Word w, bool condition) {
  if (condition == (w.d != 0)) frame->pc += offset_of(*frame->code, frame->pc);
}

// Finishes the comparison whose first method has answered.
[[gnu::noinline]] void finish_comparison_step(Interpreter& in, Frame* frame, Word w, uint32_t turn, Value& answer) {
  const Value number = Value::integer(sb_of(w));
  const Comparison comparison = comparison_of(frame, w, number);
  const Pair& pair = comparison.operands;
  if (answer.is(in.not_implemented)) answer = compare_after_first(in, comparison.op, pair.left, pair.right);
  else if (turn & kInverted) answer = Value::boolean(!truth(in, answer));
  if (!comparison.jumps) {
    drop_operands(frame, a_of(w), pair.b, pair.c);
    frame->registers[a_of(w)] = std::move(answer);
    return;
  }
  const bool holds = answer.is_bool() ? answer.as_bool() : truth(in, answer);
  drop_operands(frame, kNoRegister, pair.b, pair.c);
  jump_if(frame, w, holds);
}

}  // namespace

bool compare_to_value_step(Interpreter& in, Frame* frame, Word w, CompareOp op) {
  return enters_or_fails(in, [&] { return compare_to_value(in, frame, w, op); });
}

bool compare_to_jump_step(Interpreter& in, CompareOp op, const Value& left, const Value& right, bool& holds) {
  return enters_or_fails(in, [&] {
    Value answer;
    if (compare_or_enter(in, op, left, right, answer) || raise_failure(in, answer)) return true;
    holds = answer.is_bool() ? answer.as_bool() : truth(in, answer);
    return false;
  });
}

bool compare_number_to_jump_step(Interpreter& in, CompareOp op, const Value& left, int64_t right, bool& holds) {
  return compare_to_jump_step(in, op, left, Value::integer(right), holds);
}

void finish_operator_step(Interpreter& in, Frame* frame, uint32_t turn, Value& answer) {
  const Word w = frame->pc[-1];
  const Op op = op_of(w);
  if (is_comparison(op)) return finish_comparison_step(in, frame, w, turn, answer);
  if (op == Op::Call) {  // len(object)
    frame->registers[c_of(w)].set_int(checked_length(in, answer));
  } else if (op == Op::Contains) {
    frame->registers[a_of(w)].set_bool(truth(in, answer));
  } else if (op == Op::JumpIn) {
    jump_if(frame, w, truth(in, answer));
  } else {
    finish_arithmetic_step(in, frame, turn, answer);
  }
}

// The answers that most operators have go to their place without a Value between, which would have to be destroyed.
Frame* VirtualMachine::return_operator(Frame* frame, Value& returned) {
  Frame* const caller = frame->caller;
  const Word w = caller->pc[-1];
  const Op op = op_of(w);
  const Tag tag = returned.tag();
  const int64_t payload = returned.as_int();
  const uint32_t turn = frame->result;
  const bool decides = tag == Tag::Bool;
  const bool inverted = (turn & kInverted) != 0;
  if (op >= Op::Lt && op <= Op::Ge && (inverted ? decides : !returned.is(in_.not_implemented))) {
    static_cast<void>(returned.release());
    pop_frame(frame, end_of_objects(frame));
    drop_operands(caller, a_of(w), b_of(w), c_of(w));
    put_parts(caller->registers[a_of(w)], tag, payload ^ int64_t{inverted});
  } else if (op == Op::Call && tag == Tag::Int && payload >= 0) {  // len(object)
    pop_frame(frame, end_of_objects(frame));
    caller->registers[c_of(w)].set_int(payload);
  } else if (op == Op::Contains && decides) {
    pop_frame(frame, end_of_objects(frame));
    caller->registers[a_of(w)].set_bool(payload != 0);
  } else if (op == Op::JumpIn && decides) {
    pop_frame(frame, end_of_objects(frame));
    jump_if(caller, w, payload != 0);
  } else if (op >= Op::JumpLt && op <= Op::JumpGeK && decides) {
    pop_frame(frame, end_of_objects(frame));
    drop_operands(caller, kNoRegister, a_of(w), op < Op::JumpLtI ? b_of(w) : kNoRegister);
    jump_if(caller, w, (payload != 0) != inverted);
  } else {
    return return_operator_otherwise(frame, returned);
  }
  return caller;
}

[[gnu::noinline]] Frame* VirtualMachine::return_operator_otherwise(Frame* frame, Value& returned) {
  Frame* const caller = frame->caller;
  const uint32_t turn = frame->result;
  Value answer = std::move(returned);
  pop_frame(frame, end_of_objects(frame));
  finish_operator_step(in_, caller, turn, answer);
  return caller;
}

Frame* VirtualMachine::begin_special(SpecialSlot slot, const Value& self, const Value* other, FrameKind kind, uint32_t result) {
  Function* const method = special_function(in_, self.as_object()->type, slot);
  if (method == nullptr) return nullptr;
  Frame* const caller = top_;
  Value* const window = caller->end;
  const uint32_t count = other != nullptr ? 2 : 1;
  if (!begins_at_once(method->code, window, count)) return nullptr;
  new (window) Value(self);
  if (other != nullptr) new (window + 1) Value(*other);
  Frame* const next = push_frame(method, window, count, kind, result, caller);
  ++method->refcount;
  return next;
}

Frame* VirtualMachine::begin_item_number(const Value& self, int64_t key, uint32_t result) {
  const Value number = Value::integer(key);
  return begin_special(SpecialSlot::GetItem, self, &number, FrameKind::Call, result);
}

}  // namespace tessera::lang
