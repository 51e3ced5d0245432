// ExceptionGroup and BaseExceptionGroup, and what `except*` does with them.
#pragma once

#include "lang/core/error.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Type;

// Makes of a new class of exceptions the one of the two that `kind` says.
bool makes_groups(const Type* type);  // whether it is BaseExceptionGroup or a class below it
void become_exception_group(Interpreter& in, Type* type, ErrorKind kind);

bool is_exception_group(Interpreter& in, const Value& value);
// The exceptions of a group, a tuple.
const Value& exceptions_of(const Value& group);

// `except* classes` with what is left of an exception: (the part that matches or None, the rest or None).
Value match_exception_group(Interpreter& in, const Value& exception, const Value& classes);
// What goes on after all clauses: `raised` is a list of what they raised and of what none of them took (None: nothing).
Value group_to_raise(Interpreter& in, const Value& original, const Value& raised);

}  // namespace tessera::lang
