// globals, locals, vars and dir: what the running frame or an object holds.
#include "lang/builtins/builtins.h"
#include "lang/core/error.h"
#include "lang/objects/class_slots.h"
#include "lang/vm/frame_object.h"
#include "lang/core/names.h"
#include "lang/objects/attribute.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

namespace tessera::lang {
namespace {

const Frame& caller_of(Interpreter& in) {
  const Frame* frame = in.vm().top();
  if (frame == nullptr) throw Error(ErrorKind::RuntimeError, "no frame is running");
  return *frame;
}

Value globals_function(Interpreter& in, const Args&) { return Value(caller_of(in).function->globals); }

Value locals_function(Interpreter& in, const Args&) { return frame_locals(in, caller_of(in)); }

Value vars_function(Interpreter& in, const Args& args) {
  if (args[0].is_undefined()) return frame_locals(in, caller_of(in));
  Value dict = find_attr(in, args[0], in.names->dict_);
  if (dict.is_undefined()) throw Error(ErrorKind::TypeError, "vars() argument must have __dict__ attribute");
  return dict;
}

Value dir_function(Interpreter& in, const Args& args) {
  Value names;
  if (args[0].is_undefined()) {
    const Value locals = frame_locals(in, caller_of(in));  // of eval() it may be any mapping, whose keys() count
    names = list_from(in, type_of(in, locals) == in.types.dict ? locals : call_method(in, locals, intern(in, "keys")));
  } else {
    const Value method = type_lookup(type_of(in, args[0]), in.names->dir);
    if (args[0].is_object() && args[0].as_object()->kind == ObjectKind::Module && type_of(in, args[0]) != in.types.module &&
        !is_dict(find_attr(in, args[0], in.names->dict_)))
      throw Error(ErrorKind::TypeError, "<module>.__dict__ is not a dictionary");
    const bool own = !method.is_undefined() && !is_native_method(method);
    names = list_from(in, own ? call_special(in, method, args[0]) : attribute_names(in, args[0]));
  }
  list_sort(in, as_list(names), Value::none(), false);
  return names;
}

constexpr NativeDef kRows[] = {
    {"globals()", globals_function, "Return the dictionary of the current module's names."},
    {"locals()", locals_function, "Return a dictionary of the current scope's names."},
    {"vars(object=..., /)", vars_function, "Without an argument like locals(); else object.__dict__."},
    {"dir(object=..., /)", dir_function, "The names in the current scope, or the attributes of an object."},
};

}  // namespace

void add_scope_functions(Interpreter& in, Module& module) { define_all(in, module, kRows); }

}  // namespace tessera::lang
