// Exceptions that have no caller to be raised to: of finalizers, callbacks of weak references, threads.
#pragma once

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

// Tells the exception through sys.unraisablehook. `message` says where it was ignored; null: "Exception ignored in".
// An exception of a host limit is not reported: the limit stays hit, and the run ends by it.
void report_unraisable(Interpreter& in, const Value& exception, const char* message, const Value& object) noexcept;

}  // namespace tessera::lang
