#include "lang/core/deadline.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace tessera::lang {
namespace {

using Clock = std::chrono::steady_clock;

struct Entry {
  std::atomic<uint32_t>* flags;
  uint32_t bit;
  Clock::time_point time;
};

class Watch {
 public:
  // Never destroyed: its thread may outlive what is static. A child process has no such thread, and starts with an empty one.
  static Watch& get() {
    static Watch* const watch = make();
    return *watch;
  }

  void set(Entry entry) {
    std::lock_guard guard(lock_);
    entries_.push_back(entry);
    if (!started_) start();
    if (entry.time < wakes_at_) changed_.notify_one();
  }

  void clear(const std::atomic<uint32_t>& flags, uint32_t bit) noexcept {
    std::lock_guard guard(lock_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.flags == &flags && entry.bit == bit; });
  }

 private:
  static Watch* make() {
    alignas(Watch) static char place[sizeof(Watch)];
    static Watch* const watch = new (place) Watch;
    pthread_atfork([] { watch->lock_.lock(); }, [] { watch->lock_.unlock(); }, [] { new (watch) Watch; });
    return watch;
  }

  // With every signal blocked: a host's handlers run on its own threads.
  void start() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { work(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    started_ = true;
  }

  void work() {
    std::unique_lock guard(lock_);
    while (true) {
      const auto now = Clock::now();
      for (const Entry& entry : entries_)
        if (entry.time <= now) entry.flags->fetch_or(entry.bit);
      std::erase_if(entries_, [&](const Entry& entry) { return entry.time <= now; });
      wakes_at_ = Clock::time_point::max();
      for (const Entry& entry : entries_) wakes_at_ = std::min(wakes_at_, entry.time);
      if (entries_.empty()) changed_.wait(guard);
      else changed_.wait_until(guard, wakes_at_);
    }
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
  Clock::time_point wakes_at_ = Clock::time_point::max();
  bool started_ = false;
};

}  // namespace

void set_deadline(std::atomic<uint32_t>& flags, uint32_t bit, std::chrono::duration<double> after) {
  constexpr double kYears = 1e9;
  const auto span = std::chrono::duration<double>(std::min(after.count(), kYears));
  Watch::get().set({&flags, bit, Clock::now() + std::chrono::duration_cast<Clock::duration>(span)});
}

void clear_deadline(std::atomic<uint32_t>& flags, uint32_t bit) noexcept { Watch::get().clear(flags, bit); }

}  // namespace tessera::lang
