// The interface of a plugin as a number: what the compiler knows of types and members, added up in a fixed order. cmake/interface_layouts.cpp
// writes the list of what is added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tessera::tensor {

/// An FNV hash of layouts, the same for all compilers of one platform.
struct Layouts {
  /// To be raised when a call changes its meaning and no member.
  static constexpr uint64_t kRevision = 1;

  uint64_t number = 0xcbf29ce484222325u ^ kRevision;

  constexpr void add_byte(uint8_t byte) { number = (number ^ byte) * 0x100000001b3u; }
  constexpr void add(uint64_t value) {
    for (int byte = 0; byte < 8; byte++) add_byte(uint8_t(value >> 8 * byte));
  }
  constexpr void text(const char* words) {
    for (; *words; words++) add_byte(uint8_t(*words));
    add_byte(0);
  }
  template <class T>
  constexpr void type(const char* name) {
    text(name);
    add_type<T>();
  }
  template <class T>
  constexpr void member(const char* name, size_t offset = 0) {
    text(name);
    add(offset);
    add_type<T>();
  }
  constexpr void enumerator(const char* name, int64_t value) {
    text(name);
    add(uint64_t(value));
  }

 private:
  template <class R, bool kNoexcept, class... A>
  constexpr void add_signature() {
    add('f'), add(kNoexcept), add(sizeof...(A));
    add_type<R>();
    (add_type<A>(), ...);
  }
  template <class R, class... A>
  constexpr void add_function(R (*)(A...)) {
    add_signature<R, false, A...>();
  }
  template <class R, class... A>
  constexpr void add_function(R (*)(A...) noexcept) {
    add_signature<R, true, A...>();
  }
  // Behind an address only the kind of the type counts: its own layout is added where it is named.
  template <class T>
  constexpr void add_type(bool behind_address = false) {
    add(std::is_const_v<T>);
    if constexpr (std::is_reference_v<T>) {
      add('r');
      add_type<std::remove_reference_t<T>>(true);
    } else if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) {
      add_function(static_cast<std::remove_const_t<T>>(nullptr));
    } else if constexpr (std::is_pointer_v<T>) {
      add('p');
      add_type<std::remove_pointer_t<T>>(true);
    } else if constexpr (std::is_array_v<T>) {
      add('a'), add(std::extent_v<T>);
      add_type<std::remove_extent_t<T>>();
    } else if constexpr (std::is_void_v<T>) {
      add('v');
    } else if constexpr (std::is_enum_v<T>) {
      add('e'), add(sizeof(T));
    } else if constexpr (std::is_arithmetic_v<T>) {
      add(std::is_floating_point_v<T>                 ? 'd'
          : std::is_same_v<std::remove_cv_t<T>, bool> ? 'b'
          : std::is_signed_v<T>                       ? 'i'
                                                      : 'u');
      add(sizeof(T));
    } else {
      add('c');
      if constexpr (requires { sizeof(T); })
        if (!behind_address) add(sizeof(T)), add(alignof(T));
    }
  }
};

/// The rows of the tables by which calls number ops and dtypes.
constexpr void add_rows(Layouts& all) {
#define TS_ROW(NAME, ...) all.text(#NAME);
#define UNARY TS_ROW
#define UNARY1 TS_ROW
#define UNARY2 TS_ROW
#define BINARY TS_ROW
#define TERNARY TS_ROW
#define TERNARY1 TS_ROW
#include "runtime/ops/pointwise.def"
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1
#define REDUCE TS_ROW
#include "runtime/ops/reduce.def"
#undef REDUCE
#define SPECIAL1 TS_ROW
#define SPECIAL2 TS_ROW
#define INTEGER2 TS_ROW
#include "runtime/ops/special.def"
#undef SPECIAL1
#undef SPECIAL2
#undef INTEGER2
#define DTYPE TS_ROW
#define PACKED_DTYPE TS_ROW
#include "runtime/dtypes.def"
#undef TS_ROW
}

}  // namespace tessera::tensor
