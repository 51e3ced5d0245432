// The operands of instructions, as the steps of operators, comparisons and items read and drop them.
#pragma once

#include "lang/core/failure.h"
#include "lang/core/interpreter.h"
#include "lang/core/type.h"
#include "lang/core/value.h"
#include "lang/objects/exception.h"
#include "lang/vm/special.h"
#include "lang/vm/steps.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

inline bool is_temporary(const Frame* frame, uint32_t r) { return r != kNoRegister && r >= frame->code->first_temporary; }

// The operands that were temporaries go, unless the result took their place.
[[gnu::always_inline]] inline void drop_operands(Frame* frame, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t first = frame->temporaries >> kValueShift;
  if (b != a && b >= first && b != kNoRegister) frame->registers[b] = Value();
  if (c != a && c >= first && c != kNoRegister) frame->registers[c] = Value();
}

// Two operands of an instruction, and the registers that they stand in.
struct Pair {
  const Value& left;
  const Value& right;
  uint32_t b, c;
};

// Those of an arithmetic instruction.
inline Pair operands_of(const Frame* frame, Word w, Operands operands, const Value& number) {
  const Value* const registers = frame->registers;
  const Value* const constants = frame->code->constants.data();
  const uint32_t b = b_of(w), c = c_of(w);
  switch (operands) {
    case Operands::ConstantRight: return {registers[b], constants[c], b, kNoRegister};
    case Operands::ConstantLeft: return {constants[b], registers[c], kNoRegister, c};
    case Operands::NumberRight: return {registers[b], number, b, kNoRegister};
    default: return {registers[b], registers[c], b, c};
  }
}

inline bool is_of_script(const Value& v) { return v.is_object() && (v.as_object()->type->type_flags & kScriptClass) != 0; }

// An instance of a script's class that has no native base.
inline bool is_plain_instance(const Value& v) { return is_of_script(v) && v.as_object()->kind == ObjectKind::Instance; }

// Instances of one class of a script: neither is asked before the other for its class.
inline bool are_of_one_class(const Value& left, const Value& right) {
  return is_of_script(left) && right.is_object() && left.as_object()->type == right.as_object()->type;
}

// Then the type's slot is the first to be asked, and no number's or reflected method comes before it.
inline bool are_of_one_native_type(const Value& left, const Value& right) {
  if (!left.is_object() || !right.is_object()) return false;
  const Type* const type = left.as_object()->type;
  return type == right.as_object()->type && left.as_object()->kind != ObjectKind::BigInt &&
         !(type->type_flags & kScriptClass) && type->slots.binary != nullptr;
}

// Enters the method that comes first; false: its answer is there already.
inline bool enter_operator(Interpreter& in, const SpecialCall& call, Value& answer) {
  const uint32_t result = static_cast<uint32_t>(call.turn) | (call.inverted ? kInverted : 0);
  return in.vm().enter_with(call.function, FrameKind::Operator, result, answer, *call.self, *call.other);
}

// Makes the exception of a failure the pending exception of the loop. Returns false if the answer is a value and not a failure.
inline bool raise_failure(Interpreter& in, const Value& answer) {
  if (!is_failure(answer)) [[likely]]
    return false;
  in.vm().raise_next(take_failure(answer));
  return true;
}

// Does the step enter a frame or fail?
template <class F>
bool enters_or_fails(Interpreter& in, F&& step) {
  bool entered = false;
  return !in.vm().catches([&] { entered = step(); }) || entered;
}

}  // namespace tessera::lang
