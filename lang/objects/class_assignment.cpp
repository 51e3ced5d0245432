// object.__class__ = another class of the same layout.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lang/core/failure.h"
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/attribute_kinds.h"
#include "lang/objects/class.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

// The names of all __slots__ that an instance has, in a fixed order.
std::vector<const Str*> slot_names(const Type* type) {
  std::vector<const Str*> names;
  for (Type* base : type->mro) {
    dict_for_each(base->attributes(), [&](const Value& key, const Value& value) {
      if (is_slot_member(value)) names.push_back(as_str(key));
    });
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Every object of other kinds can be referenced weakly.
bool has_weak_references(const Type* type) {
  const ObjectKind kind = type->instance_kind;
  const bool asks = kind == ObjectKind::Instance || kind == ObjectKind::Str || kind == ObjectKind::List || kind == ObjectKind::Dict || kind == ObjectKind::Boxed;
  if (!asks && !(type->type_flags & kExceptionType)) return true;
  return std::any_of(type->mro.begin(), type->mro.end(), [](Type* base) { return dict_get_text(base->attributes(), "__weakref__") != nullptr; });
}

std::vector<std::pair<Str*, Value>> take_slots(Object* object) {
  std::vector<std::pair<Str*, Value>> slots;
  Attributes& attributes = attributes_of(object);
  for (; attributes.count != 0; --attributes.count) {
    Value& value = attributes.values[attributes.count - 1];
    if (!value.is_undefined()) slots.emplace_back(object->type->instance_keys[attributes.count - 1], std::move(value));
    value = Value();
  }
  return slots;
}

}  // namespace

bool same_layout(const Type* a, const Type* b) {
  return a->instance_kind == b->instance_kind && a->instance_size == b->instance_size && a->make == b->make &&
         a->attributes_offset == b->attributes_offset && (a->type_flags & (kHasSlots | kSlotsBesideDict)) == (b->type_flags & (kHasSlots | kSlotsBesideDict)) &&
         slot_names(a) == slot_names(b) && has_weak_references(a) == has_weak_references(b);
}

const char* layout_difference(const Type* a, const Type* b) {
  const auto is_plain = [](const Type* type) {
    return !(type->type_flags & kScriptClass) &&
           (type->instance_kind == ObjectKind::Boxed || type->instance_kind == ObjectKind::Str ||
            type->instance_kind == ObjectKind::Instance);
  };
  return is_plain(a) != is_plain(b) ? "deallocator" : "object layout";
}

// Classes that may be taken for one another: of scripts, or `module` itself.
static bool may_change(Interpreter& in, const Type* type) {
  return (type->type_flags & kScriptClass) || type == in.types.module;
}

void set_class(Interpreter& in, const Value& object, const Value& value) {
  if (value.is_undefined()) throw_error(ErrorKind::TypeError, "can't delete __class__ attribute");
  if (!is_type(value)) {
    throw_error(ErrorKind::TypeError, "__class__ must be set to a class, not '%s' object",
                std::string(type_name(in, value)).c_str());
  }
  Type* const to = as_type(value);
  Type* const from = type_of(in, object);
  if (!may_change(in, to) || !may_change(in, from)) {
    throw_error(ErrorKind::TypeError, "__class__ assignment only supported for mutable types or ModuleType subclasses");
  }
  if (!same_layout(from, to)) {
    throw_error(ErrorKind::TypeError, "__class__ assignment: '%s' %s differs from '%s'", std::string(to->name->view()).c_str(),
                layout_difference(from, to), std::string(from->name->view()).c_str());
  }
  to->structure = from->structure;  // it may have made no instance yet
  std::vector<std::pair<Str*, Value>> slots;  // an instance shares the keys of its class
  if (from->attributes_offset != 0 && has_attributes_dict(object.as_object())) attributes_dict(in, object.as_object());
  if (from->type_flags & kSlotsBesideDict) slots = take_slots(object.as_object());
  if (!(to->flags & kImmortal)) ++to->refcount;
  object.as_object()->type = to;
  for (auto& [name, slot] : slots) set_slot(in, object.as_object(), name, std::move(slot));
  if (!(from->flags & kImmortal)) const Value old = Value::adopt(from);
  if (is_type(object)) type_changed(in, as_type(object));
}

}  // namespace tessera::lang
