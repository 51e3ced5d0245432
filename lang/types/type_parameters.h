// Type variables of generic aliases and unions (list[T], T | int), and their substitution by type arguments: list[T][int].
#pragma once

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

// The different type variables in a tuple of arguments, in their order, as a tuple.
Value type_parameters(Interpreter& in, const Value& args);

// The arguments with `items` (one or a tuple) in place of the parameters. `alias` is for messages. The variables say themselves
// how they are replaced: __typing_subst__ and __typing_prepare_subst__ of module typing.
Value substitute_parameters(Interpreter& in, const Value& alias, const Value& args, const Value& parameters,
                            const Value& items);

}  // namespace tessera::lang
