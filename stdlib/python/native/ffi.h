// libffi, which calls functions of C by a description of their parameters, opened with dlopen at the first import of ctypes. Only what
// ctypes_module.cpp calls is declared, after libffi's documentation (version 3.4, libffi.so.8).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::stdlib::ffi {

struct Kind {  // ffi_type
  size_t size;
  uint16_t alignment, type;
  Kind** elements;
};
inline constexpr uint16_t kStructure = 13;

// ffi_cif, with room for what some processors add to it.
struct Interface {
  int abi;
  unsigned count;
  Kind** parameters;
  Kind* result;
  unsigned bytes, flags;
  uint64_t more[4];
};

#if defined(__x86_64__)
inline constexpr int kAbi = 2;
#else
inline constexpr int kAbi = 1;
#endif
inline constexpr size_t kClosureBytes = 128;  // ffi_closure has 56 or fewer

using Handler = void (*)(Interface*, void*, void**, void*);

// name, result, parameters
#define TS_FFI_FUNCTIONS(F)                                                   \
  F(prep_cif, int, (Interface*, int, unsigned, Kind*, Kind**))                \
  F(call, void, (Interface*, void (*)(), void*, void**))                      \
  F(closure_alloc, void*, (size_t, void**))                                   \
  F(closure_free, void, (void*))                                              \
  F(prep_closure_loc, int, (void*, Interface*, Handler, void*, void*))

// The name of a kind, and the letters of the types that it has; 'v' is void.
struct KindName {
  const char* name;
  const char* codes;
};
inline constexpr KindName kKinds[] = {{"void", "v"},   {"uint8", "cB?"},   {"sint8", "b"},  {"uint16", "H"},     {"sint16", "h"},  {"uint32", "I"},
                                      {"sint32", "iu"}, {"uint64", "LQ"}, {"sint64", "lq"}, {"pointer", "PzZO"}, {"float", "f"}, {"double", "d"},
                                      {"longdouble", "g"}};

struct Library {
#define TS_FFI_MEMBER(NAME, RESULT, PARAMETERS) RESULT(*NAME) PARAMETERS = nullptr;
  TS_FFI_FUNCTIONS(TS_FFI_MEMBER)
#undef TS_FFI_MEMBER
  Kind* kinds[sizeof kKinds / sizeof kKinds[0]] = {};
  bool found = false;
};

}  // namespace tessera::stdlib::ffi
