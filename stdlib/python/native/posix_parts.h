// The parts of the module _posix.
#pragma once

#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

void add_posix_files(Interpreter& in, Module& module);    // calls on open files, owners and kinds of files
void add_posix_process(Interpreter& in, Module& module);  // this process: its times, rights, limits; other programs

}  // namespace tessera::stdlib
