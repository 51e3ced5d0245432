// One value, as much of it as there is to see: what `:inspect` shows.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/interpreter.h"
#include "repl/session/client.h"

namespace tessera::repl {

// A tensor or an array of NumPy: its layout, memory and history, who shares the memory, numbers, histogram, heat map or
// picture, and the gradient beside it. A layer: its table. Anything else: what it is. `name` is what the person wrote.
std::string inspect_text(lang::Interpreter& in, const lang::Value& value, std::string_view name, const Style& style);

}  // namespace tessera::repl
