#include "stdlib/matplotlib/native/cairo.h"

#include <dlfcn.h>

namespace tessera::stdlib::cairo {
namespace {

Library opened() {
  Library made;
  void* handle = nullptr;
  for (const char* name : {"libcairo.so.2", "libcairo.so"})
    if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    made.problem = "pictures need the library cairo, which is not on this machine (Debian: apt install libcairo2)";
    return made;
  }
#define TS_CAIRO_LOAD(NAME, RESULT, PARAMETERS)                                      \
  made.NAME = reinterpret_cast<RESULT(*) PARAMETERS>(dlsym(handle, "cairo_" #NAME)); \
  if (made.NAME == nullptr) made.problem = "the library cairo on this machine has no function cairo_" #NAME;
  TS_CAIRO_FUNCTIONS(TS_CAIRO_LOAD)
#undef TS_CAIRO_LOAD
  return made;
}

}  // namespace

const Library& library() {
  static const Library opened_once = opened();
  return opened_once;
}

}  // namespace tessera::stdlib::cairo
