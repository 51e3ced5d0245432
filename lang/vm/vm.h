// The virtual machine: the stack of registers, the frames, and the loop.
//
// Native code calls scripts through run_function; scripts call scripts without recursion of C++. One catch, in run(),
// turns what native code throws into exceptions of the language.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/core/error.h"
#include "lang/core/native.h"
#include "lang/core/value.h"
#include "lang/vm/frame.h"
#include "lang/vm/thread_state.h"

namespace tessera::lang {

class Interpreter;
class Provenance;
struct Dict;
struct FrameObject;

// A bit beside those of signals.h, which nobody sets but a profiler: the running frame's place is saved at the next safe point.
inline constexpr uint32_t kSampleDue = 256;
// And another one: the program has begun or ended to trace itself.
inline constexpr uint32_t kTraceDue = 2048;

// True if no register from `begin` to `end` holds an object. It is true of the temporaries of a new frame's window, because an instruction
// that reads a temporary empties it; far variables stand behind the temporaries and may hold arguments.
inline bool holds_no_object(const Value* begin, const Value* end) {
  return std::none_of(begin, end, [](const Value& value) { return value.is_object(); });
}

enum class SpecialSlot : uint8_t;  // class_slots.h

class VirtualMachine : private ThreadState {
 public:
  explicit VirtualMachine(Interpreter& in);
  ~VirtualMachine();
  VirtualMachine(const VirtualMachine&) = delete;
  VirtualMachine& operator=(const VirtualMachine&) = delete;

  // Calls a script function from C++.
  Value call_function(Function* function, const Args& args);
  // The same with `self` in front of the arguments.
  Value call_function(Function* function, const Value& self, const Args& args);
  // The same, but an exception of the function is answered as a failure (failure.h).
  Value call_function_answer(Function* function, const Value& self, const Args& args);
  // Runs a generator's frame until it yields or ends. `sent` is the value of its yield.
  Value run_generator(Generator* generator, Value sent);
  // The same after raising `exception` where it is suspended; generators that it delegates to have it first. GeneratorExit
  // closes them instead, if `close_on_exit`.
  Value throw_into_generator(Generator* generator, Value exception, bool close_on_exit);

  // Enters a special method for the running instruction, so that it is a frame like others. False: it is a generator function,
  // and that is the answer. `arguments` are moved from.
  bool enter(Function* method, Value* arguments, uint32_t count, FrameKind kind, uint32_t result, Value& answer) {
    Value* const window = top_->end;
    if (begins_at_once(method->code, window, count)) [[likely]] {
      for (uint32_t i = 0; i < count; ++i) window[i] = std::move(arguments[i]);
      push_frame(method, window, count, kind, result);
      ++method->refcount;
      return true;
    }
    if (begin_function(method, nullptr, arguments, count, nullptr, kind, result, answer) != nullptr) return true;
    if (is_raising()) [[unlikely]]
      throw_pending();
    return false;
  }

  // The same for the operands of an instruction, which are moved or shared as they are given.
  template <class... Operands>
  [[gnu::always_inline]] inline bool enter_with(Function* method, FrameKind kind, uint32_t result, Value& answer, Operands&&... operands) {
    constexpr uint32_t kCount = sizeof...(operands);
    Value* const window = top_->end;
    if (begins_at_once(method->code, window, kCount)) [[likely]] {
      assert(holds_no_object(window, window + kCount));
      Value* next = window;
      (new (next++) Value(std::forward<Operands>(operands)), ...);
      push_frame(method, window, kCount, kind, result);
      ++method->refcount;
      return true;
    }
    Value arguments[] = {Value(std::forward<Operands>(operands))...};
    return enter(method, arguments, kCount, kind, result, answer);
  }

  // Enters the __len__ of `object`, a Call's only argument, as begin_special does, where the function that is called is len().
  Frame* begin_length(const NativeFunction* function, Value* callee, Value* object);

  Frame* top() const { return top_ != nullptr && top_->paused ? nullptr : top_; }  // null: nothing runs
  void set_builtins(Dict* builtins) { builtins_ = builtins; }
  Dict* builtins() const { return builtins_; }
  uint32_t depth() const { return depth_; }
  // RecursionError when the C++ stack is nearly used up; natives that recurse call it too.
  void check_native_stack() {
    const char here = 0;
    if (&here < native_limit_ || top_ == nullptr) [[unlikely]] check_native_limit(&here);
  }
  // Is so much of the C++ stack left, for what may recurse and can be left out?
  bool has_stack(size_t bytes);
  void set_depth_limit(uint32_t limit) { depth_limit_ = limit; }

  // The object of a frame, which stays the same until the frame has ended (frame_object.h). `end_watch` takes its variables
  // over, before the frame lets go of them, and gives the frame its kind back.
  FrameObject* watch(Frame& frame);
  void end_watch(Frame& frame) noexcept;
  FrameObject* watched(const Frame& frame) const noexcept;

  // A safe point: collections, what `interrupt` asks for, the limits; and the same where no script may run.
  // `again`: an instruction that has done nothing yet, with which a Task that pauses here goes on. Null: it may not.
  void safe_point(const Word* again = nullptr);
  void stop_now();
  // What no handler of the script catches, and what stays until the run has ended.
  [[noreturn]] void hit_limit(ErrorKind kind, const char* message);
  void begin_run();  // see RunScope
  void end_run() noexcept;
  bool is_running() const { return runs_ != 0; }
  uint64_t steps() const;  // of the run under way, or the last one
  // The MemoryError for where no other exception can be made any more; the same object every time.
  void prepare_memory_error();
  Value memory_error() noexcept;
  // Runs a step of an instruction. An exception that it throws becomes the one that the loop raises next (TS_RAISE): a C++
  // exception takes several times as long to unwind through the loop. Returns false if there was one.
  template <class F>
  bool catches(F&& step) {
    try {
      step();
      return true;
    } catch (const Error& error) {
      if (!take_error(error)) throw;
    } catch (const Thrown& thrown) {
      if (!take_exception(thrown.exception)) throw;
    }
    return false;
  }
  // Leaves an exception to the loop, which raises it next; throws it if that cannot be (MemoryError).
  void raise_next(const Error& error);
  void raise_next(ErrorKind kind, std::initializer_list<std::string_view> words);
  void raise_next(const Value& exception);
  bool is_raising() const { return !pending_.is_undefined(); }  // one waits for the loop
  [[noreturn]] void throw_pending();  // for a step that the loop does not call
  Value take_pending() noexcept { return std::move(pending_); }
  void drop_memory_error() noexcept { memory_error_ = Value(); }
  // Ends what stands on the stack down to `entry` (null: all of it) though it has not run to its end.
  void drop_frames(Frame* entry) noexcept;
  uint32_t depth_limit() const { return depth_limit_; }
  // Tracing (tracing.cpp) of the running thread. Undefined: none.
  void set_trace(Value function);
  bool is_traced() const { return (!trace_.is_undefined() || !profile_.is_undefined()) && !in_tracer_; }
  void set_profile(Value function);
  const Value& trace_function() const { return trace_; }
  const Value& profile_function() const { return profile_; }
  void forget_tracers() noexcept;
  // Calls with what is called traced, though a tracer calls it.
  Value call_traced(const Value& function, const Args& args);
  // What messages about failures ask: provenance.h.
  Provenance& provenance();
  // From now on a traceback's entry keeps the variables of its frame, as long as the exception lives.
  void keep_variables(bool keep) { keeps_variables_ = keep; }
  bool keeps_variables() const { return keeps_variables_; }
  // The noter adds hints to an exception that native code has raised in `frame`. It runs when the exception leaves that frame, or when
  // the handling code of the same frame reads the notes (make_notes): most exceptions are handled there, and their hints never read.
  using Noter = void (*)(Interpreter& in, const Value& exception, const Frame& frame);
  void set_noter(Noter noter) { noter_ = noter; }
  void make_notes(const Value& exception) noexcept;

 private:
  friend class Task;
  friend class Threads;
  friend class PendingAside;
  struct Paused {};  // Note [Pausing] in task.cpp

  // The loop (vm.cpp). False: `pending_` is an exception that no frame up to `entry` handles; they are gone.
  bool execute(Frame* entry, Value& out);
  // The same loop with a look at each word, while somebody traces (Note [Tracing] in tracing.cpp).
  bool execute_traced(Frame* entry, Value& out);
  struct OtherLoop {};  // thrown between two words: run() goes on in the other loop
  void start_tracing();
  void trace_word(Frame* frame);
  void trace_line(FrameObject* object, const Frame& frame, uint32_t word);
  void trace_call(FrameObject* object);
  void trace_return(Frame& frame, const Value& answer);
  Value trace_exception(Frame& frame, Value exception);
  Value trace_leaving(Frame& frame, Value exception);
  void trace_stop(Frame& frame, const Value& value, bool in_loop);
  void profile_native(FrameObject* object, const char* event);
  void call_tracer(FrameObject* object, const char* event, const Value& argument);
  void call_profiler(FrameObject* object, const char* event, const Value& argument);
  Value run(Frame* entry);
  bool try_run(Frame* entry, Value& out);  // false: the exception is in pending_
  // For call_function: the frame that is to run, or null, and `answer` is the answer (Undefined: the exception is in pending_).
  inline Frame* begin_from_native(Function* function, const Value& self, const Args& args, Value& answer);
  // The same where the arguments are not just those that the function names.
  Frame* begin_otherwise(Function* function, const Value& self, const Args& args, Value& answer);
  // For a Task: the frame of a call without arguments (null: `out` is the answer).
  Frame* begin_entry(Function* function, Value& out);

  // Returns true if a call needs no more than a frame over `window`: the function takes just `count` plain arguments, makes no generator or
  // coroutine (the code of an eval with await at its top does, though it has only plain parameters), and its registers have room.
  bool begins_at_once(const Code* code, const Value* window, uint32_t count) const {
    return (code->code_flags & (kSimpleCall | kGenerator)) == kSimpleCall && code->positional == count && window + code->registers <= stack_end_;
  }
  // Calls (call.cpp). `window` holds `count` arguments, the last of which belong to `keywords`; the place before it may
  // be overwritten. They return the frame that has to run now, or null: then the answer is in R[result] of the running frame,
  // or an exception in pending_.
  Frame* begin_call(const Value& callee, Value* window, uint32_t count, const Tuple* keywords, uint32_t result);
  Frame* begin_other_call(const Value& callee, Value* window, uint32_t count, const Tuple* keywords, uint32_t result);  // not of a bound native
  Frame* begin_construct(Type* type, Value* window, uint32_t count, const Tuple* keywords, uint32_t result);
  Frame* begin_native_construct(Type* type, Value* window, uint32_t count, const Tuple* keywords, uint32_t result);
  Frame* begin_construct_otherwise(Type* type, Function* init, Value* window, uint32_t count, const Tuple* keywords, uint32_t result);
  template <class Make>
  Frame* finish_construct(const Type* type, Value* window, uint32_t count, uint32_t result, const Make& make);
  Frame* begin_invoke(Value* object, uint32_t count, InlineCache& cache, uint32_t result);
  // R[A] = R[B].name: the frame of a property's getter, or null.
  Frame* begin_get_attribute(Word w, Str* name, InlineCache& cache);
  // Enters the function of a script behind a slot of the class of `self`, with one operand more or none (null), for the running word. Returns
  // null where nothing was done: there is no such function, or its call needs more than a frame.
  Frame* begin_special(SpecialSlot slot, const Value& self, const Value* other, FrameKind kind, uint32_t result);
  Frame* begin_item_number(const Value& self, int64_t key, uint32_t result);  // self[key]
  // Calls a method of the object that the window begins with.
  Frame* begin_method(const Value& method, Value* window, uint32_t count, uint32_t result);
  Frame* begin_spread(Value* operands, bool has_keywords, uint32_t result);
  // Null, and `out` Undefined: the arguments do not fit, and the exception is in pending_.
  // `window` null: at the end of the running frame. `arguments` are moved from; they may stand in the window already.
  Frame* begin_function(Function* function, Value* window, Value* arguments, uint32_t count, const Tuple* keywords,
                        FrameKind kind, uint32_t result, Value& out);
  // The frame takes over a reference to the function.
  Frame* push_frame(Function* function, Value* window, uint32_t count, FrameKind kind, uint32_t result) {
    return push_frame(function, window, count, kind, result, top_);
  }
  // `caller`: top_, which the loop has in a register: the way from call to return would be longer through memory.
  [[gnu::always_inline]] inline Frame* push_frame(Function* function, Value* window, uint32_t count, FrameKind kind, uint32_t result,
                                                  Frame* caller);
  inline void pop_frame(Frame* frame) noexcept { pop_frame(frame, frame->end); }
  inline void pop_frame(Frame* frame, Value* end) noexcept;  // no objects stand from `end` on
  // A return that is not just a value for the caller's register: the frame to go on with, or null (entry).
  Frame* return_special(Frame* frame, Value& answer, Value& out);
  Frame* return_otherwise(Frame* frame, Value& answer, Value& out);  // and not one to a native
  Frame* return_rarely(Frame* frame, Value& answer, Value& out);
  Frame* return_operator(Frame* frame, Value& answer);  // of kind Operator, to its caller
  Frame* return_operator_otherwise(Frame* frame, Value& answer);
  Frame* return_none(Frame* frame, Value& out);
  Frame* leave_frame(Frame* frame, Value answer, Value& out);
  Frame* return_to_instruction(Frame* frame, Value& answer);
  Frame* resume_generator(Generator* generator, FrameKind kind, uint32_t result);
  Frame* suspend_generator(Frame* frame, Value& item, bool take, uint32_t send_register, Value& out);
  // A YieldFrom, `w`, of the frame: the frame to go on with, or null (entry).
  Frame* yield_from(Frame* frame, Word w, Value& out);
  Frame* innermost_delegate(Frame* frame, Value& exception, bool close_on_exit, Value& item, bool& suspended);

  // Finds a handler; false: none up to `entry`, and the exception is in pending_. `new_line`: the running frame's line
  // belongs into the traceback (not for `raise` alone, where it stands already).
  bool unwind(Frame* entry, Value exception, bool new_line);
  bool unwind_pending(Frame* entry, bool new_line);

  // Returns false if the exception has to be thrown: MemoryError.
  bool take_error(const Error& error);
  bool take_exception(Value exception);
  void leave_pending(Value exception);
  void note(const Value& exception, const Frame& frame) noexcept;
  Value made_of(const Error& error) noexcept;
  void take_context(const Value& exception);
  void check_native_limit(const char* address);
  void check_steps();
  void forget_stops() noexcept;
  [[noreturn]] void throw_limit();
  Value limit_behind(Value exception);
  [[noreturn]] void throw_too_deep(Value* window, uint32_t count);

  Interpreter& in_;
  uint32_t depth_limit_ = 1000;
  int64_t batch_ = 0;         // what Interpreter::countdown began with
  uint64_t steps_ = 0;        // of this run, up to the last look
  uint32_t runs_ = 0;         // of hosts, one inside the other
  bool timed_ = false;        // this run has a deadline
  ErrorKind limit_kind_{};    // of the limit that was hit
  const char* limit_text_ = nullptr;
  Value memory_error_;
  Dict* builtins_ = nullptr;
  std::unique_ptr<Provenance> provenance_;
  Noter noter_ = nullptr;
  bool keeps_variables_ = false;
  std::vector<Value> watched_;  // FrameObjects of the frames of kind Watched
};

// Around scripts that run because an object ends, which may be in the middle of a step: the exception that waits for the loop is put
// aside, so that their own loop does not take it for one of theirs.
class PendingAside {
 public:
  explicit PendingAside(VirtualMachine& vm) noexcept : vm_(vm), kept_(vm.take_pending()) {}
  ~PendingAside() {
    if (!kept_.is_undefined()) vm_.pending_ = std::move(kept_);
  }
  PendingAside(const PendingAside&) = delete;
  PendingAside& operator=(const PendingAside&) = delete;

 private:
  VirtualMachine& vm_;
  Value kept_;
};

// Does the exception come from a limit or a cancellation, which no handler of a script sees?
bool ended_by_limit(const Value& exception) noexcept;

// A run of a host's: its limits of steps and time count from here. Inside of another it is a part of that one.
class RunScope {
 public:
  explicit RunScope(VirtualMachine& vm) : vm_(vm) { vm_.begin_run(); }
  ~RunScope() { vm_.end_run(); }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

 private:
  VirtualMachine& vm_;
};

inline Frame* VirtualMachine::push_frame(Function* function, Value* window, uint32_t count, FrameKind kind, uint32_t result,
                                         Frame* caller) {
  Code* const code = function->code;
  Frame* const frame = next_frame_;
  if (depth_ >= depth_limit_ || window + code->registers > stack_end_ || frame == frames_end_) [[unlikely]] {
    throw_too_deep(window, count);
  }
  ++depth_;
  next_frame_ = frame + 1;
  assert(holds_no_object(window + count, window + code->near_registers));
  for (uint32_t r = count; r < code->first_temporary; ++r) new (window + r) Value();
  frame->begin(code);
  frame->registers = window;
  frame->end = window + code->registers;
  frame->function = function;
  frame->caller = caller;
  frame->result = static_cast<uint16_t>(result);
  frame->handled = kNoRegister;
  frame->kind = kind;
  frame->paused = false;
  top_ = frame;
  return frame;
}

// Where the objects of a frame end whose word is a Return or ReturnNone.
inline Value* end_of_objects(const Frame* frame) {
  const uint32_t objects = frame->pc[-1].b;
  return objects == kNoRegister ? frame->end : frame->registers + objects;
}

// The registers are emptied while the frame still stands: what a destructor runs gets a window behind them.
inline void VirtualMachine::pop_frame(Frame* frame, Value* end) noexcept {
  for (Value* r = frame->registers; r != end; ++r) {
    r->clear();
  }
  if (frame->kind == FrameKind::Watched) [[unlikely]] end_watch(*frame);  // since one of them asked for the frames
  top_ = frame->caller;
  next_frame_ = frame;
  --depth_;
  Function* const function = frame->function;
  if (--function->refcount == 0) destroy_object(function);
}

}  // namespace tessera::lang
