// tessera_launch_time [WORD...]: what an eager op costs the host on CUDA, in nanoseconds of processor time from the call to the
// queued launch, its result's memory included. TESSERA_CUDA_PLUGIN names the plugin: with libtessera_cuda_null.so, whose
// launches cost nothing (scripts/build cuda-check tessera_cuda_null), it is what an op adds to CUDA's own launch, of which 1500 are
// the aim; on a GPU both together.
#include <ctime>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "runtime/ops.h"
#include "runtime/ops/softmax.h"
#include "runtime/ops/views.h"

using namespace tessera::tensor;

namespace {

double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) * 1e9 + double(t.tv_nsec);
}

struct Case {
  const char* name;
  std::function<void()> call;
};

// The least of several rounds: the others are the machine's.
double nanoseconds(const Case& c, Device device) {
  constexpr int kCalls = 1000, kRounds = 15;
  double least = 1e18;
  for (int round = 0; round < kRounds; round++) {
    const double start = now();
    for (int k = 0; k < kCalls; k++) c.call();
    least = std::min(least, (now() - start) / kCalls);
    synchronize(device);
  }
  return least;
}

std::vector<Case> cases(Device device) {
  const auto tensor = [&](Ints sizes, DType dtype = kFloat32) {
    Tensor t = Tensor::empty(sizes, dtype, device);
    fill_(t, 1);
    return t;
  };
  const Tensor x = tensor({64, 64}), y = tensor({64, 64}), row = tensor({64}), half = tensor({64, 64}, kFloat16);
  const Tensor strided = narrow(tensor({64, 128}), 1, 0, 64);
  return {
      {"empty",
       [=] {
         Tensor::empty({64, 64}, kFloat32, device);
       }},
      {"x + y", [=] { x + y; }},
      {"x + 2", [=] { x + 2; }},
      {"x += y", [=] { add_(x, y); }},
      {"x + row", [=] { x + row; }},
      {"x + strided", [=] { x + strided; }},
      {"half * half", [=] { half* half; }},
      {"x < y", [=] { lt(x, y); }},
      {"exp(x)", [=] { exp(x); }},
      {"maximum", [=] { maximum(x, y); }},
      {"copy of strided", [=] { contiguous(strided); }},
      {"to half", [=] { to_dtype(x, kFloat16); }},
      {"fill_", [=] { fill_(x, 3); }},
      {"sum of all", [=] { sum(x); }},
      {"softmax", [=] { softmax(x, 1); }},
  };
}

}  // namespace

int main(int count, char** words) {
  const DeviceBackend* backend = device_backend(DeviceType::Cuda);
  if (backend == nullptr || backend->device_count() == 0) {
    std::printf("no CUDA device: %s\n", backend == nullptr ? "no plugin" : backend->why_none());
    return 1;
  }
  const Device device(DeviceType::Cuda, 0);
  for (const Case& c : cases(device)) {
    const bool is_wanted = std::any_of(words + 1, words + count, [&](const char* w) { return std::strstr(c.name, w); });
    if (count == 1 || is_wanted) std::printf("%-18s %7.0f ns\n", c.name, nanoseconds(c, device));
  }
}
