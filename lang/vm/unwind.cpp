// What is around the loop: the stack, limits, and the way of an exception to its handler.
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "lang/core/cycles.h"
#include "lang/core/deadline.h"
#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "lang/core/native_stack.h"
#include "lang/core/protocol.h"
#include "lang/core/signals.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/objects/module.h"
#include "lang/types/tuple.h"
#include "lang/vm/provenance.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/threads.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

// Address space, not memory: pages come when they are touched. A frame has about ten registers, rarely more than 250.
constexpr size_t kStackValues = size_t{4} << 20;
constexpr size_t kFrames = size_t{1} << 18;
// The part of the C++ stack that must be left when a native calls a script: enough for the deepest chain of natives between
// two checks, with sanitizers. A quarter of a small stack has to do.
constexpr size_t kNativeReserve = size_t{256} << 10;

template <class T>
T* reserve(size_t count) {
  void* memory =
      mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

struct StackBounds {
  const char* bottom = nullptr;  // the lowest address
  size_t size = 0;
};

// Of this thread, which the system takes microseconds to find.
StackBounds find_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* address = nullptr;
  StackBounds found;
  pthread_attr_getstack(&attributes, &address, &found.size);
  pthread_attr_destroy(&attributes);
  found.bottom = static_cast<const char*>(address);
  return found;
}

const StackBounds& stack_bounds() {
  thread_local const StackBounds bounds = find_stack();
  return bounds;
}

// The lowest address that natives may find when they are entered; null: unknown.
const char* lowest_for_natives() {
  const StackBounds& stack = stack_bounds();
  return stack.bottom == nullptr ? nullptr : stack.bottom + std::min(kNativeReserve, stack.size / 4);
}

}  // namespace

std::size_t native_stack_left() {
  const char* const lowest = lowest_for_natives();
  if (lowest == nullptr) return SIZE_MAX;
  const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
  return here > lowest ? static_cast<std::size_t>(here - lowest) : 0;
}

// Zeroed pages are Undefined values and empty frames.
void ThreadState::reserve_stack(size_t values, size_t frames) {
  stack_ = reserve<Value>(values);
  stack_end_ = stack_ + values;
  try {
    frames_ = next_frame_ = reserve<Frame>(frames);
  } catch (const std::bad_alloc&) {
    munmap(std::exchange(stack_, nullptr), values * sizeof(Value));
    throw;
  }
  frames_end_ = frames_ + frames;
}

void ThreadState::release_stack() noexcept {
  if (stack_ == nullptr) return;
  munmap(stack_, static_cast<size_t>(stack_end_ - stack_) * sizeof(Value));
  munmap(frames_, static_cast<size_t>(frames_end_ - frames_) * sizeof(Frame));
  stack_ = nullptr;
}

VirtualMachine::VirtualMachine(Interpreter& in) : in_(in) {
  reserve_stack(kStackValues, kFrames);
  depth_limit_ = in.limits.call_depth;
}

VirtualMachine::~VirtualMachine() { release_stack(); }

Provenance& VirtualMachine::provenance() {
  if (provenance_ == nullptr) provenance_ = std::make_unique<Provenance>();
  return *provenance_;
}

void VirtualMachine::check_native_limit(const char* address) {
  if (top_ == nullptr || native_limit_ == kUnknownLimit) native_limit_ = lowest_for_natives();
  if (address < native_limit_) throw Error(ErrorKind::RecursionError, "maximum recursion depth exceeded");
}

bool VirtualMachine::has_stack(size_t bytes) { return native_stack_left() > bytes; }

void VirtualMachine::throw_too_deep(Value* window, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) window[i] = Value();
  throw Error(ErrorKind::RecursionError, "maximum recursion depth exceeded");
}

namespace {

constexpr uint16_t kUncatchable = 1;  // Object::aux of an Exception: a limit of the host, which no handler sees

}  // namespace

// The usual run finds none: a look is cheaper than a locked write.
void VirtualMachine::forget_stops() noexcept {
  constexpr uint32_t kOfARun = kLimitHit | kTimeIsUp | kCancelled | kMemoryShort;
  if ((in_.interrupt.load(std::memory_order_relaxed) & kOfARun) != 0) in_.interrupt.fetch_and(~kOfARun);
}

// A cancellation is of the run that is under way: one that came too late for the last has nobody to stop.
void VirtualMachine::begin_run() {
  if (runs_++ != 0) return;
  native_limit_ = lowest_for_natives();  // a host may use several threads, one after the other
  steps_ = 0;
  batch_ = in_.countdown = 0;
  forget_stops();
  in_.heap.begin_run();
  timed_ = in_.limits.seconds > 0;
  if (timed_) set_deadline(in_.interrupt, kTimeIsUp, std::chrono::duration<double>(in_.limits.seconds));
}

void VirtualMachine::end_run() noexcept {
  if (--runs_ != 0) return;
  if (timed_) clear_deadline(in_.interrupt, kTimeIsUp);
  timed_ = false;
  if ((in_.interrupt.load(std::memory_order_relaxed) & kLimitHit) != 0) in_.threads().end_all();
  forget_stops();
}

uint64_t VirtualMachine::steps() const { return steps_ + static_cast<uint64_t>(batch_ - in_.countdown); }

// How many steps pass before the next look: few enough that a limit is met closely, many enough that looking costs nothing.
void VirtualMachine::check_steps() {
  constexpr int64_t kSteps = 1 << 14;
  steps_ += static_cast<uint64_t>(batch_ - in_.countdown);
  batch_ = in_.countdown = kSteps;
  if (in_.limits.steps == 0) return;
  if (steps_ > in_.limits.steps) hit_limit(ErrorKind::RuntimeError, "step limit exceeded");
  const uint64_t left = in_.limits.steps - steps_;
  if (left < static_cast<uint64_t>(kSteps)) batch_ = in_.countdown = static_cast<int64_t>(left);
}

// Note [A limit stays hit]
// What a limit throws passes by every handler of the script, but natives drop exceptions too: where a finalizer, a weak
// reference's callback or a generator's end has nobody to tell. So kLimitHit stays set until the run has ended, and each
// safe point on the way throws again: whatever is still run, by whomever, ends at its first loop or call.
void VirtualMachine::hit_limit(ErrorKind kind, const char* message) {
  limit_kind_ = kind;
  limit_text_ = message;
  if (runs_ != 0) in_.interrupt.fetch_or(kLimitHit);
  if (!in_.threads().alone()) in_.threads().wake_all();
  throw_limit();
}

void VirtualMachine::throw_limit() {
  Value exception;
  try {
    // A thread that is still there when the interpreter ends is cut by no limit of the host.
    exception = limit_text_ == nullptr ? make_exception(in_, ErrorKind::SystemExit, "the interpreter ends")
                                       : make_exception(in_, limit_kind_, limit_text_);
  } catch (const std::exception&) {
    exception = memory_error();
  }
  exception.as_object()->aux = kUncatchable;
  throw Thrown(std::move(exception));
}

// Natives that were told to stop (by the allocator, by a kernel) threw what they could; the reason stands in the flags.
Value VirtualMachine::limit_behind(Value exception) {
  if (exception.as_object()->aux == kUncatchable) return exception;  // it is that already, with its lines
  if ((in_.interrupt.load(std::memory_order_relaxed) & (kTimeIsUp | kCancelled)) == 0) [[likely]]
    return exception;
  try {
    stop_now();
  } catch (const Thrown& thrown) {
    return thrown.exception;
  }
  return exception;
}

void VirtualMachine::prepare_memory_error() {
  memory_error_ = make_exception(in_, error_type(in_, ErrorKind::MemoryError), make_tuple(in_, nullptr, 0));
}

Value VirtualMachine::memory_error() noexcept {
  Exception* const error = as_exception(memory_error_);
  error->aux = 0;
  error->cause = error->context = error->traceback = Value::none();
  return memory_error_;
}

void VirtualMachine::stop_now() {
  const uint32_t wanted = in_.interrupt.load(std::memory_order_relaxed);
  if (wanted & kLimitHit) throw_limit();
  if (in_.countdown < 0) check_steps();
  if ((wanted & in_.stops) == 0) [[likely]]
    return;
  if (wanted & kTimeIsUp) hit_limit(ErrorKind::TimeoutError, "time limit exceeded");
  if (wanted & kCancelled) {
    in_.interrupt.fetch_and(~kCancelled);
    hit_limit(ErrorKind::KeyboardInterrupt, "cancelled by the host");
  }
  if (wanted & kMemoryShort) {
    in_.interrupt.fetch_and(~kMemoryShort);
    Error error(ErrorKind::MemoryError, "");
    if (in_.limits.object_bytes != 0)
      error.notes.push_back("objects take " + std::to_string(in_.heap.bytes()) + " bytes, the limit is " +
                            std::to_string(in_.limits.object_bytes));
    throw error;
  }
  in_.interrupt.fetch_and(~kKeyboard);
  throw Thrown(make_exception(in_, error_type(in_, ErrorKind::KeyboardInterrupt), make_tuple(in_, nullptr, 0)));
}

void VirtualMachine::safe_point(const Word* again) {
  stop_now();
  uint32_t wanted = in_.interrupt.load(std::memory_order_relaxed);
  if (wanted & kCollectionDue) in_.collector().collect_if_due();
  if ((wanted & (kSwitchDue | kForMain)) != 0 && !in_.threads().alone()) [[unlikely]]
    in_.threads().safe_point(wanted);
  if (wanted & (kSampleDue | kTraceDue)) in_.interrupt.fetch_and(~(kSampleDue | kTraceDue));
  if (is_traced() != loop_traces_ && again != nullptr) [[unlikely]] {
    top_->pc = again;
    throw OtherLoop{};
  }
  if (!in_.threads().current().is_main()) return;
  wanted = in_.interrupt.load(std::memory_order_relaxed);  // others may have run
  if ((wanted & kPauseDue) && nested_ == pausable_at_ && again != nullptr && !std::exchange(resumed_, false)) {
    top_->pc = again;
    throw Paused{};
  }
  if (wanted & kAttention) {
    in_.interrupt.fetch_and(~kAttention);
    if (in_.host().attend) in_.host().attend();
  }
  if ((wanted & kSignalArrived) && !in_.threads().signals_held()) {
    in_.interrupt.fetch_and(~kSignalArrived);
    call_method(in_, Value(in_.import("signal")), intern(in_, "_deliver"), {});
  }
}

bool ended_by_limit(const Value& exception) noexcept { return exception.as_object()->aux == kUncatchable; }

void VirtualMachine::drop_frames(Frame* entry) noexcept {
  for (bool last = false; !last && top_ != nullptr;) {
    Frame* const frame = top_;
    last = frame == entry;
    if (frame->kind == FrameKind::Watched) end_watch(*frame);
    if (Generator* const generator = frame->generator) {
      top_ = frame->caller;
      --depth_;
      generator_finish(in_, generator);
    } else {
      frame->constructed = Value();
      pop_frame(frame);
    }
  }
}

// The frame may be in a handler by now: the traceback's innermost entry says where it was when the exception was raised. A hint that
// cannot be made is left out.
void VirtualMachine::note(const Value& exception, const Frame& frame) noexcept {
  Exception* const made = as_exception(exception);
  made->notes_due = false;
  const Traceback* entry = nullptr;
  for (const Value* next = &made->traceback; next->is_object(); next = &entry->next) entry = known_cast<Traceback>(*next);
  if (entry == nullptr || entry->code != frame.code) return;
  Frame raised = frame;
  raised.pc = frame.code->words.data() + entry->word + 1;
  try {
    noter_(in_, exception, raised);
  } catch (const std::exception&) {
    return;
  }
}

void VirtualMachine::make_notes(const Value& exception) noexcept {
  if (!as_exception(exception)->notes_due) return;
  for (const Frame* frame = top(); frame != nullptr; frame = calling_frame(*frame)) {
    if (frame->handled != kNoRegister && frame->registers[frame->handled].is(exception)) return note(exception, *frame);
  }
}

void VirtualMachine::throw_pending() { throw Thrown(std::move(pending_)); }

// A native may have thrown an exception as it was made.
void VirtualMachine::take_context(const Value& exception) {
  Exception* const made = as_exception(exception);
  if (made->traceback.is_none() && made->context.is_none() && !ended_by_limit(exception)) set_context(in_, made);
}

Value VirtualMachine::made_of(const Error& error) noexcept {
  try {
    return exception_of(in_, error);
  } catch (const std::exception&) {
    return memory_error();
  }
}

bool VirtualMachine::take_error(const Error& error) {
  return error.kind != ErrorKind::MemoryError && take_exception(made_of(error));
}

bool VirtualMachine::take_exception(Value exception) {
  if (is_error(in_, exception, ErrorKind::MemoryError)) return false;
  leave_pending(std::move(exception));
  return true;
}

void VirtualMachine::leave_pending(Value exception) {
  take_context(exception);
  exception = limit_behind(std::move(exception));
  as_exception(exception)->notes_due |= noter_ != nullptr && as_exception(exception)->traceback.is_none();
  pending_ = std::move(exception);
}

void VirtualMachine::raise_next(const Error& error) {
  if (!take_error(error)) throw error;
}

void VirtualMachine::raise_next(ErrorKind kind, std::initializer_list<std::string_view> words) {
  leave_pending(make_exception_of(in_, kind, words));
}

void VirtualMachine::raise_next(const Value& exception) {
  if (!take_exception(exception)) throw Thrown(exception);
}

Value VirtualMachine::run(Frame* entry) {
  Value out;
  if (!try_run(entry, out)) [[unlikely]]
    throw_pending();
  return out;
}

bool VirtualMachine::try_run(Frame* entry, Value& out) {
  struct Nested {
    uint32_t& count;
    explicit Nested(uint32_t& c) : count(++c) {}
    ~Nested() { --count; }
  };
  const Nested nested(nested_);
  struct Loop {  // which one the run() around this one is in
    bool& traces;
    bool before;
    ~Loop() { traces = before; }
  };
  const Loop loop{loop_traces_, loop_traces_};
  for (;;) {
    Value exception;
    bool raised = false;
    loop_traces_ = is_traced();
    try {
      if (loop_traces_ ? execute_traced(entry, out) : execute(entry, out)) return true;
      exception = std::move(pending_);
    } catch (const OtherLoop&) {
      continue;
    } catch (const Paused&) {
      throw;
    } catch (const Thrown& thrown) {
      exception = thrown.exception;
      raised = true;
      take_context(exception);
    } catch (const Error& error) {  // by far most: they need not be thrown again to be told apart
      exception = made_of(error);
      raised = true;
    } catch (...) {
      exception = current_native_exception(in_);
      raised = true;
    }
    if (raised) exception = limit_behind(std::move(exception));
    if (raised) as_exception(exception)->notes_due |= noter_ != nullptr && as_exception(exception)->traceback.is_none();
    // It has been told, and what its handler makes of it begins anew.
    const bool told = is_error(in_, exception, ErrorKind::MemoryError);
    // What comes out of the machine through a nested call has its lines already; this frame's is still to be added.
    if (!raised || !unwind(entry, std::move(exception), true)) {
      if (!raised) pending_ = std::move(exception);
      return false;
    }
    if (told) in_.interrupt.fetch_and(~kMemoryShort);
  }
}

namespace {

const Protected* find_handler(const Code* code, uint32_t word) {
  for (const Protected& row : code->handlers) {
    if (row.begin <= word && word < row.end) return &row;
  }
  return nullptr;
}

// A generator that lets StopIteration out would end its caller's loop: PEP 479.
Value as_runtime_error(Interpreter& in, const Generator* generator, const Value& exception, const char* name) {
  const std::string text = std::string(generator_word(generator)) + " raised " + name;
  Value error = make_exception(in, ErrorKind::RuntimeError, text);
  as_exception(error)->cause = exception;
  as_exception(error)->context = exception;
  as_exception(error)->suppress_context = true;
  return error;
}

}  // namespace

bool VirtualMachine::unwind_pending(Frame* entry, bool new_line) {
  return unwind(entry, std::move(pending_), new_line);
}

bool VirtualMachine::unwind(Frame* entry, Value exception, bool new_line) {
  for (;;) {
    Frame* const frame = top_;
    // throw() of a generator that has not begun: the error is at the def's first word, before any handler.
    const bool begun = frame->pc != frame->code->words.data();
    if (!begun) ++frame->pc;
    if (new_line) add_traceback(in_, as_exception(exception), *frame);
    if (new_line && is_traced() && exception.as_object()->aux != kUncatchable) {
      if (!begun) {  // the events are those of the def's line
        watch(*frame)->untraced = is_untraced(*frame->code);
        --frame->pc;
      }
      exception = trace_exception(*frame, std::move(exception));
      if (!begun) ++frame->pc;
    }
    new_line = true;
    const uint32_t word = static_cast<uint32_t>(frame->pc - frame->code->words.data()) - 1;
    const bool catchable = begun && exception.as_object()->aux != kUncatchable;
    const Protected* const row = catchable ? find_handler(frame->code, word) : nullptr;
    if (row != nullptr) {
      Value* const registers = frame->registers;
      for (uint32_t r = row->target; r < frame->code->near_registers; ++r) registers[r] = Value();
      registers[row->target] = std::move(exception);
      frame->handled = row->target;
      frame->pc = frame->code->words.data() + row->handler;
      return true;
    }
    if (as_exception(exception)->notes_due) [[unlikely]]
      note(exception, *frame);
    if (frame->kind == FrameKind::Watched) {
      frame->pc -= !begun;
      if (is_traced() && exception.as_object()->aux != kUncatchable) exception = trace_leaving(*frame, std::move(exception));
      frame->pc += !begun;
      end_watch(*frame);
    }
    keep_frame_variables(in_, exception, *frame);
    if (Generator* const generator = frame->generator) {
      top_ = frame->caller;
      --depth_;
      generator_finish(in_, generator);
      if (is_error(in_, exception, ErrorKind::StopIteration)) {
        exception = as_runtime_error(in_, generator, exception, "StopIteration");
      } else if (generator->kind == ObjectKind::AsyncGenerator &&
                 is_error(in_, exception, ErrorKind::StopAsyncIteration)) {
        exception = as_runtime_error(in_, generator, exception, "StopAsyncIteration");
      }
    } else {
      const bool item = frame->kind == FrameKind::Item;
      frame->constructed = Value();
      pop_frame(frame);
      if (item && is_error(in_, exception, ErrorKind::StopIteration)) {
        Value* const state = top_->registers + a_of(top_->pc[-1]);
        for (uint32_t i = 0; i < 3; ++i) state[i] = Value();
        if (is_traced()) trace_exception(*top_, exception);  // a loop drops what its tracer raises, as in CPython
        return true;
      }
    }
    if (frame == entry) {
      pending_ = std::move(exception);
      return false;
    }
  }
}

}  // namespace tessera::lang
