// The sizes of objects in bytes that sys.getsizeof and object.__sizeof__ report: those of CPython 3.11.
#pragma once

#include <cstdint>

#include "lang/core/value.h"

namespace tessera::lang {

struct Type;

// The bytes that CPython 3.11 takes for an object of a built-in type or of a script's class, without the head that its collector
// puts before it; of other objects those that we take. Programs that teach what a list or an int costs print these.
int64_t size_in_cpython(Interpreter& in, const Value& value);
// A class's `__basicsize__` and `__itemsize__` in CPython.
int64_t basic_size_in_cpython(Interpreter& in, const Type* type);
int64_t item_size_in_cpython(Interpreter& in, const Type* type);
// A class's `__dictoffset__` in CPython.
int64_t dict_offset_in_cpython(Interpreter& in, const Type* type);
// The bytes that CPython allocates before an object: the head of the garbage collector, and the pointers to an instance's dict.
int64_t collector_head(Interpreter& in, const Value& value);

}  // namespace tessera::lang
