// The allocator's segments: what it takes from the driver and gives back, private pools, and what it tells when it is over.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backends/cuda/allocator.h"
#include "backends/cuda/blocks_seen.h"
#include "backends/cuda/events.h"
#include "backends/cuda/relaxed.h"

namespace tessera::tensor::cuda {
namespace {

constexpr size_t kMega = size_t(1) << 20;

// PyTorch's: small blocks share 2 MiB, those below 10 MiB share 20, larger ones are rounded to 2.
size_t segment_bytes(size_t wanted) {
  if (wanted <= kMega) return 2 * kMega;
  if (wanted < 10 * kMega) return 20 * kMega;
  return (wanted + 2 * kMega - 1) / (2 * kMega) * (2 * kMega);
}

std::string size_text(size_t bytes) {
  char text[64];
  if (bytes <= 1024) std::snprintf(text, sizeof text, "%zu bytes", bytes);
  else if (bytes <= kMega) std::snprintf(text, sizeof text, "%.2f KiB", double(bytes) / 1024);
  else if (bytes <= kMega << 10) std::snprintf(text, sizeof text, "%.2f MiB", double(bytes) / double(kMega));
  else std::snprintf(text, sizeof text, "%.2f GiB", double(bytes) / double(kMega << 10));
  return text;
}

}  // namespace

Block* Allocator::new_block() {
  if (spare_.empty()) return new Block;
  Block* const block = spare_.back();
  spare_.pop_back();
  *block = Block{};
  return block;
}

void Allocator::drop_block(Block* block) { spare_.push_back(block); }

// Null: there is no memory for it.
Block* Allocator::new_segment(Heap& heap, size_t wanted, cudaStream_t stream) {
  const size_t bytes = segment_bytes(wanted);
  if (limit_ != 0 && reserved_ + bytes > limit_) return nullptr;
  const OnDevice here(device_);
  void* segment = nullptr;
  const Relaxed relaxed;
  const cudaError_t result = cudaMalloc(&segment, bytes);
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check_call(result);
  seen::segment_taken(segment, bytes);
  Block* const block = new_block();
  block->at = static_cast<char*>(segment);
  block->bytes = bytes;
  block->stream = stream;
  block->heap = &heap;
  segments_[block->at] = block;
  if (heap.pool != nullptr) heap.pool->segments++;
  reserved_ += bytes;
  stats_.device_allocs++;
  count(heap, [&](int k) {
    stats_.segment[k].add(1);
    stats_.reserved_bytes[k].add(int64_t(bytes));
  });
  return block;
}

// Until no block waits for other streams any more.
void Allocator::wait_for_events() {
  stats_.sync_all_streams++;
  for (Block* block : deferred_) await_users(block);
  deferred_.clear();
  while (!pending_.empty()) {
    const Pending one = pending_.front();
    check_call(cudaEventSynchronize(one.event));
    pending_.pop_front();
    keep_event(device_, one.event);
    if (--one.block->events == 0) give_back(one.block);
  }
}

void Allocator::free_unused() {
  const OnDevice here(device_);
  wait_for_events();
  free_segments(small_);
  free_segments(large_);
  for (auto at = pools_.begin(); at != pools_.end();) {
    const PoolId id = at->first;
    PrivatePool& pool = *at->second;
    ++at;  // the pool may go
    if (pool.users > 0) continue;
    free_segments(pool.small);
    free_segments(pool.large);
    drop_pool_if_unused(id);
  }
}

void Allocator::free_segments(Heap& heap) {
  empty_lists(heap);
  const Relaxed relaxed;
  for (auto at = heap.free.begin(); at != heap.free.end();) {
    Block* const block = *at;
    if (block->is_split()) {
      ++at;
      continue;
    }
    check_call(cudaFree(block->at));
    at = heap.free.erase(at);
    segments_.erase(block->at);
    if (heap.pool != nullptr) heap.pool->segments--;
    reserved_ -= block->bytes;
    stats_.device_frees++;
    count(heap, [&](int k) {
      stats_.segment[k].add(-1);
      stats_.reserved_bytes[k].add(-int64_t(block->bytes));
    });
    drop_block(block);
  }
}

void Allocator::trim() {
  const std::lock_guard guard(mutex_);
  if (!capturing()) free_unused();
}

void Allocator::limit(size_t bytes) {
  const std::lock_guard guard(mutex_);
  limit_ = bytes;
}

// ---- private pools ----

PoolId new_pool() {
  static std::atomic<uint64_t> last{0};
  return {0, ++last};
}

PrivatePool& Allocator::pool_of(PoolId id) {
  const auto found = pools_.find(id);
  if (found != pools_.end()) return *found->second;
  auto made = std::make_unique<PrivatePool>();
  made->id = id;
  made->users = 0;
  return *(pools_[id] = std::move(made));
}

void Allocator::drop_pool_if_unused(PoolId id) {
  const auto found = pools_.find(id);
  if (found != pools_.end() && found->second->users <= 0 && found->second->segments == 0) pools_.erase(found);
}

void Allocator::retain_pool(PoolId id) {
  const std::lock_guard guard(mutex_);
  pool_of(id).users++;
}

void Allocator::release_pool(PoolId id) {
  const std::lock_guard guard(mutex_);
  if (const auto found = pools_.find(id); found != pools_.end()) found->second->users--;
  drop_pool_if_unused(id);
}

void Allocator::enter_pool(PoolId id) {
  const std::lock_guard guard(mutex_);
  routes_.push_back({id, &pool_of(id), std::this_thread::get_id(), false});
  pool_of(id).users++;
}

void Allocator::begin_capture(PoolId id) {
  const std::lock_guard guard(mutex_);
  routes_.push_back({id, &pool_of(id), std::this_thread::get_id(), true});
  pool_of(id).users++;
  captures_++;
}

void Allocator::drop_route(PoolId id, bool capture) {
  for (size_t k = routes_.size(); k-- > 0;)
    if (routes_[k].id == id && routes_[k].capture == capture) {
      routes_.erase(routes_.begin() + ptrdiff_t(k));
      pool_of(id).users--;
      captures_ -= capture;
      return drop_pool_if_unused(id);
    }
}

void Allocator::leave_pool(PoolId id) {
  const std::lock_guard guard(mutex_);
  drop_route(id, false);
}

void Allocator::end_capture(PoolId id) {
  const std::lock_guard guard(mutex_);
  drop_route(id, true);
}

// ---- what it tells ----

MemoryStats Allocator::stats() {
  const std::lock_guard guard(mutex_);
  return stats_;
}

void Allocator::reset_stats(bool peaks, bool totals) {
  const std::lock_guard guard(mutex_);
  const auto reset = [&](MemoryStat& stat) {
    if (peaks) stat.reset_peak();
    if (totals) stat.reset_totals();
  };
  MemoryStats& s = stats_;
  for (auto* kind : {&s.allocation, &s.segment, &s.active, &s.inactive_split, &s.allocated_bytes, &s.reserved_bytes,
                     &s.active_bytes, &s.inactive_split_bytes, &s.requested_bytes})
    for (MemoryStat& stat : *kind) reset(stat);
  reset(s.oversize_allocations), reset(s.oversize_segments);
  if (totals) s.alloc_retries = s.ooms = s.sync_all_streams = s.device_allocs = s.device_frees = 0;
}

void Allocator::snapshot(const SegmentVisitor& visit) {
  const std::lock_guard guard(mutex_);
  std::vector<MemoryBlock> blocks;
  for (const auto& [address, first] : segments_) {
    blocks.clear();
    MemorySegment segment{};
    for (const Block* b = first; b != nullptr; b = b->behind) {
      const bool taken = b->state == Block::Taken, free = b->state == Block::Free || b->state == Block::Listed;
      blocks.push_back({b->at, b->bytes, free ? 0 : b->requested,
                        taken  ? MemoryBlock::Allocated
                        : free ? MemoryBlock::Free
                               : MemoryBlock::AwaitingFree});
      segment.total += b->bytes;
      if (taken) segment.allocated += b->bytes;
      if (!free) segment.active += b->bytes, segment.requested += b->requested;
    }
    segment.device = device_;
    segment.address = address;
    segment.stream = first->stream;
    segment.large = first->heap->large;
    segment.pool = first->heap->pool == nullptr ? PoolId{} : first->heap->pool->id;
    segment.blocks = blocks.data();
    segment.count = blocks.size();
    visit.visit(visit.to, segment);
  }
}

// A table of the blocks that are held, those of one size in a row, those with the most bytes first.
std::string Allocator::holders() const {
  struct Row {
    size_t bytes, blocks;
  };
  std::map<size_t, size_t> by_size;
  taken_.for_each([&](const Block* block) { by_size[block->bytes]++; });
  std::vector<Row> rows;
  for (const auto& [bytes, blocks] : by_size) rows.push_back({bytes, blocks});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.bytes * a.blocks > b.bytes * b.blocks; });
  std::string text = "what holds memory of cuda:" + std::to_string(index_of(device_)) + ":";
  constexpr size_t kRows = 8;
  size_t others = 0, other_bytes = 0;
  for (size_t k = 0; k < rows.size(); k++) {
    if (k >= kRows) {
      others += rows[k].blocks, other_bytes += rows[k].bytes * rows[k].blocks;
      continue;
    }
    const Row& row = rows[k];
    text += "\n  " + size_text(row.bytes * row.blocks) + " in " + std::to_string(row.blocks) +
            (row.blocks == 1 ? " block" : " blocks of " + size_text(row.bytes));
  }
  if (others != 0) text += "\n  " + size_text(other_bytes) + " in " + std::to_string(others) + " smaller ones";
  if (rows.empty()) text += "\n  no tensor";
  const MemoryStats& s = stats_;
  const size_t free = size_t(s.reserved_bytes[0].current - s.active_bytes[0].current);
  text += "\n  " + size_text(free) + " kept for the next tensors, " +
          size_text(size_t(s.inactive_split_bytes[0].current)) + " of it in pieces of segments that are in use";
  return text;
}

void Allocator::out_of_memory(size_t requested, size_t wanted) {
  stats_.ooms++;
  const OnDevice here(device_);
  size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) cudaGetLastError();
  size_t in_pools = 0;
  taken_.for_each([&](const Block* block) {
    if (block->heap->pool != nullptr) in_pools += block->bytes;
  });
  const size_t allocated = size_t(stats_.allocated_bytes[MemoryStats::All].current);
  std::string text = "CUDA out of memory. Tried to allocate " + size_text(segment_bytes(wanted)) + ". GPU " +
                     std::to_string(index_of(device_)) + " has a total capacity of " + size_text(total) + " of which " +
                     size_text(free) + " is free. ";
  if (limit_ != 0) text += size_text(limit_) + " allowed; ";
  text += "Of the allocated memory " + size_text(allocated) + " is allocated by PyTorch, ";
  if (in_pools != 0) text += "with " + size_text(in_pools) + " allocated in private pools (e.g., CUDA Graphs), ";
  text +=
      "and " + size_text(reserved_ - allocated) +
      " is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
      "PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  "
      "(https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)";
  std::string notes = "asked for " + size_text(requested) + "\n" + holders();
  fail_with(TensorErrorKind::OutOfMemory, text.c_str(), notes.c_str());
}

}  // namespace tessera::tensor::cuda
