// The longer steps of instructions, kept out of the loop so that it stays small and quick. Registers that are numbers and
// not pointers are there to tell temporaries, which die (Note [Temporaries die] in opcodes.def).
#pragma once

#include "lang/compiler/chunk.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/native.h"
#include "lang/core/type.h"
#include "lang/core/value.h"
#include "lang/vm/frame.h"

namespace tessera::lang {

class Interpreter;

// --- operators and items (steps_operators.cpp)

// Where the operands of an arithmetic instruction stand: B and C of its word.
enum class Operands : uint8_t { Registers, ConstantRight, ConstantLeft, NumberRight };

// Steps marked [[nodiscard]] answer true when they have entered a frame: of a special method of a script's class, whose
// answer comes to its place when that returns; or when they have failed, and the exception is in VirtualMachine::pending_.

// R[A] = left op right, for whatever the loop leaves to it: an int with a float, ints that do not fit, objects.
[[nodiscard]] bool arithmetic_step(Interpreter& in, Frame* frame, Word w, BinaryOp op, Operands operands);
[[nodiscard]] bool unary_step(Interpreter& in, Frame* frame, Word w, UnaryOp op);  // R[A] = op R[B]
// Finishes an arithmetic_step, compare_to_..._step, VirtualMachine::begin_special or begin_length with `answer`, the return value of the
// special method that the step has entered; `turn` is the method's turn (special.h), perhaps with kInverted.
void finish_operator_step(Interpreter& in, Frame* frame, uint32_t turn, Value& answer);
void finish_arithmetic_step(Interpreter& in, Frame* frame, uint32_t turn, Value& answer);
// R[A] = left op right, and the same for a jump: `holds` is the truth of the answer.
[[nodiscard]] bool compare_to_value_step(Interpreter& in, Frame* frame, Word w, CompareOp op);
[[nodiscard]] bool compare_to_jump_step(Interpreter& in, CompareOp op, const Value& left, const Value& right, bool& holds);
[[nodiscard]] bool compare_number_to_jump_step(Interpreter& in, CompareOp op, const Value& left, int64_t right, bool& holds);
// R[a] = object[key]. `b`, `c`: the operands' registers, or kNoRegister for a constant.
// Raised: the key is missing, and its error is `raised`. (Thrown from here it would cost ten times as much, and scripts
// that ask for forgiveness do so often.)
enum class Step : uint8_t { Done, Raised, Entered };
Step get_item_step(Interpreter& in, Frame* frame, uint32_t a, const Value& object, uint32_t b, const Value& key,
                   uint32_t c, Value& raised);
Step get_item_number_step(Interpreter& in, Frame* frame, Word w, Value& raised);
// The bounds of a slice become the slice itself, in the first one's register, where more than lists, tuples and strings are cut.
Step get_slice_step(Interpreter& in, Frame* frame, Word w, Value& raised);
bool set_slice_step(Interpreter& in, const Value& object, Value* bounds, const Value& value);  // false: now it is
// R[A][R[B]] = R[C] and del R[A][R[B]] of a script's class; false: nothing was done.
[[nodiscard]] bool enter_set_item_step(Interpreter& in, Frame* frame, Word w);
[[nodiscard]] bool enter_del_item_step(Interpreter& in, Frame* frame, Word w);
// The steps below that return false have failed; the exception is in VirtualMachine::pending_.
[[nodiscard]] bool set_item_step(Interpreter& in, const Value& object, const Value& key, const Value& value);
[[nodiscard]] bool del_item_step(Interpreter& in, const Value& object, const Value& key);
// The value of a str or int in a dict, where nothing of a script's is asked for it; else null.
Value* plain_item(Interpreter& in, Dict* dict, const Value& key) noexcept;
void get_attribute_step(Interpreter& in, Frame* frame, Word w, Str* name, InlineCache& cache);
// The attribute is a property whose getter is this one.
void get_native_attribute_step(Interpreter& in, Frame* frame, Word w, NativeFunction* getter);
// target = attribute of `object`, a temporary that dies; the target may be its place.
void take_attribute_step(Value& target, Value& object, const Value& attribute);

// Of ints, j > 0: rounded down.
// Numbers without a sign that fit 32 bits, which most are, take a shorter division.
inline bool divide_shortly(int64_t i, int64_t j) { return (static_cast<uint64_t>(i | j) >> 32) == 0; }
inline int64_t floor_remainder(int64_t i, int64_t j) {
  if (divide_shortly(i, j)) [[likely]]
    return static_cast<uint32_t>(i) % static_cast<uint32_t>(j);
  const int64_t m = i % j;
  return m < 0 ? m + j : m;
}
inline int64_t floor_quotient(int64_t i, int64_t j) {
  if (divide_shortly(i, j)) [[likely]]
    return static_cast<uint32_t>(i) / static_cast<uint32_t>(j);
  const int64_t q = i / j;
  return i % j < 0 ? q - 1 : q;
}

// Two ints, or an int and a float, as doubles that lose nothing: the ints are below 2**53.
inline bool are_exact_doubles(const Value& x, const Value& y, double& a, double& b) noexcept {
  const auto exact = [](const Value& v, double& number) {
    if (v.is_float()) {
      number = v.as_float();
      return true;
    }
    if (!v.is_int() || v.as_int() >= int64_t{1} << 53 || v.as_int() <= -(int64_t{1} << 53)) return false;
    number = static_cast<double>(v.as_int());
    return true;
  };
  return exact(x, a) && exact(y, b);
}
// power = x ** y. Returns false if y is negative or the answer has more than 64 bits.
inline bool int_power(int64_t x, int64_t y, int64_t& power) noexcept {
  if (y < 0 || y > 64) return false;
  power = 1;
  for (; y > 0; --y)
    if (__builtin_mul_overflow(power, x, &power)) return false;
  return true;
}
// Two texts whose class is str itself.
inline bool are_texts(const BuiltinTypes& types, const Value& x, const Value& y) noexcept {
  return x.is_object() && y.is_object() && x.as_object()->type == types.str && y.as_object()->type == types.str;
}

// --- names

[[nodiscard]] bool load_global_step(Interpreter& in, Frame* frame, Value& target, GlobalCache& cache);
void load_name_step(Interpreter& in, Frame* frame, Value& target, const Value& names, Str* name, const Cell* cell);

void store_global_step(Interpreter& in, Frame* frame, const Value& value, GlobalCache& cache);
void delete_name_step(Interpreter& in, const Value& names, Str* name);
void store_name_step(Interpreter& in, const Value& names, Str* name, const Value& value);
void delete_name_step(Interpreter& in, const Value& names, Str* name);
void make_cell_step(Interpreter& in, Value& place);
void share_cell_step(Value& target, Cell* cell);

// --- displays

void build_slice_step(Interpreter& in, Value* parts, uint32_t count);
void build_list_step(Interpreter& in, Value& target, Value* items, Word w);
void build_tuple_step(Interpreter& in, Value& target, Value* items, uint32_t count);
void build_set_step(Interpreter& in, Value& target, Value* items, uint32_t count);
void build_dict_step(Interpreter& in, Value& target, Value* items, Word w);
void build_string_step(Interpreter& in, Value& target, Value* parts, uint32_t count);
void format_value_step(Interpreter& in, Value* value, uint32_t conversion, bool has_spec);
// `callee` null: a display; else f(**other).
void list_extend_step(Interpreter& in, const Value& list, const Value& iterable);
void spread_step(Interpreter& in, Value& iterable, const Value& callee);  // f(*iterable)
void dict_update_step(Interpreter& in, const Value& dict, const Value& other, const Value* callee);
// Makes the TypeError of a value that is not iterable the pending exception of the loop. Returns false.
[[gnu::cold]] bool cannot_iterate(Interpreter& in, const Value& source);
// `take`: the source is a temporary.
[[nodiscard]] bool unpack_step(Interpreter& in, Value* target, Value& source, bool take, uint32_t count);
[[nodiscard]] bool unpack_star_step(Interpreter& in, Value* target, Value& source, bool take, uint32_t before, uint32_t after);

// The three registers of a for loop. List, tuple, ASCII str: the object and an index. Range: next, how many are left, step. Others:
// an iterator.
[[nodiscard]] bool for_prepare_step(Interpreter& in, Frame* frame, Value* state);
// An iterator of a list or tuple that nobody else has: the loop goes through the sequence itself.
void take_sequence(Interpreter& in, Value* state);
// `for x in f(…)`: of range no object is made.
[[nodiscard]] bool for_prepare_call_step(Interpreter& in, Frame* frame, Value* state, uint32_t count);
// Of a script's class: its __next__; false: nothing was done.
[[nodiscard]] bool enter_next_step(Interpreter& in, Value* state, uint32_t result);

// Does a loop's body begin by unpacking its item, a temporary, into two registers? `item` and `temporaries` are distances.
inline bool unpacks_pair(const Word* body, uint32_t item, uint32_t temporaries) {
  return op_of(*body) == Op::Unpack && body->b == item && body->c == 2 && item >= temporaries;
}

void make_function_step(Interpreter& in, Frame* frame, Code* code, Value* operands, uint32_t which);
// `callee`: the register that holds the function, or null. Returns false if the function has raised an exception, which is pending,
// or if it has entered a frame: the __len__ of a script's class, for a Call of len().
[[nodiscard]] bool call_native_step(Interpreter& in, const NativeFunction* function, Value* callee, Value* window,
                                    uint32_t count, Value& target);
// The short way of a callable for one argument, or null.
inline ShortWay::Fn short_way_of_one(const Value& callee) {
  if (!callee.is_object()) return nullptr;
  Object* const object = callee.as_object();
  if (object->kind == ObjectKind::NativeFunction) {
    const auto* const native = known_cast<NativeFunction>(object);
    return native->short_count == 1 && native->owner == nullptr ? native->short_way : nullptr;
  }
  return object->kind == ObjectKind::Type ? known_cast<Type>(object)->short_make : nullptr;
}
// Returns false if the short way does not take this argument; the function itself is called then.
[[nodiscard]] bool call_short_step(Interpreter& in, ShortWay::Fn way, const Value& argument, Value& target);
[[nodiscard]] bool load_method_step(Interpreter& in, Value* target, const Value& object, InlineCache& cache);

// The class has a plain method of this name, and the object no attribute that hides it.
inline bool method_is_cached(const AttributeSite& site, Object* object) {
  if (site.version != object->type->version || site.kind != AttributeSite::Kind::Method) return false;
  if (object->type->attributes_offset == 0) return (object->flags & kHasDictAside) == 0;
  const Attributes& attributes = attributes_of(object);
  return site.index >= attributes.count && attributes.dict == nullptr;
}

// Puts the two methods into `registers`. Returns true if it has entered __enter__, whose call is the next word, as a frame.
[[nodiscard]] bool with_setup_step(Interpreter& in, Frame* frame, Value* registers, bool is_async);
void exit_arguments_step(Interpreter& in, Value* target, const Value& exception);
// What `raise` raises: instantiated, with cause and context.
void raise_step(Interpreter& in, Value& raised, Value* operands, uint32_t form);

[[noreturn]] void throw_unbound_local(Interpreter& in, Str* name);
[[noreturn]] void throw_unbound_free(Interpreter& in, Str* name);
// The functions below leave their exception in VirtualMachine::pending_.
void raise_unbound_local(Interpreter& in, Str* name);
void raise_unbound_free(Interpreter& in, Str* name);
void raise_assertion(Interpreter& in, const Value* message);

// intrinsics.cpp
[[nodiscard]] bool intrinsic_step(Interpreter& in, Value& target, IntrinsicId id, Value* operands, Frame* frame);
// The class whose body has run: `state` is what intrinsic_step left with its frame.
void finish_class_step(Interpreter& in, Frame* frame, const Value& state, const Value& cell);

}  // namespace tessera::lang
