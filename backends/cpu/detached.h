// Work that cannot be stopped in the middle, as a routine of a foreign library. It runs on a thread of its own, over memory of
// its own, while its caller waits for its end or for the word to stop. Whoever is to stop leaves it: the caller throws at once,
// the work goes on to its end in the background and frees its memory then. It touches no Context, no tensor and no account.
//
// Nobody can pile up such threads: a call waits (and hears the word to stop) while kMostLeft of those that were left are still
// at work. A process that exits meanwhile does not wait for them: see Note [Exit] in detached.cpp.
#pragma once

#include <memory>

namespace tessera::tensor::cpu {

class Detached {
 public:
  virtual ~Detached() = default;
  /// On the other thread. What it throws comes out of the call, unless that was left.
  virtual void run() = 0;
  /// On the caller's thread, when it leaves: what belongs to the caller is no longer this work's.
  virtual void leave() noexcept = 0;
};

/// Of those that were left, how many may be at work when another call begins.
inline constexpr int kMostLeft = 2;
/// How many are at work now.
int detached_left();

/// Runs the work to its end and gives it back. TensorError(Cancelled) within a millisecond when the current Context is to stop.
std::unique_ptr<Detached> run_detached(std::unique_ptr<Detached> work);

}  // namespace tessera::tensor::cpu
