// Operands and results of the short ways of NumPy's everyday calls (array_calls.h): what a plain array is, and what a call gives.
#pragma once

#include <cstring>
#include <optional>

#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "runtime/ops.h"
#include "stdlib/namespaces.h"
#include "stdlib/python/native/support.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib::arrays {

struct ArrayCalls {
  Type* array = nullptr;
  Type* scalars[kDTypeCount] = {};
  Value dtypes[kDTypeCount];
  Value truths[2];
  Str *tensor = nullptr, *base = nullptr, *value = nullptr;
  Type *ufunc = nullptr, *iterator = nullptr, *dispatcher = nullptr;
  const OpEntry* ufuncs[32] = {};
  TypeSlots of_arrays, of_scalars, of_ufuncs, of_dtypes;  // the slots that the scripts' methods have
  int notice = 1;                   // 0: no error is noticed, 1: warnings, 2: more than warnings
};

// Sums and products of more elements are looked at only where an error is to raise: looking takes as long as adding.
constexpr int64_t kLookedAt = 4096;

constexpr uint64_t kTruths = 0x0101010101010101;  // eight of them; a view of other bytes as truths may have more bits

// Null before numpy is imported, and when the interpreter ends.
ArrayCalls* calls_of(Interpreter& in);
ArrayCalls& calls(Interpreter& in);

// The tensor of a plain array: of no class below, and its class has the attributes in their order. Null for anything else.
const Tensor* tensor_in(const ArrayCalls& s, const Value& v);
// The array has no attributes but its tensor and its base: it may be written, and its bytes are in the machine's order.
bool is_usual(const ArrayCalls&, const Value& v);
Value new_array(Interpreter& in, const ArrayCalls& s, Tensor t);
Value new_view(Interpreter& in, const ArrayCalls& s, const Value& parent, Tensor t);
Value boxed(Interpreter& in, Type* type, Value value);
// The scalar at an address; Undefined for types that are made by scripts.
Value scalar_at(Interpreter& in, const ArrayCalls& s, DType type, const char* at);
// Makes the answer an array, or a scalar where NumPy gives one; false where it has none.
bool give(Interpreter& in, const ArrayCalls& s, Tensor t, Value& answer);
// Says that there is nothing to report about a result. `look`: also of one of many elements.
bool is_fine(const ArrayCalls& s, const Tensor& t, bool look = false);

// The answer of f; false where the tensor operation refuses, or where a dispatch mode is to be asked first.
bool attempt(Interpreter& in, bool (*f)(void*), void* what);
template <class F>
bool attempt(Interpreter& in, F&& f) {
  return attempt(in, [](void* what) { return bool((*static_cast<std::remove_reference_t<F>*>(what))()); }, &f);
}

bool is_whole(DType t);
// A number of Python, or a scalar of the array's own type, beside elements of a type.
bool number_beside(const ArrayCalls& s, const Value& v, DType type, Scalar& out);
// The types that an operator has a short way for.
bool takes(BinaryOp op, DType a, DType b);
bool are_alike(const Tensor& a, const Tensor& b);

}  // namespace tessera::stdlib::arrays
