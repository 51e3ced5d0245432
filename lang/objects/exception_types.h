// The classes of exceptions: the tree, their fields and methods.
#pragma once

#include <string_view>
#include <vector>

#include "lang/core/error.h"

namespace tessera::lang {

class Interpreter;
struct Exception;
struct Object;
struct Type;

// Sets args and what the class's own fields follow from them, as CPython's __init__ does.
void fill_exception(Interpreter& in, Exception* exception, const Value& args);
// Adds __reduce__ and __setstate__ where `type`, the class of `kind`, has one of its own.
void add_exception_state(Interpreter& in, Type* type, ErrorKind kind);
// `destroy` slots.
void destroy_exception(Interpreter& in, Object* object);
void destroy_traceback(Interpreter& in, Object* object);
// The class, which nobody has asked for so far: error_type() in exception.h.
Type* make_error_type(Interpreter& in, ErrorKind kind);
// The class that is a builtin of this name, made now if need be; Undefined: none.
Value late_exception(Interpreter& in, std::string_view name);
// Their names, the old ones of OSError too.
std::vector<std::string_view> exception_names();
// __subclasses__() of a class of exceptions: the built-in ones, all of which are made now, in their order, then the others.
std::vector<Type*> exception_subclasses(Interpreter& in, Type* base);

}  // namespace tessera::lang
