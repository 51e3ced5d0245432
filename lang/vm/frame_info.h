// Where the running program is, for natives that report it: warnings, logging, traceback.
#pragma once

#include <cstdint>
#include <string>

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

struct FrameInfo {
  std::string file;
  uint32_t line = 0;
  std::string function;
  Value globals;  // the dict of its module
};

// The script frame `depth` calls above the native function that asks (0: the function that called it); false: none.
bool frame_info(Interpreter& in, uint32_t depth, FrameInfo& info);
// What the innermost except block is handling (sys.exc_info()[1]); None when there is none.
Value current_exception(Interpreter& in);

}  // namespace tessera::lang
