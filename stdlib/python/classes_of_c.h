// Classes of the standard modules that are written in the language here and in C in CPython.
#pragma once

#include "lang/types/class_names.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

const lang::ClassNames& classes_of_c();

}  // namespace tessera::stdlib
