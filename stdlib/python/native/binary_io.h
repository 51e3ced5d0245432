// Binary files, for the module _io.
#pragma once

#include "lang/core/interpreter.h"
#include "lang/core/value.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

struct BinaryOptions {
  int fd = -1;  // -1: the file is closed
  bool owns_fd = true;
  char kind = 'r';  // r, w, x or a
  bool plus = false, buffered = true;
  Value name;
};

// A file object around an open descriptor.
Value make_binary_file(Interpreter& in, const BinaryOptions& options);
Value make_standard_binary(Interpreter& in, int which);  // the `buffer` of stdin, stdout or stderr
void add_binary_files(Interpreter& in, Module& module);  // the types, into _io
// The first argument of a native __new__: the type that has the method, or a class below it.
Type* class_to_make(Interpreter& in, const Args& args);

}  // namespace tessera::stdlib
