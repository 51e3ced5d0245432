// Methods of the library's classes that are written in the language and that CPython has in C, as scripts read them from the class.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/native.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Str;
struct Type;

// Reading the method `found` from a library class (a class with the flag kSpeaksAsC) gives a method_descriptor or a slot wrapper, which
// this function returns. The descriptor raises TypeError if its first argument is no instance of the class, as CPython's descriptor does.
// The function returns Undefined if the class has no such descriptor; then reading the method gives `found`. A method read from an instance
// is always the plain function.
//
// The dict `__adopted__` of the class's module maps a class name to a tuple of method names: methods that CPython's class overrides and that
// this class inherits from a native base. The error messages of these methods name the class instead of the base.
Value library_method(Interpreter& in, Type* type, Str* name, const Value& found);

// The data of a native function that stands before a function of a script: the native's doc and `__text_signature__` are the script's.
struct StandsBefore {
  Value function;
  const void* with = nullptr;  // what the native itself needs
};

// Returns a native function that stands before a function of a script. `with` outlives it.
Value stand_before(Interpreter& in, std::string_view name, NativeFn native, const Value& function, const void* with = nullptr);

// Returns true if `descriptor` was made by library_method or stand_before for a function of a script, and then stores its `__text_signature__` in `signature`.
bool describes_library_method(Interpreter& in, const Value& descriptor, std::string& signature);

}  // namespace tessera::lang
