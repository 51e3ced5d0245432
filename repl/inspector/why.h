// The long form of an error: each frame with its lines and variables, what came before, and the mended line where one is known.
// It looks at variables without asking them: no __repr__ of a script runs; a message that a script makes has half a second.
#pragma once

#include <string>

#include "lang/core/interpreter.h"
#include "repl/session/client.h"

namespace tessera::repl {

std::string why_text(lang::Interpreter& in, const lang::Value& exception, const Style& style);

// What a session says of Ctrl-C: where it was, in the person's own lines.
std::string interrupt_text(lang::Interpreter& in, const lang::Value& exception);

// Who types sees what was raised; `sys.last_value` and its kin have it, as at Python's prompt.
void keep_last_exception(lang::Interpreter& in, const lang::Value& exception);

}  // namespace tessera::repl
