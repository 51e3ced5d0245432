// What the library tells those who complete what a person types (lang/assist).
#pragma once

#include "lang/assist/complete.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

lang::Assist library_assist();

}  // namespace tessera::stdlib
