#include "lang/objects/attribute.h"

#include "lang/builtins/builtins.h"
#include "lang/compiler/chunk.h"
#include "lang/core/failure.h"
#include "lang/objects/attribute_kinds.h"
#include "lang/objects/attribute_reads.h"
#include "lang/objects/class.h"
#include "lang/objects/library_method.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/core/make_object.h"
#include "lang/objects/module.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/type_docs.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

Str* interned(Interpreter& in, Str* name) { return (name->flags & kInterned) ? name : intern(in, name->view()); }

std::string text(const Str* s) { return std::string(s->view()); }

[[noreturn]] void property_lacks(Interpreter& in, const Property* property, const Value& object, const char* what) {
  if (property->type == in.types.member_descriptor) throw_error(ErrorKind::AttributeError, "readonly attribute");
  if (property->type == in.types.getset_descriptor) {
    throw_error(ErrorKind::AttributeError, "attribute %s of '%s' objects is not writable",
                quote(text_of(property->name)).c_str(), std::string(type_name(in, as_type(property->owner))).c_str());
  }
  std::string name = is_str(property->name) ? "property " + quote(text_of(property->name)) + " of '" : "property of '";
  throw_error(ErrorKind::AttributeError, "%s%s' object has no %s", name.c_str(),
              std::string(type_of(in, object)->qualname->view()).c_str(), what);
}

// A script class below a native descriptor that has its own __get__, __set__ or __delete__.
bool overrides(const Object* descriptor, const Str* name) {
  return (descriptor->type->type_flags & kScriptClass) && is_function(type_lookup(descriptor->type, name));
}

}  // namespace

// The value that a class's attribute has for an instance (Undefined: for the class itself).
Value bind_attribute(Interpreter& in, const Value& found, const Value& object, Type* owner) {
  if (!found.is_object()) return found;
  Object* descriptor = found.as_object();
  switch (descriptor->kind) {
    case ObjectKind::Function: return object.is_undefined() ? found : make_bound_method(in, found, object);
    case ObjectKind::NativeFunction:
      return object.is_undefined() || !known_cast<NativeFunction>(descriptor)->is_method()
                 ? found
                 : make_bound_method(in, found, object);
    case ObjectKind::StaticMethod: return known_cast<StaticMethod>(descriptor)->function;
    case ObjectKind::ClassMethod: {
      const Value& function = known_cast<ClassMethod>(descriptor)->function;
      const Value self(static_cast<Object*>(owner));
      if (function.is_object() && (function.as_object()->kind == ObjectKind::Function ||
                                   function.as_object()->kind == ObjectKind::NativeFunction)) {
        return make_bound_method(in, function, self);
      }
      in.vm().check_native_stack();  // classmethod(classmethod(…))
      const Value inner = bind_attribute(in, function, self, owner);
      return inner.is(function) && is_callable(in, inner) ? make_bound_method(in, inner, self) : inner;
    }
    case ObjectKind::Property: {
      if (overrides(descriptor, in.names->get)) break;
      if (object.is_undefined()) return found;
      const auto* property = known_cast<Property>(descriptor);
      if (property->get.is_none() || property->get.is_undefined()) property_lacks(in, property, object, "getter");
      return call(in, property->get, {object});
    }
    default: break;
  }
  if (descriptor->type->slots.descr_get != nullptr && !overrides(descriptor, in.names->get))
    return descriptor->type->slots.descr_get(in, found, object, owner);
  if (descriptor->type->type_flags & kScriptClass) {
    const Value getter = type_lookup(descriptor->type, in.names->get);
    if (!getter.is_undefined()) {
      // As CPython calls it: the one special method that is bound to nothing.
      return call(in, getter,
                  {found, object.is_undefined() ? Value::none() : object, Value(static_cast<Object*>(owner))});
    }
  }
  return found;
}

bool set_through_descriptor(Interpreter& in, const Value& found, const Value& object, const Value& value) {
  if (!found.is_object()) return false;
  Object* descriptor = found.as_object();
  if (descriptor->kind == ObjectKind::Property &&
      !overrides(descriptor, value.is_undefined() ? in.names->delete_ : in.names->set)) {
    const auto* property = known_cast<Property>(descriptor);
    const Value& function = value.is_undefined() ? property->del : property->set;
    if (function.is_none() || function.is_undefined())
      property_lacks(in, property, object, value.is_undefined() ? "deleter" : "setter");
    if (value.is_undefined()) call(in, function, {object});
    else call(in, function, {object, value});
    return true;
  }
  if (descriptor->type->slots.descr_set != nullptr &&
      !overrides(descriptor, value.is_undefined() ? in.names->delete_ : in.names->set)) {
    descriptor->type->slots.descr_set(in, found, object, value);
    return true;
  }
  if (!(descriptor->type->type_flags & kScriptClass)) return false;
  const Value setter = type_lookup(descriptor->type, value.is_undefined() ? in.names->delete_ : in.names->set);
  if (setter.is_undefined()) {
    if (!is_data_descriptor(in, found)) return false;
    throw_error(ErrorKind::AttributeError, "%s", value.is_undefined() ? "__delete__" : "__set__");
  }
  if (value.is_undefined()) call_special(in, setter, found, {object});
  else call_special(in, setter, found, {object, value});
  return true;
}

namespace {

Value type_tuple(Interpreter& in, const std::vector<Type*>& types) {
  std::vector<Value> values;
  for (Type* t : types) values.emplace_back(static_cast<Object*>(t));
  return make_tuple(in, values.data(), values.size());
}

Value own_or(Type* type, Str* name, Value otherwise) {
  const Value* own = dict_get_str(type->attributes(), name);
  return own != nullptr ? *own : otherwise;
}

// The attributes of classes that `type` has data descriptors for. Returns false for any other name; `found` stays Undefined
// if this class lacks the attribute.
bool type_special(Interpreter& in, Type* type, Str* name, Value& found) {
  const Names& n = *in.names;
  if (name == n.name) found = Value(static_cast<Object*>(type->name));
  else if (name == n.qualname) found = Value(static_cast<Object*>(type->qualname));
  else if (name == n.class_) found = Value(static_cast<Object*>(type->type));
  else if (name == n.bases) found = type_tuple(in, type->bases);
  else if (name == n.mro_) found = type_tuple(in, type->mro);
  else if (name == n.base_) found = type->bases.empty() ? Value::none() : Value(layout_base(type->bases));
  else if (name == n.dict_) found = make_mapping_proxy(in, Value(type->attributes()));
  else if (name == n.module) {
    found = own_or(type, name, Value(static_cast<Object*>(type->module)));
    // A native type may have the descriptor of its instances' __module__ under this name.
    if ((type->type_flags & kScriptClass) == 0 && !is_str(found)) found = Value(static_cast<Object*>(type->module));
  }
  else if (name == n.abstractmethods) found = type == in.types.type ? Value() : own_or(type, name, Value());
  else if (name == n.text_signature) found = Value::none();
  else if (name == n.doc) {
    const Value own = type == in.types.type ? make_str(in, builtin_type_doc("type")) : own_or(type, name, Value::none());
    found = bind_attribute(in, own, Value(), type);
  } else if (name == n.annotations) {
    if (!(type->type_flags & kScriptClass)) return true;
    found = own_or(type, name, Value());
    if (!found.is_undefined()) return true;
    found = make_dict(in);
    dict_set_str(in, type->attributes(), name, found);
    type_changed(in, type);  // the table of the class may be another one now
  } else {
    return false;
  }
  return true;
}

// The order of type.__getattribute__: a data descriptor of the metaclass, the class and its bases, the metaclass.
Value find_type_attribute(Interpreter& in, Type* type, Str* name) {
  Type* const meta = type->type;
  const Value self(static_cast<Object*>(type));
  Value in_meta;
  if (meta != in.types.type) {
    in_meta = type_lookup(meta, name);
    if (!in_meta.is_undefined() && is_read_first(in, in_meta)) return bind_attribute(in, in_meta, self, meta);
    if (name == in.names->class_) return Value(static_cast<Object*>(meta));
  } else if (is_dunder(name)) {
    if (Value special; type_special(in, type, name, special)) return special;
  }
  if (const Value& found = type_lookup(type, name); !found.is_undefined()) {
    if (type->type_flags & kSpeaksAsC) [[unlikely]]
      if (Value method = library_method(in, type, name, Value(found)); !method.is_undefined()) return method;
    return bind_attribute(in, Value(found), Value(), type);
  }
  if (meta == in.types.type) in_meta = type_lookup(meta, name);
  return in_meta.is_undefined() ? in_meta : bind_attribute(in, in_meta, self, meta);
}

// Instances of a class below ModuleType: its data descriptors come before what the module holds.
Value find_module_descriptor(Interpreter& in, Module& module, Str* name) {
  const Value in_class = type_lookup(module.type, name);
  if (in_class.is_undefined() || (name != in.names->dict_ && !is_read_first(in, in_class))) return Value();
  return bind_attribute(in, in_class, Value(static_cast<Object*>(&module)), module.type);
}

}  // namespace

Value find_module_attribute(Interpreter& in, Module& module, Str* name) {
  if (module.type != in.types.module) {
    Value found = find_module_descriptor(in, module, name);
    if (!found.is_undefined()) return found;
  }
  if (const Value* found = dict_get_str(module.dict, name)) return *found;
  if (name == in.names->dict_) {
    if (module.dict == in.vm().builtins()) complete_builtins(in);
    return Value(static_cast<Object*>(module.dict));
  }
  if (name == in.names->class_) return Value(static_cast<Object*>(module.type));
  if (module.missing != nullptr) {
    Value made = module.missing(in, module, name);
    if (!made.is_undefined()) {
      dict_set_str(in, module.dict, name, made);
      return made;
    }
  }
  const Value& in_class = type_lookup(module.type, name);
  if (!in_class.is_undefined())
    return bind_attribute(in, Value(in_class), Value(static_cast<Object*>(&module)), module.type);
  if (const Value* hook = dict_get_str(module.dict, in.names->getattr)) {
    const Value function = *hook;
    return call(in, function, {Value(static_cast<Object*>(name))});
  }
  return Value();
}

namespace {

Value missing_attribute(Interpreter& in, const Value& object, Str* name) {
  const auto error = [&](std::string_view before, std::string_view owner, std::string_view after) {
    return make_attribute_error(in, object, name, {before, owner, after, " has no attribute '", name->view(), "'"});
  };
  if (is_type(object)) return error("type object '", as_type(object)->name->view(), "'");
  if (object.is_object() && object.as_object()->kind == ObjectKind::Module) {
    const Module* const module = object_cast<Module>(object);
    const Value* const called = dict_get_str(module->dict, in.names->name);
    if (module->aux != 0 && called != nullptr && is_str(*called))  // its body runs
      return make_attribute_error(in, object, name, {"partially initialized module '", text_of(*called), "' has no attribute '",
                                                     name->view(), "' (most likely due to a circular import)"});
    return called != nullptr && is_str(*called) ? error("module '", text_of(*called), "'") : error("module", "", "");
  }
  return error("'", type_name(in, object), "' object");
}

[[noreturn]] void no_attribute(Interpreter& in, const Value& object, Str* name) {
  Value error = missing_attribute(in, object, name);
  set_context(in, as_exception(error));
  throw Thrown(std::move(error));
}

bool is_attribute_error(Interpreter& in, const Value& exception) {
  return is_error(in, exception, ErrorKind::AttributeError);
}

}  // namespace

Value type_attribute(Interpreter& in, Type* type, Str* name) { return find_type_attribute(in, type, name); }
Value type_descriptor_value(Interpreter& in, Type* type, Str* name) {
  Value found;
  type_special(in, type, name, found);
  return found;
}

namespace {

// Everything before __getattr__. `rest` is what stands in the class.
Value find_before_hook(Interpreter& in, const Value& object, Str* name) {
  Type* type = type_of(in, object);
  if (type->type_flags & kHasGetAttribute) {
    return call_special(in, type_lookup(type, in.names->getattribute), object, {Value(static_cast<Object*>(name))});
  }
  if (type->slots.get_attr != nullptr) {
    Value found = type->slots.get_attr(in, object, name);
    if (!found.is_undefined()) return found;
  }
  if (is_type(object)) {
    return find_type_attribute(in, as_type(object), name);
  }
  if (object.is_object() && object.as_object()->kind == ObjectKind::Module) {
    return find_module_attribute(in, *object_cast<Module>(object), name);
  }
  return generic_find_attr(in, object, name);
}

}  // namespace

// ---- Reading ---------------------------------------------------------------------------------------------------------

// The dict that a class, a module or an object with a dict aside keeps its attributes in; null for any other object.
static Dict* dict_of_holder(const Value& object) {
  if (!object.is_object()) return nullptr;
  if (object.as_object()->flags & kHasDictAside) return dict_aside(object.as_object());
  if (object.as_object()->kind == ObjectKind::Type) return object_cast<Type>(object)->attributes();
  return object.as_object()->kind == ObjectKind::Module ? object_cast<Module>(object)->dict : nullptr;
}

// The attribute of this name in the object's own attributes (an instance's, a class's or a module's dict), or null.
static const Value* find_held(const Value& object, const Type* type, Str* name) {
  if (object.is_object() && type->attributes_offset != 0) return find_own_attribute(object.as_object(), name);
  Dict* const dict = dict_of_holder(object);
  return dict != nullptr ? dict_get_str(dict, name) : nullptr;
}

Value generic_find_attr(Interpreter& in, const Value& object, Str* name) {
  Type* type = type_of(in, object);
  const Value& found = type_lookup(type, name);
  if (found.is_undefined()) {
    if (const Value* const held = find_held(object, type, name)) return *held;
    // Native types have their module in no dict; instances of those outside of builtins show it all the same.
    return name == in.names->module && type->module != in.names->builtins ? find_type_attribute(in, type, name) : Value();
  }
  const Value in_class = found;
  if (!is_read_first(in, in_class)) {
    if (const Value* const held = find_held(object, type, name)) return *held;
  }
  return bind_attribute(in, in_class, object, type);
}

bool has_only_own_attribute(Interpreter& in, const Value& object, Str* name, const Value*& own) {
  if (!object.is_object() || object.as_object()->kind != ObjectKind::Instance) return false;
  const Type* const type = object.as_object()->type;
  if ((type->type_flags & (kHasGetAttrHook | kHasGetAttribute)) || type->slots.get_attr != nullptr ||
      type->attributes_offset == 0 || name == in.names->module || !type_lookup(type, name).is_undefined())
    return false;
  own = find_own_attribute(object.as_object(), name);
  return true;
}

namespace {

// The answer of a script's method or getter, Undefined where that raises an AttributeError, which becomes `error`.
Value without_attribute_error(Interpreter& in, Value answer, Value& error) {
  if (!is_failure(answer)) return answer;
  Value exception = take_failure(answer);
  if (!is_attribute_error(in, exception)) throw Thrown(std::move(exception));
  error = std::move(exception);
  return Value();
}

// find_before_hook where an AttributeError, of a property or of __getattribute__, means that the attribute is missing.
Value find_quietly(Interpreter& in, const Value& object, Str* name) {
  const Type* const type = type_of(in, object);
  Value error;
  try {
    if (!(type->type_flags & kHasGetAttribute) && type->slots.get_attr == nullptr && !is_type(object)) {
      const Value& found = type_lookup(type, name);
      if (found.is_object() && found.as_object()->type == in.types.property) {
        const Value getter = known_cast<Property>(found)->get;
        if (is_function(getter))
          return without_attribute_error(in, in.vm().call_function_answer(as_function(getter), object, Args{}), error);
      }
    }
    return find_before_hook(in, object, name);
  } catch (const Error& thrown) {
    if (thrown.kind != ErrorKind::AttributeError) throw;
  } catch (const Thrown& thrown) {
    if (!is_attribute_error(in, thrown.exception)) throw;
  }
  return Value();
}

// The value that the __getattr__ of the object's class returns. Undefined: the hook raised an AttributeError, which becomes `error`.
Value call_hook(Interpreter& in, const Value& object, Str* name, Value& error) {
  const Value hook = type_lookup(type_of(in, object), in.names->getattr);
  const Value argument(name);
  if (is_function(hook))
    return without_attribute_error(in, in.vm().call_function_answer(as_function(hook), object, Args{&argument, 1}), error);
  try {
    return call_special(in, hook, object, {argument});
  } catch (const Error& thrown) {
    if (thrown.kind != ErrorKind::AttributeError) throw;
    error = exception_of(in, thrown);
  } catch (const Thrown& thrown) {
    if (!is_attribute_error(in, thrown.exception)) throw;
    error = thrown.exception;
  }
  return Value();
}

}  // namespace

Value find_attr(Interpreter& in, const Value& object, Str* name) {
  name = interned(in, name);
  if (const Value* own; has_only_own_attribute(in, object, name, own)) return own != nullptr ? *own : Value();
  Value found = find_quietly(in, object, name);
  if (!found.is_undefined() || !(type_of(in, object)->type_flags & kHasGetAttrHook)) return found;
  Value error;
  return call_hook(in, object, name, error);
}

namespace {

// With __getattr__: also when a property or __getattribute__ raised AttributeError. Undefined: nothing has the attribute, as `error` says.
Value get_with_hook(Interpreter& in, const Value& object, Str* name, Value& error) {
  Value found = find_quietly(in, object, name);
  if (!found.is_undefined()) return found;
  found = call_hook(in, object, name, error);
  if (error.is_object()) {
    // If a __getattr__ raises an AttributeError without name and object, fill them in, as CPython does: suggestions need them.
    Value* const fields = as_exception(error)->fields;
    if (!fields[0].is_object() && !fields[1].is_object()) fields[0] = Value(name), fields[1] = object;
  }
  return found;
}

}  // namespace

Value get_attr(Interpreter& in, const Value& object, Str* name) {
  name = interned(in, name);
  if (const Value* own; has_only_own_attribute(in, object, name, own) && own != nullptr) return *own;
  if (type_of(in, object)->type_flags & kHasGetAttrHook) {
    Value error;
    Value found = get_with_hook(in, object, name, error);
    if (found.is_undefined()) throw Thrown(std::move(error));
    return found;
  }
  Value found = find_before_hook(in, object, name);
  if (found.is_undefined()) no_attribute(in, object, name);
  return found;
}

Value get_attr_or_error(Interpreter& in, const Value& object, Str* name, Value& error) {
  if (type_of(in, object)->type_flags & kHasGetAttrHook) return get_with_hook(in, object, name, error);
  Value found = find_before_hook(in, object, name);
  if (found.is_undefined()) error = missing_attribute(in, object, name);
  return found;
}

// ---- Writing ---------------------------------------------------------------------------------------------------------

void generic_set_attr(Interpreter& in, const Value& object, Str* name, const Value& value) {
  Type* type = type_of(in, object);
  const Value in_class = type_lookup(type, name);
  if (!in_class.is_undefined() && set_through_descriptor(in, in_class, object, value)) return;
  const bool has_dict = object.is_object() && type->attributes_offset != 0 && !(type->type_flags & kHasSlots);
  if ((type->type_flags & kKeepsDictAside) && !value.is_undefined())
    return dict_set_str(in, attributes_dict(in, object.as_object()), name, value);
  if (Dict* const dict = has_dict ? nullptr : dict_of_holder(object)) {
    if (is_type(object)) return set_type_attribute(in, as_type(object), name, value);
    if (name == in.names->dict_) throw_error(ErrorKind::AttributeError, "readonly attribute");
    if (!value.is_undefined()) return dict_set_str(in, dict, name, value);
    if (!dict_delete_str(in, dict, name))
      throw_attribute_error(in, object, name, "'" + std::string(type_name(in, object)) + "' object has no attribute '" + text(name) + "'");
    return;
  }
  if (has_dict) {
    if (!value.is_undefined()) return set_own_attribute(in, object.as_object(), name, value);
    if (delete_own_attribute(in, object.as_object(), name)) return;
    if (in_class.is_undefined()) no_attribute(in, object, name);
    throw_attribute_error(in, object, name, "'" + std::string(type_name(in, object)) + "' object has no attribute '" + text(name) + "'");
  }
  if (in_class.is_undefined()) no_attribute(in, object, name);
  throw_attribute_error(
      in, object, name,
      "'" + std::string(type_name(in, object)) + "' object attribute '" + text(name) + "' is read-only");
}

namespace {

// type.__setattr__: a data descriptor of the metaclass that is none of type's own, or the class's dict.
void set_class_attr(Interpreter& in, Type* type, Str* name, const Value& value) {
  if (name == in.names->class_) return set_class(in, Value(type), value);
  if (type->type != in.types.type) {
    const Value in_meta = type_lookup(type->type, name);
    const bool own = !in_meta.is_undefined() && !in_meta.is(type_lookup(in.types.type, name));
    if (own && set_through_descriptor(in, in_meta, Value(type), value)) return;
  }
  set_type_attribute(in, type, name, value);
}

}  // namespace

void set_attribute_of_type(Interpreter& in, Type* type, Str* name, const Value& value) {
  set_class_attr(in, type, name, value);
}

namespace {

void set_any(Interpreter& in, const Value& object, Str* name, const Value& value) {
  Type* type = type_of(in, object);
  if (type->type_flags & kHasSetAttrHook) {
    const Value hook = type_lookup(type, value.is_undefined() ? in.names->delattr : in.names->setattr);
    if (!is_native_method(hook)) {
      if (value.is_undefined()) call_special(in, hook, object, {Value(static_cast<Object*>(name))});
      else call_special(in, hook, object, {Value(static_cast<Object*>(name)), value});
      return;
    }
  }
  if (type->slots.set_attr != nullptr) return type->slots.set_attr(in, object, name, value);
  if (is_type(object)) return set_class_attr(in, as_type(object), name, value);
  generic_set_attr(in, object, name, value);
}

}  // namespace

void set_attr(Interpreter& in, const Value& object, Str* name, const Value& value) {
  set_any(in, object, interned(in, name), value);
}

void del_attr(Interpreter& in, const Value& object, Str* name) { set_any(in, object, interned(in, name), Value()); }

}  // namespace tessera::lang
