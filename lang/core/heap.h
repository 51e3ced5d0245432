// Memory of the language's objects: free lists by size class, cut from slabs; large blocks come from the system.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace tessera::lang {

struct Object;

class Heap {
 public:
  static constexpr size_t kGrain = 16;
  static constexpr size_t kLargestSmall = 512;

  // `interrupt`: the interpreter's, which hears there when the reserve is in use.
  explicit Heap(std::atomic<uint32_t>& interrupt) : interrupt_(interrupt) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();

  void* allocate(size_t bytes) {
#if !defined(__SANITIZE_ADDRESS__)
    if (bytes <= kLargestSmall) {
      FreeBlock*& head = free_[size_class(bytes)];
      if (FreeBlock* block = head) {
        head = block->next;
        return block;
      }
    }
#endif
    return allocate_slow(bytes);
  }

  void deallocate(void* memory, size_t bytes) noexcept {
#if !defined(__SANITIZE_ADDRESS__)
    if (bytes <= kLargestSmall) {
      FreeBlock*& head = free_[size_class(bytes)];
      head = new (memory) FreeBlock{head};
      return;
    }
#endif
    deallocate_large(memory, bytes);
  }

  // The bytes that a block asked for with `bytes` has: it may be given back with any size from there to here.
  static constexpr size_t usable(size_t bytes) {
#if !defined(__SANITIZE_ADDRESS__)
    if (bytes <= kLargestSmall) return (bytes + kGrain - 1) / kGrain * kGrain;
#endif
    return bytes;
  }

  // The block with another size and the same beginning. `memory` may be null.
  void* reallocate(void* memory, size_t bytes, size_t wanted);

  // Bytes taken from the system, which is what the limit speaks of. Zero: no limit.
  uint64_t bytes() const { return bytes_; }
  void set_limit(uint64_t bytes) { limit_ = allowed_ = bytes; }

  // What a script holds outside of the heap (a vector's memory, a string that grows) is booked here as well.
  void charge(size_t bytes) { account(bytes); }
  void refund(size_t bytes) noexcept { bytes_ -= bytes; }
  // MemoryError where so many bytes more would be too many; nothing is booked. For what is about to be made elsewhere.
  void expect(size_t bytes) const;

  // Note [The reserve]: small objects are still had when the limit or the system's memory is reached, so that the exception
  // that says so can be made, caught and shown; the interpreter hears of it by kMemoryShort. A run that begins in want gets
  // a little for itself; what was taken from the system's reserve is put aside again when there is memory.
  void begin_run() noexcept;
  static constexpr size_t kReserve = size_t{1} << 20;

  // What is taken while it stands the interpreter needs for itself, and no script can cause it twice: the limit moves by it.
  class Essential {
   public:
    explicit Essential(Heap& heap) noexcept
        : heap_(heap), limit_(std::exchange(heap.limit_, 0)), bytes_(heap.bytes_) {}
    ~Essential() {
      if (limit_ == 0) return;
      const uint64_t taken = heap_.bytes_ > bytes_ ? heap_.bytes_ - bytes_ : 0;
      heap_.limit_ = limit_ + taken;
      heap_.allowed_ += taken;
    }
    Essential(const Essential&) = delete;
    Essential& operator=(const Essential&) = delete;

   private:
    Heap& heap_;
    const uint64_t limit_;  // 0: there is none, or one of these stands already
    const uint64_t bytes_;
  };

  // How deep destroy_object is inside itself, and what waits for the outermost call (see object.cpp).
  uint32_t destroy_depth = 0;
  std::vector<Object*> doomed;
  size_t doomed_elsewhere = 0;  // of threads that do not run

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  static size_t size_class(size_t bytes) { return (bytes + kGrain - 1) / kGrain; }

  void* allocate_slow(size_t bytes);
  void deallocate_large(void* memory, size_t bytes) noexcept;
  void account(size_t bytes);
  void account_small(size_t bytes);
  char* slab_from_system() noexcept;
  uint64_t beyond_limit() const;

  FreeBlock* free_[kLargestSmall / kGrain + 1] = {};
  std::vector<void*> slabs_;
  char* slab_next_ = nullptr;
  char* slab_end_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t limit_ = 0;
  uint64_t allowed_ = 0;          // the limit, with what the running run got from the reserve
  char* reserve_next_ = nullptr;  // slabs put aside
  char* reserve_end_ = nullptr;
  std::atomic<uint32_t>& interrupt_;
};

}  // namespace tessera::lang
