// Behind disabled_targets.h, for kernels that shall have no form for AVX-512: plain loops over integers, which wait for memory.
#pragma once

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
