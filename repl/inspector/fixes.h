// What would mend a failed line, by the hint that its error carries.
#pragma once

#include <optional>
#include <string>

#include "lang/core/interpreter.h"

namespace tessera::repl {

struct Fix {
  std::string place;   // "In [3]:2"
  std::string before;  // the line as it is; empty: a line is missing
  std::string after;
};

// Nothing where there is no hint, or none that says what to write.
std::optional<Fix> fix_of(lang::Interpreter& in, const lang::Value& exception, const std::string& message);

}  // namespace tessera::repl
