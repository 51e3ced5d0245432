// ExceptionGroup and BaseExceptionGroup, and what `except*` does with them.
#pragma once

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

void make_exception_group_types(Interpreter& in);  // after the other exceptions
void add_exception_group_methods(Interpreter& in);

bool is_exception_group(Interpreter& in, const Value& value);
// The exceptions of a group, a tuple.
const Value& exceptions_of(const Value& group);

// `except* classes` with what is left of an exception: (the part that matches or None, the rest or None).
Value match_exception_group(Interpreter& in, const Value& exception, const Value& classes);
// What goes on after all clauses: `raised` is a list of what they raised and of what none of them took (None: nothing).
Value group_to_raise(Interpreter& in, const Value& original, const Value& raised);

}  // namespace tessera::lang
