// Frames as scripts see them: sys._getframe(), gi_frame, tb_frame.
//
// Note [Live frames]: the machine's frames are places of a stack that the next call uses again. A frame that somebody asks for
// gets one object, which the machine holds until the frame ends: its kind becomes FrameKind::Watched, and whatever ends frames
// of another kind than Call (which is told apart in any case) calls end_watch. Frames that nobody asks for pay nothing.
#pragma once

#include "lang/compiler/chunk.h"
#include "lang/vm/frame.h"
#include "lang/core/object.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Traceback;

struct FrameObject : GcObject {
  Code* code = nullptr;        // owned
  Value globals, builtins;     // dicts
  Value locals;                // what f_locals and locals() answered last, and answer again; Undefined: not asked yet
  Value kept;                  // tuple of the first registers of an ended frame, of which `locals` is made when asked for
  Value back;                  // of an ended frame: a FrameObject or None
  Value trace;                 // f_trace
  Frame* frame = nullptr;      // null: it has ended
  FrameKind frame_kind{};      // what its kind would be
  bool traces_lines = true;    // f_trace_lines
  bool traces_opcodes = false;
  bool is_generator = false;
  // For a tracer: its frame has told of a call and not of a return since; the line that it told of last (0: none since the call) and
  // the word that ran last; the native function that the running word calls, of which a profiler has been told.
  bool entered = false;
  bool untraced = false;  // of a function that CPython has in C
  uint32_t traced_line = 0;
  uint32_t traced_word = 0;
  Value native;
  const char* event = nullptr;  // of which the tracer that runs is told
  bool jumped = false;          // the tracer has set f_lineno: locals may be unset where the compiler thinks otherwise
  uint32_t word = 0;           // of the instruction that an ended frame stopped at
};

// The object of a frame that runs or is suspended.
Value frame_object(Interpreter& in, const Frame& frame);
// What locals() answers: the mapping of a module or class body, else the one dict of this frame, brought up to date.
Value frame_locals(Interpreter& in, const Frame& frame);
// Around a call of a tracer: the dict that f_locals has answered is brought up to date, and afterwards the variables are what it says,
// but for those that it has no longer.
void refresh_locals(Interpreter& in, FrameObject* object);
void store_locals(Interpreter& in, FrameObject* object);
// The same as a new dict, which leaves no trace at the frame. For who only looks.
Value copy_of_locals(Interpreter& in, const Frame& frame);
uint32_t frame_line(const Frame& frame);
// f_lineno = line, by a tracer: the frame goes on there (jumps.cpp).
void jump_to_line(Interpreter& in, FrameObject* object, const Value& line);
// UnboundLocalError if the word before frame.pc reads an unset local. Tracing does this check for frames that have jumped.
void check_locals_set(Interpreter& in, const Frame& frame);
// Gives unset locals None, for a frame that has jumped and goes on in the loop that checks nothing.
void fill_unset_locals(FrameObject* object);
bool is_untraced(const Code& code);
// The frame of a traceback's entry.
Value frame_object(Interpreter& in, Traceback* entry);
// Before an exception leaves a frame: its traceback takes the variables.
void keep_frame_variables(Interpreter& in, const Value& exception, Frame& frame) noexcept;

void make_frame_type(Interpreter& in);

}  // namespace tessera::lang
