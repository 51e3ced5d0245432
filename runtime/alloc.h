// Memory on the host: a caching allocator (fresh pages cost more than most ops' arithmetic) and the
// account of bytes that every interpreter keeps.
//
// Blocks come in size classes, 64-byte aligned. Each thread keeps a short free list for small classes, so that
// a small result costs no lock; larger blocks go through one cache of the process, which is trimmed to a limit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/counted.h"

namespace tessera::tensor {

/// Bytes held for one Context, with a limit. Outlives the Context until the last tensor that it paid for is gone.
class Account {
 public:
  static Account* create() { return new Account; }
  /// The owner lets go; the account deletes itself with its last charge.
  void close() { refund(kOwner); }

  /// Books bytes, or throws MemoryError (nothing is booked then).
  void charge(size_t bytes) {
    if (exceeds(bytes)) [[unlikely]]
      refuse_or_make_room(bytes);
  }
  void refund(size_t bytes) {
    if (add(-int64_t(bytes)) == int64_t(bytes)) [[unlikely]]
      delete this;
  }

  int64_t used() const { return used_.load(std::memory_order_relaxed) - int64_t(kOwner); }
  int64_t limit() const { return limit_ == kUnlimited ? kUnlimited : limit_ - int64_t(kOwner); }
  void set_limit(int64_t bytes) { limit_ = bytes >= kUnlimited ? kUnlimited : bytes + int64_t(kOwner); }

  static constexpr int64_t kUnlimited = INT64_MAX;

 private:
  // The owner's share keeps the count above zero while the Context lives; a byte stands for a reference.
  static constexpr size_t kOwner = 1;
  Account() = default;
  ~Account() = default;
  bool exceeds(size_t bytes) { return int64_t(bytes) > limit_ - add(int64_t(bytes)); }
  void refuse_or_make_room(size_t bytes);
  // What was used before.
  int64_t add(int64_t bytes) {
    if (SharedCounts::on()) return used_.fetch_add(bytes, std::memory_order_acq_rel);
    const int64_t before = used_.load(std::memory_order_relaxed);
    used_.store(before + bytes, std::memory_order_relaxed);
    return before;
  }

  std::atomic<int64_t> used_{int64_t(kOwner)};
  int64_t limit_ = kUnlimited;
};

namespace host {

/// At least `bytes`, 64-byte aligned; `bytes` is rounded up to what the block really holds. Throws MemoryError.
void* allocate(size_t& bytes);
/// The same, booked on the account before the system is asked, so that a refusal leaves nothing behind.
void* allocate(size_t& bytes, Account& account);
/// `bytes` as allocate returned it.
void release(void* block, size_t bytes) noexcept;
/// Gives cached blocks of this thread and of the process back to the system.
void trim();
/// Bytes that the process cache holds unused.
size_t cached_bytes();

}  // namespace host
}  // namespace tessera::tensor
