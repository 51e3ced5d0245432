// How a native fails without a C++ exception, which costs microseconds to unwind: `return failure(in, Error(...))`.
//
// The answer is Undefined and carries the exception: whoever calls natives looks at it at once (call_native_step, call_native,
// instantiate) and nobody else gets to see one. So only functions that are called as natives may answer it: those of a NativeDef and
// the makers of types. Whatever else throws.
#pragma once

#include "lang/core/error.h"
#include "lang/core/native.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Type;

Value failure(Interpreter& in, const Error& error);
inline bool is_failure(const Value& answer) noexcept { return answer.is_undefined() && answer.as_object() != nullptr; }
// The exception that a failure carries, which is released from it.
inline Value take_failure(const Value& answer) noexcept { return Value::adopt(answer.as_object()); }
// The answer; throws the exception of a failure.
[[noreturn]] void throw_failure(const Value& answer);
inline Value checked(Value answer) {
  if (is_failure(answer)) [[unlikely]]
    throw_failure(answer);
  return answer;
}

}  // namespace tessera::lang
