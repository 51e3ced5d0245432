// Types: one table of functions per type, through which an object takes part in the language.
//
// Native types fill the table in C++; a class written in a script inherits its base's table, and class.cpp puts a
// trampoline into each slot whose dunder method the class defines. The virtual machine asks the table only after its
// inline cases for int, float, str, list, dict and tuple.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "lang/core/failure.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Str;
struct Dict;
struct Tuple;
struct Args;
struct Function;
class Visitor;

enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  TrueDiv,
  FloorDiv,
  Mod,
  Pow,
  MatMul,
  LShift,
  RShift,
  And,
  Or,
  Xor,
  DivMod,
};
enum class UnaryOp : uint8_t { Neg, Pos, Invert };
enum class CompareOp : uint8_t { Lt, Le, Eq, Ne, Gt, Ge };

// Which operands of a binary operator are temporaries of the virtual machine that nothing reads again: an
// implementation that sees such an operand with a count of one may take its memory for the result.
enum Dying : uint8_t { kNoneDying = 0, kLeftDying = 1, kRightDying = 2 };

// Every function may throw Error or Thrown (error.h). A slot that is null is "not supported".
// `self` is the object that the slot was found on. Not-implemented is answered with `in.not_implemented`.
struct TypeSlots {
  // Names the memory layout of the objects, compared by address: a subclass written in a script has its base's. Set by the
  // types that natives know on sight; a slot's address tells nothing, the linker may fold two functions into one.
  const char* layout = nullptr;
  // Frees the object's contents and memory; must not throw. Never null.
  void (*destroy)(Interpreter& in, Object* self) = nullptr;
  // Calls visitor(child) for each Value that it owns; null for types that hold no values.
  void (*traverse)(Object* self, Visitor& visitor) = nullptr;
  // Drops what it holds, so that a cycle falls apart.
  void (*clear)(Interpreter& in, Object* self) = nullptr;

  Value (*repr)(Interpreter& in, const Value& self) = nullptr;
  Value (*str)(Interpreter& in, const Value& self) = nullptr;  // null: repr
  Value (*format)(Interpreter& in, const Value& self, std::string_view spec) = nullptr;
  int64_t (*hash)(Interpreter& in, const Value& self) = nullptr;  // null: unhashable (object's is identity)
  bool (*truth)(Interpreter& in, const Value& self) = nullptr;    // null: length != 0, or true
  int64_t (*length)(Interpreter& in, const Value& self) = nullptr;

  Value (*compare)(Interpreter& in, CompareOp op, const Value& self, const Value& other) = nullptr;
  // `reflected`: self is the right operand. `dying` speaks of the operands as written, left and right.
  Value (*binary)(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected,
                  uint8_t dying) = nullptr;
  // `self op= other`; answers the object that the name is bound to afterwards. Null: the binary operator.
  Value (*inplace)(Interpreter& in, BinaryOp op, const Value& self, const Value& other) = nullptr;
  Value (*unary)(Interpreter& in, UnaryOp op, const Value& self) = nullptr;

  Value (*get_item)(Interpreter& in, const Value& self, const Value& key) = nullptr;
  void (*set_item)(Interpreter& in, const Value& self, const Value& key, const Value& value) = nullptr;
  void (*del_item)(Interpreter& in, const Value& self, const Value& key) = nullptr;
  bool (*contains)(Interpreter& in, const Value& self, const Value& item) = nullptr;  // null: iterate
  Value (*iter)(Interpreter& in, const Value& self) = nullptr;
  // False: exhausted. No StopIteration is made on this path.
  bool (*next)(Interpreter& in, const Value& self, Value& out) = nullptr;
  // send() of an iterator that ends with a value, for `yield from` and `await`. False: it has ended, and `out` is its value.
  bool (*resume)(Interpreter& in, const Value& self, const Value& sent, Value& out) = nullptr;

  Value (*call)(Interpreter& in, const Value& self, const Args& args) = nullptr;
  // Instead of the generic look-up (attribute.cpp); answers Undefined where there is no such attribute.
  Value (*get_attr)(Interpreter& in, const Value& self, Str* name) = nullptr;
  void (*set_attr)(Interpreter& in, const Value& self, Str* name, const Value& value) = nullptr;  // Undefined: del
  // Descriptor protocol, for objects found in a class.
  Value (*descr_get)(Interpreter& in, const Value& self, const Value& instance, Type* owner) = nullptr;
  void (*descr_set)(Interpreter& in, const Value& self, const Value& instance, const Value& value) = nullptr;
  // Called when the slots of a script class below the type have been filled: a native base may put others in their place.
  void (*adjust)(Interpreter& in, Type* made) = nullptr;
};

// Attributes of an instance. In the usual case an instance holds the first `count` names of its type's shared key
// list, in that order, so `values[i]` belongs to `type->instance_keys[i]`; an instance that is given names in another
// order, or that loses one, goes over to a dict of its own.
struct Attributes {
  Value* values = nullptr;
  uint32_t count = 0;
  uint32_t capacity = 0;
  Dict* dict = nullptr;  // owned; when set, `values` is empty
};

enum TypeFlags : uint32_t {
  kScriptClass = 1,  // made by a class statement or type(name, bases, dict)
  kFinalType = 2,    // cannot be a base: bool, range, slice, function …
  kExceptionType = 4,
  kHasGetAttrHook = 8,     // the class (or a base) defines __getattr__
  kHasGetAttribute = 16,   // … __getattribute__
  kHasSetAttrHook = 32,    // … __setattr__ or __delattr__
  kHasSlots = 64,          // __slots__ and no __dict__: only the named attributes may be set
  kAbstract = 128,         // has names in __abstractmethods__: refuses to be instantiated
  kHasFinalizer = 256,     // defines __del__
  kClassesCached = 512,    // a metaclass: an attribute site remembers an attribute of one of its classes (attribute.cpp)
  kCompletesLater = 1024,  // when it is filled, its slots' methods are added as far as it has none of its own
  kMatchesSequence = 2048,  // `case [...]` takes its instances: list, tuple, collections.abc.Sequence and what is registered
  kMatchesMapping = 4096,   // the same for `case {...}`
  kPlainException = 8192,   // a native class of exceptions that keeps its arguments and nothing else
  kTakesAnyKeywords = 1 << 14,  // `**` passes keywords that are no strings to the type's instances and to its constructor
  kSpeaksAsC = 1 << 15,         // a class of the library that CPython has in C, or one below it (library_method.h)
  kForwardsClass = 1 << 16,     // a native type whose instances have the __class__ of another object: weak proxies
  kItemsByPosition = 1 << 17,   // a native type that has items and is no mapping: CPython gives it sq_item alone
  kNamedAlone = 1 << 18,        // a native type for a class that users know as written in Python: messages name it without its module
  kAsksFirst = 1 << 19,         // set by a native base's `adjust`: operations on instances ask their class before they begin
};

// The plain functions of scripts behind a class's slots, remembered as long as the class has this version: special_function in class_slots.h.
struct SpecialFunctions {
  uint32_t version = 0;
  uint32_t asked = 0;      // a bit for each place of `functions` that is known
  Function* functions[32];  // by SpecialSlot; null: there is no such function
};

struct Type : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Type;
  Str* name;
  Str* qualname;
  Str* module;
  Interpreter* owner;
  std::vector<Type*> bases;
  std::vector<Type*> mro;  // C3, itself first
  TypeSlots slots;
  ObjectKind instance_kind;  // layout of its instances
  const char* structure = nullptr;  // the tag of its instances' C++ structure, noted by make_object; see object_cast.h
  uint32_t type_flags;
  uint32_t instance_size;      // bytes of an instance without its Attributes
  uint32_t attributes_offset;  // where its instances keep their Attributes; 0: they have none
  uint32_t version;            // changes whenever an attribute of it or of a base changes; never 0; caches compare it
  std::vector<Str*> instance_keys;  // shared names of instance attributes, see Attributes
  std::vector<Type*> subclasses;    // not owned; null where one has died
  uint32_t dead_subclasses = 0;     // how many of them have
  uint32_t place_in_base = 0;       // its own among those of its first base
  // How instances are made: null for script classes without a native base (then object.__new__ and __init__).
  TypeMaker make = nullptr;
  // The __init__ that makes an instance as a frame of its own (constructor() in call.cpp), as long as the class has this version.
  uint32_t constructor_version = 0;
  Function* constructor = nullptr;
  mutable std::unique_ptr<SpecialFunctions> special_functions;  // null until one is asked for
  // The short way (ShortWay in native.h) of `make` for one positional argument. Null in script classes and types without a short way.
  bool (*short_make)(Interpreter& in, Value* argument, Value& answer) = nullptr;

  void add_subclass(Type* type);
  void remove_subclass(const Type* type) noexcept;
  bool is_subtype_of(const Type* other) const noexcept;  // issubclass without hooks

  // __dict__ of the class. Note [Filled when asked]: what a native type has in it, some thousand functions over all types,
  // is made when somebody first asks, for a program asks few types; their slots and `make` are there from the start. So
  // `fill` may not depend on when it runs, and where memory ends in the middle of it, it runs again the next time.
  Dict* attributes() {
    if (!filled_) [[unlikely]]
      fill_attributes();
    return attributes_;
  }
  using Fill = void (*)(Interpreter& in, Type* type);
  void fill_later(Fill fill) noexcept {
    fill_ = fill;
    filled_ = false;
  }
  void set_attributes(Dict* dict) noexcept {
    attributes_ = dict;
    filled_ = true;
  }
  Dict* attributes_so_far() const noexcept { return attributes_; }  // may be null
  bool is_filled() const noexcept { return filled_; }
  // The answer of a metaclass's mro(): keeps the classes in `mro` that are no bases. Null: C3, the bases keep them all.
  Tuple* own_order() const noexcept { return own_order_; }
  void set_own_order(Tuple* order) noexcept;

 private:
  void fill_attributes();

  Dict* attributes_ = nullptr;
  Fill fill_ = nullptr;
  Tuple* own_order_ = nullptr;
  bool filled_ = false;
};

// `layout` is the name that the type's slots were given, not a text that reads the same.
inline bool has_layout(const Value& v, const char* layout) noexcept {
  return v.is_object() && v.as_object()->type->slots.layout == layout;
}

}  // namespace tessera::lang
