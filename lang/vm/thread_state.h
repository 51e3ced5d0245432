// The parts of the virtual machine that belong to one flow of control: its frames, its registers, its stack of C++.
//
// The running thread's state is in place in the VirtualMachine, so the loop reaches it without an indirection; the states of
// the threads that wait lie aside, and a hand-over swaps them (threads.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lang/core/value.h"
#include "lang/vm/frame.h"

namespace tessera::lang {

struct ThreadState {
  // Above every address: each is looked at again then.
  static inline const char* const kUnknownLimit = reinterpret_cast<const char*>(UINTPTR_MAX);

  Frame* top_ = nullptr;         // the running frame
  uint32_t depth_ = 0;
  uint32_t nested_ = 0;          // calls of run(), one inside the other
  Frame* next_frame_ = nullptr;  // free place in the array of frames; not beside top_, with which it would be written as one
  uint32_t pausable_at_ = 0;  // the one that may be left to go on later; 0: none
  bool resumed_ = false;      // no safe point since a piece began
  Value pending_;             // the exception that unwind could not place: run() throws it
  Value* stack_ = nullptr;
  Value* stack_end_ = nullptr;
  Frame* frames_ = nullptr;
  Frame* frames_end_ = nullptr;
  Value trace_, profile_;      // of sys.settrace and sys.setprofile; Undefined: none
  bool in_tracer_ = false;     // one of them runs, and is not traced itself
  bool loop_traces_ = false;   // the innermost run() is in execute_traced
  const char* native_limit_ = kUnknownLimit;  // lowest address that the C++ stack may reach

  // Address space for registers and frames, not memory: pages come when they are touched. Throws std::bad_alloc.
  void reserve_stack(size_t values, size_t frames);
  void release_stack() noexcept;
};

// The guards of recursion through C++, which lie outside of the machine and are swapped with its state.
struct NativeGuards {
  uint32_t destroy_depth = 0;      // Heap::destroy_depth
  std::vector<Object*> doomed;     // Heap::doomed
  uint32_t native_depth = 0;       // SharedObjects::native_depth
  std::vector<Object*> in_repr;    // SharedObjects::in_repr
  // Of the language's coroutines: the current context of contextvars, sys.set_asyncgen_hooks and the depth of origins.
  Value context, async_generator_first, async_generator_finalizer;
  uint32_t origin_depth = 0;
};

}  // namespace tessera::lang
