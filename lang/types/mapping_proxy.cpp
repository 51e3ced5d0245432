// types.MappingProxyType: a mapping that cannot be changed from here. `cls.__dict__` is one over the class's dict.
//
// The dict of a class may be changed through type.__setattr__ alone, which tells the caches: the proxy hands the mapping
// itself to no script code. Where a method needs another object's code with it (== and |), that gets a copy.
// compile: few-inlines (no faster with more inlines)
#include <string>

#include "lang/core/bind_maker.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/sequence.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

struct MappingProxy : GcObject {
  Value mapping;
};

const Value& held(const Value& self) { return object_cast<MappingProxy>(self)->mapping; }
bool is_proxy(Interpreter& in, const Value& v) {
  return v.is_object() && v.as_object()->type == in.shared->mapping_proxy_type;
}
bool is_exact_dict(Interpreter& in, const Value& v) { return v.is_object() && v.as_object()->type == in.types.dict; }

Value new_proxy(Interpreter& in, Type* type, const Value& mapping) {
  auto* proxy = make_object<MappingProxy>(in, type);
  proxy->mapping = mapping;
  return Value::adopt(proxy);
}

// The mapping for code that may keep or change it.
Value safe_copy(Interpreter& in, const Value& mapping) {
  return is_exact_dict(in, mapping) ? dict_copy(in, as_dict(mapping)) : mapping;
}

Value proxy_repr(Interpreter& in, const Value& self) {
  return make_str(in, "mappingproxy(" + repr_text(in, held(self)) + ")");
}
Value proxy_str(Interpreter& in, const Value& self) { return str(in, held(self)); }
int64_t proxy_length(Interpreter& in, const Value& self) { return length(in, held(self)); }
Value proxy_get_item(Interpreter& in, const Value& self, const Value& key) { return get_item(in, held(self), key); }
bool proxy_contains(Interpreter& in, const Value& self, const Value& key) { return contains(in, held(self), key); }
Value proxy_iter(Interpreter& in, const Value& self) { return iter(in, held(self)); }

Value proxy_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (is_proxy(in, other)) {  // which is asked in turn, the other way round
    return compare(in, op, is_exact_dict(in, held(self)) ? held(self) : safe_copy(in, held(self)), other);
  }
  const bool plain = is_exact_dict(in, held(self)) && is_exact_dict(in, other);
  return compare(in, op, plain ? held(self) : safe_copy(in, held(self)), plain ? other : safe_copy(in, other));
}

Value proxy_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  if (op != BinaryOp::Or) return in.not_implemented;
  const Value mine = safe_copy(in, held(self)), theirs = is_proxy(in, other) ? safe_copy(in, held(other)) : other;
  return reflected ? binary(in, op, theirs, mine) : binary(in, op, mine, theirs);
}

Value proxy_inplace(Interpreter& in, BinaryOp op, const Value& self, const Value&) {
  if (op != BinaryOp::Or) return in.not_implemented;
  throw_error(ErrorKind::TypeError, "'|=' is not supported by %s; use '|' instead",
              std::string(type_name(in, self)).c_str());
}

template <Str* Names::*kName>
Value forward(Interpreter& in, const Args& args) {
  return call_method(in, held(args[0]), in.names->*kName);
}
Value proxy_get(Interpreter& in, const Args& args) {
  return call_method(in, held(args[0]), in.names->get_, {args[1], args[2]});
}
Value proxy_copy(Interpreter& in, const Args& args) { return call_method(in, held(args[0]), in.names->copy); }
Value proxy_reversed(Interpreter& in, const Args& args) { return call_method(in, held(args[0]), in.names->reversed); }

Value proxy_make(Interpreter& in, Type* type, const Args& args) {
  Value slots[1];
  bind_maker(in, "mappingproxy(mapping)", args, slots);
  const Value& mapping = slots[0];
  const bool is_mapping = mapping.is_object() && is_mapping_type(mapping.as_object()->type) &&
                          !is_list(mapping) && !is_tuple(mapping) && !is_type(mapping);
  if (!is_mapping)
    throw_error(ErrorKind::TypeError, "mappingproxy() argument must be a mapping, not %s",
                std::string(type_name(in, mapping)).c_str());
  return new_proxy(in, type, mapping);
}

constexpr NativeDef kProxyRows[] = {
    {"get(self, key, default=None, /)", proxy_get, "Return the value for key if present, else default."},
    {"keys(self, /)", forward<&Names::keys>, "A set-like object providing a view on the mapping's keys."},
    {"values(self, /)", forward<&Names::values>, "An object providing a view on the mapping's values."},
    {"items(self, /)", forward<&Names::items>, "A set-like object providing a view on the mapping's items."},
    {"copy(self, /)", proxy_copy, "A shallow copy of the mapping."},
    {"__reversed__(self, /)", proxy_reversed, ""},
};

void fill_proxy(Interpreter& in, Type* type) {
  add_rows(in, type, kProxyRows);
  slot_methods(in, type);
  operator_methods(in, type, 1u << static_cast<int>(BinaryOp::Or));
  dict_set_str(in, type->attributes(), in.names->hash, Value::none());
  add_class_getitem(in, type);
}

}  // namespace

Value make_mapping_proxy(Interpreter& in, const Value& mapping) {
  return new_proxy(in, in.shared->mapping_proxy_type, mapping);
}

void make_mapping_proxy_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "mappingproxy";
  spec.module = "builtins";
  spec.kind = ObjectKind::Other;
  spec.size = sizeof(MappingProxy);
  spec.flags = kFinalType | kMatchesMapping;
  Type* const type = in.shared->mapping_proxy_type = in.new_type(spec);
  TypeSlots& s = type->slots;
  s.destroy = destroy_plain<MappingProxy>;
  s.traverse = [](Object* self, Visitor& visitor) { visitor(known_cast<MappingProxy>(self)->mapping); };
  s.repr = proxy_repr;
  s.str = proxy_str;
  s.hash = nullptr;
  s.length = proxy_length;
  s.get_item = proxy_get_item;
  s.contains = proxy_contains;
  s.iter = proxy_iter;
  s.compare = proxy_compare;
  s.binary = proxy_binary;
  s.inplace = proxy_inplace;
  type->make = proxy_make;
  type->fill_later(fill_proxy);
}

}  // namespace tessera::lang
