#pragma once

#include "lang/core/interpreter.h"

namespace tessera::repl {

// What a person's own program may do: everything, without a limit.
lang::Limits all_granted();

}  // namespace tessera::repl
