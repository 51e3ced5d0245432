// Methods of the library's classes that are written in the language and that CPython has in C, as scripts read them from the class.
#pragma once

#include <string>

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Str;
struct Type;

// The method_descriptor or slot wrapper that stands for the method `found` of a class with the flag kSpeaksAsC, or Undefined: `found` itself
// is read. It refuses a first argument of another class, as CPython's does. Instances do not read it: their calls are those of functions.
//
// The module's `__adopted__` maps the name of a class to the methods that CPython's class overrides and ours inherits from a native base:
// their messages name the class.
Value library_method(Interpreter& in, Type* type, Str* name, const Value& found);

// Whether the function is behind such a descriptor; `signature` then has its `__text_signature__`.
bool describes_library_method(Interpreter& in, const Value& descriptor, std::string& signature);

}  // namespace tessera::lang
