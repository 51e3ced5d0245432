// compile: small (async generators wait more than they compute)
// Asynchronous generators: their frame is a generator's, and asend(), athrow(), aclose() and __anext__() make awaitables that
// drive it. A frame that is suspended at a YieldFrom awaits, and its item goes to the event loop; any other item was
// yielded, and ends the awaitable with that value.
// compile: few-inlines (no faster with more inlines)
#include <string>

#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/coroutine.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/types/setup.h"
#include "lang/types/types.h"

namespace tessera::lang {

namespace {

enum class Stage : uint8_t { Fresh, Running, Closed };

// What asend() and __anext__() return.
struct AsyncSend : GcObject {
  Value generator;
  Value sent;
  Stage stage = Stage::Fresh;
};

// What athrow() and aclose() return; aclose() has no exception.
struct AsyncThrow : GcObject {
  Value generator;
  Value exception;
  Stage stage = Stage::Fresh;
};

AsyncGenerator* generator_of(const Value& v) { return object_cast<AsyncGenerator>(v); }
AsyncSend* send_of(const Value& v) { return object_cast<AsyncSend>(v); }
AsyncThrow* throw_of(const Value& v) { return object_cast<AsyncThrow>(v); }

[[noreturn]] void throw_plain(Interpreter& in, ErrorKind kind) {
  throw Thrown(make_exception(in, error_type(in, kind), in.shared->empty_tuple));
}

// After a step of the frame. True: `out` is an item of what it awaits; false: it has yielded `out`.
bool sort_item(Interpreter& in, AsyncGenerator* generator, bool more) {
  if (!more) {
    generator->closed = true;
    generator->awaited_now = false;
    throw_plain(in, ErrorKind::StopAsyncIteration);
  }
  if (generator->delegating) return true;
  generator->awaited_now = false;
  return false;
}

// Called where a step has thrown.
void note_failure(Interpreter& in, AsyncGenerator* generator) {
  generator->awaited_now = false;
  const Value exception = current_native_exception(in);
  generator->closed |= is_error(in, exception, ErrorKind::StopAsyncIteration) ||
                       is_error(in, exception, ErrorKind::GeneratorExit);
}

template <class Step>
bool drive(Interpreter& in, AsyncGenerator* generator, Step&& step) {
  const Value keep(generator);
  generator->awaited_now = true;
  try {
    return sort_item(in, generator, step());
  } catch (const std::exception&) {
    note_failure(in, generator);
    throw;
  }
}

void refuse_reuse(Stage stage, const char* what) {
  if (stage != Stage::Closed) return;
  throw_error(ErrorKind::RuntimeError, "cannot reuse already awaited %s", what);
}

void refuse_running(const AsyncGenerator* generator, const char* what) {
  if (!generator->awaited_now) return;
  throw_error(ErrorKind::RuntimeError, "%s: asynchronous generator is already running", what);
}

// --- asend(), __anext__()

constexpr char kSendReuse[] = "__anext__()/asend()";

template <class Step>
bool drive_send(Interpreter& in, AsyncSend* self, Step&& step) {
  bool more = false;
  try {
    more = drive(in, generator_of(self->generator), step);
  } catch (const std::exception&) {
    self->stage = Stage::Closed;
    throw;
  }
  if (!more) self->stage = Stage::Closed;
  return more;
}

bool resume_send(Interpreter& in, const Value& self, const Value& sent, Value& out) {
  AsyncSend* const send = send_of(self);
  AsyncGenerator* const generator = generator_of(send->generator);
  refuse_reuse(send->stage, kSendReuse);
  const bool fresh = send->stage == Stage::Fresh;
  if (fresh) {
    refuse_running(generator, "anext()");
    send->stage = Stage::Running;
  }
  Value value = fresh && sent.is_none() ? send->sent : sent;
  return drive_send(in, send, [&] { return generator_resume(in, generator, std::move(value), out); });
}

Value send_throw(Interpreter& in, const Args& args) {
  AsyncSend* const send = send_of(args[0]);
  refuse_reuse(send->stage, kSendReuse);
  const Value exception = thrown_instance(in, args);
  Value out;
  if (drive_send(in, send, [&] {
        return generator_throw(in, generator_of(send->generator), exception, out, false);
      }))
    return out;
  throw_stop(in, out);
}

// --- athrow(), aclose()

constexpr char kThrowReuse[] = "aclose()/athrow()";

// One step of the frame. aclose() ends with None where the generator has ended, and a yield is an error.
template <class Step>
bool drive_throw(Interpreter& in, AsyncThrow* self, Value& out, Step&& step) {
  AsyncGenerator* const generator = generator_of(self->generator);
  const bool closing = self->exception.is_undefined();
  bool more = false;
  try {
    more = drive(in, generator, step);
  } catch (const std::exception&) {
    self->stage = Stage::Closed;
    const Value exception = current_native_exception(in);
    const bool ended = is_error(in, exception, ErrorKind::StopAsyncIteration) ||
                       is_error(in, exception, ErrorKind::GeneratorExit);
    if (!closing || !ended) throw;
    out = Value::none();
    return false;
  }
  if (more) return true;
  self->stage = Stage::Closed;
  if (closing) throw Error(ErrorKind::RuntimeError, "async generator ignored GeneratorExit");
  return false;
}

bool start_throw(Interpreter& in, AsyncThrow* self, const Value& sent, Value& out) {
  AsyncGenerator* const generator = generator_of(self->generator);
  const bool closing = self->exception.is_undefined();
  self->stage = Stage::Closed;
  if (generator->state == Generator::State::Finished) {
    out = Value::none();
    return false;
  }
  refuse_running(generator, closing ? "aclose()" : "athrow()");
  if (generator->closed) throw_plain(in, ErrorKind::StopAsyncIteration);
  if (!sent.is_none()) {
    self->stage = Stage::Fresh;
    throw Error(ErrorKind::RuntimeError, "can't send non-None value to a just-started coroutine");
  }
  self->stage = Stage::Running;
  const Value exception =
      closing ? make_exception(in, error_type(in, ErrorKind::GeneratorExit), in.shared->empty_tuple) : self->exception;
  if (closing) generator->closed = true;
  return drive_throw(in, self, out, [&] { return generator_throw(in, generator, exception, out, false); });
}

bool resume_throw(Interpreter& in, const Value& self, const Value& sent, Value& out) {
  AsyncThrow* const step = throw_of(self);
  refuse_reuse(step->stage, kThrowReuse);
  if (step->stage == Stage::Fresh) return start_throw(in, step, sent, out);
  return drive_throw(in, step, out,
                     [&] { return generator_resume(in, generator_of(step->generator), sent, out); });
}

Value throw_throw(Interpreter& in, const Args& args) {
  AsyncThrow* const step = throw_of(args[0]);
  refuse_reuse(step->stage, kThrowReuse);
  const Value exception = thrown_instance(in, args);
  Value out;
  if (drive_throw(in, step, out, [&] {
        return generator_throw(in, generator_of(step->generator), exception, out, false);
      }))
    return out;
  throw_stop(in, out);
}

// --- anext(iterator, default)

struct AnextAwaitable : GcObject {
  Value iterator;  // of the awaitable that __anext__() gave
  Value otherwise;
};

AnextAwaitable* anext_of(const Value& v) { return object_cast<AnextAwaitable>(v); }

template <class Step>
bool or_default(Interpreter& in, const Value& self, Value& out, Step&& step) {
  try {
    return step();
  } catch (const std::exception&) {
    if (!is_error(in, current_native_exception(in), ErrorKind::StopAsyncIteration)) throw;
    out = anext_of(self)->otherwise;
    return false;
  }
}

bool resume_anext(Interpreter& in, const Value& self, const Value& sent, Value& out) {
  return or_default(in, self, out, [&] { return iterator_resume(in, anext_of(self)->iterator, sent, out); });
}

Value anext_throw(Interpreter& in, const Args& args) {
  const Value exception = thrown_instance(in, args);
  Value out;
  if (or_default(in, args[0], out, [&] { return iterator_throw(in, anext_of(args[0])->iterator, exception, out); }))
    return out;
  throw_stop(in, out);
}

Value anext_close(Interpreter& in, const Args& args) {
  iterator_close(in, anext_of(args[0])->iterator);
  return Value::none();
}

// --- the types of these awaitables

Value send_method(Interpreter& in, const Args& args) {
  Value out;
  if (args[0].as_object()->type->slots.resume(in, args[0], args[1], out)) return out;
  throw_stop(in, out);
}

Value next_method(Interpreter& in, const Args& args) {
  Value out;
  if (args[0].as_object()->type->slots.resume(in, args[0], Value::none(), out)) return out;
  throw_stop(in, out);
}

Value self_method(Interpreter&, const Args& args) { return args[0]; }

constexpr NativeDef kAwaitableMethods[] = {
    {"send(self, arg, /)", send_method, ""},
    {"__next__(self, /)", next_method, ""},
    {"__await__(self, /)", self_method, ""},
    {"__iter__(self, /)", self_method, ""},
};
constexpr NativeDef kSendMethods[] = {
    {"throw(self, type, value=None, traceback=None, /)", send_throw, ""},
    {"close(self, /)",
     [](Interpreter&, const Args& args) {
       send_of(args[0])->stage = Stage::Closed;
       return Value::none();
     },
     ""},
};
constexpr NativeDef kThrowMethods[] = {
    {"throw(self, type, value=None, traceback=None, /)", throw_throw, ""},
    {"close(self, /)",
     [](Interpreter&, const Args& args) {
       throw_of(args[0])->stage = Stage::Closed;
       return Value::none();
     },
     ""},
};
constexpr NativeDef kAnextMethods[] = {
    {"throw(self, type, value=None, traceback=None, /)", anext_throw, ""},
    {"close(self, /)", anext_close, ""},
};

template <class T>
Type* make_awaitable_type(Interpreter& in, const char* name,
                          bool (*resume)(Interpreter&, const Value&, const Value&, Value&)) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "builtins";
  spec.kind = ObjectKind::Other;
  spec.size = sizeof(T);
  spec.flags = kFinalType;
  Type* const type = in.new_type(spec);
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, known_cast<T>(self)); };
  type->slots.iter = [](Interpreter&, const Value& self) { return self; };
  type->slots.resume = resume;
  type->slots.next = [](Interpreter& in2, const Value& self, Value& out) {
    return self.as_object()->type->slots.resume(in2, self, Value::none(), out);
  };
  return type;
}

// --- asynchronous generators

// The hooks of sys.set_asyncgen_hooks hear of a generator when it is first asked for an item.
void call_hooks(Interpreter& in, const Value& self) {
  AsyncGenerator* const generator = generator_of(self);
  if (generator->has_hooks) return;
  generator->has_hooks = true;
  generator->finalizer = in.shared->async_generator_finalizer;
  const Value first = in.shared->async_generator_first;
  if (!first.is_undefined()) call(in, first, {self});
}

Value make_send(Interpreter& in, const Value& self, const Value& sent) {
  call_hooks(in, self);
  AsyncSend* const made = make_object<AsyncSend>(in, in.types.async_generator_send);
  made->generator = self;
  made->sent = sent;
  return Value::adopt(made);
}

Value make_throw(Interpreter& in, const Value& self, const Value& exception) {
  call_hooks(in, self);
  AsyncThrow* const made = make_object<AsyncThrow>(in, in.types.async_generator_throw);
  made->generator = self;
  made->exception = exception;
  return Value::adopt(made);
}

Value async_generator_del(Interpreter& in, const Args& args) {
  AsyncGenerator* const generator = generator_of(args[0]);
  const Value finalizer = generator->finalizer;
  if (!finalizer.is_undefined() && !generator->closed) {
    call(in, finalizer, {args[0]});
  } else if (generator->state == Generator::State::Suspended) {
    generator_close(in, generator);
  }
  return Value::none();
}

constexpr NativeDef kMethods[] = {
    {"__aiter__(self, /)", self_method, "Return an awaitable, that resolves in asynchronous iterator."},
    {"__anext__(self, /)", [](Interpreter& in, const Args& args) { return make_send(in, args[0], Value::none()); },
     "Return a value or raise StopAsyncIteration."},
    {"asend(self, value, /)", [](Interpreter& in, const Args& args) { return make_send(in, args[0], args[1]); },
     "asend(v) -> send 'v' in generator."},
    {"athrow(self, type, value=None, traceback=None, /)",
     [](Interpreter& in, const Args& args) { return make_throw(in, args[0], thrown_instance(in, args)); },
     "athrow(typ[,val[,tb]]) -> raise exception in generator."},
    {"aclose(self, /)", [](Interpreter& in, const Args& args) { return make_throw(in, args[0], Value()); },
     "aclose() -> raise GeneratorExit inside generator."},
    {"__del__(self, /)", async_generator_del, ""},
};

void fill_async_generator(Interpreter& in, Type* type) {
  add_class_getitem(in, type);
  in.add_methods(type, kMethods, std::size(kMethods));
  add_generator_properties(in, type, nullptr, nullptr, "ag_code", "ag_frame", "ag_await");
  in.add_property(type, "ag_running", [](Interpreter&, const Args& args) {
    return Value::boolean(generator_of(args[0])->awaited_now);
  });
}

void make_awaitable_types(Interpreter& in) {
  Type* type = make_awaitable_type<AsyncSend>(in, "async_generator_asend", resume_send);
  type->slots.traverse = [](Object* self, Visitor& visitor) {
    visitor(known_cast<AsyncSend>(self)->generator);
    visitor(known_cast<AsyncSend>(self)->sent);
  };
  type->fill_later([](Interpreter& in2, Type* filled) {
    in2.add_methods(filled, kAwaitableMethods, std::size(kAwaitableMethods));
    in2.add_methods(filled, kSendMethods, std::size(kSendMethods));
  });
  in.types.async_generator_send = type;

  type = make_awaitable_type<AsyncThrow>(in, "async_generator_athrow", resume_throw);
  type->slots.traverse = [](Object* self, Visitor& visitor) {
    visitor(known_cast<AsyncThrow>(self)->generator);
    visitor(known_cast<AsyncThrow>(self)->exception);
  };
  type->fill_later([](Interpreter& in2, Type* filled) {
    in2.add_methods(filled, kAwaitableMethods, std::size(kAwaitableMethods));
    in2.add_methods(filled, kThrowMethods, std::size(kThrowMethods));
  });
  in.types.async_generator_throw = type;

  type = make_awaitable_type<AnextAwaitable>(in, "anext_awaitable", resume_anext);
  type->slots.traverse = [](Object* self, Visitor& visitor) {
    visitor(known_cast<AnextAwaitable>(self)->iterator);
    visitor(known_cast<AnextAwaitable>(self)->otherwise);
  };
  type->fill_later([](Interpreter& in2, Type* filled) {
    in2.add_methods(filled, kAwaitableMethods, std::size(kAwaitableMethods));
    in2.add_methods(filled, kAnextMethods, std::size(kAnextMethods));
  });
  in.types.anext_awaitable = type;
}

}  // namespace

Value make_anext(Interpreter& in, const Value& iterator, const Value& otherwise) {
  const Value method = type_lookup(type_of(in, iterator), in.names->anext);
  if (method.is_undefined()) {
    throw_error(ErrorKind::TypeError, "'%s' object is not an async iterator",
                std::string(type_name(in, iterator)).c_str());
  }
  const Value answer = call_special(in, method, iterator);
  if (otherwise.is_undefined()) return answer;
  AnextAwaitable* const made = make_object<AnextAwaitable>(in, in.types.anext_awaitable);
  const Value owner = Value::adopt(made);
  made->otherwise = otherwise;
  made->iterator = awaitable(in, answer, nullptr);
  return owner;
}

void make_async_generator_types(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "async_generator";
  spec.module = "builtins";
  spec.kind = ObjectKind::AsyncGenerator;
  spec.size = sizeof(AsyncGenerator);
  spec.flags = kFinalType;
  Type* const type = in.types.async_generator = in.new_type(spec);
  set_generator_slots(type);
  type->fill_later(fill_async_generator);
  make_awaitable_types(in);
}

}  // namespace tessera::lang
