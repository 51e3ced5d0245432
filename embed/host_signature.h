// Signatures of the host's functions, refused where they say what the language's `def` would refuse, name types that there are
// not, or do not fit the function behind them.
#pragma once

#include <cstddef>
#include <string>

#include "lang/core/native.h"

struct tsr_interpreter;

namespace tessera::embed {

// "f(x: int, k: float = 2.0) -> Tensor", read once for each interpreter; UsageError with the place underlined. A method names
// `self` first.
const lang::Signature* host_signature(tsr_interpreter* shell, const char* text, bool method);

// "T" or "T | U" for the result and then for each parameter: what the host's function answers and takes; "": whatever.
// UsageError where the signature promises something else.
void check_types(tsr_interpreter* shell, const lang::Signature& signature, const char* const* types, size_t count);

// For names of classes, properties and modules.
void check_identifier(const char* what, const std::string& name);

}  // namespace tessera::embed
