// Types that natives look up by a name which a program can bind to something else.
#pragma once

#include "lang/core/type.h"

namespace tessera::lang {

// One address for each C++ structure: the `layout` of the types whose objects have it, where no other name is given.
template <class T>
inline constexpr char layout_of[] = "";

// The type behind what was found as `name`. Natives make objects of it, so anything else than a type of that layout is a TypeError:
// "_zlib.Compress is not the type that objects are made of here: it was replaced".
Type* own_type(const Value& found, const char* layout, const char* name);

}  // namespace tessera::lang
