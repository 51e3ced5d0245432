// Between class.cpp, class_statement.cpp and class_slots.cpp: the table of functions of a script class, and its flags.
#pragma once

#include "lang/core/type.h"

namespace tessera::lang {

// Puts into each slot what the class's special methods ask for: a trampoline where a script class defines one, the
// native function where a native base comes first.
void fill_slots(Interpreter& in, Type* type);
// Flags that follow from special methods: hooks, finalizer.
void update_type_flags(Interpreter& in, Type* type);
// The flag of a class whose __abstractmethods__ has names (class_statement.cpp).
void note_abstract_methods(Interpreter& in, Type* type);

}  // namespace tessera::lang
