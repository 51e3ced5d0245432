#include "lang/objects/generator.h"

#include <algorithm>
#include <string>

#include "lang/core/bind.h"
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

Value make_generator(Interpreter& in, Function* function, Value* arguments) {
  Code* const code = function->code;
  Generator* const generator = make_object<Generator>(in, in.types.generator);
  const Value owner = Value::adopt(generator);
  generator->flags |= kFinalized;  // nothing to close as long as it is not suspended
  generator->function = Value(function);
  generator->name = function->name;
  generator->qualname = function->qualname;
  ++generator->name->refcount;
  ++generator->qualname->refcount;
  Value* const registers = static_cast<Value*>(in.allocate(code->registers * sizeof(Value)));
  for (uint32_t i = 0; i < code->registers; ++i) {
    const bool given = i < code->near_parameters || i >= kFirstFar;
    new (registers + i) Value(given ? std::move(arguments[i]) : Value());
  }
  Frame& frame = generator->frame;
  frame.pc = code->words.data();
  frame.registers = registers;
  frame.code = code;
  frame.function = function;
  frame.generator = generator;
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
  for (uint32_t i = 0; i < frame.code->registers; ++i) registers[i] = Value();
  in.deallocate(registers, frame.code->registers * sizeof(Value));
}

Frame* VirtualMachine::resume_generator(Generator* generator, FrameKind kind, uint32_t result) {
  if (generator->state == Generator::State::Running) throw Error(ErrorKind::ValueError, "generator already executing");
  if (depth_ >= depth_limit_) throw_too_deep(nullptr, 0);
  Frame* const frame = &generator->frame;
  if (generator->state == Generator::State::Suspended) frame->registers[generator->send_register] = Value::none();
  generator->state = Generator::State::Running;
  frame->caller = top_;
  frame->end = top_ != nullptr ? top_->end : stack_;
  if (frame->kind == FrameKind::Watched) watched(*frame)->frame_kind = kind;
  else frame->kind = kind;
  frame->result = static_cast<uint8_t>(result);
  ++depth_;
  top_ = frame;
  return frame;
}

Frame* VirtualMachine::suspend_generator(Frame* frame, Value& item, bool take, uint32_t send_register, Value& out) {
  Generator* const generator = frame->generator;
  generator->state = Generator::State::Suspended;
  generator->flags &= static_cast<uint8_t>(~kFinalized);
  generator->send_register = static_cast<uint8_t>(send_register);
  generator->delegating = op_of(*frame->pc) == Op::YieldFrom && a_of(*frame->pc) + 1 == send_register;
  Frame* const caller = frame->caller;
  top_ = caller;
  --depth_;
  if (frame->kind != FrameKind::ForNext &&
      (frame->kind != FrameKind::Watched || watched(*frame)->frame_kind != FrameKind::ForNext)) {
    out = take ? std::move(item) : item;
    return nullptr;
  }
  if (take) {
    caller->registers[frame->result] = std::move(item);
  } else {
    caller->registers[frame->result] = item;
  }
  caller->pc += offset_of(*caller->code, caller->pc);
  return caller;
}

Value VirtualMachine::run_generator(Generator* generator, const Value* exception) {
  check_native_stack();
  Frame* const frame = resume_generator(generator, FrameKind::Entry, 0);
  if (exception != nullptr) {
    if (frame->pc == frame->code->words.data()) ++frame->pc;  // not begun: the error is at the def's first word
    if (frame->handled != kNoRegister) set_context(in_, as_exception(*exception));
    if (!unwind(frame, *exception, true)) throw Thrown(std::move(pending_));
  }
  return run(frame);
}

namespace {

bool finished(Generator* generator) { return generator->state == Generator::State::Finished; }

void check_not_running(Generator* generator) {
  if (generator->state == Generator::State::Running) throw Error(ErrorKind::ValueError, "generator already executing");
}

// StopIteration's value, where the exception in flight is one; else it flies on.
Value stop_value(Interpreter& in) {
  const Value exception = current_native_exception(in);
  if (!is_error(in, exception, ErrorKind::StopIteration)) throw Thrown(exception);
  return as_exception(exception)->fields[0];
}

bool call_or_result(Interpreter& in, const Value& method, std::initializer_list<Value> args, Value& out) {
  try {
    out = call(in, method, args);
    return true;
  } catch (const std::exception&) {
    out = stop_value(in);
    return false;
  }
}

[[noreturn]] void throw_stop(Interpreter& in, const Value& value) {
  if (value.is_none() || value.is_undefined()) {
    throw Thrown(make_exception(in, error_type(in, ErrorKind::StopIteration), in.shared->empty_tuple));
  }
  throw Error(ErrorKind::StopIteration, value);
}

// The iterator that a suspended `yield from` stands at, or Undefined.
Value delegate_of(Generator* generator) {
  if (generator->state != Generator::State::Suspended || !generator->delegating) return Value();
  return generator->frame.registers[generator->send_register - 1];
}

// close() of whatever iterator.
void close_delegate(Interpreter& in, const Value& iterator) {
  if (iterator.as_object()->kind == ObjectKind::Generator) {
    generator_close(in, static_cast<Generator*>(iterator.as_object()));
    return;
  }
  const Value close = find_attr(in, iterator, in.names->close);
  if (!close.is_undefined()) call(in, close);
}

// throw() goes to the delegate first. True: `out` is its next item. False: it has ended with `out`, or must be raised here.
enum class Delegated { Item, Ended, RaiseHere };
Delegated throw_to_delegate(Interpreter& in, const Value& iterator, const Value& exception, Value& out) {
  if (is_error(in, exception, ErrorKind::GeneratorExit)) {
    close_delegate(in, iterator);
    return Delegated::RaiseHere;
  }
  if (iterator.as_object()->kind == ObjectKind::Generator) {
    return generator_throw(in, static_cast<Generator*>(iterator.as_object()), exception, out) ? Delegated::Item
                                                                                              : Delegated::Ended;
  }
  const Value method = find_attr(in, iterator, in.names->throw_);
  if (method.is_undefined()) return Delegated::RaiseHere;
  return call_or_result(in, method, {exception}, out) ? Delegated::Item : Delegated::Ended;
}

}  // namespace

bool generator_resume(Interpreter& in, Generator* generator, Value sent, Value& out) {
  check_not_running(generator);
  if (finished(generator)) {
    out = Value::none();
    return false;
  }
  const Value keep(generator);
  const bool begun = generator->state == Generator::State::Suspended;
  if (!begun && !sent.is_none()) {
    throw Error(ErrorKind::TypeError, "can't send non-None value to a just-started generator");
  }
  if (begun && !sent.is_none()) {
    out = in.vm().run_generator_sending(generator, std::move(sent));
  } else {
    out = in.vm().run_generator(generator, nullptr);
  }
  return !finished(generator);
}

Value VirtualMachine::run_generator_sending(Generator* generator, Value sent) {
  check_native_stack();
  Frame* const frame = resume_generator(generator, FrameKind::Entry, 0);
  frame->registers[generator->send_register] = std::move(sent);
  return run(frame);
}

bool generator_throw(Interpreter& in, Generator* generator, const Value& exception, Value& out) {
  check_not_running(generator);
  if (finished(generator)) throw Thrown(exception);
  const Value keep(generator);
  Value inner = exception;
  const Value delegate = delegate_of(generator);
  if (!delegate.is_undefined()) {
    generator->state = Generator::State::Running;
    try {
      const Delegated what = throw_to_delegate(in, delegate, exception, out);
      generator->state = Generator::State::Suspended;
      if (what == Delegated::Item) return true;
      ++generator->frame.pc;  // the `yield from` is over, one way or the other
      Value* const state = generator->frame.registers + generator->send_register - 1;
      const Word w = generator->frame.pc[-1];
      generator->delegating = false;
      if (what == Delegated::Ended) {
        state[0] = Value();
        state[1] = Value();
        generator->frame.registers[b_of(w)] = out.is_undefined() ? Value::none() : std::move(out);
        generator->send_register = static_cast<uint8_t>(b_of(w));
        Value result = generator->frame.registers[b_of(w)];
        out = in.vm().run_generator_sending(generator, std::move(result));
        return !finished(generator);
      }
    } catch (const std::exception&) {
      generator->state = Generator::State::Suspended;
      if (generator->delegating) ++generator->frame.pc;
      generator->delegating = false;
      inner = current_native_exception(in);
    }
  }
  out = in.vm().run_generator(generator, &inner);
  return !finished(generator);
}

namespace {

// GeneratorExit would find nobody who hears it: no try or with around the yield, nothing delegated to.
bool can_just_stop(const Generator* generator) {
  if (generator->state == Generator::State::Created) return true;
  if (generator->state != Generator::State::Suspended || generator->delegating) return false;
  const Code* const code = generator->frame.code;
  const auto word = static_cast<uint32_t>(generator->frame.pc - code->words.data()) - 1;
  return std::none_of(code->handlers.begin(), code->handlers.end(),
                      [word](const Protected& row) { return row.begin <= word && word < row.end; });
}

}  // namespace

void generator_close(Interpreter& in, Generator* generator) {
  check_not_running(generator);
  if (can_just_stop(generator)) generator_finish(in, generator);
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
  if (yielded) throw Error(ErrorKind::RuntimeError, "generator ignored GeneratorExit");
}

bool next_or_result(Interpreter& in, const Value& iterator, Value& out) {
  if (iterator.is_object() && iterator.as_object()->kind != ObjectKind::Instance) {
    clear_stop_value(in);
    if (next(in, iterator, out)) return true;
    out = take_stop_value(in, iterator);
    if (out.is_undefined()) out = Value::none();
    return false;
  }
  return call_or_result(in, get_attr(in, iterator, in.names->next), {}, out);
}

bool send_or_result(Interpreter& in, const Value& iterator, const Value& sent, Value& out) {
  return call_or_result(in, get_attr(in, iterator, in.names->send), {sent}, out);
}

// --- the type

namespace {

Generator* self_of(const Args& args) { return static_cast<Generator*>(args[0].as_object()); }

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

Value generator_throw_method(Interpreter& in, const Args& args) {
  Value exception = args[1];
  if (!args[2].is_none() && exception.is_object() && exception.as_object()->kind == ObjectKind::Type &&
      !is_exception(args[2])) {
    exception = call(in, exception, {args[2]});
  } else if (is_exception(args[2])) {
    exception = args[2];
  }
  const Value instance = instantiate_exception(in, exception);
  Value out;
  if (generator_throw(in, self_of(args), instance, out)) return out;
  throw_stop(in, out);
}

Value generator_close_method(Interpreter& in, const Args& args) {
  generator_close(in, self_of(args));
  return Value::none();
}

Value generator_self(Interpreter&, const Args& args) { return args[0]; }

void destroy_generator(Interpreter& in, Object* object) {
  Generator* const generator = static_cast<Generator*>(object);
  generator_finish(in, generator);
  if (--generator->name->refcount == 0) destroy_object(generator->name);
  if (--generator->qualname->refcount == 0) destroy_object(generator->qualname);
  free_object(in, generator);
}

void traverse_generator(Object* object, Visitor& visitor) {
  const Generator* generator = static_cast<Generator*>(object);
  visitor(generator->function);
  if (generator->frame.registers == nullptr || generator->state == Generator::State::Running) return;
  for (uint32_t i = 0; i < generator->frame.code->registers; ++i) visitor(generator->frame.registers[i]);
}

void clear_generator(Interpreter& in, Object* object) {
  Generator* const generator = static_cast<Generator*>(object);
  if (generator->state == Generator::State::Running) return;
  generator_finish(in, generator);
}

Value generator_repr(Interpreter& in, const Value& self) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<void*>(self.as_object()));
  const Generator* generator = static_cast<Generator*>(self.as_object());
  return make_str(in, "<generator object " + std::string(generator->qualname->view()) + " at " + address + ">");
}

bool generator_next_slot(Interpreter& in, const Value& self, Value& out) {
  if (generator_resume(in, static_cast<Generator*>(self.as_object()), Value::none(), out)) return true;
  keep_stop_value(in, self, out);
  return false;
}

// A suspended generator that nobody holds any more runs its finally blocks, as after close().
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
  in.add_property(
      type, "__name__", [](Interpreter&, const Args& args) { return Value(self_of(args)->name); },
      [](Interpreter&, const Args& args) { return set_name(self_of(args)->name, args[1], "__name__"); }, "",
      [](Interpreter&, const Args& args) { return set_name(self_of(args)->name, Value(), "__name__"); });
  in.add_property(
      type, "__qualname__", [](Interpreter&, const Args& args) { return Value(self_of(args)->qualname); },
      [](Interpreter&, const Args& args) { return set_name(self_of(args)->qualname, args[1], "__qualname__"); }, "",
      [](Interpreter&, const Args& args) { return set_name(self_of(args)->qualname, Value(), "__qualname__"); });
  in.add_property(type, "gi_running", [](Interpreter&, const Args& args) {
    return Value::boolean(self_of(args)->state == Generator::State::Running);
  });
  in.add_property(type, "gi_suspended", [](Interpreter&, const Args& args) {
    return Value::boolean(self_of(args)->state == Generator::State::Suspended);
  });
  in.add_property(type, "gi_code",
                  [](Interpreter&, const Args& args) { return Value(as_function(self_of(args)->function)->code); });
  in.add_property(type, "gi_yieldfrom", [](Interpreter&, const Args& args) {
    const Value delegate = delegate_of(self_of(args));
    return delegate.is_undefined() ? Value::none() : delegate;
  });
  in.add_property(type, "gi_frame", [](Interpreter& in2, const Args& args) {
    const Generator* const generator = self_of(args);
    if (generator->state == Generator::State::Finished) return Value::none();
    return frame_object(in2, generator->frame);
  });
}

}  // namespace

void make_generator_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "generator";
  spec.module = "builtins";
  spec.kind = ObjectKind::Generator;
  spec.size = sizeof(Generator);
  spec.flags = kFinalType;
  Type* type = in.types.generator != nullptr ? in.types.generator : in.new_type(spec);
  in.types.generator = type;
  type->slots.destroy = destroy_generator;
  type->slots.traverse = traverse_generator;
  type->slots.clear = clear_generator;
  type->slots.repr = generator_repr;
  type->slots.iter = [](Interpreter&, const Value& self) { return self; };
  type->slots.next = generator_next_slot;
  type->type_flags |= kHasFinalizer;
  type->fill_later(fill_generator);
}

}  // namespace tessera::lang
