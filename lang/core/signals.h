// The bits of Interpreter::interrupt: what others (a signal handler, another thread, the clock, the allocator) want of a
// running program. It hears of them at its next safe point, in C++ as in script code.
#pragma once

#include <cstdint>

namespace tessera::lang {

inline constexpr uint32_t kKeyboard = 1;       // Ctrl-C: a KeyboardInterrupt, which a script may catch
inline constexpr uint32_t kCancelled = 2;      // by the host; no script catches it, nor what follows from the next two
inline constexpr uint32_t kTimeIsUp = 16;      // the time limit of the run
inline constexpr uint32_t kLimitHit = 32;      // a limit was hit: stays until the run has unwound
inline constexpr uint32_t kCollectionDue = 4;  // of cycles
inline constexpr uint32_t kSignalArrived = 8;  // `_deliver` of the module `signal` calls the script's handlers
inline constexpr uint32_t kMemoryShort = 64;   // the reserve is in use: a MemoryError

inline constexpr uint32_t kPauseDue = 128;  // the piece of a Task is over
inline constexpr uint32_t kSwitchDue = 1024;  // another thread waits for its turn
inline constexpr uint32_t kAttention = 512;  // somebody wants to look at the running program: Host::attend (256: kSampleDue, vm.h)

// What ends the work of a native that can be left in the middle.
inline constexpr uint32_t kStops = kKeyboard | kCancelled | kTimeIsUp | kLimitHit | kMemoryShort;


// What the first thread alone answers.
inline constexpr uint32_t kForMain = kKeyboard | kSignalArrived | kAttention | kPauseDue;

}  // namespace tessera::lang
