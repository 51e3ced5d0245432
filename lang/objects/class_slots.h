// Between class.cpp, class_statement.cpp and class_slots.cpp: the table of functions of a script class, and its flags.
#pragma once

#include <initializer_list>

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
// Calls the special method that type_lookup has found for `self`, bound as an attribute would be: a staticmethod, a descriptor.
Value call_special(Interpreter& in, const Value& method, const Value& self, std::initializer_list<Value> rest = {});
// Flags that follow from special methods: hooks, finalizer.
void update_type_flags(Interpreter& in, Type* type);
// What a slot of the type would call, for whoever enters the method as a frame instead. Null: a native function, or anything
// but a plain function of a script.
enum class SpecialSlot : uint8_t { Call, GetItem, SetItem, DelItem, Iter, Next, Neg, Pos, Invert, Contains, Length };
Function* special_function(Interpreter& in, const Type* type, SpecialSlot slot);
// The same for operators, where a class may lack the one method: Undefined. Null: no method of a script's class is asked.
const Value* binary_special(Interpreter& in, const Type* type, BinaryOp op, bool reflected);
const Value* inplace_special(Interpreter& in, const Type* type, BinaryOp op);
const Value* compare_special(Interpreter& in, const Type* type, CompareOp op);
// The flag of a class whose __abstractmethods__ has names (class_statement.cpp).
void note_abstract_methods(Interpreter& in, Type* type);
// The length that len() returns for `given`, the result of a __len__. Raises CPython's error if the result is not a valid length.
int64_t checked_length(Interpreter& in, const Value& given);

}  // namespace tessera::lang
