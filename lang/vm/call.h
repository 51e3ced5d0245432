// Arguments of calls to script functions.
#pragma once

#include <cstdint>
#include <string>

#include "lang/compiler/chunk.h"
#include "lang/core/native.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

// Distributes arguments over the parameters' registers at `window`, moving them. Where they do not fit it leaves a TypeError in CPython's
// words to the loop (VirtualMachine::raise_next) and returns false. `arguments` must not overlap the window.
[[nodiscard]] bool bind_parameters(Interpreter& in, const Function* function, Value* arguments, uint32_t count, const Tuple* keywords,
                     Value* window);
// Empties registers.
inline void drop(Value* values, uint32_t count) noexcept {
  for (const Value* const end = values + count; values != end; ++values) values->clear();
}
// "f()" for messages about a callee.
std::string callee_text(Interpreter& in, const Value& callee);

}  // namespace tessera::lang
