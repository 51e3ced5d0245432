// The one pool of threads of the process: kernels and products of all interpreters share it (docs/threads.md).
//
// A call publishes its range in a list and works on it itself; threads of the pool that are free join in. So a call never
// waits for a thread to come, only for those that hold a piece, and a pool without any thread is only slower.
// The range is cut into shares, one a thread, and shares into pieces: a thread takes pieces of its own share in order
// (its cache has them from the last call), then those that others have not got to.
//
// A free thread looks for work for kSpin and then sleeps. Waking it costs the caller 5 to 10 us on a virtual machine, so
// sleepers are woken only for calls that will take longer than that: the first piece shows it. Threads are never joined:
// at exit they sleep, and the pool is never destroyed.
#include "backends/cpu/threads.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "runtime/context.h"
#include "runtime/counted.h"

namespace tessera::tensor::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSpin = std::chrono::microseconds(100);  // what lies between the large operations of a small net
constexpr auto kWorthWaking = std::chrono::microseconds(40);
constexpr int kShares = 16;         // more threads than this take pieces of the same shares
constexpr int kPiecesAThread = 8;   // late threads and uneven pieces even out
constexpr int kMostThreads = 1024;  // of the pool
constexpr int kWorkShift = 11;      // elements of simple work in a microsecond, as a power of two
constexpr int64_t kLine = 64;       // bytes of a cache line: neighbours in it slow each other down

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits for `done` with the processor for kSpin at most; says whether it came.
template <class Done>
bool spin_until(const Done& done) {
  static const bool alone = std::thread::hardware_concurrency() < 2;
  if (alone) return done();
  const auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; i++) {
      if (done()) return true;
      pause();
    }
  } while (Clock::now() < end);
  return done();
}

/// A call from inside of a piece runs on this thread alone.
thread_local bool inside_piece = false;  // per thread: whether it works on a piece

struct InsidePiece {
  InsidePiece() { inside_piece = true; }
  ~InsidePiece() { inside_piece = false; }
};

/// How many elements of a call are computed before the next look at the cancel flag. A grain says what is too little; how heavy
/// its elements are shows only when they are computed.
class Steps {
 public:
  Steps(int64_t grain, int64_t most) : grain_(grain), most_(most), step_(std::min(most, kFirstGrains * grain)) {}

  /// f(begin, end) over a piece; false when it has been stopped.
  bool run(Context& context, int64_t begin, int64_t end, RangeBody body) {
    for (int64_t step; begin < end; begin += step) {
      if (context.stopping()) return false;
      step = std::min(end - begin, step_.load(std::memory_order_relaxed));
      if (most_ <= grain_) {
        body(begin, begin + step);
        continue;
      }
      const auto start = Clock::now();
      body(begin, begin + step);
      const auto took = Clock::now() - start;
      if (took < kShortStep) step_.store(std::min(most_, 2 * step), std::memory_order_relaxed);
      else if (took > kLongStep) step_.store(std::max(grain_, step / 2 / kLine * kLine), std::memory_order_relaxed);
    }
    return true;
  }

 private:
  static constexpr int64_t kFirstGrains = 8;
  static constexpr auto kShortStep = std::chrono::microseconds(300), kLongStep = std::chrono::microseconds(2000);
  const int64_t grain_, most_;
  std::atomic<int64_t> step_;
};

/// One call of run_split; lies on the caller's stack until no thread of the pool is in it any more.
class Job {
 public:
  Job(int64_t n, int64_t piece, int64_t grain, int threads, RangeBody body)
      : context_(Context::current()),
        body_(body),
        n_(n),
        piece_(piece),
        shares_(std::min(threads, kShares)),
        steps_(grain, piece) {
    const int64_t pieces = (n + piece - 1) / piece;
    for (int s = 0; s < shares_; s++) {
      share_[s].next.store(pieces * s / shares_, std::memory_order_relaxed);
      share_[s].end = pieces * (s + 1) / shares_;
    }
  }

  /// Runs one piece, of share `at` if it has one left; false when there is none left at all.
  bool run_piece(int& at) {
    for (int tried = 0; tried < shares_; tried++) {
      Share& share = share_[at];
      // The first look keeps those who search from pulling the line away from its owner.
      if (share.next.load(std::memory_order_relaxed) < share.end) {
        const int64_t i = share.next.fetch_add(1, std::memory_order_relaxed);
        if (i < share.end) {
          if (!stop_.load(std::memory_order_relaxed)) guarded(i);
          return true;
        }
      }
      at = at + 1 == shares_ ? 0 : at + 1;
    }
    return false;
  }

  bool has_pieces() const {
    return std::any_of(share_, share_ + shares_,
                       [](const Share& s) { return s.next.load(std::memory_order_relaxed) < s.end; });
  }
  int64_t pieces_left() const {
    int64_t left = 0;
    for (int s = 0; s < shares_; s++)
      left += std::max<int64_t>(0, share_[s].end - share_[s].next.load(std::memory_order_relaxed));
    return left;
  }
  int shares() const { return shares_; }
  Context& context() { return context_; }
  /// After the last piece, on the caller's thread.
  void finish() {
    if (error_) std::rethrow_exception(error_);
    context_.poll();
  }

  // The pool's side; all but the reading of `helpers` under its lock.
  Job* before = nullptr;
  Job* after = nullptr;
  int wanted = 0;               // how many more threads may come
  int joined = 0;               // how many have come, for the choice of their share
  std::atomic<int> helpers{0};  // how many are in it now
  bool caller_sleeps = false;

 private:
  struct alignas(kLine) Share {
    std::atomic<int64_t> next;
    int64_t end;
  };

  void guarded(int64_t i) {
    try {
      if (!steps_.run(context_, i * piece_, std::min(n_, (i + 1) * piece_), body_))
        stop_.store(true, std::memory_order_relaxed);
    } catch (...) {
      if (!stop_.exchange(true)) error_ = std::current_exception();
    }
  }

  Context& context_;
  const RangeBody body_;
  const int64_t n_, piece_;
  const int shares_;
  Steps steps_;
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;
  Share share_[kShares];
};

class Pool {
 public:
  static Pool& get() {
    static Pool* pool = make();
    return *pool;
  }

  bool awake() const { return looking_.load(std::memory_order_relaxed) > 0; }

  void run(Job& job, int threads, const Split& split) {
    open(job, threads - 1);
    InsidePiece inside;
    int share = 0;
    bool more = true;
    if (split.tasks) {
      wake(job, threads - 1);
    } else {
      const auto start = Clock::now();
      more = job.run_piece(share);
      if (split.wakes && (Clock::now() - start) * job.pieces_left() > kWorthWaking) wake(job, threads - 1);
    }
    while (more) more = job.run_piece(share);
    close(job);
  }

 private:
  static Pool* make() {
    alignas(Pool) static char place[sizeof(Pool)];
    static Pool* const pool = new (place) Pool;
    // A child has none of the threads: it starts with an empty pool, made where the old one was.
    pthread_atfork([] { pool->lock_.lock(); }, [] { pool->lock_.unlock(); }, [] { new (pool) Pool; });
    return pool;
  }

  // Threads that are awake see it at once.
  void open(Job& job, int helpers) {
    std::lock_guard guard(lock_);
    job.wanted = helpers;
    append(job);
    news_.fetch_add(1, std::memory_order_release);
  }

  // As many sleeping threads as the job still wants; starts those that are not there yet.
  void wake(Job& job, int helpers) {
    int more = 0;
    {
      std::lock_guard guard(lock_);
      more = std::min(job.wanted, sleeping_ - called_);
      called_ += more;
      while (threads_ < std::min(helpers, kMostThreads) && start_thread()) {}
    }
    for (int i = 0; i < more; i++) wake_.notify_one();
  }

  // No thread joins any more; waits for those that are in it.
  void close(Job& job) {
    {
      std::lock_guard guard(lock_);
      remove(job);
    }
    if (spin_until([&] { return job.helpers.load(std::memory_order_acquire) == 0; })) return;
    std::unique_lock guard(lock_);
    job.caller_sleeps = true;
    done_.wait(guard, [&] { return job.helpers.load(std::memory_order_relaxed) == 0; });
  }

  // With every signal blocked: a host's handlers run on its own threads.
  bool start_thread() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = true;
    try {
      std::thread([this] { work(); }).detach();
      threads_++;
    } catch (const std::system_error&) {
      started = false;  // the caller does the work alone
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
  }

  void work() {
    inside_piece = true;
    std::unique_lock guard(lock_);
    while (true) {
      const uint64_t seen = news_.load(std::memory_order_relaxed);
      if (Job* job = pick()) {
        help(*job, seen, guard);
        continue;
      }
      guard.unlock();
      looking_.fetch_add(1, std::memory_order_relaxed);
      const bool news = spin_until([&] { return news_.load(std::memory_order_acquire) != seen; });
      looking_.fetch_sub(1, std::memory_order_relaxed);
      guard.lock();
      if (news || news_.load(std::memory_order_relaxed) != seen) continue;
      sleeping_++;
      wake_.wait(guard, [&] { return called_ > 0; });
      called_--;
      sleeping_--;
    }
  }

  // Works on a job until it is done, or until another one came that may have nobody.
  void help(Job& job, uint64_t seen, std::unique_lock<std::mutex>& guard) {
    job.helpers.fetch_add(1, std::memory_order_relaxed);
    job.wanted--;
    int share = ++job.joined % job.shares();
    guard.unlock();
    bool more = true;
    {
      ContextScope scope(job.context());
      do more = job.run_piece(share);
      while (more && news_.load(std::memory_order_relaxed) == seen);
    }
    guard.lock();
    if (more) job.wanted++, job.joined--;
    // The last touch of the job: its caller may leave as soon as the count is zero.
    const bool call = job.caller_sleeps;
    if (job.helpers.fetch_sub(1, std::memory_order_release) == 1 && call) done_.notify_all();
  }

  // The open job with the fewest helpers, of those the one that waited longest; it goes to the end of the queue.
  Job* pick() {
    Job* best = nullptr;
    int fewest = 0;
    for (Job* job = first_; job; job = job->after) {
      const int helpers = job->helpers.load(std::memory_order_relaxed);
      if (job->wanted > 0 && (!best || helpers < fewest) && job->has_pieces()) best = job, fewest = helpers;
    }
    if (best && best != last_) remove(*best), append(*best);
    return best;
  }

  void append(Job& job) {
    job.before = last_;
    job.after = nullptr;
    (last_ ? last_->after : first_) = &job;
    last_ = &job;
  }
  void remove(Job& job) {
    (job.before ? job.before->after : first_) = job.after;
    (job.after ? job.after->before : last_) = job.before;
  }

  std::mutex lock_;
  std::condition_variable wake_;  // threads sleep on it
  std::condition_variable done_;  // callers sleep on it
  Job* first_ = nullptr;
  Job* last_ = nullptr;
  int threads_ = 0, sleeping_ = 0;
  std::atomic<int> looking_{0};  // threads that would see a job at once
  int called_ = 0;               // sleepers that were woken and have not got the lock yet
  alignas(kLine) std::atomic<uint64_t> news_{0};
};

void run_alone(Context& context, int64_t n, int64_t piece, int64_t grain, RangeBody body) {
  Steps(grain, piece).run(context, 0, n, body);
  context.poll();
}

}  // namespace

void count_work(uint64_t steps) {
  if (inside_piece) return;
  if (int64_t* const countdown = Context::current().host_countdown) *countdown -= int64_t(steps);
}

bool stop_wanted() noexcept { return Context::current().stopping(); }

bool threads_awake() { return !inside_piece && Pool::get().awake(); }

void run_split(int64_t n, const Split& split, RangeBody body) {
  Context& context = Context::current();
  const int64_t pieces = n / split.grain;
  const int64_t threads = inside_piece ? 1 : std::min<int64_t>({context.threads, split.most_threads, pieces});
  count_work(uint64_t(n) >> kWorkShift);
  const int64_t most = split.tasks ? split.grain : std::max(split.grain, std::min(kPollEvery, 64 * split.grain));
  if (threads <= 1) return run_alone(context, n, most, split.grain, body);
  // As many for each thread: of three, one would have two.
  const int64_t even = std::min((pieces + threads - 1) / threads, int64_t(kPiecesAThread)) * threads;
  int64_t piece = std::min((n + even - 1) / even, most);
  // Pieces that end where a line of the result does, unless the elements are few and large.
  if (piece >= 16 * kLine) piece = (piece + kLine - 1) / kLine * kLine;
  Job job(n, piece, std::min(split.grain, piece), int(threads), body);
  {
    const SharedCounts shared;
    Pool::get().run(job, int(threads), split);
  }
  job.finish();
}

}  // namespace tessera::tensor::cpu
