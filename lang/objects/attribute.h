// Attributes: where they are found, in which order, and what the virtual machine may remember about it.
//
// The order is CPython's: a data descriptor of the class, the instance's own attributes, another descriptor or plain value
// of the class, __getattr__. `AttributeSite` is the answer in a form that an instruction can keep: valid as long as the
// object's type has the same version.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lang/core/type.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Str;

// Note [Dicts aside]: a native type whose instances have a `__dict__` in CPython, of which few ever hold anything (a tensor), has no room
// for Attributes in its layout. It has this TypeFlag, beside those of type.h: an instance that is given an attribute, or is asked for its
// `__dict__`, gets a dict in a table of the interpreter, keyed by its address, and the ObjectFlag below, beside those of object.h. The
// collector tracks such an object; the dict ends with it. Sites of attributes compare the flag, for the dict may hide what the class has.
inline constexpr uint32_t kKeepsDictAside = 1u << 21;
inline constexpr uint8_t kHasDictAside = 64;

// The cache of one attribute instruction. `kind` says how the attribute is got from an object of a type with `version`.
struct AttributeSite {
  enum class Kind : uint8_t {
    Empty,
    Slot,           // attributes.values[index], if index < attributes.count; else the slow way
    Method,         // `value` is a function of the class: bind it, or call it with the object in front
    ClassValue,     // `value` is a plain value of the class, and the object's own attributes lack the name when
                    // index >= attributes.count and it has no dict
    ClassMethod,    // `value` is the function of a class method, on the conditions of ClassValue: call it with the class in front
    Getter,         // `value` is the function that a property calls, of a script or native
    Append,         // for writing: the name is the next of the shared keys, when attributes.count == index
    OfClass,        // the object is a class, and `version` its own: `value` is its attribute
    OfClassMethod,  // the same, and `value` is the function of its class method
    OfModule,       // the object is a module: entry `index` of its dict, if its key is the name (dict_entry_is)
  };
  uint32_t version = 0;
  Kind kind = Kind::Empty;
  uint32_t index = 0;
  const Value* value = nullptr;  // in the class's dict; stays there while the version stays
};

// get_attr, set_attr that also fill the site when the answer may be kept.
Value get_attr(Interpreter& in, const Value& object, Str* name, AttributeSite& site);
void set_attr(Interpreter& in, const Value& object, Str* name, const Value& value, AttributeSite& site);
// For a method call: answers the function and leaves `bound` true when the object must stand in front of the
// arguments; otherwise the attribute as get_attr gives it.
Value get_method(Interpreter& in, const Value& object, Str* name, AttributeSite& site, bool& bound);

// The generic ways, for types that fill the get_attr or set_attr slot and fall back: no slot and no __getattr__ is asked.
Value generic_find_attr(Interpreter& in, const Value& object, Str* name);
void generic_set_attr(Interpreter& in, const Value& object, Str* name, const Value& value);

// type.__getattribute__ and type.__setattr__, whatever the metaclass overrides. Undefined: no such attribute; to delete.
Value type_attribute(Interpreter& in, Type* type, Str* name);
void set_attribute_of_type(Interpreter& in, Type* type, Str* name, const Value& value);
// The value of one of type's own descriptors (__name__, __bases__, __dict__ ...) for a class; Undefined if it lacks it.
Value type_descriptor_value(Interpreter& in, Type* type, Str* name);

// object.__class__ = value. Undefined: to delete, which raises.
void set_class(Interpreter& in, const Value& object, const Value& value);

// Gives the value (Undefined: to delete) to `found`, an attribute of the object's class. Returns false if `found` is not a data
// descriptor.
bool set_through_descriptor(Interpreter& in, const Value& found, const Value& object, const Value& value);

// What an attribute found in a class is for an instance of it (Undefined: for the class itself): descriptors.
Value bind_attribute(Interpreter& in, const Value& found, const Value& object, Type* owner);

// Instance attributes below the descriptors.
const Value* find_own_attribute(Object* object, const Str* name);  // null: none
// Returns true if an attribute of this name can only be the instance's own: its class has no hooks and no attribute of the name. `own` is
// that attribute then, or null if there is none. The name must be interned.
bool has_only_own_attribute(Interpreter& in, const Value& object, Str* name, const Value*& own);
void set_own_attribute(Interpreter& in, Object* object, Str* name, Value value);
// Gives the object the shared key `at`, if that is the next one that it lacks. False: it is not, nothing was done.
bool append_attribute(Interpreter& in, Object* object, uint32_t at, const Value& value);
bool delete_own_attribute(Interpreter& in, Object* object, Str* name);
// The same for a member of __slots__, which may stand beside a dict (kSlotsBesideDict).
const Value* find_slot(Object* object, const Str* name);
void set_slot(Interpreter& in, Object* object, Str* name, Value value);
bool delete_slot(Interpreter& in, Object* object, Str* name);
// The live `__dict__` of an object; from now on its attributes stand in this dict.
Dict* attributes_dict(Interpreter& in, Object* object);
// Whether it has one, or attributes that would stand in it.
bool has_attributes_dict(Object* object);
void set_attributes_dict(Interpreter& in, Object* object, Dict* dict);
void clear_attributes(Interpreter& in, Attributes& attributes) noexcept;
// True if instances have a `__dict__` of their own, in their layout or aside; classes and modules apart.
bool may_have_attributes_dict(const Type* type);
// The dict aside of an object with kHasDictAside.
Dict* dict_aside(Object* object);
void drop_dict_aside(Interpreter& in, Object* object) noexcept;

// Names that dir() shows, sorted; the names among which "Did you mean" searches.
Value attribute_names(Interpreter& in, const Value& object);
// The best match for a misspelt name by CPython's measure, or empty.
std::string suggest_name(std::string_view wrong, const std::vector<std::string_view>& names);

// The version of a class that is being taken apart: nothing is remembered of it, for its dict may be emptied at any time.
constexpr uint32_t kForgotten = UINT32_MAX;

// Looks names up in types, by version; one per interpreter.
class TypeCache {
 public:
  TypeCache() : entries_(new Entry[kLeast]()) {}
  uint32_t new_version() { return last_version_ + 1 < kForgotten ? ++last_version_ : kForgotten; }

  struct Entry {
    uint32_t version = 0;
    const Str* name = nullptr;
    const Value* value = nullptr;  // Undefined if the type has no attribute of this name
  };
  Entry& entry(uint32_t version, const Str* name) {
    return entries_[(version * 0x9e3779b9u ^ static_cast<uint32_t>(reinterpret_cast<uintptr_t>(name) >> 4)) & mask_];
  }
  // Puts an entry in. The table of a program that looks up much grows, which empties it.
  void remember(Entry& place, const Entry& entry) noexcept {
    place = entry;
    if (++remembered_ > mask_ && mask_ + 1 < kMost) [[unlikely]]
      grow();
  }

 private:
  static constexpr uint32_t kLeast = 128, kMost = 2048;
  void grow() noexcept;

  uint32_t last_version_ = 0;
  uint32_t mask_ = kLeast - 1;
  uint32_t remembered_ = 0;  // since it has this size
  std::unique_ptr<Entry[]> entries_;
};

}  // namespace tessera::lang
