// The slots of ndarray, of its scalars and dtypes: each answers the everyday cases and leaves the others to the script's slot.
#pragma once

#include "stdlib/numpy/native/array_operands.h"

namespace tessera::stdlib::arrays {

// self OP other, or with `reflected` other OP self; false where the script is to answer.
bool array_binary(Interpreter& in, const ArrayCalls& s, BinaryOp op, const Value& self, const Value& other, bool reflected, Value& answer);

Value binary_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t dying);
Value inplace_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other);
Value unary_slot(Interpreter& in, UnaryOp op, const Value& self);
Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other);
Value scalar_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t dying);
Value scalar_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other);
Value dtype_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other);

Value get_item_slot(Interpreter& in, const Value& self, const Value& key);
void set_item_slot(Interpreter& in, const Value& self, const Value& key, const Value& value);
int64_t length_slot(Interpreter& in, const Value& self);
Value iter_slot(Interpreter& in, const Value& self);
// The type of what iter_slot gives.
Type* new_iterator_type(Interpreter& in);

// x[places] of a flat array into `out`; false where an index is out of range.
bool take_places(const Tensor& t, const Tensor& places, Tensor& out);

}  // namespace tessera::stdlib::arrays
