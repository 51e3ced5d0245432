// Exchanges, votes and counts give what CUDA's give; numbers of threads and blocks.
#include <numeric>

#include "testing.h"

namespace tessera_executor::testing {
namespace {

__global__ void exchange_all(int* out) {
  const int i = int(threadIdx.x), lane = i % 32;
  int* mine = out + i * 8;
  mine[0] = __shfl_sync(0xffffffffu, i, 3);
  mine[1] = __shfl_xor_sync(0xffffffffu, i, 5);
  mine[2] = __shfl_down_sync(0xffffffffu, i, 4);
  mine[3] = __shfl_up_sync(0xffffffffu, i, 4);
  mine[4] = __shfl_down_sync(0xffffffffu, i, 4, 8);
  mine[5] = int(__ballot_sync(0xffffffffu, lane % 3 == 0));
  mine[6] = int(__match_any_sync(0xffffffffu, lane / 8));
  mine[7] = __any_sync(0xffffffffu, i == 40) * 2 + __all_sync(0xffffffffu, i < 32);
}

__global__ void count_all(int* out) {
  const int n = __syncthreads_count(threadIdx.x % 4 == 0);
  const int any = __syncthreads_or(threadIdx.x == 77), none = __syncthreads_or(threadIdx.x == 777);
  const int all = __syncthreads_and(threadIdx.x < 100), not_all = __syncthreads_and(threadIdx.x < 99);
  if (threadIdx.x == 5) out[0] = n, out[1] = any, out[2] = none, out[3] = all, out[4] = not_all;
}

__global__ void number_threads(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 100 + thread;
}

// A tree in shared memory, then in registers of the first warp.
__global__ void sum_block(const float* x, float* out, int n) {
  TS_SHARED(float, sums, 256);
  float sum = 0;
  for (int i = int(threadIdx.x); i < n; i += 256) sum += x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half >= 32; half /= 2) {
    if (int(threadIdx.x) < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x >= 32) return;
  sum = sums[threadIdx.x];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x == 0) *out = sum;
}

}  // namespace

TEST_CASE("executor: exchanges and votes of a warp") {
  CHECK(fault_of_any_order([] {
          int* out = device_array<int>(64 * 8);
          launch<exchange_all>(1, 64, out);
          const std::vector<int> got = to_host(out, 64 * 8);
          for (int i = 0; i < 64; i++) {
            const int lane = i % 32, first = i - lane;
            const int wanted[8] = {first + 3,
                                   first + (lane ^ 5),
                                   lane + 4 < 32 ? i + 4 : i,
                                   lane >= 4 ? i - 4 : i,
                                   lane % 8 < 4 ? i + 4 : i,
                                   int(0x49249249u),
                                   int(0xffu << (lane / 8 * 8)),
                                   first == 0 ? 1 : 2};
            for (int k = 0; k < 8; k++)
              if (got[size_t(i * 8 + k)] != wanted[k])
                violation("thread " + std::to_string(i) + " got another result " + std::to_string(k));
          }
        }) == "");
}

TEST_CASE("executor: counts of a block") {
  CHECK(fault_of_any_order([] {
          int* out = device_array<int>(5);
          launch<count_all>(1, 100, out);
          if (to_host(out, 5) != std::vector<int>{25, 1, 0, 1, 0}) violation("wrong counts");
        }) == "");
}

TEST_CASE("executor: numbers of threads and blocks in three dimensions") {
  CHECK(fault_of_any_order([] {
          unsigned* out = device_array<unsigned>(24 * 24);
          launch<number_threads>(dim3(2, 3, 4), dim3(4, 3, 2), out);
          const auto got = to_host(out, 24 * 24);
          for (unsigned b = 0; b < 24; b++)
            for (unsigned t = 0; t < 24; t++)
              if (got[b * 24 + t] != b * 100 + t) violation("a wrong number");
        }) == "");
}

TEST_CASE("executor: a sum through shared memory and registers, in any order of threads") {
  CHECK(fault_of_any_order([] {
          std::vector<float> numbers(1000);
          std::iota(numbers.begin(), numbers.end(), 0.0f);
          float *x = device_array<float>(1000), *out = device_array<float>(1);
          cudaMemcpy(x, numbers.data(), 4000, cudaMemcpyHostToDevice);
          launch<sum_block>(1, 256, x, out, 1000);
          if (to_host(out, 1)[0] != 499500.0f) violation("a wrong sum");
        }) == "");
}

}  // namespace tessera_executor::testing
