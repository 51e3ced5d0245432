// Intrusive reference counts that may be touched from several threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace tessera::tensor {

/// Whether several threads may touch a count at the same time. A locked instruction costs a short op a good deal (seven of
/// them are a fifth of `x[:, 1]`), so a program all of whose tensors belong to one thread says so; kernels that are cut for
/// the threads of the pool share them for their length. A library's host may do as it likes: there they are always shared.
class SharedCounts {
 public:
  static bool on() { return on_; }
  /// For a program's first lines.
  static void keep_to_one_thread() { on_ = false; }

  /// Other threads take part for the length of a block.
  SharedCounts() : before_(on_) {
    if (!before_) on_ = true;
  }
  ~SharedCounts() {
    if (!before_) on_ = false;
  }
  SharedCounts(const SharedCounts&) = delete;

 private:
  inline static bool on_ = true;
  const bool before_;
};

/// A count that starts at one. `drop()` says whether it was the last: a sole owner pays no locked instruction.
class RefCount {
 public:
  void add() {
    if (SharedCounts::on()) shared().fetch_add(1, std::memory_order_relaxed);
    else ++count_;
  }
  bool drop() { return unique() || drop_shared(); }
  bool unique() const { return shared().load(std::memory_order_acquire) == 1; }
  uint32_t value() const { return shared().load(std::memory_order_relaxed); }

 private:
  bool drop_shared();  // not inline, for size
  std::atomic_ref<uint32_t> shared() const { return std::atomic_ref<uint32_t>(count_); }

  mutable uint32_t count_ = 1;
};

/// Base of counted objects that are deleted through a virtual destructor (tape nodes, generators).
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  virtual ~Counted() = default;
  RefCount refs;
};

template <class T>
class CountedPtr {
 public:
  CountedPtr() = default;
  CountedPtr(std::nullptr_t) {}
  /// Takes over the reference that a fresh object is born with.
  static CountedPtr adopt(T* fresh) {
    CountedPtr p;
    p.object_ = fresh;
    return p;
  }
  static CountedPtr share(T* object) {
    if (object) object->refs.add();
    return adopt(object);
  }
  CountedPtr(const CountedPtr& o) : object_(o.object_) {
    if (object_) object_->refs.add();
  }
  CountedPtr(CountedPtr&& o) noexcept : object_(std::exchange(o.object_, nullptr)) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> CountedPtr(CountedPtr<U> o) : object_(o.release()) {}
  CountedPtr& operator=(CountedPtr o) noexcept {
    std::swap(object_, o.object_);
    return *this;
  }
  ~CountedPtr() {
    if (object_ && object_->refs.drop()) delete object_;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T* release() { return std::exchange(object_, nullptr); }
  friend bool operator==(const CountedPtr& a, const CountedPtr& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

template <class T, class... Args>
CountedPtr<T> make_counted(Args&&... args) {
  return CountedPtr<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace tessera::tensor
