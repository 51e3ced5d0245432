#include "backends/cuda/allocator.h"

#include <utility>

#include "backends/cuda/blocks_seen.h"
#include "backends/cuda/events.h"

namespace tessera::tensor::cuda {
namespace {

constexpr size_t kUnit = 512;
constexpr size_t kSmall = size_t(1) << 20;  // the largest small block; what a large one may leave over
constexpr size_t kTooMuch = size_t(1) << 60;

size_t rounded(size_t bytes) { return bytes == 0 ? kUnit : (bytes + kUnit - 1) & ~(kUnit - 1); }

}  // namespace

bool is_captured(cudaStream_t stream) {
  if (stream == nullptr) return false;  // the legacy stream never is
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_call(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

Allocator& allocator_of(Device device) {
  // Never destroyed: tensors may go back when the process ends.
  static std::atomic<Allocator*> made[kMaxDevices];
  static std::mutex making;
  std::atomic<Allocator*>& mine = made[index_of(device)];
  if (Allocator* found = mine.load(std::memory_order_acquire)) [[likely]]
    return *found;
  const std::lock_guard guard(making);
  if (mine.load() == nullptr) mine.store(new Allocator(Device(DeviceType::Cuda, index_of(device))));
  return *mine.load();
}

void* Allocator::allocate(cudaStream_t stream, size_t& bytes) {
  const size_t requested = bytes;
  if (requested >= kTooMuch)
    fail_with(TensorErrorKind::OutOfMemory, "CUDA out of memory. Tried to allocate more than 1EB memory.");
  const size_t wanted = rounded(requested);
  const std::lock_guard guard(mutex_);
  if (!pending_.empty() || !deferred_.empty()) [[unlikely]]
    look_at_events();
  Heap& heap = heap_for(wanted, stream);
  Block* block = take_listed(heap, wanted, stream);
  if (block == nullptr) [[unlikely]] {
    block = take_slowly(heap, wanted, stream);
    if (block == nullptr) out_of_memory(requested, wanted);
  }
  bytes = block->bytes;
  return hand_out(block, requested, wanted);
}

Heap& Allocator::heap_for(size_t wanted, cudaStream_t stream) {
  for (size_t k = routes_.size(); k-- > 0;) {
    const Route& route = routes_[k];
    if (route.thread != std::this_thread::get_id() || (route.capture && !is_captured(stream))) continue;
    return wanted <= kSmall ? route.pool->small : route.pool->large;
  }
  return wanted <= kSmall ? small_ : large_;
}

Block* Allocator::take_listed(Heap& heap, size_t wanted, cudaStream_t stream) {
  Heap::List& list = heap.list_of(wanted, stream);
  if (list.first == nullptr || list.wanted != wanted || list.stream != stream) return nullptr;
  Block* const block = list.first;
  list.first = block->next;
  return block;
}

// The smallest free block of the stream that is large enough, cut to size.
Block* Allocator::take_fitting(Heap& heap, size_t wanted, cudaStream_t stream) {
  Block key;
  key.stream = stream, key.bytes = wanted;
  const auto found = heap.free.lower_bound(&key);
  if (found == heap.free.end() || (*found)->stream != stream) return nullptr;
  Block* const block = *found;
  heap.free.erase(found);
  split(block, wanted);
  return block;
}

Block* Allocator::take_slowly(Heap& heap, size_t wanted, cudaStream_t stream) {
  if (Block* block = take_fitting(heap, wanted, stream)) return block;
  empty_lists(heap);
  if (Block* block = take_fitting(heap, wanted, stream)) return block;
  Block* block = new_segment(heap, wanted, stream);
  if (block == nullptr && !capturing()) {  // once more, with what other sizes and streams hold
    stats_.alloc_retries++;
    free_unused();
    block = new_segment(heap, wanted, stream);
  }
  if (block != nullptr) split(block, wanted);
  return block;
}

// The block keeps what is wanted; the rest becomes a free block behind it. A large one may keep a megabyte too many.
void Allocator::split(Block* block, size_t wanted) {
  const size_t rest = block->bytes - wanted;
  if (block->is_split()) count_split(*block, -1);
  if (block->heap->large ? rest <= kSmall : rest < kUnit) return;
  Block* const behind = new_block();
  behind->at = block->at + wanted;
  behind->bytes = rest;
  behind->stream = block->stream;
  behind->heap = block->heap;
  behind->before = block;
  behind->behind = block->behind;
  if (block->behind != nullptr) block->behind->before = behind;
  block->behind = behind;
  block->bytes = wanted;
  behind->state = Block::Free;
  behind->heap->free.insert(behind);
  count_split(*behind, 1);
}

void Allocator::count_split(const Block& block, int sign) {
  count(*block.heap, [&](int k) {
    stats_.inactive_split[k].add(sign);
    stats_.inactive_split_bytes[k].add(sign * int64_t(block.bytes));
  });
}

void* Allocator::hand_out(Block* block, size_t requested, size_t wanted) {
  if (block->state == Block::Listed && block->is_split()) count_split(*block, -1);
  block->state = Block::Taken;
  block->requested = requested;
  block->wanted = wanted;
  block->next = nullptr;
  taken_.insert(block->at, block);
  const int64_t bytes = int64_t(block->bytes);
  count(*block->heap, [&](int k) {
    stats_.allocation[k].add(1);
    stats_.allocated_bytes[k].add(bytes);
    stats_.active[k].add(1);
    stats_.active_bytes[k].add(bytes);
    stats_.requested_bytes[k].add(int64_t(requested));
  });
  seen::block_taken(block->at, requested, block->stream);
  return block->at;
}

void Allocator::release(void* address) noexcept {
  const std::lock_guard guard(mutex_);
  Block* const block = taken_.erase(address);
  if (block == nullptr) return;
  count(*block->heap, [&](int k) {
    stats_.allocation[k].add(-1);
    stats_.allocated_bytes[k].add(-int64_t(block->bytes));
  });
  if (block->users.empty()) [[likely]]
    return give_back(block);
  block->state = Block::Awaiting;
  if (!capturing()) return await_users(block);
  deferred_.push_back(block);
  // A graph's own memory is free in the graph's order: later there are launches of it that nobody waits for here.
  if (block->heap->pool != nullptr) seen::block_freed(block->at, block->stream), block->told = true;
}

// To the list of its size; a list that another size had makes room.
void Allocator::give_back(Block* block) {
  if (!std::exchange(block->told, false)) seen::block_freed(block->at, block->stream);
  count(*block->heap, [&](int k) {
    stats_.active[k].add(-1);
    stats_.active_bytes[k].add(-int64_t(block->bytes));
    stats_.requested_bytes[k].add(-int64_t(block->requested));
  });
  if (block->is_split()) count_split(*block, 1);
  Heap::List& list = block->heap->list_of(block->wanted, block->stream);
  if (list.first != nullptr && (list.wanted != block->wanted || list.stream != block->stream)) empty_list(list);
  list.wanted = block->wanted;
  list.stream = block->stream;
  block->state = Block::Listed;
  block->next = list.first;
  list.first = block;
}

// An event behind each other stream's work. When the driver refuses, nobody may have the block again.
void Allocator::await_users(Block* block) {
  try {
    for (cudaStream_t user : block->users) {
      pending_.push_back({event_behind(device_, user), block});
      block->events++;
    }
  } catch (const std::exception&) {
    block->events += 1 << 20;
  }
  block->users.clear();
}

void Allocator::look_at_events() {
  if (capturing()) return;
  for (Block* block : deferred_) await_users(block);
  deferred_.clear();
  const OnDevice here(device_);
  // Streams differ in how far they are, so each is asked; few wait at a time.
  for (size_t k = 0; k < pending_.size();) {
    const Pending one = pending_[k];
    if (!has_happened(one.event)) {
      k++;
      continue;
    }
    pending_.erase(pending_.begin() + ptrdiff_t(k));
    keep_event(device_, one.event);
    if (--one.block->events == 0) give_back(one.block);
  }
}

// From a list to the free blocks, merged with its free neighbours.
void Allocator::settle(Block* block) {
  Heap& heap = *block->heap;
  count_split(*block, block->is_split() ? -1 : 0);
  if (Block* left = block->before; left != nullptr && left->state == Block::Free) {
    heap.free.erase(left);
    count_split(*left, -1);
    left->bytes += block->bytes;
    left->behind = block->behind;
    if (left->behind != nullptr) left->behind->before = left;
    drop_block(block);
    block = left;
  }
  if (Block* right = block->behind; right != nullptr && right->state == Block::Free) {
    heap.free.erase(right);
    count_split(*right, -1);
    block->bytes += right->bytes;
    block->behind = right->behind;
    if (block->behind != nullptr) block->behind->before = block;
    drop_block(right);
  }
  block->state = Block::Free;
  block->next = nullptr;
  heap.free.insert(block);
  if (block->is_split()) count_split(*block, 1);
}

void Allocator::empty_list(Heap::List& list) {
  while (Block* block = list.first) {
    list.first = block->next;
    settle(block);
  }
}

void Allocator::empty_lists(Heap& heap) {
  for (Heap::List& list : heap.lists) empty_list(list);
}

void Allocator::record_stream(void* address, cudaStream_t user) {
  const std::lock_guard guard(mutex_);
  Block* const block = taken_.find(address);
  if (block == nullptr || block->stream == user) return;
  for (cudaStream_t known : block->users)
    if (known == user) return;
  block->users.push_back(user);
}

size_t Allocator::block_bytes(const void* address) {
  const std::lock_guard guard(mutex_);
  const Block* block = taken_.find(address);
  return block == nullptr ? 0 : block->bytes;
}

}  // namespace tessera::tensor::cuda
