// The longer steps of instructions, kept out of the loop so that it stays small and quick. Registers that are numbers and
// not pointers are there to tell temporaries, which die (Note [Temporaries die] in opcodes.def).
#pragma once

#include "lang/compiler/chunk.h"
#include "lang/vm/frame.h"
#include "lang/make_object.h"
#include "lang/type.h"
#include "lang/value.h"

namespace tessera {

class Interpreter;

// R[a] = left op right. `b`, `c`: the operands' registers, or kNoRegister for a constant.
void binary_step(Interpreter& in, Frame* frame, BinaryOp op, uint32_t a, const Value& left, uint32_t b,
                 const Value& right, uint32_t c);
bool compare_step(Interpreter& in, CompareOp op, const Value& left, const Value& right);
void get_item_step(Interpreter& in, Frame* frame, uint32_t a, const Value& object, uint32_t b, const Value& key,
                   uint32_t c);
void set_item_step(Interpreter& in, const Value& object, const Value& key, const Value& value);

void load_global_step(Interpreter& in, Frame* frame, Value& target, Str* name, InlineCache& cache, Dict* builtins);
void load_name_step(Interpreter& in, Frame* frame, Value& target, const Value& names, Str* name, Dict* builtins,
                    const Cell* cell);

void build_set_step(Interpreter& in, Value& target, Value* items, uint32_t count);
void build_dict_step(Interpreter& in, Value& target, Value* items, uint32_t pairs);
void build_string_step(Interpreter& in, Value& target, Value* parts, uint32_t count);
void format_value_step(Interpreter& in, Value* value, uint32_t conversion, bool has_spec);
// `callee` null: a display; else f(*iterable), f(**other).
void list_extend_step(Interpreter& in, const Value& list, const Value& iterable, const Value* callee);
void dict_update_step(Interpreter& in, const Value& dict, const Value& other, const Value* callee);
void unpack_step(Interpreter& in, Value* target, Value* registers, uint32_t source, uint32_t count,
                 uint32_t temporaries);
void unpack_star_step(Interpreter& in, Value* target, Value* registers, uint32_t source, uint32_t before,
                      uint32_t after, uint32_t temporaries);

// The three registers of a for loop. List, tuple: the object and an index. Range: next, how many are left, step. Others:
// an iterator.
void for_prepare_step(Interpreter& in, Value* state);
// `for x in range(…)`: true when state[0] is the builtin range and its arguments are ints.
bool for_prepare_range(Interpreter& in, Value* state, uint32_t count);

void make_function_step(Interpreter& in, Frame* frame, Code* code, Value* operands, uint32_t which);
void call_native_step(Interpreter& in, const NativeFunction* function, Value* window, uint32_t count, Value& target);
void load_method_step(Interpreter& in, Value* target, const Value& object, Str* name, AttributeSite& site);

// The class has a plain method of this name, and the object no attribute that hides it.
inline bool method_is_cached(const AttributeSite& site, Object* object) {
  if (site.version != object->type->version || site.kind != AttributeSite::Kind::Method) return false;
  if (object->type->attributes_offset == 0) return true;
  const Attributes& attributes = attributes_of(object);
  return site.index >= attributes.count && attributes.dict == nullptr;
}

void with_setup_step(Interpreter& in, Value* registers);
void exit_arguments_step(Interpreter& in, Value* target, const Value& exception);
// What `raise` raises: instantiated, with cause and context.
Value raise_step(Interpreter& in, Value* operands, uint32_t form);
// False: the iterator has ended, its value is in `result`. Else the item is in state[1].
bool yield_from_step(Interpreter& in, Value* state, Value& result);

[[noreturn]] void throw_unbound_local(Interpreter& in, Str* name);
[[noreturn]] void throw_unbound_free(Interpreter& in, Str* name);
[[noreturn]] void throw_assertion(Interpreter& in, const Value* message);

// intrinsics.cpp
void intrinsic_step(Interpreter& in, Value& target, IntrinsicId id, Value* operands, Frame* frame);

}  // namespace tessera
