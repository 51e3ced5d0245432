// Functions of the library that are written in the language and that CPython has in C: the errors of wrong calls speak as C's do.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/native.h"

namespace tessera::lang {

class Interpreter;
struct Dict;
struct Function;

// Returns true if the module's `__native__` names the function of this qualified name. `__native__` is True for a module whose functions are
// all in C in CPython, or a tuple of the names of functions and classes.
bool is_native_in_cpython(Interpreter& in, const Dict* globals, std::string_view qualname);

// Throws the TypeError of a function in C with the same parameters, if that has one for these arguments. It does so for methods, and for
// functions of a module that is native as a whole: a tuple in `__native__` may name functions that are Python's in CPython too.
//
// A parameter before `/` is one of METH_O or of a function that takes positions only; special methods are slot wrappers. The module's
// `__parsed__` maps the name of a function whose arguments CPython parses by a format to the name that the format gives it, "" if none, with a colon and
// an item for each argument behind where it converts them before it counts (i: an int; w: a part of a date by weeks; s: a str; C: a character;
// {name}: an instance of that class of the module; | stands before the optional ones); where `__parsed__` is False, CPython has the module in Python.
void refuse_native_call(Interpreter& in, const Function* function, const Args& args);

// The `__text_signature__` of a method in C with the function's parameters: "($self, key, /, default=None)".
// A first parameter of another name than "self" is positional only, as CPython's is.
std::string signature_in_c(Interpreter& in, const Function* function, bool is_method = true);

}  // namespace tessera::lang
