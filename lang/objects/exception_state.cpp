// compile: small (runs when an exception is pickled or copied)
// __reduce__ and __setstate__ of exceptions.
#include "lang/core/bind.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/exception.h"
#include "lang/objects/exception_types.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {

namespace {

// Has a field been given a value other than None?
bool is_given(const Value& field) { return !field.is_undefined() && !field.is_none(); }

// The arguments that make the exception again. OSError cuts the file names off from `args`.
Value arguments_of(Interpreter& in, const Exception* e) {
  if (!is_error(in, Value(const_cast<Exception*>(e)), ErrorKind::OSError)) return e->args;
  const Tuple* given = as_tuple(e->args);
  if (given->size != 2 || !is_given(e->fields[2])) return e->args;
  const Value first = given->items[0], second = given->items[1], name = e->fields[2], other = e->fields[3];
  if (!is_given(other)) return make_tuple(in, {first, second, name});
  return make_tuple(in, {first, second, name, Value::none(), other});
}

// The attributes that __setstate__ sets: the object's dict, which may be empty, or Undefined where the object has had no attribute.
Value state_of(Interpreter& in, Exception* e) {
  const Value own = has_attributes_dict(e) ? find_attr(in, Value(e), in.names->dict_) : Value();
  if (!is_error(in, Value(e), ErrorKind::ImportError) || (!is_given(e->fields[1]) && !is_given(e->fields[2]))) return own;
  const Value state = own.is_undefined() ? make_dict(in) : dict_copy(in, as_dict(own));
  if (is_given(e->fields[1])) dict_set_str(in, as_dict(state), intern(in, "name"), e->fields[1]);
  if (is_given(e->fields[2])) dict_set_str(in, as_dict(state), intern(in, "path"), e->fields[2]);
  return state;
}

Value reduce_method(Interpreter& in, const Args& args) {
  Exception* const e = object_cast<Exception>(args[0]);
  const Value type(e->type), arguments = arguments_of(in, e), state = state_of(in, e);
  return state.is_undefined() ? make_tuple(in, {type, arguments}) : make_tuple(in, {type, arguments, state});
}

// As CPython's: each attribute of a pickled exception is set, also those that the class keeps itself.
Value set_state_method(Interpreter& in, const Args& args) {
  if (args[1].is_none()) return Value::none();
  if (!is_dict(args[1])) throw Error(ErrorKind::TypeError, "state is not a dictionary");
  const Value items = list_from(in, call_method(in, args[1], intern(in, "items")));
  for (uint32_t i = 0; i < as_list(items)->size; ++i) {
    const Value pair = as_list(items)->items[i];
    const Value name = as_tuple(pair)->items[0];
    if (!is_str(name)) throw Error(ErrorKind::TypeError, "attribute name must be string");
    set_attr(in, args[0], intern(in, text_of(name)), as_tuple(pair)->items[1]);
  }
  return Value::none();
}

constexpr NativeDef kReduce[] = {{"__reduce__(self, /)", reduce_method, ""}};
constexpr NativeDef kSetState[] = {
    {"__setstate__(self, state, /)", set_state_method, "Set the attributes of a pickled exception."}};

}  // namespace

void add_exception_state(Interpreter& in, Type* type, ErrorKind kind) {
  if (kind == ErrorKind::BaseException) in.add_methods(type, kSetState, std::size(kSetState));
  if (kind == ErrorKind::BaseException || kind == ErrorKind::OSError || kind == ErrorKind::ImportError)
    in.add_methods(type, kReduce, std::size(kReduce));
}

}  // namespace tessera::lang
