// Splitting a range over the threads of the process's one pool (threads.cpp). Small ranges never touch it. Between pieces
// every thread polls the cancel flag of the Context that made the call; what a piece throws comes out of the call.
//
// Which thread gets which piece is decided while it runs, so f must give the same result for any split: a sum is cut
// at places that depend on its length alone, never on the number of threads.
#pragma once

#include <climits>
#include <cstdint>

namespace tessera::tensor::cpu {

/// About a quarter of a millisecond of simple work: the distance between two looks at the cancel flag.
inline constexpr int64_t kPollEvery = int64_t(1) << 19;

/// A callable whose type is forgotten: f(begin, end) over a part of a range. Refers to the callable, like string_view.
class RangeBody {
 public:
  template <class F>
  explicit RangeBody(const F& f)
      : call_([](const void* g, int64_t begin, int64_t end) { (*static_cast<const F*>(g))(begin, end); }), f_(&f) {}
  void operator()(int64_t begin, int64_t end) const { call_(f_, begin, end); }

 private:
  void (*call_)(const void*, int64_t, int64_t);
  const void* f_;
};

/// How a range may be cut and by whom.
struct Split {
  int64_t grain;               // the fewest elements of a piece: some microseconds of work
  bool tasks = false;          // every element is worth a thread: pieces have `grain`, sleepers are woken at once
  int most_threads = INT_MAX;  // beside the Context's own limit
  bool wakes = true;           // or only threads that are awake join in
};

/// Takes steps of a microsecond's work off the host's countdown; nothing inside of a piece, whose call has been counted.
void count_work(uint64_t steps);

/// Whether a thread of the pool looks for work at this moment.
bool threads_awake();

/// Inside of a body of run_split: whether the program is to stop. The body may then return at once, whatever it has done, for
/// run_split throws behind it. A kernel that threw itself would be longer by the way out, once for each instruction set.
bool stop_wanted() noexcept;

/// The part of parallel_for that is no template. Throws when the program is to stop, before, between or after pieces.
void run_split(int64_t n, const Split& split, RangeBody body);

/// f(begin, end) over pieces of [0, n) of at least `grain` elements, which should be some microseconds of work.
template <class F>
void parallel_for(int64_t n, int64_t grain, const F& f) {
  if (n <= grain) [[likely]] {
    if (n > 0) f(int64_t(0), n);
    return;
  }
  run_split(n, {grain}, RangeBody(f));
}

}  // namespace tessera::tensor::cpu
