// The kinds of values in a class's namespace, by what an instance gets from them: methods, data descriptors, plain values, slot members.
// Only the files that read and write attributes include this header.
#pragma once

#include "lang/compiler/chunk.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class_slots.h"

namespace tessera::lang {

inline bool defines(const Value& object, Str* name) { return !type_lookup(object.as_object()->type, name).is_undefined(); }

inline bool is_dunder(const Str* name) { return name->size > 4 && name->data[0] == '_' && name->data[1] == '_'; }

inline bool is_method(const Value& v) { return is_function(v) || is_native_method(v); }

// Wins over the instance's own attributes.
inline bool is_data_descriptor(Interpreter& in, const Value& v) {
  if (!v.is_object()) return false;
  const Object* object = v.as_object();
  if (object->kind == ObjectKind::Property) return true;
  if (object->type->slots.descr_set != nullptr) return true;
  return (object->type->type_flags & kScriptClass) && (defines(v, in.names->set) || defines(v, in.names->delete_));
}

// No descriptor: what a class has under this name is what its instances get.
inline bool is_plain_value(Interpreter& in, const Value& v) {
  if (!v.is_object()) return true;
  const Object* object = v.as_object();
  switch (object->kind) {
    case ObjectKind::Function:
    case ObjectKind::NativeFunction:
    case ObjectKind::StaticMethod:
    case ObjectKind::ClassMethod:
    case ObjectKind::Property: return false;
    default: break;
  }
  if (object->type->slots.descr_get != nullptr) return false;
  return !(object->type->type_flags & kScriptClass) || !defines(v, in.names->get);
}

// A data descriptor without __get__ is read only where the instance has no attribute of the name.
inline bool is_read_first(Interpreter& in, const Value& v) { return is_data_descriptor(in, v) && !is_plain_value(in, v); }

inline bool is_slot_member(const Value& v) {
  if (!v.is_object()) return false;
  const Object* object = v.as_object();
  return object->kind == ObjectKind::Other && object->type == object->type->owner->types.member_descriptor;
}

inline uint32_t key_place(const Type* type, const Str* name) {
  const auto& keys = type->instance_keys;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == name) return static_cast<uint32_t>(i);
  }
  return static_cast<uint32_t>(keys.size());
}

}  // namespace tessera::lang
