// What is around the loop: the stack, limits, and the way of an exception to its handler.
#include <pthread.h>
#include <sys/mman.h>

#include <chrono>
#include <new>
#include <stdexcept>

#include "lang/core/cycles.h"
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/core/signals.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/objects/module.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

// Address space, not memory: pages come when they are touched. A frame has about ten registers, rarely more than 250.
constexpr size_t kStackValues = size_t{4} << 20;
constexpr size_t kFrames = size_t{1} << 18;
// What must be left of the C++ stack when a native calls a script: enough for the deepest chain of natives between
// two checks, with sanitizers.
constexpr size_t kNativeReserve = size_t{256} << 10;

template <class T>
T* reserve(size_t count) {
  void* memory =
      mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

// The lowest address of this thread's stack.
const char* stack_bottom() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  void* address = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &address, &size);
  pthread_attr_destroy(&attributes);
  return static_cast<const char*>(address);
}

}  // namespace

// Zeroed pages are Undefined values and empty frames.
VirtualMachine::VirtualMachine(Interpreter& in)
    : in_(in), stack_(reserve<Value>(kStackValues)), frames_(reserve<Frame>(kFrames)) {
  stack_end_ = stack_ + kStackValues;
  frames_end_ = frames_ + kFrames;
  next_frame_ = frames_;
  depth_limit_ = in.limits.call_depth;
}

VirtualMachine::~VirtualMachine() {
  munmap(stack_, kStackValues * sizeof(Value));
  munmap(frames_, kFrames * sizeof(Frame));
}

void VirtualMachine::check_native_stack() {
  const char here = 0;
  const char* const address = &here;
  if (top_ == nullptr || native_limit_ == nullptr) {
    const char* const bottom = stack_bottom();
    native_limit_ = bottom == nullptr ? nullptr : bottom + kNativeReserve;
  }
  if (address < native_limit_) throw Error(ErrorKind::RecursionError, "maximum recursion depth exceeded");
}

void VirtualMachine::throw_too_deep(Value* window, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) window[i] = Value();
  throw Error(ErrorKind::RecursionError, "maximum recursion depth exceeded");
}

namespace {

constexpr uint16_t kUncatchable = 1;  // Object::aux of an Exception: a limit of the host, which no handler sees

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void throw_uncatchable(Interpreter& in, ErrorKind kind, const char* message) {
  Value exception = make_exception(in, kind, message);
  exception.as_object()->aux = kUncatchable;
  throw Thrown(std::move(exception));
}

}  // namespace

void VirtualMachine::begin_run() {
  if (top_ != nullptr) return;
  steps_ = 0;
  batch_ = countdown_ = 0;
  deadline_ = in_.limits.seconds > 0 ? steady_seconds() + in_.limits.seconds : 0;
}

// How many steps pass before the next look: few enough that a limit is met closely, many enough that looking costs nothing.
void VirtualMachine::check_limits() {
  constexpr int64_t kSteps = 1 << 14;
  steps_ += static_cast<uint64_t>(batch_ - countdown_);
  batch_ = countdown_ = kSteps;
  if (in_.limits.steps != 0) {
    if (steps_ > in_.limits.steps) throw_uncatchable(in_, ErrorKind::RuntimeError, "step limit exceeded");
    const uint64_t left = in_.limits.steps - steps_;
    if (left < static_cast<uint64_t>(kSteps)) batch_ = countdown_ = static_cast<int64_t>(left);
  }
  if (deadline_ != 0 && steady_seconds() > deadline_)
    throw_uncatchable(in_, ErrorKind::TimeoutError, "time limit exceeded");
}

void VirtualMachine::safe_point() {
  check_limits();
  const uint32_t wanted = in_.interrupt.load(std::memory_order_relaxed);
  if (wanted & Collector::kCollect) in_.collector().collect_if_due();
  if (wanted & 2) {
    in_.interrupt.fetch_and(~2u);
    throw_uncatchable(in_, ErrorKind::KeyboardInterrupt, "cancelled by the host");
  }
  if (wanted & kSignalArrived) {
    in_.interrupt.fetch_and(~kSignalArrived);
    call_method(in_, Value(in_.import("signal")), intern(in_, "_deliver"), {});
  }
  if (wanted & 1) {
    in_.interrupt.fetch_and(~1u);
    throw Thrown(make_exception(in_, error_type(in_, ErrorKind::KeyboardInterrupt), make_tuple(in_, nullptr, 0)));
  }
}

Value VirtualMachine::run(Frame* entry) {
  Value out;
  for (;;) {
    Value exception;
    bool raised = false;
    try {
      if (execute(entry, out)) return out;
      exception = std::move(pending_);
    } catch (const Thrown& thrown) {
      exception = thrown.exception;
      raised = true;
    } catch (const Error& error) {
      exception = make_exception(in_, error);
      set_context(in_, as_exception(exception));
      raised = true;
    } catch (...) {
      exception = current_native_exception(in_);
      raised = true;
    }
    // What comes out of the machine through a nested call has its lines already; this frame's is still to be added.
    if (!raised || !unwind(entry, std::move(exception), true)) {
      if (raised) exception = std::move(pending_);
      throw Thrown(std::move(exception));
    }
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
Value as_runtime_error(Interpreter& in, const Value& exception) {
  Value error = make_exception(in, ErrorKind::RuntimeError, "generator raised StopIteration");
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
    if (new_line) add_traceback(in_, as_exception(exception), *frame);
    new_line = true;
    const uint32_t word = static_cast<uint32_t>(frame->pc - frame->code->words.data()) - 1;
    const Protected* const row = exception.as_object()->aux == kUncatchable ? nullptr : find_handler(frame->code, word);
    if (row != nullptr) {
      Value* const registers = frame->registers;
      for (uint32_t r = row->target; r < frame->code->near_registers; ++r) registers[r] = Value();
      registers[row->target] = std::move(exception);
      frame->handled = static_cast<uint8_t>(row->target);
      frame->pc = frame->code->words.data() + row->handler;
      return true;
    }
    if (Generator* const generator = frame->generator) {
      top_ = frame->caller;
      --depth_;
      generator_finish(in_, generator);
      if (is_error(in_, exception, ErrorKind::StopIteration)) exception = as_runtime_error(in_, exception);
    } else {
      frame->constructed = Value();
      pop_frame(frame);
    }
    if (frame == entry) {
      pending_ = std::move(exception);
      return false;
    }
  }
}

}  // namespace tessera::lang
