// The order in which the built-in types come into being.
#include "lang/types/types.h"

#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/bytes.h"
#include "lang/types/set.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

void make_names(Interpreter& in) {
  in.names = new Names();
#define TS_NAME(member, text) in.names->member = intern(in, text);
#include "lang/core/names.def"
#undef TS_NAME
}

void make_shared_strings(Interpreter& in) {
  SharedObjects& shared = *in.shared;
  shared.empty_str = Value::adopt(new_str(in, 0, 0));
  for (int c = 0; c < 128; ++c) {
    Str* s = new_str(in, 1, 1);
    s->data[0] = static_cast<char>(c);
    shared.chars[c] = Value::adopt(s);
  }
}

Value none_repr(Interpreter& in, const Value&) { return make_str(in, "None"); }
Value not_implemented_repr(Interpreter& in, const Value&) { return make_str(in, "NotImplemented"); }
Value ellipsis_repr(Interpreter& in, const Value&) { return make_str(in, "Ellipsis"); }

Type* singleton_type(Interpreter& in, Type* made, const char* name, Value (*show)(Interpreter&, const Value&)) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "builtins";
  spec.kind = ObjectKind::Other;
  spec.size = sizeof(Object);
  spec.flags = kFinalType;
  Type* type = made != nullptr ? made : in.new_type(spec);
  type->slots.destroy = destroy_plain<Object>;
  type->slots.repr = show;
  return type;
}

Value make_none(Interpreter&, Type*, const Args& args) {
  if (args.count > 0) throw_error(ErrorKind::TypeError, "NoneType takes no arguments");
  return Value::none();
}
Value make_not_implemented(Interpreter& in, Type*, const Args& args) {
  if (args.count > 0) throw_error(ErrorKind::TypeError, "NotImplementedType takes no arguments");
  return in.not_implemented;
}
Value make_ellipsis(Interpreter& in, Type*, const Args& args) {
  if (args.count > 0) throw_error(ErrorKind::TypeError, "EllipsisType takes no arguments");
  return in.ellipsis;
}

// Pickled by name.
Value reduce_singleton(Interpreter& in, const Args& args) {
  return make_str(in, args[0].is(in.ellipsis) ? "Ellipsis" : "NotImplemented");
}
constexpr NativeDef kReduce[] = {{"__reduce__(self, /)", reduce_singleton}};

void fill_singleton(Interpreter& in, Type* type) {
  slot_methods(in, type);
  if (type != in.types.none) add_rows(in, type, kReduce);
}

}  // namespace

void make_singleton_types(Interpreter& in) {
  BuiltinTypes& t = in.types;
  t.none = singleton_type(in, t.none, "NoneType", none_repr);
  t.none->slots.truth = [](Interpreter&, const Value&) { return false; };
  t.none->make = make_none;
  t.not_implemented = singleton_type(in, t.not_implemented, "NotImplementedType", not_implemented_repr);
  t.not_implemented->make = make_not_implemented;
  t.not_implemented->slots.truth = [](Interpreter& i, const Value&) {
    i.warn(ErrorKind::DeprecationWarning, "NotImplemented should not be used in a boolean context");
    return true;
  };
  t.ellipsis = singleton_type(in, t.ellipsis, "ellipsis", ellipsis_repr);
  t.ellipsis->make = make_ellipsis;
  if (in.not_implemented.is_undefined()) in.not_implemented = Value::adopt(make_object<Object>(in, t.not_implemented));
  if (in.ellipsis.is_undefined()) in.ellipsis = Value::adopt(make_object<Object>(in, t.ellipsis));
}

void make_first_types(Interpreter& in) {
  in.shared = new SharedObjects();
  str_slots(in);
  list_slots(in);
  tuple_slots(in);
  dict_slots(in);
  make_shared_strings(in);
  in.shared->empty_tuple = Value::adopt(new_tuple(in, 0));
  make_names(in);
}

void make_value_types(Interpreter& in) {
  make_singleton_types(in);
  make_number_types(in);
  make_set_types(in);
  make_range_types(in);
  make_iterator_types(in);
  make_view_types(in);
  make_mapping_proxy_type(in);
  in.shared->empty_frozenset = make_set(in, true);
  str_methods(in);
  list_methods(in);
  tuple_methods(in);
  dict_methods(in);
  set_methods(in);
  number_methods(in);
  range_methods(in);
  make_annotation_types(in);
  for (Type* type : {in.types.none, in.types.ellipsis, in.types.not_implemented}) type->fill_later(fill_singleton);
}

void drop_shared_objects(Interpreter& in) noexcept {
  in.shared->interned.for_each([](Str* s) { const Value let_go = Value::adopt(s); });
  delete in.shared->bytes;
  delete in.shared;
  in.shared = nullptr;
  delete in.names;
  in.names = nullptr;
}

}  // namespace tessera::lang
