// Where instances keep their attributes (shared keys or a dict of their own), and names for dir() and suggestions.
#include <algorithm>
#include <utility>

#include "lang/compiler/chunk.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/objects/attribute.h"
#include "lang/core/make_object.h"
#include "lang/objects/module.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/types.h"

namespace tessera::lang {

namespace {

// Instances with more attributes than this keep them in a dict: a shared list of keys is searched from its beginning.
constexpr size_t kMostSharedKeys = 40;

bool has_slots_beside(const Object* object) { return (object->type->type_flags & kSlotsBesideDict) != 0; }

const Value* find_value(const Object* object, const Attributes& attributes, const Str* name) {
  const Type* type = object->type;
  for (uint32_t i = 0; i < attributes.count; ++i) {
    if (type->instance_keys[i] == name) return attributes.values[i].is_undefined() ? nullptr : &attributes.values[i];
  }
  return nullptr;
}

}  // namespace

// ---- An object's own attributes --------------------------------------------------------------------------------------

const Value* find_own_attribute(Object* object, const Str* name) {
  const Attributes& attributes = attributes_of(object);
  if (attributes.dict != nullptr) return dict_get_str(attributes.dict, const_cast<Str*>(name));
  return has_slots_beside(object) ? nullptr : find_value(object, attributes, name);
}

const Value* find_slot(Object* object, const Str* name) {
  return has_slots_beside(object) ? find_value(object, attributes_of(object), name) : find_own_attribute(object, name);
}

namespace {

void grow(Interpreter& in, Attributes& attributes, size_t wanted) {
  const auto capacity =
      static_cast<uint32_t>(std::max<size_t>(wanted, attributes.capacity == 0 ? 4 : attributes.capacity * 2));
  auto* values = static_cast<Value*>(in.heap.allocate(capacity * sizeof(Value)));
  for (uint32_t i = 0; i < capacity; ++i) new (values + i) Value();
  for (uint32_t i = 0; i < attributes.count; ++i) values[i] = std::move(attributes.values[i]);
  if (attributes.values != nullptr) in.heap.deallocate(attributes.values, attributes.capacity * sizeof(Value));
  attributes.values = values;
  attributes.capacity = capacity;
}

void append(Interpreter& in, Object* object, Value value) {
  Attributes& attributes = attributes_of(object);
  if (attributes.count == attributes.capacity)
    grow(in, attributes, std::min<size_t>(object->type->instance_keys.size(), 16));
  attributes.values[attributes.count++] = std::move(value);
}

}  // namespace

void set_own_attribute(Interpreter& in, Object* object, Str* name, Value value) {
  Attributes& attributes = attributes_of(object);
  if (attributes.dict != nullptr) return dict_set_str(in, attributes.dict, name, std::move(value));
  if (has_slots_beside(object)) return dict_set_str(in, attributes_dict(in, object), name, std::move(value));
  auto& keys = object->type->instance_keys;
  if (attributes.count < keys.size() && keys[attributes.count] == name) return append(in, object, std::move(value));
  for (uint32_t i = 0; i < attributes.count; ++i) {
    if (keys[i] != name) continue;
    attributes.values[i] = std::move(value);
    return;
  }
  if (attributes.count == keys.size() && keys.size() < kMostSharedKeys) {
    keys.push_back(name);
    return append(in, object, std::move(value));
  }
  dict_set_str(in, attributes_dict(in, object), name, std::move(value));
}

void set_slot(Interpreter& in, Object* object, Str* name, Value value) {
  if (!has_slots_beside(object)) return set_own_attribute(in, object, name, std::move(value));
  auto& keys = object->type->instance_keys;
  const auto at = static_cast<uint32_t>(std::find(keys.begin(), keys.end(), name) - keys.begin());
  if (at == keys.size()) keys.push_back(name);
  const Attributes& attributes = attributes_of(object);
  while (attributes.count <= at) append(in, object, Value());
  attributes.values[at] = std::move(value);
}

bool delete_slot(Interpreter& in, Object* object, Str* name) {
  if (!has_slots_beside(object)) return delete_own_attribute(in, object, name);
  const Value* const found = find_slot(object, name);
  if (found == nullptr) return false;
  const Value gone = std::exchange(*const_cast<Value*>(found), Value());
  return true;
}

bool append_attribute(Interpreter& in, Object* object, uint32_t at, const Value& value) {
  const Attributes& attributes = attributes_of(object);
  if (attributes.count != at || attributes.dict != nullptr) return false;
  append(in, object, value);
  return true;
}

bool delete_own_attribute(Interpreter& in, Object* object, Str* name) {
  const Value* own = find_own_attribute(object, name);
  if (own == nullptr) return false;
  Attributes& attributes = attributes_of(object);
  if (attributes.dict == nullptr && own == attributes.values + attributes.count - 1) {
    --attributes.count;
    const Value gone = std::move(attributes.values[attributes.count]);
    return true;
  }
  return dict_delete_str(in, attributes_dict(in, object), name);
}

bool may_have_attributes_dict(const Type* type) {
  return (type->attributes_offset != 0 && !(type->type_flags & kHasSlots)) || (type->type_flags & kKeepsDictAside);
}

Dict* dict_aside(Object* object) { return as_dict(object->type->owner->shared->dicts_aside.find(object)->second); }

static void set_dict_aside(Interpreter& in, Object* object, Value dict) {
  if (!(object->flags & kTracked)) in.collector().track(static_cast<GcObject*>(object));
  Value& place = in.shared->dicts_aside[object];
  object->flags |= kHasDictAside;
  std::swap(place, dict);
}

void drop_dict_aside(Interpreter& in, Object* object) noexcept {
  const auto found = in.shared->dicts_aside.find(object);
  const Value dict = std::move(found->second);  // ends when the table is in order again: a finalizer may run
  in.shared->dicts_aside.erase(found);
  object->flags &= static_cast<uint8_t>(~kHasDictAside);
}

Dict* attributes_dict(Interpreter& in, Object* object) {
  if (object->type->attributes_offset == 0) {
    if (!(object->flags & kHasDictAside)) set_dict_aside(in, object, make_dict(in));
    return dict_aside(object);
  }
  Attributes& attributes = attributes_of(object);
  if (attributes.dict != nullptr) return attributes.dict;
  Dict* dict = new_dict(in);
  if (has_slots_beside(object)) return attributes.dict = dict;
  for (uint32_t i = 0; i < attributes.count; ++i) {
    if (!attributes.values[i].is_undefined())
      dict_set_str(in, dict, object->type->instance_keys[i], attributes.values[i]);
  }
  clear_attributes(in, attributes);
  attributes.dict = dict;
  return dict;
}

bool has_attributes_dict(Object* object) {
  if (object->type->attributes_offset == 0) return (object->flags & kHasDictAside) != 0;
  const Attributes& attributes = attributes_of(object);
  return attributes.dict != nullptr || (attributes.values != nullptr && !has_slots_beside(object));
}

void set_attributes_dict(Interpreter& in, Object* object, Dict* dict) {
  if (object->type->attributes_offset == 0) return set_dict_aside(in, object, Value(static_cast<Object*>(dict)));
  ++dict->refcount;
  Attributes& attributes = attributes_of(object);
  if (!has_slots_beside(object)) clear_attributes(in, attributes);
  Dict* const old = std::exchange(attributes.dict, dict);
  if (old != nullptr && --old->refcount == 0) destroy_object(old);
}

void clear_attributes(Interpreter& in, Attributes& attributes) noexcept {
  const Attributes old = attributes;
  attributes = Attributes();
  for (uint32_t i = 0; i < old.count; ++i) old.values[i] = Value();
  if (old.values != nullptr) in.heap.deallocate(old.values, old.capacity * sizeof(Value));
  if (old.dict != nullptr && --old.dict->refcount == 0) destroy_object(old.dict);
}

// ---- Names -----------------------------------------------------------------------------------------------------------

namespace {

void add_keys(Interpreter& in, Dict* names, const Dict* from) {
  dict_for_each(from, [&](const Value& key, const Value&) {
    if (is_str(key)) dict_set(in, names, key, Value::none());
  });
}

}  // namespace

Value attribute_names(Interpreter& in, const Value& object) {
  const Value names = make_dict(in);
  if (object.is_object() && object.as_object()->kind == ObjectKind::Module) {
    Module* const module = object_cast<Module>(object);
    // A module that is written in the language may say itself what it has (PEP 562).
    if (const Value* own = dict_get_text(module->dict, "__dir__")) {
      const Value told = list_from(in, call(in, *own));
      for (const Value& name : *as_list(told)) dict_set(in, as_dict(names), name, Value::none());
    } else {
      add_keys(in, as_dict(names), module->dict);
    }
    if (module->names != nullptr) module->names(in, *module, as_dict(names));
  } else {
    Type* type = is_type(object) ? as_type(object) : type_of(in, object);
    if (!is_type(object) && object.is_object() && type->attributes_offset != 0) {
      const Attributes& attributes = attributes_of(object.as_object());
      if (attributes.dict != nullptr) add_keys(in, as_dict(names), attributes.dict);
      for (uint32_t i = 0; i < attributes.count; ++i) {
        if (!attributes.values[i].is_undefined())
          dict_set_str(in, as_dict(names), type->instance_keys[i], Value::none());
      }
    } else if (object.is_object() && (object.as_object()->flags & kHasDictAside)) {
      add_keys(in, as_dict(names), dict_aside(object.as_object()));
    }
    const bool is_method = object.is_object() && object.as_object()->kind == ObjectKind::BoundMethod;
    if (const Value& function = is_method ? known_cast<BoundMethod>(object)->function : object; is_function(function)) {
      const Value& own = as_function(function)->dict;
      if (!own.is_undefined()) add_keys(in, as_dict(names), as_dict(own));
    }
    for (Type* base : type->mro) add_keys(in, as_dict(names), base->attributes());
  }
  Value list = list_from(in, names);
  list_sort(in, as_list(list), Value::none(), false);
  return list;
}

namespace {

constexpr size_t kMove = 2, kCase = 1;

size_t substitution(char a, char b) {
  if (a == b) return 0;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return lower(a) == lower(b) ? kCase : kMove;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j * kMove;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i * kMove;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t best = std::min({row[j] + kMove, row[j - 1] + kMove, diagonal + substitution(a[i - 1], b[j - 1])});
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string suggest_name(std::string_view wrong, const std::vector<std::string_view>& names) {
  if (names.size() > 750 || wrong.size() > 40) return {};
  std::string_view best;
  size_t best_distance = SIZE_MAX;
  for (std::string_view name : names) {
    if (name == wrong || name.size() > 40) continue;
    const size_t most = std::min((wrong.size() + name.size() + 3) * kMove / 6, best_distance - 1);
    const size_t distance = edit_distance(wrong, name);
    if (distance > most) continue;
    best = name;
    best_distance = distance;
  }
  return std::string(best);
}

}  // namespace tessera::lang
