// Operators on values, the long way: numbers, then the types' tables in CPython's order, then a TypeError.
//
// The order: the left operand's type is asked first, unless the right operand's type is a proper subclass that brings
// its own method; then the right operand's, reflected.
#include <string>
#include <utility>

#include "lang/core/failure.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/compiler/chunk.h"
#include "lang/core/protocol.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/objects/heap_type.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/sequence.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/special.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

bool is_number(const Value& v) noexcept { return v.is_int() || v.is_float() || v.is_bool() || is_big_int(v); }

const char* symbol(BinaryOp op) {
  static constexpr const char* kSymbols[] = {"+", "-",  "*",  "/", "//", "%", "** or pow()",
                                             "@", "<<", ">>", "&", "|",  "^", "divmod()"};
  return kSymbols[static_cast<int>(op)];
}

const char* augmented_symbol(BinaryOp op) {
  static constexpr const char* kSymbols[] = {
      "+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "<<=", ">>=", "&=", "|=", "^=", "divmod()"};
  return kSymbols[static_cast<int>(op)];
}

Str* reflected_name(Interpreter& in, BinaryOp op) {
  const Names& n = *in.names;
  Str* const names[] = {n.radd,    n.rsub,    n.rmul,    n.rtruediv, n.rfloordiv, n.rmod, n.rpow,
                        n.rmatmul, n.rlshift, n.rrshift, n.rand,     n.ror,       n.rxor, n.rdivmod};
  return names[static_cast<int>(op)];
}

bool is_sequence(const Value& v) { return is_str(v) || is_list(v) || is_tuple(v) || is_bytes(v) || is_byte_array(v); }
bool is_of_script(const Value& v) { return v.is_object() && (v.as_object()->type->type_flags & kScriptClass) != 0; }

// Whether CPython's type of the object has a table of slots for sequences, used or not.
bool has_sequence_slots(const Value& v) {
  if (!v.is_object()) return false;
  const Type* const type = v.as_object()->type;
  return type->slots.length != nullptr || is_heap_type(type);
}

[[gnu::cold, gnu::noinline]] Value refused(Interpreter& in, std::initializer_list<std::string_view> words) {
  return failure(in, ErrorKind::TypeError, words);
}

bool is_below_native_sequence(const Value& v) {
  if (!is_of_script(v)) return false;
  for (const Type* base : v.as_object()->type->mro)
    if ((base->type_flags & (kMatchesSequence | kScriptClass)) == kMatchesSequence) return true;
  return false;
}

// Whether `+` or `*` still joins or repeats a sequence as one: a class that overrides __mul__ or __rmul__ (__add__ or __radd__) has the
// operator of a number in place of that.
bool keeps_sequence_slot(Interpreter& in, BinaryOp op, const Value& v) {
  if (!v.is_object()) return false;
  const Type* const type = v.as_object()->type;
  if (!is_sequence(v) && !(type->type_flags & kMatchesSequence) && !is_below_native_sequence(v)) return false;
  const Value& reflected = type_lookup(type, reflected_name(in, op));
  return is_native_method(type_lookup(type, op == BinaryOp::Mul ? in.names->mul : in.names->add)) &&
         (is_native_method(reflected) || (op == BinaryOp::Add && reflected.is_undefined()));
}
bool repeats(Interpreter& in, const Value& v) { return keeps_sequence_slot(in, BinaryOp::Mul, v); }

// A class below a sequence with a __mul__ of its own is asked as a number is, and its inherited __rmul__ takes an int alone.
[[gnu::cold, gnu::noinline]] bool repeats_by_method(Interpreter& in, const Value& right) {
  if (!is_of_script(right) || !(is_sequence(right) || is_below_native_sequence(right))) return false;
  const Value& own = type_lookup(right.as_object()->type, in.names->mul);
  return !is_native_method(own) && is_native_method(type_lookup(right.as_object()->type, in.names->rmul));
}

// The operand that refuses to say how often the other, a sequence, is repeated, or null. `*=` asks only a right sequence whose left
// operand has no slots of sequences in CPython.
const Value* refused_count(Interpreter& in, const char* what, const Value& left, const Value& right) {
  if (what[0] != '*' || what[1] == '*') return nullptr;
  if (repeats(in, left)) return &right;
  return (what[1] != '=' || !has_sequence_slots(left)) && repeats(in, right) ? &left : nullptr;
}

// The functions unsupported, bad_operand and incomparable return a failure (failure.h).
[[gnu::cold, gnu::noinline]] Value unsupported(Interpreter& in, const char* what, const Value& left, const Value& right) {
  if (const Value* const count = refused_count(in, what, left, right))
    return refused(in, {"can't multiply sequence by non-int of type '", type_name(in, *count), "'"});
  return refused(in, {"unsupported operand type(s) for ", what, ": '", type_name(in, left), "' and '", type_name(in, right), "'"});
}

[[gnu::cold]] Value bad_operand(Interpreter& in, UnaryOp op, const Value& value) {
  static constexpr const char* kSymbols[] = {"-", "+", "~"};
  return refused(in, {"bad operand type for unary ", kSymbols[static_cast<int>(op)], ": '", type_name(in, value), "'"});
}

[[gnu::cold, gnu::noinline]] Value incomparable(Interpreter& in, CompareOp op, const Value& left, const Value& right) {
  static constexpr const char* kSymbols[] = {"<", "<=", "==", "!=", ">", ">="};
  return refused(in, {"'", kSymbols[static_cast<int>(op)], "' not supported between instances of '", type_name(in, left),
                      "' and '", type_name(in, right), "'"});
}

// The name of a sequence on the left of `+` that refuses the right operand, which has no operators, or null. The type's slot would say
// the same with a C++ exception.
const char* refusing_sequence(Interpreter& in, BinaryOp op, const Value& left, const Value& right) {
  if (op != BinaryOp::Add || !left.is_object()) return nullptr;
  if (right.is_object() && right.as_object()->type->slots.binary != nullptr) return nullptr;
  const Type* const type = left.as_object()->type;
  return type == in.types.str ? "str" : type == in.types.list ? "list" : type == in.types.tuple ? "tuple" : nullptr;
}

// Does the right operand come first? A subclass of the left's type that has a reflected method of its own.
bool right_first(Interpreter& in, BinaryOp op, const Type* left, const Type* right) {
  if (left == right || !right->is_subtype_of(left)) return false;
  if (left->slots.binary != right->slots.binary) return true;
  Str* name = reflected_name(in, op);
  return !type_lookup(left, name).is(type_lookup(right, name));
}

// CPython joins and repeats sequences only after both operands' number methods had their turn.
bool is_sequence_case(BinaryOp op, const Value& left) {
  if (op != BinaryOp::Add && op != BinaryOp::Mul) return false;
  if (!left.is_object()) return false;
  const ObjectKind kind = left.as_object()->kind;
  return kind == ObjectKind::Str || kind == ObjectKind::List || kind == ObjectKind::Tuple || is_bytes(left) || is_byte_array(left) ||
         (left.as_object()->type->type_flags & (kMatchesSequence | kScriptClass)) == kMatchesSequence;  // a deque, an array
}
bool has_own(const Value* method) {
  return method != nullptr && !method->is_undefined() && !is_native_method(*method);
}
// A script's method, also behind a slot that a native has put in its place (TypeSlots::adjust).
bool has_own(Interpreter& in, const Type* type, BinaryOp op, bool reflected) {
  if (const Value* const found = binary_special(in, type, op, reflected)) return has_own(found);
  return type->slots.adjust != nullptr && (type->type_flags & kScriptClass) != 0 && reflected && has_own(&type_lookup(type, reflected_name(in, op)));
}
bool right_before_sequence(Interpreter& in, BinaryOp op, const Value& left, const Value& right) {
  if (!is_sequence_case(op, left) || (is_of_script(left) && !keeps_sequence_slot(in, op, left))) return false;
  // A class below deque or array.array has CPython's slots of sequences alone, unless it defines the method itself.
  if (is_sequence_case(op, right) || is_below_native_sequence(right))
    return is_of_script(right) && has_own(in, right.as_object()->type, op, true);
  return is_of_script(right) || is_str(left) || is_list(left) || is_tuple(left);  // natives know no other sequence
}

// CPython's int knows only ints, its float no complex number: of a subclass of a wider number they leave the answer to it,
// and have none themselves.
bool is_wider_number(Interpreter& in, const Type* left, const Type* right) {
  const auto width = [&](const Type* type) {
    const Type* const numbers[] = {in.types.integer, in.types.real, in.types.complex};
    for (int i = 0; i < 3; ++i)
      if (type->is_subtype_of(numbers[i])) return i + 1;
    return 0;
  };
  const int own = width(left);
  return own != 0 && own < width(right);
}
// The rule for the right operand: after the method of a script's subclass of a wider number returned NotImplemented, a narrower number does not
// answer, unless its class is a script's and defines the reflected method itself.
bool leaves_to_left(Interpreter& in, BinaryOp op, const Value& left, const Value& right) {
  const Type* const b = type_of(in, right);
  return is_of_script(left) && is_wider_number(in, b, type_of(in, left)) && !(is_of_script(right) && has_own(in, b, op, true));
}
bool is_right_alone(Interpreter& in, BinaryOp op, const Value& left, const Value& right) {
  if (!is_of_script(right)) return false;
  const Type *const a = type_of(in, left), *const b = right.as_object()->type;
  return has_own(in, b, op, true) && is_wider_number(in, a, b) && !has_own(in, a, op, false);
}

// So `[1] += x` asks x first. Subclasses have list's __iadd__ as a number's method; an __imul__ only where it is their own.
// (NumPy's numbers leave `*=` to the sequence.)
bool is_late_in_place(Interpreter& in, BinaryOp op, const Value& left, const Value& right) {
  if (!right_before_sequence(in, op, left, right) || (op == BinaryOp::Add && is_of_script(left))) return false;
  if (op == BinaryOp::Mul && !is_of_script(right)) return false;
  const Value* const own = inplace_special(in, left.as_object()->type, op);
  return own == nullptr || own->is_undefined() || own->as_object()->kind == ObjectKind::NativeFunction;
}

// `x *= seq` of an x of a script's class repeats nothing: the class has CPython's slots of sequences, if empty ones.
bool leaves_repetition(Interpreter& in, BinaryOp op, const Value& left, const Value& right) {
  return op == BinaryOp::Mul && has_sequence_slots(left) && !repeats(in, left) && !is_of_script(right) && repeats(in, right);
}

// NotImplemented when neither operand knows the operator.
Value try_binary(Interpreter& in, BinaryOp op, const Value& left, const Value& right, uint8_t dying) {
  if (is_number(left) && is_number(right)) return number_binary(in, op, left, right);
  Type* const a = type_of(in, left);
  Type* const b = type_of(in, right);
  const auto left_slot = a->slots.binary;
  auto right_slot = b->slots.binary;
  // Numbers know nothing of sequences.
  if (a == b || (!right.is_object() && is_sequence_case(op, left))) right_slot = nullptr;
  if (right_slot != nullptr && is_right_alone(in, op, left, right)) return right_slot(in, op, right, left, true, dying);
  if (right_slot != nullptr && (right_first(in, op, a, b) || right_before_sequence(in, op, left, right))) {
    Value answer = right_slot(in, op, right, left, true, dying);
    if (!answer.is(in.not_implemented)) return answer;
    right_slot = nullptr;
  }
  if (op == BinaryOp::Mul && is_of_script(right) && repeats(in, left) && repeats_by_method(in, right))
    throw_failure(refused(in, {"'", type_name(in, left), "' object cannot be interpreted as an integer"}));
  if (left_slot != nullptr) {
    Value answer = left_slot(in, op, left, right, false, dying);
    if (!answer.is(in.not_implemented)) return answer;
  }
  if (right_slot == nullptr || leaves_to_left(in, op, left, right)) return in.not_implemented;
  if (op == BinaryOp::Mul && repeats(in, left) && repeats(in, right)) return in.not_implemented;
  return right_slot(in, op, right, left, true, dying);
}

CompareOp swapped(CompareOp op) {
  static constexpr CompareOp kSwapped[] = {CompareOp::Gt, CompareOp::Ge, CompareOp::Eq,
                                           CompareOp::Ne, CompareOp::Lt, CompareOp::Le};
  return kSwapped[static_cast<int>(op)];
}

bool is_right_alone(Interpreter& in, CompareOp op, const Type* a, const Type* b) {
  return (b->type_flags & kScriptClass) != 0 && special_function(in, b, slot_of(swapped(op))) != nullptr &&
         is_wider_number(in, a, b) && special_function(in, a, slot_of(op)) == nullptr;
}

bool leaves_to_left(Interpreter& in, CompareOp op, const Value& left, const Value& right) {
  const Type* const b = type_of(in, right);
  return is_of_script(left) && is_wider_number(in, b, type_of(in, left)) &&
         !(is_of_script(right) && special_function(in, b, slot_of(swapped(op))) != nullptr);
}

}  // namespace

namespace {

Value thrown_if_failed(Value answer) {
  if (is_failure(answer)) [[unlikely]]
    throw_failure(answer);
  return answer;
}

}  // namespace

Value binary_answer(Interpreter& in, BinaryOp op, const Value& left, const Value& right, uint8_t dying) {
  if (const char* const type = refusing_sequence(in, op, left, right))
    return refused(in, {"can only concatenate ", type, " (not \"", type_name(in, right), "\") to ", type});
  Value answer = try_binary(in, op, left, right, dying);
  return answer.is(in.not_implemented) ? unsupported(in, symbol(op), left, right) : answer;
}

Value binary(Interpreter& in, BinaryOp op, const Value& left, const Value& right, uint8_t dying) {
  Value answer = try_binary(in, op, left, right, dying);
  if (answer.is(in.not_implemented)) throw_failure(unsupported(in, symbol(op), left, right));
  return answer;
}

Value inplace(Interpreter& in, BinaryOp op, const Value& left, const Value& right) {
  return thrown_if_failed(inplace_answer(in, op, left, right));
}

Value inplace_answer(Interpreter& in, BinaryOp op, const Value& left, const Value& right) {
  if (left.is_object()) {
    if (const auto slot = left.as_object()->type->slots.inplace) {
      if (is_late_in_place(in, op, left, right)) {
        const auto right_slot = type_of(in, right)->slots.binary;
        Value answer = right_slot != nullptr ? right_slot(in, op, right, left, true, kNoneDying) : in.not_implemented;
        if (!answer.is(in.not_implemented)) return answer;
      }
      Value answer = slot(in, op, left, right);
      if (!answer.is(in.not_implemented)) return answer;
    }
  }
  const auto own = type_of(in, left)->slots.binary;
  Value answer = !leaves_repetition(in, op, left, right) ? try_binary(in, op, left, right, kNoneDying)
                 : own != nullptr                    ? own(in, op, left, right, false, kNoneDying)
                                                     : in.not_implemented;
  return answer.is(in.not_implemented) ? unsupported(in, augmented_symbol(op), left, right) : answer;
}

Value unary(Interpreter& in, UnaryOp op, const Value& value) { return thrown_if_failed(unary_answer(in, op, value)); }

Value unary_answer(Interpreter& in, UnaryOp op, const Value& value) {
  if (is_number(value)) {
    Value answer = number_unary(in, op, value);
    if (!answer.is(in.not_implemented)) return answer;
  } else if (const auto slot = type_of(in, value)->slots.unary) {
    Value answer = slot(in, op, value);
    if (!answer.is(in.not_implemented) || is_of_script(value)) return answer;  // a method may give NotImplemented: no other operand is asked
  }
  return bad_operand(in, op, value);
}

Value compare(Interpreter& in, CompareOp op, const Value& left, const Value& right) {
  return thrown_if_failed(compare_answer(in, op, left, right));
}

Value compare_answer(Interpreter& in, CompareOp op, const Value& left, const Value& right) {
  if (is_number(left) && is_number(right)) return number_compare(in, op, left, right);
  Type* const a = type_of(in, left);
  Type* const b = type_of(in, right);
  const auto left_slot = a->slots.compare;
  auto right_slot = b->slots.compare;
  const bool right_alone = a != b && is_right_alone(in, op, a, b);
  if (right_slot != nullptr && a != b && (right_alone || b->is_subtype_of(a))) {
    Value answer = right_slot(in, swapped(op), right, left);
    if (!answer.is(in.not_implemented)) return answer;
    right_slot = nullptr;
  }
  if (left_slot != nullptr && !right_alone) {
    Value answer = left_slot(in, op, left, right);
    if (!answer.is(in.not_implemented)) return answer;
  }
  if (right_slot != nullptr && !leaves_to_left(in, op, left, right)) {
    Value answer = right_slot(in, swapped(op), right, left);
    if (!answer.is(in.not_implemented)) return answer;
  }
  if (op == CompareOp::Eq) return Value::boolean(left.is(right));
  if (op == CompareOp::Ne) return Value::boolean(!left.is(right));
  return incomparable(in, op, left, right);
}

// ---- The first method as a frame -------------------------------------------------------------------------------------

namespace {

struct Asked {
  Turn turn;
  Type* type;
  const Value* self;
  const Value* other;
  bool reflected, in_place;
};

// Whom binary() or inplace() ask, in their order, until f(asked) is true.
template <class F>
void for_each_operand(Interpreter& in, BinaryOp op, const Value& left, const Value& right, bool augmented, F&& f) {
  Type* const a = type_of(in, left);
  Type* const b = type_of(in, right);
  const bool in_place = augmented && a->slots.inplace != nullptr,
             late = in_place && is_late_in_place(in, op, left, right);
  if (in_place && !late && f(Asked{Turn::InPlace, a, &left, &right, false, true})) return;
  bool right_left = b->slots.binary != nullptr && a != b && !(augmented && leaves_repetition(in, op, left, right));
  if (right_left && is_right_alone(in, op, left, right)) {
    f(Asked{Turn::RightFirst, b, &right, &left, true, false});
    return;
  }
  if (right_left && (right_first(in, op, a, b) || right_before_sequence(in, op, left, right))) {
    if (f(Asked{Turn::RightFirst, b, &right, &left, true, false})) return;
    right_left = false;
  }
  if (late && f(Asked{Turn::LateInPlace, a, &left, &right, false, true})) return;
  if (a->slots.binary != nullptr && f(Asked{Turn::Left, a, &left, &right, false, false})) return;
  if (right_left && !leaves_to_left(in, op, left, right)) f(Asked{Turn::Right, b, &right, &left, true, false});
}

const Value* method_of(Interpreter& in, BinaryOp op, const Asked& asked) {
  return asked.in_place ? inplace_special(in, asked.type, op) : binary_special(in, asked.type, op, asked.reflected);
}

// Nothing comes of asking: the class lacks the method, or a number is to know what an object of a script's class is.
bool is_passed_by(const Asked& asked, const Value* method) {
  if (method != nullptr) return method->is_undefined();
  return is_number(*asked.self) && asked.other->is_object() && asked.other->as_object()->kind == ObjectKind::Instance;
}

template <class F>
void for_each_operand(Interpreter& in, CompareOp op, const Value& left, const Value& right, F&& f) {
  Type* const a = type_of(in, left);
  Type* const b = type_of(in, right);
  bool right_left = b->slots.compare != nullptr;
  const bool right_alone = a != b && is_right_alone(in, op, a, b);
  if (right_left && a != b && (right_alone || b->is_subtype_of(a))) {
    if (f(b, swapped(op), right, left) || right_alone) return;
    right_left = false;
  }
  if (a->slots.compare != nullptr && f(a, op, left, right)) return;
  if (right_left && !leaves_to_left(in, op, left, right)) f(b, swapped(op), right, left);
}

}  // namespace

void first_binary(Interpreter& in, BinaryOp op, const Value& left, const Value& right, bool augmented,
                  SpecialCall& call) {
  call.nobody = true;
  for_each_operand(in, op, left, right, augmented, [&](const Asked& asked) {
    const Value* const method = method_of(in, op, asked);
    if (is_passed_by(asked, method)) return false;
    call.nobody = false;
    if (method == nullptr || !is_function(*method)) return true;
    call.function = as_function(*method);
    call.self = asked.self;
    call.other = asked.other;
    call.turn = asked.turn;
    return true;
  });
}

Value unsupported_binary(Interpreter& in, BinaryOp op, const Value& left, const Value& right, bool augmented) {
  return unsupported(in, augmented ? augmented_symbol(op) : symbol(op), left, right);
}

Value binary_after_first(Interpreter& in, BinaryOp op, const Value& left, const Value& right, bool augmented,
                         Turn first) {
  Value answer = in.not_implemented;
  for_each_operand(in, op, left, right, augmented, [&](const Asked& asked) {
    const bool again = first == Turn::RightFirst && asked.turn == Turn::Right;  // the method has changed its class
    if (asked.turn <= first || again) return false;
    const TypeSlots& slots = asked.type->slots;
    answer = asked.in_place ? slots.inplace(in, op, *asked.self, *asked.other)
                            : slots.binary(in, op, *asked.self, *asked.other, asked.reflected, kNoneDying);
    return !answer.is(in.not_implemented);
  });
  if (answer.is(in.not_implemented))
    throw_failure(unsupported(in, augmented ? augmented_symbol(op) : symbol(op), left, right));
  return answer;
}

void first_compare(Interpreter& in, CompareOp op, const Value& left, const Value& right, SpecialCall& call) {
  for_each_operand(in, op, left, right, [&](Type* type, CompareOp asked, const Value& self, const Value& other) {
    call.function = special_function(in, type, slot_of(asked));
    call.inverted = call.function == nullptr && asked == CompareOp::Ne;
    if (call.inverted) call.function = special_function(in, type, SpecialSlot::EqForNe);
    if (call.function != nullptr) {
      call.self = &self;
      call.other = &other;
      call.turn = Turn::Left;
    }
    return true;
  });
}

Value compare_after_first(Interpreter& in, CompareOp op, const Value& left, const Value& right) {
  Value answer = in.not_implemented;
  bool first = true;
  for_each_operand(in, op, left, right, [&](Type* type, CompareOp asked, const Value& self, const Value& other) {
    if (std::exchange(first, false)) return false;
    answer = type->slots.compare(in, asked, self, other);
    return !answer.is(in.not_implemented);
  });
  if (!answer.is(in.not_implemented)) return answer;
  if (op == CompareOp::Eq) return Value::boolean(left.is(right));
  if (op == CompareOp::Ne) return Value::boolean(!left.is(right));
  throw_failure(incomparable(in, op, left, right));
}

bool less(Interpreter& in, const Value& left, const Value& right) {
  if (left.is_int() && right.is_int()) return left.as_int() < right.as_int();
  if (left.is_float() && right.is_float()) return left.as_float() < right.as_float();
  if (is_of_script(left) && right.is_object() && left.as_object()->type == right.as_object()->type) {
    if (Function* const method = special_function(in, left.as_object()->type, slot_of(CompareOp::Lt))) {
      Value answer = in.vm().call_function(method, left, Args{&right, 1});
      if (answer.is(in.not_implemented)) answer = compare_after_first(in, CompareOp::Lt, left, right);
      return answer.is_bool() ? answer.as_bool() : truth(in, answer);
    }
  }
  return truth(in, compare(in, CompareOp::Lt, left, right));
}

bool truth(Interpreter& in, const Value& value) {
  switch (value.tag()) {
    case Tag::Bool:
    case Tag::Int: return value.as_int() != 0;
    case Tag::Float: return value.as_float() != 0;
    case Tag::Object: break;
    default: return false;
  }
  const TypeSlots& slots = value.as_object()->type->slots;
  if (slots.truth != nullptr) return slots.truth(in, value);
  if (slots.length != nullptr) return slots.length(in, value) != 0;
  return true;
}

// CPython converts the index before a sequence refuses to be written.
static void check_sequence_key(Interpreter& in, const Value& object, const Value& key) {
  if (has_sequence_slots(object) && is_index(in, key)) index_sized(in, key, ErrorKind::IndexError);
}

Value get_item(Interpreter& in, const Value& object, const Value& key) {
  if (const auto slot = type_of(in, object)->slots.get_item) return slot(in, object, key);
  throw_error(ErrorKind::TypeError, "'%s' object is not subscriptable", std::string(type_name(in, object)).c_str());
}

void set_item(Interpreter& in, const Value& object, const Value& key, const Value& value) {
  if (const auto slot = type_of(in, object)->slots.set_item) return slot(in, object, key, value);
  check_sequence_key(in, object, key);
  throw_error(ErrorKind::TypeError, "'%s' object does not support item assignment",
              std::string(type_name(in, object)).c_str());
}

void del_item(Interpreter& in, const Value& object, const Value& key) {
  if (const auto slot = type_of(in, object)->slots.del_item) return slot(in, object, key);
  check_sequence_key(in, object, key);
  // CPython has two sentences: the first is for an index into a sequence.
  const bool by_index = has_sequence_slots(object) && is_index(in, key);
  throw_error(ErrorKind::TypeError, "'%s' object %s support item deletion", std::string(type_name(in, object)).c_str(),
              by_index ? "doesn't" : "does not");
}

}  // namespace tessera::lang
