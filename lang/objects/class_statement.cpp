// Classes of scripts: the order of their bases (C3), their layout, and what a class statement does after its body ran.
#include "lang/objects/class.h"

#include <algorithm>

#include "lang/objects/attribute.h"
#include "lang/compiler/chunk.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

// ---- The order of base classes ---------------------------------------------------------------------------------------

namespace {

std::string text(const Str* s) { return std::string(s->view()); }
Value as_value(Object* object) { return Value(object); }
Str* hold(Str* s) {
  ++s->refcount;
  return s;
}

[[noreturn]] void no_order(const std::vector<Type*>& bases) {
  std::string names;
  for (const Type* base : bases) names += (names.empty() ? "" : ", ") + text(base->name);
  throw_error(ErrorKind::TypeError, "Cannot create a consistent method resolution\norder (MRO) for bases %s",
              names.c_str());
}

// C3: merges the orders of the bases, then the bases themselves.
std::vector<Type*> linearize(Type* type) {
  std::vector<std::vector<Type*>> lists;
  for (Type* base : type->bases) lists.push_back(base->mro);
  lists.push_back(type->bases);
  std::vector<size_t> heads(lists.size(), 0);
  std::vector<Type*> order{type};
  auto in_a_tail = [&](Type* candidate) {
    for (size_t i = 0; i < lists.size(); ++i) {
      for (size_t j = heads[i] + 1; j < lists[i].size(); ++j) {
        if (lists[i][j] == candidate) return true;
      }
    }
    return false;
  };
  while (true) {
    Type* next = nullptr;
    bool empty = true;
    for (size_t i = 0; i < lists.size() && next == nullptr; ++i) {
      if (heads[i] == lists[i].size()) continue;
      empty = false;
      if (!in_a_tail(lists[i][heads[i]])) next = lists[i][heads[i]];
    }
    if (empty) return order;
    if (next == nullptr) no_order(type->bases);
    order.push_back(next);
    for (size_t i = 0; i < lists.size(); ++i) {
      if (heads[i] < lists[i].size() && lists[i][heads[i]] == next) ++heads[i];
    }
  }
}

// ---- Class statements ------------------------------------------------------------------------------------------------

// Bases that are no classes may stand for some: __mro_entries__.
Value resolve_bases(Interpreter& in, const Value& bases, bool& changed) {
  const Value resolved = make_list(in);
  for (const Value& base : *as_tuple(bases)) {
    Value entries = is_type(base) ? Value() : find_attr(in, base, in.names->mro_entries);
    if (entries.is_undefined()) {
      list_append(in, as_list(resolved), base);
      continue;
    }
    changed = true;
    entries = call(in, entries, {bases});
    if (!is_tuple(entries)) throw_error(ErrorKind::TypeError, "__mro_entries__ must return a tuple");
    for (const Value& entry : *as_tuple(entries)) list_append(in, as_list(resolved), entry);
  }
  return make_tuple(in, as_list(resolved)->items, as_list(resolved)->size);
}

// metaclass=ABCMeta is another spelling of inheriting from ABC, EnumMeta of Enum.
Value metaclass_base(Interpreter& in, const Value& metaclass) {
  if (!is_type(metaclass) || as_type(metaclass) == in.types.type) return Value();
  const std::string_view name = as_type(metaclass)->name->view();
  const bool abc = name == "ABCMeta" || name == "ABC";
  if (!abc && name != "EnumMeta" && name != "EnumType" && name != "Enum") {
    throw_error(ErrorKind::TypeError, "metaclasses are left out of the language (metaclass=%s)",
                std::string(name).c_str());
  }
  Module* module = in.import(abc ? "abc" : "enum");
  return get_attr(in, Value(static_cast<Object*>(module)), intern(in, abc ? "ABC" : "Enum"));
}

// CPython calls the base's class with name, bases and namespace; these are the words of the usual mistakes.
[[noreturn]] void refuse_base(Interpreter& in, const Value& base) {
  const std::string name(type_name(in, base));
  if (base.is_none()) throw_error(ErrorKind::TypeError, "NoneType takes no arguments");
  if (is_str(base)) throw_error(ErrorKind::TypeError, "str() argument 'encoding' must be str, not tuple");
  if (name == "function") throw_error(ErrorKind::TypeError, "function() argument 'code' must be code, not str");
  if (name == "builtin_function_or_method")
    throw_error(ErrorKind::TypeError, "cannot create 'builtin_function_or_method' instances");
  if (name == "list" || name == "tuple" || name == "float" || name == "set")
    throw_error(ErrorKind::TypeError, "%s expected at most 1 argument, got 3", name.c_str());
  if (base.is_object() && (base.as_object()->type->type_flags & kScriptClass)) {
    throw_error(ErrorKind::TypeError, "%s() takes no arguments", name.c_str());
  }
  throw_error(ErrorKind::TypeError, "%s() takes at most 2 arguments (3 given)", name.c_str());
}

std::vector<Type*> check_bases(Interpreter& in, const Value& bases) {
  std::vector<Type*> types;
  for (const Value& base : *as_tuple(bases)) {
    if (!is_type(base)) {
      refuse_base(in, base);
    }
    Type* type = as_type(base);
    if (type->type_flags & kFinalType) {
      throw_error(ErrorKind::TypeError, "type '%s' is not an acceptable base type", text(type->name).c_str());
    }
    if (std::find(types.begin(), types.end(), type) != types.end()) {
      throw_error(ErrorKind::TypeError, "duplicate base class %s", text(type->name).c_str());
    }
    types.push_back(type);
  }
  if (types.empty()) types.push_back(in.types.object);
  return types;
}

bool is_native_layout(const Type* type) { return type->make != nullptr || type->instance_kind != ObjectKind::Instance; }

// The base whose layout the instances get.
Type* layout_base(const std::vector<Type*>& bases) {
  Type* found = nullptr;
  for (Type* base : bases) {
    if (!is_native_layout(base)) continue;
    if (found == nullptr || (base != found && base->is_subtype_of(found)) ||
        (base->instance_kind == found->instance_kind && base->instance_size > found->instance_size)) {
      found = base;
    } else if (base->instance_kind != found->instance_kind ||
               (base->instance_kind == ObjectKind::Native && !found->is_subtype_of(base) &&
                base->make != found->make)) {
      throw_error(ErrorKind::TypeError, "multiple bases have instance lay-out conflict");
    }
  }
  return found != nullptr ? found : bases.front();
}

void lay_out(Type* type, const Type* base) {
  type->instance_kind = base->instance_kind;
  type->make = base->make;
  type->slots = base->slots;
  if (base->attributes_offset != 0) {
    type->attributes_offset = base->attributes_offset;
    type->instance_size = base->instance_size;
  } else if (!is_native_layout(base)) {
    static_assert(sizeof(Instance) == sizeof(GcObject) + sizeof(Attributes));
    type->attributes_offset = sizeof(GcObject);
    type->instance_size = sizeof(Instance);
  } else {
    type->attributes_offset = (base->instance_size + 15) & ~15u;
    type->instance_size = type->attributes_offset + static_cast<uint32_t>(sizeof(Attributes));
  }
}

Value take(Interpreter& in, Dict* dict, Str* name) { return dict_pop(in, dict, Value(static_cast<Object*>(name))); }

// __name within a class means _Class__name.
std::string mangled(std::string_view type, std::string_view name) {
  if (!name.starts_with("__") || name.ends_with("__")) return std::string(name);
  const size_t begin = type.find_first_not_of('_');
  if (begin == type.npos) return std::string(name);
  return "_" + std::string(type.substr(begin)) + std::string(name);
}

bool is_identifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c == '_' || c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

void add_slot(Interpreter& in, Type* type, const Value& name, bool& has_dict) {
  if (!is_str(name))
    throw_error(ErrorKind::TypeError, "__slots__ items must be strings, not '%s'",
                std::string(type_name(in, name)).c_str());
  if (!is_identifier(text_of(name))) throw_error(ErrorKind::TypeError, "__slots__ must be identifiers");
  Str* slot = intern(in, mangled(type->name->view(), text_of(name)));
  if (slot == in.names->dict_) {
    has_dict = true;
    return;
  }
  if (dict_get_str(type->attributes(), slot) != nullptr) {
    throw_error(ErrorKind::ValueError, "%s in __slots__ conflicts with class variable", quote(slot->view()).c_str());
  }
  dict_set_str(in, type->attributes(), slot, make_slot_member(in, slot, type));
}

void add_slots(Interpreter& in, Type* type) {
  const Value* found = dict_get_str(type->attributes(), in.names->slots);
  type->type_flags &= ~kHasSlots;
  if (found == nullptr) return;
  const Value slots = *found;
  bool has_dict = false;
  if (is_str(slots)) add_slot(in, type, slots, has_dict);
  else for_each(in, slots, [&](const Value& name) { add_slot(in, type, name, has_dict); });
  for (const Type* base : type->bases) {
    if (base->attributes_offset != 0 && !(base->type_flags & kHasSlots)) has_dict = true;
  }
  if (!has_dict) type->type_flags |= kHasSlots;
}

// Methods that are what they are without a decorator.
void adjust_methods(Interpreter& in, Type* type) {
  auto wrap = [&](Str* name, Value (*wrapper)(Interpreter&, const Value&)) {
    const Value* found = dict_get_str(type->attributes(), name);
    if (found != nullptr && is_function(*found)) dict_set_str(in, type->attributes(), name, wrapper(in, Value(*found)));
  };
  wrap(in.names->new_, make_static_method);
  wrap(in.names->init_subclass, make_class_method);
  wrap(in.names->class_getitem, make_class_method);
  const bool has_eq = dict_get_str(type->attributes(), in.names->eq) != nullptr;
  if (has_eq && dict_get_str(type->attributes(), in.names->hash) == nullptr) {
    dict_set_str(in, type->attributes(), in.names->hash, Value::none());
  }
  if (dict_get_str(type->attributes(), in.names->doc) == nullptr)
    dict_set_str(in, type->attributes(), in.names->doc, Value::none());
}

// value.__set_name__(type, key); what it raises is told with its place.
void set_name(Interpreter& in, Type* type, const Value& key, const Value& value) {
  Value cause;
  try {
    call(in, type_lookup(value.as_object()->type, in.names->set_name), {value, as_value(type), key});
    return;
  } catch (const std::exception&) {
    cause = current_native_exception(in);
  }
  if (!is_error(in, cause, ErrorKind::Exception)) throw Thrown(cause);
  Value error = make_exception(in, ErrorKind::RuntimeError,
                               "Error calling __set_name__ on '" + std::string(type_name(in, value)) + "' instance " +
                                   repr_text(in, key) + " in '" + text(type->name) + "'");
  as_exception(error)->cause = cause;
  as_exception(error)->context = cause;
  as_exception(error)->suppress_context = true;
  throw Thrown(std::move(error));
}

void set_names(Interpreter& in, Type* type) {
  std::vector<std::pair<Value, Value>> items;
  dict_for_each(type->attributes(), [&](const Value& key, const Value& value) {
    if (value.is_object() && value.as_object()->type != in.types.property &&
        !type_lookup(value.as_object()->type, in.names->set_name).is_undefined())
      items.emplace_back(key, value);
  });
  for (auto& [key, value] : items) {
    set_name(in, type, key, value);
  }
  dict_for_each(type->attributes(), [&](const Value& key, const Value& value) {
    if (value.is_object() && value.as_object()->kind == ObjectKind::Property) {
      auto* property = static_cast<Property*>(value.as_object());
      if (property->name.is_undefined()) property->name = key;
    }
  });
}

// super().__init_subclass__(**keywords), as seen from the new class.
void init_subclass(Interpreter& in, Type* type, const Value& keywords) {
  const Value super = make_super(in, type, as_value(type));
  const Value method = get_attr(in, super, in.names->init_subclass);
  std::vector<Value> names, values;
  if (is_dict(keywords)) {
    dict_for_each(as_dict(keywords), [&](const Value& key, const Value& value) {
      names.push_back(key);
      values.push_back(value);
    });
  }
  if (names.empty()) {
    call(in, method);
    return;
  }
  const Value tuple = make_tuple(in, names.data(), names.size());
  call(in, method, Args{values.data(), static_cast<uint32_t>(values.size()), as_tuple(tuple)});
}

Type* new_script_type(Interpreter& in, Str* name, std::vector<Type*> bases, const Value& name_space) {
  Type* base = layout_base(bases);
  Type* type = make_object<Type>(in, in.types.type);
  type->owner = &in;
  type->name = hold(name);
  type->qualname = hold(name);
  type->module = hold(in.names->main_);
  type->set_attributes(static_cast<Dict*>(dict_copy(in, as_dict(name_space)).release()));
  type->version = in.type_cache().new_version();
  type->type_flags = kScriptClass;
  for (Type* b : bases) {
    ++b->refcount;
    type->type_flags |= b->type_flags & kExceptionType;
  }
  type->bases = std::move(bases);
  lay_out(type, base);
  type->mro = {type};
  return type;
}

void take_names(Interpreter& in, Type* type) {
  const Value qualname = take(in, type->attributes(), in.names->qualname);
  auto replace = [&](Str*& place, const Value& value) {
    const Value old = Value::adopt(place);
    place = hold(intern(in, text_of(value)));
  };
  if (is_str(qualname)) replace(type->qualname, qualname);
  const Value* module = dict_get_str(type->attributes(), in.names->module);
  if (module != nullptr && is_str(*module)) replace(type->module, *module);
}

}  // namespace

void note_abstract_methods(Interpreter& in, Type* type) {
  const Value& names = type_lookup(type, in.names->abstractmethods);
  const bool abstract =
      dict_get_str(type->attributes(), in.names->abstractmethods) != nullptr && truth(in, Value(names));
  type->type_flags = abstract ? type->type_flags | kAbstract : type->type_flags & ~kAbstract;
}

Value make_class(Interpreter& in, Str* name, const Value& bases, const Value& name_space, const Value& keywords,
                 const Value& original_bases) {
  Value wanted = bases;
  const Value options = is_dict(keywords) ? dict_copy(in, as_dict(keywords)) : Value::none();
  if (is_dict(options)) {
    const Value base = metaclass_base(in, take(in, as_dict(options), in.names->metaclass));
    if (!base.is_undefined()) {
      std::vector<Value> all(as_tuple(wanted)->begin(), as_tuple(wanted)->end());
      all.push_back(base);
      wanted = make_tuple(in, all.data(), all.size());
    }
  }
  Type* type = new_script_type(in, name, check_bases(in, wanted), name_space);
  const Value result = Value::adopt(type);
  type->mro = linearize(type);
  for (Type* base : type->bases) base->add_subclass(type);
  const Value cell = take(in, type->attributes(), in.names->classcell_);
  take_names(in, type);
  if (!original_bases.is_undefined()) dict_set_str(in, type->attributes(), in.names->orig_bases, original_bases);
  adjust_methods(in, type);
  add_slots(in, type);
  fill_slots(in, type);
  update_type_flags(in, type);
  if (cell.is_object() && cell.as_object()->kind == ObjectKind::Cell)
    static_cast<Cell*>(cell.as_object())->value = result;
  set_names(in, type);
  init_subclass(in, type, options);
  note_abstract_methods(in, type);
  return result;
}

Value begin_class(Interpreter& in, const Value& bases) {
  bool changed = false;
  const Value resolved = resolve_bases(in, bases, changed);
  return make_tuple(in, {make_dict(in), resolved, Value::boolean(changed)});
}

Value end_class(Interpreter& in, const Value& state, const Value& cell, Str* name, const Value& bases,
                const Value& keywords) {
  const Value* const parts = as_tuple(state)->items;
  if (cell.is_object() && cell.as_object()->kind == ObjectKind::Cell)
    dict_set_str(in, as_dict(parts[0]), in.names->classcell_, cell);
  return make_class(in, name, parts[1], parts[0], keywords, parts[2].as_bool() ? bases : Value());
}

}  // namespace tessera::lang
