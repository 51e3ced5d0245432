// The part of NVTX that the plugin uses. A report's writer is who listens (marks.cpp).
#pragma once

#include <cstdint>

#define NVTX_NO_PUSH_POP_TRACKING (-2)

using nvtxRangeId_t = uint64_t;

extern "C" {
int nvtxRangePushA(const char* message);
int nvtxRangePop();
nvtxRangeId_t nvtxRangeStartA(const char* message);
void nvtxRangeEnd(nvtxRangeId_t id);
void nvtxMarkA(const char* message);
}
