// What the front end says about text that is not a program: CPython's class, message and place, as a plain value.
// Nothing here throws; the interpreter turns it into a script exception.
#pragma once

#include <cstdint>
#include <string>

#include "lang/syntax/source.h"

namespace tessera::lang {

struct SyntaxError {
  // The exception class CPython would raise. kRecursionError is for text nested too deeply to be compiled.
  enum class Class : std::uint8_t { kSyntaxError, kIndentationError, kTabError, kRecursionError };

  Class error_class = Class::kSyntaxError;
  std::string message;
  Span span;               // what the caret underlines
  std::uint32_t line = 1;  // as in CPython's attributes: line and column count from one, in characters
  std::uint32_t column = 1;
  std::uint32_t end_line = 1;
  std::uint32_t end_column = 1;  // one past the last underlined character
  bool no_end = false;           // CPython knows no end of it: end_offset is -1, and no caret is shown
  bool incomplete = false;       // more input could make it a program (what a prompt wants to know)

  const char* class_name() const;
};

SyntaxError make_syntax_error(const Source& source, Span span, std::string message,
                              SyntaxError::Class error_class = SyntaxError::Class::kSyntaxError);

// CPython's report of it:
//     File "name", line 3
//       x = (1
//           ^
//   SyntaxError: '(' was never closed
std::string format_syntax_error(const Source& source, const SyntaxError& error);

}  // namespace tessera::lang
