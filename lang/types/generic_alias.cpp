// list[int] and int | None: what annotations are made of. Nothing is checked by them; isinstance understands unions.
#include "lang/objects/class.h"
#include "lang/objects/attribute.h"
#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/hash.h"
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

GenericAlias* alias_of(const Value& v) { return static_cast<GenericAlias*>(v.as_object()); }

bool is_union(Interpreter& in, const Value& v) { return v.is_object() && v.as_object()->type == in.shared->union_type; }
bool is_alias(Interpreter& in, const Value& v) { return v.is_object() && v.as_object()->type == in.shared->alias_type; }

Value make_alias(Interpreter& in, Type* type, const Value& origin, const Value& args) {
  GenericAlias* alias = make_object<GenericAlias>(in, type);
  alias->origin = origin;
  alias->args = args;
  return Value::adopt(alias);
}

// How a type stands inside of brackets: "int", "module.Class", "...".
std::string shown(Interpreter& in, const Value& v) {
  if (v.is(in.ellipsis)) return "...";
  if (!is_type(v)) return repr_text(in, v);
  const Type* type = static_cast<Type*>(v.as_object());
  if (type == in.types.none) return "None";
  const std::string_view name = type->qualname != nullptr ? type->qualname->view() : type->name->view();
  if (type->module == nullptr || type->module->view() == "builtins") return std::string(name);
  return std::string(type->module->view()) + "." + std::string(name);
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
  int64_t sum = 0;  // the order of a union's members does not matter
  for (const Value& each : *as_tuple(alias->args)) sum ^= hash(in, each);
  return sum;
}

Value alias_call(Interpreter& in, const Value& self, const Args& args) {
  return call(in, alias_of(self)->origin, args);
}

Value alias_get_item(Interpreter&, const Value& self, const Value&) { return self; }

// *tuple[int]: one item, the alias with a star. Without this, indexing by 0, 1, 2 ... would iterate without end.
Value alias_iter(Interpreter& in, const Value& self) {
  const Value starred = make_alias(in, self.as_object()->type, alias_of(self)->origin, alias_of(self)->args);
  alias_of(starred)->starred = true;
  return iter(in, make_tuple(in, {starred}));
}

Value alias_attribute(Interpreter& in, const Value& self, Str* name) {
  const Value own = generic_find_attr(in, self, name);
  if (!own.is_undefined() || name->view().starts_with("__")) return own;
  return find_attr(in, alias_of(self)->origin, name);
}

Value get_origin(Interpreter&, const Args& args) { return alias_of(args[0])->origin; }
Value get_args(Interpreter&, const Args& args) { return alias_of(args[0])->args; }
Value get_parameters(Interpreter& in, const Args&) { return in.shared->empty_tuple; }
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

constexpr NativeDef kAliasRows[] = {{"__mro_entries__(self, bases, /)", mro_entries, ""}};
constexpr NativeDef kGetItemRow[] = {{"__class_getitem__(cls, item, /)", class_getitem, "See PEP 585."}};

void fill_annotation(Interpreter& in, Type* type) {
  in.add_property(type, "__args__", get_args);
  in.add_property(type, "__parameters__", get_parameters);
  if (type != in.shared->alias_type) return;
  in.add_property(type, "__origin__", get_origin);
  add_rows(in, type, kAliasRows);
}

Type* annotation_type(Interpreter& in, const char* name, Value (*show)(Interpreter&, const Value&)) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "types";
  spec.kind = ObjectKind::Other;
  spec.size = sizeof(GenericAlias);
  spec.flags = kFinalType;
  Type* type = in.new_type(spec);
  TypeSlots& s = type->slots;
  s.destroy = destroy_plain<GenericAlias>;
  s.traverse = [](Object* self, Visitor& visitor) {
    visitor(static_cast<GenericAlias*>(self)->origin);
    visitor(static_cast<GenericAlias*>(self)->args);
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
  in.shared->union_type = annotation_type(in, "UnionType", union_repr);
  Type* alias = in.shared->alias_type = annotation_type(in, "GenericAlias", alias_repr);
  alias->make = alias_make;
  alias->slots.call = alias_call;
  alias->slots.get_item = alias_get_item;
  alias->slots.iter = alias_iter;
  alias->slots.get_attr = alias_attribute;
  if (in.types.type->slots.binary == nullptr) in.types.type->slots.binary = union_binary;
}

void add_class_getitem(Interpreter& in, Type* type) { add_rows(in, type, kGetItemRow); }

}  // namespace tessera::lang
