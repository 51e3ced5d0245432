// Which type a value has, and isinstance and issubclass.
// compile: few-inlines (no faster with more inlines)
#include <algorithm>
#include <string>

#include "lang/compiler/chunk.h"
#include "lang/core/error.h"
#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/core/protocol.h"
#include "lang/types/class_names.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {

Type* type_of(Interpreter& in, const Value& value) {
  switch (value.tag()) {
    case Tag::Object: return value.as_object()->type;
    case Tag::Int: return in.types.integer;
    case Tag::Float: return in.types.real;
    case Tag::Bool: return in.types.boolean;
    default: return in.types.none;
  }
}

namespace {

// As entry.compare(module + "." + name), without making that text: messages of errors ask for names often.
int compare_joined(std::string_view entry, std::string_view module, std::string_view name) {
  if (const int order = entry.substr(0, module.size()).compare(module); order != 0) return order;
  entry.remove_prefix(module.size());
  if (entry.empty()) return -1;
  if (entry.front() != '.') return entry.front() < '.' ? -1 : 1;
  return entry.substr(1).compare(name);
}

}  // namespace

std::string_view ClassNames::find(std::string_view module, std::string_view name) const {
  if (module.empty() || name.empty() || !letters_[letters_of(module.front(), name.back(), module.size() + 1 + name.size())]) return {};
  const auto found = std::lower_bound(names_.begin(), names_.end(), name, [&](std::string_view entry, std::string_view) {
    return compare_joined(entry, module, name) < 0;
  });
  return found != names_.end() && compare_joined(*found, module, name) == 0 ? *found : std::string_view();
}

std::string_view type_name(Interpreter& in, const Value& value) { return type_name(in, type_of(in, value)); }

std::string_view type_name(Interpreter& in, const Type* type) {
  const std::string_view name = type->name->view();
  if (type->module == nullptr || type->module == in.names->builtins) return name;
  const std::string_view module = type->module->view();
  if (type->type_flags & kNamedAlone) return name;
  if (!(type->type_flags & kScriptClass)) {
    return intern(in, std::string(module) + "." + std::string(name))->view();  // interned texts live as long as the interpreter
  }
  const ClassNames* const names = in.host().classes_of_c;
  const std::string_view found = names == nullptr ? "" : names->find(module, name);
  return found.empty() ? name : found;
}

const char* argument_type(Interpreter& in, const Value& value) {
  return value.is_none() ? "None" : intern(in, type_name(in, value))->data;
}

bool is_instance(Interpreter& in, const Value& value, const Type* type) {
  return type_of(in, value)->is_subtype_of(type);
}

namespace {

// The class that a value is, or null.
Type* class_of(const Value& v) { return is_type(v) ? as_type(v) : nullptr; }

// The alternatives of `int | str`, or Undefined.
Value union_members(Interpreter& in, const Value& v) {
  if (!v.is_object() || v.as_object()->type->name->view() != "UnionType") return Value();
  return find_attr(in, v, in.names->args_);
}

}  // namespace

bool may_claim_class(Interpreter& in, const Type* type) {
  if (!(type->type_flags & kScriptClass)) return (type->type_flags & kForwardsClass) != 0;
  if (type->type_flags & kHasGetAttribute) return true;
  const Value& found = type_lookup(type, in.names->class_);
  return !found.is_object() || found.as_object()->type != in.types.getset_descriptor ||
         !known_cast<Property>(found)->owner.is(Value(in.types.object));
}

// The class that an object claims by a __class__ of its own, or null.
static Type* claimed_class(Interpreter& in, const Value& value) {
  return may_claim_class(in, type_of(in, value)) ? class_of(find_attr(in, value, in.names->class_)) : nullptr;
}

bool plain_is_instance(Interpreter& in, const Value& value, Type* type) {
  if (type_of(in, value)->is_subtype_of(type)) return true;
  const Type* const claimed = claimed_class(in, value);
  return claimed != nullptr && claimed->is_subtype_of(type);
}

bool plain_is_subclass(Interpreter&, const Value& sub, Type* type) {
  if (class_of(sub) == nullptr) throw Error(ErrorKind::TypeError, "issubclass() arg 1 must be a class");
  return class_of(sub)->is_subtype_of(type);
}

// The __instancecheck__ or __subclasscheck__ of a metaclass; Undefined for type's own.
static Value own_check(Interpreter& in, const Type* type, Str* name) {
  if (type->type == in.types.type) return Value();
  const Value& found = type_lookup(type->type, name);
  return found.is(type_lookup(in.types.type, name)) ? Value() : Value(found);
}

std::optional<bool> plain_classes_say(Interpreter& in, const Value& value, const Value& wanted) {
  const Type* const type = type_of(in, value);
  const auto first = is_tuple(wanted) ? as_tuple(wanted)->items : &wanted;
  const size_t count = is_tuple(wanted) ? as_tuple(wanted)->size : 1;
  for (size_t i = 0; i < count; ++i) {
    const Type* const each = class_of(first[i]);
    if (each == nullptr || each->type != in.types.type) return std::nullopt;
    if (type->is_subtype_of(each)) return true;
  }
  if (may_claim_class(in, type)) return std::nullopt;
  return false;
}

// list[int] is no class, although its attributes are those of one.
static void refuse_parameterized(Interpreter& in, const Value& wanted, const char* function) {
  if (type_of(in, wanted)->is_subtype_of(in.shared->alias_type))
    throw_error(ErrorKind::TypeError, "%s() argument 2 cannot be a parameterized generic", function);
}

bool is_instance(Interpreter& in, const Value& value, const Value& wanted) {
  if (const std::optional<bool> known = plain_classes_say(in, value, wanted)) return *known;
  if (Type* type = class_of(wanted)) {
    if (type_of(in, value) == type) return true;
    const Value check = own_check(in, type, in.names->instancecheck);
    return check.is_undefined() ? plain_is_instance(in, value, type)
                                : truth(in, call_special(in, check, wanted, {value}));
  }
  const Value members = is_tuple(wanted) ? wanted : union_members(in, wanted);
  if (is_tuple(members)) {
    const RecursionGuard guard(in, " in __instancecheck__");
    for (const Value& each : *as_tuple(members)) {
      if (each.is_none() ? value.is_none() : is_instance(in, value, each)) return true;
    }
    return false;
  }
  const Value check = type_lookup(type_of(in, wanted), in.names->instancecheck);
  if (!check.is_undefined()) return truth(in, call_special(in, check, wanted, {value}));
  refuse_parameterized(in, wanted, "isinstance");
  throw Error(ErrorKind::TypeError, "isinstance() arg 2 must be a type, a tuple of types, or a union");
}

bool is_subclass(Interpreter& in, const Value& sub, const Value& wanted) {
  if (Type* type = class_of(wanted)) {
    const Value check = own_check(in, type, in.names->subclasscheck);
    return check.is_undefined() ? plain_is_subclass(in, sub, type)
                                : truth(in, call_special(in, check, wanted, {sub}));
  }
  const Value members = is_tuple(wanted) ? wanted : union_members(in, wanted);
  if (is_tuple(members)) {
    const RecursionGuard guard(in, " in __subclasscheck__");
    for (const Value& each : *as_tuple(members)) {
      if (is_subclass(in, sub, each)) return true;
    }
    return false;
  }
  const Value check = type_lookup(type_of(in, wanted), in.names->subclasscheck);
  if (!check.is_undefined()) return truth(in, call_special(in, check, wanted, {sub}));
  refuse_parameterized(in, wanted, "issubclass");
  if (class_of(sub) == nullptr) throw Error(ErrorKind::TypeError, "issubclass() arg 1 must be a class");
  throw Error(ErrorKind::TypeError, "issubclass() arg 2 must be a class, a tuple of classes, or a union");
}

}  // namespace tessera::lang
