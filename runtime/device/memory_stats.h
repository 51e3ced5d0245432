// What a device's allocator tells of itself: the numbers of torch.cuda.memory_stats, the blocks of memory_snapshot.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device/device.h"
#include "runtime/device/stream.h"

namespace tessera::tensor {

struct MemoryStat {
  int64_t current = 0, peak = 0, allocated = 0, freed = 0;

  void add(int64_t amount) {
    current += amount;
    if (amount >= 0) allocated += amount;
    else freed -= amount;
    if (current > peak) peak = current;
  }
  void reset_peak() { peak = current; }
  void reset_totals() { allocated = freed = 0; }
};

struct MemoryStats {
  enum Pool { All, Small, Large };  // blocks of at most 1 MiB, and larger ones
  MemoryStat allocation[3], segment[3], active[3], inactive_split[3];
  MemoryStat allocated_bytes[3], reserved_bytes[3], active_bytes[3], inactive_split_bytes[3], requested_bytes[3];
  MemoryStat oversize_allocations, oversize_segments;
  int64_t alloc_retries = 0, ooms = 0, sync_all_streams = 0;
  int64_t device_allocs = 0, device_frees = 0;  // calls of the driver
  int64_t max_split_size = -1;
};

struct PinnedStats {
  MemoryStat allocation, segment, active, allocated_bytes, reserved_bytes, active_bytes;
  int64_t host_allocs = 0, host_frees = 0;  // calls of the driver
  struct Time {
    int64_t total_us = 0, max_us = 0, min_us = 0, count = 0;
  } alloc_time, free_time;
};

/// Which private pool; {0, 0}: the one that all share.
struct PoolId {
  uint64_t first = 0, second = 0;
  explicit operator bool() const { return first != 0 || second != 0; }
  friend bool operator==(PoolId, PoolId) = default;
  friend auto operator<=>(PoolId, PoolId) = default;
};

struct MemoryBlock {
  enum State : uint8_t { Allocated, AwaitingFree, Free };  // awaiting: given back, other streams may still use it
  const void* address;
  size_t bytes, requested;
  State state;
};

struct MemorySegment {
  Device device;
  const void* address;
  size_t total, allocated, active, requested;  // bytes
  StreamHandle stream;
  bool large;
  PoolId pool;
  const MemoryBlock* blocks;
  size_t count;
};

struct SegmentVisitor {
  void (*visit)(void* to, const MemorySegment& segment);
  void* to;
};

}  // namespace tessera::tensor
