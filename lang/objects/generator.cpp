#include "lang/objects/generator.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lang/core/bind.h"
#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/types/iterators.h"
#include "lang/vm/frame_object.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

// The functions that called, from the inside out: what a coroutine's cr_origin tells.
Value origin_of_call(Interpreter& in) {
  std::vector<Value> rows;
  const Frame* frame = in.vm().top();
  for (uint32_t left = in.shared->origin_depth; left != 0 && frame != nullptr; --left, frame = calling_frame(*frame)) {
    const auto word = static_cast<size_t>(frame->pc - frame->code->words.data()) - 1;
    const Source& source = *frame->code->source;
    const Value line = Value::integer(source.line_number(frame->code->places[word].span.begin));
    rows.push_back(make_tuple(in, {make_str_lossy(in, source.name()), line, Value(frame->code->name)}));
  }
  return make_tuple(in, rows.data(), rows.size());
}

Generator* new_generator(Interpreter& in, const Code* code) {
  const size_t extra = code->registers * sizeof(Value);
  if (code->code_flags & kCoroutine) {
    if (in.shared->origin_depth == 0) return make_object<Coroutine>(in, in.types.coroutine, extra);
    Value origin = origin_of_call(in);
    Coroutine* const made = make_object<Coroutine>(in, in.types.coroutine, extra);
    made->origin = std::move(origin);
    return made;
  }
  if (code->code_flags & kAsyncGenerator) return make_object<AsyncGenerator>(in, in.types.async_generator, extra);
  return make_object<Generator>(in, in.types.generator, extra);
}

}  // namespace

const char* generator_word(const Generator* generator) noexcept {
  if (generator->kind == ObjectKind::Coroutine) return "coroutine";
  return generator->kind == ObjectKind::AsyncGenerator ? "async generator" : "generator";
}

Value make_generator(Interpreter& in, Function* function, Value* arguments) {
  Code* const code = function->code;
  Generator* const generator = new_generator(in, code);
  const Value owner = Value::adopt(generator);
  generator->flags |= kFinalized;  // nothing to close as long as it is not suspended
  generator->function = Value(function);
  generator->code = Value(static_cast<Object*>(code));
  generator->registers = code->registers;
  generator->name = function->name;
  generator->qualname = function->qualname;
  ++generator->name->refcount;
  ++generator->qualname->refcount;
  auto* const registers = reinterpret_cast<Value*>(reinterpret_cast<char*>(generator) + generator->type->instance_size);
  for (uint32_t i = 0; i < code->registers; ++i) {
    const bool given = i < code->near_parameters || i >= code->near_registers;
    new (registers + i) Value(given ? std::move(arguments[i]) : Value());
  }
  Frame& frame = generator->frame;
  frame.begin(code);
  frame.registers = registers;
  frame.function = function;
  frame.generator = generator;
  // A coroutine that is dropped before it has run warns.
  if (generator->kind == ObjectKind::Coroutine) generator->flags &= static_cast<uint8_t>(~kFinalized);
  return owner;
}

void generator_finish(Interpreter& in, Generator* generator) noexcept {
  generator->state = Generator::State::Finished;
  generator->flags |= kFinalized;
  Frame& frame = generator->frame;
  if (frame.kind == FrameKind::Watched) in.vm().end_watch(frame);
  Value* const registers = frame.registers;
  frame.registers = nullptr;
  frame.function = nullptr;
  if (registers == nullptr) return;
  for (uint32_t i = 0; i < generator->registers; ++i) registers[i] = Value();
}

namespace {

bool finished(const Generator* generator) { return generator->state == Generator::State::Finished; }

void check_not_running(const Generator* generator) {
  if (generator->state != Generator::State::Running) return;
  throw_error(ErrorKind::ValueError, "%s already executing", generator_word(generator));
}

// The next resumption would have nothing to run. A coroutine must not be awaited twice.
bool check_finished(const Generator* generator) {
  if (!finished(generator)) return false;
  if (generator->kind == ObjectKind::Coroutine) {
    throw Error(ErrorKind::RuntimeError, "cannot reuse already awaited coroutine");
  }
  return true;
}

void check_sendable(const Generator* generator, const Value& sent) {
  if (generator->state == Generator::State::Suspended || sent.is_none()) return;
  throw_error(ErrorKind::TypeError, "can't send non-None value to a just-started %s", generator_word(generator));
}

}  // namespace

Frame* VirtualMachine::resume_generator(Generator* generator, FrameKind kind, uint32_t result) {
  check_not_running(generator);
  if (depth_ >= depth_limit_) {
    generator_finish(in_, generator);  // as CPython does, which fails in the frame that it has entered
    throw_too_deep(nullptr, 0);
  }
  Frame* const frame = &generator->frame;
  if (generator->state == Generator::State::Suspended) frame->registers[generator->send_register] = Value::none();
  generator->state = Generator::State::Running;
  frame->caller = top_;
  frame->end = top_ != nullptr ? top_->end : stack_;
  if (frame->kind == FrameKind::Watched) {
    watched(*frame)->frame_kind = kind;
    if (!loop_traces_) fill_unset_locals(watched(*frame));
  } else {
    frame->kind = kind;
  }
  frame->result = static_cast<uint16_t>(result);
  ++depth_;
  top_ = frame;
  return frame;
}

// With a frame that another one delegates to, that one is suspended at its YieldFrom, and so on outwards.
Frame* VirtualMachine::suspend_generator(Frame* frame, Value& item, bool take, uint32_t send_register, Value& out) {
  if (Gathering* const gathering = frame->generator->gathering;
      gathering != nullptr && frame->kind == FrameKind::Entry && gathering->take(in_, item, take)) {
    frame->registers[send_register] = Value::none();
    return frame;
  }
  const auto kind_of = [this](Frame* f) { return f->kind == FrameKind::Watched ? watched(*f)->frame_kind : f->kind; };
  for (;;) {
    if (frame->kind == FrameKind::Watched && is_traced()) trace_return(*frame, item);
    Generator* const generator = frame->generator;
    generator->state = Generator::State::Suspended;
    generator->flags &= static_cast<uint8_t>(~kFinalized);
    generator->send_register = static_cast<uint16_t>(send_register);
    generator->delegating = op_of(*frame->pc) == Op::YieldFrom && a_of(*frame->pc) + 1 == send_register;
    top_ = frame->caller;
    --depth_;
    if (kind_of(frame) != FrameKind::Delegate) break;
    frame = top_;
    send_register = a_of(*--frame->pc) + 1;
  }
  if (kind_of(frame) != FrameKind::ForNext) {
    out = take ? std::move(item) : item;
    return nullptr;
  }
  Frame* const caller = top_;
  if (take) {
    caller->registers[frame->result] = std::move(item);
  } else {
    caller->registers[frame->result] = item;
  }
  caller->pc += offset_of(*caller->code, caller->pc);
  return caller;
}

Frame* VirtualMachine::yield_from(Frame* frame, Word w, Value& out) {
  Value* const state = frame->registers + a_of(w);
  if (is_delegable(state[0]) && !check_finished(as_generator(state[0]))) {
    Generator* const inner = as_generator(state[0]);
    check_sendable(inner, state[1]);
    const bool begun = inner->state == Generator::State::Suspended;
    Frame* const next = resume_generator(inner, FrameKind::Delegate, 0);
    if (begun) next->registers[inner->send_register] = std::move(state[1]);
    state[1] = Value();
    return next;
  }
  const Value iterator = state[0];
  const Value sent = std::move(state[1]);
  Value item;
  if (iterator_resume(in_, iterator, sent, item)) {
    // The item is handed on, and the next resumption is at this word again.
    --frame->pc;
    return suspend_generator(frame, item, true, a_of(w) + 1, out);
  }
  state[0] = Value();
  state[1] = Value();
  if (item.is_undefined()) item = Value::none();
  if (is_traced() && (!item.is_none() || (type_of(in_, iterator)->type_flags & kScriptClass) != 0)) trace_stop(*frame, item, false);
  frame->registers[b_of(w)] = std::move(item);
  return frame;
}

Value VirtualMachine::run_generator(Generator* generator, Value sent) {
  check_native_stack();
  const bool begun = generator->state == Generator::State::Suspended;
  Frame* const frame = resume_generator(generator, FrameKind::Entry, 0);
  if (begun) frame->registers[generator->send_register] = std::move(sent);
  return run(frame);
}

// Enters the frames that `frame`, the running one, delegates to, and has an iterator of another kind at their end hear of the
// exception first. The result is the frame that goes on: by raising `exception`, which may be another by then, unless it is
// Undefined; `suspended`: by handing `item` on.
Frame* VirtualMachine::innermost_delegate(Frame* frame, Value& exception, bool close_on_exit, Value& item,
                                          bool& suspended) {
  const bool closes = close_on_exit && is_exception(exception) && is_error(in_, exception, ErrorKind::GeneratorExit);
  const Value refusal = is_tuple(exception) && is_exception((*as_tuple(exception))[0]) ? (*as_tuple(exception))[0] : Value();
  while (frame->generator->delegating) {
    frame->generator->delegating = false;
    Value* const state = frame->registers + a_of(*frame->pc++);
    try {
      const Value inner = state[0];
      if (closes) {
        iterator_close(in_, inner);
      } else if (!refusal.is_undefined() && !is_delegable(delegate_of(as_generator(inner)))) {
        exception = refusal;
      } else if (is_delegable(inner) && !finished(as_generator(inner))) {
        frame = resume_generator(as_generator(inner), FrameKind::Delegate, 0);
        continue;
      } else if (iterator_throw(in_, inner, exception, item)) {
        suspended = true;
      } else {
        const Word w = frame->pc[-1];
        state[0] = Value();
        state[1] = Value();
        frame->registers[b_of(w)] = item.is_undefined() ? Value::none() : std::move(item);
        exception = Value();
      }
    } catch (const std::exception&) {
      exception = current_native_exception(in_);
    }
    break;
  }
  return frame;
}

Value VirtualMachine::throw_into_generator(Generator* generator, Value exception, bool close_on_exit) {
  check_native_stack();
  Frame* const entry = resume_generator(generator, FrameKind::Entry, 0);
  Value item, out;
  bool suspended = false;
  Frame* const frame = innermost_delegate(entry, exception, close_on_exit, item, suspended);
  if (suspended) {
    const Word w = *--frame->pc;
    suspend_generator(frame, item, true, a_of(w) + 1, out);
    return out;
  }
  if (!exception.is_undefined()) {
    const Frame* handling = frame;
    while (handling != entry && handling->handled == kNoRegister) handling = handling->caller;
    if (handling->handled != kNoRegister) set_context(in_, as_exception(exception));
    if (!unwind(entry, std::move(exception), true)) throw Thrown(std::move(pending_));
  }
  return run(entry);
}

namespace {

// StopIteration's value, where the exception in flight is one; else it flies on.
Value stop_value(Interpreter& in) {
  const Value exception = current_native_exception(in);
  if (!is_error(in, exception, ErrorKind::StopIteration)) throw Thrown(exception);
  return as_exception(exception)->fields[0];
}

bool call_or_result(Interpreter& in, const Value& method, const Args& args, Value& out) {
  try {
    out = call(in, method, args);
    return true;
  } catch (const std::exception&) {
    out = stop_value(in);
    return false;
  }
}

}  // namespace

void throw_stop(Interpreter& in, const Value& value) {
  if (value.is_none() || value.is_undefined()) {
    throw Thrown(make_exception(in, error_type(in, ErrorKind::StopIteration), in.shared->empty_tuple));
  }
  throw Error(ErrorKind::StopIteration, value);
}

Value delegate_of(const Generator* generator) {
  if (generator->state != Generator::State::Suspended || !generator->delegating) return Value();
  return generator->frame.registers[generator->send_register - 1];
}

bool iterator_resume(Interpreter& in, const Value& iterator, const Value& sent, Value& out) {
  if (is_delegable(iterator)) return generator_resume(in, as_generator(iterator), sent, out);
  if (iterator.is_object()) {
    const TypeSlots& slots = iterator.as_object()->type->slots;
    if (slots.resume != nullptr) return slots.resume(in, iterator, sent, out);
    if (sent.is_none() && iterator.as_object()->kind != ObjectKind::Instance) {
      clear_stop_value(in);
      if (next(in, iterator, out)) return true;
      out = take_stop_value(in, iterator);
      if (out.is_undefined()) out = Value::none();
      return false;
    }
  }
  if (!sent.is_none()) return call_or_result(in, get_attr(in, iterator, in.names->send), Args{&sent, 1}, out);
  return call_or_result(in, get_attr(in, iterator, in.names->next), Args{}, out);
}

bool iterator_throw(Interpreter& in, const Value& iterator, const Value& exception, Value& out) {
  if (is_delegable(iterator)) return generator_throw(in, as_generator(iterator), exception, out);
  const Value method = find_attr(in, iterator, in.names->throw_);
  if (method.is_undefined()) throw Thrown(exception);
  const bool as_given = is_tuple(exception);
  return call_or_result(in, method, as_given ? Args{as_tuple(exception)->begin(), as_tuple(exception)->size} : Args{&exception, 1}, out);
}

void iterator_close(Interpreter& in, const Value& iterator) {
  if (is_delegable(iterator)) return generator_close(in, as_generator(iterator));
  const Value close = find_attr(in, iterator, in.names->close);
  if (!close.is_undefined()) call(in, close);
}

bool generator_resume(Interpreter& in, Generator* generator, Value sent, Value& out) {
  check_not_running(generator);
  if (check_finished(generator)) {
    out = Value::none();
    return false;
  }
  const Value keep(generator);
  check_sendable(generator, sent);
  out = in.vm().run_generator(generator, std::move(sent));
  return !finished(generator);
}

bool Gathering::take(Interpreter& in, Value& item, bool move) {
  if (count == kMost) return false;
  if (item.is_object() && takes != Takes::All && (takes != Takes::Quiet || item.as_object()->type != in.types.str)) return false;
  if (takes == Takes::Numbers && item.is_none()) return false;
  if (takes >= Takes::False) return truth(in, item) == (takes == Takes::True);
  if (move) new (end()) Value(std::move(item));
  else new (end()) Value(item);
  ++count;
  return true;
}

bool generator_gather(Interpreter& in, Generator* generator, Gathering& gathered, Value& out) {
  struct Guard {
    Generator* generator;
    ~Guard() { generator->gathering = nullptr; }
  };
  in.poll();
  gathered.clear();
  check_not_running(generator);
  if (check_finished(generator)) return false;
  const Value keep(generator);
  generator->gathering = &gathered;
  const Guard guard{generator};
  Value item = in.vm().run_generator(generator, Value::none());
  if (finished(generator)) return false;
  out = std::move(item);
  return true;
}

bool generator_throw(Interpreter& in, Generator* generator, const Value& exception, Value& out, bool close_on_exit) {
  check_not_running(generator);
  if (check_finished(generator)) throw Thrown(exception);
  const Value keep(generator);
  out = in.vm().throw_into_generator(generator, exception, close_on_exit);
  return !finished(generator);
}

namespace {

// Nothing would see GeneratorExit: no try or with around the yield, nothing delegated to, no tracer.
bool can_just_stop(Interpreter& in, const Generator* generator) {
  if (in.vm().is_traced()) return false;
  if (generator->state == Generator::State::Created) return true;
  if (generator->state != Generator::State::Suspended || generator->delegating) return false;
  const Code* const code = generator->frame.code;
  const auto word = static_cast<uint32_t>(generator->frame.pc - code->words.data()) - 1;
  return std::none_of(code->handlers.begin(), code->handlers.end(),
                      [word](const Protected& row) { return row.begin <= word && word < row.end; });
}

}  // namespace

bool generator_end_unseen(Interpreter& in, Generator* generator) noexcept {
  if (!can_just_stop(in, generator)) return false;
  generator_finish(in, generator);
  return true;
}

void generator_close(Interpreter& in, Generator* generator) {
  check_not_running(generator);
  const Value keep(generator);
  if (can_just_stop(in, generator)) generator_finish(in, generator);
  if (finished(generator)) return;
  const Value exit = make_exception(in, error_type(in, ErrorKind::GeneratorExit), in.shared->empty_tuple);
  Value out;
  bool yielded = false;
  try {
    yielded = generator_throw(in, generator, exit, out);
  } catch (const std::exception&) {
    const Value exception = current_native_exception(in);
    if (!is_error(in, exception, ErrorKind::GeneratorExit) && !is_error(in, exception, ErrorKind::StopIteration)) {
      throw Thrown(exception);
    }
  }
  if (yielded) throw_error(ErrorKind::RuntimeError, "%s ignored GeneratorExit", generator_word(generator));
}

namespace {

// The exception of throw(class, value): the value if it is an instance, else the class called with it.
Value instance_of_class(Interpreter& in, const Value& kind, const Value& value) {
  if (is_exception(value) && is_instance(in, value, kind)) return value;
  const Value made = value.is_none()   ? call(in, kind)
                     : is_tuple(value) ? call(in, kind, Args{as_tuple(value)->begin(), as_tuple(value)->size})
                                       : call(in, kind, {value});
  if (!is_exception(made))
    throw_error(ErrorKind::TypeError, "calling %s should have returned an instance of BaseException, not %s",
                repr_text(in, kind).c_str(), std::string(type_name(in, made)).c_str());
  return made;
}

}  // namespace

Value thrown_instance(Interpreter& in, const Args& args) {
  const Value &kind = args[1], &value = args[2], &trace = args[3];
  if (!trace.is_none() && type_of(in, trace) != in.types.traceback) {
    throw Error(ErrorKind::TypeError, "throw() third argument must be a traceback object");
  }
  Value exception;
  if (is_exception(kind)) {
    if (!value.is_none()) throw Error(ErrorKind::TypeError, "instance exception may not have a separate value");
    exception = kind;
  } else if (kind.is_object() && kind.as_object()->kind == ObjectKind::Type &&
             object_cast<Type>(kind)->is_subtype_of(error_type(in, ErrorKind::BaseException))) {
    try {
      exception = instance_of_class(in, kind, value);
    } catch (const std::exception&) {  // that is thrown instead
      exception = current_native_exception(in);
    }
  } else {
    throw_error(ErrorKind::TypeError, "exceptions must be classes or instances deriving from BaseException, not %s",
                std::string(type_name(in, kind)).c_str());
  }
  if (!trace.is_none()) as_exception(exception)->traceback = trace;
  return exception;
}

// --- the type

namespace {

Generator* self_of(const Args& args) { return object_cast<Generator>(args[0]); }

Value set_name(Str*& place, const Value& name, const char* what) {
  if (!is_str(name)) throw_error(ErrorKind::TypeError, "%s must be set to a string object", what);
  const Value old = Value::adopt(place);
  place = as_str(name);
  ++place->refcount;
  return Value::none();
}

Value generator_send(Interpreter& in, const Args& args) {
  Value out;
  if (generator_resume(in, self_of(args), args[1], out)) return out;
  throw_stop(in, out);
}

Value generator_next_method(Interpreter& in, const Args& args) {
  Value out;
  if (generator_resume(in, self_of(args), Value::none(), out)) return out;
  throw_stop(in, out);
}

// A throw() of its own, at the end of the delegation, gets the arguments as they were given: the result is a tuple of them.
// It is Undefined where generators alone are on the way, or where GeneratorExit closes them.
Value handed_on(Interpreter& in, const Args& args) {
  if (is_exception(args[1])) return Value();
  Value iterator = args[0];
  while (is_delegable(iterator)) iterator = delegate_of(as_generator(iterator));
  if (iterator.is_undefined() || find_attr(in, iterator, in.names->throw_).is_undefined()) return Value();
  if (args[1].is_object() && args[1].as_object()->kind == ObjectKind::Type &&
      known_cast<Type>(args[1])->is_subtype_of(error_type(in, ErrorKind::GeneratorExit)))
    return Value();
  const size_t given = !args[3].is_none() ? 3 : !args[2].is_none() ? 2 : 1;
  return make_tuple(in, &args[1], given);
}

Value generator_throw_method(Interpreter& in, const Args& args) {
  Value thrown = handed_on(in, args);
  try {
    if (thrown.is_undefined()) thrown = thrown_instance(in, args);
  } catch (const std::exception&) {
    // The last generator of a delegation refuses the arguments, which is an error where the one before it waits: a tuple of that error.
    if (!is_delegable(delegate_of(self_of(args)))) throw;
    thrown = make_tuple(in, {current_native_exception(in)});
  }
  Value out;
  if (generator_throw(in, self_of(args), thrown, out)) return out;
  throw_stop(in, out);
}

Value generator_close_method(Interpreter& in, const Args& args) {
  generator_close(in, self_of(args));
  return Value::none();
}

Value generator_self(Interpreter&, const Args& args) { return args[0]; }

void destroy_generator(Interpreter& in, Object* object) {
  Generator* const generator = known_cast<Generator>(object);
  generator_finish(in, generator);
  if (--generator->name->refcount == 0) destroy_object(generator->name);
  if (--generator->qualname->refcount == 0) destroy_object(generator->qualname);
  const size_t extra = generator->registers * sizeof(Value);
  if (generator->kind == ObjectKind::Coroutine) free_object(in, known_cast<Coroutine>(generator), extra);
  else if (generator->kind == ObjectKind::AsyncGenerator) free_object(in, known_cast<AsyncGenerator>(generator), extra);
  else free_object(in, generator, extra);
}

void traverse_generator(Object* object, Visitor& visitor) {
  const Generator* generator = known_cast<Generator>(object);
  visitor(generator->function);
  if (generator->kind == ObjectKind::Coroutine) visitor(known_cast<const Coroutine>(generator)->origin);
  if (generator->kind == ObjectKind::AsyncGenerator) visitor(known_cast<const AsyncGenerator>(generator)->finalizer);
  if (generator->frame.registers == nullptr || generator->state == Generator::State::Running) return;
  for (uint32_t i = 0; i < generator->registers; ++i) visitor(generator->frame.registers[i]);
}

void clear_generator(Interpreter& in, Object* object) {
  Generator* const generator = known_cast<Generator>(object);
  if (generator->state == Generator::State::Running) return;
  generator_finish(in, generator);
}

Value generator_repr(Interpreter& in, const Value& self) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<void*>(self.as_object()));
  const Generator* generator = object_cast<Generator>(self);
  return make_str(in, "<" + std::string(self.as_object()->type->name->view()) + " object " + std::string(generator->qualname->view()) + " at " + address + ">");
}

bool generator_next_slot(Interpreter& in, const Value& self, Value& out) {
  Value item;  // `out` may be a loop's variable, which keeps the last item at the end
  const bool more = generator_resume(in, object_cast<Generator>(self), Value::none(), item);
  if (more) out = std::move(item);
  else keep_stop_value(in, self, item);
  return more;
}

// A suspended generator that is no longer referenced runs its finally blocks, as after close().
Value generator_del(Interpreter& in, const Args& args) {
  Generator* const generator = self_of(args);
  if (generator->state == Generator::State::Suspended) generator_close(in, generator);
  return Value::none();
}

constexpr NativeDef kMethods[] = {
    {"send(self, value, /)", generator_send, "Resumes the generator; `yield` answers the value."},
    {"__next__(self, /)", generator_next_method, "The next item."},
    {"throw(self, type, value=None, traceback=None, /)", generator_throw_method, "Raises an exception at the yield."},
    {"close(self, /)", generator_close_method, "Ends the generator by GeneratorExit at its yield."},
    {"__iter__(self, /)", generator_self, "The generator itself."},
    {"__del__(self, /)", generator_del, ""},
};

void fill_generator(Interpreter& in, Type* type) {
  in.add_methods(type, kMethods, std::size(kMethods));
  add_generator_properties(in, type, "gi_running", "gi_suspended", "gi_code", "gi_frame", "gi_yieldfrom");
}

}  // namespace

void add_generator_properties(Interpreter& in, Type* type, const char* running, const char* suspended, const char* code,
                              const char* frame, const char* delegate) {
  const bool awaits = type == in.types.coroutine, is_async = type == in.types.async_generator;
  const char* const name_doc = awaits     ? "name of the coroutine"
                               : is_async ? "name of the async generator"
                                          : "name of the generator";
  const char* const qualname_doc = awaits     ? "qualified name of the coroutine"
                                   : is_async ? "qualified name of the async generator"
                                              : "qualified name of the generator";
  in.add_property(
      type, "__name__", [](Interpreter&, const Args& args) { return Value(self_of(args)->name); },
      [](Interpreter&, const Args& args) { return set_name(self_of(args)->name, args[1], "__name__"); }, name_doc,
      [](Interpreter&, const Args& args) { return set_name(self_of(args)->name, Value(), "__name__"); });
  in.add_property(
      type, "__qualname__", [](Interpreter&, const Args& args) { return Value(self_of(args)->qualname); },
      [](Interpreter&, const Args& args) { return set_name(self_of(args)->qualname, args[1], "__qualname__"); },
      qualname_doc,
      [](Interpreter&, const Args& args) { return set_name(self_of(args)->qualname, Value(), "__qualname__"); });
  if (running != nullptr) {
    in.add_property(type, running, [](Interpreter&, const Args& args) {
      return Value::boolean(self_of(args)->state == Generator::State::Running);
    });
  }
  if (suspended != nullptr) {
    in.add_property(type, suspended, [](Interpreter&, const Args& args) {
      return Value::boolean(self_of(args)->state == Generator::State::Suspended);
    });
  }
  in.add_property(type, code,
                  [](Interpreter&, const Args& args) { return self_of(args)->code; });
  in.add_property(type, delegate, [](Interpreter&, const Args& args) {
    const Value inner = delegate_of(self_of(args));
    return inner.is_undefined() ? Value::none() : inner;
  });
  in.add_property(type, frame, [](Interpreter& in2, const Args& args) {
    const Generator* const generator = self_of(args);
    if (generator->state == Generator::State::Finished) return Value::none();
    return frame_object(in2, generator->frame);
  });
}

void set_generator_slots(Type* type) {
  type->slots.destroy = destroy_generator;
  type->slots.traverse = traverse_generator;
  type->slots.clear = clear_generator;
  type->slots.repr = generator_repr;
  type->type_flags |= kHasFinalizer;
}

void make_generator_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "generator";
  spec.module = "builtins";
  spec.kind = ObjectKind::Generator;
  spec.size = sizeof(Generator);
  spec.flags = kFinalType;
  Type* type = in.types.generator != nullptr ? in.types.generator : in.new_type(spec);
  in.types.generator = type;
  set_generator_slots(type);
  type->slots.iter = [](Interpreter&, const Value& self) { return self; };
  type->slots.next = generator_next_slot;
  type->fill_later(fill_generator);
}

}  // namespace tessera::lang
