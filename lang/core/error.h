// How an error travels through C++ code.
//
// Native code throws Error: the class's name in the language and the message. Where the virtual machine's loop meets
// it (one catch, outside the loop) it becomes an exception object with a traceback. An exception object that a script
// raised travels through native frames (sorted() calling a key function, say) as Thrown.
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "lang/core/value.h"

namespace tessera::lang {

enum class ErrorKind : uint8_t {
#define TS_ERROR(name, base) name,
#include "lang/core/errors.def"
#undef TS_ERROR
};
inline constexpr size_t kErrorKinds = static_cast<size_t>(ErrorKind::ExceptionGroup) + 1;

struct Error : std::exception {
  ErrorKind kind;
  std::string message;
  Value value;  // args[0] where it is not the message: the key of a KeyError, a StopIteration's value, an exit code
  std::vector<std::string> notes;  // lines that only the traceback shows, below the message: shapes, a hint

  Error(ErrorKind k, std::string m) : kind(k), message(std::move(m)) {}
  Error(ErrorKind k, Value v) : kind(k), value(std::move(v)) {}
  const char* what() const noexcept override { return message.c_str(); }
};

struct Thrown : std::exception {
  Value exception;  // an Exception object
  explicit Thrown(Value e) : exception(std::move(e)) {}
  const char* what() const noexcept override { return "an exception of the language"; }
};

// printf-style shorthand: throw_error(ErrorKind::TypeError, "object of type '%s' has no len()", name).
[[noreturn]] void throw_error(ErrorKind kind, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace tessera::lang
