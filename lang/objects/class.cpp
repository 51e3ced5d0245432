// Making of types: the first ones and native ones, and what changes a class later. Class statements: class_statement.cpp.
// compile: few-inlines (no faster with more inlines)
#include "lang/objects/class.h"

#include <algorithm>
#include <utility>

#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/compiler/chunk.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/type_docs.h"
#include "lang/types/types.h"

namespace tessera::lang {

namespace {

constexpr uint32_t kForever = 1u << 30;

std::string text(const Str* s) { return std::string(s->view()); }
Value as_value(Object* object) { return Value(object); }
Str* hold(Str* s) {
  ++s->refcount;
  return s;
}

}  // namespace

void Type::add_subclass(Type* type) {
  if (type->bases.front() == this) type->place_in_base = static_cast<uint32_t>(subclasses.size());
  subclasses.push_back(type);
}

// A place is left empty: of a hundred thousand classes that end together each would move all behind it.
void Type::remove_subclass(const Type* type) noexcept {
  size_t at = type->place_in_base;
  if (type->bases.front() != this || at >= subclasses.size() || subclasses[at] != type)
    at = static_cast<size_t>(std::find(subclasses.begin(), subclasses.end(), type) - subclasses.begin());
  if (at == subclasses.size()) return;
  subclasses[at] = nullptr;
  if (++dead_subclasses <= subclasses.size() / 2) return;
  std::erase(subclasses, nullptr);
  dead_subclasses = 0;
  for (size_t i = 0; i < subclasses.size(); ++i)
    if (subclasses[i]->bases.front() == this) subclasses[i]->place_in_base = static_cast<uint32_t>(i);
}

namespace {

// ---- The first types -------------------------------------------------------------------------------------------------

void destroy_type(Interpreter& in, Object* self) {
  auto* type = known_cast<Type>(self);
  for (Type* base : type->bases) {
    base->remove_subclass(type);
    const Value let_go = Value::adopt(base);
  }
  for (Str* s : {type->name, type->qualname, type->module}) {
    if (s != nullptr) const Value let_go = Value::adopt(s);
  }
  if (Dict* const own = type->attributes_so_far()) const Value let_go = Value::adopt(own);
  type->set_own_order(nullptr);
  free_object(in, type);
}

void traverse_type(Object* self, Visitor& visitor) {
  auto* type = known_cast<Type>(self);
  for (Type* base : type->bases) visitor(base);
  if (Dict* const own = type->attributes_so_far()) visitor(own);
  if (Tuple* const order = type->own_order()) visitor(order);
}

// The tuple of a metaclass's own mro() names the type itself: a cycle. Garbage gets an order that its bases keep alive.
void clear_type(Interpreter&, Object* self) {
  auto* type = known_cast<Type>(self);
  if (type->own_order() == nullptr) return;
  type->mro = {type};
  for (Type* base : type->bases)
    for (Type* each : base->mro)
      if (std::find(type->mro.begin(), type->mro.end(), each) == type->mro.end()) type->mro.push_back(each);
  type->set_own_order(nullptr);
}

void destroy_instance(Interpreter& in, Object* self) { free_object(in, known_cast<Instance>(self)); }

// Below `base` alone.
void derive(Type* type, Type* base) {
  type->mro.reserve(base->mro.size() + 1);
  type->mro.push_back(type);
  type->mro.insert(type->mro.end(), base->mro.begin(), base->mro.end());
  type->bases.assign(1, base);
  type->slots = base->slots;
}

Type* raw_type(Interpreter& in, ObjectKind kind, size_t size, uint32_t flags = 0) {
  Type* type;
  if (in.types.type == nullptr) {
    type = new (in.heap.allocate(sizeof(Type))) Type();
    type->refcount = kForever;
    type->kind = ObjectKind::Type;
    type->type = type;
    type->aux = 0;
    in.types.type = type;
    in.collector().track(type);
  } else {
    type = make_object<Type>(in, in.types.type);
    type->refcount = kForever;
  }
  type->flags |= kImmortal;
  type->name = type->qualname = type->module = nullptr;
  type->owner = &in;
  type->instance_kind = kind;
  type->type_flags = flags;
  type->instance_size = static_cast<uint32_t>(size);
  type->attributes_offset = 0;
  type->version = in.type_cache().new_version();
  return type;
}

void name_type(Interpreter& in, Type* type, std::string_view name, std::string_view module = "builtins") {
  type->name = hold(intern(in, name));
  type->qualname = hold(type->name);
  type->module = hold(intern(in, module));
}

Value object_repr(Interpreter& in, const Value& self) {
  const Type* type = type_of(in, self);
  const Value module = find_attr(in, as_value(const_cast<Type*>(type)), in.names->module);
  std::string name = text(type->qualname);
  if (is_str(module) && text_of(module) != "builtins") name = std::string(text_of(module)) + "." + name;
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<void*>(self.as_object()));
  return make_str(in, "<" + name + " object at " + address + ">");
}

int64_t object_hash(Interpreter&, const Value& self) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(self.as_object()) >> 4);
}

Value object_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (op == CompareOp::Eq && self.is(other)) return Value::boolean(true);
  return in.not_implemented;
}

Value type_repr(Interpreter& in, const Value& self) {
  Type* type = as_type(self);
  const Value module = find_attr(in, self, in.names->module);
  std::string name = text(type->qualname);
  if (is_str(module) && text_of(module) != "builtins") name = std::string(text_of(module)) + "." + name;
  return make_str(in, "<class '" + name + "'>");
}

Value type_call(Interpreter& in, const Value& self, const Args& args) { return instantiate(in, as_type(self), args); }

// Class[key]: __class_getitem__.
Value type_get_item(Interpreter& in, const Value& self, const Value& key) {
  if (as_type(self) == in.types.type) return call(in, as_value(in.shared->alias_type), {self, key});
  // In the class and its bases only, not in the metaclass.
  const bool defined = !type_lookup(as_type(self), in.names->class_getitem).is_undefined();
  const Value method = defined ? find_attr(in, self, in.names->class_getitem) : Value();
  if (method.is_undefined() || method.is_none())
    throw_error(ErrorKind::TypeError, "type '%s' is not subscriptable", std::string(type_name(in, as_type(self))).c_str());
  return call(in, method, {key});
}

bool type_truth(Interpreter&, const Value&) { return true; }

}  // namespace

void make_core_types(Interpreter& in) {
  BuiltinTypes& t = in.types;
  raw_type(in, ObjectKind::Type, sizeof(Type));
  t.type->slots.destroy = destroy_type;
  t.object = raw_type(in, ObjectKind::Instance, sizeof(Instance));
  t.object->mro = {t.object};
  TypeSlots& object = t.object->slots;
  object.destroy = destroy_instance;
  object.repr = object_repr;
  object.hash = object_hash;
  object.compare = object_compare;
  t.type->mro = {t.type, t.object};
  t.type->bases = {t.object};
  t.type->slots = object;
  TypeSlots& type = t.type->slots;
  type.destroy = destroy_type;
  type.traverse = traverse_type;
  type.clear = clear_type;
  type.repr = type_repr;
  type.call = type_call;
  type.truth = type_truth;
  type.get_item = type_get_item;
  const auto below_object = [&](ObjectKind kind, size_t size, uint32_t flags = 0) {
    Type* const made = raw_type(in, kind, size, flags);
    derive(made, t.object);
    return made;
  };
  t.str = below_object(ObjectKind::Str, sizeof(Str));
  t.tuple = below_object(ObjectKind::Tuple, sizeof(Tuple));
  t.list = below_object(ObjectKind::List, sizeof(List));
  t.dict = below_object(ObjectKind::Dict, sizeof(Dict));
  t.function = below_object(ObjectKind::Function, sizeof(Function), kFinalType);
  t.native_function = below_object(ObjectKind::NativeFunction, sizeof(NativeFunction), kFinalType);
  t.method_descriptor = below_object(ObjectKind::NativeFunction, sizeof(NativeFunction), kFinalType);
  t.wrapper_descriptor = below_object(ObjectKind::NativeFunction, sizeof(NativeFunction), kFinalType);
  t.class_method_descriptor = below_object(ObjectKind::ClassMethod, sizeof(ClassMethod), kFinalType);
  t.method_wrapper = below_object(ObjectKind::BoundMethod, sizeof(BoundMethod), kFinalType);
  t.getset_descriptor = below_object(ObjectKind::Property, sizeof(Property), kFinalType);
  t.member_descriptor = below_object(ObjectKind::Property, sizeof(Property), kFinalType);
  t.bound_method = below_object(ObjectKind::BoundMethod, sizeof(BoundMethod), kFinalType);
  t.cell = below_object(ObjectKind::Cell, sizeof(Cell), kFinalType);
  t.code = below_object(ObjectKind::Code, sizeof(Code), kFinalType);
  t.module = below_object(ObjectKind::Module, sizeof(Module));
  t.property = below_object(ObjectKind::Property, sizeof(Property));
  t.static_method = below_object(ObjectKind::StaticMethod, sizeof(StaticMethod) + sizeof(Attributes));
  t.class_method = below_object(ObjectKind::ClassMethod, sizeof(ClassMethod) + sizeof(Attributes));
  t.super = below_object(ObjectKind::Super, sizeof(Super));
  t.list->type_flags |= kMatchesSequence;
  t.tuple->type_flags |= kMatchesSequence;
  t.dict->type_flags |= kMatchesMapping;
}

void finish_core_types(Interpreter& in) {
  BuiltinTypes& t = in.types;
  const std::pair<Type*, const char*> names[] = {{t.type, "type"},
                                                 {t.object, "object"},
                                                 {t.str, "str"},
                                                 {t.tuple, "tuple"},
                                                 {t.list, "list"},
                                                 {t.dict, "dict"},
                                                 {t.function, "function"},
                                                 {t.native_function, "builtin_function_or_method"},
                                                 {t.bound_method, "method"},
                                                 {t.method_descriptor, "method_descriptor"},
                                                 {t.wrapper_descriptor, "wrapper_descriptor"},
                                                 {t.class_method_descriptor, "classmethod_descriptor"},
                                                 {t.method_wrapper, "method-wrapper"},
                                                 {t.getset_descriptor, "getset_descriptor"},
                                                 {t.member_descriptor, "member_descriptor"},
                                                 {t.cell, "cell"},
                                                 {t.code, "code"},
                                                 {t.module, "module"},
                                                 {t.property, "property"},
                                                 {t.static_method, "staticmethod"},
                                                 {t.class_method, "classmethod"},
                                                 {t.super, "super"}};
  for (auto [type, name] : names) name_type(in, type, name);
  add_core_methods(in);
}

Value refuse_to_make(Interpreter&, Type* type, const Args&) {
  std::string name(type->name->view());
  if (type->module->view() != "builtins") name = std::string(type->module->view()) + "." + name;
  throw_error(ErrorKind::TypeError, "cannot create '%s' instances", name.c_str());
}

Type* Interpreter::new_type(const NativeTypeSpec& spec) {
  Type* base = spec.base != nullptr ? spec.base : types.object;
  Type* type = raw_type(*this, spec.kind, spec.size, spec.flags);
  name_type(*this, type, spec.name, spec.module);
  derive(type, base);
  type->type_flags |= base->type_flags & kExceptionType;
  if (base != types.object) {
    type->make = base->make;
    if (base->attributes_offset != 0) type->attributes_offset = base->attributes_offset;
    base->add_subclass(type);
  }
  // A layout that only C++ can fill must not come to life empty; types that scripts make set their own `make` afterwards.
  if (spec.kind == ObjectKind::Native && type->make == nullptr) type->make = refuse_to_make;
  if (!spec.doc.empty()) dict_set_str(*this, type->attributes(), names->doc, make_str(*this, spec.doc));
  register_type(type);
  return type;
}

namespace {

void add_native_property(Interpreter& in, Type* kind, Type* type, const char* name, NativeFn get, NativeFn set,
                         const char* doc, NativeFn del) {
  auto function = [&](NativeFn fn, const char* parameters) {
    if (fn == nullptr) return Value::none();
    Value made = in.new_function(name, doc, fn);
    auto* const native = object_cast<NativeFunction>(made);
    native->text = parameters;
    native->owner = type;  // so that `self` is checked
    return made;
  };
  Str* const interned = intern(in, name);
  const Value text = *doc != 0 ? make_str(in, doc) : Value::none();
  dict_set_str(in, type->attributes(), interned,
               make_native_property(in, kind, type, interned, function(get, "(self, /)"), function(set, "(self, value, /)"),
                                    function(del, "(self, /)"), text));
}

}  // namespace

void Interpreter::add_property(Type* type, const char* name, NativeFn get, NativeFn set, const char* doc,
                               NativeFn del) {
  add_native_property(*this, types.getset_descriptor, type, name, get, set, doc, del);
}

void Interpreter::add_member(Type* type, const char* name, NativeFn get, NativeFn set, const char* doc, NativeFn del) {
  add_native_property(*this, types.member_descriptor, type, name, get, set, doc, del);
}

void Type::set_own_order(Tuple* order) noexcept {
  if (order != nullptr) ++order->refcount;
  if (Tuple* const old = std::exchange(own_order_, order)) const Value let_go = Value::adopt(old);
}

// It counts as filled while it is being filled: what fills it asks for the dict as everybody does.
void Type::fill_attributes() {
  Interpreter& in = *owner;
  const Heap::Essential essential(in.heap);
  if (attributes_ == nullptr) attributes_ = new_dict(in);
  filled_ = true;
  try {
    if (fill_ != nullptr) fill_(in, this);
    const bool lacks = (type_flags & kCompletesLater) && dict_get_str(attributes_, in.names->new_) == nullptr;
    if (lacks) complete_special_methods(in, this);
    if ((attributes_offset != 0 && bases.front()->attributes_offset == 0) || (type_flags & kKeepsDictAside)) add_instance_dict(in, this);
    if (dict_get_str(attributes_, in.names->doc) == nullptr) {
      const std::string_view doc = module == in.names->builtins ? builtin_type_doc(name->view()) : std::string_view();
      dict_set_str(in, attributes_, in.names->doc, doc.empty() ? Value::none() : make_str(in, doc));
    }
  } catch (...) {
    filled_ = false;
    throw;
  }
}

void destroy_types(Interpreter& in) noexcept {
  std::vector<Type*> types;
  for (GcObject* object : in.collector().objects()) {
    if (object->kind == ObjectKind::Type) types.push_back(known_cast<Type>(object));
  }
  std::vector<Value> held;  // what they own goes while all of them still stand
  for (Type* type : types) {
    for (Str* s : {type->name, type->qualname, type->module}) {
      if (s != nullptr) held.push_back(Value::adopt(s));
    }
    if (Dict* const own = type->attributes_so_far()) held.push_back(Value::adopt(own));
  }
  held.clear();
  in.collector().forget_all();
  for (Type* type : types) {
    type->~Type();
    in.heap.deallocate(type, sizeof(Type));
  }
}

// ---- Changes ---------------------------------------------------------------------------------------------------------

namespace {

template <class F>
void for_type_and_below(Type* type, F&& f) {
  f(type);
  for (Type* sub : type->subclasses)
    if (sub != nullptr) for_type_and_below(sub, f);
}

}  // namespace

void type_changed(Interpreter& in, Type* type) {
  bool cached = false;
  for_type_and_below(type, [&](Type* t) {
    t->version = in.type_cache().new_version();
    cached = cached || (t->type_flags & kClassesCached);
    t->type_flags &= ~kClassesCached;
  });
  if (!cached) return;
  // A metaclass: what a site remembers of its classes, by their versions, is no longer true.
  for (GcObject* object : in.collector().objects()) {
    if (object->kind != ObjectKind::Type || !object->type->is_subtype_of(type)) continue;
    known_cast<Type>(object)->version = in.type_cache().new_version();
  }
}

namespace {

// The attributes of classes that `type` has descriptors for. Returns false for any other name.
bool set_special_attribute(Interpreter& in, Type* type, Str* name, const Value& value) {
  const Names& n = *in.names;
  const bool settable = name == n.name || name == n.qualname || name == n.bases || name == n.module;
  if ((settable || name == n.doc) && value.is_undefined())
    throw_error(ErrorKind::TypeError, "cannot delete '%s' attribute of immutable type '%s'", text(name).c_str(),
                std::string(type_name(in, type)).c_str());
  if (name == n.mro_ || name == n.dict_ || name == n.base_ || name == n.text_signature)
    throw_error(ErrorKind::AttributeError, "attribute '%s' of 'type' objects is not writable", text(name).c_str());
  if (name == n.bases) {
    set_bases(in, type, value);
    return true;
  }
  if (name != n.name && name != n.qualname) return false;
  if (!is_str(value))
    throw_error(ErrorKind::TypeError, "can only assign string to %s.%s, not '%s'", text(type->name).c_str(),
                text(name).c_str(), std::string(type_name(in, value)).c_str());
  if (name == n.name) check_encodable(in, value);
  if (name == n.name && text_of(value).find('\0') != std::string_view::npos)
    throw_error(ErrorKind::ValueError, "type name must not contain null characters");
  Str*& place = name == n.name ? type->name : type->qualname;
  const Value old = Value::adopt(place);
  place = hold(intern(in, text_of(value)));
  return true;
}

}  // namespace

// A native type for a class that is written in Python, where programs add methods to it. Special methods stay: they are the type's table.
static bool may_gain(const Type* type, const Str* name) {
  return (type->type_flags & (kNamedAlone | kFinalType)) == kNamedAlone && !name->view().starts_with("__");
}

void set_type_attribute(Interpreter& in, Type* type, Str* name, const Value& value) {
  if (!(type->type_flags & kScriptClass) && !may_gain(type, name)) {
    throw_error(ErrorKind::TypeError, "cannot set %s attribute of immutable type '%s'", quote(name->view()).c_str(),
                std::string(type_name(in, type)).c_str());
  }
  if (set_special_attribute(in, type, name, value)) return;
  if (value.is_undefined()) {
    if (!dict_delete_str(in, type->attributes(), name)) {
      throw_attribute_error(in, as_value(type), name, "type object '" + text(type->name) + "' has no attribute '" + text(name) + "'");
    }
  } else {
    dict_set_str(in, type->attributes(), name, value);
  }
  type_changed(in, type);
  if (!name->view().starts_with("__")) return;
  if (name == in.names->abstractmethods) note_abstract_methods(in, type);
  for_type_and_below(type, [&](Type* t) {
    if (!(t->type_flags & kScriptClass)) return;
    fill_slots(in, t);
    update_type_flags(in, t);
  });
}

}  // namespace tessera::lang
