// Instruction sets that no kernel is compiled for, as Highway wants to be told before its headers: between the fallback and AVX2 lie
// none that a processor of this decade stops at. Sanitizers look at one vector width; the release build's tests see the other.
#pragma once

#undef HWY_DISABLED_TARGETS
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#endif
