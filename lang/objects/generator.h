// Generators: frames that are kept.
#pragma once

#include "lang/vm/frame.h"
#include "lang/core/object.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

struct Generator : GcObject {
  enum class State : uint8_t { Created, Suspended, Running, Finished };
  State state = State::Created;
  uint8_t send_register = 0;  // gets what send() brings
  bool delegating = false;    // stands at a YieldFrom
  Frame frame;                // its registers are a block of the interpreter's heap, given back when it finishes
  Value function;             // keeps code and closure alive
  Str* name = nullptr;        // owned
  Str* qualname = nullptr;    // owned
};

// A generator that will run the function with these registers, which are moved out of `arguments`.
Value make_generator(Interpreter& in, Function* function, Value* arguments);

// Runs until the next yield. False: it has ended, `out` is then its return value. `sent` is what `yield` answers.
bool generator_resume(Interpreter& in, Generator* generator, Value sent, Value& out);
// The same after raising `exception` at the yield.
bool generator_throw(Interpreter& in, Generator* generator, const Value& exception, Value& out);
void generator_close(Interpreter& in, Generator* generator);
// As `yield from` asks: the next item of any iterator, or (false) the value that its StopIteration brings.
bool next_or_result(Interpreter& in, const Value& iterator, Value& out);
bool send_or_result(Interpreter& in, const Value& iterator, const Value& sent, Value& out);
// Its frame has returned or raised: lets go of everything that it holds.
void generator_finish(Interpreter& in, Generator* generator) noexcept;

void make_generator_type(Interpreter& in);

}  // namespace tessera::lang
