// Frames: one per running script function, and one per generator, which keeps its frame between resumptions.
//
// Registers of ordinary frames are windows of one big stack that never moves: a callee's registers begin where the caller
// put the arguments, so a call copies nothing. A generator's registers are a block of its own; what it calls gets a
// window behind the frame that resumed it.
#pragma once

#include <cstdint>

#include "lang/compiler/chunk.h"
#include "lang/core/object.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Generator;

// What becomes of a frame's answer.
enum class FrameKind : uint8_t {
  Call,         // goes to R[result] of the caller
  Constructor,  // is checked to be None; `constructed` goes to R[result]
  Delegate,     // a generator or coroutine that a YieldFrom of the caller, itself one, resumed
  ForNext,      // a generator that a ForNext of the caller resumed; its items go to R[result]
  Operator,     // of a special method, of which NotImplemented is not the last word: finish_operator_step
  Discard,      // goes nowhere: __setitem__
  Iterable,     // what a ForPrepareCall called for
  Iterator,     // of __iter__, for a ForPrepare
  Item,         // of __next__, for a ForNext; StopIteration is its loop's end
  ClassBody,    // of a class statement; `constructed` is what BuildClass knows besides
  Entry,        // run() ends with it
  Watched,      // has a FrameObject, which holds the kind that it would have; what ends it tells the object
};

struct Frame {
  const Word* pc = nullptr;  // of the next word, while another frame runs or an instruction may throw
  Value* registers = nullptr;
  Value* end = nullptr;  // behind the registers, on the stack: where a nested call may put its window
  const Value* constants = nullptr;  // the code's, as its `temporaries`: a return has nothing to load anew
  Code* code = nullptr;
  Function* function = nullptr;  // owned while the frame runs
  Frame* caller = nullptr;
  Generator* generator = nullptr;  // whose frame it is; null for all in the array of frames
  Value constructed;
  uint32_t temporaries = 0;  // the distance of the first register that is one
  uint16_t result = 0;
  uint16_t handled = kNoRegister;  // register of the exception that is being handled, or kNoRegister
  FrameKind kind = FrameKind::Call;
  bool paused = false;  // a task waits in it for its next piece

  // At the code's first word.
  void begin(Code* what) {
    code = what;
    pc = what->words.data();
    constants = what->constants.data();
    temporaries = what->first_temporary << kValueShift;
  }
};

// A value on its way from one frame to another, in parts: a Value would have its place in memory, for its destructor.
inline void put_parts(Value& place, Tag tag, int64_t payload) noexcept {
  const Tag old_tag = place.tag();
  Object* const old = place.as_object();
  reinterpret_cast<Tag&>(place) = tag;
  place.replace_int(payload);
  if (old_tag == Tag::Object && --old->refcount == 0) destroy_object(old);
}

// The frame that called, or null. What the host runs between the pieces of a task stands on its frames, and was not called by them.
inline const Frame* calling_frame(const Frame& frame) {
  return frame.caller != nullptr && frame.caller->paused ? nullptr : frame.caller;
}

}  // namespace tessera::lang
