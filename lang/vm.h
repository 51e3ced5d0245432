// The virtual machine: the stack of registers, the frames, and the loop.
//
// Native code calls scripts through run_function; scripts call scripts without recursion of C++. One catch, in run(),
// turns what native code throws into exceptions of the language.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lang/frame.h"
#include "lang/native.h"
#include "lang/value.h"

namespace tessera {

class Interpreter;
struct Dict;

class VirtualMachine {
 public:
  explicit VirtualMachine(Interpreter& in);
  ~VirtualMachine();
  VirtualMachine(const VirtualMachine&) = delete;
  VirtualMachine& operator=(const VirtualMachine&) = delete;

  // Calls a script function from C++.
  Value call_function(Function* function, const Args& args);
  // The same with `self` in front of the arguments.
  Value call_function(Function* function, const Value& self, const Args& args);
  // Runs a generator's frame until it yields or ends (generator.cpp).
  Value run_generator(Generator* generator, const Value* exception);

  Frame* top() const { return top_; }
  void set_builtins(Dict* builtins) { builtins_ = builtins; }
  Dict* builtins() const { return builtins_; }
  // A limit ended the run or the host cancelled it: no except clause catches that.
  uint32_t depth() const { return depth_; }
  // RecursionError when the C++ stack is nearly used up; natives that recurse call it too.
  void check_native_stack();

 private:
  Value execute(Frame* entry);
  Value run(Frame* entry);

  // call.cpp
  Frame* push_frame(Function* function, Value* window, uint32_t count, FrameKind kind, uint32_t result);
  Frame* push_bound(Function* function, Value* window, uint32_t count, const Tuple* keywords, FrameKind kind, uint32_t result);
  // Answers the frame that shall run now, or null when the call is finished and its answer is in `out`.
  Frame* begin_call(Value* callee, uint32_t count, const Tuple* keywords, uint32_t result, Value& out);
  Frame* begin_construct(Value* callee, uint32_t count, const Tuple* keywords, uint32_t result, Value& out);
  Frame* begin_function(Function* function, Value* window, uint32_t count, const Tuple* keywords, FrameKind kind,
                        uint32_t result, Value& out);
  Value call_spread(const Value& callee, const Value& positional, const Value& keywords);
  void pop_frame(Frame* frame) noexcept;
  Frame* resume_generator(Generator* generator, FrameKind kind, uint32_t result);

  // unwind.cpp
  // Finds a handler at or above `entry`; false: all frames up to `entry` are gone.
  bool unwind(Frame* entry, Value exception, bool new_line);
  Value& raise_operand(Frame* frame, uint32_t a, uint32_t form);

  void safe_point();
  [[noreturn]] void throw_too_deep();

  Interpreter& in_;
  Frame* top_ = nullptr;          // the running frame
  Frame* next_frame_ = nullptr;   // free place in the array of frames
  uint32_t depth_ = 0;
  int64_t countdown_ = 0;         // steps until the limits are looked at
  Value pending_;                 // what unwind could not place: run() throws it
  Value* stack_ = nullptr;
  Value* stack_end_ = nullptr;
  Frame* frames_ = nullptr;
  Frame* frames_end_ = nullptr;
  Dict* builtins_ = nullptr;
  const char* native_limit_ = nullptr;  // lowest address that the C++ stack may reach

  friend struct Loop;
};

}  // namespace tessera
