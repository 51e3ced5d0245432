// The parts of the module `builtins`, one per file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/core/interpreter.h"
#include "lang/objects/module.h"

namespace tessera::lang {

void add_number_functions(Interpreter& in, Module& module);     // abs, round, pow, hex …
// The short way of len(), by which the machine knows it.
bool short_length(Interpreter& in, Value* args, Value& answer);
void add_object_functions(Interpreter& in, Module& module);     // getattr, isinstance, hash …
void add_iteration_functions(Interpreter& in, Module& module);  // sorted, sum, min, iter …
void add_output_functions(Interpreter& in, Module& module);     // print, input, open
void add_scope_functions(Interpreter& in, Module& module);      // globals, locals, vars, dir
void add_code_functions(Interpreter& in, Module& module);       // eval, exec, compile, __import__, breakpoint
void make_lazy_iterator_types(Interpreter& in);                 // enumerate, zip, map, filter, reversed

// A builtin of this name, or null. The classes of exceptions and bytes are made, and put into the module, when they are
// first asked for: whoever reads the dict alone does not see those that nobody has named.
const Value* find_builtin(Interpreter& in, Str* name);
std::vector<std::string_view> late_builtin_names();
void complete_builtins(Interpreter& in);  // makes them all

// The builtin __import__: what the import statement calls, unless the program has replaced it.
Value import_function(Interpreter& in, const Args& args);

// The builtin __build_class__: what the class statement calls, unless the program has replaced it.
Value build_class_function(Interpreter& in, const Args& args);

// What help(object) prints: the signature or class, and the docstring.
std::string help_text(Interpreter& in, const Value& object);

template <size_t N>
void define_all(Interpreter& in, Module& module, const NativeDef (&rows)[N]) {
  for (const NativeDef& row : rows) in.def(module, row);
}

}  // namespace tessera::lang
