// Between class.cpp, class_statement.cpp and class_slots.cpp: the table of functions of a script class, and its flags.
#pragma once

#include <initializer_list>
#include <iterator>

#include "lang/core/native.h"
#include "lang/core/object_cast.h"
#include "lang/core/type.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Function;

// Puts into each slot what the class's special methods ask for: a trampoline where a script class defines one, the
// native function where a native base comes first.
void fill_slots(Interpreter& in, Type* type);
// A method of a native type, which a script has not written.
inline bool is_native_method(const Value& v) {
  return v.is_object() && v.as_object()->kind == ObjectKind::NativeFunction && known_cast<NativeFunction>(v)->is_method();
}
// The __new__ of a native type, and not a function that a class has under that name.
inline bool is_native_new(const Value& v) {
  return v.is_object() && v.as_object()->kind == ObjectKind::NativeFunction && known_cast<NativeFunction>(v)->owner != nullptr;
}
// Calls the special method that type_lookup has found for `self`, bound as an attribute would be: a staticmethod, a descriptor.
Value call_special(Interpreter& in, const Value& method, const Value& self, std::initializer_list<Value> rest = {});
// Flags that follow from special methods: hooks, finalizer.
void update_type_flags(Interpreter& in, Type* type);
// The special methods that the loop enters as frames: those of the protocols, of comparisons and of binary operators, each in the order of
// its enum. EqForNe is the __eq__ that answers `!=` in a class without an own __ne__.
enum class SpecialSlot : uint8_t { Call, GetItem, SetItem, DelItem, Iter, Next, Neg, Pos, Invert, Contains, Length, EqForNe, Lt, Add = Lt + 6 };
inline SpecialSlot slot_of(CompareOp op) noexcept { return static_cast<SpecialSlot>(static_cast<int>(SpecialSlot::Lt) + static_cast<int>(op)); }
inline SpecialSlot slot_of(BinaryOp op) noexcept { return static_cast<SpecialSlot>(static_cast<int>(SpecialSlot::Add) + static_cast<int>(op)); }
static_assert(static_cast<size_t>(SpecialSlot::Add) + static_cast<size_t>(BinaryOp::DivMod) < std::size(SpecialFunctions{}.functions));
Function* look_up_special(Interpreter& in, const Type* type, SpecialSlot slot);
// What a slot of the type would call, for whoever enters the method as a frame instead. Null: a native function, or anything
// but a plain function of a script.
inline Function* special_function(Interpreter& in, const Type* type, SpecialSlot slot) {
  const SpecialFunctions* const known = type->special_functions.get();
  const auto place = static_cast<size_t>(slot);
  if (known != nullptr && known->version == type->version && (known->asked >> place & 1) != 0) [[likely]]
    return known->functions[place];
  return look_up_special(in, type, slot);
}
// The same for operators, where a class may lack the one method: Undefined. Null: no method of a script's class is asked.
const Value* binary_special(Interpreter& in, const Type* type, BinaryOp op, bool reflected);
const Value* inplace_special(Interpreter& in, const Type* type, BinaryOp op);
// The flag of a class whose __abstractmethods__ has names (class_statement.cpp).
void note_abstract_methods(Interpreter& in, Type* type);
// The length that len() returns for `given`, the result of a __len__. Raises CPython's error if the result is not a valid length.
int64_t checked_length(Interpreter& in, const Value& given);

}  // namespace tessera::lang
