// From a value to the C++ structure of its object: object_cast<T>(value), known_cast<T>(value).
//
// No other code casts an Object to a structure (scripts/lint sees to it), because a cast has to ask first: a program can bind every name
// under which natives look up a type or a module to something else (`matplotlib._native.Canvas = 1`).
//
// - object_cast asks in every build, and throws TypeError.
// - known_cast belongs behind a question that the caller has just asked (is_list(v), `object->kind == …`, a slot of the structure's own
//   type). Builds with assertions (debug, sanitizers) ask again.
//
// A structure that is the only one of its ObjectKind says so (T::kKind) and is asked for by the kind. Of the others make_object notes
// a tag in the type that the object is made of.
#pragma once

#include <cassert>
#include <type_traits>

#include "lang/core/object.h"
#include "lang/core/type.h"
#include "lang/core/value.h"

namespace tessera::lang {

// Tags of structures are compared by their address.
template <class T>
inline constexpr char structure_of = 0;

template <class T>
concept HasKind = requires { T::kKind; };

// Several kinds may share a structure: from kKind to kLastKind.
template <class T>
bool is_structure(const Object* object) noexcept {
  using Plain = std::remove_const_t<T>;
  if constexpr (requires { Plain::kLastKind; }) {
    return object->kind >= Plain::kKind && object->kind <= Plain::kLastKind;
  } else if constexpr (HasKind<Plain>) {
    return object->kind == Plain::kKind;
  } else {
    return object->type->structure == &structure_of<Plain>;
  }
}

// "this function does not work on 'int' objects: a name that it looks up was replaced"
[[noreturn, gnu::cold]] void throw_other_structure(const Value& value);

template <class T>
T* known_cast(std::conditional_t<std::is_const_v<T>, const Object, Object>* object) noexcept {
  assert(is_structure<T>(object));
  return static_cast<T*>(object);
}

template <class T>
T* known_cast(const Value& value) noexcept {
  return known_cast<T>(value.as_object());
}

template <class T>
T* object_cast(const Value& value) {
  if (!value.is_object() || !is_structure<T>(value.as_object())) [[unlikely]]
    throw_other_structure(value);
  return static_cast<T*>(value.as_object());
}

}  // namespace tessera::lang
