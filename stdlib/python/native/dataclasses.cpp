// _dataclasses: all fields of an object at once.
#include <algorithm>

#include "lang/objects/attribute.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
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

// What a call of __init__ gives each field, by the (name, default, factory) of each: false where the call does not fit, and
// then nothing was set. Undefined stands in `given` for what the call leaves out.
bool collect(const Tuple& fields, const Value& missing, const Tuple& positional, const Dict* keywords,
             std::vector<Value>& given) {
  if (positional.size > fields.size) return false;
  given.assign(fields.size, Value());
  std::copy_n(positional.items, positional.size, given.begin());
  uint32_t used = 0;
  for (uint32_t i = 0; i < fields.size; ++i) {
    const Tuple& field = names_of(fields[i]);
    if (keywords->count != 0) {
      if (const Value* value = dict_get_str(keywords, name_at(field, 0))) {
        if (i < positional.size) return false;
        given[i] = *value;
        ++used;
      }
    }
    if (given[i].is_undefined() && field[1].is(missing) && field[2].is_none()) return false;
  }
  return used == keywords->count;
}

Value initialise(Interpreter& in, const Args& args) {
  const Tuple& fields = names_of(args[1]);
  std::vector<Value> given;
  if (!is_dict(args[4]) || !collect(fields, args[2], names_of(args[3]), as_dict(args[4]), given))
    return Value::boolean(false);
  const bool plainly = truth(in, args[5]);
  for (uint32_t i = 0; i < fields.size; ++i) {
    const Tuple& field = names_of(fields[i]);
    if (given[i].is_undefined()) given[i] = field[2].is_none() ? field[1] : call(in, field[2]);
    if (plainly) generic_set_attr(in, args[0], name_at(field, 0), given[i]);
    else set_attr(in, args[0], name_at(field, 0), given[i]);
  }
  return Value::boolean(true);
}

// The comparison of two objects of one class by their fields, as tuples compare.
Value ordered(Interpreter& in, const Args& args) {
  const Tuple& names = names_of(args[2]);
  const CompareOp op = static_cast<CompareOp>(int_argument(in, args[3]));
  for (uint32_t i = 0; i < names.size; ++i) {
    in.poll();  // a structure that shares its parts is compared as often as there are ways to them
    const Value a = get_attr(in, args[0], name_at(names, i)), b = get_attr(in, args[1], name_at(names, i));
    if (equals(in, a, b)) continue;
    if (op == CompareOp::Eq || op == CompareOp::Ne) return Value::boolean(op == CompareOp::Ne);
    return compare(in, op, a, b);
  }
  return Value::boolean(op == CompareOp::Eq || op == CompareOp::Le || op == CompareOp::Ge);
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
  in.def(module, "initialise(obj, fields, missing, args, kwargs, plainly, /)", "What __init__ does, if the call fits.",
         initialise);
  in.def(module, "ordered(a, b, names, op, /)", "Compare two objects field by field.", ordered);
  in.def(module, "values(obj, names, /)", "The fields as a tuple.", values);
}

}  // namespace tessera::stdlib
