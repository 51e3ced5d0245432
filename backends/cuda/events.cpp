#include "backends/cuda/events.h"

#include <mutex>
#include <vector>

#include "backends/cuda/relaxed.h"

namespace tessera::tensor::cuda {
namespace {

struct Kept {
  std::mutex mutex;
  std::vector<cudaEvent_t> events;
};
Kept& kept_of(Device device) {
  static Kept* const kept = new Kept[kMaxDevices];  // never destroyed: blocks go back at the end of the process
  return kept[index_of(device)];
}

}  // namespace

cudaEvent_t event_behind(Device device, cudaStream_t stream) {
  const OnDevice here(device);
  cudaEvent_t event = nullptr;
  {
    Kept& kept = kept_of(device);
    const std::lock_guard guard(kept.mutex);
    if (!kept.events.empty()) {
      event = kept.events.back();
      kept.events.pop_back();
    }
  }
  if (event == nullptr) check_call(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  const cudaError_t recorded = cudaEventRecord(event, stream);
  if (recorded != cudaSuccess) {
    keep_event(device, event);
    check_call(recorded);
  }
  return event;
}

void keep_event(Device device, cudaEvent_t event) noexcept {
  Kept& kept = kept_of(device);
  const std::lock_guard guard(kept.mutex);
  kept.events.push_back(event);
}

bool has_happened(cudaEvent_t event) {
  const Relaxed relaxed;
  const cudaError_t result = cudaEventQuery(event);
  if (result == cudaErrorNotReady) return cudaGetLastError(), false;
  check_call(result);
  return true;
}

}  // namespace tessera::tensor::cuda
