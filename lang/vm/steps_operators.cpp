// The steps of operators, comparisons, items and attributes.
#include "lang/core/bind.h"
#include "lang/core/interpreter.h"
#include "lang/objects/attribute.h"
#include "lang/objects/exception.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/vm/steps.h"

namespace tessera::lang {

namespace {

bool is_temporary(const Frame* frame, uint32_t r) { return r != kNoRegister && r >= frame->code->first_temporary; }

// The operands that were temporaries go, unless the result took their place.
void drop_operands(Frame* frame, uint32_t a, uint32_t b, uint32_t c) {
  if (b != a && is_temporary(frame, b)) frame->registers[b] = Value();
  if (c != a && is_temporary(frame, c)) frame->registers[c] = Value();
}

bool is_augmented(const Frame* frame) {
  return frame->code->places[static_cast<size_t>(frame->pc - frame->code->words.data()) - 1].augmented;
}

bool is_plain_str(const Interpreter& in, const Value& v) {
  return v.is_object() && v.as_object()->type == in.types.str;
}

// Division of numbers; false: not numbers, or by zero.
bool divide(Value& target, const Value& left, const Value& right) {
  constexpr int64_t kExact = int64_t{1} << 53;  // ints up to here are doubles
  auto number = [](const Value& v, double& d) {
    if (v.is_float()) {
      d = v.as_float();
      return true;
    }
    d = static_cast<double>(v.as_int());
    return v.is_int() && v.as_int() >= -kExact && v.as_int() <= kExact;
  };
  double i, j;
  if (!number(left, i) || !number(right, j) || j == 0) return false;
  target.set_real(i / j);
  return true;
}

void binary_step(Interpreter& in, Frame* frame, BinaryOp op, uint32_t a, const Value& left, uint32_t b,
                 const Value& right, uint32_t c) {
  const bool left_dies = b == a || is_temporary(frame, b);
  Value answer;
  if (op == BinaryOp::Add && is_plain_str(in, left) && is_plain_str(in, right)) {
    answer = left_dies ? str_concat(in, std::move(const_cast<Value&>(left)), as_str(right))
                       : str_concat(in, as_str(left), as_str(right));
  } else if (is_augmented(frame)) {
    answer = inplace(in, op, left, right);
  } else {
    uint8_t dying = left_dies ? kLeftDying : kNoneDying;
    if (c == a || is_temporary(frame, c)) dying |= kRightDying;
    answer = binary(in, op, left, right, dying);
  }
  drop_operands(frame, a, b, c);
  frame->registers[a] = std::move(answer);
}

}  // namespace

void arithmetic_step(Interpreter& in, Frame* frame, Word w, BinaryOp op, Operands operands) {
  Value* const registers = frame->registers;
  const Value* const constants = frame->code->constants.data();
  const uint32_t a = a_of(w), b = b_of(w), c = c_of(w);
  if (operands == Operands::NumberRight) {
    return binary_step(in, frame, op, a, registers[b], b, Value::integer(sc_of(w)), kNoRegister);
  }
  const bool left_constant = operands == Operands::ConstantLeft, right_constant = operands == Operands::ConstantRight;
  const Value& left = left_constant ? constants[b] : registers[b];
  const Value& right = right_constant ? constants[c] : registers[c];
  if (op == BinaryOp::TrueDiv && divide(registers[a], left, right)) return;
  binary_step(in, frame, op, a, left, left_constant ? kNoRegister : b, right, right_constant ? kNoRegister : c);
}

void unary_step(Interpreter& in, Frame* frame, Word w, UnaryOp op) {
  Value& operand = frame->registers[b_of(w)];
  Value answer = unary(in, op, operand);
  if (is_temporary(frame, b_of(w))) operand = Value();
  frame->registers[a_of(w)] = std::move(answer);
}

bool compare_step(Interpreter& in, CompareOp op, const Value& left, const Value& right) {
  if ((op == CompareOp::Eq || op == CompareOp::Ne) && is_plain_str(in, left) && is_plain_str(in, right)) {
    return str_equal(as_str(left), as_str(right)) == (op == CompareOp::Eq);
  }
  return truth(in, compare(in, op, left, right));
}

bool compare_number_step(Interpreter& in, CompareOp op, const Value& left, int64_t right) {
  return truth(in, compare(in, op, left, Value::integer(right)));
}

void compare_to_value_step(Interpreter& in, Frame* frame, Word w, CompareOp op) {
  const uint32_t a = a_of(w), b = b_of(w), c = c_of(w);
  Value* const registers = frame->registers;
  Value answer = compare(in, op, registers[b], registers[c]);
  drop_operands(frame, a, b, c);
  registers[a] = std::move(answer);
}

// --- items and attributes

bool get_item_step(Interpreter& in, Frame* frame, uint32_t a, const Value& object, uint32_t b, const Value& key,
                   uint32_t c, Value& raised) {
  Value answer;
  if (object.is_object() && object.as_object()->type == in.types.dict) {
    Dict* const dict = as_dict(object);
    const Value* found = is_plain_str(in, key) ? dict_get_str(dict, as_str(key)) : nullptr;
    if (found == nullptr) found = dict_get(in, dict, key);
    if (found == nullptr) {
      raised = make_exception(in, Error(ErrorKind::KeyError, key));
      set_context(in, as_exception(raised));
      return false;
    }
    answer = *found;
  } else {
    answer = get_item(in, object, key);
  }
  drop_operands(frame, a, b, c);
  frame->registers[a] = std::move(answer);
  return true;
}

bool get_item_number_step(Interpreter& in, Frame* frame, Word w, Value& raised) {
  return get_item_step(in, frame, a_of(w), frame->registers[b_of(w)], b_of(w), Value::integer(sc_of(w)), kNoRegister,
                       raised);
}

void set_item_step(Interpreter& in, const Value& object, const Value& key, const Value& value) {
  if (object.is_object() && object.as_object()->type == in.types.dict) {
    dict_set(in, as_dict(object), key, value);
  } else {
    set_item(in, object, key, value);
  }
}

void get_attribute_step(Interpreter& in, Frame* frame, Word w, Str* name, InlineCache& cache) {
  Value& object = frame->registers[b_of(w)];
  Value answer = get_attr(in, object, name, cache.fresh());
  if (is_temporary(frame, b_of(w))) object = Value();
  frame->registers[a_of(w)] = std::move(answer);
}

void get_native_attribute_step(Interpreter& in, Frame* frame, Word w, NativeFunction* getter) {
  Value& object = frame->registers[b_of(w)];
  const Value keep(getter);
  const Args args{&object, 1, nullptr, getter};
  const bool certain = getter->owner != nullptr && object.as_object()->type == getter->owner &&
                       (getter->signature != nullptr ? getter->signature->plain_count == 1 : getter->text == nullptr);
  Value answer = certain ? getter->function(in, args) : call_native(in, getter, args);
  if (is_temporary(frame, b_of(w))) object = Value();
  frame->registers[a_of(w)] = std::move(answer);
}

void take_attribute_step(Value& target, Value& object, const Value& attribute) {
  Value answer = attribute;
  object = Value();
  target = std::move(answer);
}

}  // namespace tessera::lang
