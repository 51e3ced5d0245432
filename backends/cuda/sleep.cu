// A thread that looks at the clock until enough of it has passed.
#include "backends/cuda/launch.cuh"
#include "runtime/device/sleep.h"

namespace tessera::tensor::cuda {
namespace {

__global__ void wait_for_clock(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) __nanosleep(100);
}
void sleep(const SleepCall& c) { launch<wait_for_clock>(Place(c.launch), {1, 1}, (long long)c.cycles); }

const CudaKernel<SleepCall> entry("sleep", sleep);

}  // namespace
}  // namespace tessera::tensor::cuda
