// The steps of arithmetic, items and attributes.
#include <array>

#include "lang/core/bind.h"
#include "lang/core/failure.h"
#include "lang/core/interpreter.h"
#include "lang/objects/attribute.h"
#include "lang/objects/attribute_reads.h"
#include "lang/objects/exception.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/range.h"
#include "lang/types/sequence.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/objects/class_slots.h"
#include "lang/vm/operands.h"
#include "lang/vm/special.h"
#include "lang/vm/steps.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

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

// Of a native type the slot decides alone, if the other operand is of the same type, if a sequence or set has an int beside it, or if
// the text before a % is formatted with a native's value. (Sums of strings are made elsewhere.)
bool is_decided_by_left(BinaryOp op, const Value& left, const Value& right) {
  if (!left.is_object()) return false;
  const Object* const object = left.as_object();
  const Type* const type = object->type;
  const ObjectKind kind = object->kind;
  if ((type->type_flags & kScriptClass) || type->slots.binary == nullptr || kind == ObjectKind::BigInt) return false;
  if (kind == ObjectKind::Str && op == BinaryOp::Mod) return !is_of_script(right);
  if (op == BinaryOp::Add) return kind != ObjectKind::Str && right.is_object() && right.as_object()->type == type;
  if (right.is_object()) return right.as_object()->type == type;
  return right.is_int() && kind >= ObjectKind::Str && kind <= ObjectKind::Set && kind != ObjectKind::Dict;
}

bool binary_step(Interpreter& in, Frame* frame, BinaryOp op, uint32_t a, const Value& left, uint32_t b,
                 const Value& right, uint32_t c) {
  const bool left_dies = b == a || is_temporary(frame, b);
  Value answer;
  if (op == BinaryOp::Add && is_plain_str(in, left) && is_plain_str(in, right)) {
    answer = left_dies ? str_concat(in, std::move(const_cast<Value&>(left)), as_str(right))
                       : str_concat(in, as_str(left), as_str(right));
  } else {
    const bool augmented = is_augmented(frame);
    SpecialCall call;
    if (!augmented && are_of_one_class(left, right)) {  // no reflected or in-place method comes first
      call = {.function = special_function(in, left.as_object()->type, slot_of(op)), .self = &left, .other = &right, .turn = Turn::Left};
    } else if (is_of_script(left) || is_of_script(right)) {
      first_binary(in, op, left, right, augmented, call);
    }
    if (call.function != nullptr) {
      if (enter_operator(in, call, answer)) return true;
    } else if (call.nobody) {
      answer = unsupported_binary(in, op, left, right, augmented);
    } else if (augmented) {
      answer = inplace_answer(in, op, left, right);
    } else {
      uint8_t dying = left_dies ? kLeftDying : kNoneDying;
      if (c == a || is_temporary(frame, c)) dying |= kRightDying;
      answer = are_of_one_native_type(left, right)
                   ? left.as_object()->type->slots.binary(in, op, left, right, false, dying)
                   : in.not_implemented;
      if (answer.is(in.not_implemented)) answer = binary_answer(in, op, left, right, dying);
    }
    if (raise_failure(in, answer)) return true;
  }
  drop_operands(frame, a, b, c);
  frame->registers[a] = std::move(answer);
  return false;
}

struct Arithmetic {
  BinaryOp op{};
  Operands operands{};
};

constexpr Arithmetic find_arithmetic(Op op) {
  using enum Operands;
  switch (op) {
    case Op::Add:
    case Op::AddSetAttr: return {BinaryOp::Add, Registers};  // fused words do the work of the instruction that their name begins with
    case Op::AddI: return {BinaryOp::Add, NumberRight};
    case Op::AddK: return {BinaryOp::Add, ConstantRight};
    case Op::KAdd: return {BinaryOp::Add, ConstantLeft};
    case Op::Sub:
    case Op::SubSetAttr: return {BinaryOp::Sub, Registers};
    case Op::SubI: return {BinaryOp::Sub, NumberRight};
    case Op::SubK: return {BinaryOp::Sub, ConstantRight};
    case Op::KSub: return {BinaryOp::Sub, ConstantLeft};
    case Op::Mul: return {BinaryOp::Mul, Registers};
    case Op::MulK: return {BinaryOp::Mul, ConstantRight};
    case Op::KMul: return {BinaryOp::Mul, ConstantLeft};
    case Op::TrueDiv: return {BinaryOp::TrueDiv, Registers};
    case Op::TrueDivK: return {BinaryOp::TrueDiv, ConstantRight};
    case Op::KTrueDiv: return {BinaryOp::TrueDiv, ConstantLeft};
    case Op::FloorDiv: return {BinaryOp::FloorDiv, Registers};
    case Op::FloorDivK: return {BinaryOp::FloorDiv, ConstantRight};
    case Op::Mod: return {BinaryOp::Mod, Registers};
    case Op::ModK:
    case Op::ModKJumpEqI:
    case Op::ModKJumpNeI: return {BinaryOp::Mod, ConstantRight};
    case Op::Pow: return {BinaryOp::Pow, Registers};
    case Op::PowK: return {BinaryOp::Pow, ConstantRight};
    case Op::MatMul: return {BinaryOp::MatMul, Registers};
    case Op::LShift: return {BinaryOp::LShift, Registers};
    case Op::RShift: return {BinaryOp::RShift, Registers};
    case Op::And: return {BinaryOp::And, Registers};
    case Op::Or: return {BinaryOp::Or, Registers};
    default: return {BinaryOp::Xor, Registers};
  }
}

// The operator of each instruction that has one: a special method's answer is finished as often as it is asked for.
constexpr auto kArithmetic = [] {
  std::array<Arithmetic, static_cast<size_t>(Op::Count)> table{};
  for (size_t op = 0; op < table.size(); ++op) table[op] = find_arithmetic(static_cast<Op>(op));
  return table;
}();
const Arithmetic& arithmetic_of(Op op) { return kArithmetic[static_cast<size_t>(op)]; }

}  // namespace

void finish_arithmetic_step(Interpreter& in, Frame* frame, uint32_t turn, Value& answer) {
  const Word w = frame->pc[-1];
  const Arithmetic arithmetic = arithmetic_of(op_of(w));
  const Value number = Value::integer(sc_of(w));
  const Pair pair = operands_of(frame, w, arithmetic.operands, number);
  if (answer.is(in.not_implemented))
    answer = binary_after_first(in, arithmetic.op, pair.left, pair.right, is_augmented(frame), static_cast<Turn>(turn));
  drop_operands(frame, a_of(w), pair.b, pair.c);
  frame->registers[a_of(w)] = std::move(answer);
}

namespace {

[[gnu::noinline]] bool arithmetic(Interpreter& in, Frame* frame, Word w, BinaryOp op, Operands operands) {
  const uint32_t a = a_of(w);
  const Value number = Value::integer(sc_of(w));
  const Pair pair = operands_of(frame, w, operands, number);
  if (!pair.left.is_object()) {
    if (op == BinaryOp::TrueDiv && divide(frame->registers[a], pair.left, pair.right)) return false;
    if (const char* const message = zero_division(op, pair.left, pair.right)) [[unlikely]] {
      in.vm().raise_next(ErrorKind::ZeroDivisionError, {message});
      return true;
    }
  }
  return binary_step(in, frame, op, a, pair.left, pair.b, pair.right, pair.c);
}

}  // namespace

// The register or constant at a distance in bytes, as words have it.
template <class V>
static V& place_of(V* base, uint32_t distance) {
  return *reinterpret_cast<V*>(reinterpret_cast<uintptr_t>(base) + distance);
}

// The operation of operands for which is_decided_by_left is true.
static inline bool decided_step(Interpreter& in, Frame* frame, Word w, BinaryOp op, const Value& left, const Value& right) {
  return enters_or_fails(in, [&] {
    const auto dies = [&](uint32_t distance) { return distance == w.a || distance >= frame->temporaries; };
    const bool left_dies = dies(w.b), right_dies = &right == &place_of(frame->registers, w.c) && dies(w.c);
    const TypeSlots& slots = left.as_object()->type->slots;
    const bool augmented = is_augmented(frame);
    const int dying = (left_dies ? kLeftDying : kNoneDying) | (right_dies ? kRightDying : kNoneDying);
    Value answer = !augmented                 ? slots.binary(in, op, left, right, false, static_cast<uint8_t>(dying))
                   : slots.inplace != nullptr ? slots.inplace(in, op, left, right)
                                              : in.not_implemented;
    if (answer.is(in.not_implemented)) [[unlikely]]
      answer = augmented ? inplace_answer(in, op, left, right) : binary_answer(in, op, left, right, kNoneDying);
    if (raise_failure(in, answer)) [[unlikely]]
      return true;
    if (left_dies && w.b != w.a) place_of(frame->registers, w.b) = Value();
    if (right_dies && w.c != w.a) place_of(frame->registers, w.c) = Value();
    place_of(frame->registers, w.a) = std::move(answer);
    return false;
  });
}

// The operation of two immediate values, which holds no operand that a result could take the place of.
[[gnu::noinline]] static bool numbers_step(Interpreter& in, Frame* frame, Word w, BinaryOp op, Operands operands, const Value& left,
                                           const Value& right) {
  Value& target = place_of(frame->registers, w.a);
  if (op == BinaryOp::TrueDiv && divide(target, left, right)) return false;
  return enters_or_fails(in, [&] {
    if (left.is_none() || right.is_none() || zero_division(op, left, right) != nullptr) [[unlikely]]
      return arithmetic(in, frame, w, op, operands);
    Value answer = number_binary(in, op, left, right);
    if (answer.is(in.not_implemented)) [[unlikely]]
      return arithmetic(in, frame, w, op, operands);
    target = std::move(answer);
    return false;
  });
}

[[gnu::hot]] bool arithmetic_step(Interpreter& in, Frame* frame, Word w, BinaryOp op, Operands operands) {
  if (operands == Operands::Registers || operands == Operands::ConstantRight) {
    const Value& left = place_of(frame->registers, w.b);
    const Value& right = place_of(operands == Operands::ConstantRight ? frame->constants : frame->registers, w.c);
    if (!left.is_object() && !right.is_object()) return numbers_step(in, frame, w, op, operands, left, right);
    if (is_decided_by_left(op, left, right)) return decided_step(in, frame, w, op, left, right);
  }
  return enters_or_fails(in, [&] { return arithmetic(in, frame, w, op, operands); });
}

static bool unary_of(Interpreter& in, Frame* frame, Word w, UnaryOp op) {
  Value& operand = frame->registers[b_of(w)];
  Value answer;
  if (is_of_script(operand)) {
    static constexpr SpecialSlot kSlots[] = {SpecialSlot::Neg, SpecialSlot::Pos, SpecialSlot::Invert};
    Function* const method = special_function(in, operand.as_object()->type, kSlots[static_cast<int>(op)]);
    if (method != nullptr) {
      Value self = operand;
      if (is_temporary(frame, b_of(w))) operand = Value();
      if (in.vm().enter(method, &self, 1, FrameKind::Call, a_of(w), answer)) return true;
      frame->registers[a_of(w)] = std::move(answer);
      return false;
    }
  }
  answer = unary_answer(in, op, operand);
  if (raise_failure(in, answer)) return true;
  if (is_temporary(frame, b_of(w))) operand = Value();
  frame->registers[a_of(w)] = std::move(answer);
  return false;
}

bool unary_step(Interpreter& in, Frame* frame, Word w, UnaryOp op) {
  return enters_or_fails(in, [&] { return unary_of(in, frame, w, op); });
}

// --- items and attributes

namespace {

// `at` counts from the end if it is negative. Returns false if it is out of range.
bool is_in_range(int64_t& at, int64_t length) {
  if (at < 0) at += length;
  return at >= 0 && at < length;
}

// object[at] of a str. Returns false if that is out of range.
bool char_at(Interpreter& in, Str* text, int64_t at, Value& out) {
  if (!is_in_range(at, text->length)) return false;
  if (text->is_ascii()) out = in.shared->chars[static_cast<unsigned char>(text->data[at])];
  else out = str_slice(in, text, static_cast<uint32_t>(at), static_cast<uint32_t>(at) + 1);
  return true;
}

// Reads object[key] of a str into `out`; lists and tuples are read by the loop itself. Returns the message of an IndexError if a
// list, tuple or str has no such item, else null.
const char* char_or_range_error(Interpreter& in, const Value& object, const Value& key, Value& out) {
  if (!object.is_object() || !key.is_int()) return nullptr;
  const Type* const type = object.as_object()->type;
  int64_t at = key.as_int();
  if (type == in.types.str) return char_at(in, as_str(object), at, out) ? nullptr : "string index out of range";
  if (type == in.types.list) return is_in_range(at, as_list(object)->size) ? nullptr : "list index out of range";
  if (type == in.types.tuple) return is_in_range(at, as_tuple(object)->size) ? nullptr : "tuple index out of range";
  return nullptr;
}

// The value in an instance of a script's subclass of dict, whose own methods do not say what an item is; null if only they can tell.
const Value* item_of_subclass(Interpreter& in, const Object* object, const Value& key) {
  if (object->kind != ObjectKind::Dict || object->type->slots.get_item != in.types.dict->slots.get_item) return nullptr;
  return plain_item(in, as_dict(Value(const_cast<Object*>(object))), key);
}

// Has the type an item by its slot alone, past the types whose items the loop and this file know?
bool has_native_items(const Interpreter& in, const Object* object) {
  const Type* const type = object->type;
  return type->slots.get_item != nullptr && (type->type_flags & kScriptClass) == 0 && type != in.types.list &&
         type != in.types.tuple && type != in.types.str;
}

// R[a] = item, and the operands that were temporaries go. `item` may be in one of them.
[[gnu::always_inline]] inline Step put_item(Frame* frame, uint32_t a, uint32_t b, uint32_t c, const Value& item) {
  Value answer = item;
  drop_operands(frame, a, b, c);
  frame->registers[a] = std::move(answer);
  return Step::Done;
}

// Each kind of object has a function of its own, so that the short ways save no registers for the long ones.
[[gnu::noinline]] Step no_key(Interpreter& in, const Value& key, Value& raised) {
  raised = make_exception(in, error_type(in, ErrorKind::KeyError), make_tuple(in, &key, 1));
  set_context(in, as_exception(raised));
  return Step::Raised;
}

[[gnu::noinline]] Step unhashable_key(Interpreter& in, const Value& key) {
  in.vm().raise_next(ErrorKind::TypeError, {"unhashable type: '", type_name(in, key), "'"});
  return Step::Raised;
}

[[gnu::noinline]] Step dict_item(Interpreter& in, Frame* frame, uint32_t a, Dict* dict, uint32_t b, const Value& key, uint32_t c,
                                 Value& raised) {
  const Type* const own = key.is_object() ? key.as_object()->type : nullptr;
  if (own != nullptr && own->slots.hash == nullptr) [[unlikely]]
    return unhashable_key(in, key);
  const bool is_tuple_key = own == in.types.tuple;
  const int64_t sum = is_tuple_key ? own->slots.hash(in, key) : hash(in, key);
  int32_t at = is_tuple_key ? dict_find_same(dict, key, sum) : kNoEntry;
  if (at < 0) at = dict_find(in, dict, key, sum);  // the loop itself finds a str or an int that is there
  if (at < 0) return no_key(in, key, raised);
  return put_item(frame, a, b, c, dict->entries[at].value);
}

[[gnu::noinline]] Step enter_get_item(Interpreter& in, Frame* frame, uint32_t a, const Value& object, uint32_t b, const Value& key,
                                      uint32_t c, Function* method) {
  Value answer;
  const bool entered = in.vm().enter_with(method, FrameKind::Call, a, answer, object, key);
  drop_operands(frame, kNoRegister, b, c);
  if (entered) return Step::Entered;
  frame->registers[a] = std::move(answer);
  return Step::Done;
}

[[gnu::noinline]] Step other_item(Interpreter& in, Frame* frame, uint32_t a, const Value& object, uint32_t b, const Value& key, uint32_t c) {
  Value answer;
  if (object.is_object() && has_native_items(in, object.as_object())) {
    const auto slot = object.as_object()->type->slots.get_item;
    if (!in.vm().catches([&] { answer = slot(in, object, key); })) return Step::Raised;
  } else if (const char* const error = char_or_range_error(in, object, key, answer)) {
    in.vm().raise_next(ErrorKind::IndexError, {error});
    return Step::Raised;
  } else if (answer.is_undefined() && type_of(in, object)->slots.get_item == nullptr) {
    in.vm().raise_next(ErrorKind::TypeError, {"'", type_name(in, object), "' object is not subscriptable"});
    return Step::Raised;
  } else if (answer.is_undefined() && !in.vm().catches([&] { answer = get_item(in, object, key); })) {
    return Step::Raised;
  }
  return put_item(frame, a, b, c, answer);
}

}  // namespace

Step get_item_step(Interpreter& in, Frame* frame, uint32_t a, const Value& object, uint32_t b, const Value& key,
                   uint32_t c, Value& raised) {
  if (!object.is_object()) return other_item(in, frame, a, object, b, key, c);
  const Type* const type = object.as_object()->type;
  if (type == in.types.dict) return dict_item(in, frame, a, as_dict(object), b, key, c, raised);
  if (type->type_flags & kScriptClass) {
    if (const Value* const found = item_of_subclass(in, object.as_object(), key)) return put_item(frame, a, b, c, *found);
    if (Function* const method = special_function(in, type, SpecialSlot::GetItem))
      return enter_get_item(in, frame, a, object, b, key, c, method);
  }
  return other_item(in, frame, a, object, b, key, c);
}

Step get_item_number_step(Interpreter& in, Frame* frame, Word w, Value& raised) {
  return get_item_step(in, frame, a_of(w), frame->registers[b_of(w)], b_of(w), Value::integer(sc_of(w)), kNoRegister,
                       raised);
}

namespace {

bool are_plain_bounds(const Value* bounds) {
  return (bounds[0].is_int() || bounds[0].is_none()) && (bounds[1].is_int() || bounds[1].is_none());
}

struct PlainRange {
  int64_t start, count;
};

// Undefined: of another type.
Value plain_slice(Interpreter& in, const Value& object, const Value* bounds) {
  const Type* const type = object.as_object()->type;
  // adjust_slice for a step of one.
  const auto range = [&](uint32_t size) {
    const int64_t start = bounds[0].is_int() ? clip_bound(bounds[0].as_int(), size, 0, size) : 0;
    const int64_t stop = bounds[1].is_int() ? clip_bound(bounds[1].as_int(), size, 0, size) : size;
    return PlainRange{start, stop > start ? stop - start : 0};
  };
  if (type == in.types.list) {
    const PlainRange r = range(as_list(object)->size);
    return make_list(in, as_list(object)->items + r.start, static_cast<size_t>(r.count));
  }
  if (type == in.types.str) {
    const PlainRange r = range(as_str(object)->length);
    return str_slice(in, as_str(object), static_cast<uint32_t>(r.start), static_cast<uint32_t>(r.start + r.count));
  }
  if (type == in.types.tuple) {
    const PlainRange r = range(as_tuple(object)->size);
    if (r.count == as_tuple(object)->size) return object;
    return make_tuple(in, as_tuple(object)->items + r.start, static_cast<size_t>(r.count));
  }
  return Value();
}

}  // namespace

Step get_slice_step(Interpreter& in, Frame* frame, Word w, Value& raised) {
  Value* const registers = frame->registers;
  const uint32_t a = a_of(w), b = b_of(w), c = c_of(w);
  if (registers[b].is_object() && are_plain_bounds(registers + c)) {
    Value answer = plain_slice(in, registers[b], registers + c);
    if (!answer.is_undefined()) {
      drop_operands(frame, a, b, kNoRegister);
      registers[a] = std::move(answer);
      return Step::Done;
    }
  }
  build_slice_step(in, registers + c, 2);
  return get_item_step(in, frame, a, registers[b], b, registers[c], c, raised);
}

bool set_slice_step(Interpreter& in, const Value& object, Value* bounds, const Value& value) {
  const auto is_list = [&](const Value& v) { return v.is_object() && v.as_object()->type == in.types.list; };
  if (is_list(object) && is_list(value) && !object.is(value) && are_plain_bounds(bounds)) {
    const SliceIndices r = adjust_slice({bounds[0], bounds[1], 1}, as_list(object)->size);
    list_replace(in, as_list(object), static_cast<size_t>(r.start), static_cast<size_t>(std::max(r.start, r.stop)),
                 as_list(value)->items, as_list(value)->size);
    return true;
  }
  build_slice_step(in, bounds, 2);
  return false;
}

bool enter_set_item_step(Interpreter& in, Frame* frame, Word w) {
  Value* const registers = frame->registers;
  const Type* const type = registers[a_of(w)].as_object()->type;
  if (type->slots.set_item == in.types.dict->slots.set_item) return false;
  Function* const method = special_function(in, type, SpecialSlot::SetItem);
  if (method == nullptr || (method->code->code_flags & kGenerator)) return false;
  Value arguments[] = {registers[a_of(w)], registers[b_of(w)], registers[c_of(w)]}, answer;
  drop_operands(frame, kNoRegister, c_of(w), b_of(w));
  drop_operands(frame, kNoRegister, a_of(w), kNoRegister);
  return in.vm().enter(method, arguments, 3, FrameKind::Discard, 0, answer);
}

bool enter_del_item_step(Interpreter& in, Frame* frame, Word w) {
  Value* const registers = frame->registers;
  Function* const method = special_function(in, registers[a_of(w)].as_object()->type, SpecialSlot::DelItem);
  if (method == nullptr || (method->code->code_flags & kGenerator)) return false;
  Value arguments[] = {registers[a_of(w)], registers[b_of(w)]}, answer;
  drop_operands(frame, kNoRegister, a_of(w), b_of(w));
  return in.vm().enter(method, arguments, 2, FrameKind::Discard, 0, answer);
}

namespace {

[[gnu::cold, gnu::noinline]] void raise_index_error(Interpreter& in) {
  in.vm().raise_next(ErrorKind::IndexError, {"list assignment index out of range"});
}

// A list has no item at this index, for assignment or `del`.
bool is_out_of_range(Interpreter& in, const Value& object, const Value& key) {
  if (!key.is_int() || !object.is_object() || object.as_object()->type != in.types.list) return false;
  int64_t at = key.as_int();
  return !is_in_range(at, as_list(object)->size);
}

}  // namespace

bool set_item_step(Interpreter& in, const Value& object, const Value& key, const Value& value) {
  return in.vm().catches([&] {
    if (object.is_object() && object.as_object()->type->slots.set_item == in.types.dict->slots.set_item) [[likely]]
      dict_set(in, as_dict(object), key, value);
    else if (is_out_of_range(in, object, key))
      raise_index_error(in);
    else set_item(in, object, key, value);
  }) && !in.vm().is_raising();
}

bool del_item_step(Interpreter& in, const Value& object, const Value& key) {
  return in.vm().catches([&] {
    if (object.is_object() && object.as_object()->type == in.types.dict) {
      const Value gone = dict_pop(in, as_dict(object), key);
      if (gone.is_undefined()) in.vm().raise_next(Error(ErrorKind::KeyError, key));
    } else if (is_out_of_range(in, object, key)) {
      raise_index_error(in);
    } else {
      del_item(in, object, key);
    }
  }) && !in.vm().is_raising();
}

Value* plain_item(Interpreter& in, Dict* dict, const Value& key) noexcept {
  if (dict->aux != 0) return nullptr;  // of a module whose names' origins are written down
  if (key.is_int()) {
    const int32_t at = dict_find_int(dict, key.as_int());
    return at < 0 ? nullptr : &dict->entries[at].value;
  }
  if (!is_plain_str(in, key)) return nullptr;
  const int32_t at = dict_find_str(dict, as_str(key));
  return at < 0 || !is_plain_str(in, dict->entries[at].key) ? nullptr : &dict->entries[at].value;
}

void get_attribute_step(Interpreter& in, Frame* frame, Word w, Str* name, InlineCache& cache) {
  Value& object = frame->registers[b_of(w)];
  Value error;
  Value answer = get_attr_or_error(in, object, name, cache.fresh(), error);
  if (answer.is_undefined()) return in.vm().raise_next(error);
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
