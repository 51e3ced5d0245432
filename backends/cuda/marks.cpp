// Ranges and marks for NVIDIA's profilers. The toolkit's header opens the profiler's library by itself, when one is attached.
#include <nvtx3/nvToolsExt.h>

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

static_assert(kNobodyListens == NVTX_NO_PUSH_POP_TRACKING);

void fill_marks(DeviceBackend& table) {
  table.marks.push = [](const char* text) { return nvtxRangePushA(text); };
  table.marks.pop = [] { return nvtxRangePop(); };
  table.marks.start = [](const char* text) -> uint64_t { return nvtxRangeStartA(text); };
  table.marks.end = [](uint64_t range) { nvtxRangeEnd(range); };
  table.marks.mark = [](const char* text) { nvtxMarkA(text); };
}

}  // namespace tessera::tensor::cuda
