// The interned strings of names.def, as members: in.names->init is "__init__".
#pragma once

#include "lang/types/str.h"

namespace tessera::lang {

struct Names {
#define TS_NAME(member, text) Str* member;
#include "lang/core/names.def"
#undef TS_NAME
};

}  // namespace tessera::lang
