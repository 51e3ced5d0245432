// The thread beside the one that runs cells. While a cell runs it says that the kernel lives, takes what comes on the control
// channel (interrupts, the end) and looks whether who started the kernel is still there.
//
// It reaches the other thread by signals alone, as anybody does: SIGINT interrupts a cell, SIGTERM ends the kernel.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "lang/core/interpreter.h"
#include "repl/kernel/channels.h"

namespace tessera::repl {

class Control {
 public:
  // Made by the thread that runs cells, which gets the signals from now on. `give_up` is called when that thread does not end
  // in time; the process ends behind it.
  Control(Channels& channels, std::function<void()> give_up);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // SIGTERM ends what `in` runs, and no script catches that.
  static void end_on_sigterm(lang::Interpreter& in);
  // The interpreter goes: from now on no signal reaches it.
  static void forget_interpreter();
  bool is_ending() const;

 private:
  void attend();
  void answer(const Message& request);
  bool is_orphan() const;
  void end();

  Channels& channels_;
  std::function<void()> give_up_;
  const pthread_t runner_;
  const pid_t parent_;  // 0: nobody to look at
  std::atomic<bool> done_{false};
  std::chrono::steady_clock::time_point ended_at_{};  // when the end was asked for
  std::thread thread_;
};

}  // namespace tessera::repl
