// Whether launches of kernels wait on this thread: what everything that looks at elements asks first (README.md, "Launches that wait").
#pragma once

namespace tessera::tensor {

class LaunchQueue;  // runtime/fuse/launch_queue.h
class Storage;

class PendingLaunches {
 public:
  static bool any() { return queue_ != nullptr; }
  /// Runs them. Throws nothing but MemoryError, when the system itself has no more.
  static void flush();
  /// Whether a launch that waits writes one of the storages, or reads or writes `out`: then none may run before it. Null: none.
  static bool concern(const Storage& out, const Storage* const* in, int count);
  /// Where nothing may be thrown; false: they still wait.
  static bool try_flush() noexcept;

 private:
  friend class LaunchQueue;
  // Per thread: the queue of which launches wait. One at most: a second queue flushes the first.
  [[gnu::tls_model("initial-exec")]] inline static thread_local LaunchQueue* queue_ = nullptr;
};

}  // namespace tessera::tensor
