// Instruction sets that no kernel is compiled for; Highway reads the list in its headers. SSSE3 and SSE4 lie between the fallback and
// AVX2. Sanitized builds leave out AVX-512 as well, for the time of compiling; the release build's tests cover its kernels.
#pragma once

#undef HWY_DISABLED_TARGETS
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#endif
