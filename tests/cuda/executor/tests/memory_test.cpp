// Where kernels and copies may go, and what they may read.
#include <sys/wait.h>
#include <unistd.h>

#include "testing.h"

namespace tessera_executor::testing {
namespace {

struct alignas(16) Four {
  float v[4];
};
struct Wide {
  int v[16];
};
struct Odd {
  char v[3];
};

__global__ void fill(char* x, int n) {
  for (int i = int(threadIdx.x); i < n; i += int(blockDim.x)) x[i] = 1;
}
template <class T>
__global__ void copy_one(T* to, const T* from) {
  *to = *from;
}
__global__ void copy_by_memcpy(char* to, const char* from, int n) { memcpy(to, from, size_t(n)); }
template <int kBytes>
__global__ void copy_by_builtin(char* to, const char* from) {
  __builtin_memcpy(to, from, kBytes);
}
template <int kBytes>
__global__ void clear_by_builtin(char* to) {
  __builtin_memset(to, 0, kBytes);
}
__global__ void read_shared(int* x) {
  TS_SHARED(int, values, 32);
  if (threadIdx.x < 31) values[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] = values[threadIdx.x];
}
__global__ void beyond_shared(int* x, unsigned n) {
  TS_SHARED(int, values, 30);
  for (unsigned i = 0; i < n; i++) values[i] = int(i);
  x[0] = values[0];
}
__global__ void launch_shared(int* x, int n) {
  TS_SHARED_BYTES(int, values);
  for (int i = 0; i < n; i++) values[i] = i;
  x[0] = values[n - 1];
}
__global__ void much_shared(int* x) {
  TS_SHARED(int, first, 8 << 10);
  TS_SHARED(int, second, 5 << 10);
  first[0] = second[0] = 1;
  x[0] = first[0];
}

template <class F>
bool told(const char* words, const F& work) {
  const std::string said = fault_of(work);
  if (said.find(words) != std::string::npos) return true;
  MESSAGE("got '", said, "'");
  return false;
}

char* new_segment() {
  char* segment = device_array<char>(4096, false);
  segment_taken(segment, 4096);
  return segment;
}

}  // namespace

TEST_CASE("executor: out of bounds by one byte, before, behind, and of a freed block") {
  check_pair(
      "where it may not", [] { launch<fill>(1, 32, device_array<char>(13), 14); },
      [] { launch<fill>(1, 32, device_array<char>(13), 13); });
  CHECK(told("where it may not", [] {
    device_array<char>(13);
    launch<fill>(1, 1, device_array<char>(13) - 1, 1);
  }));
  CHECK(told("where it may not", [] {
    char* x = device_array<char>(13);
    cudaFree(x);
    launch<fill>(1, 1, x, 1);
  }));
  CHECK(told("memory of the host", [] {
    char here = 0;
    launch<fill>(1, 1, &here, 1);
  }));
  CHECK(told("of another device's memory", [] {
    char* x = device_array<char>(13);
    cudaDeviceSynchronize();
    cudaSetDevice(1);
    launch<fill>(1, 1, x, 1);
  }));
}

TEST_CASE("executor: vectors at addresses that are no multiple") {
  check_pair(
      "no multiple", [] { launch<copy_one<Four>>(1, 1, device_array<Four>(1), (Four*)(device_array<float>(8) + 1)); },
      [] { launch<copy_one<Four>>(1, 1, device_array<Four>(1), (Four*)(device_array<float>(8) + 4)); });
}

TEST_CASE("executor: structs and memcpy are looked at as other accesses are") {
  const auto small = [] { return device_array<char>(63); };
  const auto large = [] { return device_array<char>(64); };
  CHECK(told("may not", [&] { launch<copy_one<Wide>>(1, 1, (Wide*)large(), (const Wide*)small()); }));
  CHECK(told("may not", [&] { launch<copy_one<Wide>>(1, 1, (Wide*)small(), (const Wide*)large()); }));
  CHECK(told("may not", [&] { launch<copy_by_memcpy>(1, 1, small(), large(), 64); }));
  CHECK(told("may not", [&] { launch<copy_by_memcpy>(1, 1, large(), small(), 64); }));
  CHECK(told("may not", [&] { launch<copy_by_builtin<64>>(1, 1, large(), small()); }));
  CHECK(told("may not", [&] { launch<copy_by_builtin<64>>(1, 1, small(), large()); }));
  CHECK(told("may not", [&] { launch<copy_by_builtin<4>>(1, 1, large() + 61, large()); }));
  CHECK(told("may not", [&] { launch<clear_by_builtin<64>>(1, 1, small()); }));
  CHECK(told("may not", [&] { launch<copy_one<Odd>>(1, 1, (Odd*)(large() + 62), (const Odd*)large()); }));
  CHECK(fault_of([&] {
          launch<copy_one<Wide>>(1, 1, (Wide*)large(), (const Wide*)large());
          launch<copy_by_memcpy>(1, 1, small(), large(), 63);
          launch<copy_by_builtin<32>>(1, 1, small(), large());
          launch<copy_one<Odd>>(1, 1, (Odd*)(large() + 61), (const Odd*)large());
        }) == "");
}

TEST_CASE("executor: what nobody wrote may not be read, in global and in shared memory") {
  check_pair(
      "nobody wrote", [] { launch<copy_one<int>>(1, 1, device_array<int>(1), device_array<int>(1, false)); },
      [] { launch<copy_one<int>>(1, 1, device_array<int>(1, false), device_array<int>(1)); });
  check_pair(
      "nobody wrote", [] { launch<read_shared>(1, 32, device_array<int>(32)); },
      [] { launch<read_shared>(1, 31, device_array<int>(32)); });
  // A copy moves what nobody wrote as such; the second block of a launch finds nothing of the first.
  CHECK(told("nobody wrote", [] {
    int *from = device_array<int>(2, false), *to = device_array<int>(2);
    cudaMemcpyAsync(to, from, 8, cudaMemcpyDeviceToDevice, nullptr);
    launch<copy_one<int>>(1, 1, device_array<int>(1), to);
  }));
  CHECK(fault_of([] {
          options().unwritten = false;
          launch<copy_one<int>>(1, 1, device_array<int>(1), device_array<int>(1, false));
        }) == "");
}

TEST_CASE("executor: shared memory has bounds") {
  check_pair(
      "in no array", [] { launch<beyond_shared>(1, 1, device_array<int>(1), 31u); },
      [] { launch<beyond_shared>(1, 1, device_array<int>(1), 30u); });
  const auto with = [](size_t bytes, int n) {
    launch_on<launch_shared>(nullptr, 1, 1, bytes, device_array<int>(1), n);
  };
  check_pair(
      "in no array", [=] { with(400, 101); }, [=] { with(400, 100); });
  CHECK(told("more than 48 kB", [] { launch<much_shared>(1, 1, device_array<int>(1)); }));
  CHECK(fault_of([=] {
          with(size_t(228) << 10, 1);
          if (cudaGetLastError() != cudaErrorInvalidConfiguration) violation("no error");
        }) == "");
}

TEST_CASE("executor: the host cannot touch a device's memory") {
  const std::string said = fault_of([] { *device_array<volatile int>(1) = 1; });
  CHECK((said.find("died") == 0 || said.find("the host touched") != std::string::npos));
}

TEST_CASE("executor: parts of a segment are blocks of their own") {
  const auto in_segment = [](bool free_it, bool beyond) {
    char* segment = new_segment();
    block_taken(segment + 512, 100);
    cudaMemsetAsync(segment + 512, 0, 100, nullptr);
    if (free_it) block_freed(segment + 512);
    launch<fill>(1, 1, segment + 512 + (beyond ? 100 : 0), 1);
  };
  check_pair(
      "where it may not", [=] { in_segment(true, false); }, [=] { in_segment(false, false); });
  CHECK(told("where it may not", [=] { in_segment(false, true); }));
  // The host may free a block while work with it is queued; who gets it next finds nothing in it.
  CHECK(told("nobody wrote", [] {
    char* segment = new_segment();
    block_taken(segment, 100);
    launch<fill>(1, 1, segment, 100);
    block_freed(segment);
    block_taken(segment, 50);
    launch<copy_one<char>>(1, 1, device_array<char>(1), segment);
  }));
  CHECK(told("gives memory that somebody has", [] {
    char* segment = new_segment();
    block_taken(segment, 100);
    block_taken(segment + 64, 100);
  }));
  CHECK(told("is no block", [] {
    char* segment = new_segment();
    block_taken(segment, 100);
    block_freed(segment);
    block_freed(segment);
  }));
}

TEST_CASE("executor: memory ends, and is there again") {
  CHECK(fault_of([] {
          options().memory = 1 << 20;
          void *first = nullptr, *second = nullptr;
          if (cudaMalloc(&first, 1 << 20) != cudaSuccess) violation("no memory");
          if (cudaMalloc(&second, 1) != cudaErrorMemoryAllocation) violation("too much memory");
          cudaFree(first);
          if (cudaMalloc(&second, 512) != cudaSuccess) violation("no memory behind the free");
        }) == "");
}

}  // namespace tessera_executor::testing
