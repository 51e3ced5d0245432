// Memory of the language's objects: free lists by size class, cut from slabs; large blocks come from the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace tessera::lang {

struct Object;

class Heap {
 public:
  static constexpr size_t kGrain = 16;
  static constexpr size_t kLargestSmall = 512;

  Heap() = default;
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

  // The block with another size and the same beginning. `memory` may be null.
  void* reallocate(void* memory, size_t bytes, size_t wanted);

  // Bytes taken from the system, which is what the limit speaks of. Zero: no limit.
  uint64_t bytes() const { return bytes_; }
  void set_limit(uint64_t bytes) { limit_ = bytes; }

  // How deep destroy_object is inside itself, and what waits for the outermost call (see object.cpp).
  uint32_t destroy_depth = 0;
  std::vector<Object*> doomed;

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  static size_t size_class(size_t bytes) { return (bytes + kGrain - 1) / kGrain; }

  void* allocate_slow(size_t bytes);
  void deallocate_large(void* memory, size_t bytes) noexcept;
  void account(size_t bytes);

  FreeBlock* free_[kLargestSmall / kGrain + 1] = {};
  std::vector<void*> slabs_;
  char* slab_next_ = nullptr;
  char* slab_end_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t limit_ = 0;
};

}  // namespace tessera::lang
