#include "backends/cuda/pinned.h"

#include <bit>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "backends/cuda/allocator.h"
#include "backends/cuda/events.h"
#include "backends/cuda/relaxed.h"

namespace tessera::tensor::cuda {
namespace {

struct User {
  Device device;
  cudaStream_t stream;
};

struct HostBlock {
  char* at;
  size_t bytes;
  bool taken = true;
  int events = 0;
  std::vector<User> users;
};

constexpr int kNever = 1 << 20;  // more events than a block ever waits for

struct Pending {
  Device device;
  cudaEvent_t event;
  HostBlock* block;
};

struct Cache {
  std::mutex mutex;
  std::map<char*, HostBlock> blocks;
  std::vector<HostBlock*> free[64];  // by the power of two
  std::deque<Pending> pending;
  PinnedStats stats;
};
Cache& cache() {
  static Cache* const made = new Cache;  // never destroyed: tensors may go back when the process ends
  return *made;
}

using Clock = std::chrono::steady_clock;

void note_time(PinnedStats::Time& time, Clock::time_point since) {
  const int64_t us = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - since).count();
  time.min_us = time.count == 0 ? us : std::min(time.min_us, us);
  time.max_us = std::max(time.max_us, us);
  time.total_us += us;
  time.count++;
}

void keep(Cache& c, HostBlock* block) {
  c.stats.active.add(-1);
  c.stats.active_bytes.add(-int64_t(block->bytes));
  c.free[std::countr_zero(block->bytes)].push_back(block);
}

void look_at_events(Cache& c, bool wait) {
  for (size_t k = 0; k < c.pending.size();) {
    const Pending one = c.pending[k];
    const OnDevice here(one.device);
    if (wait) check_call(cudaEventSynchronize(one.event));
    else if (!has_happened(one.event)) {
      k++;
      continue;
    }
    c.pending.erase(c.pending.begin() + ptrdiff_t(k));
    keep_event(one.device, one.event);
    if (--one.block->events == 0) keep(c, one.block);
  }
}

HostBlock* block_with(Cache& c, const void* address) {
  char* at = static_cast<char*>(const_cast<void*>(address));
  auto next = c.blocks.upper_bound(at);
  if (next == c.blocks.begin()) return nullptr;
  HostBlock& block = std::prev(next)->second;
  return at < block.at + block.bytes ? &block : nullptr;
}

HostBlock* new_block(Cache& c, size_t bytes) {
  const auto since = Clock::now();
  void* memory = nullptr;
  const Relaxed relaxed;
  check_call(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable));
  note_time(c.stats.alloc_time, since);
  c.stats.host_allocs++;
  c.stats.segment.add(1);
  c.stats.reserved_bytes.add(int64_t(bytes));
  c.stats.allocation.add(1);
  c.stats.allocated_bytes.add(int64_t(bytes));
  HostBlock& block = c.blocks[static_cast<char*>(memory)];
  block.at = static_cast<char*>(memory);
  block.bytes = bytes;
  return &block;
}

}  // namespace

void* take_pinned(size_t& bytes) {
  const size_t size = std::bit_ceil(bytes < 512 ? size_t(512) : bytes);
  Cache& c = cache();
  const std::lock_guard guard(c.mutex);
  if (!c.pending.empty()) look_at_events(c, false);
  auto& free = c.free[std::countr_zero(size)];
  HostBlock* block;
  if (free.empty()) {
    block = new_block(c, size);
  } else {
    block = free.back();
    free.pop_back();
  }
  block->taken = true;
  c.stats.active.add(1);
  c.stats.active_bytes.add(int64_t(size));
  bytes = size;
  return block->at;
}

void give_pinned(void* address) noexcept {
  Cache& c = cache();
  const std::lock_guard guard(c.mutex);
  const auto found = c.blocks.find(static_cast<char*>(address));
  if (found == c.blocks.end() || !found->second.taken) return;
  HostBlock& block = found->second;
  block.taken = false;
  try {
    for (const User& user : block.users) {
      // A graph that was captured meanwhile copies from it again and again; nor may the event be asked.
      if (allocator_of(user.device).capturing() && is_captured(user.stream)) block.events += kNever;
      else c.pending.push_back({user.device, event_behind(user.device, user.stream), &block}), block.events++;
    }
  } catch (const std::exception&) {
    block.events += kNever;  // nobody may have it again: a copy may still be under way
  }
  block.users.clear();
  if (block.events == 0) keep(c, &block);
}

bool is_pinned(const void* address) {
  {
    Cache& c = cache();
    const std::lock_guard guard(c.mutex);
    if (block_with(c, address) != nullptr) return true;
  }
  cudaPointerAttributes found;
  if (cudaPointerGetAttributes(&found, address) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return found.type == cudaMemoryTypeHost;
}

void note_use_of_pinned(const void* address, Device device, cudaStream_t stream) {
  Cache& c = cache();
  const std::lock_guard guard(c.mutex);
  HostBlock* const block = block_with(c, address);
  if (block == nullptr) return;
  for (const User& known : block->users)
    if (known.device == device && known.stream == stream) return;
  block->users.push_back({device, stream});
}

void trim_pinned() {
  const Relaxed relaxed;
  Cache& c = cache();
  const std::lock_guard guard(c.mutex);
  look_at_events(c, false);
  for (auto& free : c.free)
    while (!free.empty()) {
      HostBlock* const block = free.back();
      const auto since = Clock::now();
      check_call(cudaFreeHost(block->at));
      note_time(c.stats.free_time, since);
      free.pop_back();
      c.stats.host_frees++;
      c.stats.segment.add(-1);
      c.stats.reserved_bytes.add(-int64_t(block->bytes));
      c.stats.allocation.add(-1);
      c.stats.allocated_bytes.add(-int64_t(block->bytes));
      c.blocks.erase(block->at);
    }
}

void pinned_stats(PinnedStats& out) {
  Cache& c = cache();
  const std::lock_guard guard(c.mutex);
  out = c.stats;
}

void reset_pinned_stats(bool peaks, bool totals) {
  Cache& c = cache();
  const std::lock_guard guard(c.mutex);
  PinnedStats& s = c.stats;
  for (MemoryStat* stat :
       {&s.allocation, &s.segment, &s.active, &s.allocated_bytes, &s.reserved_bytes, &s.active_bytes}) {
    if (peaks) stat->reset_peak();
    if (totals) stat->reset_totals();
  }
  if (totals) s.host_allocs = s.host_frees = 0, s.alloc_time = s.free_time = {};
}

}  // namespace tessera::tensor::cuda
