// _dataclasses: all fields of an object at once.
#include "lang/objects/attribute.h"
#include "stdlib/native/native_modules.h"
#include "stdlib/native/support.h"

namespace tessera {
namespace {

const Tuple& names_of(const Value& v) {
  if (!is_tuple(v)) throw Error(ErrorKind::TypeError, "the names of fields must be a tuple");
  return *as_tuple(v);
}

Str* name_at(const Tuple& names, uint32_t i) {
  if (!is_str(names[i])) throw Error(ErrorKind::TypeError, "the name of a field must be a str");
  return as_str(names[i]);
}

// Gives the first fields the values; `plainly`: past the class's __setattr__, for frozen classes.
Value assign(Interpreter& in, const Args& args) {
  const Tuple& names = names_of(args[1]);
  const Tuple& values = names_of(args[2]);
  const bool plainly = truth(in, args[3]);
  if (!args[0].is_object()) throw Error(ErrorKind::TypeError, "an object with fields is expected");
  for (uint32_t i = 0; i < values.size && i < names.size; ++i) {
    if (plainly) {
      generic_set_attr(in, args[0], name_at(names, i), values[i]);
    } else {
      set_attr(in, args[0], name_at(names, i), values[i]);
    }
  }
  return Value::none();
}

Value values(Interpreter& in, const Args& args) {
  const Tuple& names = names_of(args[1]);
  std::vector<Value> out;
  out.reserve(names.size);
  for (uint32_t i = 0; i < names.size; ++i) out.push_back(get_attr(in, args[0], name_at(names, i)));
  return make_tuple_moving(in, out.data(), out.size());
}

}  // namespace

void fill_dataclasses(Interpreter& in, Module& module) {
  in.def(module, "assign(obj, names, values, plainly, /)", "Set the first fields.", assign);
  in.def(module, "values(obj, names, /)", "The fields as a tuple.", values);
}

}  // namespace tessera
