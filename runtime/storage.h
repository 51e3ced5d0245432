// A run of bytes on a device that tensors share. Three ways to come by one: a block of its own, foreign memory
// with a deleter, and (for small tensors) the tail of the block that also holds the tensor: see tensor.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/alloc.h"
#include "runtime/counted.h"
#include "runtime/device/device.h"
#include "runtime/device/stream.h"

namespace tessera::tensor {

struct DeviceBackend;
class LaunchQueue;

class Storage {
 public:
  using Deleter = void (*)(void* context, void* data);

  /// Uninitialised bytes on a device, charged to the current Context. Sole reference is the caller's.
  static Storage* allocate(size_t bytes, Device device);
  /// Foreign memory; deleter(context, data) runs with the last reference.
  static Storage* adopt(void* data, size_t bytes, Device device, Deleter deleter, void* context);
  /// A block on the host that a launch of the queue will write. It is allocated and charged at once, so that memory is refused where it is
  /// refused without a queue.
  static Storage* pending(size_t bytes, LaunchQueue& queue);
  /// The same bytes with a version counter of its own (`x.data`).
  static Storage* alias(Storage* base);

  /// Of a pending storage the launches that wait are run.
  void* data() const {
    if (is_pending()) [[unlikely]]
      flush();
    return data_;
  }
  size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.store(version() + 1, std::memory_order_relaxed); }

  void retain() { refs_.add(); }
  void release() {
    if (refs_.drop()) destroy();
  }
  bool unique() const { return refs_.unique(); }
  uint32_t references() const { return refs_.value(); }

  /// Others than ops know its address, and may read and write there at any time.
  bool is_exposed() const { return exposed_ || kind_ == Kind::Foreign; }
  void expose() { exposed_ = true; }

  bool is_pending() const { return kind_ == Kind::Pending; }
  /// Whose launch writes a pending storage.
  LaunchQueue* queue() const { return static_cast<LaunchQueue*>(data_); }
  /// The launch is about to write the block, or waits again.
  void* settle() { return kind_ = Kind::Block, data_ = block_; }
  void wait_again(LaunchQueue& queue) { kind_ = Kind::Pending, data_ = &queue; }
  /// Gives a pending storage the block of another storage, which takes the pending one's. Returns false if the blocks differ in size.
  bool exchange_blocks(Storage& other);

 private:
  friend class TensorImpl;
  enum class Kind : uint8_t { Block, Foreign, Inline, Pending };  // Inline: lives in its tensor's block

  Storage(Kind kind, void* data, size_t bytes, Device device)
      : kind_(kind), device_(device), data_(data), bytes_(bytes) {}
  void charge_for_block(const DeviceBackend& backend, size_t block_bytes, Account& account);
  void destroy() noexcept;
  void flush() const;

  RefCount refs_;
  std::atomic<uint32_t> version_{0};
  Kind kind_;
  bool exposed_ = false;
  Device device_;
  void* data_;  // the queue, for Pending
  size_t bytes_;
  Account* account_ = nullptr;  // whom block_bytes_ are charged to
  void* block_ = nullptr;       // start of the block for Inline, deleter context for Foreign
  size_t block_bytes_ = 0;
  union {
    Deleter deleter_ = nullptr;  // of Foreign
    StreamHandle stream_;        // of Block on a device: whose order its memory is given back in
  };
};

}  // namespace tessera::tensor
