// Long loops of natives: in pieces, between which the program can be stopped.
#pragma once

#include <algorithm>
#include <cstddef>

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/signals.h"

namespace tessera::lang {

/// Items or bytes between two looks; a step is counted for each thousand.
inline constexpr size_t kPieceItems = size_t{1} << 15;
inline constexpr int64_t kPieceSteps = kPieceItems >> 10;

/// f(begin, end) over [0, n) in order. No script may change meanwhile what f works on.
template <class F>
inline void in_pieces(Interpreter& in, size_t n, const F& f) {
  for (size_t i = 0; i < n; i += kPieceItems) {
    if (i != 0) in.check_stop(kPieceSteps);
    f(i, std::min(n, i + kPieceItems));
  }
}

/// For loops whose steps differ: what they cost is taken off until the next look.
class StopBudget {
 public:
  explicit StopBudget(Interpreter& in) : in_(in) {}
  void take(size_t items = 1) {
    if (items < left_) [[likely]] {
      left_ -= items;
      return;
    }
    left_ = kPieceItems;
    in_.check_stop(kPieceSteps);
  }

 private:
  Interpreter& in_;
  size_t left_ = kPieceItems;
};

/// Natives that only make things are stopped where they make them, by an error that the limit's own follows at the next safe point.
inline void look_while_making(const std::atomic<uint32_t>& interrupt) {
  const uint32_t wanted = interrupt.load(std::memory_order_relaxed);
  if ((wanted & (kTimeIsUp | kCancelled)) != 0 && (wanted & kLimitHit) == 0) [[unlikely]]
    throw Error(ErrorKind::KeyboardInterrupt, std::string());
}

}  // namespace tessera::lang
