// The words in which the cases of the loop are written (vm.cpp includes the cases from the files beside this one).
//
// What the loop holds, hopefully in registers of the machine: `pc` (the next word), `w` (the word that runs), `R` (the
// frame's registers), `K` (its constants), `frame`, `temporaries` (the first register that is one), `this`.
#pragma once

#if defined(__GNUC__) && !defined(TESSERA_SWITCH_DISPATCH)
#define TS_THREADED 1  // each case jumps to the next one itself
#define TS_CASE(name) label_##name:
#define TS_NEXT goto* kLabels[(w = *pc++) & 0xff]
#else
#define TS_THREADED 0
#define TS_CASE(name) case Op::name:
#define TS_NEXT break
#endif

// The operands of the running word. A register's number times the size of a Value is had by one shift and one mask;
// written as R[b_of(w)] compilers take four instructions for it.
#define TS_OFFSET(base, shift) \
  (*reinterpret_cast<decltype(base)>(reinterpret_cast<uintptr_t>(base) + ((w >> ((shift)-4)) & 0xff0)))
#define TS_A TS_OFFSET(R, 8)
#define TS_B TS_OFFSET(R, 16)
#define TS_C TS_OFFSET(R, 24)
#define TS_KB TS_OFFSET(K, 16)
#define TS_KC TS_OFFSET(K, 24)

// Before whatever may throw, run a script, collect, or look at the running frames.
#define TS_SAVE() (frame->pc = pc)

// Goes on in another frame, or in this one at another place.
#define TS_ENTER(next)                          \
  do {                                          \
    frame = (next);                             \
    R = frame->registers;                       \
    K = frame->code->constants.data();          \
    temporaries = frame->code->first_temporary; \
    pc = frame->pc;                             \
  } while (false)

// What a call answered: the callee's frame runs next, or (null) the answer stands in its register already.
#define TS_AFTER_CALL(next)                 \
  if (Frame* const callee_frame = (next)) { \
    TS_ENTER(callee_frame);                 \
    TS_NEXT;                                \
  }

// A step that may have entered a frame instead of answering (steps.h).
#define TS_STEP(step)       \
  do {                      \
    if (step) goto entered; \
  } while (false)
// The same where few come by: what runs is loaded anew in any case, so that the ways of those who do not are laid out as before.
#define TS_SLOW_STEP(step)   \
  do {                       \
    static_cast<void>(step); \
    goto entered;            \
  } while (false)

// Goes to the handler of the exception in pending_, or ends the loop.
#define TS_RAISE()                                  \
  do {                                              \
    if (!unwind_pending(entry, true)) return false; \
    TS_ENTER(top_);                                 \
  } while (false)

// to = R[r], which is emptied when it is a temporary.
#define TS_TAKE(to, r)        \
  do {                        \
    if ((r) >= temporaries) { \
      (to) = std::move(R[r]); \
    } else {                  \
      (to) = R[r];            \
    }                         \
  } while (false)

// Empties R[r] when it is a temporary.
#define TS_DROP(r)                          \
  do {                                      \
    if ((r) >= temporaries) R[r] = Value(); \
  } while (false)

// A safe point: collections, the host's limits, Ctrl-C, the end of a Task's piece, after which the instruction that lies `again`
// words back is run anew.
#define TS_POLL(again)                                                                            \
  do {                                                                                            \
    if (in_.interrupt.load(std::memory_order_relaxed) != 0 || --in_.countdown < 0) [[unlikely]] { \
      TS_SAVE();                                                                                  \
      safe_point(again);                                                                          \
    }                                                                                             \
  } while (false)

// Follows the jump word at pc; backward ones are safe points, which belong to the loop's last instruction: a handler around
// the loop hears of what they throw, whatever stands at its beginning.
#define TS_JUMP()                          \
  do {                                     \
    const int32_t offset = jump_of(*pc++); \
    if (offset < 0) TS_POLL(1);            \
    pc += offset;                          \
  } while (false)

// Follows it when the test gives what C asks for, else steps over it.
#define TS_BRANCH(condition)           \
  if ((condition) == (c_of(w) != 0)) { \
    TS_JUMP();                         \
  } else {                             \
    ++pc;                              \
  }
