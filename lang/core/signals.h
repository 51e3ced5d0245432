// Signals whose handlers a script has written.
#pragma once

#include <cstdint>

namespace tessera::lang {

// A bit of Interpreter::interrupt: at the next safe point `_deliver` of the module `signal` calls the handlers.
inline constexpr uint32_t kSignalArrived = 8;

}  // namespace tessera::lang
