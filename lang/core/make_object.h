// How an object gets its memory and its head, and how it gives them back.
//
// The size of an object is its type's `instance_size` (which for a script subclass of a native type has room for
// Attributes behind the native layout), plus `extra` bytes behind that for types with a variable part. A layout with a
// variable part therefore finds it at `(char*)object + object->type->instance_size`, never at `object + 1`.
#pragma once

#include <cassert>
#include <new>
#include <type_traits>

#include "lang/core/cycles.h"
#include "lang/core/heap.h"
#include "lang/core/interpreter.h"
#include "lang/core/object.h"
#include "lang/core/object_cast.h"
#include "lang/core/type.h"

namespace tessera::lang {

inline Attributes& attributes_of(Object* object) {
  return *reinterpret_cast<Attributes*>(reinterpret_cast<char*>(object) + object->type->attributes_offset);
}

// As make_object below, but unknown to the collector until collector().track(): for objects that only rarely come to be
// part of a cycle.
template <class T>
T* make_untracked(Interpreter& in, Type* type, size_t extra = 0) {
  if constexpr (!HasKind<T>) {
    assert(type->structure == nullptr || type->structure == &structure_of<T>);
    type->structure = &structure_of<T>;
  }
  T* object = new (in.heap.allocate(type->instance_size + extra)) T();
  object->refcount = 1;
  object->kind = type->instance_kind;
  object->flags = 0;
  object->aux = 0;
  object->type = type;
  if (!(type->flags & kImmortal)) ++type->refcount;
  if (type->attributes_offset != 0) new (&attributes_of(object)) Attributes();
  return object;
}

// A new object with a count of one, its head filled in, everything else as T's constructor leaves it. From here on the
// collector may traverse it at any safe point, so T's default state must be traversable.
template <class T>
T* make_object(Interpreter& in, Type* type, size_t extra = 0) {
  if constexpr (std::is_base_of_v<GcObject, T>) in.collector().make_room();
  T* object = make_untracked<T>(in, type, extra);
  if constexpr (std::is_base_of_v<GcObject, T>) in.collector().track(object);
  return object;
}

// As make_object, for a native type whose instances are exactly a T and which lives as long as the interpreter: size and head are known
// here, so what the displays, slices and calls of a program make takes few instructions. T's kind is its type's.
template <class T>
[[gnu::always_inline]] inline T* make_plain_untracked(Interpreter& in, Type* type, size_t extra = 0) {
  assert(type->instance_size == sizeof(T) && type->attributes_offset == 0 && (type->flags & kImmortal) && type->instance_kind == T::kKind);
  T* const object = new (in.heap.allocate(sizeof(T) + extra)) T;
  object->refcount = 1;
  object->kind = T::kKind;
  object->flags = 0;
  object->aux = 0;
  object->type = type;
  return object;
}
template <class T>
[[gnu::always_inline]] inline T* make_plain(Interpreter& in, Type* type) {
  Collector& collector = in.collector();
  collector.make_room();
  T* const object = make_plain_untracked<T>(in, type);
  collector.track_in_room(object);
  return object;
}

// What a `destroy` slot ends with. Attributes, the collector's list and the reference to the type are destroy_object's
// business, before and after it.
template <class T>
void free_object(Interpreter& in, T* object, size_t extra = 0) noexcept {
  const size_t bytes = object->type->instance_size + extra;
  object->~T();
  in.heap.deallocate(object, bytes);
}

}  // namespace tessera::lang
