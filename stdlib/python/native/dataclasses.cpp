// _dataclasses: all fields of an object at once, and functions that are written as text.
// compile: small (runs once for a class)
#include <memory>

#include "lang/compiler/chunk.h"
#include "lang/compiler/compile.h"
#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/syntax/source.h"
#include "lang/vm/vm.h"
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

// The function `_create` of a text, whose globals are `scope`. The library has written the text, so nothing has to be granted for it.
Value define(Interpreter& in, const Args& args) {
  CompileOptions options(CompileMode::Module);
  options.names_in_mapping = true;
  auto source = std::make_shared<Source>("<string>", text_of(args[0]));
  source->set_unlisted();
  const Value code = compile_source(in, std::move(source), options);
  const Value made = make_function(in, object_cast<Code>(code), as_dict(args[1])), names = make_dict(in);
  in.vm().call_function(as_function(made), Args{&names, 1});
  return *dict_get_text(as_dict(names), "_create");
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
  in.def(module, "define(text: str, scope: dict, /)", "Compile the function _create.", define);
  in.def(module, "ordered(a, b, names, op, /)", "Compare two objects field by field.", ordered);
  in.def(module, "values(obj, names, /)", "The fields as a tuple.", values);
}

}  // namespace tessera::stdlib
