// Attributes read and written through a site, which remembers where the attribute was found.
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute_kinds.h"
#include "lang/objects/attribute_reads.h"
#include "lang/objects/class.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/types.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

bool may_cache(Interpreter& in, const Value& object) {
  const Type* const type = type_of(in, object);
  return type->slots.get_attr == nullptr && !(type->type_flags & kHasGetAttribute) &&
         (!object.is_object() ||
          (object.as_object()->kind != ObjectKind::Type && object.as_object()->kind != ObjectKind::Module));
}

// The script's function below a classmethod, or null.
const Value* class_method_function(Interpreter& in, const Value& found) {
  if (!found.is_object() || found.as_object()->type != in.types.class_method) return nullptr;
  const Value& function = known_cast<ClassMethod>(found)->function;
  return is_function(function) ? &function : nullptr;
}

// Notes where the attribute stands, when that is a place that stays.
void fill_site(Interpreter& in, const Value& holder, Str* name, AttributeSite& site) {
  Type* const type = type_of(in, holder);
  Object* const object = holder.as_object();  // only read where the type has attributes: an immediate's type has none
  site.kind = AttributeSite::Kind::Empty;
  if (type->version == kForgotten || (type->type_flags & kSlotsBesideDict)) return;
  const Value& in_class = type_lookup(type, name);
  const bool has_own = type->attributes_offset != 0 && attributes_of(object).dict == nullptr;
  const uint32_t place = key_place(type, name);
  if (has_own && place < attributes_of(object).count && !attributes_of(object).values[place].is_undefined()) {
    if (!in_class.is_undefined() && is_data_descriptor(in, in_class) && !is_slot_member(in_class)) return;
    site = {type->version, AttributeSite::Kind::Slot, place, nullptr};
    return;
  }
  if (in_class.is_undefined()) return;
  if (in_class.is_object() && in_class.as_object()->kind == ObjectKind::Property) {
    const Value& getter = object_cast<Property>(in_class)->get;
    // With __getattr__ an AttributeError of the getter is caught: that is no plain call.
    const bool plain = !(in_class.as_object()->type->type_flags & kScriptClass) && !(type->type_flags & kHasGetAttrHook);
    const bool known =
        is_function(getter) || (getter.is_object() && getter.as_object()->kind == ObjectKind::NativeFunction);
    if (plain && known) site = {type->version, AttributeSite::Kind::Getter, 0, &getter};
    return;
  }
  if (type->attributes_offset != 0 && !has_own) return;
  if (is_method(in_class)) site = {type->version, AttributeSite::Kind::Method, place, &in_class};
  else if (in_class.is_object() && in_class.as_object()->type == in.types.static_method)
    site = {type->version, AttributeSite::Kind::ClassValue, place,
            &object_cast<StaticMethod>(in_class)->function};
  else if (const Value* const function = class_method_function(in, in_class))
    site = {type->version, AttributeSite::Kind::ClassMethod, place, function};
  else if (is_plain_value(in, in_class)) site = {type->version, AttributeSite::Kind::ClassValue, place, &in_class};
}

// The attribute of a class, for `Class.name`: with no hook, and found in the class or its bases as what it is.
const Value* find_class_value(Interpreter& in, Type* type, Str* name) {
  Type* const meta = type->type;
  if (is_dunder(name) || meta->slots.get_attr != nullptr || (meta->type_flags & kHasGetAttribute)) return nullptr;
  if (meta != in.types.type) {
    const Value& in_meta = type_lookup(meta, name);
    if (!in_meta.is_undefined() && is_data_descriptor(in, in_meta)) return nullptr;
    meta->type_flags |= kClassesCached;
  }
  const Value& found = type_lookup(type, name);
  if (found.is_undefined()) return nullptr;
  if (found.is_object() && found.as_object()->kind == ObjectKind::StaticMethod)
    return &object_cast<StaticMethod>(found)->function;
  const bool is_function = found.is_object() && (found.as_object()->kind == ObjectKind::Function ||
                                                 found.as_object()->kind == ObjectKind::NativeFunction);
  if (is_function && (type->type_flags & kSpeaksAsC)) return nullptr;  // library_method
  return is_function || is_plain_value(in, found) ? &found : nullptr;
}

}  // namespace

// The function of a classmethod that `Class.name(…)` calls with the class in front, or null. The site then knows it.
static const Value* find_class_method(Interpreter& in, const Value& object, Str* name, AttributeSite& site) {
  if (!is_type(object) || is_dunder(name)) return nullptr;
  Type* const type = as_type(object);
  const Value* const function = class_method_function(in, type_lookup(type, name));
  if (function == nullptr) return nullptr;
  Type* const meta = type->type;
  if (meta != in.types.type) {
    if (meta->slots.get_attr != nullptr || (meta->type_flags & kHasGetAttribute) || !type_lookup(meta, name).is_undefined())
      return nullptr;
    meta->type_flags |= kClassesCached;
  }
  if (type->version != kForgotten) site = {type->version, AttributeSite::Kind::OfClassMethod, 0, function};
  return function;
}

const Value* class_method_at_site(Object* object, const InlineCache& cache) {
  if (object->kind == ObjectKind::Type) {
    const uint32_t version = known_cast<Type>(object)->version;
    const AttributeSite& site = cache.site_for(version);
    return site.version == version && site.kind == AttributeSite::Kind::OfClassMethod ? site.value : nullptr;
  }
  const Type* const type = object->type;
  const AttributeSite& site = cache.site_for(type->version);
  if (site.version != type->version || site.kind != AttributeSite::Kind::ClassMethod) return nullptr;
  if (type->attributes_offset == 0) return object->flags & kHasDictAside ? nullptr : site.value;
  return site.index >= attributes_of(object).count && attributes_of(object).dict == nullptr ? site.value : nullptr;
}

const Value* value_at_site(Object* object, const Str* name, const AttributeSite& site) {
  switch (site.kind) {
    case AttributeSite::Kind::ClassValue:
      if (site.version != object->type->version) return nullptr;
      if (object->type->attributes_offset == 0) return object->flags & kHasDictAside ? nullptr : site.value;
      return site.index >= attributes_of(object).count && attributes_of(object).dict == nullptr ? site.value : nullptr;
    case AttributeSite::Kind::OfClass:
      return object->kind == ObjectKind::Type && known_cast<Type>(object)->version == site.version ? site.value
                                                                                                     : nullptr;
    case AttributeSite::Kind::OfModule: {
      if (object->kind != ObjectKind::Module || (object->type->type_flags & kScriptClass)) return nullptr;
      const Dict* dict = known_cast<Module>(object)->dict;
      return dict_entry_is(dict, site.index, name) ? &dict->entries[site.index].value : nullptr;
    }
    default: return nullptr;
  }
}

namespace {

// Attributes of classes and modules: they stand in dicts of their own, whatever the type of the class says.
void fill_holder_site(Interpreter& in, Object* object, Str* name, AttributeSite& site) {
  site.kind = AttributeSite::Kind::Empty;
  if (object->kind == ObjectKind::Type) {
    Type* type = known_cast<Type>(object);
    if (type->version == kForgotten) return;
    if (const Value* value = find_class_value(in, type, name)) {
      site = {type->version, AttributeSite::Kind::OfClass, 0, value};
    }
  } else if (object->type->slots.get_attr == nullptr && object->type == in.types.module) {
    const int32_t at = dict_find_str(known_cast<Module>(object)->dict, name);
    if (at != kNoEntry) site = {0, AttributeSite::Kind::OfModule, static_cast<uint32_t>(at), nullptr};
  }
}

bool is_class_or_module(const Value& object) {
  return object.is_object() &&
         (object.as_object()->kind == ObjectKind::Type || object.as_object()->kind == ObjectKind::Module);
}

// The attribute that the site remembers of this object, or null: then the site is filled.
const Value* from_site_or_fill(Interpreter& in, const Value& object, Str* name, AttributeSite& site) {
  if (!object.is_object()) return nullptr;
  if (const Value* known = value_at_site(object.as_object(), name, site)) return known;
  if (is_class_or_module(object)) fill_holder_site(in, object.as_object(), name, site);
  else if (may_cache(in, object)) fill_site(in, object, name, site);
  return nullptr;
}

}  // namespace

Value get_attr(Interpreter& in, const Value& object, Str* name, AttributeSite& site) {
  if (const Value* known = from_site_or_fill(in, object, name, site)) return *known;
  return get_attr(in, object, name);
}

Value get_attr_or_error(Interpreter& in, const Value& object, Str* name, AttributeSite& site, Value& error) {
  if (const Value* known = from_site_or_fill(in, object, name, site)) return *known;
  return get_attr_or_error(in, object, name, error);
}

Value get_method(Interpreter& in, const Value& object, Str* name, AttributeSite& site, bool& bound) {
  Value error;
  Value method = get_method_or_error(in, object, name, site, bound, error);
  if (method.is_undefined()) throw Thrown(std::move(error));
  return method;
}

Value get_method_or_error(Interpreter& in, const Value& object, Str* name, AttributeSite& site, bool& bound, Value& error) {
  bound = false;
  if (is_class_or_module(object)) {
    const Value* const of_class = find_class_method(in, object, name, site);
    if (of_class == nullptr) return get_attr_or_error(in, object, name, site, error);
    bound = true;
    return *of_class;
  }
  if (!may_cache(in, object)) return get_attr_or_error(in, object, name, error);
  Type* type = type_of(in, object);
  const Value& in_class = type_lookup(type, name);
  if (!is_method(in_class)) return get_attr_or_error(in, object, name, site, error);
  if (type->attributes_offset != 0 && find_own_attribute(object.as_object(), name) != nullptr)
    return get_attr_or_error(in, object, name, site, error);
  if (object.is_object() && (object.as_object()->flags & kHasDictAside)) return get_attr_or_error(in, object, name, error);
  fill_site(in, object, name, site);
  bound = true;
  return in_class;
}

void set_attr(Interpreter& in, const Value& object, Str* name, const Value& value, AttributeSite& site) {
  if (site.kind == AttributeSite::Kind::Append && object.is_object()) {
    Object* const target = object.as_object();
    if (target->type->version == site.version && append_attribute(in, target, site.index, value)) return;
  }
  const bool writable = object.is_object() && may_cache(in, object) && object.as_object()->type->slots.set_attr == nullptr &&
                        !(object.as_object()->type->type_flags & kHasSetAttrHook);
  const uint32_t before = writable && object.as_object()->type->attributes_offset != 0
                              ? attributes_of(object.as_object()).count
                              : UINT32_MAX;
  const Value keep(object);
  set_attr(in, object, name, value);
  site.kind = AttributeSite::Kind::Empty;
  if (!writable) return;
  fill_site(in, keep, name, site);
  if (site.kind != AttributeSite::Kind::Slot) site.kind = AttributeSite::Kind::Empty;
  // The first time of each object, as in __init__: the next one gets its attribute at the same place.
  else if (site.index == before) site.kind = AttributeSite::Kind::Append;
}

}  // namespace tessera::lang
