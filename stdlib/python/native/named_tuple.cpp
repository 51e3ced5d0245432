// The fields of named tuples and the usual call of their classes, for collections.namedtuple: both stand in every loop over
// rows, and a script function for each would be most of its time.
#include <algorithm>

#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

// --- the descriptor of a field

struct Field : GcObject {
  int64_t index = 0;
  Value doc;
};

void destroy_field(Interpreter& in, Object* self) { free_object(in, known_cast<Field>(self)); }
void traverse_field(Object* self, Visitor& visitor) { visitor(known_cast<Field>(self)->doc); }

Value make_field(Interpreter& in, Type* type, const Args& args) {
  if (args.positional() != 2 || args.count != 2)
    throw Error(ErrorKind::TypeError, "a field takes its index and a description");
  const int64_t index = int_argument(in, args[0]);
  Field* f = make_object<Field>(in, type);
  Value made = Value::adopt(f);
  f->index = index;
  f->doc = args[1];
  return made;
}

Value get_field(Interpreter& in, const Value& self, const Value& instance, Type*) {
  if (instance.is_undefined()) return self;
  const int64_t index = object_cast<Field>(self)->index;
  if (!is_tuple(instance)) return get_item(in, instance, Value::integer(index));
  const Value* item = tuple_at(as_tuple(instance), index);
  if (item == nullptr) throw Error(ErrorKind::IndexError, "tuple index out of range");
  return *item;
}

void set_field(Interpreter&, const Value&, const Value&, const Value& value) {
  throw Error(ErrorKind::AttributeError, value.is_undefined() ? "can't delete attribute" : "can't set attribute");
}

Value field_doc(Interpreter&, const Args& args) { return object_cast<Field>(args[0])->doc; }

Value set_field_doc(Interpreter&, const Args& args) {
  object_cast<Field>(args[0])->doc = args[1];
  return Value::none();
}

Value field_repr(Interpreter& in, const Value& self) {
  const Field* f = object_cast<Field>(self);
  return make_str(in, "_tuplegetter(" + std::to_string(f->index) + ", " + repr_text(in, f->doc) + ")");
}

// --- __new__ of a named tuple: by position here, every other call by the script function

struct Maker : GcObject {
  uint32_t size = 0;
  Value otherwise;
  Value defaults, set_defaults;  // __defaults__: a tuple or None, and what is told of another one
};

Maker* maker_of(const Value& v) { return object_cast<Maker>(v); }
void destroy_maker(Interpreter& in, Object* self) { free_object(in, known_cast<Maker>(self)); }
void traverse_maker(Object* self, Visitor& visitor) { 
  const Maker* m = known_cast<Maker>(self);
  for (const Value* v : {&m->otherwise, &m->defaults, &m->set_defaults}) visitor(*v);
}
void clear_maker(Interpreter&, Object* self) {
  Maker* m = known_cast<Maker>(self);
  for (Value* v : {&m->otherwise, &m->defaults, &m->set_defaults}) const Value gone = std::exchange(*v, Value::none());
}

Value make_maker(Interpreter& in, Type* type, const Args& args) {
  if (args.positional() != 4 || args.count != 4)
    throw Error(ErrorKind::TypeError, "a maker takes the number of fields, a function, defaults and a function");
  const int64_t size = int_argument(in, args[0]);
  Maker* m = make_object<Maker>(in, type);
  Value made = Value::adopt(m);
  m->size = static_cast<uint32_t>(size);
  m->otherwise = args[1];
  m->defaults = args[2];
  m->set_defaults = args[3];
  return made;
}

Value call_maker(Interpreter& in, const Value& self, const Args& args) {
  const Maker* m = maker_of(self);
  const bool keywords = args.keyword_names != nullptr && args.keyword_names->size > 0;
  if (keywords || args.count != m->size + 1 || !args[0].is_object() || args[0].as_object()->kind != ObjectKind::Type ||
      !object_cast<Type>(args[0])->is_subtype_of(in.types.tuple)) {
    const Value otherwise = m->otherwise;
    return call(in, otherwise, args);
  }
  Tuple* made = new_tuple(in, m->size, object_cast<Type>(args[0]));
  std::copy_n(args.values + 1, m->size, made->items);
  return Value::adopt(made);
}

Value maker_attribute(Interpreter& in, const Value& self, Str* name) {
  if (name->view() == "__defaults__") return maker_of(self)->defaults;
  return find_attr(in, maker_of(self)->otherwise, name);
}

void set_maker_attribute(Interpreter& in, const Value& self, Str* name, const Value& value) {
  Maker* const m = maker_of(self);
  if (name->view() != "__defaults__") {
    const Value function = m->otherwise;
    return value.is_undefined() ? del_attr(in, function, name) : set_attr(in, function, name, value);
  }
  const Value wanted = value.is_undefined() ? Value::none() : value, tell = m->set_defaults;
  if (!wanted.is_none() && !is_tuple(wanted))
    throw Error(ErrorKind::TypeError, "__defaults__ must be set to a tuple object");
  call(in, tell, {wanted});
  m->defaults = wanted;
}

}  // namespace

void add_named_tuple(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "_tuplegetter";
  spec.module = "collections";
  spec.size = sizeof(Field);
  spec.flags = kFinalType;
  Type* field = in.new_type(spec);
  field->slots.destroy = destroy_field;
  field->slots.traverse = traverse_field;
  field->slots.repr = field_repr;
  field->slots.descr_get = get_field;
  field->slots.descr_set = set_field;
  field->make = make_field;
  in.add_property(field, "__doc__", field_doc, set_field_doc);
  set_member(in, module, "_tuplegetter", Value(field));
  spec.name = "_tuplemaker";
  spec.size = sizeof(Maker);
  Type* maker = in.new_type(spec);
  maker->slots.destroy = destroy_maker;
  maker->slots.traverse = traverse_maker;
  maker->slots.clear = clear_maker;
  maker->slots.call = call_maker;
  maker->slots.get_attr = maker_attribute;
  maker->slots.set_attr = set_maker_attribute;
  maker->make = make_maker;
  set_member(in, module, "_tuplemaker", Value(maker));
}

}  // namespace tessera::stdlib
