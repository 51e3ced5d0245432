// compile: small (annotations are made once)
// list[int] and int | None: what annotations are made of. Nothing is checked by them; isinstance understands unions. The
// substitution of type variables is in type_parameters.cpp.
// compile: few-inlines (no faster with more inlines)
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/objects/attribute.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/hash.h"
#include "lang/types/type_parameters.h"
#include "lang/types/set.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

struct GenericAlias : GcObject {
  Value origin;          // Undefined: a union
  Value args;            // tuple
  bool starred = false;  // *tuple[int]
};

GenericAlias* alias_of(const Value& v) { return object_cast<GenericAlias>(v); }

bool is_union(Interpreter& in, const Value& v) { return v.is_object() && v.as_object()->type == in.shared->union_type; }
bool is_alias(Interpreter& in, const Value& v) {
  return v.is_object() && v.as_object()->type->is_subtype_of(in.shared->alias_type);
}

Value make_alias(Interpreter& in, Type* type, const Value& origin, const Value& args) {
  GenericAlias* alias = make_object<GenericAlias>(in, type);
  alias->origin = origin;
  alias->args = args;
  return Value::adopt(alias);
}

// How a type stands inside of brackets: "int", "module.Class", "...".
std::string shown(Interpreter& in, const Value& v) {
  if (v.is(in.ellipsis)) return "...";
  if (v.is_object() && v.as_object() == in.types.none) return "None";
  const bool subscripted = !find_attr(in, v, intern(in, "__origin__")).is_undefined() &&
                           !find_attr(in, v, intern(in, "__args__")).is_undefined();
  const Value name = subscripted ? Value() : find_attr(in, v, in.names->qualname);
  const Value module = is_str(name) ? find_attr(in, v, in.names->module) : Value();
  if (module.is_undefined() || module.is_none()) return repr_text(in, v);
  const std::string module_name = str_text(in, module);
  return (module_name == "builtins" ? "" : module_name + ".") + std::string(text_of(name));
}

std::string joined(Interpreter& in, const Value& args, const char* between) {
  std::string out;
  for (const Value& each : *as_tuple(args)) {
    if (!out.empty()) out += between;
    out += shown(in, each);
  }
  return out;
}

Value alias_repr(Interpreter& in, const Value& self) {
  const GenericAlias* alias = alias_of(self);
  const std::string inside = as_tuple(alias->args)->size == 0 ? "()" : joined(in, alias->args, ", ");
  return make_str(in, (alias->starred ? "*" : "") + shown(in, alias->origin) + "[" + inside + "]");
}

Value union_repr(Interpreter& in, const Value& self) { return make_str(in, joined(in, alias_of(self)->args, " | ")); }

bool same_members(Interpreter& in, const Tuple* a, const Tuple* b) {
  if (a->size != b->size) return false;
  for (const Value& x : *const_cast<Tuple*>(a)) {
    bool found = false;
    for (const Value& y : *const_cast<Tuple*>(b)) found = found || equals(in, x, y);
    if (!found) return false;
  }
  return true;
}

Value alias_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if ((op != CompareOp::Eq && op != CompareOp::Ne) || !other.is_object() ||
      other.as_object()->type != self.as_object()->type) {
    return in.not_implemented;
  }
  const GenericAlias *a = alias_of(self), *b = alias_of(other);
  const bool same = is_union(in, self)
                        ? same_members(in, as_tuple(a->args), as_tuple(b->args))
                        : a->starred == b->starred && equals(in, a->origin, b->origin) && equals(in, a->args, b->args);
  return Value::boolean(same == (op == CompareOp::Eq));
}

int64_t alias_hash(Interpreter& in, const Value& self) {
  const GenericAlias* alias = alias_of(self);
  if (!is_union(in, self)) return hash(in, alias->origin) ^ hash(in, alias->args);
  // The order of a union's members does not matter, and typing.Union[...] has the same hash.
  return hash(in, call(in, Value(in.types.frozenset), {alias->args}));
}

// The instance remembers the alias that has made it, if it has room for that.
Value alias_call(Interpreter& in, const Value& self, const Args& args) {
  const Value keep = self;
  Value made = call(in, alias_of(self)->origin, args);
  try {
    set_attr(in, made, intern(in, "__orig_class__"), keep);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::AttributeError && error.kind != ErrorKind::TypeError) throw;
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::AttributeError) && !is_error(in, thrown.exception, ErrorKind::TypeError))
      throw;
  }
  return made;
}

Value alias_get_item(Interpreter& in, const Value& self, const Value& items) {
  const Value keep = self;
  const Value parameters = type_parameters(in, alias_of(self)->args);
  const Value args = substitute_parameters(in, self, alias_of(self)->args, parameters, items);
  const Value made = make_alias(in, in.shared->alias_type, alias_of(keep)->origin, args);
  alias_of(made)->starred = alias_of(keep)->starred;
  return made;
}

Value union_get_item(Interpreter& in, const Value& self, const Value& items) {
  const Value parameters = type_parameters(in, alias_of(self)->args);
  const Value args = substitute_parameters(in, self, alias_of(self)->args, parameters, items);
  Value made = as_tuple(args)->items[0];
  for (uint32_t i = 1; i < as_tuple(args)->size; ++i) made = binary(in, BinaryOp::Or, made, as_tuple(args)->items[i]);
  return made;
}

// *tuple[int]: one item, the alias with a star. Without this, indexing by 0, 1, 2 ... would iterate without end.
Value alias_iter(Interpreter& in, const Value& self) {
  const Value starred = make_alias(in, self.as_object()->type, alias_of(self)->origin, alias_of(self)->args);
  alias_of(starred)->starred = true;
  return iter(in, make_tuple(in, {starred}));
}

// An alias shows the attributes of its origin, apart from those that make it an alias.
Value alias_attribute(Interpreter& in, const Value& self, Str* name) {
  static constexpr std::string_view kOwn[] = {
      "__class__",      "__origin__", "__args__",   "__unpacked__",   "__parameters__", "__typing_unpacked_tuple_args__",
      "__mro_entries__", "__reduce__", "__reduce_ex__", "__copy__",   "__deepcopy__",   "__bases__"};
  for (const std::string_view own : kOwn) {
    if (name->view() == own) return Value();
  }
  if (self.as_object()->type != in.shared->alias_type) {  // a class below has attributes of its own
    const Value own = generic_find_attr(in, self, name);
    if (!own.is_undefined() && !name->view().starts_with("__")) return own;
  }
  return get_attr(in, alias_of(self)->origin, name);
}

Value get_origin(Interpreter&, const Args& args) { return alias_of(args[0])->origin; }
Value get_args(Interpreter&, const Args& args) { return alias_of(args[0])->args; }
Value get_parameters(Interpreter& in, const Args& args) { return type_parameters(in, alias_of(args[0])->args); }
Value is_unpacked(Interpreter&, const Args& args) { return Value::boolean(alias_of(args[0])->starred); }

// Of *tuple[int, str]: (int, str).
Value unpacked_tuple_args(Interpreter& in, const Args& args) {
  const GenericAlias* alias = alias_of(args[0]);
  const bool of_tuple = alias->origin.is_object() && alias->origin.as_object() == in.types.tuple;
  return alias->starred && of_tuple ? alias->args : Value::none();
}

Value reduce_alias(Interpreter& in, const Args& args) {
  const GenericAlias* alias = alias_of(args[0]);
  const Value parts = make_tuple(in, {alias->origin, alias->args});
  if (!alias->starred) return make_tuple(in, {Value(in.shared->alias_type), parts});
  const Value plain = make_alias(in, in.shared->alias_type, alias->origin, alias->args);
  const Value next = get_attr(in, Value(static_cast<Object*>(in.import("builtins"))), intern(in, "next"));
  return make_tuple(in, {next, make_tuple(in, {iter(in, plain)})});
}
Value mro_entries(Interpreter& in, const Args& args) { return make_tuple(in, {alias_of(args[0])->origin}); }

Value class_getitem(Interpreter& in, const Args& args) {
  return make_alias(in, in.shared->alias_type, args[0], is_tuple(args[1]) ? args[1] : make_tuple(in, {args[1]}));
}

// types.GenericAlias(origin, args)
Value alias_make(Interpreter& in, Type* type, const Args& args) {
  refuse_keywords("GenericAlias", args);
  check_count("GenericAlias", args, 2, 2);
  return make_alias(in, type, args[0], is_tuple(args[1]) ? args[1] : make_tuple(in, {args[1]}));
}

// --- unions

void add_member(Interpreter& in, std::vector<Value>& members, const Value& v) {
  if (is_union(in, v)) {
    for (const Value& each : *as_tuple(alias_of(v)->args)) add_member(in, members, each);
    return;
  }
  const Value member = v.is_none() ? Value(in.types.none) : v;
  for (const Value& each : members) {
    if (equals(in, each, member)) return;
  }
  members.push_back(member);
}

bool may_join(Interpreter& in, const Value& v) {
  return v.is_none() || is_type(v) || is_union(in, v) || is_alias(in, v);
}

// functools.reduce(operator.or_, members)
Value reduce_union(Interpreter& in, const Args& args) {
  const Value reduce = get_attr(in, Value(static_cast<Object*>(in.import("functools"))), intern(in, "reduce"));
  const Value join = get_attr(in, Value(static_cast<Object*>(in.import("operator"))), intern(in, "or_"));
  return make_tuple(in, {reduce, make_tuple(in, {join, alias_of(args[0])->args})});
}

constexpr NativeDef kAliasRows[] = {{"__mro_entries__(self, bases, /)", mro_entries, ""}, {"__reduce__(self, /)", reduce_alias, ""}};
constexpr NativeDef kUnionRows[] = {{"__reduce__(self, /)", reduce_union, ""}};
constexpr NativeDef kGetItemRow[] = {{"__class_getitem__(cls, item, /)", class_getitem, "See PEP 585."}};

void fill_annotation(Interpreter& in, Type* type) {
  in.add_property(type, "__args__", get_args);
  in.add_property(type, "__parameters__", get_parameters);
  if (type != in.shared->alias_type) {
    add_rows(in, type, kUnionRows);
    return;
  }
  in.add_property(type, "__origin__", get_origin);
  in.add_property(type, "__unpacked__", is_unpacked);
  in.add_property(type, "__typing_unpacked_tuple_args__", unpacked_tuple_args);
  add_rows(in, type, kAliasRows);
}

Type* annotation_type(Interpreter& in, const char* name, uint32_t flags, Value (*show)(Interpreter&, const Value&)) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "types";
  spec.kind = flags == 0 ? ObjectKind::Native : ObjectKind::Other;  // aliases take weak references
  spec.size = sizeof(GenericAlias);
  spec.flags = flags == 0 ? kCompletesLater : flags;
  Type* type = in.new_type(spec);
  TypeSlots& s = type->slots;
  s.destroy = destroy_plain<GenericAlias>;
  s.traverse = [](Object* self, Visitor& visitor) {
    visitor(known_cast<GenericAlias>(self)->origin);
    visitor(known_cast<GenericAlias>(self)->args);
  };
  s.repr = show;
  s.compare = alias_compare;
  s.hash = alias_hash;
  s.binary = union_binary;
  type->fill_later(fill_annotation);
  return type;
}

}  // namespace

Value union_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  if (op != BinaryOp::Or || !may_join(in, self) || !may_join(in, other)) return in.not_implemented;
  const Value &left = reflected ? other : self, &right = reflected ? self : other;
  std::vector<Value> members;
  // A union holds nothing twice, so its own members are taken unseen: long ones are made one by one.
  if (is_union(in, left))
    members.assign(as_tuple(alias_of(left)->args)->begin(), as_tuple(alias_of(left)->args)->end());
  else add_member(in, members, left);
  add_member(in, members, right);
  if (members.size() == 1) return members[0];
  return make_alias(in, in.shared->union_type, Value(), make_tuple(in, members.data(), members.size()));
}

void make_annotation_types(Interpreter& in) {
  in.shared->union_type = annotation_type(in, "UnionType", kFinalType, union_repr);
  in.shared->union_type->slots.get_item = union_get_item;
  Type* alias = in.shared->alias_type = annotation_type(in, "GenericAlias", 0, alias_repr);
  alias->make = alias_make;
  alias->slots.call = alias_call;
  alias->slots.get_item = alias_get_item;
  alias->slots.iter = alias_iter;
  alias->slots.get_attr = alias_attribute;
  if (in.types.type->slots.binary == nullptr) in.types.type->slots.binary = union_binary;
}

void add_class_getitem(Interpreter& in, Type* type) { add_rows(in, type, kGetItemRow); }

}  // namespace tessera::lang
