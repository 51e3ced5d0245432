// The parts of str's methods, one per file.
#pragma once

#include "lang/core/interpreter.h"

namespace tessera::lang {

void str_case_methods(Interpreter& in);    // lower, isalpha …
void str_search_methods(Interpreter& in);  // find, replace, split, strip …

// Where start and end arguments of find, count, startswith … lie, in bytes; false when start is behind the end.
bool byte_range(Interpreter& in, Str* s, const Value& start, const Value& end, size_t& from, size_t& to);

}  // namespace tessera::lang
