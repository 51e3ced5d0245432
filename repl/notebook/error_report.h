// An exception as data: what was raised, what is said of it, and where.
#pragma once

#include <string_view>

#include "lang/core/interpreter.h"
#include "repl/notebook/frontend.h"

namespace tessera::repl {

// `text`: the traceback with its notes, as a prompt shows it. Asks scripts for nothing but the exception's own text.
ErrorReport error_report(lang::Interpreter& in, const lang::Value& exception, std::string_view text);

}  // namespace tessera::repl
