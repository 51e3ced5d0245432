// What object, type and module offer to scripts (property, staticmethod, classmethod, super: descriptors.cpp).
// compile: few-inlines (no faster with more inlines)
#include "lang/core/bind_maker.h"
#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/builtins/builtins.h"
#include "lang/core/bind.h"
#include "lang/compiler/chunk.h"
#include "lang/objects/class.h"
#include "lang/objects/exception.h"
#include "lang/objects/exception_types.h"
#include "lang/objects/module.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/types.h"
#include "lang/types/object_sizes.h"
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

// As CPython names the class of a wrong argument of a native.
std::string name_in_refusal(Interpreter& in, const Value& v) { return v.is_none() ? "None" : std::string(type_name(in, v)); }

Str* name_argument(Interpreter& in, const Value& v) {
  if (!is_str(v))
    throw_error(ErrorKind::TypeError, "attribute name must be string, not '%s'", std::string(type_name(in, v)).c_str());
  return intern(in, text_of(v));
}

// ---- object ----------------------------------------------------------------------------------------------------------

bool overrides(Interpreter& in, const Type* type, Str* name) {
  return !type_lookup(type, name).is(type_lookup(in.types.object, name));
}

// A native type that makes its instances itself: object.__new__ would leave out what they are made of.
void check_safe_to_make(Interpreter& in, const Type* type) {
  for (Type* base : type->mro) {
    if (base->type_flags & kScriptClass || base->make == nullptr) continue;
    if (dict_get_str(base->attributes(), in.names->new_) == nullptr) continue;
    throw_error(ErrorKind::TypeError, "object.__new__(%s) is not safe, use %s.__new__()", name_of(type).c_str(),
                name_of(type).c_str());
  }
}

Value object_new(Interpreter& in, const Args& args) {
  Type* type = as_type(args[0]);
  check_safe_to_make(in, type);
  if (args.count > 1 && (overrides(in, type, in.names->new_) || !overrides(in, type, in.names->init))) {
    if (overrides(in, type, in.names->new_)) {
      throw_error(ErrorKind::TypeError, "object.__new__() takes exactly one argument (the type to instantiate)");
    }
    throw_error(ErrorKind::TypeError, "%s() takes no arguments", name_of(type).c_str());
  }
  return new_instance(in, type);
}

Value object_init(Interpreter& in, const Args& args) {
  Type* type = type_of(in, args[0]);
  if (type->instance_kind == ObjectKind::Native) return Value::none();  // what `make` did with them stays
  if (args.count > 1 && overrides(in, type, in.names->init)) {
    throw_error(ErrorKind::TypeError, "object.__init__() takes exactly one argument (the instance to initialize)");
  }
  if (args.count > 1 && !overrides(in, type, in.names->new_)) {
    throw_error(ErrorKind::TypeError, "%s.__init__() takes exactly one argument (the instance to initialize)",
                name_of(type).c_str());
  }
  return Value::none();
}

Value object_repr_method(Interpreter& in, const Args& args) { return in.types.object->slots.repr(in, args[0]); }
// The answer of __repr__ as it is: str() checks it.
Value object_str(Interpreter& in, const Args& args) {
  const Value& self = args[0];
  const bool script = self.is_object() && (self.as_object()->type->type_flags & kScriptClass) != 0;
  const RecursionGuard guard(in, " while getting the str of an object");
  return script && self.as_object()->type->slots.repr != nullptr ? self.as_object()->type->slots.repr(in, self) : repr(in, self);
}

Value object_format(Interpreter& in, const Args& args) {
  if (!is_str(args[1])) {
    throw_error(ErrorKind::TypeError, "__format__() argument must be str, not %s",
                name_in_refusal(in, args[1]).c_str());
  }
  if (as_str(args[1])->size != 0) {
    throw_error(ErrorKind::TypeError, "unsupported format string passed to %s.__format__",
                std::string(type_name(in, args[0])).c_str());
  }
  return str(in, args[0]);
}

Value object_hash_method(Interpreter& in, const Args& args) {
  return Value::integer(args[0].is_object() ? in.types.object->slots.hash(in, args[0]) : hash(in, args[0]));
}
Value object_eq(Interpreter& in, const Args& args) {
  return args[0].is(args[1]) ? Value::boolean(true) : in.not_implemented;
}

Value object_ne(Interpreter& in, const Args& args) {
  const auto slot = type_of(in, args[0])->slots.compare;
  Value answer = slot != nullptr ? slot(in, CompareOp::Eq, args[0], args[1]) : in.not_implemented;
  return answer.is(in.not_implemented) ? answer : Value::boolean(!truth(in, answer));
}

Value no_order(Interpreter& in, const Args&) { return in.not_implemented; }

Value object_getattribute(Interpreter& in, const Args& args) {
  Str* name = name_argument(in, args[1]);
  Type* type = type_of(in, args[0]);
  Value found = type->slots.get_attr != nullptr ? type->slots.get_attr(in, args[0], name) : Value();
  const bool is_module = args[0].is_object() && args[0].as_object()->kind == ObjectKind::Module;
  if (found.is_undefined())
    found = is_module ? find_module_attribute(in, *object_cast<Module>(args[0]), name) : generic_find_attr(in, args[0], name);
  if (found.is_undefined()) {
    const std::string owner = is_module ? "module " + quote(object_cast<Module>(args[0])->name->view()) : quote(name_of(type)) + " object";
    throw_attribute_error(in, args[0], name, owner + " has no attribute " + quote(name->view()));
  }
  return found;
}

void set_plainly(Interpreter& in, const Value& object, Str* name, const Value& value, const char* method) {
  Type* type = type_of(in, object);
  if (is_type(object)) throw_error(ErrorKind::TypeError, "can't apply this %s to %s object", method, name_of(type).c_str());
  if (type->slots.set_attr != nullptr) type->slots.set_attr(in, object, name, value);
  else generic_set_attr(in, object, name, value);
}

Value object_setattr(Interpreter& in, const Args& args) {
  set_plainly(in, args[0], name_argument(in, args[1]), args[2], "__setattr__");
  return Value::none();
}

Value object_delattr(Interpreter& in, const Args& args) {
  set_plainly(in, args[0], name_argument(in, args[1]), Value(), "__delattr__");
  return Value::none();
}

Value object_dir(Interpreter& in, const Args& args) { return attribute_names(in, args[0]); }

Value object_init_subclass(Interpreter& in, const Args& args) {
  if (args.count > 1) {
    const std::string name = is_type(args[0]) ? std::string(as_type(args[0])->qualname->view()) : std::string(type_name(in, args[0]));
    throw_error(ErrorKind::TypeError, "%s.__init_subclass__() takes no %s", name.c_str(),
                args.keyword_names != nullptr ? "keyword arguments" : "arguments");
  }
  return Value::none();
}

// What pickle and copy ask: the rules stand in copyreg, which is imported when they are needed.
Value by_rule(Interpreter& in, const char* rule, std::initializer_list<Value> args) {
  std::vector<Value> values(args);
  const Value function = get_attr(in, as_value(in.import("copyreg")), intern(in, rule));
  return call(in, function, Args{values.data(), static_cast<uint32_t>(values.size())});
}
Value object_getstate(Interpreter& in, const Args& args) { return by_rule(in, "_object_getstate", {args[0]}); }
Value object_reduce(Interpreter& in, const Args& args) {
  return by_rule(in, "_object_reduce", {args[0], Value::integer(0)});
}
Value object_reduce_ex(Interpreter& in, const Args& args) {
  return by_rule(in, "_object_reduce_ex", {args[0], args[1]});
}

Value object_class(Interpreter& in, const Args& args) { return as_value(type_of(in, args[0])); }
Value set_object_class(Interpreter& in, const Args& args) { return set_class(in, args[0], args[1]), Value::none(); }
Value delete_object_class(Interpreter& in, const Args& args) { return set_class(in, args[0], Value()), Value::none(); }

Value object_sizeof(Interpreter& in, const Args& args) { return Value::integer(size_in_cpython(in, args[0])); }

const NativeDef kObjectMethods[] = {
    {"__new__", object_new, ""},
    {"__init__", object_init, ""},
    {"__repr__(self, /)", object_repr_method, "Return repr(self)."},
    {"__str__(self, /)", object_str, "Return str(self)."},
    {"__format__(self, format_spec, /)", object_format},
    {"__hash__(self, /)", object_hash_method},
    {"__eq__(self, value, /)", object_eq},
    {"__ne__(self, value, /)", object_ne},
    {"__lt__(self, value, /)", no_order},
    {"__le__(self, value, /)", no_order},
    {"__gt__(self, value, /)", no_order},
    {"__ge__(self, value, /)", no_order},
    {"__getattribute__(self, name, /)", object_getattribute},
    {"__setattr__(self, name, value, /)", object_setattr},
    {"__delattr__(self, name, /)", object_delattr},
    {"__dir__(self, /)", object_dir},
    {"__sizeof__(self, /)", object_sizeof, "Size of object in memory, in bytes."},
    {"__getstate__(self, /)", object_getstate},
    {"__reduce__(self, /)", object_reduce},
    {"__reduce_ex__(self, protocol: int, /)", object_reduce_ex},
};

// A class method that gets its arguments as they were written, with the class in front.
void add_raw_class_method(Interpreter& in, Type* owner, const char* name, NativeFn function, const char* doc) {
  const Value made = in.new_function(name, doc, function);
  auto* const f = object_cast<NativeFunction>(made);
  f->owner = owner;
  f->takes_class = true;
  dict_set_str(in, owner->attributes(), f->name, make_class_method(in, made));
}

// ---- type ------------------------------------------------------------------------------------------------------------

bool short_type(Interpreter& in, Value* argument, Value& answer) {
  answer = Value(static_cast<Object*>(type_of(in, *argument)));
  return true;
}

// type(object) and meta(name, bases, namespace, **keywords).
Value type_make(Interpreter& in, Type* meta, const Args& args) {
  const bool is_plain = meta == in.types.type;
  if (is_plain && args.count == 1 && args.keyword_names == nullptr) return as_value(type_of(in, args[0]));
  const uint32_t positional = args.positional();
  if (positional != 3) {
    if (is_plain && positional == 1) refuse_keywords("type", args);
    if (is_plain) throw_error(ErrorKind::TypeError, "type() takes 1 or 3 arguments");
    throw_error(ErrorKind::TypeError, "type.__new__() takes exactly 3 arguments (%u given)", positional);
  }
  if (!is_str(args[0]))
    throw_error(ErrorKind::TypeError, "type.__new__() argument 1 must be str, not %s",
                name_in_refusal(in, args[0]).c_str());
  if (!is_tuple(args[1]))
    throw_error(ErrorKind::TypeError, "type.__new__() argument 2 must be tuple, not %s",
                name_in_refusal(in, args[1]).c_str());
  if (!is_dict(args[2]))
    throw_error(ErrorKind::TypeError, "type.__new__() argument 3 must be dict, not %s",
                name_in_refusal(in, args[2]).c_str());
  check_encodable(in, args[0]);
  if (const Value* doc = dict_get_str(as_dict(args[2]), in.names->doc); doc != nullptr && is_str(*doc)) check_encodable(in, *doc);
  if (text_of(args[0]).find('\0') != std::string_view::npos)
    throw_error(ErrorKind::ValueError, "type name must not contain null characters");
  Value keywords;
  if (positional < args.count) keywords = make_dict(in);
  for (uint32_t i = positional; i < args.count; ++i)
    dict_set(in, as_dict(keywords), args.keyword_names->items[i - positional], args[i]);
  return make_class(in, meta, intern(in, text_of(args[0])), args[1], args[2], keywords);
}

Args without_first(const Args& args) {
  Args rest = args;
  ++rest.values;
  --rest.count;
  return rest;
}

// type.__new__(meta, name, bases, namespace): as type() with three arguments, which are all it takes.
Value type_new(Interpreter& in, const Args& args) {
  const Args rest = without_first(args);
  if (rest.positional() != 3)
    throw_error(ErrorKind::TypeError, "type.__new__() takes exactly 3 arguments (%u given)", rest.positional());
  return type_make(in, as_type(args[0]), rest);
}

// The keywords are __init_subclass__'s, which type.__new__ has called.
Value type_init(Interpreter&, const Args& args) {
  const uint32_t positional = args.positional() - 1;
  if (args.keyword_names != nullptr && positional == 1)
    throw_error(ErrorKind::TypeError, "type.__init__() takes no keyword arguments");
  if (positional != 1 && positional != 3)
    throw_error(ErrorKind::TypeError, "type.__init__() takes 1 or 3 arguments");
  return Value::none();
}

Value type_call_method(Interpreter& in, const Args& args) {
  return instantiate(in, as_type(args[0]), without_first(args));
}

Value type_prepare(Interpreter& in, const Args&) { return make_dict(in); }

Value type_getattribute(Interpreter& in, const Args& args) {
  Str* const name = name_argument(in, args[1]);
  Value found = type_attribute(in, as_type(args[0]), name);
  if (found.is_undefined())
    throw_attribute_error(in, args[0], name,
                          "type object '" + name_of(as_type(args[0])) + "' has no attribute '" +
                              std::string(name->view()) + "'");
  return found;
}

Value type_setattr(Interpreter& in, const Args& args) {
  set_attribute_of_type(in, as_type(args[0]), name_argument(in, args[1]), args[2]);
  return Value::none();
}

Value type_delattr(Interpreter& in, const Args& args) {
  set_attribute_of_type(in, as_type(args[0]), name_argument(in, args[1]), Value());
  return Value::none();
}

Value type_mro(Interpreter& in, const Args& args) {
  const Value list = make_list(in);
  for (Type* base : linearize(in, as_type(args[0]))) list_append(in, as_list(list), as_value(base));
  return list;
}

Value type_subclasses(Interpreter& in, const Args& args) {
  const Value list = make_list(in);
  Type* const type = as_type(args[0]);
  const bool of_exceptions = (type->type_flags & kExceptionType) && !(type->type_flags & kScriptClass);
  if (type == in.types.object) {  // native types are not written down in it
    for (GcObject* each : in.collector().objects()) {
      if (each->kind != ObjectKind::Type || (known_cast<Type>(each)->type_flags & kScriptClass) != 0) continue;
      Type* const native = known_cast<Type>(each);
      if (native != type && native->bases.size() == 1 && native->bases[0] == type &&
          std::find(type->subclasses.begin(), type->subclasses.end(), native) == type->subclasses.end())
        list_append(in, as_list(list), as_value(native));
    }
  }
  for (Type* sub : of_exceptions ? exception_subclasses(in, type) : type->subclasses)
    if (sub != nullptr) list_append(in, as_list(list), as_value(sub));
  return list;
}

Value type_instancecheck(Interpreter& in, const Args& args) {
  return Value::boolean(plain_is_instance(in, args[1], as_type(args[0])));
}
Value type_subclasscheck(Interpreter& in, const Args& args) {
  return Value::boolean(plain_is_subclass(in, args[1], as_type(args[0])));
}

const NativeDef kTypeMethods[] = {
    {"__new__", type_new},
    {"__init__", type_init},
    {"__call__", type_call_method},
    {"mro(self, /)", type_mro},
    {"__getattribute__(self, name, /)", type_getattribute},
    {"__setattr__(self, name, value, /)", type_setattr},
    {"__delattr__(self, name, /)", type_delattr},
    {"__subclasses__(self, /)", type_subclasses},
    {"__instancecheck__(self, instance, /)", type_instancecheck},
    {"__subclasscheck__(self, subclass, /)", type_subclasscheck},
};

// ---- module ----------------------------------------------------------------------------------------------------------

// module.__init__(name, doc=None)
void module_fill(Interpreter& in, Module& module, const Args& args) {
  Value slots[2];
  bind_maker(in, "module(name, doc=...)", args, slots);
  const auto& [name, doc] = slots;
  if (!is_str(name))
    throw_error(ErrorKind::TypeError, "module() argument 'name' must be str, not %s",
                argument_type(in, name));
  name_module(in, module, text_of(name));
  dict_set_str(in, module.dict, in.names->doc, doc.is_undefined() ? Value::none() : doc);
  for (Str* const none : {in.names->package, in.names->loader, in.names->spec}) dict_set_str(in, module.dict, none, Value::none());
}

// A module that __init__ has not given a name has an empty dict.
Value module_new(Interpreter& in, const Args& args) {
  if (args.count == 0 || !is_type(args[0]) || !as_type(args[0])->is_subtype_of(in.types.module))
    throw Error(ErrorKind::TypeError, "module.__new__(X): X is not a type object of a module");
  Module* const module = make_module(in, "", as_type(args[0]));
  const Value result = Value::adopt(module);
  dict_clear(in, module->dict);
  return result;
}

Value module_make(Interpreter& in, Type* type, const Args& args) {
  Module* module = make_module(in, args.positional() > 0 && is_str(args[0]) ? text_of(args[0]) : "", type);
  const Value result = Value::adopt(module);
  if (is_function(type_lookup(type, in.names->init))) {  // which calls module.__init__
    dict_clear(in, module->dict);
    return result;
  }
  return module_fill(in, *module, args), result;
}

Value module_init(Interpreter& in, const Args& args) {
  module_fill(in, *object_cast<Module>(args[0]), without_first(args));
  return Value::none();
}

Value module_repr_method(Interpreter& in, const Args& args) { return in.types.module->slots.repr(in, args[0]); }

Module& module_of(const Args& args) { return *object_cast<Module>(args[0]); }

Value module_dict(Interpreter& in, const Args& args) {
  if (module_of(args).dict == in.vm().builtins()) complete_builtins(in);
  return as_value(module_of(args).dict);
}

// In the module's dict, made when they are first asked for.
Value module_annotations(Interpreter& in, const Args& args) {
  Dict* const dict = module_of(args).dict;
  if (dict_get_str(dict, in.names->annotations) == nullptr) dict_set_str(in, dict, in.names->annotations, make_dict(in));
  return *dict_get_str(dict, in.names->annotations);
}
Value set_module_annotations(Interpreter& in, const Args& args) {
  dict_set_str(in, module_of(args).dict, in.names->annotations, args[1]);
  return Value::none();
}
Value delete_module_annotations(Interpreter& in, const Args& args) {
  if (!dict_delete_str(in, module_of(args).dict, in.names->annotations))
    throw Error(ErrorKind::AttributeError, "__annotations__");
  return Value::none();
}

// What a class statement with a function as its base comes to.
Value refuse_code(Interpreter& in, Type*, const Args& args) {
  if (args.positional() == 0)
    throw_error(ErrorKind::TypeError, "function() missing required argument 'code' (pos 1)");
  throw_error(ErrorKind::TypeError, "function() argument 'code' must be code, not %s",
              argument_type(in, args[0]));
}

void fill_object(Interpreter& in, Type* object) {
  in.add_methods(object, kObjectMethods, std::size(kObjectMethods));
  add_raw_class_method(in, object, "__subclasshook__", no_order,
                       "Overridden by abstract classes: does issubclass() count a class among them?");
  add_raw_class_method(in, object, "__init_subclass__", object_init_subclass, "Called when a class is derived from this one.");
  in.add_property(object, "__class__", object_class, set_object_class, "The class of the object.", delete_object_class);
}

// The data descriptors of type's dict, by the name that type_descriptor_value and set_type_attribute know.
template <Str* Names::*kName>
Value get_special(Interpreter& in, const Args& args) {
  Value found = type_descriptor_value(in, as_type(args[0]), in.names->*kName);
  if (found.is_undefined())
    throw_attribute_error(in, args[0], in.names->*kName, std::string((in.names->*kName)->view()));
  return found;
}
template <Str* Names::*kName>
Value set_special(Interpreter& in, const Args& args) {
  set_type_attribute(in, as_type(args[0]), in.names->*kName, args[1]);
  return Value::none();
}
template <Str* Names::*kName>
Value delete_special(Interpreter& in, const Args& args) {
  set_type_attribute(in, as_type(args[0]), in.names->*kName, Value());
  return Value::none();
}
template <Str* Names::*kName>
void add_special(Interpreter& in, Type* type, const char* name, bool writable = true) {
  in.add_property(type, name, get_special<kName>, writable ? set_special<kName> : nullptr, "",
                  writable ? delete_special<kName> : nullptr);
}

void fill_type(Interpreter& in, Type* type) {
  in.add_methods(type, kTypeMethods, std::size(kTypeMethods));
  add_raw_class_method(in, type, "__prepare__", type_prepare, "The namespace in which the body of a class statement runs.");
  add_special<&Names::name>(in, type, "__name__");
  add_special<&Names::qualname>(in, type, "__qualname__");
  add_special<&Names::bases>(in, type, "__bases__");
  add_special<&Names::module>(in, type, "__module__");
  add_special<&Names::doc>(in, type, "__doc__");
  add_special<&Names::annotations>(in, type, "__annotations__");
  add_special<&Names::abstractmethods>(in, type, "__abstractmethods__");
  add_special<&Names::mro_>(in, type, "__mro__", false);
  add_special<&Names::base_>(in, type, "__base__", false);
  add_special<&Names::dict_>(in, type, "__dict__", false);
  add_special<&Names::text_signature>(in, type, "__text_signature__", false);
  in.add_member(type, "__basicsize__", [](Interpreter& in2, const Args& a) { return Value::integer(basic_size_in_cpython(in2, as_type(a[0]))); });
  in.add_member(type, "__dictoffset__", [](Interpreter& in2, const Args& a) { return Value::integer(dict_offset_in_cpython(in2, as_type(a[0]))); });
  in.add_member(type, "__itemsize__", [](Interpreter& in2, const Args& a) { return Value::integer(item_size_in_cpython(in2, as_type(a[0]))); });
  const NativeDef repr[] = {{"__repr__(self, /)", [](Interpreter& in2, const Args& a) { return in2.types.type->slots.repr(in2, a[0]); }}};
  in.add_methods(type, repr, 1);
  operator_methods(in, type, 1u << static_cast<int>(BinaryOp::Or));
}

void fill_module(Interpreter& in, Type* type) {
  const NativeDef rows[] = {
      {"__repr__(self, /)", module_repr_method}, {"__init__", module_init}, {"__new__", module_new}};
  in.add_methods(type, rows, std::size(rows));
  in.add_member(type, "__dict__", module_dict);
  in.add_property(type, "__annotations__", module_annotations, set_module_annotations, "", delete_module_annotations);
}

}  // namespace

void add_core_methods(Interpreter& in) {
  BuiltinTypes& t = in.types;
  t.module->make = module_make;
  t.function->make = refuse_code;
  t.type->make = type_make;
  t.type->short_make = short_type;
  t.object->fill_later(fill_object);
  t.type->fill_later(fill_type);
  t.module->fill_later(fill_module);
  add_descriptors(in);
}

}  // namespace tessera::lang
