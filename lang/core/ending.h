// Is the run at its end, by a limit or by its host? Then no finalizer and no callback is begun any more.
#pragma once

#include "lang/core/interpreter.h"

namespace tessera::lang {

inline bool is_ending(const Interpreter& in) {
  return (in.interrupt.load(std::memory_order_relaxed) & (kLimitHit | kTimeIsUp | kCancelled)) != 0;
}

}  // namespace tessera::lang
