// Include after disabled_targets.h. Removes AVX-512 from the instruction sets of a file: plain loops over integers are limited by memory, so the
// wider vectors would only enlarge the program.
#pragma once

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
