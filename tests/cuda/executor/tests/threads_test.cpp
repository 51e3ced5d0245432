// Races between threads of a block and between blocks; barriers.
#include "testing.h"

namespace tessera_executor::testing {
namespace {

template <bool kBarrier>
__global__ void turn_round(int* x) {
  TS_SHARED(int, values, 256);
  values[threadIdx.x] = x[threadIdx.x];
  if (kBarrier) __syncthreads();
  x[threadIdx.x] = values[255 - threadIdx.x];
}

// A barrier between reading and the next writing.
template <bool kBarrier>
__global__ void shift_twice(int* x) {
  TS_SHARED(int, values, 64);
  values[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  const int next = values[(threadIdx.x + 1) % 64];
  if (kBarrier) __syncthreads();
  values[threadIdx.x] = next;
  __syncthreads();
  x[threadIdx.x] = values[threadIdx.x];
}

// Lane k of each warp hands a number to lane 31 - k through shared memory.
enum class Meet { Nothing, Warp, Shuffle };
template <Meet kMeet>
__global__ void turn_warp_round(int* x) {
  TS_SHARED(int, values, 64);
  values[threadIdx.x] = int(threadIdx.x);
  if (kMeet == Meet::Warp) __syncwarp();
  if (kMeet == Meet::Shuffle) x[threadIdx.x] = __shfl_sync(0xffffffffu, int(threadIdx.x), 0);
  x[threadIdx.x] = values[threadIdx.x ^ 31];
}
// __syncwarp orders a warp's lanes, not two warps.
__global__ void turn_block_round_by_warp(int* x) {
  TS_SHARED(int, values, 64);
  values[threadIdx.x] = int(threadIdx.x);
  __syncwarp();
  x[threadIdx.x] = values[63 - threadIdx.x];
}
// Halves of a warp meet on their own.
template <unsigned kOther>
__global__ void meet_in_halves(int* x) {
  TS_SHARED(int, values, 32);
  values[threadIdx.x] = int(threadIdx.x);
  if (threadIdx.x < 16) __syncwarp(0x0000ffffu);
  else __syncwarp(0xffff0000u);
  x[threadIdx.x] = values[threadIdx.x ^ kOther];
}

template <class T, int kStep>
__global__ void write_each(T* x) {
  x[(blockIdx.x * blockDim.x + threadIdx.x) / kStep] = T(threadIdx.x + blockIdx.x);
}
// Several threads may say the same.
template <bool kSame>
__global__ void note(int* found) {
  if (threadIdx.x % 3 == 0) *found = kSame ? 7 : int(threadIdx.x);
}
template <bool kAtomic>
__global__ void add_up(int* total) {
  if (kAtomic) atomicAdd(total, 1);
  else *total += 1;
}
__global__ void count_then_read(int* x, int* total) {
  TS_SHARED(int, count, 1);
  if (threadIdx.x == 0) count[0] = 0;
  __syncthreads();
  atomicAdd(&count[0], 1);
  x[threadIdx.x] = count[0];
  (void)total;
}
__global__ void read_other_block(int* x) {
  x[blockIdx.x] = 1;
  if (blockIdx.x == 0) x[64] = x[1];
}

// The last block adds up what the others left: right with a fence before the ticket.
template <bool kFence>
__global__ void last_block_sums(int* parts, unsigned* ticket, int* out) {
  TS_SHARED(bool, last, 1);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = int(blockIdx.x);
    if (kFence) __threadfence();
    last[0] = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last[0] || threadIdx.x != 1) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; b++) sum += parts[b];
  *out = sum;
}

template <bool kDivergent>
__global__ void meet_in_branches(int* x) {
  if (kDivergent && threadIdx.x < 32) __syncthreads();
  else __syncthreads();
  x[threadIdx.x] = 1;
}
template <bool kEarly>
__global__ void leave_early(int* x, unsigned n) {
  if (kEarly && threadIdx.x >= n) return;
  __syncthreads();
  if (threadIdx.x < n) x[threadIdx.x] = 1;
}
__global__ void wait_for_nobody(int* x) {
  if (threadIdx.x % 32 == 0) x[0] = __shfl_sync(0xffffffffu, 1, 0);
}

}  // namespace

TEST_CASE("executor: a missing barrier is a race in shared memory") {
  check_pair(
      "a race in shared memory|nobody wrote", [] { launch<turn_round<false>>(2, 256, device_array<int>(256)); },
      [] { launch<turn_round<true>>(1, 256, device_array<int>(256)); });
  check_pair(
      "a race in shared memory: 4 bytes are written", [] { launch<shift_twice<false>>(1, 64, device_array<int>(64)); },
      [] { launch<shift_twice<true>>(1, 64, device_array<int>(64)); });
}

TEST_CASE("executor: lanes of a warp are ordered by __syncwarp, not by a shuffle") {
  check_pair(
      "a race in shared memory|nobody wrote",
      [] { launch<turn_warp_round<Meet::Nothing>>(1, 64, device_array<int>(64)); },
      [] { launch<turn_warp_round<Meet::Warp>>(1, 64, device_array<int>(64)); });
  CHECK(fault_of([] {
          launch<turn_warp_round<Meet::Shuffle>>(1, 64, device_array<int>(64));
        }).find("a race in shared") != std::string::npos);
  CHECK(fault_of([] { launch<turn_block_round_by_warp>(1, 64, device_array<int>(64)); }).find("a race in shared") !=
        std::string::npos);
  check_pair(
      "a race in shared memory|nobody wrote", [] { launch<meet_in_halves<31>>(1, 32, device_array<int>(32)); },
      [] { launch<meet_in_halves<15>>(1, 32, device_array<int>(32)); });
}

TEST_CASE("executor: two threads of a launch write one byte, in a block and in two") {
  check_pair(
      "a race: ", [] { launch<write_each<char, 2>>(1, 64, device_array<char>(64)); },
      [] { launch<write_each<char, 1>>(1, 64, device_array<char>(64)); });
  check_pair(
      "a race: ", [] { launch<write_each<double, 2>>(64, 1, device_array<double>(64)); },
      [] { launch<write_each<double, 1>>(64, 1, device_array<double>(64)); });
  check_pair(
      "a race: ", [] { launch<note<false>>(2, 32, device_array<int>(1)); },
      [] { launch<note<true>>(2, 32, device_array<int>(1)); });
  check_pair(
      "a race: ", [] { launch<add_up<false>>(2, 32, device_array<int>(1)); },
      [] { launch<add_up<true>>(2, 32, device_array<int>(1)); });
  check_pair(
      "a race: ", [] { launch<read_other_block>(2, 1, device_array<int>(65)); },
      [] { launch<read_other_block>(1, 1, device_array<int>(65)); });
}

TEST_CASE("executor: what atomics counted is read behind a barrier") {
  CHECK(fault_of([] {
          launch<count_then_read>(1, 64, device_array<int>(64), device_array<int>(1));
        }).find("a race in shared memory") != std::string::npos);
}

TEST_CASE("executor: a block hears of others by an atomic behind a fence") {
  const auto run = [](auto kernel) {
    int* out = device_array<int>(1);
    kernel(device_array<int>(40), device_array<unsigned>(1), out);
    if (to_host(out, 1)[0] != 780) violation("a wrong sum");
  };
  check_pair(
      "a race: ", [&] { run([](auto... a) { launch<last_block_sums<false>>(40, 64, a...); }); },
      [&] { run([](auto... a) { launch<last_block_sums<true>>(40, 64, a...); }); });
}

TEST_CASE("executor: barriers that not all reach") {
  check_pair(
      "wait at different barriers", [] { launch<meet_in_branches<true>>(1, 64, device_array<int>(64)); },
      [] { launch<meet_in_branches<false>>(1, 64, device_array<int>(64)); });
  check_pair(
      "wait for others that do not come", [] { launch<leave_early<true>>(1, 64, device_array<int>(64), 40u); },
      [] { launch<leave_early<false>>(1, 64, device_array<int>(64), 40u); });
  CHECK(fault_of([] { launch<wait_for_nobody>(1, 32, device_array<int>(1)); }).find("do not come") !=
        std::string::npos);
}

TEST_CASE("executor: a report names the kernel, both threads and the memory") {
  const std::string said = fault_of([] {
    options().shuffle = false;
    launch<write_each<double, 2>>(2, 8, device_array<double>(64));
  });
  CHECK(said.find("8 bytes are written that thread 0 of block 0 wrote") != std::string::npos);
  CHECK(said.find("of 512 bytes (byte 0)") != std::string::npos);
  CHECK(said.find("write_each<double, 2>, block 0 of 2, thread 1 of 8") != std::string::npos);
}

}  // namespace tessera_executor::testing
