// property, staticmethod, classmethod and super.
// compile: few-inlines (no faster with more inlines)
#include "lang/compiler/chunk.h"
#include "lang/core/bind_maker.h"
#include "lang/core/bind.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

Value as_value(Object* object) { return Value(object); }
std::string name_of(const Type* type) { return std::string(type->name->view()); }

// An argument by place or by keyword; None when it is not given.

// ---- property --------------------------------------------------------------------------------------------------------

Property* property_of(const Args& args) { return object_cast<Property>(args[0]); }

// `type`: property, staticmethod or classmethod, or a class below it.
Value new_property(Interpreter& in, Type* type, const Value& get, const Value& set, const Value& del,
                   const Value& doc) {
  auto* property = make_object<Property>(in, type);
  property->get = get;
  property->set = set;
  property->del = del;
  property->doc = doc;
  return Value::adopt(property);
}

template <class T>
Value new_wrapper(Interpreter& in, Type* type, const Value& function) {
  auto* wrapper = make_object<T>(in, type);
  wrapper->function = function;
  return Value::adopt(wrapper);
}

// A class below that has an __init__ reads the arguments itself, and may call this one.
// The docstring of the getter is an attribute of an instance of a class below: the class has a `__doc__` of its own, which hides the member.
void keep_getter_doc(Interpreter& in, const Value& property, const Value& getter) {
  if (getter.is_none() || property.as_object()->type == in.types.property) return;
  const Value doc = find_attr(in, getter, in.names->doc);
  if (!doc.is_undefined() && !doc.is_none()) set_attr(in, property, in.names->doc, doc);
}

Value property_init(Interpreter& in, const Args& args) {
  auto* property = object_cast<Property>(args[0]);
  property->get = args[1], property->set = args[2], property->del = args[3], property->doc = args[4];
  if (args[4].is_none()) keep_getter_doc(in, args[0], args[1]);
  return Value::none();
}

Value property_make(Interpreter& in, Type* type, const Args& args) {
  if (is_function(type_lookup(type, in.names->init))) {
    const Value none = Value::none();
    return new_property(in, type, none, none, none, none);
  }
  Value parts[4];
  bind_maker(in, "property(fget=..., fset=..., fdel=..., doc=...)", args, parts);
  for (Value& part : parts)
    if (part.is_undefined()) part = Value::none();
  return new_property(in, type, parts[0], parts[1], parts[2], parts[3]);
}

Value property_with(Interpreter& in, const Args& args, Value Property::*part) {
  const Value keep = args[0];
  const Property* old = property_of(args);
  const auto chosen = [&](Value Property::*each) { return each == part && !args[1].is_none() ? args[1] : old->*each; };
  const Value values[] = {chosen(&Property::get), chosen(&Property::set), chosen(&Property::del), old->doc};
  const bool plain = old->type == in.types.property;  // a class below property makes its own kind
  Value made = plain ? make_property(in, values[0], values[1], values[2], values[3])
                     : call(in, Value(old->type), {values[0], values[1], values[2], values[3]});
  if (made.is_object() && made.as_object()->kind == ObjectKind::Property) object_cast<Property>(made)->name = old->name;
  return made;
}

Value property_getter(Interpreter& in, const Args& args) { return property_with(in, args, &Property::get); }
Value property_setter(Interpreter& in, const Args& args) { return property_with(in, args, &Property::set); }
Value property_deleter(Interpreter& in, const Args& args) { return property_with(in, args, &Property::del); }
// Of a __get__: neither an instance nor a class is given.
void refuse_nobody(const Args& args) {
  if (args[1].is_none() && args[2].is_none()) throw Error(ErrorKind::TypeError, "__get__(None, None) is invalid");
}

[[noreturn]] void lacks_part(Interpreter& in, const Property* property, const Value& object, const char* what) {
  const std::string name = is_str(property->name) ? " " + repr_text(in, property->name) : "";
  throw_error(ErrorKind::AttributeError, "property%s of '%s' object has no %s", name.c_str(),
              std::string(type_of(in, object)->qualname->view()).c_str(), what);
}

// Not by way of bind_attribute: a __get__ of a class below may be calling.
Value property_get(Interpreter& in, const Args& args) {
  const Property* property = property_of(args);
  refuse_nobody(args);
  if (args[1].is_none()) return args[0];
  if (property->get.is_none()) lacks_part(in, property, args[1], "getter");
  return call(in, property->get, {args[1]});
}

Value property_set(Interpreter& in, const Args& args) {
  const Property* property = property_of(args);
  if (property->set.is_none()) lacks_part(in, property, args[1], "setter");
  call(in, property->set, {args[1], args[2]});
  return Value::none();
}

Value property_delete(Interpreter& in, const Args& args) {
  const Property* property = property_of(args);
  if (!property->del.is_none()) call(in, property->del, {args[1]});
  else lacks_part(in, property, args[1], "deleter");
  return Value::none();
}

Value property_set_name(Interpreter&, const Args& args) {
  const uint32_t given = as_tuple(args[1])->size;
  if (given != 2) throw_error(ErrorKind::TypeError, "__set_name__() takes 2 positional arguments but %u were given", given);
  property_of(args)->name = as_tuple(args[1])->items[1];
  return Value::none();
}

Value property_set_doc(Interpreter&, const Args& args) {
  property_of(args)->doc = args[1];
  return Value::none();
}

Value property_doc(Interpreter& in, const Args& args) {
  in.vm().check_native_stack();  // the getter may be a property too, and so on
  const Property* property = property_of(args);
  if (!property->doc.is_none() && !property->doc.is_undefined()) return property->doc;
  const Value doc = property->get.is_none() ? Value() : find_attr(in, property->get, in.names->doc);
  return doc.is_undefined() ? Value::none() : doc;
}

Value is_abstract(Interpreter& in, const Value& function) {
  in.vm().check_native_stack();
  if (!function.is_object()) return Value::boolean(false);
  const Value mark = find_attr(in, function, in.names->isabstractmethod);
  return Value::boolean(!mark.is_undefined() && truth(in, mark));
}

Value property_abstract(Interpreter& in, const Args& args) {
  const Property* p = property_of(args);
  for (const Value* part : {&p->get, &p->set, &p->del}) {
    if (const Value answer = is_abstract(in, *part); answer.as_bool()) return answer;
  }
  return Value::boolean(false);
}

const NativeDef kPropertyMethods[] = {
    {"__init__(self, fget=None, fset=None, fdel=None, doc=None)", property_init},
    {"getter(self, fget, /)", property_getter},
    {"setter(self, fset, /)", property_setter},
    {"deleter(self, fdel, /)", property_deleter},
    {"__get__(self, instance, owner=None, /)", property_get},
    {"__set__(self, instance, value, /)", property_set},
    {"__delete__(self, instance, /)", property_delete},
    {"__set_name__(self, /, *args)", property_set_name},
};

// ---- staticmethod, classmethod ---------------------------------------------------------------------------------------

template <class T>
const Value& function_of(const Value& self) {
  return object_cast<T>(self)->function;
}

template <class T>
Value wrapper_attribute(Interpreter& in, const Value& self, Str* name) {
  const Names& n = *in.names;
  const Value& function = function_of<T>(self);
  if (const Value* own = find_own_attribute(self.as_object(), name)) return *own;
  if (name == n.func || name == n.wrapped) return function;
  in.vm().check_native_stack();  // the function may be a wrapper too, and so on
  if (name == n.isabstractmethod) return is_abstract(in, function);
  if (name == n.name || name == n.qualname || name == n.doc || name == n.module || name == n.annotations)
    return find_attr(in, function, name);
  return Value();
}

template <class T>
Value wrapper_get(Interpreter& in, const Args& args) {
  refuse_nobody(args);
  if (!args[2].is_none() && !is_type(args[2])) {  // nonsense, but allowed: classmethod(f).__get__(None, 1)() is f(1)
    const Value& function = function_of<T>(args[0]);
    return std::is_same_v<T, ClassMethod> ? make_bound_method(in, function, args[2]) : function;
  }
  Type* owner = args[2].is_none() ? type_of(in, args[1]) : as_type(args[2]);
  return bind_attribute(in, args[0], args[1].is_none() ? Value() : args[1], owner);
}

// The __dict__ shows the function's names, which are read from the function until somebody asks for the dict.
template <class T>
Value wrapper_dict(Interpreter& in, const Args& args) {
  const Names& n = *in.names;
  const Value dict(static_cast<Object*>(attributes_dict(in, args[0].as_object())));
  const Value function = function_of<T>(args[0]);
  for (Str* name : {n.module, n.name, n.qualname, n.doc, n.annotations}) {
    if (dict_get_str(as_dict(dict), name) != nullptr) continue;
    const Value found = function.is_undefined() ? Value() : find_attr(in, function, name);
    if (!found.is_undefined()) dict_set_str(in, as_dict(dict), name, found);
  }
  return dict;
}

template <class T>
Value wrapper_init(Interpreter&, const Args& args) {
  T* const wrapper = object_cast<T>(args[0]);
  const Value before = std::exchange(wrapper->function, args[1]);
  return Value::none();
}

template <class T>
void destroy_wrapper(Interpreter& in, Object* self) {
  free_object(in, known_cast<T>(self));
}
template <class T>
void traverse_wrapper(Object* self, Visitor& visitor) {
  visitor(known_cast<T>(self)->function);
}

template <class T>
void set_wrapper_attribute(Interpreter& in, const Value& self, Str* name, const Value& value) {
  const Names& n = *in.names;
  if (name == n.func || name == n.wrapped) throw_attribute_error(in, self, name, "readonly attribute");
  if (name == n.isabstractmethod)
    throw_attribute_error(in, self, name, "attribute '__isabstractmethod__' of '" + std::string(type_name(in, self)) + "' objects is not writable");
  generic_set_attr(in, self, name, value);
}

// A class below that has an __init__ of its own may take what it likes.
template <class T>
Value wrapper_make(Interpreter& in, Type* type, const Args& args) {
  if (is_function(type_lookup(type, in.names->init))) return new_wrapper<T>(in, type, Value::none());
  const char* name = std::is_same_v<T, ClassMethod> ? "classmethod" : "staticmethod";
  refuse_keywords(name, args);
  check_count(name, args, 1, 1);
  return new_wrapper<T>(in, type, args[0]);
}

template <class T>
void fill_wrapper(Interpreter& in, Type* type) {
  const NativeDef methods[] = {{"__init__(self, function, /)", wrapper_init<T>},
                               {"__get__(self, instance, owner=None, /)", wrapper_get<T>}};
  in.add_methods(type, methods, std::size(methods));
  in.add_property(type, "__dict__", wrapper_dict<T>);
}

template <class T>
Value wrapper_repr(Interpreter& in, const Value& self) {
  in.vm().check_native_stack();  // the function may be a wrapper too, and so on
  const char* const name = std::is_same_v<T, ClassMethod> ? "classmethod" : "staticmethod";
  const Value function = function_of<T>(self);
  return make_str(in, std::string("<") + name + "(" + (function.is_undefined() ? "NULL" : repr_text(in, function)) + ")>");
}

template <class T>
void become_wrapper(Type* type) {
  type->attributes_offset = sizeof(T);
  type->make = wrapper_make<T>;
  type->slots.destroy = destroy_wrapper<T>;
  type->slots.traverse = traverse_wrapper<T>;
  type->slots.get_attr = wrapper_attribute<T>;
  type->slots.set_attr = set_wrapper_attribute<T>;
  type->slots.repr = wrapper_repr<T>;
  type->fill_later(fill_wrapper<T>);
}

// ---- super -----------------------------------------------------------------------------------------------------------

Value adopt_type(Type* type) { return type == nullptr ? Value() : Value::adopt(type); }

Super* super_of(const Value& v) { return object_cast<Super>(v); }

Value super_attribute(Interpreter& in, const Value& self, Str* name) {
  const Super* super = super_of(self);
  if (name == in.names->class_) return Value();
  if (super->self_type == nullptr) return Value();
  const auto& mro = super->self_type->mro;
  size_t i = 0;
  while (i < mro.size() && mro[i] != super->start) ++i;
  for (++i; i < mro.size(); ++i) {
    const Value* found = dict_get_str(mro[i]->attributes(), name);
    if (found == nullptr) continue;
    const bool of_class = is_type(super->self) && as_type(super->self) == super->self_type;
    return bind_attribute(in, Value(*found), of_class ? Value() : super->self, super->self_type);
  }
  return Value();
}

Value super_repr(Interpreter& in, const Value& self) {
  const Super* super = super_of(self);
  const std::string start = super->start == nullptr ? "NULL" : name_of(super->start);
  if (super->self_type == nullptr) return make_str(in, "<super: <class '" + start + "'>, NULL>");
  return make_str(in, "<super: <class '" + start + "'>, <" + name_of(super->self_type) + " object>>");
}

// The type in whose MRO super(start, self) searches. A proxy that names another class in __class__ passes for an instance of it.
Type* searched_type(Interpreter& in, Type* start, const Value& self) {
  if (is_type(self) && as_type(self)->is_subtype_of(start)) return as_type(self);
  Type* const type = type_of(in, self);
  if (type->is_subtype_of(start)) return type;
  const Value claimed = find_attr(in, self, in.names->class_);
  if (is_type(claimed) && as_type(claimed)->is_subtype_of(start)) return as_type(claimed);
  throw_error(ErrorKind::TypeError, "super(type, obj): obj must be an instance or subtype of type");
}

// `self` None: the super object waits for an instance. Found in a class, it is bound as a method is.
void set_super(Interpreter& in, Super* super, Type* start, const Value& self) {
  Type* const self_type = self.is_none() ? nullptr : searched_type(in, start, self);
  ++start->refcount;
  if (self_type != nullptr) ++self_type->refcount;
  const Value old_start = adopt_type(std::exchange(super->start, start));
  const Value old_type = adopt_type(std::exchange(super->self_type, self_type));
  const Value old_self = std::exchange(super->self, self);
}

Super* new_super(Interpreter& in, Type* type) {
  auto* super = make_object<Super>(in, type);
  super->start = super->self_type = nullptr;
  super->self = Value::none();
  return super;
}

void fill_super_object(Interpreter& in, Super* super, const Value* values, uint32_t count) {
  if (count == 0) throw_error(ErrorKind::RuntimeError, "super(): no arguments");
  if (count > 2) throw_error(ErrorKind::TypeError, "super() expected at most 2 arguments, got %u", count);
  if (!is_type(values[0])) {
    throw_error(ErrorKind::TypeError, "super() argument 1 must be a type, not %s",
                std::string(type_name(in, values[0])).c_str());
  }
  set_super(in, super, as_type(values[0]), count == 1 ? Value::none() : values[1]);
}

Value super_init(Interpreter& in, const Args& args) {
  fill_super_object(in, super_of(args[0]), as_tuple(args[1])->items, as_tuple(args[1])->size);
  return Value::none();
}

Value super_make(Interpreter& in, Type* type, const Args& args) {
  const Value made = Value::adopt(new_super(in, type));
  if (is_function(type_lookup(type, in.names->init))) return made;  // which calls super.__init__ itself
  refuse_keywords("super", args);
  fill_super_object(in, super_of(made), args.values, args.count);
  return made;
}

void destroy_super(Interpreter& in, Object* self) {
  auto* super = known_cast<Super>(self);
  const Value start = adopt_type(super->start);
  const Value type = adopt_type(super->self_type);
  free_object(in, super);
}

void traverse_super(Object* self, Visitor& visitor) {
  auto* super = known_cast<Super>(self);
  if (super->start != nullptr) visitor(super->start);
  if (super->self_type != nullptr) visitor(super->self_type);
  visitor(super->self);
}

void destroy_property(Interpreter& in, Object* self) { free_object(in, known_cast<Property>(self)); }
void traverse_property(Object* self, Visitor& visitor) {
  auto* p = known_cast<Property>(self);
  for (const Value* v : {&p->get, &p->set, &p->del, &p->doc, &p->owner}) visitor(*v);
}

Value static_call(Interpreter& in, const Value& self, const Args& args) {
  return call(in, function_of<StaticMethod>(self), args);
}

void fill_descriptor_slots(Interpreter& in) {
  BuiltinTypes& t = in.types;
  t.property->make = property_make;
  t.property->slots.destroy = destroy_property;
  t.property->slots.traverse = traverse_property;
  become_wrapper<StaticMethod>(t.static_method);
  become_wrapper<ClassMethod>(t.class_method);
  t.static_method->slots.call = static_call;
  t.static_method->slots.repr = [](Interpreter& in2, const Value& self) {
    return make_str(in2, "<staticmethod(" + repr_text(in2, function_of<StaticMethod>(self)) + ")>");
  };
  t.class_method->slots.repr = [](Interpreter& in2, const Value& self) {
    return make_str(in2, "<classmethod(" + repr_text(in2, function_of<ClassMethod>(self)) + ")>");
  };
  t.super->make = super_make;
  t.super->slots.destroy = destroy_super;
  t.super->slots.traverse = traverse_super;
  t.super->slots.get_attr = super_attribute;
  t.super->slots.repr = super_repr;
  t.super->slots.descr_get = [](Interpreter& in2, const Value& self, const Value& instance, Type*) {
    Super* const super = super_of(self);
    const bool waits = super->self_type == nullptr && !instance.is_undefined() && !instance.is_none();
    if (!waits || super->start == nullptr) return self;
    // A class below super may keep more: it makes its own.
    if (super->type != in2.types.super) return call(in2, Value(super->type), {Value(super->start), instance});
    return make_super(in2, super->start, instance);
  };
}

Value super_get(Interpreter& in, const Args& args) {
  refuse_nobody(args);
  return in.types.super->slots.descr_get(in, args[0], args[1].is_none() ? Value() : args[1], nullptr);
}

void fill_super(Interpreter& in, Type* type) {
  const NativeDef methods[] = {{"__init__(self, /, *args)", super_init}, {"__get__(self, instance, owner=None, /)", super_get}};
  slot_methods(in, type);
  in.add_methods(type, methods, std::size(methods));
  in.add_member(type, "__thisclass__", [](Interpreter&, const Args& a) {
    return super_of(a[0])->start == nullptr ? Value::none() : as_value(super_of(a[0])->start);
  });
  in.add_member(type, "__self__", [](Interpreter&, const Args& a) { return super_of(a[0])->self; });
  in.add_member(type, "__self_class__", [](Interpreter&, const Args& a) {
    return super_of(a[0])->self_type == nullptr ? Value::none() : as_value(super_of(a[0])->self_type);
  });
}

void fill_property(Interpreter& in, Type* type) {
  slot_methods(in, type);
  in.add_methods(type, kPropertyMethods, std::size(kPropertyMethods));
  in.add_member(type, "fget", [](Interpreter&, const Args& a) { return property_of(a)->get; });
  in.add_member(type, "fset", [](Interpreter&, const Args& a) { return property_of(a)->set; });
  in.add_member(type, "fdel", [](Interpreter&, const Args& a) { return property_of(a)->del; });
  in.add_member(type, "__doc__", property_doc, property_set_doc);
  in.add_property(type, "__isabstractmethod__", property_abstract);
}

}  // namespace

void add_descriptors(Interpreter& in) {
  fill_descriptor_slots(in);
  in.types.super->fill_later(fill_super);
  in.types.property->fill_later(fill_property);
}

Value make_property(Interpreter& in, const Value& get, const Value& set, const Value& del, const Value& doc) {
  return new_property(in, in.types.property, get, set, del, doc);
}

Value make_static_method(Interpreter& in, const Value& function) {
  return new_wrapper<StaticMethod>(in, in.types.static_method, function);
}

Value make_class_method(Interpreter& in, const Value& function) {
  const bool native = function.is_object() && function.as_object()->kind == ObjectKind::NativeFunction;
  return new_wrapper<ClassMethod>(in, native ? in.types.class_method_descriptor : in.types.class_method, function);
}

Value make_super(Interpreter& in, Type* start, const Value& self) {
  const Value made = Value::adopt(new_super(in, in.types.super));
  set_super(in, super_of(made), start, self);
  return made;
}

}  // namespace tessera::lang
