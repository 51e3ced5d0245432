#include "lang/objects/attribute.h"
#include "lang/core/object_cast.h"
#include "lang/objects/attribute_reads.h"

#include <algorithm>

#include "lang/builtins/builtins.h"
#include "lang/compiler/chunk.h"
#include "lang/core/failure.h"
#include "lang/objects/class.h"
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

bool is_dunder(const Str* name) { return name->size > 4 && name->data[0] == '_' && name->data[1] == '_'; }
std::string text(const Str* s) { return std::string(s->view()); }

bool defines(const Value& object, Str* name) { return !type_lookup(object.as_object()->type, name).is_undefined(); }

bool is_method(const Value& v) { return is_function(v) || is_native_method(v); }

// Wins over the instance's own attributes.
bool is_data_descriptor(Interpreter& in, const Value& v) {
  if (!v.is_object()) return false;
  const Object* object = v.as_object();
  if (object->kind == ObjectKind::Property) return true;
  if (object->type->slots.descr_set != nullptr) return true;
  return (object->type->type_flags & kScriptClass) && (defines(v, in.names->set) || defines(v, in.names->delete_));
}

// No descriptor: what a class has under this name is what its instances get.
bool is_plain_value(Interpreter& in, const Value& v) {
  if (!v.is_object()) return true;
  const Object* object = v.as_object();
  switch (object->kind) {
    case ObjectKind::Function:
    case ObjectKind::NativeFunction:
    case ObjectKind::StaticMethod:
    case ObjectKind::ClassMethod:
    case ObjectKind::Property: return false;
    default: break;
  }
  if (object->type->slots.descr_get != nullptr) return false;
  return !(object->type->type_flags & kScriptClass) || !defines(v, in.names->get);
}

// A data descriptor without __get__ is read only where the instance has no attribute of the name.
bool is_read_first(Interpreter& in, const Value& v) { return is_data_descriptor(in, v) && !is_plain_value(in, v); }

bool is_slot_member(const Value& v) {
  if (!v.is_object()) return false;
  const Object* object = v.as_object();
  return object->kind == ObjectKind::Other && object->type == object->type->owner->types.member_descriptor;
}

[[noreturn]] void property_lacks(Interpreter& in, const Property* property, const Value& object, const char* what) {
  if (property->type == in.types.member_descriptor) throw_error(ErrorKind::AttributeError, "readonly attribute");
  if (property->type == in.types.getset_descriptor) {
    throw_error(ErrorKind::AttributeError, "attribute %s of '%s' objects is not writable",
                quote(text_of(property->name)).c_str(), text(as_type(property->owner)->name).c_str());
  }
  std::string name = is_str(property->name) ? "property " + quote(text_of(property->name)) + " of '" : "property of '";
  throw_error(ErrorKind::AttributeError, "%s%s' object has no %s", name.c_str(),
              std::string(type_of(in, object)->qualname->view()).c_str(), what);
}

}  // namespace

namespace {

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

uint32_t key_place(const Type* type, const Str* name) {
  const auto& keys = type->instance_keys;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == name) return static_cast<uint32_t>(i);
  }
  return static_cast<uint32_t>(keys.size());
}

}  // namespace

// ---- Types -----------------------------------------------------------------------------------------------------------

// Without memory for more it goes on with what it has.
void TypeCache::grow() noexcept {
  remembered_ = 0;
  const uint32_t size = 4 * (mask_ + 1);
  std::unique_ptr<Entry[]> larger(new (std::nothrow) Entry[size]());
  if (larger == nullptr) return;
  entries_ = std::move(larger);
  mask_ = size - 1;
}

namespace {

const Value kMissing;

// Looks `name` up in the dicts of the type's classes, and remembers it.
[[gnu::noinline]] const Value& look_up(const Type* type, const Str* name) {
  Interpreter& in = *type->owner;
  const Value* found = nullptr;
  for (Type* base : type->mro) {
    found = dict_get_str(base->attributes(), const_cast<Str*>(name));
    if (found != nullptr) break;
  }
  if (found == nullptr) found = &kMissing;
  if ((name->flags & kInterned) && type->version != kForgotten) {
    // Not `entry`: filling a type may have looked something up.
    TypeCache& cache = in.type_cache();
    cache.remember(cache.entry(type->version, name), {type->version, name, found});
  }
  return *found;
}

}  // namespace

const Value& type_lookup(const Type* type, const Str* name) {
  const uint32_t version = type->version;
  const TypeCache::Entry& entry = type->owner->type_cache().entry(version, name);
  if (entry.version == version && entry.name == name) [[likely]]
    return *entry.value;
  return look_up(type, name);
}

bool Type::is_subtype_of(const Type* other) const noexcept {
  if (this == other) return true;
  for (const Type* base : mro) {
    if (base == other) return true;
  }
  return false;
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
  if (const Value& found = type_lookup(type, name); !found.is_undefined())
    return bind_attribute(in, Value(found), Value(), type);
  if (meta == in.types.type) in_meta = type_lookup(meta, name);
  return in_meta.is_undefined() ? in_meta : bind_attribute(in, in_meta, self, meta);
}

// Instances of a class below ModuleType: its data descriptors come before what the module holds.
Value find_module_descriptor(Interpreter& in, Module& module, Str* name) {
  const Value in_class = type_lookup(module.type, name);
  if (in_class.is_undefined() || (name != in.names->dict_ && !is_read_first(in, in_class))) return Value();
  return bind_attribute(in, in_class, Value(static_cast<Object*>(&module)), module.type);
}

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

Value missing_attribute(Interpreter& in, const Value& object, Str* name) {
  const auto error = [&](std::string_view before, std::string_view owner, std::string_view after) {
    return make_attribute_error(in, object, name, {before, owner, after, " has no attribute '", name->view(), "'"});
  };
  if (is_type(object)) return error("type object '", as_type(object)->name->view(), "'");
  if (object.is_object() && object.as_object()->kind == ObjectKind::Module) {
    const Value* const called = dict_get_str(object_cast<Module>(object)->dict, in.names->name);
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

// The dict that a class or a module keeps its attributes in; null for any other object.
static Dict* dict_of_holder(const Value& object) {
  if (!object.is_object()) return nullptr;
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

namespace {

bool may_cache(Interpreter& in, const Value& object) {
  const Type* const type = type_of(in, object);
  return type->slots.get_attr == nullptr && !(type->type_flags & kHasGetAttribute) &&
         (!object.is_object() ||
          (object.as_object()->kind != ObjectKind::Type && object.as_object()->kind != ObjectKind::Module));
}

// Notes where the attribute stands, when that is a place that stays.
void fill_site(Interpreter& in, const Value& holder, Str* name, AttributeSite& site) {
  Type* const type = type_of(in, holder);
  Object* const object = holder.as_object();  // only read where the type has attributes: an immediate's type has none
  site.kind = AttributeSite::Kind::Empty;
  if (type->version == kForgotten) return;
  const Value& in_class = type_lookup(type, name);
  const bool has_own = type->attributes_offset != 0 && attributes_of(object).dict == nullptr;
  const uint32_t place = key_place(type, name);
  if (has_own && place < attributes_of(object).count && !attributes_of(object).values[place].is_undefined()) {
    if (!in_class.is_undefined() && is_data_descriptor(in, in_class) && !is_slot_member(in_class)) return;
    site = {type->version, AttributeSite::Kind::Slot, place, nullptr};
    return;
  }
  if (in_class.is_undefined()) return;
  if (in_class.is_object() && in_class.as_object()->kind == ObjectKind::Property) {
    const Value& getter = object_cast<Property>(in_class)->get;
    // With __getattr__ an AttributeError of the getter is caught: that is no plain call.
    const bool plain = !(in_class.as_object()->type->type_flags & kScriptClass) && !(type->type_flags & kHasGetAttrHook);
    const bool known =
        is_function(getter) || (getter.is_object() && getter.as_object()->kind == ObjectKind::NativeFunction);
    if (plain && known) site = {type->version, AttributeSite::Kind::Getter, 0, &getter};
    return;
  }
  if (type->attributes_offset != 0 && !has_own) return;
  if (is_method(in_class)) site = {type->version, AttributeSite::Kind::Method, place, &in_class};
  else if (in_class.is_object() && in_class.as_object()->type == in.types.static_method)
    site = {type->version, AttributeSite::Kind::ClassValue, place,
            &object_cast<StaticMethod>(in_class)->function};
  else if (is_plain_value(in, in_class)) site = {type->version, AttributeSite::Kind::ClassValue, place, &in_class};
}

// The attribute of a class, for `Class.name`: with no hook, and found in the class or its bases as what it is.
const Value* find_class_value(Interpreter& in, Type* type, Str* name) {
  Type* const meta = type->type;
  if (is_dunder(name) || meta->slots.get_attr != nullptr || (meta->type_flags & kHasGetAttribute)) return nullptr;
  if (meta != in.types.type) {
    const Value& in_meta = type_lookup(meta, name);
    if (!in_meta.is_undefined() && is_data_descriptor(in, in_meta)) return nullptr;
    meta->type_flags |= kClassesCached;
  }
  const Value& found = type_lookup(type, name);
  if (found.is_undefined()) return nullptr;
  if (found.is_object() && found.as_object()->kind == ObjectKind::StaticMethod)
    return &object_cast<StaticMethod>(found)->function;
  const bool is_function = found.is_object() && (found.as_object()->kind == ObjectKind::Function ||
                                                 found.as_object()->kind == ObjectKind::NativeFunction);
  return is_function || is_plain_value(in, found) ? &found : nullptr;
}

}  // namespace

// The function of a classmethod that `Class.name(…)` calls with the class in front, or null.
static const Value* find_class_method(Interpreter& in, const Value& object, Str* name) {
  if (!is_type(object)) return nullptr;
  Type* const type = as_type(object);
  const Value& found = type_lookup(type, name);
  if (!found.is_object() || found.as_object()->type != in.types.class_method) return nullptr;
  const Value& function = known_cast<ClassMethod>(found)->function;
  if (!is_function(function) || is_dunder(name)) return nullptr;
  const Type* const meta = type->type;
  const bool plain = meta == in.types.type || (meta->slots.get_attr == nullptr && !(meta->type_flags & kHasGetAttribute) &&
                                               type_lookup(meta, name).is_undefined());
  return plain ? &function : nullptr;
}

const Value* value_at_site(Object* object, const Str* name, const AttributeSite& site) {
  switch (site.kind) {
    case AttributeSite::Kind::ClassValue:
      if (site.version != object->type->version) return nullptr;
      if (object->type->attributes_offset == 0) return site.value;
      return site.index >= attributes_of(object).count && attributes_of(object).dict == nullptr ? site.value : nullptr;
    case AttributeSite::Kind::OfClass:
      return object->kind == ObjectKind::Type && known_cast<Type>(object)->version == site.version ? site.value
                                                                                                     : nullptr;
    case AttributeSite::Kind::OfModule: {
      if (object->kind != ObjectKind::Module || (object->type->type_flags & kScriptClass)) return nullptr;
      const Dict* dict = known_cast<Module>(object)->dict;
      return dict_entry_is(dict, site.index, name) ? &dict->entries[site.index].value : nullptr;
    }
    default: return nullptr;
  }
}

namespace {

// Attributes of classes and modules: they stand in dicts of their own, whatever the type of the class says.
void fill_holder_site(Interpreter& in, Object* object, Str* name, AttributeSite& site) {
  site.kind = AttributeSite::Kind::Empty;
  if (object->kind == ObjectKind::Type) {
    Type* type = known_cast<Type>(object);
    if (type->version == kForgotten) return;
    if (const Value* value = find_class_value(in, type, name)) {
      site = {type->version, AttributeSite::Kind::OfClass, 0, value};
    }
  } else if (object->type->slots.get_attr == nullptr && object->type == in.types.module) {
    const int32_t at = dict_find_str(known_cast<Module>(object)->dict, name);
    if (at != kNoEntry) site = {0, AttributeSite::Kind::OfModule, static_cast<uint32_t>(at), nullptr};
  }
}

bool is_class_or_module(const Value& object) {
  return object.is_object() &&
         (object.as_object()->kind == ObjectKind::Type || object.as_object()->kind == ObjectKind::Module);
}

}  // namespace

namespace {

// The attribute that the site remembers of this object, or null: then the site is filled.
const Value* from_site_or_fill(Interpreter& in, const Value& object, Str* name, AttributeSite& site) {
  if (!object.is_object()) return nullptr;
  if (const Value* known = value_at_site(object.as_object(), name, site)) return known;
  if (is_class_or_module(object)) fill_holder_site(in, object.as_object(), name, site);
  else if (may_cache(in, object)) fill_site(in, object, name, site);
  return nullptr;
}

}  // namespace

Value get_attr(Interpreter& in, const Value& object, Str* name, AttributeSite& site) {
  if (const Value* known = from_site_or_fill(in, object, name, site)) return *known;
  return get_attr(in, object, name);
}

Value get_attr_or_error(Interpreter& in, const Value& object, Str* name, AttributeSite& site, Value& error) {
  if (const Value* known = from_site_or_fill(in, object, name, site)) return *known;
  return get_attr_or_error(in, object, name, error);
}

Value get_method(Interpreter& in, const Value& object, Str* name, AttributeSite& site, bool& bound) {
  Value error;
  Value method = get_method_or_error(in, object, name, site, bound, error);
  if (method.is_undefined()) throw Thrown(std::move(error));
  return method;
}

Value get_method_or_error(Interpreter& in, const Value& object, Str* name, AttributeSite& site, bool& bound, Value& error) {
  bound = false;
  if (is_class_or_module(object)) {
    const Value* const of_class = find_class_method(in, object, name);
    if (of_class == nullptr) return get_attr_or_error(in, object, name, site, error);
    bound = true;
    return *of_class;
  }
  if (!may_cache(in, object)) return get_attr_or_error(in, object, name, error);
  Type* type = type_of(in, object);
  const Value& in_class = type_lookup(type, name);
  if (!is_method(in_class)) return get_attr_or_error(in, object, name, site, error);
  if (type->attributes_offset != 0 && find_own_attribute(object.as_object(), name) != nullptr)
    return get_attr_or_error(in, object, name, site, error);
  fill_site(in, object, name, site);
  bound = true;
  return in_class;
}

namespace {

// The names of all __slots__ that an instance has, in a fixed order.
std::vector<const Str*> slot_names(const Type* type) {
  std::vector<const Str*> names;
  for (Type* base : type->mro) {
    dict_for_each(base->attributes(), [&](const Value& key, const Value& value) {
      if (is_slot_member(value)) names.push_back(as_str(key));
    });
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

bool same_layout(const Type* a, const Type* b) {
  return a->instance_kind == b->instance_kind && a->instance_size == b->instance_size && a->make == b->make &&
         a->attributes_offset == b->attributes_offset && (a->type_flags & kHasSlots) == (b->type_flags & kHasSlots) &&
         slot_names(a) == slot_names(b);
}

const char* layout_difference(const Type* a, const Type* b) {
  const auto is_plain = [](const Type* type) {
    return !(type->type_flags & kScriptClass) &&
           (type->instance_kind == ObjectKind::Boxed || type->instance_kind == ObjectKind::Str ||
            type->instance_kind == ObjectKind::Instance);
  };
  return is_plain(a) != is_plain(b) ? "deallocator" : "object layout";
}

// Classes that may be taken for one another: of scripts, or `module` itself.
static bool may_change(Interpreter& in, const Type* type) {
  return (type->type_flags & kScriptClass) || type == in.types.module;
}

void set_class(Interpreter& in, const Value& object, const Value& value) {
  if (value.is_undefined()) throw_error(ErrorKind::TypeError, "can't delete __class__ attribute");
  if (!is_type(value)) {
    throw_error(ErrorKind::TypeError, "__class__ must be set to a class, not '%s' object",
                std::string(type_name(in, value)).c_str());
  }
  Type* const to = as_type(value);
  Type* const from = type_of(in, object);
  if (!may_change(in, to) || !may_change(in, from)) {
    throw_error(ErrorKind::TypeError, "__class__ assignment only supported for mutable types or ModuleType subclasses");
  }
  if (!same_layout(from, to)) {
    throw_error(ErrorKind::TypeError, "__class__ assignment: '%s' %s differs from '%s'", text(to->name).c_str(),
                layout_difference(from, to), text(from->name).c_str());
  }
  to->structure = from->structure;  // it may have made no instance yet
  if (from->attributes_offset != 0) attributes_dict(in, object.as_object());  // an instance shares the keys of its class
  if (!(to->flags & kImmortal)) ++to->refcount;
  object.as_object()->type = to;
  if (!(from->flags & kImmortal)) const Value old = Value::adopt(from);
  if (is_type(object)) type_changed(in, as_type(object));
}

// ---- Writing ---------------------------------------------------------------------------------------------------------

void generic_set_attr(Interpreter& in, const Value& object, Str* name, const Value& value) {
  Type* type = type_of(in, object);
  const Value in_class = type_lookup(type, name);
  if (!in_class.is_undefined() && set_through_descriptor(in, in_class, object, value)) return;
  const bool has_dict = object.is_object() && type->attributes_offset != 0 && !(type->type_flags & kHasSlots);
  if (Dict* const dict = has_dict ? nullptr : dict_of_holder(object)) {
    if (is_type(object)) return set_type_attribute(in, as_type(object), name, value);
    if (name == in.names->dict_) throw_error(ErrorKind::AttributeError, "readonly attribute");
    if (!value.is_undefined()) return dict_set_str(in, dict, name, value);
    if (!dict_delete_str(in, dict, name)) no_attribute(in, object, name);
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

void set_attr(Interpreter& in, const Value& object, Str* name, const Value& value, AttributeSite& site) {
  if (site.kind == AttributeSite::Kind::Append && object.is_object()) {
    Object* const target = object.as_object();
    if (target->type->version == site.version && append_attribute(in, target, site.index, value)) return;
  }
  const bool writable = object.is_object() && may_cache(in, object) && object.as_object()->type->slots.set_attr == nullptr &&
                        !(object.as_object()->type->type_flags & kHasSetAttrHook);
  const uint32_t before = writable && object.as_object()->type->attributes_offset != 0
                              ? attributes_of(object.as_object()).count
                              : UINT32_MAX;
  const Value keep(object);
  set_any(in, object, name, value);
  site.kind = AttributeSite::Kind::Empty;
  if (!writable) return;
  fill_site(in, keep, name, site);
  if (site.kind != AttributeSite::Kind::Slot) site.kind = AttributeSite::Kind::Empty;
  // The first time of each object, as in __init__: the next one gets its attribute at the same place.
  else if (site.index == before) site.kind = AttributeSite::Kind::Append;
}

}  // namespace tessera::lang
