// The kinds of native attributes as scripts see them: method_descriptor, wrapper_descriptor and classmethod_descriptor in the
// dicts of types, builtin_function_or_method and method-wrapper that they are bound to, getset_descriptor and
// member_descriptor for data.
//
// The kind of a method is chosen where it is registered (own_method), that of a bound one when it is bound
// (make_bound_method). A builtin_function_or_method is a NativeFunction or a BoundMethod of one: the functions below ask for
// the object's kind.
// compile: few-inlines (no faster with more inlines)
#include <algorithm>
#include <cstdio>
#include <string>

#include "lang/compiler/chunk.h"
#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/objects/exception.h"
#include "lang/objects/library_method.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

std::string text(const Str* s) { return std::string(s->view()); }
Value as_value(Object* object) { return Value(object); }

// The address of the object that a method is bound to; numbers have none, and show the method's.
std::string address_of(const Value& object, const Value& method) {
  char room[32];
  std::snprintf(room, sizeof room, "%p", static_cast<const void*>((object.is_object() ? object : method).as_object()));
  return room;
}

bool is_bound(const Value& v) { return v.as_object()->kind == ObjectKind::BoundMethod; }

// The native function behind a method descriptor, a bound one or a class method.
const NativeFunction* native_of(const Value& v) {
  const Object* object = v.as_object();
  if (object->kind == ObjectKind::BoundMethod) object = known_cast<const BoundMethod>(object)->function.as_object();
  if (object->kind == ObjectKind::ClassMethod) object = known_cast<const ClassMethod>(object)->function.as_object();
  return known_cast<const NativeFunction>(object);
}

Property* data_of(const Args& args) { return object_cast<Property>(args[0]); }
Type* owner_of(const Property* property) { return as_type(property->owner); }

}  // namespace

Type* static_owner(Interpreter& in, const NativeFunction* f) {
  Type* owner = nullptr;
  if (f->owner != nullptr || f->module != nullptr) return owner;
  dict_for_each(in.vm().builtins(), [&](const Value&, const Value& value) {
    if (owner != nullptr || !is_type(value) || (as_type(value)->type_flags & kScriptClass)) return;
    const Value* const found = dict_get_str(as_type(value)->attributes(), f->name);
    if (found == nullptr || !found->is_object() || found->as_object()->type != in.types.static_method) return;
    if (object_cast<StaticMethod>(*found)->function.as_object() == f) owner = as_type(value);
  });
  return owner;
}

namespace {

// __self__ of a builtin_function_or_method: the object, the class of `__new__`, the module of a function.
Value self_of(Interpreter& in, const Value& v) {
  if (is_bound(v)) return object_cast<BoundMethod>(v)->self;
  const NativeFunction* f = native_of(v);
  if (f->owner != nullptr) return as_value(f->owner);
  if (static_owner(in, f) != nullptr) return Value::none();
  Str* const module = f->module != nullptr ? f->module : in.names->builtins;
  const Value* found = dict_get_str(in.modules().table(), module);
  if (found != nullptr) return *found;
  try {
    return Value(static_cast<Object*>(in.import(module->view())));  // functions of operator have the module _operator, which may not have been imported yet
  } catch (const Error&) {
  } catch (const Thrown&) {
  }
  return Value::none();
}

// --- repr

Value descriptor_repr(Interpreter& in, const Value& self, const char* what) {
  const NativeFunction* f = native_of(self);
  return make_str(in, std::string("<") + what + " '" + text(f->name) + "' of '" + std::string(type_name(in, f->owner)) + "' objects>");
}
Value method_repr(Interpreter& in, const Value& self) { return descriptor_repr(in, self, "method"); }
Value wrapper_repr(Interpreter& in, const Value& self) { return descriptor_repr(in, self, "slot wrapper"); }

Value builtin_repr(Interpreter& in, const Value& self) {
  const NativeFunction* f = native_of(self);
  if (f->owner == nullptr) return make_str(in, "<built-in function " + text(f->name) + ">");
  const Value object = self_of(in, self);
  return make_str(in, "<built-in method " + text(f->name) + " of " + text(type_of(in, object)->name) + " object at " +
                          address_of(object, self) + ">");
}

Value method_wrapper_repr(Interpreter& in, const Value& self) {
  const Value object = self_of(in, self);
  return make_str(in, "<method-wrapper '" + text(native_of(self)->name) + "' of " + text(type_of(in, object)->name) +
                          " object at " + address_of(object, self) + ">");
}

Value data_repr(Interpreter& in, const Value& self) {
  const auto* property = object_cast<Property>(self);
  const char* what = property->type == in.types.member_descriptor ? "member" : "attribute";
  return make_str(in, std::string("<") + what + " '" + std::string(text_of(property->name)) + "' of '" +
                          std::string(type_name(in, owner_of(property))) + "' objects>");
}

// --- the parts of a builtin_function_or_method, which has two layouts

void destroy_builtin(Interpreter& in, Object* self) {
  if (self->kind == ObjectKind::NativeFunction) return free_object(in, known_cast<NativeFunction>(self));
  auto* const bound = known_cast<BoundMethod>(self);
  bound->~BoundMethod();
  in.heap.deallocate(bound, sizeof(BoundMethod));
}

void traverse_builtin(Object* self, Visitor& visitor) {
  if (self->kind == ObjectKind::BoundMethod) self->type->owner->types.bound_method->slots.traverse(self, visitor);
}

void clear_builtin(Interpreter& in, Object* self) {
  if (self->kind == ObjectKind::BoundMethod) in.types.bound_method->slots.clear(in, self);
}

int64_t builtin_hash(Interpreter& in, const Value& self) {
  return is_bound(self) ? in.types.bound_method->slots.hash(in, self) : in.types.object->slots.hash(in, self);
}

Value builtin_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  return (is_bound(self) ? in.types.bound_method : in.types.object)->slots.compare(in, op, self, other);
}

// --- attributes

Value get_name(Interpreter&, const Args& args) { return Value(native_of(args[0])->name); }
Value get_owner(Interpreter&, const Args& args) { return as_value(native_of(args[0])->owner); }
Value get_self(Interpreter& in, const Args& args) { return self_of(in, args[0]); }

Value get_qualname(Interpreter& in, const Args& args) {
  const NativeFunction* f = native_of(args[0]);
  const Type* type = f->owner != nullptr ? f->owner : static_owner(in, f);
  if (type == nullptr) return Value(f->name);
  if (f->owner != nullptr && args[0].as_object()->type == in.types.native_function) {  // it may be bound to a class or an object below the owner
    const Value self = self_of(in, args[0]);
    type = is_type(self) ? as_type(self) : type_of(in, self);
  }
  return make_str(in, text(type->qualname) + "." + text(f->name));
}

Value get_module(Interpreter& in, const Args& args) {
  const NativeFunction* f = native_of(args[0]);
  if (f->owner != nullptr || static_owner(in, f) != nullptr) return Value::none();
  return Value(f->module != nullptr ? f->module : in.names->builtins);
}

struct Named {
  std::string_view name, text;
};
constexpr Named kOperators[] = {{"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"truediv", "/"}, {"floordiv", "//"}, {"mod", "%"}, {"lshift", "<<"},
                                {"rshift", ">>"}, {"and", "&"}, {"or", "|"}, {"xor", "^"}, {"matmul", "@"}, {"lt", "<"}, {"le", "<="},
                                {"eq", "=="}, {"ne", "!="}, {"gt", ">"}, {"ge", ">="}};
constexpr Named kSpecialMethods[] = {
    {"repr", "Return repr(self)."}, {"str", "Return str(self)."}, {"hash", "Return hash(self)."}, {"len", "Return len(self)."},
    {"iter", "Implement iter(self)."}, {"next", "Implement next(self)."}, {"getitem", "Return self[key]."},
    {"setitem", "Set self[key] to value."}, {"delitem", "Delete self[key]."}, {"contains", "Return key in self."},
    {"call", "Call self as a function."}, {"neg", "-self"}, {"pos", "+self"}, {"invert", "~self"}, {"abs", "abs(self)"}, {"int", "int(self)"},
    {"float", "float(self)"}, {"bool", "True if self else False"}, {"divmod", "Return divmod(self, value)."},
    {"rdivmod", "Return divmod(value, self)."}, {"pow", "Return pow(self, value, mod)."}, {"rpow", "Return pow(value, self, mod)."},
    {"getattribute", "Return getattr(self, name)."}, {"setattr", "Implement setattr(self, name, value)."},
    {"delattr", "Implement delattr(self, name)."}, {"init", "Initialize self.  See help(type(self)) for accurate signature."},
    {"new", "Create and return a new object.  See help(type) for accurate signature."},
    {"index", "Return self converted to an integer, if self is suitable for use as an index into a list."}};

// The docstring of a native special method that has none of its own, or an empty text.
std::string doc_of_special(std::string_view name) {
  if (name.size() < 5 || !name.starts_with("__") || !name.ends_with("__")) return {};
  name = name.substr(2, name.size() - 4);
  const auto find = [](std::span<const Named> table, std::string_view wanted) {
    const auto found = std::ranges::find(table, wanted, &Named::name);
    return found == table.end() ? std::string() : std::string(found->text);
  };
  if (const std::string text = find(kSpecialMethods, name); !text.empty()) return text;
  if (const std::string op = find(kOperators, name); !op.empty()) return "Return self" + op + "value.";
  const std::string op = find(kOperators, name.substr(1));
  if (op.empty() || (name[0] != 'r' && name[0] != 'i')) return {};
  if (name[0] == 'r') return "Return value" + op + "self.";
  return (op == "+" || op == "*" ? "Implement self" : "Return self") + op + "=value.";  // of a sequence, else of a number
}

Value get_doc(Interpreter& in, const Args& args) {
  const NativeFunction* const f = native_of(args[0]);
  std::string doc = doc_of(f);
  if (doc.empty() && f->owner != nullptr) doc = doc_of_special(f->name->view());
  return doc.empty() ? Value::none() : make_str(in, doc);
}

// "($self, iterable, /, *, key=None, reverse=False)", "($module, /, number, ndigits=None)"
std::string signature_text(Interpreter& in, const NativeFunction* f) {
  using Kind = Parameter::Kind;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const auto& parameters = signature_of(in, f)->parameters;
  bool star = false;
  if (f->owner == nullptr && static_owner(in, f) == nullptr) {
    add("$module");
    if (parameters.empty() || parameters[0].kind != Kind::PositionalOnly) add("/");
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    if (i > 0 && parameters[i - 1].kind == Kind::PositionalOnly && p.kind != Kind::PositionalOnly) add("/");
    if (p.kind == Kind::KeywordOnly && !star) add("*");
    star = star || p.kind == Kind::KeywordOnly || p.kind == Kind::VarPositional;
    std::string part = p.kind == Kind::VarPositional ? "*" : p.kind == Kind::VarKeyword ? "**" : "";
    if (i == 0 && f->owner != nullptr) part += "$";
    if (i == 0 && f->takes_class) part += "type";
    else part += p.name->view();
    if (p.optional)
      part += "=" + (p.default_value.is_undefined() ? "<unrepresentable>" : repr_text(in, p.default_value));
    add(part);
  }
  if (!parameters.empty() && parameters.back().kind == Kind::PositionalOnly) add("/");
  return "(" + text + ")";
}

// CPython describes no module function whose optional argument has no default value: `next`, `functools.reduce`.
bool is_described(const NativeFunction* f, const Signature& signature) {
  return f->owner != nullptr || std::none_of(signature.parameters.begin(), signature.parameters.end(),
                                             [](const Parameter& p) { return p.optional && p.default_value.is_undefined(); });
}

Value get_text_signature(Interpreter& in, const Args& args) {
  const NativeFunction* f = native_of(args[0]);
  if (const Signature* const signature = signature_of(in, f))
    return is_described(f, *signature) ? make_str(in, signature_text(in, f)) : Value::none();
  const bool is_slot = f->type == in.types.wrapper_descriptor;
  if (std::string text; !is_slot && describes_library_method(in, args[0], text)) return make_str(in, text);
  if (is_slot) return make_str(in, "($self, /, *args, **kwargs)");
  return f->name == in.names->new_ ? make_str(in, "($type, *args, **kwargs)") : Value::none();
}

void add_names(Interpreter& in, Type* type) {
  in.add_property(type, "__name__", get_name);
  in.add_property(type, "__qualname__", get_qualname);
  in.add_property(type, "__doc__", get_doc);
  in.add_property(type, "__text_signature__", get_text_signature);
}

// --- binding and calling

Value reduced(Interpreter& in, const Value& object, Str* name) {
  const Value* getattr = dict_get_text(in.vm().builtins(), "getattr");
  return make_tuple(in, {getattr == nullptr ? Value::none() : *getattr, make_tuple(in, {object, Value(name)})});
}

// Pickles a function by its name, which unpickling looks up in its type, its object or its module.
Value reduce_descriptor(Interpreter& in, const Args& args) {
  return reduced(in, as_value(native_of(args[0])->owner), native_of(args[0])->name);
}
Value reduce_builtin(Interpreter& in, const Args& args) {
  const NativeFunction* f = native_of(args[0]);
  if (f->owner != nullptr) return reduced(in, self_of(in, args[0]), f->name);
  Type* const type = static_owner(in, f);
  return type == nullptr ? Value(f->name) : reduced(in, as_value(type), f->name);
}

[[noreturn]] void wrong_instance(Interpreter& in, const Str* name, const Type* owner, const Value& got) {
  throw_error(ErrorKind::TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", text(name).c_str(),
              std::string(type_name(in, owner)).c_str(), std::string(type_name(in, got)).c_str());
}

Value method_get(Interpreter& in, const Args& args) {
  const NativeFunction* f = native_of(args[0]);
  if (args[1].is_none() && f->owner != in.types.none) {
    if (args[2].is_none()) throw Error(ErrorKind::TypeError, "__get__(None, None) is invalid");
    return args[0];
  }
  if (!type_of(in, args[1])->is_subtype_of(f->owner)) wrong_instance(in, f->name, f->owner, args[1]);
  return make_bound_method(in, args[0], args[1]);
}

Value class_method_get(Interpreter& in, const Args& args) {
  const NativeFunction* f = native_of(args[0]);
  const std::string name = text(f->name), owner(type_name(in, f->owner));
  Value given = args[2];
  if (given.is_none()) {
    if (args[1].is_none())
      throw_error(ErrorKind::TypeError, "descriptor '%s' for type '%s' needs either an object or a type", name.c_str(),
                  owner.c_str());
    given = as_value(type_of(in, args[1]));
  }
  if (!is_type(given))
    throw_error(ErrorKind::TypeError, "descriptor '%s' for type '%s' needs a type, not a '%s' as arg 2", name.c_str(),
                owner.c_str(), std::string(type_name(in, given)).c_str());
  if (!as_type(given)->is_subtype_of(f->owner))
    throw_error(ErrorKind::TypeError, "descriptor '%s' requires a subtype of '%s' but received '%s'", name.c_str(),
                owner.c_str(), text(as_type(given)->name).c_str());
  return make_bound_method(in, object_cast<ClassMethod>(args[0])->function, given);
}

Value class_method_call(Interpreter& in, const Value& self, const Args& args) {
  const NativeFunction* f = native_of(self);
  if (args.positional() == 0)
    throw_error(ErrorKind::TypeError, "descriptor '%s' of '%s' object needs an argument", text(f->name).c_str(),
                std::string(type_name(in, f->owner)).c_str());
  if (!is_type(args[0]))
    throw_error(ErrorKind::TypeError, "descriptor '%s' for type '%s' needs a type, not a '%s' as arg 2", text(f->name).c_str(),
                std::string(type_name(in, f->owner)).c_str(), std::string(type_name(in, args[0])).c_str());
  return call(in, object_cast<ClassMethod>(self)->function, args);
}

// --- data

void check_owner(Interpreter& in, const Property* property, const Value& object) {
  if (type_of(in, object)->is_subtype_of(owner_of(property))) return;
  wrong_instance(in, as_str(property->name), owner_of(property), object);
}

Value data_get(Interpreter& in, const Args& args) {
  Property* const property = data_of(args);
  if (args[1].is_none() && owner_of(property) != in.types.none) {
    if (args[2].is_none()) throw Error(ErrorKind::TypeError, "__get__(None, None) is invalid");
    return args[0];
  }
  check_owner(in, property, args[1]);
  return bind_attribute(in, args[0], args[1], type_of(in, args[1]));
}

Value data_set(Interpreter& in, const Args& args) {
  check_owner(in, data_of(args), args[1]);
  set_through_descriptor(in, args[0], args[1], args[2]);
  return Value::none();
}

Value data_delete(Interpreter& in, const Args& args) {
  check_owner(in, data_of(args), args[1]);
  set_through_descriptor(in, args[0], args[1], Value());
  return Value::none();
}

Value member_get(Interpreter& in, const Value& self, const Value& instance, Type*) {
  if (instance.is_undefined()) return self;
  const auto* member = object_cast<Property>(self);
  Str* const name = as_str(member->name);
  if (!type_of(in, instance)->is_subtype_of(owner_of(member))) wrong_instance(in, name, owner_of(member), instance);
  const Value* found = find_slot(instance.as_object(), name);
  if (found == nullptr) {
    throw_attribute_error(in, instance, name,
                          "'" + std::string(type_name(in, instance)) + "' object has no attribute '" + text(name) + "'");
  }
  return *found;
}

void member_set(Interpreter& in, const Value& self, const Value& instance, const Value& value) {
  const auto* member = object_cast<Property>(self);
  Str* const name = as_str(member->name);
  if (!type_of(in, instance)->is_subtype_of(owner_of(member))) wrong_instance(in, name, owner_of(member), instance);
  if (!value.is_undefined()) return set_slot(in, instance.as_object(), name, value);
  if (!delete_slot(in, instance.as_object(), name)) throw_attribute_error(in, instance, name, text(name));
}

Value data_doc(Interpreter&, const Args& args) { return data_of(args)->doc; }
Value data_name(Interpreter&, const Args& args) { return data_of(args)->name; }
Value data_owner(Interpreter&, const Args& args) { return data_of(args)->owner; }
Value data_qualname(Interpreter& in, const Args& args) {
  return make_str(in, text(owner_of(data_of(args))->qualname) + "." + std::string(text_of(data_of(args)->name)));
}
Value reduce_data(Interpreter& in, const Args& args) {
  return reduced(in, data_of(args)->owner, as_str(data_of(args)->name));
}

// --- the types

constexpr NativeDef kMethodRows[] = {{"__get__(self, instance, owner=None, /)", method_get, "Return an attribute of instance."},
                                     {"__reduce__(self, /)", reduce_descriptor}};
constexpr NativeDef kClassMethodRows[] = {
    {"__get__(self, instance, owner=None, /)", class_method_get, "Return an attribute of instance."}};
constexpr NativeDef kDataRows[] = {{"__get__(self, instance, owner=None, /)", data_get, "Return an attribute of instance."},
                                   {"__set__(self, instance, value, /)", data_set, "Set an attribute of instance to value."},
                                   {"__delete__(self, instance, /)", data_delete, "Delete an attribute of instance."},
                                   {"__reduce__(self, /)", reduce_data}};
constexpr NativeDef kBoundRows[] = {{"__reduce__(self, /)", reduce_builtin}};

void fill_method_descriptor(Interpreter& in, Type* type) {
  slot_methods(in, type);
  call_method_of_slot(in, type);
  add_names(in, type);
  in.add_member(type, "__objclass__", get_owner);
  in.add_methods(type, kMethodRows, std::size(kMethodRows));
}

void fill_class_method_descriptor(Interpreter& in, Type* type) {
  slot_methods(in, type);
  add_names(in, type);
  in.add_member(type, "__objclass__", get_owner);
  in.add_methods(type, kClassMethodRows, std::size(kClassMethodRows));
}

void fill_builtin(Interpreter& in, Type* type) {
  slot_methods(in, type);
  call_method_of_slot(in, type);
  add_names(in, type);
  in.add_property(type, "__self__", get_self);
  in.add_member(type, "__module__", get_module);
  in.add_methods(type, kBoundRows, std::size(kBoundRows));
}

void fill_method_wrapper(Interpreter& in, Type* type) {
  slot_methods(in, type);
  call_method_of_slot(in, type);
  add_names(in, type);
  in.add_member(type, "__self__", get_self);
  in.add_property(type, "__objclass__", get_owner);
  in.add_methods(type, kBoundRows, std::size(kBoundRows));
}

void fill_data_descriptor(Interpreter& in, Type* type) {
  slot_methods(in, type);
  in.add_member(type, "__name__", data_name);
  in.add_property(type, "__qualname__", data_qualname);
  in.add_property(type, "__doc__", data_doc);
  in.add_member(type, "__objclass__", data_owner);
  in.add_methods(type, kDataRows, std::size(kDataRows));
}

void destroy_native_function(Interpreter& in, Object* self) { free_object(in, known_cast<NativeFunction>(self)); }

void set_up(Type* type, Value (*repr)(Interpreter&, const Value&), Type::Fill fill) {
  type->slots.repr = repr;
  type->make = refuse_to_make;
  type->fill_later(fill);
}

}  // namespace

void add_descriptor_kinds(Interpreter& in) {
  BuiltinTypes& t = in.types;
  set_up(t.method_descriptor, method_repr, fill_method_descriptor);
  set_up(t.wrapper_descriptor, wrapper_repr, fill_method_descriptor);
  t.method_descriptor->slots.destroy = t.wrapper_descriptor->slots.destroy = destroy_native_function;

  set_up(t.native_function, builtin_repr, fill_builtin);
  t.native_function->slots.destroy = destroy_builtin;
  t.native_function->slots.traverse = traverse_builtin;
  t.native_function->slots.clear = clear_builtin;
  t.native_function->slots.hash = builtin_hash;
  t.native_function->slots.compare = builtin_compare;

  set_up(t.class_method_descriptor, method_repr, fill_class_method_descriptor);
  t.class_method_descriptor->slots.destroy = t.class_method->slots.destroy;
  t.class_method_descriptor->slots.traverse = t.class_method->slots.traverse;
  t.class_method_descriptor->slots.call = class_method_call;

  const TypeSlots& bound = t.bound_method->slots;
  t.method_wrapper->slots = bound;
  t.method_wrapper->slots.get_attr = nullptr;
  t.method_wrapper->slots.call = nullptr;  // the machine knows it by its kind
  set_up(t.method_wrapper, method_wrapper_repr, fill_method_wrapper);

  for (Type* type : {t.getset_descriptor, t.member_descriptor}) {
    set_up(type, data_repr, fill_data_descriptor);
    type->slots.destroy = t.property->slots.destroy;
    type->slots.traverse = t.property->slots.traverse;
  }
  t.member_descriptor->slots.descr_get = member_get;  // of members of __slots__ alone: those with native functions are asked by their kind
  t.member_descriptor->slots.descr_set = member_set;
}

Value make_native_property(Interpreter& in, Type* type, Type* owner, Str* name, const Value& get, const Value& set,
                           const Value& del, const Value& doc) {
  auto* property = make_object<Property>(in, type);
  property->get = get;
  property->set = set;
  property->del = del;
  property->doc = doc;
  property->name = Value(name);
  property->owner = as_value(owner);
  return Value::adopt(property);
}

Value make_slot_member(Interpreter& in, Str* name, Type* owner) {
  auto* member = make_object<Property>(in, in.types.member_descriptor);
  member->kind = ObjectKind::Other;
  member->doc = Value::none();
  member->name = Value(name);
  member->owner = as_value(owner);
  return Value::adopt(member);
}

}  // namespace tessera::lang
