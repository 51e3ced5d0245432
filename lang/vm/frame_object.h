// Frames as scripts see them: sys._getframe(), gi_frame, tb_frame.
//
// A frame object is a picture of a frame at the moment when it was asked for: the machine's frames are places of a stack
// that the next call uses again.
#pragma once

#include "lang/compiler/chunk.h"
#include "lang/vm/frame.h"
#include "lang/core/object.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Traceback;

struct FrameObject : GcObject {
  Code* code = nullptr;  // owned
  Value globals;         // dict
  Value locals;          // dict
  Value back;            // a FrameObject or None
  uint32_t line = 0;
};

// The variables of a frame by name: a new dict, except for modules and class bodies, whose own it is.
Value frame_locals(Interpreter& in, const Frame& frame);
uint32_t frame_line(const Frame& frame);
// The frame and, with `callers`, all that called it.
Value make_frame_object(Interpreter& in, const Frame& frame, bool callers);
// What a traceback's entry knows of its frame; the variables only where they were kept.
Value make_frame_object(Interpreter& in, const Traceback* entry);

void make_frame_type(Interpreter& in);

}  // namespace tessera::lang
