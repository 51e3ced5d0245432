// The part of CUB that the plugin uses, as plain definitions: they run in the stream's order, and check what a call of CUB
// would take on trust (memory of the device with room enough, as much temporary memory as was asked for, sizes, bits).
// Results are left in the buffer where CUB leaves them, fresh bytes in the other one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda_runtime.h"
#include "../../executor.h"

namespace cub {

template <class T>
struct DoubleBuffer {
  T* d_buffers[2];
  int selector = 0;
  DoubleBuffer() : d_buffers{nullptr, nullptr} {}
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

namespace detail {

inline void require(bool fine, const char* function, const std::string& what) {
  if (!fine) tessera_executor::violation(std::string(function) + ": " + what);
}
// Found when the work runs: what was allocated may be gone by then.
inline void require_memory(const void* at, size_t bytes, const char* function, const char* name) {
  if (bytes == 0) return;
  require(tessera_executor::is_device_address(at), function, std::string(name) + " is no memory of a device");
  const char* bad = tessera_executor::first_bad_byte(at, bytes);
  require(bad == nullptr, function, std::string(name) + " reaches " + (bad ? tessera_executor::describe(bad) : ""));
}

/// The temporary memory of a call: asked for with null, then checked and spoiled.
constexpr size_t kBaseBytes = 1024;
inline size_t temporary_bytes(int64_t n) { return kBaseBytes + size_t(n) / 16; }
inline void use_temporary(void* at, int64_t n, const char* function) {
  require_memory(at, temporary_bytes(n), function, "the temporary memory");
  require(uintptr_t(at) % 256 == 0, function, "the temporary memory is not aligned");
  std::memset(at, 0xb5, temporary_bytes(n));
}

template <class Key, class Value>
struct SortWork {
  void* temporary;
  Key *keys_in, *keys_out;
  Value *values_in, *values_out;
  int64_t n;
  int begin_bit, end_bit;
  bool in_out;  // an odd number of passes

  static void run(const void* work) {
    const SortWork& w = *static_cast<const SortWork*>(work);
    constexpr const char* kName = "DeviceRadixSort::SortPairs";
    use_temporary(w.temporary, w.n, kName);
    require_memory(w.keys_in, size_t(w.n) * sizeof(Key), kName, "the keys' buffer");
    require_memory(w.keys_out, size_t(w.n) * sizeof(Key), kName, "the keys' other buffer");
    require_memory(w.values_in, size_t(w.n) * sizeof(Value), kName, "the values' buffer");
    require_memory(w.values_out, size_t(w.n) * sizeof(Value), kName, "the values' other buffer");
    std::vector<int64_t> order(size_t(w.n), 0);
    for (int64_t i = 0; i < w.n; i++) order[size_t(i)] = i;
    const int width = w.end_bit - w.begin_bit;
    const auto digits = [&](int64_t i) {
      return (uint64_t(w.keys_in[i]) >> w.begin_bit) & (width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1);
    };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return digits(a) < digits(b); });
    std::vector<Key> keys;
    std::vector<Value> values;
    for (const int64_t i : order) keys.push_back(w.keys_in[i]), values.push_back(w.values_in[i]);
    Key *to_keys = w.in_out ? w.keys_out : w.keys_in, *lost_keys = w.in_out ? w.keys_in : w.keys_out;
    Value *to_values = w.in_out ? w.values_out : w.values_in, *lost_values = w.in_out ? w.values_in : w.values_out;
    std::copy(keys.begin(), keys.end(), to_keys);
    std::copy(values.begin(), values.end(), to_values);
    std::memset(lost_keys, 0xb5, size_t(w.n) * sizeof(Key));
    std::memset(lost_values, 0xb5, size_t(w.n) * sizeof(Value));
  }
};

template <class T>
struct ScanWork {
  void* temporary;
  const T* in;
  T* out;
  int64_t n;

  static void run(const void* work) {
    const ScanWork& w = *static_cast<const ScanWork*>(work);
    constexpr const char* kName = "DeviceScan::ExclusiveSum";
    use_temporary(w.temporary, w.n, kName);
    require_memory(w.in, size_t(w.n) * sizeof(T), kName, "the input");
    require_memory(w.out, size_t(w.n) * sizeof(T), kName, "the output");
    T sum = 0;
    for (int64_t i = 0; i < w.n; i++) {
      const T x = w.in[i];
      w.out[i] = sum;
      sum += x;
    }
  }
};

}  // namespace detail

struct DeviceRadixSort {
  template <class Key, class Value>
  static cudaError_t SortPairs(void* temporary, size_t& bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values,
                               int n, int begin_bit = 0, int end_bit = int(sizeof(Key)) * 8,
                               cudaStream_t stream = nullptr) {
    static_assert(std::is_unsigned_v<Key>, "other keys are not asked for");
    constexpr const char* kName = "DeviceRadixSort::SortPairs";
    if (temporary == nullptr) {
      bytes = detail::temporary_bytes(n);
      return cudaSuccess;
    }
    detail::require(bytes >= detail::temporary_bytes(n), kName, "less temporary memory than it asks for");
    detail::require(n >= 0, kName, "a negative number of items");
    detail::require(begin_bit >= 0 && begin_bit <= end_bit && end_bit <= int(sizeof(Key)) * 8, kName, "no such bits");
    const bool odd = (end_bit - begin_bit + 7) / 8 % 2;
    const detail::SortWork<Key, Value> work{
        temporary, keys.Current(), keys.Alternate(), values.Current(), values.Alternate(), n, begin_bit, end_bit, odd};
    tessera_executor::queue_host_work(kName, stream, work.run, &work, sizeof work);
    if (odd) keys.selector ^= 1, values.selector ^= 1;
    return cudaSuccess;
  }
};

struct DeviceScan {
  template <class T>
  static cudaError_t ExclusiveSum(void* temporary, size_t& bytes, const T* in, T* out, int n,
                                  cudaStream_t stream = nullptr) {
    constexpr const char* kName = "DeviceScan::ExclusiveSum";
    if (temporary == nullptr) {
      bytes = detail::temporary_bytes(n);
      return cudaSuccess;
    }
    detail::require(bytes >= detail::temporary_bytes(n), kName, "less temporary memory than it asks for");
    detail::require(n >= 0, kName, "a negative number of items");
    const detail::ScanWork<T> work{temporary, in, out, n};
    tessera_executor::queue_host_work(kName, stream, work.run, &work, sizeof work);
    return cudaSuccess;
  }
};

}  // namespace cub
