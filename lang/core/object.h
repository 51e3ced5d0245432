// What every heap object begins with, and the kinds that the virtual machine tells apart without a look at the type.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::lang {

struct Type;

// The C++ layout of an object. A subclass written in a script keeps the layout (and so the kind) of its native base:
// `class Stack(list)` makes List objects whose type is not the list type. `object->type == in.types.list` asks for
// exactly a list; `object->kind == ObjectKind::List` for a list or a subclass.
enum class ObjectKind : uint8_t {
  Instance,  // of a class written in a script, no native base
  Str,
  List,
  Tuple,
  Dict,
  Set,  // set and frozenset
  Range,
  Slice,
  BigInt,    // an int beyond 64 bits; its type is int itself
  Boxed,     // an instance of a script subclass of int, float (the immediate is inside)
  Function,  // def, lambda
  NativeFunction,
  BoundMethod,
  Cell,
  Code,
  Generator,
  Coroutine,       // of an `async def`; laid out as a Generator
  AsyncGenerator,  // likewise
  Iterator,  // all native iterators
  Exception,
  Type,
  Module,
  Property,
  StaticMethod,
  ClassMethod,
  Super,
  Native,  // an object type of C++ that the language does not know: a tensor, a compiled pattern
  Other,   // NotImplemented, Ellipsis, traceback, views …
};

enum ObjectFlags : uint8_t {
  kTracked = 1,            // is a GcObject and stands in the collector's list
  kImmortal = 2,           // lives as long as the interpreter
  kInterned = 4,           // Str: the one string with this text; equality is identity
  kFinalized = 8,          // its __del__ has run
  kWeaklyReferenced = 16,  // weak references to it stand in the interpreter's table (weak.h)
  kGlobals = 32,           // Dict: code caches places in it, so its keys_version is unique among such dicts (dict_enroll)
};

struct Object {
  uint32_t refcount;
  ObjectKind kind;
  uint8_t flags;
  uint16_t aux;  // free for the kind's own use
  Type* type;
};
static_assert(sizeof(Object) == 16);

// An object that can be part of a cycle. The collector (cycles.cpp) keeps a vector of all of them.
struct GcObject : Object {
  uint32_t gc_index;  // place in the collector's vector
  uint32_t gc_refs;   // scratch of a collection
};
static_assert(sizeof(GcObject) == 24);

}  // namespace tessera::lang
