// Splitting a range over OpenMP threads. Small ranges never touch OpenMP. Between chunks every thread polls the
// cancel flag of the Context that made the call; what a chunk throws comes out of parallel_for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "runtime/context.h"

namespace tessera::tensor::cpu {

/// About a quarter of a millisecond of simple work: the distance between two looks at the cancel flag.
inline constexpr int64_t kPollEvery = int64_t(1) << 19;

/// f(begin, end) over pieces of [0, n); a thread gets at least `grain` elements. The pieces may depend on the number
/// of threads, so f must give the same result for any split.
template <class F>
void parallel_for(int64_t n, int64_t grain, const F& f) {
  if (n <= grain) [[likely]] {
    if (n > 0) f(int64_t(0), n);
    return;
  }
  Context& context = Context::current();
  const int64_t threads = std::min<int64_t>(context.threads, (n + grain - 1) / grain);
  const int64_t piece = std::max(grain, std::min((n + threads - 1) / threads, std::max(grain, kPollEvery)));
  const int64_t pieces = (n + piece - 1) / piece;
  if (threads <= 1) {
    for (int64_t i = 0; i < pieces; i++) {
      context.poll();
      f(i * piece, std::min(n, (i + 1) * piece));
    }
    return;
  }
  std::exception_ptr error;
  std::atomic<bool> stop{false};
#pragma omp parallel for schedule(static) num_threads(int(threads))
  for (int64_t i = 0; i < pieces; i++) {
    if (stop.load(std::memory_order_relaxed) || context.cancel.load(std::memory_order_relaxed)) continue;
    ContextScope scope(context);
    try {
      f(i * piece, std::min(n, (i + 1) * piece));
    } catch (...) {
      if (!stop.exchange(true)) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  context.poll();
}

}  // namespace tessera::tensor::cpu
