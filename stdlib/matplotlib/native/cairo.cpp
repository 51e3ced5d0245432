// compile: small (cairo takes longer)
#include "stdlib/matplotlib/native/cairo.h"

#include "stdlib/python/native/machine_library.h"

namespace tessera::stdlib::cairo {
namespace {

Library opened() {
  Library made;
  MachineLibrary library({"libcairo.so.2", "libcairo.so"});
#define TS_CAIRO_FIND(NAME, RESULT, PARAMETERS) library.find("cairo_" #NAME, made.NAME);
  TS_CAIRO_FUNCTIONS(TS_CAIRO_FIND)
#undef TS_CAIRO_FIND
  if (!library.is_open()) made.problem = "pictures need the library cairo, which is not on this machine (Debian: apt install libcairo2)";
  else if (!library.is_complete()) made.problem = "the library cairo on this machine has no function " + library.missing();
  return made;
}

}  // namespace

const Library& library() {
  static const Library opened_once = opened();
  return opened_once;
}

}  // namespace tessera::stdlib::cairo
