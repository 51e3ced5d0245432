// Numbers of open files, and waiting for them.
#pragma once

#include <cerrno>
#include <algorithm>
#include <chrono>

#include "stdlib/python/native/support.h"

namespace tessera::stdlib {

// The number of an int, or of an object with fileno().
int descriptor_of(Interpreter& in, const Value& v);

// Calls wait(milliseconds), a system call of poll's kind, until it answers with something, or `seconds` (negative: no end)
// are over. In slices, each of which ends with a safe point: handlers of signals run there, and a host may end the run.
template <class Wait>
int wait_in_slices(Interpreter& in, double seconds, Wait&& wait) {
  using Clock = std::chrono::steady_clock;
  constexpr int kSlice = 10;
  const auto begin = Clock::now();
  for (;;) {
    double left = kSlice;
    if (seconds >= 0) {
      left = 1000 * (seconds - std::chrono::duration<double>(Clock::now() - begin).count());
      left = std::clamp(left, 0.0, static_cast<double>(kSlice));
    }
    // Rounded up: a timer that is due in half a millisecond must not be waited for in a busy loop.
    const int ready = wait(seconds == 0 ? 0 : static_cast<int>(left) + (left > static_cast<int>(left) ? 1 : 0));
    if (ready > 0) return ready;
    if (ready < 0 && errno != EINTR) throw_os_error(in, errno);
    if (ready == 0 && seconds >= 0 && left < kSlice) return 0;
    in.poll();
  }
}

}  // namespace tessera::stdlib
