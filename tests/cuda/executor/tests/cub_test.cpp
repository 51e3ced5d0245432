// CUB's stand-in: what it gives, and what it does not take on trust.
#include <cub/cub.cuh>

#include "testing.h"

namespace tessera_executor::testing {
namespace {

constexpr int kPairs = 5;

struct Arrays {
  uint32_t *keys, *other_keys, *values, *other_values;
  size_t bytes = 0;

  explicit Arrays(int room = kPairs)
      : keys(device_array<uint32_t>(kPairs)),
        other_keys(device_array<uint32_t>(size_t(room))),
        values(device_array<uint32_t>(kPairs)),
        other_values(device_array<uint32_t>(kPairs)) {}
};

// Sorts by some bits, with so many bytes too little of temporary memory.
cub::DoubleBuffer<uint32_t> sort(Arrays& a, int bits, size_t missing = 0, bool on_host = false) {
  cub::DoubleBuffer<uint32_t> keys(a.keys, a.other_keys), values(a.values, a.other_values);
  cub::DeviceRadixSort::SortPairs(nullptr, a.bytes, keys, values, kPairs, 0, bits);
  char* room = on_host ? new char[a.bytes] : device_array<char>(a.bytes - missing, false);
  cub::DeviceRadixSort::SortPairs(room, a.bytes, keys, values, kPairs, 0, bits);
  if (keys.selector != values.selector) violation("two answers to where the result is");
  return values;
}

}  // namespace

// In processes of their own, as all that allocates: other tests count the memory.
TEST_CASE("executor: CUB's sort is stable, goes by the bits that it is given, and leaves its result where it says") {
  for (const int bits : {2, 9})  // an odd number of passes, and an even one
    CHECK(fault_of([bits] {
            Arrays a;
            const uint32_t keys[kPairs] = {3, 257, 1, 3, 256}, values[kPairs] = {0, 1, 2, 3, 4};
            cudaMemcpy(a.keys, keys, sizeof keys, cudaMemcpyHostToDevice);
            cudaMemcpy(a.values, values, sizeof values, cudaMemcpyHostToDevice);
            cub::DoubleBuffer<uint32_t> sorted = sort(a, bits);
            const std::vector<uint32_t> expected =
                bits == 2 ? std::vector<uint32_t>{4, 1, 2, 0, 3} : std::vector<uint32_t>{2, 0, 3, 4, 1};
            if (to_host(sorted.Current(), kPairs) != expected) violation("another order");
            if (to_host(sorted.Alternate(), kPairs) == expected) violation("both buffers have the result");
          }) == "");
}

TEST_CASE("executor: CUB's prefix sum may be in place") {
  CHECK(fault_of([] {
          int64_t* counts = device_array<int64_t>(3);
          const int64_t given[] = {2, 0, 5};
          cudaMemcpy(counts, given, sizeof given, cudaMemcpyHostToDevice);
          size_t bytes = 0;
          cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts, counts, 3);
          cub::DeviceScan::ExclusiveSum(device_array<char>(bytes, false), bytes, counts, counts, 3);
          if (to_host(counts, 3) != std::vector<int64_t>{0, 2, 2}) violation("other sums");
        }) == "");
}

TEST_CASE("executor: CUB is given memory of the device, enough of it, and bits that keys have") {
  const auto right = [] {
    Arrays a;
    sort(a, 8);
  };
  check_pair(
      "the keys' other buffer reaches",
      [] {
        Arrays a(kPairs - 1);
        sort(a, 8);
      },
      right);
  check_pair(
      "the temporary memory reaches",
      [] {
        Arrays a;
        sort(a, 8, 1);
      },
      right);
  check_pair(
      "the temporary memory is no memory of a device",
      [] {
        Arrays a;
        sort(a, 8, 0, true);
      },
      right);
  check_pair(
      "no such bits",
      [] {
        Arrays a;
        sort(a, 33);
      },
      right);
}

}  // namespace tessera_executor::testing
