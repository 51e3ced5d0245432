// The loop: one case per instruction of opcodes.def. The cases stand in loop/*.inc by theme, in the words of
// loop/dispatch.h; what takes longer than a few machine instructions is a function in steps_*.cpp.
//
// Rules for whoever writes a case:
//  1. Whatever may throw, run script code or collect comes after TS_SAVE(): the traceback, the handlers and whoever looks
//     at the running frames read frame->pc.
//  2. No Value may live in the loop across a call that may throw, neither a variable nor an argument by value: each one
//     would need a landing pad, and with landing pads the compiler keeps `pc` in memory (13 % slower over all of
//     bench/language). Such a Value belongs into a function in steps_*.cpp. scripts/lint counts the landing pads.
//  3. A scope with a destructor ends before TS_NEXT: a computed goto out of it skips the destructor (g++) or does not
//     compile (clang).
//  4. A temporary that was an operand is taken or dropped (Note [Temporaries die] in opcodes.def).
//  5. Natives may run scripts, but when they are back `top_` is this frame again; frames and registers never move, so
//     nothing is loaded anew, except after a call that changed `top_`: then TS_ENTER(frame).
//  6. The first test of a case is the common one.
//  7. Exceptions of natives are caught close to them (VirtualMachine::catches) and wait in pending_ for TS_RAISE: only rare ones
//     are thrown through the loop.
//  8. A second word is stepped over after the operands have been read: they are those of the word before `pc`.
//
// traced_loop.cpp compiles this file a second time, as execute_traced: Note [Tracing] in tracing.cpp.
// compile: opcode-loop (one jump for each opcode)
#include "lang/vm/vm.h"

#include <cmath>

#include "lang/builtins/builtins.h"
#include "lang/core/interpreter.h"
#include "lang/objects/attribute_reads.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/vm/loop/dispatch.h"
#include "lang/vm/operands.h"
#include "lang/vm/special.h"
#include "lang/vm/steps.h"

namespace tessera::lang {

#if TS_THREADED
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#endif

#if defined(TS_TRACED)
bool VirtualMachine::execute_traced(Frame* entry, Value& out) {
#else
bool VirtualMachine::execute(Frame* entry, Value& out) {
#endif
#if TS_THREADED
  static const void* const kLabels[] = {
#define TS_OP(name, form) &&label_##name,
#include "lang/compiler/opcodes.def"
#undef TS_OP
  };
#endif
  const BuiltinTypes& types = in_.types;
  Frame* frame;
  const Word* pc;
  Value* R;
  TS_ENTER(top_);
  if (pc == frame->code->words.data()) TS_POLL(pc);

#if TS_THREADED
  TS_NEXT;
#else
  for (;;) {
#if defined(TS_TRACED)
    ++pc;
    TS_SAVE();
    trace_word(frame);
    pc = frame->pc - 1;
#endif
    switch (op_of(*pc++)) {
      case Op::Count: break;
#endif

#include "lang/vm/loop/variables.inc"

#include "lang/vm/loop/arithmetic.inc"

#include "lang/vm/loop/branches.inc"

#include "lang/vm/loop/objects.inc"

#include "lang/vm/loop/calls.inc"

#include "lang/vm/loop/exceptions.inc"

#include "lang/vm/loop/fused.inc"

#include "lang/vm/loop/otherwise.inc"

entered:  // by a step
  TS_RAISE_PENDING();
  TS_ENTER(top_);
  if (pc != frame->code->words.data()) TS_NEXT;
begun:  // The first word of a frame is a safe point: methods of operators may call each other without a Call or a loop.
  TS_POLL(pc);
  TS_NEXT;

#if !TS_THREADED
}
}
#endif
}

#if TS_THREADED
#pragma GCC diagnostic pop
#endif

}  // namespace tessera::lang
