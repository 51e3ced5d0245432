// How instances come into being: __new__, __init__, and the refusals of abstract classes.
#include <algorithm>
#include <string>
#include <vector>

#include "lang/compiler/chunk.h"
#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/class.h"
#include "lang/core/failure.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/types.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

std::string text(const Str* s) { return std::string(s->view()); }
Value as_value(Object* object) { return Value(object); }

}  // namespace

Value new_instance(Interpreter& in, Type* type) {
  if (type->type_flags & kAbstract) throw_abstract(in, type);
  if (type->make != nullptr) return type->make(in, type, Args{});
  if (!(type->type_flags & kScriptClass) && type != in.types.object) return refuse_to_make(in, type, Args{});
  return Value::adopt(make_object<Instance>(in, type));
}

void throw_abstract(Interpreter& in, Type* type) {
  Value names = list_from(in, type_lookup(type, in.names->abstractmethods));
  list_sort(in, as_list(names), Value::none(), false);
  std::string list;
  for (const Value& name : *as_list(names)) {  // a program may have set them
    if (!is_str(name))
      throw_error(ErrorKind::TypeError, "sequence item 0: expected str instance, %s found", std::string(type_name(in, name)).c_str());
    list += (list.empty() ? "" : ", ") + std::string(text_of(name));
  }
  throw_error(ErrorKind::TypeError, "Can't instantiate abstract class %s with abstract method%s %s",
              text(type->name).c_str(), as_list(names)->size == 1 ? "" : "s", list.c_str());
}

namespace {

Value call_with(Interpreter& in, const Value& function, const Value& first, const Args& args) {
  if (is_function(function)) return in.vm().call_function(as_function(function), first, args);
  constexpr uint32_t kFew = 8;
  if (args.count < kFew) {
    Value few[kFew];
    few[0] = first;
    std::copy_n(args.values, args.count, few + 1);
    return call(in, function, Args{few, args.count + 1, args.keyword_names});
  }
  std::vector<Value> values{first};
  values.insert(values.end(), args.values, args.values + args.count);
  return call(in, function, Args{values.data(), static_cast<uint32_t>(values.size()), args.keyword_names});
}

Value unwrapped(const Value& found) {
  if (found.is_object() && found.as_object()->kind == ObjectKind::StaticMethod)
    return object_cast<StaticMethod>(found)->function;
  return found;
}

// Which __init__ runs after __new__: any of a script or of a class of the host's; of natives only those that fill an empty
// container.
bool init_runs(const Type* type, const Value& init) {
  if (is_function(init)) return true;
  if (!init.is_object() || init.as_object()->kind != ObjectKind::NativeFunction)
    return !init.is_undefined();
  const Type* owner = object_cast<NativeFunction>(init)->owner;
  if (owner == nullptr) return (type->type_flags & kScriptClass) != 0;  // a function of a module, which is bound to nothing
  if (owner == owner->owner->types.object) return false;
  if (owner->type_flags & kScriptClass) return true;
  return (type->type_flags & kScriptClass) &&
         (owner->instance_kind == ObjectKind::List || owner->instance_kind == ObjectKind::Dict ||
          owner->instance_kind == ObjectKind::Set || owner->instance_kind == ObjectKind::Property);
}

bool is_native_function(const Value& v) { return v.is_object() && v.as_object()->kind == ObjectKind::NativeFunction; }

// Is it the __init__ of a native container? Without arguments that leaves empty what the native type has made.
bool leaves_empty(const Value& init) {
  const Type* const owner = is_native_function(init) ? object_cast<NativeFunction>(init)->owner : nullptr;
  return owner != nullptr && !(owner->type_flags & kScriptClass) && owner->instance_kind != ObjectKind::Property;
}

bool is_object_method(Interpreter& in, const Value& found, Str* name) {
  return found.is(type_lookup(in.types.object, name));
}

// Runs the __init__ of what __new__ has made. Out of line: most classes that come here have none that runs.
[[gnu::noinline]] void initialise(Interpreter& in, const Value& object, const Value& method, const Args& args) {
  const bool unbound = is_native_function(method) && object_cast<NativeFunction>(method)->owner == nullptr;
  const bool plain = is_function(method) || is_native_function(method);
  const RecursionGuard guard(in, " while calling a Python object");
  const Value answer = unbound ? call(in, method, args)
                       : plain ? call_with(in, method, object, args)
                             : call(in, bind_attribute(in, method, object, type_of(in, object)), args);
  if (!answer.is_none()) {
    throw_error(ErrorKind::TypeError, "__init__() should return None, not '%s'",
                std::string(type_name(in, answer)).c_str());
  }
}

}  // namespace

// An abstract class is refused where object.__new__ makes the instance (new_instance), as CPython does: one over a dict is made.
Value instantiate(Interpreter& in, Type* type, const Args& args) {
  if (!(type->type_flags & kScriptClass) && type->make != nullptr) {
    Value made = type->make(in, type, args);
    if (type != in.types.type || args.count < 3) return made;
    // type(name, bases, namespace) makes a class of its bases' metaclass, which is initialised as any other of that.
    const Value method = type_lookup(type_of(in, made), in.names->init);
    if (init_runs(type_of(in, made), method)) initialise(in, made, method, args);
    return made;
  }
  const Value make = type_lookup(type, in.names->new_);
  const Value init = type_lookup(type, in.names->init);
  Value object;
  bool is_filled = false;
  const bool plain_new = is_object_method(in, make, in.names->new_);
  const Value function = unwrapped(make);
  if (plain_new && type->make == nullptr) {
    if (args.count != 0 && is_object_method(in, init, in.names->init)) {
      throw_error(ErrorKind::TypeError, "%s() takes no arguments", text(type->name).c_str());
    }
    object = new_instance(in, type);
  } else if (type->make != nullptr && (plain_new || is_native_new(function))) {
    object = type->make(in, type, args);
    is_filled = args.count == 0 && leaves_empty(init);
  } else {
    const RecursionGuard guard(in, " while calling a Python object");
    const bool called = is_function(function) || is_callable(in, function);  // else a classmethod, say: what it is for the class
    object = call_with(in, called ? function : bind_attribute(in, make, Value(), type), as_value(type), args);
  }
  if (is_filled || !is_instance(in, object, type)) return object;
  Type* const made = type_of(in, object);  // __new__ may have chosen a class below
  const Value method = made == type ? init : type_lookup(made, in.names->init);
  if (init_runs(made, method)) initialise(in, object, method, args);
  return object;
}

}  // namespace tessera::lang
