// Size classes are powers of two in four steps (64, 80, 96, 112, 128, 160, ... rounded to 64 bytes), so at most a
// fifth of a block is wasted. A thread's own lists serve classes up to 128 KiB, which holds
// what kernels keep a tile in: such a block stays in the cache of its processor. What does not fit there, unless it is
// small, goes to the process cache, under one lock, up to kCacheLimit bytes. Blocks from 2 MiB ask for huge pages: fresh 4 KiB
// pages cost 17 ms per 40 MB, huge ones 5 ms.
#include "runtime/alloc.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <mutex>

#include "runtime/error.h"
#include "runtime/fuse/pending.h"

namespace tessera::tensor {

bool RefCount::drop_shared() {
  if (!SharedCounts::on()) return --count_ == 0;
  return shared().fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// A pending launch keeps the memory of its result, even of a result that no tensor holds any more. Without a queue this memory would be free.
void Account::refuse_or_make_room(size_t bytes) {
  used_.fetch_sub(int64_t(bytes), std::memory_order_relaxed);
  if (PendingLaunches::any()) {
    PendingLaunches::flush();
    if (!exceeds(bytes)) return;
    used_.fetch_sub(int64_t(bytes), std::memory_order_relaxed);
  }
  fail(TensorErrorKind::Memory, "memory limit exceeded: tried to allocate ", bytes, " bytes with ", used(), " of ",
       limit(), " in use");
}

namespace host {
namespace {

constexpr size_t kAlign = 64;
constexpr size_t kHuge = size_t(2) << 20;
constexpr size_t kThreadBytes = size_t(256) << 10;  // per class
constexpr size_t kShared = size_t(16) << 10;        // freed ones would give pages to the system, to be asked for again
constexpr size_t kCacheLimit = size_t(1) << 30;
constexpr size_t kLargest = size_t(1) << 46;  // no machine has it
constexpr int kClasses = 48 * 4;

struct Free {
  Free* next;
};

// Class of a size, and the size rounded up to the class.
[[gnu::hot]] int size_class(size_t& bytes) {
  if (bytes <= 256) {  // every multiple of 64
    bytes = (bytes + kAlign - 1) & ~(kAlign - 1);
    if (bytes == 0) bytes = kAlign;
    return int(bytes / kAlign) - 1;
  }
  int log = std::bit_width(bytes - 1) - 1;  // 2^log < bytes <= 2^(log+1)
  size_t step = size_t(1) << (log - 2);
  size_t steps = (bytes - (size_t(1) << log) + step - 1) / step;  // 1..4
  bytes = (size_t(1) << log) + steps * step;
  return (log - 7) * 4 + int(steps) - 1;
}

void* from_system(size_t bytes) {
  void* block = nullptr;
  if (bytes >= kHuge) {
    bytes = (bytes + kHuge - 1) & ~(kHuge - 1);
    block = std::aligned_alloc(kHuge, bytes);
    if (block) madvise(block, bytes, MADV_HUGEPAGE);
  } else {
    block = std::aligned_alloc(kAlign, bytes);
  }
  return block;
}

struct ProcessCache {
  std::mutex lock;
  Free* lists[kClasses] = {};
  size_t bytes = 0;

  void* take(int c, size_t size) {
    std::lock_guard guard(lock);
    Free* block = lists[c];
    if (!block) return nullptr;
    lists[c] = block->next;
    bytes -= size;
    return block;
  }
  bool put(int c, size_t size, void* block) {
    std::lock_guard guard(lock);
    if (bytes + size > kCacheLimit) return false;
    auto* node = static_cast<Free*>(block);
    node->next = lists[c];
    lists[c] = node;
    bytes += size;
    return true;
  }
  void trim() {
    std::lock_guard guard(lock);
    for (Free*& list : lists)
      while (Free* block = list) {
        list = block->next;
        std::free(block);
      }
    bytes = 0;
  }
};

// Never destroyed: tensors in static objects may be released after it.
ProcessCache& process_cache() {
  static auto* cache = new ProcessCache;
  return *cache;
}

struct ThreadCache {
  Free* lists[40] = {};
  uint32_t counts[40] = {};
  bool dead = false;

  void trim() {
    for (Free*& list : lists)
      while (Free* block = list) {
        list = block->next;
        std::free(block);
      }
    for (uint32_t& n : counts) n = 0;
  }
  ~ThreadCache() {
    trim();
    dead = true;
  }
};
thread_local ThreadCache thread_cache;  // per thread: free blocks
constexpr int kThreadClasses = 40;      // up to 128 KiB

[[noreturn]] void out_of_memory(size_t bytes) {
  fail(TensorErrorKind::Memory, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
       " bytes. Error code 12 (Cannot allocate memory)");
}

}  // namespace

[[gnu::hot]] void* allocate(size_t& bytes) {
  if (bytes > kLargest) [[unlikely]]
    out_of_memory(bytes);
  int c = size_class(bytes);
  if (c < kThreadClasses) {
    ThreadCache& cache = thread_cache;
    if (Free* block = cache.lists[c]) [[likely]] {
      cache.lists[c] = block->next;
      cache.counts[c]--;
      return block;
    }
  }
  if (bytes >= kShared)
    if (void* block = process_cache().take(c, bytes)) return block;
  void* block = from_system(bytes);
  if (!block) [[unlikely]] {
    PendingLaunches::try_flush();  // frees what single ops would have freed
    trim();
    block = from_system(bytes);
    if (!block) out_of_memory(bytes);
  }
  return block;
}

[[gnu::hot]] void* allocate(size_t& bytes, Account& account) {
  if (bytes > kLargest) [[unlikely]]
    out_of_memory(bytes);
  size_class(bytes);  // rounds it up
  account.charge(bytes);
  try {
    return allocate(bytes);
  } catch (...) {
    account.refund(bytes);
    throw;
  }
}

[[gnu::hot]] void release(void* block, size_t bytes) noexcept {
  int c = size_class(bytes);
  if (c < kThreadClasses) {
    ThreadCache& cache = thread_cache;
    if (!cache.dead && cache.counts[c] * bytes < kThreadBytes) [[likely]] {
      auto* node = static_cast<Free*>(block);
      node->next = cache.lists[c];
      cache.lists[c] = node;
      cache.counts[c]++;
      return;
    }
  }
  if (bytes >= kShared && process_cache().put(c, bytes, block)) return;
  std::free(block);
}

void trim() {
  thread_cache.trim();
  process_cache().trim();
}

size_t cached_bytes() { return process_cache().bytes; }

}  // namespace host
}  // namespace tessera::tensor
