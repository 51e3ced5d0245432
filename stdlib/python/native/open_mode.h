// The mode of open() and FileIO, and the descriptor that they open.
#pragma once

#include <string>

#include "lang/core/interpreter.h"
#include "lang/core/value.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

struct Mode {
  char kind = 'r';  // r, w, x or a
  bool plus = false, binary = false;
};

Mode parse_mode(const std::string& text);      // of open()
Mode parse_raw_mode(const std::string& text);  // of FileIO: always binary

struct Opened {
  int fd = -1;
  bool owned = true;
  Value name;
};

// Opens `file`: a path, or the number of an open file. ValueError, TypeError or OSError in CPython's words.
Opened open_descriptor(Interpreter& in, const Value& file, const Mode& mode, bool closefd, const Value& opener);

}  // namespace tessera::stdlib
