#include "lang/vm/task.h"

#include <chrono>

#include "lang/core/deadline.h"
#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/signals.h"
#include "lang/objects/generator.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

// Note [Pausing]
// A piece ends where nothing but frames holds the state of the program: before an instruction (a backward jump, a call of a script's
// function, the next item of a generator) of the loop that the task's own call of execute() runs, not one that a native called in
// between. safe_point() throws Paused there with the instruction still to be run, run() lets it through, and the frames stay
// as they are; execute() goes on at top_ as after a call.
// A task that begins while something runs, in a function of the host that a script calls, comes to its end in one piece: what
// called goes on with its own frame when that returns, whose callers the frames of a paused task would be.

bool Task::run_for(double seconds, Value& out) {
  VirtualMachine& vm = in_.vm();
  if (const char* const why = refusal()) throw Error(ErrorKind::RuntimeError, why);

  struct Piece {
    VirtualMachine& vm;
    Interpreter& in;
    const uint32_t outer;
    Piece(VirtualMachine& m, Interpreter& i, double wait)
        : vm(m), in(i), outer(std::exchange(m.pausable_at_, m.top() == nullptr ? m.nested_ + 1 : 0)) {
      if (vm.pausable_at_ == 0) return;
      if (wait > 0) set_deadline(in.interrupt, kPauseDue, std::chrono::duration<double>(wait));
      else in.interrupt.fetch_or(kPauseDue);  // a step at a time
    }
    ~Piece() {
      if (std::exchange(vm.pausable_at_, outer) == 0) return;  // the time of the piece around it is still kept
      clear_deadline(in.interrupt, kPauseDue);
      in.interrupt.fetch_and(~kPauseDue);
    }
  };
  const Piece piece(vm, in_, seconds);
  const bool fresh = state_ == State::Fresh;
  if (!fresh) top_->paused = false;
  state_ = State::Running;
  vm.resumed_ = true;  // however short the piece, it goes on
  try {
    if (fresh) {
      entry_ = vm.begin_entry(function_, out);
      if (entry_ == nullptr) {
        state_ = State::Ended;
        return true;
      }
    }
    out = vm.run(entry_);
    state_ = State::Ended;
    return true;
  } catch (const VirtualMachine::Paused&) {
    state_ = State::Paused;
    top_ = vm.top_;
    top_->paused = true;
    return false;
  } catch (...) {
    state_ = State::Ended;
    throw;
  }
}

const char* Task::refusal() const noexcept {
  if (state_ == State::Ended) return "the task has ended";
  if (state_ == State::Running) return "the task is running";
  return is_on_top() ? nullptr : "a task that was begun later has to end first";
}

bool Task::is_on_top() const noexcept { return state_ != State::Paused || in_.vm().top_ == top_; }

void Task::give_up() {
  if (state_ != State::Paused) return;
  VirtualMachine& vm = in_.vm();
  if (vm.top_ != top_) throw Error(ErrorKind::RuntimeError, "a task that was begun later has to end first");
  state_ = State::Ended;
  top_->paused = false;
  vm.drop_frames(entry_);
}

}  // namespace tessera::lang
