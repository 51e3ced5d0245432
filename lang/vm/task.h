// A function that runs in pieces: a host gives it some time, and it goes on later where it stopped.
//
// Between two pieces its frames stay on the machine's stack as if a native function that it called were running, so whatever
// else the host runs meanwhile stands on top of them and ends before. For that reason the task begun last goes on first.
#pragma once

#include <cstdint>

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Frame;
struct Function;

class Task {
 public:
  // `function`: of a script, without parameters; borrowed until the first piece.
  Task(Interpreter& in, Function* function) : in_(in), function_(function) {}

  // True: it has ended, `out` is what it returned. Throws what it raises, which ends it; RuntimeError when it has ended
  // before, is running, or is not the newest. Runs as a piece until the first backward jump or call, outside of natives,
  // after so many seconds; zero: the next one.
  bool run_for(double seconds, Value& out);
  // False: frames of a task begun later, or of what runs, stand on its own.
  bool is_on_top() const noexcept;
  // Why a piece cannot be run now; null: it can.
  const char* refusal() const noexcept;
  // Drops its frames; nothing of the script runs but finalizers.
  void give_up();

 private:
  enum class State : uint8_t { Fresh, Paused, Running, Ended };

  Interpreter& in_;
  Function* function_;
  State state_ = State::Fresh;
  Frame* entry_ = nullptr;
  Frame* top_ = nullptr;  // where it stopped
};

}  // namespace tessera::lang
