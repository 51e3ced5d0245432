// Between binascii_module.cpp and binascii_mail.cpp.
#pragma once

#include <string>

#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

// Raises binascii.Error.
[[noreturn]] void throw_binascii(Interpreter& in, const std::string& message);
// The bytes of an ASCII string or of a bytes-like object; TypeError or ValueError for anything else.
std::string ascii_argument(Interpreter& in, const Value& v);
// A flag that CPython takes as a C int, after the arguments before it.
bool flag_argument(Interpreter& in, const Value& v);
void add_mail_encodings(Interpreter& in, Module& module);

}  // namespace tessera::stdlib
