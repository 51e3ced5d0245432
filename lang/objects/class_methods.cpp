// What object, type and module offer to scripts (property, staticmethod, classmethod, super: descriptors.cpp).
#include "lang/objects/attribute.h"
#include "lang/core/bind.h"
#include "lang/compiler/chunk.h"
#include "lang/objects/class.h"
#include "lang/objects/exception.h"
#include "lang/objects/exception_types.h"
#include "lang/objects/module.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

namespace {

Value as_value(Object* object) { return Value(object); }
std::string name_of(const Type* type) { return std::string(type->name->view()); }

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
Value object_str(Interpreter& in, const Args& args) { return repr(in, args[0]); }

Value object_format(Interpreter& in, const Args& args) {
  if (is_str(args[1]) && as_str(args[1])->size != 0) {
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
  if (found.is_undefined()) found = generic_find_attr(in, args[0], name);
  if (found.is_undefined()) {
    throw_attribute_error(in, args[0], name,
                          "'" + name_of(type) + "' object has no attribute '" + std::string(name->view()) + "'");
  }
  return found;
}

void set_plainly(Interpreter& in, const Value& object, Str* name, const Value& value) {
  Type* type = type_of(in, object);
  if (is_type(object)) set_type_attribute(in, as_type(object), name, value);
  else if (type->slots.set_attr != nullptr) type->slots.set_attr(in, object, name, value);
  else generic_set_attr(in, object, name, value);
}

Value object_setattr(Interpreter& in, const Args& args) {
  set_plainly(in, args[0], name_argument(in, args[1]), args[2]);
  return Value::none();
}

Value object_delattr(Interpreter& in, const Args& args) {
  set_plainly(in, args[0], name_argument(in, args[1]), Value());
  return Value::none();
}

Value object_dir(Interpreter& in, const Args& args) { return attribute_names(in, args[0]); }

Value object_init_subclass(Interpreter& in, const Args& args) {
  if (args.count > 1) {
    const std::string name = is_type(args[0]) ? name_of(as_type(args[0])) : std::string(type_name(in, args[0]));
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

const NativeDef kObjectMethods[] = {
    {"__new__", object_new, ""},
    {"__repr__(self, /)", object_repr_method},
    {"__str__(self, /)", object_str},
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
    {"__getstate__(self, /)", object_getstate},
    {"__reduce__(self, /)", object_reduce},
    {"__reduce_ex__(self, protocol: int, /)", object_reduce_ex},
};

// A function that gets its arguments as they were written, with the object (or class) in front.
Value raw_method(Interpreter& in, Type* owner, const char* name, NativeFn function) {
  auto* f = make_object<NativeFunction>(in, in.types.native_function);
  f->function = function;
  f->signature = nullptr;
  f->text = nullptr;
  f->doc = "";
  f->name = intern(in, name);
  f->module = nullptr;
  f->owner = owner;
  f->takes_class = false;
  return Value::adopt(f);
}

// ---- type ------------------------------------------------------------------------------------------------------------

Value type_make(Interpreter& in, Type*, const Args& args) {
  if (args.count == 1 && args.keyword_names == nullptr) return as_value(type_of(in, args[0]));
  const uint32_t positional = args.positional();
  if (positional != 3) throw_error(ErrorKind::TypeError, "type() takes 1 or 3 arguments");
  if (!is_str(args[0]))
    throw_error(ErrorKind::TypeError, "type.__new__() argument 1 must be str, not %s",
                std::string(type_name(in, args[0])).c_str());
  if (!is_tuple(args[1]))
    throw_error(ErrorKind::TypeError, "type.__new__() argument 2 must be tuple, not %s",
                std::string(type_name(in, args[1])).c_str());
  if (!is_dict(args[2]))
    throw_error(ErrorKind::TypeError, "type.__new__() argument 3 must be dict, not %s",
                std::string(type_name(in, args[2])).c_str());
  const Value keywords = make_dict(in);
  for (uint32_t i = positional; i < args.count; ++i)
    dict_set(in, as_dict(keywords), args.keyword_names->items[i - positional], args[i]);
  return make_class(in, intern(in, text_of(args[0])), args[1], args[2], keywords);
}

// type.__new__(type, name, bases, namespace): as type() with three arguments, which are all it takes.
Value type_new(Interpreter& in, const Args& args) {
  Args rest = args;
  ++rest.values;
  --rest.count;
  if (rest.positional() != 3)
    throw_error(ErrorKind::TypeError, "type.__new__() takes exactly 3 arguments (%u given)", rest.positional());
  return type_make(in, as_type(args[0]), rest);
}

Value type_call_method(Interpreter& in, const Args& args) {
  Args rest = args;
  ++rest.values;
  --rest.count;
  return instantiate(in, as_type(args[0]), rest);
}

Value type_mro(Interpreter& in, const Args& args) { return list_from(in, get_attr(in, args[0], in.names->mro_)); }

Value type_subclasses(Interpreter& in, const Args& args) {
  const Value list = make_list(in);
  Type* const type = as_type(args[0]);
  const bool of_exceptions = (type->type_flags & kExceptionType) && !(type->type_flags & kScriptClass);
  for (Type* sub : of_exceptions ? exception_subclasses(in, type) : type->subclasses)
    if (sub != nullptr) list_append(in, as_list(list), as_value(sub));
  return list;
}

Value type_instancecheck(Interpreter& in, const Args& args) {
  return Value::boolean(is_instance(in, args[1], as_type(args[0])));
}
Value type_subclasscheck(Interpreter&, const Args& args) {
  return Value::boolean(is_type(args[1]) && as_type(args[1])->is_subtype_of(as_type(args[0])));
}

const NativeDef kTypeMethods[] = {
    {"__new__", type_new},
    {"mro(self, /)", type_mro},
    {"__subclasses__(self, /)", type_subclasses},
    {"__instancecheck__(self, instance, /)", type_instancecheck},
    {"__subclasscheck__(self, subclass, /)", type_subclasscheck},
};

Value module_make(Interpreter& in, Type*, const Args& args) {
  if (args.count == 0 || !is_str(args[0]))
    throw_error(ErrorKind::TypeError, "module() missing required argument 'name' (pos 1)");
  Module* module = make_module(in, text_of(args[0]));
  const Value result = Value::adopt(module);
  if (args.count > 1) dict_set_str(in, module->dict, in.names->doc, args[1]);
  return result;
}

void fill_object(Interpreter& in, Type* object) {
  in.add_methods(object, kObjectMethods, std::size(kObjectMethods));
  dict_set_str(in, object->attributes(), in.names->init, raw_method(in, object, "__init__", object_init));
  dict_set_str(in, object->attributes(), in.names->init_subclass,
               make_class_method(in, raw_method(in, nullptr, "__init_subclass__", object_init_subclass)));
}

void fill_type(Interpreter& in, Type* type) {
  in.add_methods(type, kTypeMethods, std::size(kTypeMethods));
  dict_set_str(in, type->attributes(), in.names->call, raw_method(in, type, "__call__", type_call_method));
  for (Str* name : {in.names->setattr, in.names->delattr})
    dict_set_str(in, type->attributes(), name, type_lookup(in.types.object, name));
  add_class_getitem(in, type);
}

}  // namespace

void add_core_methods(Interpreter& in) {
  BuiltinTypes& t = in.types;
  t.module->make = module_make;
  t.type->make = type_make;
  t.object->fill_later(fill_object);
  t.type->fill_later(fill_type);
  add_descriptors(in);
}

}  // namespace tessera::lang
