// Coroutines, what can be awaited, and how `async for` and `async with` find their methods.
#include "lang/objects/coroutine.h"

#include <string>

#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/objects/module.h"
#include "lang/types/str.h"
#include "lang/types/types.h"

namespace tessera::lang {

namespace {

bool is_iterable_coroutine(const Value& x) {
  return x.is_object() && x.as_object()->kind == ObjectKind::Generator &&
         (as_generator(x)->frame.code->code_flags & kIterableCoroutine);
}

bool is_coroutine(const Value& x) { return x.is_object() && x.as_object()->kind == ObjectKind::Coroutine; }

// Calls a special method without arguments. False: the type has none.
bool call_own(Interpreter& in, const Value& object, Str* name, Value& out) {
  const Value method = type_lookup(type_of(in, object), name);
  if (method.is_undefined()) return false;
  out = call_special(in, method, object);
  return true;
}

bool has_own(Interpreter& in, const Value& object, Str* name) {
  return !type_lookup(type_of(in, object), name).is_undefined();
}

std::string name_of(Interpreter& in, const Value& x) { return std::string(type_name(in, x)); }

[[noreturn]] void throw_not_awaitable(Interpreter& in, const Value& x, const char* source) {
  if (source == nullptr) {
    throw_error(ErrorKind::TypeError, "object %s can't be used in 'await' expression", name_of(in, x).c_str());
  }
  throw_error(ErrorKind::TypeError,
              "'async with' received an object from %s that does not implement __await__: %s", source,
              name_of(in, x).c_str());
}

// The iterator of an awaitable; Undefined: it is none.
Value await_iterator(Interpreter& in, const Value& x) {
  if (is_coroutine(x) || is_iterable_coroutine(x)) return x;
  Value iterator;
  if (!call_own(in, x, in.names->await, iterator)) return Value();
  if (is_coroutine(iterator) || is_iterable_coroutine(iterator)) {
    throw Error(ErrorKind::TypeError, "__await__() returned a coroutine");
  }
  const Type* const type = type_of(in, iterator);
  if (type->slots.next == nullptr) {
    throw_error(ErrorKind::TypeError, "__await__() returned non-iterator of type '%s'", name_of(in, iterator).c_str());
  }
  return iterator;
}

}  // namespace

Value awaitable(Interpreter& in, const Value& x, const char* source) {
  Value iterator = await_iterator(in, x);
  if (iterator.is_undefined()) throw_not_awaitable(in, x, source);
  if (is_coroutine(iterator) && !delegate_of(as_generator(iterator)).is_undefined()) {
    throw Error(ErrorKind::RuntimeError, "coroutine is being awaited already");
  }
  return iterator;
}

Value delegate_iterator(Interpreter& in, const Value& x, const Frame& frame) {
  if (!is_coroutine(x)) return iter(in, x);
  if (!(frame.code->code_flags & (kCoroutine | kIterableCoroutine))) {
    throw Error(ErrorKind::TypeError, "cannot 'yield from' a coroutine object in a non-coroutine generator");
  }
  return x;
}

Value async_iterator(Interpreter& in, const Value& iterable) {
  Value iterator;
  if (!call_own(in, iterable, in.names->aiter, iterator)) {
    throw_error(ErrorKind::TypeError, "'async for' requires an object with __aiter__ method, got %s",
                name_of(in, iterable).c_str());
  }
  if (!has_own(in, iterator, in.names->anext)) {
    throw_error(ErrorKind::TypeError,
                "'async for' received an object from __aiter__ that does not implement __anext__: %s",
                name_of(in, iterator).c_str());
  }
  return iterator;
}

Value async_next(Interpreter& in, const Value& iterator) {
  Value answer;
  if (!call_own(in, iterator, in.names->anext, answer)) {
    throw_error(ErrorKind::TypeError, "'async for' requires an iterator with __anext__ method, got %s",
                name_of(in, iterator).c_str());
  }
  Value cause;
  try {
    Value found = await_iterator(in, answer);
    if (!found.is_undefined()) return found;
    cause = make_exception(in, ErrorKind::TypeError,
                           "object " + name_of(in, answer) + " can't be used in 'await' expression");
  } catch (const std::exception&) {
    cause = current_native_exception(in);
  }
  Value error = make_exception(in, ErrorKind::TypeError,
                               "'async for' received an invalid object from __anext__: " + name_of(in, answer));
  as_exception(error)->cause = as_exception(error)->context = cause;
  as_exception(error)->suppress_context = true;
  throw Thrown(std::move(error));
}

Value make_aiter(Interpreter& in, const Value& iterable) {
  Value iterator;
  if (!call_own(in, iterable, in.names->aiter, iterator)) {
    throw_error(ErrorKind::TypeError, "'%s' object is not an async iterable", name_of(in, iterable).c_str());
  }
  if (!has_own(in, iterator, in.names->anext)) {
    throw_error(ErrorKind::TypeError, "aiter() returned not an async iterator of type '%s'",
                name_of(in, iterator).c_str());
  }
  return iterator;
}

void warn_unawaited(Interpreter& in, const Value& coroutine) {
  call_method(in, Value(static_cast<Object*>(in.import("warnings"))), intern(in, "_warn_unawaited_coroutine"), {coroutine});
}

// --- coroutines and the iterators of their __await__()

namespace {

// The iterator that coroutine.__await__() returns: has the coroutine in place of its own state.
struct CoroutineWrapper : GcObject {
  Value coroutine;
};

Generator* self_of(const Args& args) { return as_generator(args[0]); }
CoroutineWrapper* wrapper_of(const Value& v) { return object_cast<CoroutineWrapper>(v); }

// send, throw and close of both types.
Value send_to(Interpreter& in, const Value& coroutine, const Value& sent) {
  Value out;
  if (generator_resume(in, as_generator(coroutine), sent, out)) return out;
  throw_stop(in, out);
}

Value throw_into(Interpreter& in, const Value& coroutine, const Args& args) {
  Value out;
  if (generator_throw(in, as_generator(coroutine), thrown_instance(in, args), out)) return out;
  throw_stop(in, out);
}

Value coroutine_close(Interpreter& in, const Args& args) {
  generator_close(in, self_of(args));
  return Value::none();
}

Value coroutine_await(Interpreter& in, const Args& args) {
  CoroutineWrapper* const made = make_object<CoroutineWrapper>(in, in.types.coroutine_wrapper);
  made->coroutine = args[0];
  return Value::adopt(made);
}

Value coroutine_del(Interpreter& in, const Args& args) {
  Generator* const coroutine = self_of(args);
  if (coroutine->state == Generator::State::Created) {
    warn_unawaited(in, args[0]);
    generator_finish(in, coroutine);
  } else if (coroutine->state == Generator::State::Suspended) {
    generator_close(in, coroutine);
  }
  return Value::none();
}

constexpr NativeDef kCoroutineMethods[] = {
    {"send(self, arg, /)", [](Interpreter& in, const Args& args) { return send_to(in, args[0], args[1]); },
     "send(arg) -> send 'arg' into coroutine,\nreturn next iterated value or raise StopIteration."},
    {"throw(self, type, value=None, traceback=None, /)",
     [](Interpreter& in, const Args& args) { return throw_into(in, args[0], args); },
     "throw(value)\nthrow(type[,value[,traceback]])\n\nRaise exception in coroutine, return next iterated value or "
     "raise\nStopIteration."},
    {"close(self, /)", coroutine_close, "close() -> raise GeneratorExit inside coroutine."},
    {"__await__(self, /)", coroutine_await, "Return an iterator to be used in await expression."},
    {"__del__(self, /)", coroutine_del, ""},
};

constexpr NativeDef kWrapperMethods[] = {
    {"send(self, arg, /)",
     [](Interpreter& in, const Args& args) { return send_to(in, wrapper_of(args[0])->coroutine, args[1]); }, ""},
    {"throw(self, type, value=None, traceback=None, /)",
     [](Interpreter& in, const Args& args) { return throw_into(in, wrapper_of(args[0])->coroutine, args); }, ""},
    {"close(self, /)",
     [](Interpreter& in, const Args& args) {
       generator_close(in, as_generator(wrapper_of(args[0])->coroutine));
       return Value::none();
     },
     ""},
    {"__next__(self, /)",
     [](Interpreter& in, const Args& args) { return send_to(in, wrapper_of(args[0])->coroutine, Value::none()); }, ""},
    {"__iter__(self, /)", [](Interpreter&, const Args& args) { return args[0]; }, ""},
};

void fill_coroutine(Interpreter& in, Type* type) {
  in.add_methods(type, kCoroutineMethods, std::size(kCoroutineMethods));
  add_generator_properties(in, type, "cr_running", "cr_suspended", "cr_code", "cr_frame", "cr_await");
  in.add_property(type, "cr_origin", [](Interpreter&, const Args& args) {
    const Value& origin = object_cast<Coroutine>(args[0])->origin;
    return origin.is_undefined() ? Value::none() : origin;
  });
}

bool resume_wrapper(Interpreter& in, const Value& self, const Value& sent, Value& out) {
  return generator_resume(in, as_generator(wrapper_of(self)->coroutine), sent, out);
}

void make_coroutine_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "coroutine";
  spec.module = "builtins";
  spec.kind = ObjectKind::Coroutine;
  spec.size = sizeof(Coroutine);
  spec.flags = kFinalType;
  Type* const type = in.types.coroutine = in.new_type(spec);
  set_generator_slots(type);
  type->fill_later(fill_coroutine);
}

void make_wrapper_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "coroutine_wrapper";
  spec.module = "builtins";
  spec.kind = ObjectKind::Other;
  spec.size = sizeof(CoroutineWrapper);
  spec.flags = kFinalType;
  Type* const type = in.types.coroutine_wrapper = in.new_type(spec);
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, known_cast<CoroutineWrapper>(self)); };
  type->slots.traverse = [](Object* self, Visitor& visitor) {
    visitor(known_cast<CoroutineWrapper>(self)->coroutine);
  };
  type->slots.iter = [](Interpreter&, const Value& self) { return self; };
  type->slots.resume = resume_wrapper;
  type->slots.next = [](Interpreter& in2, const Value& self, Value& out) {
    return resume_wrapper(in2, self, Value::none(), out);
  };
  type->fill_later([](Interpreter& in2, Type* filled) {
    in2.add_methods(filled, kWrapperMethods, std::size(kWrapperMethods));
  });
}

}  // namespace

void make_coroutine_types(Interpreter& in) {
  make_coroutine_type(in);
  make_wrapper_type(in);
  make_async_generator_types(in);
}

}  // namespace tessera::lang
