// Included before all else when a kernel's file is compiled: of memcpy and its kin the compiler makes moves that it tells nobody
// of, so these sources call functions of the executor, which look at both sides.
#pragma once

#include <cstring>

extern "C" {
void* tessera_kernel_memcpy(void* to, const void* from, size_t bytes);
void* tessera_kernel_memmove(void* to, const void* from, size_t bytes);
void* tessera_kernel_memset(void* to, int value, size_t bytes);
}
namespace std {
using ::tessera_kernel_memcpy;
using ::tessera_kernel_memmove;
using ::tessera_kernel_memset;
}  // namespace std

#define memcpy tessera_kernel_memcpy
#define memmove tessera_kernel_memmove
#define memset tessera_kernel_memset
#define __builtin_memcpy tessera_kernel_memcpy
#define __builtin_memmove tessera_kernel_memmove
#define __builtin_memset tessera_kernel_memset
