// CPython's single-letter options and its PYTHON... variables, as lang/core/flags.h keeps them.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/flags.h"

namespace tessera::repl {

// Sets the flag of a letter without a value. Returns false for a letter that CPython has not.
bool set_flag(lang::Flags& flags, char letter);

// `-X text`. Returns what is wrong with it, or an empty text.
std::string set_x_option(lang::Flags& flags, std::string_view text);

// Adds what the environment asks for, unless -E or -I keep it out; options of the command line win. Call it after all of them are read.
// Returns what is wrong with a variable, or an empty text.
std::string read_environment(lang::Flags& flags);

}  // namespace tessera::repl
