// What the language does with values, for native code: the same steps that the virtual machine takes.
// All of these may throw Error or Thrown, and may run script code.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "lang/core/error.h"
#include "lang/core/native.h"
#include "lang/core/type.h"
#include "lang/core/value.h"

namespace tessera::lang {

// Calls. `call_method` looks the name up on the object; both accept positional arguments only.
Value call(Interpreter& in, const Value& callee, const Args& args);
Value call(Interpreter& in, const Value& callee, std::initializer_list<Value> args = {});
Value call_method(Interpreter& in, const Value& object, Str* name, std::initializer_list<Value> args = {});
bool is_callable(Interpreter& in, const Value& value);

// Attributes, with descriptors, hooks and the class's order. `find_attr` answers Undefined where get_attr raises.
Value get_attr(Interpreter& in, const Value& object, Str* name);
Value find_attr(Interpreter& in, const Value& object, Str* name);
void set_attr(Interpreter& in, const Value& object, Str* name, const Value& value);
void del_attr(Interpreter& in, const Value& object, Str* name);
// Looks through the mro of the type only; Undefined when missing. No descriptor is asked.
const Value& type_lookup(const Type* type, const Str* name);

Type* type_of(Interpreter& in, const Value& value);
bool is_instance(Interpreter& in, const Value& value, const Type* type);             // no hooks
bool is_instance(Interpreter& in, const Value& value, const Value& class_or_tuple);  // isinstance()
bool is_subclass(Interpreter& in, const Value& type, const Value& class_or_tuple);
// "int", "Tensor": the name for messages.
std::string_view type_name(Interpreter& in, const Value& value);

// Operators.
Value binary(Interpreter& in, BinaryOp op, const Value& left, const Value& right, uint8_t dying = 0);
Value inplace(Interpreter& in, BinaryOp op, const Value& left, const Value& right);
Value unary(Interpreter& in, UnaryOp op, const Value& value);
Value compare(Interpreter& in, CompareOp op, const Value& left, const Value& right);
bool equals(Interpreter& in, const Value& left, const Value& right);  // identity first, then ==
bool less(Interpreter& in, const Value& left, const Value& right);
bool truth(Interpreter& in, const Value& value);
int64_t hash(Interpreter& in, const Value& value);
int64_t length(Interpreter& in, const Value& value);
Value get_item(Interpreter& in, const Value& object, const Value& key);
void set_item(Interpreter& in, const Value& object, const Value& key, const Value& value);
void del_item(Interpreter& in, const Value& object, const Value& key);
bool contains(Interpreter& in, const Value& container, const Value& item);

// Iteration. Each item that is pulled is a step of the program and a safe point (Interpreter::poll): a native that goes
// through `next` or `for_each` can be stopped, and needs nothing of its own for that.
Value iter(Interpreter& in, const Value& iterable);
bool next(Interpreter& in, const Value& iterator, Value& out);         // false: exhausted
void count_item(Interpreter& in);                                      // the step, for those that pull by themselves
bool is_plain_sequence(Interpreter& in, const Value& value) noexcept;  // a list or tuple, of no subclass
bool plain_item(const Value& sequence, size_t index,
                Value& out) noexcept;  // of a plain sequence; false: behind the end
template <class F>                     // f(Value) for each item; lists and tuples without an iterator object
void for_each(Interpreter& in, const Value& iterable, F&& f) {
  Value item;
  if (is_plain_sequence(in, iterable)) {
    const Value sequence = iterable;
    for (size_t i = 0; plain_item(sequence, i, item); ++i) {
      count_item(in);
      f(std::move(item));
    }
    return;
  }
  const Value it = iter(in, iterable);
  while (next(in, it, item)) f(std::move(item));
}

// Text.
Value repr(Interpreter& in, const Value& value);  // a Str
Value str(Interpreter& in, const Value& value);
std::string repr_text(Interpreter& in, const Value& value);
std::string str_text(Interpreter& in, const Value& value);
Value format(Interpreter& in, const Value& value, std::string_view spec);

// Numbers. `index` is what operator.index gives: int, bool or __index__, else TypeError; OverflowError ("Python int too large
// to convert to C ssize_t") beyond 64 bits. `whole_index` (types/number.h) has no bound.
int64_t index(Interpreter& in, const Value& value);
double to_float(Interpreter& in, const Value& value);  // float(): int, bool, __float__, __index__

}  // namespace tessera::lang
