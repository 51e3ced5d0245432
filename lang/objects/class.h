// Classes: the class statement, type(name, bases, dict), C3, super, and the descriptors property, staticmethod and
// classmethod. Instances of script classes without a native base are `Instance`s: nothing but Attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lang/core/make_object.h"
#include "lang/core/native.h"
#include "lang/core/object_cast.h"
#include "lang/core/type.h"

namespace tessera::lang {

// A TypeFlag beside those of type.h: the instances have slots and a dict. Their slots are the values of Attributes, under the class's keys,
// and every other attribute is in the dict; nothing of them is cached at attribute sites.
inline constexpr uint32_t kSlotsBesideDict = 1u << 20;

struct Instance : GcObject {
  Attributes attributes;  // unused (but there) when the class has __slots__ without a dict
};

// An instance of a script subclass of int, float or bool-like natives: the immediate is inside.
struct Boxed : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Boxed;
  Value value;
};

// A property; or a getset_descriptor or member_descriptor with native functions; or, with ObjectKind::Other, a member of __slots__:
// a member_descriptor that reads and writes the shared key `name`.
struct Property : GcObject {
  Value get, set, del, doc, name;
  Value owner;  // of a native descriptor: the type that has it
};

struct StaticMethod : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::StaticMethod;
  Value function;
};

struct ClassMethod : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::ClassMethod;
  Value function;
};

struct Super : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Super;
  Type* start;  // the search begins behind it in the object's type's mro
  Value self;   // an instance or, in a classmethod, a class
  Type* self_type;
};

// A type's name as CPython's messages have it: "list", "collections.deque", "C". The text lives as long as the interpreter.
std::string_view type_name(Interpreter& in, const Type* type);
// Returns the type name of an argument as error messages show it: "argument 1 must be str, not None" says None for the value None, and the
// type's name for every other value. The returned string is null-terminated and lives as long as the interpreter.
const char* argument_type(Interpreter& in, const Value& value);

// The built-in type that has the function as a static method (bytes.maketrans), or null. Such a function does not know its type.
Type* static_owner(Interpreter& in, const NativeFunction* f);

inline bool is_type(const Value& v) { return v.is_object() && v.as_object()->kind == ObjectKind::Type; }
inline Type* as_type(const Value& v) { return known_cast<Type>(v); }

// What the constructor calls first and once more when str, dict and tuple exist.
void make_core_types(Interpreter& in);
void finish_core_types(Interpreter& in);
// Methods of object, type and module (class_methods.cpp), which calls the next.
void add_core_methods(Interpreter& in);
// property, staticmethod, classmethod, super (descriptors.cpp).
void add_descriptors(Interpreter& in);
// method_descriptor and the other kinds of native attributes (descriptor_kinds.cpp).
void add_descriptor_kinds(Interpreter& in);

// The last step of the interpreter's end, when nothing but the built-in types is left.
void destroy_types(Interpreter& in) noexcept;

// The class statement, around the run of its body, a function of the namespace that answers the `__class__` cell or None: what
// is known before, the namespace first, and the class.
Value begin_class(Interpreter& in, Str* name, const Value& bases, const Value& keywords);
Value end_class(Interpreter& in, const Value& state, const Value& cell, Str* name, const Value& bases);
// type.__new__(meta, name, bases, name_space, **keywords). Returns the class; `name_space` is copied.
Value make_class(Interpreter& in, Type* meta, Str* name, const Value& bases, const Value& name_space,
                 const Value& keywords);
// The most derived of `meta` and the types of the bases; a conflict raises TypeError.
Type* most_derived_metaclass(Interpreter& in, Type* meta, const Value& bases);
// `bases` with __mro_entries__ called on those that are no classes; `changed` is set when there were any.
Value resolve_bases(Interpreter& in, const Value& bases, bool& changed);

// The method resolution order (class_order.cpp): C3 over the bases, or the answer of a metaclass's own mro().
std::vector<Type*> linearize(Interpreter& in, Type* type);
std::vector<Type*> resolution_order(Interpreter& in, Type* type);
// type.__bases__ = bases: checks, then the orders and slots of the type and of all below it.
void set_bases(Interpreter& in, Type* type, const Value& bases);
// The base whose layout the instances get (class_statement.cpp); a layout conflict raises TypeError.
Type* layout_base(const std::vector<Type*>& bases);
bool same_layout(const Type* a, const Type* b);
// For messages: "deallocator" if one of the two cannot be part of a cycle, else "object layout".
const char* layout_difference(const Type* a, const Type* b);

// A new object of a script class with nothing in it, of whatever layout the class inherits: object.__new__.
Value new_instance(Interpreter& in, Type* type);
// type.__call__: __new__, then __init__.
Value instantiate(Interpreter& in, Type* type, const Args& args);
// The `make` of types that scripts cannot make: "cannot create 'dict_keys' instances".
Value refuse_to_make(Interpreter& in, Type* type, const Args& args);
// "Can't instantiate abstract class X with abstract method f".
[[noreturn]] void throw_abstract(Interpreter& in, Type* type);

// Sets or deletes (Undefined) an attribute of a class: dict, version, slots, flags.
void set_type_attribute(Interpreter& in, Type* type, Str* name, const Value& value);
// New versions for the type and everything below it.
void type_changed(Interpreter& in, Type* type);

Value make_property(Interpreter& in, const Value& get, const Value& set, const Value& del, const Value& doc);
Value make_static_method(Interpreter& in, const Value& function);
Value make_class_method(Interpreter& in, const Value& function);
Value make_slot_member(Interpreter& in, Str* name, Type* owner);
// A native data descriptor of `type`: getset_descriptor or member_descriptor. Setter and deleter may be None.
Value make_native_property(Interpreter& in, Type* type, Type* owner, Str* name, const Value& get, const Value& set,
                           const Value& del, const Value& doc);
// `__dict__` and `__weakref__` of a class whose instances have what those of its bases lack (instance_members.cpp).
void add_instance_dict(Interpreter& in, Type* type);
void add_instance_weakref(Interpreter& in, Type* type);
Value make_super(Interpreter& in, Type* start, const Value& self);

// isinstance and issubclass as type.__instancecheck__ and type.__subclasscheck__ answer: by the mro alone.
bool plain_is_instance(Interpreter& in, const Value& value, Type* type);
// The answer of isinstance() where no script has to run for it: `wanted` is a class whose metaclass is `type` or a tuple of such classes,
// and the value's class does not override __class__. Empty if a script may have to run.
std::optional<bool> plain_classes_say(Interpreter& in, const Value& value, const Value& wanted);
bool plain_is_subclass(Interpreter& in, const Value& sub, Type* type);
// Whether an instance of the type may claim to be of another class, by a __class__ of its own.
bool may_claim_class(Interpreter& in, const Type* type);

// A read-only view of a mapping: types.MappingProxyType (lang/types/mapping_proxy.cpp).
Value make_mapping_proxy(Interpreter& in, const Value& mapping);
}  // namespace tessera::lang
