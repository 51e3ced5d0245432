// How a native fails without a C++ exception, which costs microseconds to unwind: `return failure(in, Error(...))`.
//
// The answer is Undefined and carries the exception, so only functions that are called as natives may answer it: those of a NativeDef and
// the makers of types. Whoever calls one gets the exception thrown, for both are kept as a Native; only who asks for its bare answer()
// (the loop, and what calls natives for it) sees a failure, and looks for it at once.
#pragma once

#include <cstddef>
#include <type_traits>

#include "lang/core/value.h"

namespace tessera::lang {

struct Error;
class Interpreter;
struct Args;
struct Type;

Value failure(Interpreter& in, const Error& error);
inline bool is_failure(const Value& answer) noexcept { return answer.is_undefined() && answer.as_object() != nullptr; }
// The exception that a failure carries, which is released from it.
inline Value take_failure(const Value& answer) noexcept { return Value::adopt(answer.as_object()); }
[[noreturn]] void throw_failure(const Value& answer);

// The pointer to a native function.
template <class... Parameters>
class Native {
 public:
  using Pointer = Value (*)(Interpreter& in, Parameters...);

  constexpr Native() noexcept = default;
  constexpr Native(std::nullptr_t) noexcept {}
  constexpr Native(Pointer function) noexcept : pointer_(function) {}
  template <class Lambda>
    requires std::is_convertible_v<Lambda, Pointer>
  constexpr Native(Lambda function) noexcept : pointer_(function) {}

  Value operator()(Interpreter& in, Parameters... parameters) const {
    Value answer = pointer_(in, parameters...);
    if (is_failure(answer)) [[unlikely]]
      throw_failure(answer);
    return answer;
  }
  // May be a failure.
  Value answer(Interpreter& in, Parameters... parameters) const { return pointer_(in, parameters...); }

  constexpr bool operator==(const Native& other) const noexcept = default;
  constexpr bool operator==(std::nullptr_t) const noexcept { return pointer_ == nullptr; }

 private:
  Pointer pointer_ = nullptr;
};

using NativeFn = Native<const Args&>;
using TypeMaker = Native<Type*, const Args&>;

}  // namespace tessera::lang
