// Locks of the language. The holder of the baton alone touches them, so a free one is taken by a plain store.
#pragma once

#include "lang/core/object.h"
#include "lang/vm/threads.h"

namespace tessera::stdlib {

// The threads that wait for something, in their order. A node lies on the stack of the thread that waits.
class WaitList {
 public:
  class Waiter {
   public:
    Waiter(WaitList& list, lang::Thread& thread) : list_(list), thread_(thread) { list_.add(*this); }
    ~Waiter() {
      if (listed_) list_.remove(*this);
    }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    bool is_listed() const { return listed_; }
    void list_again() { list_.add(*this); }

   private:
    friend class WaitList;
    WaitList& list_;
    lang::Thread& thread_;
    Waiter *next_ = nullptr, *before_ = nullptr;
    bool listed_ = false;
  };

  bool empty() const { return first_ == nullptr; }
  // Lets the first one go on.
  void wake_one(lang::Threads& threads);
  void forget() { first_ = last_ = nullptr; }  // after fork(): they are gone

 private:
  void add(Waiter& waiter);
  void remove(Waiter& waiter);

  Waiter *first_ = nullptr, *last_ = nullptr;
};

}  // namespace tessera::stdlib
