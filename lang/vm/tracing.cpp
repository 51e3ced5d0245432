// sys.settrace and sys.setprofile.
//
// Note [Tracing]: a program without a tracer pays nothing for tracing. While a thread has a tracer or a profiler, its runs are in
// execute_traced, the same loop compiled with a call of trace_word before each word, and every frame has its object (Note [Live
// frames]), so that frames end in the cold path of Return. The two loops change places between two words, by the exception OtherLoop,
// which run() catches: at safe points, and where a frame with an object returns. set_trace gives all frames that run an object, so the
// function that called sys.settrace is traced from its return on.
//
// Each word has a place in the text; a word begins a line, and is told of, if the line is another one than that of the last word,
// or if it was reached by a jump backwards. Words that the compiler made for no statement of the text (Place::hidden) belong to none.
#include <utility>

#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

// While a tracer runs.
class InTracer {
 public:
  explicit InTracer(bool& flag, bool value = true) : flag_(flag), before_(flag) { flag = value; }
  ~InTracer() { flag_ = before_; }
  InTracer(const InTracer&) = delete;
  InTracer& operator=(const InTracer&) = delete;

 private:
  bool& flag_;
  bool before_;
};

bool is_native(const Value& v) { return v.is_object() && v.as_object()->kind == ObjectKind::NativeFunction; }

// The callee, where it is a native function or a bound method of one; or Undefined.
Value native_or_undefined(const Value& callee) {
  const bool bound = callee.is_object() && callee.as_object()->kind == ObjectKind::BoundMethod;
  return is_native(bound ? known_cast<BoundMethod>(callee)->function : callee) ? callee : Value();
}

// The native function that a word is about to call, bound where it is a method; or Undefined.
Value native_callee(Interpreter& in, const Frame& frame, const Word* pc) {
  const Word w = *pc;
  switch (op_of(w)) {
    case Op::Call:
    case Op::CallKeywords:
    case Op::CallSpread: {
      return native_or_undefined(frame.registers[a_of(w)]);
    }
    case Op::CallMethod:
    case Op::CallMethodKeywords: {
      const Value* const place = frame.registers + a_of(w);
      if (place->is_undefined()) return native_or_undefined(place[1]);
      return is_native(*place) ? make_bound_method(in, *place, place[1]) : Value();
    }
    case Op::Invoke: {
      const Value& object = frame.registers[a_of(w)];
      Str* const name = frame.code->caches[bx_of(pc[1])].name;
      if (object.is_object() && object.as_object()->kind == ObjectKind::Module) {
        const Value* const held = dict_get_str(known_cast<Module>(object)->dict, name);
        return held == nullptr ? Value() : native_or_undefined(*held);
      }
      const Value found = type_lookup(type_of(in, object), name);
      if (is_native(found)) return make_bound_method(in, found, object);
      return Value();
    }
    default: return Value();
  }
}

}  // namespace

// settrace() and its kin are no frames for a tracer, as the functions of C that they are in CPython.
bool is_untraced(const Code& code) { return code.source->name() == "stdlib/python/sys.tsr"; }

void VirtualMachine::set_trace(Value function) {
  trace_ = std::move(function);
  in_.interrupt.fetch_or(kTraceDue);
  if (!trace_.is_undefined()) start_tracing();
}

void VirtualMachine::set_profile(Value function) {
  profile_ = std::move(function);
  in_.interrupt.fetch_or(kTraceDue);
  if (!profile_.is_undefined()) start_tracing();
}

void VirtualMachine::forget_tracers() noexcept {
  trace_ = Value();
  profile_ = Value();
}

// Frames that run already were entered before the tracer was set: the tracer gets their events only once they have an f_trace.
void VirtualMachine::start_tracing() {
  for (Frame* frame = top_; frame != nullptr; frame = frame->caller) {
    if (frame->paused) break;
    FrameObject* const object = watch(*frame);
    object->entered = true;
    object->untraced = is_untraced(*frame->code);
  }
}

Value VirtualMachine::call_traced(const Value& function, const Args& args) {
  const InTracer outside(in_tracer_, false);
  return call(in_, function, args);
}

void VirtualMachine::call_tracer(FrameObject* object, const char* event, const Value& argument) {
  const Value keep(object);
  const Value function = std::string_view(event) == "call" ? trace_ : object->trace;
  Value answer;
  struct Event {
    FrameObject* object;
    const char* before;
    ~Event() { object->event = before; }
  };
  try {
    const InTracer inside(in_tracer_);
    const Event told{object, std::exchange(object->event, event)};
    refresh_locals(in_, object);
    answer = call(in_, function, {keep, make_str(in_, event), argument});
    store_locals(in_, object);
  } catch (...) {
    trace_ = Value();
    object->trace = Value::none();
    throw;
  }
  if (!answer.is_none()) object->trace = std::move(answer);
}

void VirtualMachine::call_profiler(FrameObject* object, const char* event, const Value& argument) {
  const Value keep(object);
  const Value function = profile_;
  try {
    const InTracer inside(in_tracer_);
    call(in_, function, {keep, make_str(in_, event), argument});
  } catch (...) {
    profile_ = Value();
    throw;
  }
}

void VirtualMachine::trace_call(FrameObject* object) {
  object->entered = true;
  object->traced_line = 0;
  object->native = Value();
  if (!trace_.is_undefined()) call_tracer(object, "call", Value::none());
  if (!profile_.is_undefined()) call_profiler(object, "call", Value::none());
}

void VirtualMachine::profile_native(FrameObject* object, const char* event) {
  const Value native = std::move(object->native);
  object->native = Value();
  if (!profile_.is_undefined()) call_profiler(object, event, native);
}

void VirtualMachine::trace_line(FrameObject* object, const Frame& frame, uint32_t word) {
  const Place& place = frame.code->places[word];
  if (!place.hidden) {
    const uint32_t line = frame.code->source->line_number(place.span.begin);
    const bool backward = word <= object->traced_word && op_of(frame.code->words[word]) != Op::YieldFrom;
    const bool begins = line != object->traced_line || backward;
    object->traced_line = line;
    object->traced_word = word;
    if (begins && object->traces_lines) call_tracer(object, "line", Value::none());
  }
  const bool jumped = frame.pc != frame.code->words.data() + word + 1;
  if (object->traces_opcodes && !jumped && !object->trace.is_none()) call_tracer(object, "opcode", Value::none());
}

// The word before frame->pc has done nothing yet.
void VirtualMachine::trace_word(Frame* frame) {
  const Word* const pc = frame->pc - 1;
  if (!is_traced()) {
    for (const Value& each : watched_) fill_unset_locals(known_cast<FrameObject>(each));
    frame->pc = pc;
    throw OtherLoop{};
  }
  const bool fresh = frame->kind != FrameKind::Watched;
  FrameObject* const object = watch(*frame);
  if (fresh) object->untraced = is_untraced(*frame->code);
  if (object->untraced) return;
  const Value keep(object);
  const auto word = static_cast<uint32_t>(pc - frame->code->words.data());
  if (!object->native.is_undefined()) profile_native(object, "c_return");
  if (!object->entered) {
    if (word == 0) frame->pc = pc;  // in its first line, and not in that of the first word
    trace_call(object);
    frame->pc = pc + 1;
    object->traced_word = word;
    if (word != 0) object->traced_line = frame->code->source->line_number(frame->code->places[word].span.begin);
  }
  if (!object->trace.is_none() && !trace_.is_undefined()) trace_line(object, *frame, word);
  if (object->jumped) check_locals_set(in_, *frame);
  if (profile_.is_undefined()) return;
  object->native = native_callee(in_, *frame, frame->pc - 1);
  if (!object->native.is_undefined()) call_profiler(object, "c_call", Value(object->native));
}

// The frame, which has an object, returns or yields `answer`.
void VirtualMachine::trace_return(Frame& frame, const Value& answer) {
  FrameObject* const object = watched(frame);
  if (object == nullptr || !object->entered || object->untraced) return;
  const Value keep(object), held = answer;
  if (!object->native.is_undefined()) profile_native(object, "c_return");
  if (!object->trace.is_none() && !trace_.is_undefined()) call_tracer(object, "return", held);
  if (!profile_.is_undefined()) call_profiler(object, "return", held);
  object->entered = false;
}

// The same for a frame that an exception leaves. Answers that, or what a tracer raised instead.
Value VirtualMachine::trace_leaving(Frame& frame, Value exception) {
  try {
    trace_return(frame, Value::none());
    return exception;
  } catch (const std::exception&) {
    return current_native_exception(in_);
  }
}

// An exception is about to be raised in the frame. Answers it, or what a tracer raised instead.
Value VirtualMachine::trace_exception(Frame& frame, Value exception) {
  FrameObject* const object = watched(frame);
  if (object == nullptr || object->untraced) return exception;
  const Value keep(object);
  try {
    if (!object->entered) trace_call(object);  // a generator that throw() or close() resumes
    if (!object->native.is_undefined()) profile_native(object, "c_exception");
    if (object->trace.is_none() || trace_.is_undefined()) return exception;
    const Value type(static_cast<Object*>(exception.as_object()->type));
    call_tracer(object, "exception", make_tuple(in_, {type, exception, as_exception(exception)->traceback}));
    return exception;
  } catch (const std::exception&) {
    return current_native_exception(in_);
  }
}

// The iterator of a loop or of a `yield from` in the frame has ended by a StopIteration with this value: the frame handles it without
// a handler, and a tracer gets an "exception" event for it. A loop drops what the tracer raises then, as in CPython.
void VirtualMachine::trace_stop(Frame& frame, const Value& value, bool in_loop) {
  const Value type(error_type(in_, ErrorKind::StopIteration));
  const Value stop = value.is_none() ? call(in_, type) : call(in_, type, {value});
  Value raised = trace_exception(frame, stop);
  if (!raised.is(stop) && !in_loop) throw Thrown(std::move(raised));
}

}  // namespace tessera::lang
