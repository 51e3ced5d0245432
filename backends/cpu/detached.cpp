#include "backends/cpu/detached.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "runtime/context.h"
#include "runtime/error.h"

namespace tessera::tensor::cpu {
namespace {

constexpr auto kLook = std::chrono::milliseconds(1);  // between two looks at the flags, which have no bell

/// One call; its caller and its thread share it.
struct Run {
  std::unique_ptr<Detached> work;
  std::exception_ptr error;
  bool done = false, left = false;
};

// Note [Exit]: a library of foreign code frees its buffers when the process exits, under the feet of a routine that is still at
// work. So when everything else has been done (atexit, static objects of the host), a process that has such a routine ends without
// the destructors of its libraries. The library is never unloaded before (-z nodelete).
std::atomic<int> exit_status{-1};  // of a process that exits: one for all its parts
void remember_status(int status, void*) { exit_status = status; }

class Runs {
 public:
  static Runs& get() {
    static Runs* const runs = make();
    return *runs;
  }

  void wait_for_room(Context& context) {
    std::unique_lock guard(lock_);
    while (left_ >= kMostLeft) {
      context.poll();
      ended_.wait_for(guard, kLook);
    }
  }

  /// False when there is no thread to be had.
  bool start(const std::shared_ptr<Run>& run) {
    // With every signal blocked: a host's handlers run on its own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    at_work_++;
    bool started = true;
    try {
      std::thread([this, run]() mutable { work(std::move(run)); }).detach();
    } catch (const std::system_error&) {
      started = false;
      at_work_--;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
  }

  void wait(Run& run, Context& context) {
    std::unique_lock guard(lock_);
    while (!run.done) {
      if (context.stopping()) {
        run.work->leave();
        run.left = true;
        left_++;
        fail(TensorErrorKind::Cancelled, "");
      }
      ended_.wait_for(guard, kLook);
    }
  }

  int left() {
    const std::lock_guard guard(lock_);
    return left_;
  }
  int at_work() const { return at_work_; }

 private:
  static Runs* make() {
    alignas(Runs) static char place[sizeof(Runs)];
    static Runs* const runs = new (place) Runs;
    // A child has none of the threads.
    pthread_atfork([] { runs->lock_.lock(); }, [] { runs->lock_.unlock(); }, [] { new (runs) Runs; });
    on_exit(remember_status, nullptr);
    return runs;
  }

  void work(std::shared_ptr<Run> run) {
    try {
      run->work->run();
    } catch (...) {
      run->error = std::current_exception();
    }
    const std::lock_guard guard(lock_);
    if (run->left) run->work.reset(), left_--;
    run->done = true;
    at_work_--;
    ended_.notify_all();
  }

  std::mutex lock_;
  std::condition_variable ended_;
  int left_ = 0;
  std::atomic<int> at_work_{0};  // left or waited for
};

__attribute__((destructor)) void end_with_work() {
  if (exit_status < 0 || Runs::get().at_work() == 0) return;
  std::fflush(nullptr);
  _exit(exit_status);
}

}  // namespace

int detached_left() { return Runs::get().left(); }

std::unique_ptr<Detached> run_detached(std::unique_ptr<Detached> work) {
  Context& context = Context::current();
  Runs& runs = Runs::get();
  runs.wait_for_room(context);
  const auto run = std::make_shared<Run>();
  run->work = std::move(work);
  if (runs.start(run)) runs.wait(*run, context);
  else run->work->run();
  if (run->error) std::rethrow_exception(run->error);
  return std::move(run->work);
}

}  // namespace tessera::tensor::cpu
