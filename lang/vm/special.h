// Operators whose first word has a method of a script's class: the loop enters it as a frame, and asks the others afterwards.
#pragma once

#include "lang/core/type.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Function;

// Whose turn it is, in CPython's order.
enum class Turn : uint8_t { InPlace, RightFirst, LateInPlace, Left, Right };
constexpr uint32_t kInverted = 8;  // beside a Turn in Frame::result: see SpecialCall::inverted

// `function` null: there is no such method, or natives come first.
struct SpecialCall {
  Function* function = nullptr;
  const Value* self;
  const Value* other;
  Turn turn;
  bool inverted = false;  // the answer of __eq__ is turned around: `!=`
  bool nobody = false;  // of first_binary: neither operand's type knows the operator
};

// Into `call`: a result that goes through the stack in halves and is read as a whole costs as much as the look-up.
void first_binary(Interpreter& in, BinaryOp op, const Value& left, const Value& right, bool augmented, SpecialCall& call);
// The failure of an operator that no operand knows.
Value unsupported_binary(Interpreter& in, BinaryOp op, const Value& left, const Value& right, bool augmented);
// The same for a comparison. `call.function` stays null if the first method is no function of a script.
void first_compare(Interpreter& in, CompareOp op, const Value& left, const Value& right, SpecialCall& call);
// binary(), inplace(), unary() and compare() that answer a failure (failure.h) where no operand knows the operator. What the operands'
// own methods raise is thrown.
Value binary_answer(Interpreter& in, BinaryOp op, const Value& left, const Value& right, uint8_t dying);
Value inplace_answer(Interpreter& in, BinaryOp op, const Value& left, const Value& right);
Value unary_answer(Interpreter& in, UnaryOp op, const Value& value);
Value compare_answer(Interpreter& in, CompareOp op, const Value& left, const Value& right);
// What binary(), inplace() or compare() does when that method has answered NotImplemented. `first` says which that was, for it
// may have changed the class meanwhile.
Value binary_after_first(Interpreter& in, BinaryOp op, const Value& left, const Value& right, bool augmented,
                         Turn first);
Value compare_after_first(Interpreter& in, CompareOp op, const Value& left, const Value& right);

}  // namespace tessera::lang
