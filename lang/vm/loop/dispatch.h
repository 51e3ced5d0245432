// The words in which the cases of the loop are written (vm.cpp includes the cases from the files beside this one).
//
// What the loop holds, hopefully in registers of the machine: `pc` (the next word), `R` (the frame's registers), `frame`, `this`.
#pragma once

#include <atomic>

#if defined(TS_TRACED)
#define TS_THREADED 0
#define TS_CASE(name) case Op::name:
#define TS_NEXT break
#elif defined(__GNUC__) && !defined(TESSERA_SWITCH_DISPATCH)
#define TS_THREADED 1  // each case jumps to the next one itself
#define TS_CASE(name) label_##name:
#define TS_NEXT           \
  do {                    \
    ++pc;                 \
    goto* kLabels[pc[-1].op]; \
  } while (false)
#else
#define TS_THREADED 0
#define TS_CASE(name) case Op::name:
#define TS_NEXT break
#endif

// The running word, until its case steps over a second one; its operands.
#define TS_WORD pc[-1]
#define TS_AT(base, distance) (*reinterpret_cast<decltype(base)>(reinterpret_cast<uintptr_t>(base) + (distance)))
#define TS_A TS_AT(R, TS_WORD.a)
#define TS_B TS_AT(R, TS_WORD.b)
#define TS_C TS_AT(R, TS_WORD.c)
#define TS_KB TS_AT(frame->constants, TS_WORD.b)
#define TS_KC TS_AT(frame->constants, TS_WORD.c)

// The site that C names.
#define TS_SITE frame->code->caches[TS_WORD.c]

namespace tessera::lang {

// The registers of a call that has answered, without the one in which the answer stands: mostly the first.
[[gnu::noinline]] inline void drop_window_around(Value* each, const Value* end, const Value* answer) noexcept {
  for (; each != end; ++each)
    if (each != answer) each->clear();
}
[[gnu::always_inline]] inline void drop_window(Value* first, const Value* end, const Value* answer) noexcept {
  if (first != answer) return drop_window_around(first, end, answer);
  for (Value* each = first + 1; each != end; ++each) each->clear();
}

}  // namespace tessera::lang

// Before whatever may throw, run a script, collect, or look at the running frames.
#define TS_SAVE() (frame->pc = pc)

// Goes on in another frame, or in this one at another place.
#define TS_ENTER(next)                          \
  do {                                          \
    frame = (next);                             \
    R = frame->registers;                       \
    pc = frame->pc;                             \
  } while (false)

// After a call: the callee's frame runs next; or (null) the answer is in its register, or an exception is pending.
#define TS_AFTER_CALL(next)                 \
  if (Frame* const callee_frame = (next)) { \
    TS_ENTER(callee_frame);                 \
    TS_NEXT;                                \
  }                                         \
  TS_RAISE_PENDING()

// The method of a script's class that answers the running word, entered as a frame where that is all it takes: `begin` is a call of
// begin_special or a function like it, and `drops` lets go of the operands that are not asked for again.
#define TS_SPECIAL(condition, begin, drops)                  \
  if (condition) {                                           \
    if (Frame* const method_frame = (begin)) [[likely]] {    \
      drops;                                                 \
      TS_ENTER(method_frame);                                \
      goto begun;                                            \
    }                                                        \
  }

// A step that may have entered a frame instead of answering (steps.h), or left an exception in pending_: `entered` sees to it.
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

// For a case that has found out itself that it cannot go on: `step` leaves the exception in pending_.
#define TS_FAIL(step) \
  TS_SAVE();          \
  step;               \
  TS_RAISE();         \
  TS_NEXT

// After a step that may have left an exception there.
#define TS_RAISE_PENDING()                   \
  if (!pending_.is_undefined()) [[unlikely]] \
  TS_RAISE()

// Is the operand, a letter of the running word, a temporary?
#define TS_DIES(operand) (TS_WORD.operand >= frame->temporaries)

// to = the register that the operand names, which is emptied when it is a temporary.
#define TS_TAKE(to, operand)                      \
  do {                                            \
    if (TS_DIES(operand)) {                       \
      (to) = std::move(TS_AT(R, TS_WORD.operand)); \
    } else {                                      \
      (to) = TS_AT(R, TS_WORD.operand);           \
    }                                             \
  } while (false)

// Empties the register when it is a temporary.
#define TS_DROP(operand)                                      \
  do {                                                        \
    if (TS_DIES(operand)) TS_AT(R, TS_WORD.operand).clear();   \
  } while (false)

// A safe point: collections, the host's limits, Ctrl-C, the end of a Task's piece, which goes on with the instruction `again`.
#define TS_POLL(again)                                                                            \
  do {                                                                                            \
    if (in_.interrupt.load(std::memory_order_relaxed) != 0 || --in_.countdown < 0) [[unlikely]] { \
      TS_SAVE();                                                                                  \
      safe_point(again);                                                                          \
    }                                                                                             \
  } while (false)

// Jumps; backward jumps are safe points, which belong to the loop's last instruction: a handler around the loop hears of what
// they throw, whatever stands at its beginning.
#define TS_GO(distance)                    \
  do {                                     \
    const int64_t offset = (distance);     \
    if (offset < 0) TS_POLL(pc + offset);  \
    pc += offset;                          \
  } while (false)

// Jumps as C says.
#define TS_JUMP()                                                              \
  do {                                                                         \
    int64_t offset = sc_of(TS_WORD);                                           \
    if (offset < 0) {                                                          \
      if (offset == kFarJump) [[unlikely]]                                     \
        offset = far_offset(*frame->code, pc);                                 \
      if (offset < 0) TS_POLL(pc + offset);                                    \
    }                                                                          \
    pc += offset;                                                              \
  } while (false)

// The same when the test gives what D asks for.
#define TS_BRANCH(condition) \
  if ((condition) == (TS_WORD.d != 0)) TS_JUMP();
