// The caching allocator of one device. Segments come from cudaMalloc and are cut into blocks; a block that is given back is
// kept for the next tensor, so that after a warm-up no step asks the driver.
//
// Rules:
//   1. A block belongs to the stream that it was taken on. Given back, it may be taken on that stream at once: work that
//      still uses it is before the next user's in the stream. Other streams never get it.
//   2. A block that other streams used too (record_stream) waits until events behind their work have happened.
//   3. A private pool's blocks are reused within the pool alone: a graph replays into the addresses that it was captured with.
//   4. No call of the driver and no event may be asked while a capture is under way, but cudaMalloc in relaxed mode.
//
// Fast path: a block that is given back goes, unmerged, on a short list of its size and stream, from which the next request
// of that size takes it. Only when a request finds nothing are these lists emptied and neighbours merged.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/block_map.h"
#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

struct Heap;

struct Block {
  char* at = nullptr;
  size_t bytes = 0;
  size_t requested = 0;  // what the caller asked for
  size_t wanted = 0;     // that, rounded up: the size of the list to which it goes back
  cudaStream_t stream = nullptr;
  Heap* heap = nullptr;
  Block *before = nullptr, *behind = nullptr;  // neighbours in the segment
  Block* next = nullptr;                       // on a list of its size
  enum State : uint8_t { Taken, Awaiting, Listed, Free } state = Free;
  bool told = false;                // the executor knows that it is free
  int events = 0;                   // that it awaits
  std::vector<cudaStream_t> users;  // other streams that use it
  bool is_split() const { return before != nullptr || behind != nullptr; }
};

struct SmallerBlock {
  bool operator()(const Block* a, const Block* b) const {
    if (a->stream != b->stream) return uintptr_t(a->stream) < uintptr_t(b->stream);
    if (a->bytes != b->bytes) return a->bytes < b->bytes;
    return uintptr_t(a->at) < uintptr_t(b->at);
  }
};

struct PrivatePool;

/// Free blocks of one kind: small or large, of one pool.
struct Heap {
  static constexpr size_t kLists = 256;
  struct List {
    size_t wanted = 0;
    cudaStream_t stream = nullptr;
    Block* first = nullptr;
  };
  bool large;
  PrivatePool* pool = nullptr;  // null: the pool that all share
  std::set<Block*, SmallerBlock> free;
  List lists[kLists];

  explicit Heap(bool large, PrivatePool* pool = nullptr) : large(large), pool(pool) {}
  List& list_of(size_t wanted, cudaStream_t stream) {
    return lists[(wanted / 512 ^ (uintptr_t(stream) >> 4)) * 0x9e3779b97f4a7c15u >> 56];
  }
};

struct PrivatePool {
  PoolId id;
  int users = 1;
  int segments = 0;
  Heap small{false, this}, large{true, this};
};

class Allocator {
 public:
  explicit Allocator(Device device) : device_(device) {}

  void* allocate(cudaStream_t stream, size_t& bytes);
  void release(void* address) noexcept;
  void record_stream(void* address, cudaStream_t user);
  size_t block_bytes(const void* address);
  void trim();
  void limit(size_t bytes);

  MemoryStats stats();
  void reset_stats(bool peaks, bool totals);
  void snapshot(const SegmentVisitor& visit);

  void retain_pool(PoolId id);
  void release_pool(PoolId id);
  void enter_pool(PoolId id);
  void leave_pool(PoolId id);
  /// What captured streams ask for comes from the pool, until end_capture.
  void begin_capture(PoolId id);
  void end_capture(PoolId id);
  /// Whether some stream of the device is captured.
  bool capturing() const { return captures_.load(std::memory_order_relaxed) != 0; }

 private:
  struct Route {
    PoolId id;
    PrivatePool* pool;
    std::thread::id thread;
    bool capture;
  };
  struct Pending {
    cudaEvent_t event;
    Block* block;
  };

  // allocator.cpp: taking and giving back
  Heap& heap_for(size_t wanted, cudaStream_t stream);
  Block* take_listed(Heap& heap, size_t wanted, cudaStream_t stream);
  Block* take_fitting(Heap& heap, size_t wanted, cudaStream_t stream);
  Block* take_slowly(Heap& heap, size_t wanted, cudaStream_t stream);
  void* hand_out(Block* block, size_t requested, size_t wanted);
  void give_back(Block* block);
  void await_users(Block* block);
  void look_at_events();
  void settle(Block* block);
  void empty_list(Heap::List& list);
  void empty_lists(Heap& heap);
  void split(Block* block, size_t wanted);

  // segments.cpp: what comes from the driver and goes back to it
  Block* new_segment(Heap& heap, size_t wanted, cudaStream_t stream);
  void wait_for_events();
  void free_unused();
  void free_segments(Heap& heap);
  Block* new_block();
  void drop_block(Block* block);
  [[noreturn]] void out_of_memory(size_t requested, size_t wanted);
  std::string holders() const;
  PrivatePool& pool_of(PoolId id);
  void drop_route(PoolId id, bool capture);
  void drop_pool_if_unused(PoolId id);

  template <class F>
  void count(const Heap& heap, const F& f) {
    f(MemoryStats::All);
    f(heap.large ? MemoryStats::Large : MemoryStats::Small);
  }
  void count_split(const Block& block, int sign);

  const Device device_;
  std::mutex mutex_;
  Heap small_{false}, large_{true};
  BlockMap taken_;
  std::deque<Pending> pending_;
  std::vector<Block*> deferred_;      // given back with users while a capture was under way
  std::map<char*, Block*> segments_;  // by address: its first block
  std::map<PoolId, std::unique_ptr<PrivatePool>> pools_;
  std::vector<Route> routes_;
  std::atomic<int> captures_{0};
  std::vector<Block*> spare_;
  size_t limit_ = 0;
  size_t reserved_ = 0;
  MemoryStats stats_;
};

Allocator& allocator_of(Device device);
/// Whether what the stream is given is written down instead of done.
bool is_captured(cudaStream_t stream);
PoolId new_pool();

}  // namespace tessera::tensor::cuda
