// The types lock and RLock of _thread.
#include "stdlib/python/native/locks.h"

#include <cmath>
#include <cstdio>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/signals.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {

void WaitList::add(Waiter& waiter) {
  waiter.before_ = last_;
  waiter.next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = &waiter;
  last_ = &waiter;
  waiter.listed_ = true;
}

void WaitList::remove(Waiter& waiter) {
  (waiter.before_ != nullptr ? waiter.before_->next_ : first_) = waiter.next_;
  (waiter.next_ != nullptr ? waiter.next_->before_ : last_) = waiter.before_;
  waiter.listed_ = false;
}

void WaitList::wake_one(lang::Threads& threads) {
  if (first_ == nullptr) return;
  Waiter& waiter = *first_;
  remove(waiter);
  threads.unpark(waiter.thread_);
}

namespace {

using lang::Thread;
using lang::Threads;

constexpr double kTimeoutMax = 9223372036.0;

struct Lock : Object {
  Thread* owner = nullptr;  // null: it is free
  uint64_t count = 0;       // of an RLock
  WaitList waiting;
};

Lock* lock_of(const Value& v) { return object_cast<Lock>(v); }

// When a wait with these arguments of acquire() ends.
Threads::Time end_of_wait(Interpreter& in, bool blocking, const Value& timeout) {
  const double seconds = real_argument(in, timeout);
  if (std::isnan(seconds)) throw Error(ErrorKind::ValueError, "Invalid value NaN (not a number)");
  if (!blocking && seconds != -1) throw Error(ErrorKind::ValueError, "can't specify a timeout for a non-blocking call");
  if (seconds < 0 && seconds != -1) throw Error(ErrorKind::ValueError, "timeout value must be a non-negative number");
  if (seconds > kTimeoutMax) throw Error(ErrorKind::OverflowError, "timeout value is too large");
  if (seconds < 0) return Threads::kNever;
  return Threads::Clock::now() + std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

// Waits until the lock is free and takes it. False: the time was up.
bool wait_for(Interpreter& in, Lock* lock, Threads::Time until) {
  Threads& threads = in.threads();
  const bool none_can_come = in.limits.threads == 0 || threads.is_closed();
  if (threads.alone() && none_can_come && until == Threads::kNever)
    throw Error(ErrorKind::RuntimeError, "deadlock: the lock is held by the only thread");
  // A thread that was woken and cannot take the lock, because it is interrupted, wakes the next one.
  struct PassOn {
    Lock* lock;
    Threads& threads;
    bool taken = false;
    ~PassOn() {
      if (!taken && lock->owner == nullptr) lock->waiting.wake_one(threads);
    }
  };
  PassOn pass_on{lock, threads};
  WaitList::Waiter waiter(lock->waiting, threads.current());
  for (;;) {
    const Threads::Woken woken = threads.park(until);
    if (lock->owner == nullptr) {
      lock->owner = &threads.current();
      return pass_on.taken = true;
    }
    if (woken == Threads::Woken::TimedOut && Threads::Clock::now() >= until) return false;
    in.poll();
    if (!waiter.is_listed()) waiter.list_again();
  }
}

bool take(Interpreter& in, Lock* lock, const Value& blocking, const Value& timeout) {
  const bool waits = truth(in, blocking);
  if (lock->owner == nullptr && timeout.is_int() && timeout.as_int() == -1) {
    lock->owner = &in.threads().current();
    return true;
  }
  const Threads::Time until = end_of_wait(in, waits, timeout);
  if (lock->owner == nullptr) {
    lock->owner = &in.threads().current();
    return true;
  }
  return waits && wait_for(in, lock, until);
}

void set_free(Interpreter& in, Lock* lock) {
  lock->owner = nullptr;
  lock->count = 0;
  if (!lock->waiting.empty()) lock->waiting.wake_one(in.threads());
}

// Takes the lock back after a wait, whatever interrupts come: its holder's block releases it. A limit ends the wait all the same.
void take_back(Interpreter& in, Lock* lock, uint64_t count) {
  constexpr uint32_t kEnds = lang::kStops & ~lang::kKeyboard;
  while (lock->owner != nullptr) {
    if ((in.interrupt.load(std::memory_order_relaxed) & kEnds) != 0) in.check_stop();
    WaitList::Waiter waiter(lock->waiting, in.threads().current());
    in.threads().park(Threads::kNever);
  }
  lock->owner = &in.threads().current();
  lock->count = count;
}

// The wait of a Condition: its lock, or RLock, is released until the locked lock `waiter` is released, or for the timeout. Returns
// whether it was.
Value wait_released(Interpreter& in, const Args& args) {
  for (int i = 0; i < 2; ++i) {
    const Type* const type = type_of(in, args[i]);
    if (type != in.named_type("lock") && type != in.named_type("RLock"))
      throw Error(ErrorKind::TypeError, "a lock of _thread is required");
  }
  Lock* const lock = lock_of(args[0]);
  if (lock->owner == nullptr) throw Error(ErrorKind::RuntimeError, "release unlocked lock");
  const uint64_t count = lock->count;
  set_free(in, lock);
  bool taken = false;
  try {
    taken = take(in, lock_of(args[1]), Value::boolean(true), args[2].is_none() ? Value::integer(-1) : args[2]);
  } catch (...) {
    take_back(in, lock, count);
    throw;
  }
  take_back(in, lock, count);
  return Value::boolean(taken);
}

std::string address_text(const Object* object) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", static_cast<const void*>(object));
  return text;
}

// --- lock

Value lock_acquire(Interpreter& in, const Args& args) {
  return Value::boolean(take(in, lock_of(args[0]), args[1], args[2]));
}

Value lock_enter(Interpreter& in, const Args& args) {
  Lock* const lock = lock_of(args[0]);
  if (lock->owner == nullptr) lock->owner = &in.threads().current();
  else wait_for(in, lock, Threads::kNever);
  return Value::boolean(true);
}

Value lock_release(Interpreter& in, const Args& args) {
  Lock* const lock = lock_of(args[0]);
  if (lock->owner == nullptr) throw Error(ErrorKind::RuntimeError, "release unlocked lock");
  set_free(in, lock);
  return Value::none();
}

Value lock_locked(Interpreter&, const Args& args) { return Value::boolean(lock_of(args[0])->owner != nullptr); }

Value lock_after_fork(Interpreter&, const Args& args) {
  Lock* const lock = lock_of(args[0]);
  lock->owner = nullptr;
  lock->count = 0;
  lock->waiting.forget();
  return Value::none();
}

Value show_lock(Interpreter& in, const Value& self) {
  const Lock* const lock = lock_of(self);
  return make_str(in, std::string(lock->owner != nullptr ? "<locked" : "<unlocked") + " _thread.lock object at " +
                          address_text(lock) + ">");
}

constexpr NativeDef kLockMethods[] = {
    {"acquire(self, blocking=True, timeout=-1)", lock_acquire, "Take the lock; answers whether it was taken."},
    {"acquire_lock(self, blocking=True, timeout=-1)", lock_acquire, "An old name of acquire()."},
    {"release(self)", lock_release, "Release the lock, so that another thread may take it."},
    {"release_lock(self)", lock_release, "An old name of release()."},
    {"locked(self)", lock_locked, "Whether the lock is held."},
    {"locked_lock(self)", lock_locked, "An old name of locked()."},
    {"__enter__(self)", lock_enter, "Take the lock."},
    {"__exit__(self, *args)", lock_release, "Release the lock."},
    {"_at_fork_reinit(self)", lock_after_fork, "Free, as a new one."},
};

// --- RLock

bool is_own(Interpreter& in, const Lock* lock) { return lock->owner == &in.threads().current(); }

Value rlock_acquire(Interpreter& in, const Args& args) {
  Lock* const lock = lock_of(args[0]);
  if (!is_own(in, lock) && !take(in, lock, args[1], args[2])) return Value::boolean(false);
  ++lock->count;
  return Value::boolean(true);
}

Value rlock_enter(Interpreter& in, const Args& args) {
  Lock* const lock = lock_of(args[0]);
  if (!is_own(in, lock)) lock_enter(in, args);
  ++lock->count;
  return Value::boolean(true);
}

Value rlock_release(Interpreter& in, const Args& args) {
  Lock* const lock = lock_of(args[0]);
  if (!is_own(in, lock)) throw Error(ErrorKind::RuntimeError, "cannot release un-acquired lock");
  if (--lock->count == 0) set_free(in, lock);
  return Value::none();
}

Value rlock_is_owned(Interpreter& in, const Args& args) { return Value::boolean(is_own(in, lock_of(args[0]))); }

// What a Condition does while it waits: the lock is released whole, and taken back as it was.
Value rlock_release_save(Interpreter& in, const Args& args) {
  Lock* const lock = lock_of(args[0]);
  if (lock->count == 0) throw Error(ErrorKind::RuntimeError, "cannot release un-acquired lock");
  const auto count = static_cast<int64_t>(lock->count);
  set_free(in, lock);
  return Value::integer(count);
}

Value rlock_acquire_restore(Interpreter& in, const Args& args) {
  const int64_t count = int_argument(in, args[1]);
  lock_enter(in, args);
  lock_of(args[0])->count = static_cast<uint64_t>(count);
  return Value::none();
}

Value show_rlock(Interpreter& in, const Value& self) {
  const Lock* const lock = lock_of(self);
  return make_str(in, std::string(lock->owner != nullptr ? "<locked" : "<unlocked") + " _thread.RLock object owner=" +
                          std::to_string(lock->owner != nullptr ? lock->owner->ident() : 0) +
                          " count=" + std::to_string(lock->count) + " at " + address_text(lock) + ">");
}

constexpr NativeDef kRLockMethods[] = {
    {"acquire(self, blocking=True, timeout=-1)", rlock_acquire, "Take the lock, which its holder may do again."},
    {"release(self)", rlock_release, "Release the lock as often as it was taken."},
    {"__enter__(self)", rlock_enter, "Take the lock."},
    {"__exit__(self, *args)", rlock_release, "Release the lock."},
    {"_is_owned(self)", rlock_is_owned, "Whether the running thread holds the lock."},
    {"_release_save(self)", rlock_release_save, "Release it whole; answers the state for _acquire_restore."},
    {"_acquire_restore(self, state)", rlock_acquire_restore, "Take it back as it was."},
    {"_at_fork_reinit(self)", lock_after_fork, "Free, as a new one."},
};

void destroy_lock(Interpreter& in, Object* object) { free_object(in, known_cast<Lock>(object)); }

Type* lock_type(Interpreter& in, const char* name, uint32_t flags) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "_thread";
  spec.kind = ObjectKind::Native;
  spec.size = sizeof(Lock);
  spec.flags = flags;
  Type* const type = in.new_type(spec);
  type->slots.destroy = destroy_lock;
  return type;
}

Value make_lock(Interpreter& in, const Args&) {
  return Value::adopt(make_object<Lock>(in, in.named_type("lock")));
}

}  // namespace

void add_locks(Interpreter& in, Module& module) {
  Type* const lock = lock_type(in, "lock", lang::kFinalType);
  lock->slots.repr = show_lock;
  lock->make = [](Interpreter&, Type*, const Args&) -> Value {
    throw Error(ErrorKind::TypeError, "cannot create '_thread.lock' instances");
  };
  in.add_methods(lock, kLockMethods, std::size(kLockMethods));
  Type* const again = lock_type(in, "RLock", 0);
  again->slots.repr = show_rlock;
  again->make = [](Interpreter& in2, Type* type, const Args&) -> Value {
    return Value::adopt(make_object<Lock>(in2, type));
  };
  in.add_methods(again, kRLockMethods, std::size(kRLockMethods));
  set_member(in, module, "LockType", Value(lock));
  set_member(in, module, "lock", Value(lock));
  set_member(in, module, "RLock", Value(again));
  set_member(in, module, "TIMEOUT_MAX", Value::real(kTimeoutMax));
  in.def(module, "allocate_lock()", "A new lock.", make_lock);
  in.def(module, "_wait_released(lock, waiter, timeout, /)", "Wait for `waiter` while `lock` is released.", wait_released);
}

}  // namespace tessera::stdlib
