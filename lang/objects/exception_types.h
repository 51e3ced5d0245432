// The classes of exceptions: the tree, their fields and methods.
#pragma once

namespace tessera::lang {

class Interpreter;
class Value;
struct Exception;

// Sets args and what the class's own fields follow from them, as CPython's __init__ does.
void fill_exception(Interpreter& in, Exception* exception, const Value& args);
void add_exception_methods(Interpreter& in);  // when signatures can be parsed
// All classes, the ones that only scripts name too, into the dict of the module `builtins`.
void add_exceptions(Interpreter& in, struct Dict* builtins);

}  // namespace tessera::lang
