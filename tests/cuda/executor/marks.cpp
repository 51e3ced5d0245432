// NVTX as a profiler hears it: with a report, its list "marks" has every range and mark in order. Without one nobody listens.
#include <atomic>
#include <string>
#include <vector>

#include "executor.h"
#include "include/nvtx3/nvToolsExt.h"

namespace tessera_executor {
namespace {

std::vector<std::string>& heard() {
  static auto* made = new std::vector<std::string>;
  return *made;
}
thread_local int open_ranges = 0;  // per thread: as in CUDA
std::atomic<uint64_t> started = 0;

void hear(const std::string& what) {
  const std::lock_guard guard(lock());
  heard().push_back(what);
}

}  // namespace

const std::vector<std::string>& marks_heard() { return heard(); }

}  // namespace tessera_executor

using namespace tessera_executor;

int nvtxRangePushA(const char* message) {
  if (!options_report) return NVTX_NO_PUSH_POP_TRACKING;
  hear(std::string("push ") + message);
  return open_ranges++;
}
int nvtxRangePop() {
  if (!options_report) return NVTX_NO_PUSH_POP_TRACKING;
  if (open_ranges == 0) return -1;
  hear("pop");
  return --open_ranges;
}
nvtxRangeId_t nvtxRangeStartA(const char* message) {
  if (!options_report) return 0;
  hear(std::string("start ") + message);
  return ++started;
}
void nvtxRangeEnd(nvtxRangeId_t id) {
  if (options_report) hear("end " + std::to_string(id));
}
void nvtxMarkA(const char* message) {
  if (options_report) hear(std::string("mark ") + message);
}
