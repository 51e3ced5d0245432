// The limits of a program that a person starts: none.
#pragma once

#include "lang/core/interpreter.h"

namespace tessera::repl {

// It may do everything.
lang::Limits all_granted();

}  // namespace tessera::repl
