// The longer steps of `with`, `raise` and `assert`, out of the loop.
#include "lang/vm/steps.h"

#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/exception.h"
#include "lang/types/dict.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

// --- with, raise, yield from

namespace {

Value special_method(Interpreter& in, const Value& object, Str* name) {
  Type* const type = type_of(in, object);
  const Value& found = type_lookup(type, name);
  if (found.is_undefined()) return Value();
  if (is_function(found)) return make_bound_method(in, found, object);
  return bind_attribute(in, Value(found), object, type);
}

}  // namespace

bool with_setup_step(Interpreter& in, Frame* frame, Value* registers, bool is_async) {
  const Value manager = registers[0];
  const char* const kind = is_async ? "asynchronous context manager" : "context manager";
  const Value& found = type_lookup(type_of(in, manager), is_async ? in.names->aenter : in.names->enter);
  if (found.is_undefined()) {
    throw_error(ErrorKind::TypeError, "'%s' object does not support the %s protocol",
                std::string(type_name(in, manager)).c_str(), kind);
  }
  // The method is called by the next word; a function that takes the object alone is entered without a bound method.
  const Word call = *frame->pc;
  const bool plain = is_function(found) && op_of(call) == Op::Call && frame->registers + a_of(call) == registers + 1 && call.b == 0;
  Value enter = plain ? found : special_method(in, manager, is_async ? in.names->aenter : in.names->enter);
  Value exit = special_method(in, manager, is_async ? in.names->aexit : in.names->exit);
  if (exit.is_undefined()) {
    throw_error(ErrorKind::TypeError, "'%s' object does not support the %s protocol (missed %s method)",
                std::string(type_name(in, manager)).c_str(), kind, is_async ? "__aexit__" : "__exit__");
  }
  registers[0] = std::move(exit);
  if (!plain) {
    registers[1] = std::move(enter);
    return false;
  }
  ++frame->pc;
  Value answer;
  if (in.vm().enter_with(as_function(enter), FrameKind::Call, c_of(call), answer, manager)) return true;
  frame->registers[c_of(call)] = std::move(answer);
  return false;
}

void exit_arguments_step(Interpreter& in, Value* target, const Value& exception) {
  const Value value = exception;
  target[0] = Value(type_of(in, value));
  target[2] = as_exception(value)->traceback;
  target[1] = value;
}

// An embedded module whose names hold __raised__ has its raised exceptions looked at, where they are raised: what of the
// library is written in the language says so which operands it refuses, as its native part does.
static void show_raised(Interpreter& in, const Value& exception) {
  const Frame* const frame = in.vm().top();
  if (frame == nullptr || frame->function == nullptr || !frame->code->source->name().starts_with("stdlib/")) return;
  if (const Value* seen = dict_get_str(frame->function->globals, intern(in, "__raised__")))
    call(in, Value(*seen), {exception});
}

void raise_step(Interpreter& in, Value& raised, Value* operands, uint32_t form) {
  if (form == 0) {
    const Value& handled = handled_exception(in);
    if (handled.is_none()) throw Error(ErrorKind::RuntimeError, "No active exception to reraise");
    raised = handled;
    return;
  }
  const Value operand = std::move(operands[0]);
  Value exception = instantiate_exception(in, operand);
  if (form == 2) {
    const Value cause = std::move(operands[1]);
    Exception* const e = as_exception(exception);
    if (cause.is_none()) {
      e->cause = Value::none();
    } else if (is_exception(cause) ||
               (cause.is_object() && cause.as_object()->kind == ObjectKind::Type &&
                known_cast<Type>(cause)->is_subtype_of(error_type(in, ErrorKind::BaseException)))) {
      e->cause = instantiate_exception(in, cause);
    } else {
      throw Error(ErrorKind::TypeError, "exception causes must derive from BaseException");
    }
    e->suppress_context = true;
  }
  set_context(in, as_exception(exception));
  show_raised(in, exception);
  raised = std::move(exception);
}

void raise_assertion(Interpreter& in, const Value* message) {
  const Value args = message == nullptr ? in.shared->empty_tuple : make_tuple(in, {*message});
  in.vm().raise_next(make_exception(in, error_type(in, ErrorKind::AssertionError), args));
}

}  // namespace tessera::lang
