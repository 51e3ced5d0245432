// _asyncio: the two steps of asyncio that run most: a task's step, and waiting for a future. Neither raises StopIteration.
#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

struct Waiting {
  Type* type;
  Str *state, *blocking, *result;
};

// The iterator of Future.__await__(): hands the future to the task, and ends with its result.
struct FutureIterator : GcObject {
  Value future;
  const Waiting* names = nullptr;
  bool waited = false;
};

FutureIterator* iterator_of(const Value& v) { return object_cast<FutureIterator>(v); }

bool resume_waiting(Interpreter& in, const Value& self, const Value&, Value& out) {
  FutureIterator* const iterator = iterator_of(self);
  const Value future = iterator->future;
  if (future.is_undefined()) {
    out = Value::none();
    return false;
  }
  const Value state = get_attr(in, future, iterator->names->state);
  if (is_str(state) && text_of(state) == "PENDING") {
    if (iterator->waited) throw Error(ErrorKind::RuntimeError, "await wasn't used with future");
    iterator->waited = true;
    set_attr(in, future, iterator->names->blocking, Value::boolean(true));
    out = future;
    return true;
  }
  iterator->future = Value();
  out = call_method(in, future, iterator->names->result);
  return false;
}

Value send_method(Interpreter& in, const Args& args) {
  Value out;
  if (resume_waiting(in, args[0], Value::none(), out)) return out;
  throw_stop(in, out);
}

constexpr NativeDef kMethods[] = {
    {"__next__(self, /)", send_method, ""},
    {"send(self, value, /)", send_method, ""},
    {"throw(self, type, value=None, traceback=None, /)",
     [](Interpreter& in, const Args& args) -> Value {
       iterator_of(args[0])->future = Value();
       throw Thrown(thrown_instance(in, args));
     },
     ""},
    {"close(self, /)",
     [](Interpreter&, const Args& args) {
       iterator_of(args[0])->future = Value();
       return Value::none();
     },
     ""},
    {"__iter__(self, /)", [](Interpreter&, const Args& args) { return args[0]; }, ""},
};

Value wait_for_future(Interpreter& in, const Args& args) {
  const auto* const names = static_cast<const Waiting*>(args.callee->data);
  FutureIterator* const made = make_object<FutureIterator>(in, names->type);
  made->future = args[0];
  made->names = names;
  return Value::adopt(made);
}

// (True, what the coroutine yields) or (False, its result); `exception` is raised at its await unless it is None.
Value advance(Interpreter& in, const Args& args) {
  Value out;
  if (!args[1].is_none()) object_cast<lang::Exception>(args[1]);
  const bool more = args[1].is_none() ? iterator_resume(in, args[0], Value::none(), out)
                                      : iterator_throw(in, args[0], args[1], out);
  return make_tuple(in, {Value::boolean(more), out});
}

Type* make_iterator_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "FutureIter";
  spec.module = "_asyncio";
  spec.size = sizeof(FutureIterator);
  spec.flags = kFinalType;
  Type* const type = in.new_type(spec);
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, known_cast<FutureIterator>(self)); };
  type->slots.traverse = [](Object* self, Visitor& visitor) { visitor(known_cast<FutureIterator>(self)->future); };
  type->slots.iter = [](Interpreter&, const Value& self) { return self; };
  type->slots.resume = resume_waiting;
  type->slots.next = [](Interpreter& in2, const Value& self, Value& out) {
    return resume_waiting(in2, self, Value::none(), out);
  };
  in.add_methods(type, kMethods, std::size(kMethods));
  return type;
}

}  // namespace

void fill_asyncio(Interpreter& in, Module& module) {
  auto* const names = in.keep(new Waiting{make_iterator_type(in), intern(in, "_state"),
                                          intern(in, "_asyncio_future_blocking"), intern(in, "result")});
  set_member(in, module, "wait_for_future",
             in.new_function("wait_for_future(future, /)", "The iterator of a future's __await__().", wait_for_future,
                             names));
  in.def(module, "advance(coroutine, exception, /)", "One step of a coroutine.", advance);
}

}  // namespace tessera::stdlib
