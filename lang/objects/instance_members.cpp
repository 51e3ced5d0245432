// `__dict__` and `__weakref__` in the dicts of classes: getset_descriptors, one pair for each class whose instances have an
// attribute dict or may be weakly referenced where those of its bases may not. All of an interpreter share their functions.
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/objects/weak.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/types.h"

namespace tessera::lang {

namespace {

bool has_dict(const Value& object) {
  return object.is_object() && may_have_attributes_dict(object.as_object()->type);
}

// A descriptor of one class may have been put into another, whose instances have no dict.
void check_has_dict(Interpreter& in, const Value& object) {
  if (has_dict(object)) return;
  throw_error(ErrorKind::TypeError, "this __dict__ descriptor does not support '%s' objects",
              std::string(type_name(in, object)).c_str());
}

// The `__dict__` that a native base has for the object, or null: a class whose metaclass mixes plain classes with `type`.
const Value* native_dict(Interpreter& in, const Value& object) {
  if (!object.is_object()) return nullptr;
  for (Type* const base : object.as_object()->type->mro) {
    if (base->type_flags & kScriptClass) continue;
    const Value* const found = dict_get_str(base->attributes(), in.names->dict_);
    if (found != nullptr) return found;
  }
  return nullptr;
}

Value get_dict(Interpreter& in, const Args& args) {
  if (!has_dict(args[0])) {
    if (const Value* const found = native_dict(in, args[0])) {
      const Value descriptor = *found;
      return bind_attribute(in, descriptor, args[0], args[0].as_object()->type);
    }
  }
  check_has_dict(in, args[0]);
  return Value(static_cast<Object*>(attributes_dict(in, args[0].as_object())));
}

Value set_dict(Interpreter& in, const Args& args) {
  check_has_dict(in, args[0]);
  if (!is_dict(args[1]))
    throw_error(ErrorKind::TypeError, "__dict__ must be set to a dictionary, not a '%s'",
                std::string(type_name(in, args[1])).c_str());
  set_attributes_dict(in, args[0].as_object(), as_dict(args[1]));
  return Value::none();
}

Value delete_dict(Interpreter& in, const Args& args) {
  check_has_dict(in, args[0]);
  const Value empty = make_dict(in);
  set_attributes_dict(in, args[0].as_object(), as_dict(empty));
  return Value::none();
}

Value get_weakref(Interpreter& in, const Args& args) {
  if (!args[0].is_object()) return Value::none();
  const auto* references = in.weak_references().find(args[0].as_object());
  return references == nullptr || references->empty() ? Value::none() : Value(references->front());
}

const Value& shared_function(Interpreter& in, Value& place, const char* signature, NativeFn function) {
  if (place.is_undefined()) {
    Value made = in.new_function(signature, "", function);
    object_cast<NativeFunction>(made)->owner = in.types.object;
    place = std::move(made);
  }
  return place;
}

void add(Interpreter& in, Type* type, Str* name, const Value& get, const Value& set, const Value& del, const char* doc) {
  if (dict_get_str(type->attributes(), name) != nullptr) return;
  dict_set_str(in, type->attributes(), name,
               make_native_property(in, in.types.getset_descriptor, type, name, get, set, del, make_str(in, doc)));
}

}  // namespace

void add_instance_dict(Interpreter& in, Type* type) {
  SharedObjects& shared = *in.shared;
  const Value get = shared_function(in, shared.get_dict, "__dict__(self, /)", get_dict);
  const Value set = shared_function(in, shared.set_dict, "__dict__(self, value, /)", set_dict);
  const Value del = shared_function(in, shared.delete_dict, "__dict__(self, /)", delete_dict);
  add(in, type, in.names->dict_, get, set, del, "dictionary for instance variables (if defined)");
}

void add_instance_weakref(Interpreter& in, Type* type) {
  const Value get = shared_function(in, in.shared->get_weakref, "__weakref__(self, /)", get_weakref);
  add(in, type, in.names->weakref, get, Value::none(), Value::none(), "list of weak references to the object (if defined)");
}

}  // namespace tessera::lang
