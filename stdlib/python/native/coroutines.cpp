// _coroutines: what `sys` and `types` set of coroutines and asynchronous generators.
#include <algorithm>
#include <string>
#include <utility>

#include "lang/compiler/chunk.h"
#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/function.h"
#include "lang/objects/module.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "stdlib/python/native/native_modules.h"

namespace tessera::stdlib {

using namespace lang;

namespace {

Value or_none(const Value& v) { return v.is_undefined() ? Value::none() : v; }

Value get_hooks(Interpreter& in, const Args&) {
  return make_tuple(in, {or_none(in.shared->async_generator_first), or_none(in.shared->async_generator_finalizer)});
}

void set_hook(Interpreter& in, Value& hook, const Value& given, const char* name) {
  if (given.is_undefined()) return;
  if (!given.is_none() && !is_callable(in, given)) {
    throw_error(ErrorKind::TypeError, "callable %s expected, got %s", name,
                std::string(type_name(in, given)).c_str());
  }
  hook = given.is_none() ? Value() : given;
}

Value set_hooks(Interpreter& in, const Args& args) {
  Value finalizer = in.shared->async_generator_finalizer;
  set_hook(in, finalizer, args[1], "finalizer");
  set_hook(in, in.shared->async_generator_first, args[0], "firstiter");
  in.shared->async_generator_finalizer = std::move(finalizer);
  return Value::none();
}

Value get_origin_depth(Interpreter& in, const Args&) { return Value::integer(in.shared->origin_depth); }

Value set_origin_depth(Interpreter& in, const Args& args) {
  const int64_t depth = args[0].as_int();
  if (depth < 0) throw Error(ErrorKind::ValueError, "depth must be >= 0");
  in.shared->origin_depth = static_cast<uint32_t>(std::min<int64_t>(depth, 1 << 20));
  return Value::none();
}

// The function gets a code of its own, since other functions may be made of the same one.
Value make_iterable_coroutine(Interpreter& in, const Args& args) {
  Function* const function = object_cast<Function>(args[0]);
  const Value code = copy_code(in, function->code);
  Code* const copy = object_cast<Code>(code);
  copy->code_flags |= kIterableCoroutine;
  const Value old = Value::adopt(std::exchange(function->code, copy));
  ++copy->refcount;
  return Value::none();
}

}  // namespace

void fill_coroutines(Interpreter& in, Module& module) {
  in.def(module, "get_hooks()", "firstiter and finalizer of asynchronous generators.", get_hooks);
  in.def(module, "set_hooks(firstiter=..., finalizer=...)", "Set either of them.", set_hooks);
  in.def(module, "get_origin_depth()", "How many frames cr_origin tells.", get_origin_depth);
  in.def(module, "set_origin_depth(depth: int)", "Set how many frames cr_origin tells.", set_origin_depth);
  in.def(module, "make_iterable_coroutine(function: function, /)", "Let `await` take the function's generators.",
         make_iterable_coroutine);
}

}  // namespace tessera::stdlib
