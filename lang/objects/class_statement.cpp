// Classes of scripts: their layout, type.__new__, and the class statement around it, which asks the metaclass.
// compile: few-inlines (no faster with more inlines)
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"

#include <algorithm>

#include "lang/objects/attribute.h"
#include "lang/objects/attribute_kinds.h"
#include "lang/compiler/chunk.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/module.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/unicode.h"
#include "lang/vm/frame.h"
#include "lang/vm/vm.h"
#include "lang/vm/native_refusal.h"

namespace tessera::lang {

namespace {

std::string text(const Str* s) { return std::string(s->view()); }
Value as_value(Object* object) { return Value(object); }
Str* hold(Str* s) {
  ++s->refcount;
  return s;
}

// ---- Bases and layout ------------------------------------------------------------------------------------------------

bool has_own_slots(Interpreter& in, Type* type) {
  bool found = false;
  dict_for_each(type->attributes(), [&](const Value&, const Value& value) {
    // One of another class may stand there too: attrs puts those of a base in for attributes that are defined again.
    found |= value.is_object() && value.as_object()->type == in.types.member_descriptor && known_cast<Property>(value)->owner.is(Value(static_cast<Object*>(type)));
  });
  return found;
}

// The nearest class of a script, `type` itself or a base, whose __slots__ add places to its instances; null: there is none.
Type* slotted_class(Interpreter& in, Type* type) {
  if (!(type->type_flags & kScriptClass)) return nullptr;
  if (has_own_slots(in, type)) return type;
  Type* found = nullptr;
  for (Type* base : type->bases) {
    Type* const theirs = slotted_class(in, base);
    if (theirs != nullptr && (found == nullptr || theirs->is_subtype_of(found))) found = theirs;
  }
  return found;
}

// Whether the slotted class extends the same native layout as the other base, which has no places of its own.
bool slots_are_of(const Type* base, const Type* slotted) {
  const auto layout = [](const Type* type) {
    const auto& order = type->mro;
    const auto at = std::find_if(order.begin(), order.end(), [](const Type* each) { return (each->type_flags & kScriptClass) == 0; });
    const Type* found = at == order.end() ? nullptr : *at;
    while (found != nullptr && !found->bases.empty() && found->bases.front()->instance_size == found->instance_size &&
           found->bases.front()->instance_kind == found->instance_kind)
      found = found->bases.front();  // an exception lies in memory as its base does
    return found;
  };
  const Type* const own = layout(base);
  return own != nullptr && slotted->is_subtype_of(own) && own != own->owner->types.object;
}

// Places of two unrelated classes would be the same ones.
void check_slots_of_bases(Interpreter& in, const std::vector<Type*>& bases) {
  Type* found = nullptr;
  for (Type* base : bases) {
    Type* const theirs = slotted_class(in, base);
    if (theirs == nullptr) continue;
    if (found != nullptr && !theirs->is_subtype_of(found) && !found->is_subtype_of(theirs))
      throw_error(ErrorKind::TypeError, "multiple bases have instance lay-out conflict");
    if (found == nullptr || theirs->is_subtype_of(found)) found = theirs;
  }
  if (found == nullptr) return;
  // Nor do places go together with a layout of another base.
  for (Type* base : bases) {
    const bool plain = base->make == nullptr && base->instance_kind == ObjectKind::Instance;
    if (!plain && !base->is_subtype_of(found) && !found->is_subtype_of(base) && !slots_are_of(base, found))
      throw_error(ErrorKind::TypeError, "multiple bases have instance lay-out conflict");
  }
}

std::vector<Type*> check_bases(Interpreter& in, const Value& bases) {
  std::vector<Type*> types;
  for (const Value& base : *as_tuple(bases)) {
    if (!is_type(base)) throw_error(ErrorKind::TypeError, "bases must be types");
    Type* type = as_type(base);
    if (type->type_flags & kFinalType) {
      throw_error(ErrorKind::TypeError, "type '%s' is not an acceptable base type", std::string(type_name(in, type)).c_str());
    }
    if (std::find(types.begin(), types.end(), type) != types.end()) {
      throw_error(ErrorKind::TypeError, "duplicate base class %s", text(type->name).c_str());
    }
    types.push_back(type);
  }
  if (types.empty()) types.push_back(in.types.object);
  if (types.size() > 1) check_slots_of_bases(in, types);
  return types;
}

bool is_native_layout(const Type* type) { return type->make != nullptr || type->instance_kind != ObjectKind::Instance; }

}  // namespace

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

namespace {

void lay_out(Type* type, const Type* base) {
  type->instance_kind = base->instance_kind;
  type->make = base->make;
  type->slots = base->slots;
  const bool has_dict = base->instance_kind == ObjectKind::Type || base->instance_kind == ObjectKind::Module;
  if (has_dict || base->attributes_offset != 0) {  // classes and modules keep their attributes in a dict of their own
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

// Layouts with items behind the object have room neither for slots nor for a weak reference.
bool has_items(Interpreter& in, const Type* type) {
  return type->instance_kind == ObjectKind::Tuple || type->instance_kind == ObjectKind::Type ||
         type->is_subtype_of(in.types.integer) ||
         (in.shared->bytes != nullptr && type->is_subtype_of(in.shared->bytes->bytes));
}

bool has_instance_dict(const Type* base) {
  const bool own = base->instance_kind == ObjectKind::Type || base->instance_kind == ObjectKind::Module;
  return own || may_have_attributes_dict(base);
}

// Do instances of the bases have a `__dict__` already?
bool bases_have_dict(const Type* type) { return std::any_of(type->bases.begin(), type->bases.end(), has_instance_dict); }

bool bases_have_weakref(Interpreter& in, const Type* type) {
  return std::any_of(type->bases.begin(), type->bases.end(), [&](const Type* base) {
    const ObjectKind kind = base->instance_kind;
    const bool own = kind == ObjectKind::Set || kind == ObjectKind::Type || kind == ObjectKind::Module;
    return own || !type_lookup(base, in.names->weakref).is_undefined();
  });
}

// Objects of native modules can always be weakly referenced; a class below one may ask for it all the same.
bool needs_weakref(Interpreter& in, const Type* type) {
  const Type* const base = layout_base(type->bases);
  return base->instance_kind != ObjectKind::Native && !has_items(in, base) && !bases_have_weakref(in, type);
}

// Their Attributes hold the slots alone, so the class has no dict as far as Attributes go.
bool is_module_with_slots(const Type* type) {
  return type->instance_kind == ObjectKind::Module && type->attributes_offset != 0;
}

// Modules keep their attributes in a dict of their own: those of __slots__ have a place behind the module.
void lay_out_slots(Type* type) {
  type->attributes_offset = (type->instance_size + 15) & ~15u;
  type->instance_size = type->attributes_offset + static_cast<uint32_t>(sizeof(Attributes));
}

void add_slot(Interpreter& in, Type* type, const Value& name) {
  if (!is_str(name))
    throw_error(ErrorKind::TypeError, "__slots__ items must be strings, not '%s'",
                std::string(type_name(in, name)).c_str());
  if (has_items(in, type->bases.front()))
    throw_error(ErrorKind::TypeError, "nonempty __slots__ not supported for subtype of '%s'",
                text(type->bases.front()->name).c_str());
  if (!unicode::is_identifier(text_of(name))) throw_error(ErrorKind::TypeError, "__slots__ must be identifiers");
  Str* slot = intern(in, mangled(type->name->view(), text_of(name)));
  const auto has_own = [type](Str* own) { return dict_get_str(type->attributes(), own) != nullptr; };
  if (slot == in.names->dict_) {
    if (has_own(slot) || has_instance_dict(layout_base(type->bases))) throw_error(ErrorKind::TypeError, "__dict__ slot disallowed: we already got one");
    return add_instance_dict(in, type);
  }
  if (slot == in.names->weakref) {
    if (has_own(slot) || bases_have_weakref(in, type))
      throw_error(ErrorKind::TypeError, "__weakref__ slot disallowed: either we already got one, or __itemsize__ != 0");
    return add_instance_weakref(in, type);
  }
  const Value* const there = dict_get_str(type->attributes(), slot);
  const bool named_twice = there != nullptr && there->is_object() && there->as_object()->type == in.types.member_descriptor &&
                           object_cast<Property>(*there)->owner.is(as_value(type));
  if (named_twice) return;
  if (there != nullptr) {
    throw_error(ErrorKind::ValueError, "%s in __slots__ conflicts with class variable", quote(slot->view()).c_str());
  }
  if (type->attributes_offset == 0) lay_out_slots(type);
  dict_set_str(in, type->attributes(), slot, make_slot_member(in, slot, type));
}

bool has_slot_members(Interpreter& in, const Type* type) {
  return std::any_of(type->mro.begin(), type->mro.end(), [&](Type* base) {
    if (!(base->type_flags & kScriptClass) || dict_get_str(base->attributes(), in.names->slots) == nullptr) return false;
    bool found = false;
    dict_for_each(base->attributes(), [&](const Value&, const Value& value) { found = found || is_slot_member(value); });
    return found;
  });
}

void add_slots(Interpreter& in, Type* type) {
  const Value* found = dict_get_str(type->attributes(), in.names->slots);
  type->type_flags &= ~(kHasSlots | kSlotsBesideDict);
  const bool inherits_dict = bases_have_dict(type);
  if (found == nullptr) {
    if (!inherits_dict) add_instance_dict(in, type);
    if (needs_weakref(in, type)) add_instance_weakref(in, type);
    if (is_module_with_slots(type)) type->type_flags |= kHasSlots;
    else if (has_slot_members(in, type)) type->type_flags |= kSlotsBesideDict;
    return;
  }
  const Value slots = *found;
  if (is_str(slots)) add_slot(in, type, slots);
  else for_each(in, slots, [&](const Value& name) { add_slot(in, type, name); });
  const bool has_dict = inherits_dict || dict_get_str(type->attributes(), in.names->dict_) != nullptr;
  if (!has_dict || is_module_with_slots(type)) type->type_flags |= kHasSlots;
  else if (has_slot_members(in, type)) type->type_flags |= kSlotsBesideDict;
}

// Functions of the library that are builtin ones in CPython, which instances do not bind: `sleep = time.strftime` in a program's class.
void keep_unbound(Interpreter& in, Type* type) {
  std::vector<Str*> names;
  dict_for_each(type->attributes(), [&](const Value& key, const Value& value) {
    if (!is_str(key) || !is_function(value)) return;
    const Function* const function = as_function(value);
    if (function->qualname->view() == function->name->view() && is_native_in_cpython(in, function->globals, function->qualname->view())) names.push_back(as_str(key));
  });
  if (names.empty()) return;
  const Value* const module = dict_get_str(in.modules().table(), type->module);
  const bool of_module = module != nullptr && module->is_object() && module->as_object()->kind == ObjectKind::Module;
  if (of_module && dict_get_text(object_cast<Module>(*module)->dict, "__native__") != nullptr) return;  // the library's own methods
  for (Str* const name : names) dict_set_str(in, type->attributes(), name, make_static_method(in, Value(*dict_get_str(type->attributes(), name))));
}

// Methods that are what they are without a decorator.
void adjust_methods(Interpreter& in, Type* type) {
  auto wrap = [&](Str* name, Value (*wrapper)(Interpreter&, const Value&)) {
    const Value* found = dict_get_str(type->attributes(), name);
    if (found != nullptr && is_function(*found)) dict_set_str(in, type->attributes(), name, wrapper(in, Value(*found)));
  };
  keep_unbound(in, type);
  wrap(in.names->new_, make_static_method);
  wrap(in.names->init_subclass, make_class_method);
  wrap(in.names->class_getitem, make_class_method);
  const bool has_eq = dict_get_str(type->attributes(), in.names->eq) != nullptr;
  if (has_eq && dict_get_str(type->attributes(), in.names->hash) == nullptr) {
    dict_set_str(in, type->attributes(), in.names->hash, Value::none());
  }
}

// value.__set_name__(type, key); what it raises is told with its place.
void set_name(Interpreter& in, Type* type, const Value& key, const Value& value) {
  Value cause;
  try {
    call_special(in, type_lookup(value.as_object()->type, in.names->set_name), value, {as_value(type), key});
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
      auto* property = object_cast<Property>(value);
      if (property->name.is_undefined()) property->name = key;
    }
  });
}

// function(*positional, **keywords), where `keywords` is a dict or None.
Value call_with_keywords(Interpreter& in, const Value& function, std::initializer_list<Value> positional,
                         const Value& keywords) {
  std::vector<Value> values(positional), names;
  if (is_dict(keywords)) {
    dict_for_each(as_dict(keywords), [&](const Value& key, const Value& value) {
      names.push_back(key);
      values.push_back(value);
    });
  }
  const auto count = static_cast<uint32_t>(values.size());
  if (names.empty()) return call(in, function, Args{values.data(), count});
  const Value tuple = make_tuple(in, names.data(), names.size());
  return call(in, function, Args{values.data(), count, as_tuple(tuple)});
}

// super().__init_subclass__(**keywords), as seen from the new class.
void init_subclass(Interpreter& in, Type* type, const Value& keywords) {
  const Value super = make_super(in, type, as_value(type));
  call_with_keywords(in, get_attr(in, super, in.names->init_subclass), {}, keywords);
}

Type* new_script_type(Interpreter& in, Type* meta, Str* name, std::vector<Type*> bases, const Value& name_space) {
  Type* base = layout_base(bases);
  Type* type = make_object<Type>(in, meta);
  type->owner = &in;
  type->name = hold(name);
  type->qualname = hold(name);
  type->module = hold(in.names->main_);
  type->set_attributes(known_cast<Dict>(dict_copy(in, as_dict(name_space)).release()));
  type->version = in.type_cache().new_version();
  type->type_flags = kScriptClass;
  for (Type* b : bases) {
    ++b->refcount;
    type->type_flags |= b->type_flags & (kExceptionType | kSpeaksAsC);
  }
  type->bases = std::move(bases);
  lay_out(type, base);
  type->mro = {type};
  return type;
}

// __qualname__ leaves the dict, __module__ comes in: the module of the running code where the body has set none.
void take_names(Interpreter& in, Type* type) {
  const auto replace = [&](Str*& place, const Value& value) {
    const Value old = Value::adopt(place);
    place = hold(intern(in, text_of(value)));
  };
  const Value qualname = take(in, type->attributes(), in.names->qualname);
  if (is_str(qualname)) {
    replace(type->qualname, qualname);
  } else if (!qualname.is_undefined()) {
    throw_error(ErrorKind::TypeError, "type __qualname__ must be a str, not %s",
                std::string(type_name(in, qualname)).c_str());
  }
  const Value* module = dict_get_str(type->attributes(), in.names->module);
  if (module == nullptr && in.vm().top() != nullptr) {
    module = dict_get_str(in.vm().top()->function->globals, in.names->name);
    if (module != nullptr) dict_set_str(in, type->attributes(), in.names->module, Value(*module));
  }
  if (module != nullptr && is_str(*module)) replace(type->module, *module);
  if (type_name(in, type).size() != type->name->view().size()) type->type_flags |= kSpeaksAsC;
}

// The cell of the methods' `__class__`, which the statement left in the namespace; null: no method needs it.
Cell* take_class_cell(Interpreter& in, Type* type, Value& keep) {
  keep = take(in, type->attributes(), in.names->classcell_);
  if (keep.is_undefined()) return nullptr;
  if (keep.is_object() && keep.as_object()->kind == ObjectKind::Cell) return object_cast<Cell>(keep);
  throw_error(ErrorKind::TypeError, "__classcell__ must be a nonlocal cell, not %s",
              repr_text(in, Value(type_of(in, keep))).c_str());
}

// Another metaclass, of a base, makes the class: its __new__, if it has one of its own. Undefined: it has none.
Value make_by_winner(Interpreter& in, Type* winner, Str* name, const Value& bases, const Value& name_space,
                     const Value& keywords) {
  const Value own = type_lookup(winner, in.names->new_);
  if (own.is(type_lookup(in.types.type, in.names->new_))) return Value();
  return call_with_keywords(in, get_attr(in, as_value(winner), in.names->new_),
                            {as_value(winner), as_value(name), bases, name_space}, keywords);
}

}  // namespace

void note_abstract_methods(Interpreter& in, Type* type) {
  const Value& names = type_lookup(type, in.names->abstractmethods);
  const bool abstract =
      dict_get_str(type->attributes(), in.names->abstractmethods) != nullptr && truth(in, Value(names));
  type->type_flags = abstract ? type->type_flags | kAbstract : type->type_flags & ~kAbstract;
}

Value make_class(Interpreter& in, Type* meta, Str* name, const Value& bases, const Value& name_space,
                 const Value& keywords) {
  for (const Value& base : *as_tuple(bases)) {
    if (!is_type(base) && !find_attr(in, base, in.names->mro_entries).is_undefined())
      throw_error(ErrorKind::TypeError, "type() doesn't support MRO entry resolution; use types.new_class()");
  }
  Type* const winner = most_derived_metaclass(in, meta, bases);
  if (winner != meta) {
    Value made = make_by_winner(in, winner, name, bases, name_space, keywords);
    if (!made.is_undefined()) return made;
  }
  Type* type = new_script_type(in, winner, name, check_bases(in, bases), name_space);
  const Value result = Value::adopt(type);
  for (Type* base : type->bases) base->add_subclass(type);
  type->mro = resolution_order(in, type);
  Value keep_cell;
  Cell* const cell = take_class_cell(in, type, keep_cell);
  take_names(in, type);
  adjust_methods(in, type);
  add_slots(in, type);
  if (dict_get_str(type->attributes(), in.names->doc) == nullptr)
    dict_set_str(in, type->attributes(), in.names->doc, Value::none());
  fill_slots(in, type);
  update_type_flags(in, type);
  if (cell != nullptr) cell->value = result;
  set_names(in, type);
  init_subclass(in, type, keywords);
  note_abstract_methods(in, type);
  return result;
}

// ---- The class statement ---------------------------------------------------------------------------------------------

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
  return changed ? make_tuple(in, as_list(resolved)->items, as_list(resolved)->size) : bases;
}

Type* most_derived_metaclass(Interpreter& in, Type* meta, const Value& bases) {
  for (const Value& base : *as_tuple(bases)) {
    Type* const other = type_of(in, base);
    if (meta->is_subtype_of(other)) continue;
    if (!other->is_subtype_of(meta))
      throw_error(ErrorKind::TypeError,
                  "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses "
                  "of all its bases");
    meta = other;
  }
  return meta;
}

namespace {

// The places in the state of a class statement, between the begin and the end of its body.
enum : uint32_t { kNamespace, kBases, kBasesChanged, kMetaclass, kKeywords };

Value prepare_namespace(Interpreter& in, Str* name, const Value& meta, const Value& bases, const Value& keywords) {
  if (meta.is(as_value(in.types.type))) return make_dict(in);
  const Value prepare = find_attr(in, meta, in.names->prepare);
  if (prepare.is_undefined()) return make_dict(in);
  Value made = call_with_keywords(in, prepare, {as_value(name), bases}, keywords);
  if (is_dict(made) || (made.is_object() && made.as_object()->type->slots.get_item != nullptr && !is_type(made)))
    return made;
  const std::string of = is_type(meta) ? text(as_type(meta)->name) : "<metaclass>";
  throw_error(ErrorKind::TypeError, "%s.__prepare__() must return a mapping, not %s", of.c_str(),
              std::string(type_name(in, made)).c_str());
}

// A metaclass's __new__ must hand the namespace's __classcell__ on to type.__new__, unchanged.
void check_class_cell(Interpreter& in, const Cell* cell, Str* name, const Value& made) {
  if (cell->value.is(made)) return;
  const std::string quoted = quote(name->view());
  if (cell->value.is_undefined())
    throw_error(ErrorKind::RuntimeError,
                "__class__ not set defining %s as %s. Was __classcell__ propagated to type.__new__?", quoted.c_str(),
                repr_text(in, made).c_str());
  throw_error(ErrorKind::TypeError, "__class__ set to %s defining %s as %s", repr_text(in, cell->value).c_str(),
              quoted.c_str(), repr_text(in, made).c_str());
}

}  // namespace

Value begin_class(Interpreter& in, Str* name, const Value& bases, const Value& keywords) {
  bool changed = false;
  const Value resolved = resolve_bases(in, bases, changed);
  const Value options = is_dict(keywords) && as_dict(keywords)->count != 0 ? dict_copy(in, as_dict(keywords)) : Value::none();
  Value meta = is_dict(options) ? take(in, as_dict(options), in.names->metaclass) : Value();
  if (meta.is_undefined()) {
    const Tuple* const all = as_tuple(resolved);
    meta = as_value(all->size == 0 ? in.types.type : type_of(in, all->items[0]));
  }
  if (is_type(meta)) meta = as_value(most_derived_metaclass(in, as_type(meta), resolved));
  const Value name_space = prepare_namespace(in, name, meta, resolved, options);
  return make_tuple(in, {name_space, resolved, Value::boolean(changed), meta, options});
}

Value end_class(Interpreter& in, const Value& state, const Value& cell, Str* name, const Value& bases) {
  const Value* const parts = as_tuple(state)->items;
  const Value &name_space = parts[kNamespace], &meta = parts[kMetaclass];
  const auto put = [&](Str* key, const Value& value) {
    if (name_space.as_object()->type == in.types.dict) dict_set_str(in, as_dict(name_space), key, value);
    else set_item(in, name_space, as_value(key), value);
  };
  if (parts[kBasesChanged].as_bool()) put(in.names->orig_bases, bases);
  const bool has_cell = cell.is_object() && cell.as_object()->kind == ObjectKind::Cell;
  if (has_cell) put(in.names->classcell_, cell);
  if (meta.is(as_value(in.types.type)))
    return make_class(in, in.types.type, name, parts[kBases], name_space, parts[kKeywords]);
  Value made = call_with_keywords(in, meta, {as_value(name), parts[kBases], name_space}, parts[kKeywords]);
  if (has_cell && is_type(made)) check_class_cell(in, object_cast<Cell>(cell), name, made);
  return made;
}

}  // namespace tessera::lang
