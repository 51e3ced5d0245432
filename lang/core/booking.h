// Memory that a native holds outside of the heap (a text or a vector that grows), booked there against the script's limit.
#pragma once

#include <cstddef>

#include "lang/core/heap.h"

namespace tessera::lang {

class Booking {
 public:
  Booking() = default;
  ~Booking() {
    if (heap_ != nullptr) heap_->refund(booked_);
  }
  Booking(const Booking&) = delete;
  Booking& operator=(const Booking&) = delete;

  // From now on so many bytes are booked at least, and some more, so that a text that grows by letters does not ask at each
  // of them. Before the memory is taken: MemoryError, and nothing changes, where they are too many.
  void cover(Heap& heap, size_t bytes) {
    if (bytes > booked_) [[unlikely]]
      set(heap, bytes + bytes / 8);
  }
  // Exactly so many.
  void set(Heap& heap, size_t bytes) {
    if (bytes > booked_) heap.charge(bytes - booked_);
    else heap.refund(booked_ - bytes);
    heap_ = &heap;
    booked_ = bytes;
  }

 private:
  Heap* heap_ = nullptr;
  size_t booked_ = 0;
};

}  // namespace tessera::lang
