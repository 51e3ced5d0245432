// The module `builtins`: types, constants, exception classes and functions.
#include "lang/builtins/builtins.h"

#include "lang/core/error.h"
#include "lang/core/host.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception_types.h"
#include "lang/objects/module.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/types.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

Value late_builtin(Interpreter& in, const Str* name) {
  Value made = bytes_builtin(in, name);
  return made.is_undefined() ? late_exception(in, name->view()) : made;
}

}  // namespace

std::vector<std::string_view> late_builtin_names() {
  std::vector<std::string_view> names = exception_names();
  names.insert(names.end(), {"bytes", "bytearray", "memoryview"});
  return names;
}

const Value* find_builtin(Interpreter& in, Str* name) {
  Dict* const builtins = in.vm().builtins();
  if (const Value* found = dict_get_str(builtins, name)) return found;
  const Value made = late_builtin(in, name);
  if (made.is_undefined()) return nullptr;
  dict_set_str(in, builtins, name, made);
  return dict_get_str(builtins, name);
}

void complete_builtins(Interpreter& in) {
  for (const std::string_view name : late_builtin_names()) find_builtin(in, intern(in, name));
}

void add_builtins(Interpreter& in, Module& module) {
  make_lazy_iterator_types(in);
  const BuiltinTypes& t = in.types;
  auto set = [&](std::string_view name, Value value) {
    dict_set_str(in, module.dict, intern(in, name), std::move(value));
  };
  for (Type* type : {t.object,       t.type,  t.boolean,   t.integer,   t.real,  t.complex, t.str,      t.list,
                     t.tuple,        t.dict,  t.set,       t.frozenset, t.range, t.slice,   t.property, t.static_method,
                     t.class_method, t.super, t.enumerate, t.zip,       t.map,   t.filter,  t.reversed}) {
    if (type != nullptr) set(type->name->view(), Value(type));
  }
  module.missing = [](Interpreter& i, Module&, Str* name) { return late_builtin(i, name); };
  module.names = [](Interpreter& i, Module&, Dict* into) {
    for (const std::string_view name : late_builtin_names()) dict_set_str(i, into, intern(i, name), Value::none());
  };
  set("NotImplemented", in.not_implemented);
  set("Ellipsis", in.ellipsis);
  set("None", Value::none());
  set("True", Value::boolean(true));
  set("False", Value::boolean(false));
  set("__debug__", Value::boolean(in.host().flags.optimize == 0));
  add_number_functions(in, module);
  add_object_functions(in, module);
  add_iteration_functions(in, module);
  add_output_functions(in, module);
  add_scope_functions(in, module);
  add_code_functions(in, module);
}

}  // namespace tessera::lang
