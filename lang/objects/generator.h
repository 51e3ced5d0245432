// Generators: frames that are kept.
#pragma once

#include "lang/core/object_cast.h"
#include "lang/vm/frame.h"
#include "lang/core/object.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

// Note [Gathering]. A native function that consumes a whole generator (list, sum, any, …) lets the interpreter loop resume the generator
// at each yield without returning to C++, and receives the yielded items in batches of kMost. A script must not be able to observe that
// an item is processed after later ones were yielded: `takes` says which items allow that. Any other item suspends the generator as
// usual, after the batch.
struct Gathering {
  enum class Takes : uint8_t {
    All,      // every item: the consumer appends to a new container, which no script can refer to yet
    Numbers,  // immediate values, whose operators run no script
    Quiet,    // those and strings, whose hash and == run no script
    False,    // immediate values that are false, which are only counted
    True,
  };
  static constexpr uint32_t kMost = 32;

  explicit Gathering(Takes what) : takes(what) {}
  ~Gathering() { clear(); }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;
  // Returns false if the item is not to be gathered, and is left as it is.
  bool take(Interpreter& in, Value& item, bool move);
  void clear() {
    while (count != 0) begin()[--count].~Value();
  }
  Value* begin() { return reinterpret_cast<Value*>(room); }
  Value* end() { return begin() + count; }

  const Takes takes;
  uint32_t count = 0;
  alignas(Value) unsigned char room[kMost * sizeof(Value)];
};

struct Generator : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Generator, kLastKind = ObjectKind::AsyncGenerator;
  enum class State : uint8_t { Created, Suspended, Running, Finished };
  State state = State::Created;
  uint16_t send_register = 0;  // gets what send() brings
  bool delegating = false;    // suspended at a YieldFrom
  uint32_t registers = 0;     // how many, behind the object
  Frame frame;                // its registers are null when it has finished
  Value function;             // keeps the closure alive
  Value code;                 // the function may be given another one
  Str* name = nullptr;        // owned
  Str* qualname = nullptr;    // owned
  Gathering* gathering = nullptr;  // of the native that resumed it

  // As Exception's constructor: the members are made, and nothing is set to zero before that.
  Generator() noexcept {}
};

struct Coroutine : Generator {
  static constexpr ObjectKind kKind = ObjectKind::Coroutine, kLastKind = kKind;
  Value origin;  // of sys.set_coroutine_origin_tracking_depth: a tuple, or None

  Coroutine() noexcept {}
};

struct AsyncGenerator : Generator {
  static constexpr ObjectKind kKind = ObjectKind::AsyncGenerator, kLastKind = kKind;
  Value finalizer;             // of the hooks; Undefined: none
  bool has_hooks = false;      // the hooks have been asked
  bool closed = false;         // has ended, or aclose() has begun
  bool awaited_now = false;    // an asend(), athrow() or aclose() is under way

  AsyncGenerator() noexcept {}
};

inline Generator* as_generator(const Value& v) noexcept { return known_cast<Generator>(v); }
// A generator or coroutine, which YieldFrom resumes as a frame.
inline bool is_delegable(const Value& v) noexcept {
  return v.is_object() &&
         (v.as_object()->kind == ObjectKind::Generator || v.as_object()->kind == ObjectKind::Coroutine);
}
// "generator", "coroutine", "async generator": for messages.
const char* generator_word(const Generator* generator) noexcept;

// A generator, coroutine or asynchronous generator, as the function's flags say, that will run the function with these
// registers, which are moved out of `arguments`.
Value make_generator(Interpreter& in, Function* function, Value* arguments);

// Runs until the next yield. False: it has ended, `out` is then its return value. `sent` is what `yield` answers.
bool generator_resume(Interpreter& in, Generator* generator, Value sent, Value& out);
// The same for Note [Gathering]: `gathered` is emptied, and then holds the items that come before `out`. If it throws, the generator
// has yielded those before.
bool generator_gather(Interpreter& in, Generator* generator, Gathering& gathered, Value& out);
// Is the iterable a generator, which natives may pull by generator_gather?
inline Generator* gatherable(const Value& v) noexcept {
  return v.is_object() && v.as_object()->kind == ObjectKind::Generator ? known_cast<Generator>(v) : nullptr;
}
// The same after raising `exception` at the yield. GeneratorExit closes what it delegates to, if `close_on_exit`.
bool generator_throw(Interpreter& in, Generator* generator, const Value& exception, Value& out,
                     bool close_on_exit = true);
// Ends a generator that would not see GeneratorExit. Returns false, with nothing done, for any other.
bool generator_end_unseen(Interpreter& in, Generator* generator) noexcept;
void generator_close(Interpreter& in, Generator* generator);
// Its frame has returned or raised: lets go of everything that it holds.
void generator_finish(Interpreter& in, Generator* generator) noexcept;
// The iterator that a suspended `yield from` or `await` has reached, or Undefined.
Value delegate_of(const Generator* generator);

// send(), throw() and close() of any iterator, as `yield from` and `await` call them. False: it has ended, `out` is its value.
bool iterator_resume(Interpreter& in, const Value& iterator, const Value& sent, Value& out);
bool iterator_throw(Interpreter& in, const Value& iterator, const Value& exception, Value& out);
void iterator_close(Interpreter& in, const Value& iterator);
// The instance that throw(type, value, traceback) means.
Value thrown_instance(Interpreter& in, const Args& args);
[[noreturn]] void throw_stop(Interpreter& in, const Value& value);

// For the types of generators: their slots, and the attributes that differ in their names only. Null: does without.
void set_generator_slots(Type* type);
void add_generator_properties(Interpreter& in, Type* type, const char* running, const char* suspended, const char* code,
                              const char* frame, const char* delegate);

void make_generator_type(Interpreter& in);

}  // namespace tessera::lang
