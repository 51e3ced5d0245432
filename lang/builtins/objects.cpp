// len, repr, hash, id, attributes by name, isinstance and their like.
// compile: few-inlines (no faster with more inlines)
#include <optional>

#include "lang/core/object_cast.h"
#include "lang/core/failure.h"
#include "lang/objects/attribute.h"
#include "lang/objects/attribute_reads.h"
#include "lang/objects/class.h"
#include "lang/builtins/builtins.h"
#include "lang/assist/call_form.h"
#include "lang/core/bind.h"
#include "lang/core/host.h"
#include "lang/core/error.h"
#include "lang/objects/exception.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/format.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
bool short_length(Interpreter& in, Value* args, Value& answer) {
  if (!args[0].is_object()) return false;
  const Object* const object = args[0].as_object();
  if (object->type->type_flags & kScriptClass) return false;
  switch (object->kind) {
    case ObjectKind::List: answer = Value::integer(known_cast<const List>(object)->size); return true;
    case ObjectKind::Tuple: answer = Value::integer(known_cast<const Tuple>(object)->size); return true;
    case ObjectKind::Str: answer = Value::integer(known_cast<const Str>(object)->length); return true;
    case ObjectKind::Dict: answer = Value::integer(known_cast<const Dict>(object)->count); return true;
    case ObjectKind::Set: answer = Value::integer(known_cast<const Set>(object)->count); return true;
    default:
      if (object->type->slots.length == nullptr) return false;
      answer = Value::integer(object->type->slots.length(in, args[0]));
      return true;
  }
}

namespace {

Value len_function(Interpreter& in, const Args& args) {
  if (type_of(in, args[0])->slots.length != nullptr) return Value::integer(length(in, args[0]));
  return failure(in, ErrorKind::TypeError, {"object of type '", type_name(in, args[0]), "' has no len()"});
}

Value repr_function(Interpreter& in, const Args& args) { return repr(in, args[0]); }
Value ascii_function(Interpreter& in, const Args& args) {
  const Value text = repr(in, args[0]);
  return as_str(text)->is_ascii() ? text : make_str(in, escape_non_ascii(text_of(text)));
}
Value hash_function(Interpreter& in, const Args& args) { return Value::integer(hash(in, args[0])); }
Value callable_function(Interpreter& in, const Args& args) { return Value::boolean(is_callable(in, args[0])); }

// An object's address; for an immediate an odd number, so that the two never meet.
Value id_function(Interpreter&, const Args& args) {
  const Value& v = args[0];
  if (v.is_object()) return Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(v.as_object())));
  const uint64_t bits = static_cast<uint64_t>(v.as_int()) * 8 + static_cast<uint64_t>(v.tag()) * 2 + 1;
  return Value::integer(static_cast<int64_t>(bits & 0x7fffffffffffffffu));
}

Value format_function(Interpreter& in, const Args& args) { return format(in, args[0], text_of(args[1])); }

// Attribute names given as strings are interned, as those in source text are.
Str* attribute_name(Interpreter& in, const Value& name) {
  if (!is_str(name)) {
    throw Error(ErrorKind::TypeError, "attribute name must be string, not '" + std::string(type_name(in, name)) + "'");
  }
  return (as_str(name)->flags & kInterned) && name.as_object()->type == in.types.str ? as_str(name)
                                                                                     : intern(in, text_of(name));
}

Value getattr_function(Interpreter& in, const Args& args) {
  Str* name = attribute_name(in, args[1]);
  if (args[2].is_undefined()) {
    Value error;
    Value found = get_attr_or_error(in, args[0], name, error);
    return found.is_undefined() ? failure_of(std::move(error)) : found;
  }
  Value found = find_attr(in, args[0], name);
  return found.is_undefined() ? args[2] : found;
}

// The name that getattr and hasattr were given, if it needs no interning; else null.
Str* interned_name(Interpreter& in, const Value& name) {
  return is_str(name) && (as_str(name)->flags & kInterned) && name.as_object()->type == in.types.str ? as_str(name)
                                                                                                     : nullptr;
}

bool short_getattr(Interpreter& in, Value* args, Value& answer) {
  Str* const name = interned_name(in, args[1]);
  const Value* own;
  if (name == nullptr || !has_only_own_attribute(in, args[0], name, own) || own == nullptr) return false;
  answer = *own;
  return true;
}

bool short_hasattr(Interpreter& in, Value* args, Value& answer) {
  Str* const name = interned_name(in, args[1]);
  const Value* own;
  if (name == nullptr || !has_only_own_attribute(in, args[0], name, own)) return false;
  answer = Value::boolean(own != nullptr);
  return true;
}

Value hasattr_function(Interpreter& in, const Args& args) {
  return Value::boolean(!find_attr(in, args[0], attribute_name(in, args[1])).is_undefined());
}

Value setattr_function(Interpreter& in, const Args& args) {
  set_attr(in, args[0], attribute_name(in, args[1]), args[2]);
  return Value::none();
}

Value delattr_function(Interpreter& in, const Args& args) {
  del_attr(in, args[0], attribute_name(in, args[1]));
  return Value::none();
}

Value isinstance_function(Interpreter& in, const Args& args) {
  return Value::boolean(is_instance(in, args[0], args[1]));
}
bool short_isinstance(Interpreter& in, Value* args, Value& answer) {
  const Type* const wanted = is_type(args[1]) ? as_type(args[1]) : nullptr;
  if (wanted != nullptr && wanted->type == in.types.type) [[likely]] {
    const Type* const type = type_of(in, args[0]);
    const bool fits = type->is_subtype_of(wanted);
    if (fits || !(type->type_flags & (kScriptClass | kForwardsClass))) {  // may not claim to be of another class
      answer.set_bool(fits);
      return true;
    }
  }
  const std::optional<bool> known = plain_classes_say(in, args[0], args[1]);
  if (known) answer = Value::boolean(*known);
  return known.has_value();
}

Value issubclass_function(Interpreter& in, const Args& args) {
  return Value::boolean(is_subclass(in, args[0], args[1]));
}

Value exit_function(Interpreter&, const Args& args) { throw Error(ErrorKind::SystemExit, args[0]); }

std::string doc_of(Interpreter& in, const Value& object) {
  const Value doc = find_attr(in, object, in.names->doc);
  return is_str(doc) ? std::string(text_of(doc)) : std::string();
}

// What a program's own classes and functions are is told by a module of the library, where there is one.
bool is_told_by_library(const Value& object) {
  if (!object.is_object()) return false;
  const ObjectKind kind = object.as_object()->kind;
  if (kind == ObjectKind::Type) return (object_cast<Type>(object)->type_flags & kScriptClass) != 0;
  return kind == ObjectKind::Function || kind == ObjectKind::BoundMethod || kind == ObjectKind::Module ||
         kind == ObjectKind::Instance;
}

Value library_help(Interpreter& in, const Value& object) {
  std::string path;
  bool is_package = false;
  if (!in.host().embedded_module || !in.host().embedded_module("_help", path, is_package)) return Value();
  return call(in, get_attr(in, Value(in.import("_help")), intern(in, "text_of")), {object});
}

// Of a function that binds its arguments itself: how its forms are called, by the schemas that its description begins with.
std::string heading_of(const NativeFunction& function) {
  const std::string doc = doc_of(&function), name(function.name->view());
  std::string heading;
  for (size_t begin = 0; begin < doc.size();) {
    const size_t end = std::min(doc.find('\n', begin), doc.size());
    const std::string_view line = std::string_view(doc).substr(begin, end - begin);
    const bool schema =
        line.starts_with(name) && (line.substr(name.size(), 1) == "(" || line.substr(name.size(), 1) == ".");
    if (schema && line.find(") -> ") != line.npos) heading += form_of_schema(line, name, false).text + "\n";
    begin = end + 1;
  }
  return heading.empty() ? name + "(...)\n" : heading;
}

// Returns true for an object of a program's own files: its module has a file that is not inside of this program.
bool is_of_files(Interpreter& in, const Value& object) {
  const Value name = find_attr(in, object, intern(in, "__module__"));
  if (!is_str(name)) return false;
  const Value modules = get_attr(in, Value(static_cast<Object*>(in.import("sys"))), intern(in, "modules"));
  const Value module = call(in, get_attr(in, modules, intern(in, "get")), {name});
  const Value file = module.is_none() ? module : find_attr(in, module, intern(in, "__file__"));
  return is_str(file) && !text_of(file).starts_with("stdlib/");
}

// The words of Python's pydoc, where the machine has it; false where it has not.
bool helped_by_pydoc(Interpreter& in, const Value& object) {
  try {
    call(in, get_attr(in, Value(static_cast<Object*>(in.import("pydoc"))), intern(in, "help")), {object});
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::ImportError)) throw;
    return false;
  }
  return true;
}

Value help_function(Interpreter& in, const Args& args) {
  if (!args[0].is_undefined() && is_of_files(in, args[0]) && helped_by_pydoc(in, args[0])) return Value::none();
  const std::string out =
      args[0].is_undefined() ? "Type help(object) for help about object.\n" : help_text(in, args[0]);
  if (in.host().write_out) in.host().write_out(out);
  return Value::none();
}

Value import_function(Interpreter& in, const Args& args) {
  const std::string_view name = text_of(args[0]);
  Module* module = in.import(name);
  const size_t dot = name.find('.');
  const bool wants_leaf = args[3].is_object() && truth(in, args[3]);
  return Value(dot == name.npos || wants_leaf ? module : in.import(name.substr(0, dot)));
}

constexpr NativeDef kRows[] = {
    {"len(obj, /)", len_function, "Return the number of items in a container.", {short_length, 1}},
    {"repr(obj, /)", repr_function, "Return the canonical string representation of the object."},
    {"ascii(obj, /)", ascii_function, "Return an ASCII-only representation of an object."},
    {"hash(obj, /)", hash_function, "Return the hash value for the given object."},
    {"id(obj, /)", id_function, "Return the identity of an object."},
    {"callable(obj, /)", callable_function, "Return whether the object is callable."},
    {"format(value, format_spec: str = '', /)", format_function, "Return value.__format__(format_spec)."},
    {"getattr(object, name, default=..., /)",
     getattr_function,
     "Get a named attribute from an object.",
     {short_getattr, 2}},
    {"hasattr(obj, name, /)",
     hasattr_function,
     "Return whether the object has an attribute with the given name.",
     {short_hasattr, 2}},
    {"setattr(obj, name, value, /)", setattr_function, "Set the named attribute on the object to the value."},
    {"delattr(obj, name, /)", delattr_function, "Delete the named attribute from the object."},
    {"isinstance(obj, class_or_tuple, /)",
     isinstance_function,
     "Return whether an object is an instance of a class.",
     {short_isinstance, 2}},
    {"issubclass(cls_, class_or_tuple, /)", issubclass_function,
     "Return whether a class is derived from another class."},
    {"exit(code=None)", exit_function, "Leave the program."},
    {"quit(code=None)", exit_function, "Leave the program."},
    {"__build_class__", build_class_function, "Internal helper function used by the class statement."},
    {"help(request=..., /)", help_function, "Show what is known about an object."},
    {"__import__(name: str, globals=None, locals=None, fromlist=(), level=0)", import_function, "Import a module."},
};

}  // namespace

std::string help_text(Interpreter& in, const Value& object) {
  if (is_told_by_library(object)) {
    const Value told = library_help(in, object);
    if (!told.is_undefined()) return std::string(text_of(told));
  }
  std::string out;
  if (object.is_object() && object.as_object()->kind == ObjectKind::NativeFunction) {
    const auto* f = object_cast<NativeFunction>(object);
    const Signature* signature = signature_of(in, f);
    out = (signature != nullptr ? signature->text + "\n" : heading_of(*f));
  } else {
    const Value name = find_attr(in, object, in.names->name);
    out = "Help on " + std::string(type_name(in, object)) + (is_str(name) ? " " + std::string(text_of(name)) : "") +
          ":\n";
  }
  std::string doc = doc_of(in, object);
  for (size_t at = 0; (at = doc.find('\n', at)) != doc.npos; ++at)
    if (at + 1 < doc.size() && doc[at + 1] != '\n') doc.insert(at + 1, "    ");
  if (!doc.empty()) out += "\n    " + doc + "\n";
  return out;
}

void add_object_functions(Interpreter& in, Module& module) { define_all(in, module, kRows); }

}  // namespace tessera::lang
