// The baton, and the life of threads.
// compile: few-inlines (no faster with more inlines)
#include "lang/vm/threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lang/core/deadline.h"
#include "lang/core/error.h"
#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/core/signals.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/objects/unraisable.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

// Of each thread but the first: address space, of which a page of each is touched by a short thread.
constexpr size_t kStackValues = size_t{1} << 19;
constexpr size_t kFrames = size_t{1} << 16;
// The stack of C++. Recursion of scripts takes none of it; recursion through natives is bounded by check_native_stack.
constexpr size_t kNativeStack = size_t{8} << 20;
constexpr size_t kLeastNativeStack = size_t{512} << 10;  // natives want some room below their check of the stack
// Memory that a thread takes outside of the heap, booked there: touched pages of its stacks and the system's structures.
constexpr uint64_t kBookedBytes = 64 << 10;
// The first thread looks at its interrupts so often while it waits: a signal handler cannot wake it.
constexpr auto kSlice = std::chrono::milliseconds(10);

uint64_t own_ident() { return static_cast<uint64_t>(pthread_self()); }
int64_t own_native_id() { return static_cast<int64_t>(syscall(SYS_gettid)); }

}  // namespace

Threads::Threads(Interpreter& in) : in_(in) {
  threads_.push_back(std::make_unique<Thread>());
  main_ = current_ = holder_ = threads_.back().get();
  main_->is_main_ = true;
  main_->owner_ = this;
  main_->place_ = Thread::Place::Running;
  main_->ident_ = own_ident();
  main_->native_id_ = own_native_id();
}

Threads::~Threads() {
  clear_deadline(in_.interrupt, kSwitchDue);
  if (main_->extension_ != nullptr) extension_.drop(main_->extension_);  // the others drop theirs as they end
}

std::vector<Thread*> Threads::all() {
  std::vector<Thread*> found;
  for (const auto& thread : threads_) found.push_back(thread.get());
  return found;
}

// --- the hand-over

void Threads::save(Thread& thread) noexcept {
  if (extension_.save != nullptr) extension_.save(in_, &thread.extension_);
  std::swap(static_cast<ThreadState&>(in_.vm()), thread.state_);
  NativeGuards& guards = thread.guards_;
  guards.destroy_depth = std::exchange(in_.heap.destroy_depth, 0);
  guards.doomed.swap(in_.heap.doomed);
  in_.heap.doomed_elsewhere += guards.doomed.size();
  guards.native_depth = std::exchange(in_.shared->native_depth, 0);
  guards.in_repr.swap(in_.shared->in_repr);
  guards.context = std::move(in_.shared->context);
  guards.async_generator_first = std::move(in_.shared->async_generator_first);
  guards.async_generator_finalizer = std::move(in_.shared->async_generator_finalizer);
  guards.origin_depth = std::exchange(in_.shared->origin_depth, 0);
}

void Threads::load(Thread& thread) noexcept {
  current_ = &thread;
  std::swap(static_cast<ThreadState&>(in_.vm()), thread.state_);
  NativeGuards& guards = thread.guards_;
  in_.heap.destroy_depth = std::exchange(guards.destroy_depth, 0);
  in_.heap.doomed_elsewhere -= guards.doomed.size();
  guards.doomed.swap(in_.heap.doomed);
  in_.shared->native_depth = std::exchange(guards.native_depth, 0);
  guards.in_repr.swap(in_.shared->in_repr);
  in_.shared->context = std::move(guards.context);
  in_.shared->async_generator_first = std::move(guards.async_generator_first);
  in_.shared->async_generator_finalizer = std::move(guards.async_generator_finalizer);
  in_.shared->origin_depth = std::exchange(guards.origin_depth, 0);
  in_.stops = stops_of(thread);
  if (extension_.load != nullptr) extension_.load(in_, &thread.extension_);
}

uint32_t Threads::stops_of(const Thread& thread) const noexcept {
  return thread.is_main_ && !signals_held_ ? kStops : kStops & ~kKeyboard;
}

void Threads::hold_signals(bool held) noexcept {
  signals_held_ = held;
  in_.stops = stops_of(*current_);
}

// One deadline for all that wait: it comes at most once an interval, however often the baton changes hands.
void Threads::ask_for_switch() {
  if (std::exchange(asked_, true)) return;
  try {
    set_deadline(in_.interrupt, kSwitchDue, interval_);
  } catch (const std::bad_alloc&) {
    in_.interrupt.fetch_or(kSwitchDue);  // at once, then
  }
}

void Threads::queue(Thread& thread, bool in_front) {
  thread.place_ = Thread::Place::Queued;
  if (in_front) waiting_.push_front(&thread);
  else waiting_.push_back(&thread);
  if (holder_ != nullptr) ask_for_switch();
}

void Threads::grant_next() noexcept {
  if (waiting_.empty()) {
    holder_ = nullptr;
    return;
  }
  holder_ = waiting_.front();
  waiting_.pop_front();
  holder_->place_ = Thread::Place::Running;
  switched_at_ = Clock::now();
  holder_->wake_.notify_one();
  if (!waiting_.empty()) ask_for_switch();
}

void Threads::wait_for_turn(Thread& thread, std::unique_lock<std::mutex>& guard) {
  if (holder_ == nullptr && waiting_.front() == &thread) grant_next();
  thread.wake_.wait(guard, [&] { return holder_ == &thread; });
}

Thread* Threads::leave() noexcept {
  if (alone()) return nullptr;
  Thread& thread = *current_;
  save(thread);
  const std::lock_guard guard(lock_);
  thread.place_ = Thread::Place::Outside;
  grant_next();
  return &thread;
}

void Threads::enter(Thread* thread) noexcept {
  if (thread == nullptr) return;
  {
    std::unique_lock guard(lock_);
    queue(*thread);
    wait_for_turn(*thread, guard);
  }
  load(*thread);
}

void Threads::yield() {
  Thread& thread = *current_;
  save(thread);
  {
    std::unique_lock guard(lock_);
    queue(thread);
    grant_next();
    wait_for_turn(thread, guard);
  }
  load(thread);
}

Threads::Woken Threads::park(Time until) {
  // wake_all() has been: it would wake this thread no more.
  if ((in_.interrupt.load(std::memory_order_relaxed) & kLimitHit) != 0) return Woken::Interrupted;
  Thread& thread = *current_;
  if (thread.is_main_) until = std::min(until, Clock::now() + kSlice);
  const bool alone_now = alone();
  if (!alone_now) save(thread);
  Woken woken = Woken::Unparked;
  {
    std::unique_lock guard(lock_);
    thread.place_ = Thread::Place::Parked;
    thread.interrupted_ = false;
    if (alone_now) {
      thread.wake_.wait_until(guard, until);
      thread.place_ = Thread::Place::Running;
      woken = Woken::TimedOut;
    } else {
      grant_next();
      const auto granted = [&] { return holder_ == &thread; };
      if (until == kNever) {
        thread.wake_.wait(guard, granted);
      } else if (!thread.wake_.wait_until(guard, until, granted)) {
        if (thread.place_ == Thread::Place::Parked) {
          woken = Woken::TimedOut;
          queue(thread);
        }
        wait_for_turn(thread, guard);
      }
      if (thread.interrupted_) woken = Woken::Interrupted;
    }
  }
  if (!alone_now) load(thread);
  return woken;
}

void Threads::unpark(Thread& thread) {
  const std::lock_guard guard(lock_);
  if (thread.place_ != Thread::Place::Parked) return;
  queue(thread);
  if (holder_ == nullptr) grant_next();
}

void Threads::wake_all() noexcept {
  const std::lock_guard guard(lock_);
  for (const auto& thread : threads_) {
    if (thread->place_ != Thread::Place::Parked) continue;
    thread->interrupted_ = true;
    queue(*thread);
  }
  if (holder_ == nullptr) grant_next();
}

void Threads::sleep_until(Time until) {
  do {
    park(until);
    in_.poll();
  } while (Clock::now() < until);
}

// Is the first thread to run next, because one of its bits is set? Then it is put in front of the others.
bool Threads::wanted_by_main(uint32_t wanted) const {
  if (current_->is_main_ || (wanted & kForMain) == 0) return false;
  if (main_->place_ == Thread::Place::Queued) return true;
  return main_->place_ == Thread::Place::Parked && (wanted & kForMain & ~kPauseDue) != 0;
}

void Threads::safe_point(uint32_t wanted) {
  {
    const std::lock_guard guard(lock_);
    const bool by_main = wanted_by_main(wanted);
    if (by_main) {
      main_->interrupted_ = true;
      std::erase(waiting_, main_);
      queue(*main_, true);
    }
    if ((wanted & kSwitchDue) != 0) {
      in_.interrupt.fetch_and(~kSwitchDue);
      asked_ = false;
    } else if (!by_main) {
      return;
    }
    if (waiting_.empty()) return;
    const auto ran = Clock::now() - switched_at_;
    if (!by_main && ran < interval_ * 3 / 4) {  // the deadline was set before this thread had its turn
      asked_ = true;
      set_deadline(in_.interrupt, kSwitchDue, interval_ - ran);
      return;
    }
  }
  yield();
}

// --- the life of a thread

void Threads::set_extension(const Extension& extension) {
  extension_ = extension;
  if (!alone() && extension_.started != nullptr) extension_.started(in_);
}

Thread& Threads::start(const Value& function, const Value& arguments, const Value& keywords) {
  if (others_ >= in_.limits.threads || ending_ || closed_) throw Error(ErrorKind::RuntimeError, "can't start new thread");
  auto made = std::make_unique<Thread>();
  Thread& thread = *made;
  in_.heap.charge(kBookedBytes);
  thread.booked_ = kBookedBytes;
  thread.owner_ = this;
  thread.function_ = function, thread.arguments_ = arguments, thread.keywords_ = keywords;
  if (others_ == 0 && extension_.started != nullptr) extension_.started(in_);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes_ != 0 ? std::max(stack_bytes_, kLeastNativeStack) : kNativeStack);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  {
    const std::lock_guard guard(lock_);
    ++running_;
  }
  ++others_;
  threads_.push_back(std::move(made));
  pthread_t handle{};
  int failed = 0;
  try {
    thread.state_.reserve_stack(kStackValues, kFrames);
    failed = pthread_create(&handle, &attributes, &Threads::begin, &thread);
  } catch (const std::bad_alloc&) {
    failed = ENOMEM;
  }
  pthread_attr_destroy(&attributes);
  if (failed != 0) {
    thread.state_.release_stack();
    threads_.pop_back();
    --others_;
    in_.heap.refund(kBookedBytes);
    const std::lock_guard guard(lock_);
    --running_;
    throw Error(ErrorKind::RuntimeError, "can't start new thread");
  }
  thread.ident_ = static_cast<uint64_t>(handle);
  return thread;
}

void* Threads::begin(void* thread) {
  auto& own = *static_cast<Thread*>(thread);
  own.owner_->run(own);
  return nullptr;
}

namespace {

// function(*arguments, **keywords)
void call_spread(Interpreter& in, const Value& function, const Value& arguments, const Value& keywords) {
  std::vector<Value> values(as_tuple(arguments)->begin(), as_tuple(arguments)->end());
  std::vector<Value> names;
  if (is_dict(keywords)) {
    dict_for_each(known_cast<const Dict>(keywords), [&](const Value& name, const Value& value) {
      names.push_back(name);
      values.push_back(value);
    });
  }
  const Value tuple = names.empty() ? Value() : make_tuple(in, names.data(), names.size());
  Args args{values.data(), static_cast<uint32_t>(values.size())};
  if (!names.empty()) args.keyword_names = as_tuple(tuple);
  call(in, function, args);
}

// As CPython: SystemExit ends the thread, everything else is told.
void tell(Interpreter& in, const Value& function, const Value& exception) {
  if (is_error(in, exception, ErrorKind::SystemExit)) return;
  report_unraisable(in, exception, "Exception ignored in thread started by", function);
}

}  // namespace

void Threads::run(Thread& thread) {
  thread.native_id_ = own_native_id();
  enter(&thread);
  try {
    try {
      call_spread(in_, thread.function_, thread.arguments_, thread.keywords_);
    } catch (const Thrown& thrown) {
      tell(in_, thread.function_, thrown.exception);
    } catch (const std::exception&) {
      tell(in_, thread.function_, current_native_exception(in_));
    }
  } catch (...) {
    // The function's repr raised, or memory ended: the thread has no caller.
  }
  finish(thread);
}

void Threads::finish(Thread& thread) {
  if (thread.is_main_) _exit(0);  // it forked, and this is the child: its last thread has ended
  const auto drop = [&](Value& value) { const Value last = std::move(value); };
  drop(thread.function_), drop(thread.arguments_), drop(thread.keywords_), drop(thread.locals);
  if (!thread.on_end.is_undefined()) {
    const Value told = std::move(thread.on_end);
    try {
      call(in_, told);
    } catch (...) {
      // As above.
    }
  }
  in_.vm().forget_tracers();
  // The context and the async generator hooks of the thread are released while the thread has the baton: reference counts are not atomic.
  drop(in_.shared->context), drop(in_.shared->async_generator_first), drop(in_.shared->async_generator_finalizer);
  save(thread);
  thread.state_.release_stack();
  if (thread.extension_ != nullptr) extension_.drop(thread.extension_);
  in_.heap.refund(thread.booked_);
  const auto place = std::find_if(threads_.begin(), threads_.end(), [&](const auto& t) { return t.get() == &thread; });
  threads_.erase(place);  // the Thread ends here, before another one runs
  --others_;
  const std::lock_guard guard(lock_);
  grant_next();
  --running_;
  ended_.notify_all();
}

void Threads::join_all() {
  if (alone()) return;
  const Value* const module = dict_get_text(in_.modules().table(), "threading");
  if (module != nullptr) call_method(in_, Value(*module), intern(in_, "_join_others"));
}

void Threads::end_all() noexcept {
  {
    const std::lock_guard guard(lock_);
    if (running_ == 0) return;
  }
  ending_ = true;
  in_.interrupt.fetch_or(kLimitHit);
  wake_all();
  Thread* const thread = leave();
  {
    std::unique_lock guard(lock_);
    ended_.wait(guard, [&] { return running_ == 0; });
  }
  enter(thread);
  ending_ = false;
}

void Threads::close() noexcept {
  end_all();
  closed_ = true;
}

// The other threads are gone with their stacks; the objects that their frames held stay, as they do for CPython's.
void Threads::after_fork() {
  new (&lock_) std::mutex;
  new (&ended_) std::condition_variable;
  for (auto& thread : threads_) {
    if (thread.get() != current_) static_cast<void>(thread.release());
  }
  std::erase(threads_, nullptr);
  waiting_.clear();
  new (&current_->wake_) std::condition_variable;
  main_ = holder_ = current_;
  main_->is_main_ = true;
  main_->native_id_ = own_native_id();
  in_.stops = stops_of(*current_);
  others_ = running_ = 0;
  asked_ = false;
  in_.heap.doomed_elsewhere = 0;
}

}  // namespace tessera::lang
