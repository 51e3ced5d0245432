// Threads of the language: one runs at a time, the others wait for the baton or for something else.
//
// A thread is a thread of the system with a ThreadState. The holder of the baton alone touches objects, so reference counts and
// locks of the language need no atomic instruction. The baton changes hands at safe points, at the latest one switch interval
// after another thread has asked, and where a native waits: AllowOthers (lang/vm/allow_others.h) and park().
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "lang/core/value.h"
#include "lang/vm/thread_state.h"

namespace tessera::lang {

class Interpreter;
class Threads;

class Thread {
 public:
  using Clock = std::chrono::steady_clock;

  uint64_t ident() const { return ident_; }
  int64_t native_id() const { return native_id_; }
  bool is_main() const { return is_main_; }
  // Not of the running thread.
  const Frame* top() const { return state_.top_; }

  Value locals;    // for the module above: a dict of the thread's own, made there
  Value on_end;    // a callable that is called when the thread has ended, or undefined

 private:
  friend class Threads;
  enum class Place : uint8_t { Running, Queued, Parked, Outside };

  std::condition_variable wake_;  // with Threads::lock_
  Place place_ = Place::Outside;
  bool interrupted_ = false;      // unparked because the program is to look at its interrupts
  bool is_main_ = false;
  uint64_t ident_ = 0;
  int64_t native_id_ = 0;
  Threads* owner_ = nullptr;
  ThreadState state_;             // while it does not run
  NativeGuards guards_;
  void* extension_ = nullptr;     // of the layer above: Threads::Extension
  Value function_, arguments_, keywords_;
  uint64_t booked_ = 0;
};

class Threads {
 public:
  using Clock = Thread::Clock;
  using Time = Clock::time_point;
  static constexpr Time kNever = Time::max();

  explicit Threads(Interpreter& in);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  Thread& current() { return *current_; }
  Thread& main() { return *main_; }
  bool alone() const { return others_ == 0; }  // no thread but the first one
  size_t count() const { return others_; }     // of those that start() has begun
  // All threads, the first one in front.
  std::vector<Thread*> all();

  // Runs function(*arguments, **keywords) in a new thread; answers its number. RuntimeError where the host grants none.
  Thread& start(const Value& function, const Value& arguments, const Value& keywords);

  // Of a native that waits: the others run between the two. Prefer AllowOthers.
  Thread* leave() noexcept;  // null: there are no others
  void enter(Thread* thread) noexcept;

  // Waits for unpark() or `until`, while others run. Interrupted: the caller shall poll() and may wait on.
  enum class Woken : uint8_t { Unparked, TimedOut, Interrupted };
  Woken park(Time until);
  void unpark(Thread& thread);
  // Waits so long, with safe points; a KeyboardInterrupt and limits end it.
  void sleep_until(Time until);

  // At a safe point.
  void safe_point(uint32_t wanted);
  // Waits for the threads that are no daemons of the module threading.
  void join_all();
  // Everything that waits is to look at its interrupts: a limit was hit.
  void wake_all() noexcept;
  // The first thread waits until no other is left; each is to end at its next safe point.
  void end_all() noexcept;
  // end_all(), and no thread can start any more: the interpreter ends.
  void close() noexcept;
  bool is_closed() const { return closed_; }
  void forget_locals() noexcept { main_->locals = main_->on_end = Value(); }  // the interpreter ends
  // In the child after fork(): the running thread is the only one.
  void after_fork();

  // While signals are held, Ctrl-C and the script's handlers of signals wait: the first thread hears of them afterwards.
  void hold_signals(bool held) noexcept;
  bool signals_held() const { return signals_held_; }

  double interval() const { return std::chrono::duration<double>(interval_).count(); }
  void set_interval(double seconds) { interval_ = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)); }
  size_t stack_bytes() const { return stack_bytes_; }
  void set_stack_bytes(size_t bytes) { stack_bytes_ = bytes; }

  // State of the layer above that each thread has for itself. `swap` is called when `leaving` gives its place to another and
  // when a thread takes it: it moves what is in place to `*mine`, or back; a null `*mine` stands for a new thread's defaults.
  struct Extension {
    void (*save)(Interpreter& in, void** mine) = nullptr;
    void (*load)(Interpreter& in, void** mine) = nullptr;
    void (*drop)(void* mine) = nullptr;
    void (*started)(Interpreter& in) = nullptr;  // before the first thread begins
  };
  void set_extension(const Extension& extension);

 private:
  static void* begin(void* thread);
  void run(Thread& thread);
  void finish(Thread& thread);
  void save(Thread& thread) noexcept;
  void load(Thread& thread) noexcept;
  // All below with lock_ held.
  void queue(Thread& thread, bool in_front = false);
  void grant_next() noexcept;
  void ask_for_switch();
  void wait_for_turn(Thread& thread, std::unique_lock<std::mutex>& guard);
  uint32_t stops_of(const Thread& thread) const noexcept;
  void yield();
  bool wanted_by_main(uint32_t wanted) const;

  Interpreter& in_;
  std::mutex lock_;
  Thread* holder_ = nullptr;     // null: the baton lies free
  std::deque<Thread*> waiting_;  // for the baton
  bool asked_ = false;           // a deadline for kSwitchDue is set
  Time switched_at_{};
  std::condition_variable ended_;  // a thread's last touch of this object is past
  size_t running_ = 0;             // threads of the system that have not ended

  // Touched by the holder alone.
  Thread* current_;
  Thread* main_;
  std::list<std::unique_ptr<Thread>> threads_;
  size_t others_ = 0;
  uint64_t next_ident_ = 0;
  Clock::duration interval_ = std::chrono::milliseconds(5);
  size_t stack_bytes_ = 0;
  Extension extension_;
  bool ending_ = false;
  bool closed_ = false;
  bool signals_held_ = false;
};

}  // namespace tessera::lang
