// Long loops of one thread: in pieces, between which the program can be stopped.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/context.h"

namespace tessera::tensor {

/// Elements between two looks at the flags, where one takes some nanoseconds.
inline constexpr int64_t kPieceElements = int64_t(1) << 17;

/// f(begin, end) over [0, n) in order, `piece` elements at a time.
template <class F>
inline void in_pieces(int64_t n, int64_t piece, const F& f) {
  for (int64_t i = 0; i < n; i += piece) {
    if (i > 0) Context::current().poll();
    f(i, std::min(n, i + piece));
  }
}
template <class F>
inline void in_pieces(int64_t n, const F& f) {
  in_pieces(n, kPieceElements, f);
}

/// For loops whose steps differ: what they cost is taken off until the next look.
class PollBudget {
 public:
  void take(int64_t elements) {
    if ((left_ -= elements) >= 0) [[likely]]
      return;
    left_ = kPieceElements;
    Context::current().poll();
  }

 private:
  int64_t left_ = kPieceElements;
};

}  // namespace tessera::tensor
