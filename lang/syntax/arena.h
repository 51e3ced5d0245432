// A bump allocator: many small objects that live and die together, none of which has a destructor that matters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::lang {

// Who answers for the memory, and may say that it is enough: grew() is called before about every 100 KB but the first, and may throw.
class Growth {
 public:
  virtual void grew(std::size_t bytes) = 0;
  // Bytes of the C++ stack that the parser, and those who walk its tree afterwards, may use.
  virtual std::size_t stack_left() const { return std::size_t{8} << 20; }

 protected:
  ~Growth() = default;
};

class Arena {
 public:
  explicit Arena(Growth* growth = nullptr) : growth_(growth) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "an arena runs no destructors");
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  template <class T>
  std::span<T> copy(const T* first, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count == 0) return {};
    void* memory = allocate(sizeof(T) * count, alignof(T));
    std::memcpy(memory, static_cast<const void*>(first), sizeof(T) * count);
    return {static_cast<T*>(memory), count};
  }

  template <class T>
  std::span<T> copy(const std::vector<T>& items) {
    return copy(items.data(), items.size());
  }

  std::string_view copy(std::string_view text) {
    auto bytes = copy(text.data(), text.size());
    return {bytes.data(), bytes.size()};
  }

  std::size_t bytes() const { return bytes_; }
  Growth* growth() const { return growth_; }

 private:
  static constexpr std::size_t kFirstBlock = 4096;
  static constexpr std::size_t kUnasked = std::size_t{1} << 17;
  static constexpr std::size_t kLargestBlock = std::size_t{1} << 18;

  void* allocate(std::size_t size, std::size_t align) {
    std::size_t start = (used_ + align - 1) & ~(align - 1);
    if (start + size > capacity_) {
      grow(size);
      start = 0;
    }
    used_ = start + size;
    return blocks_.back().get() + start;
  }

  void grow(std::size_t size) {
    std::size_t next = blocks_.empty() ? kFirstBlock : std::min(capacity_ * 2, kLargestBlock);
    if (growth_ != nullptr && bytes_ + size > kUnasked) growth_->grew(std::max(next, size));
    capacity_ = std::max(next, size);
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(capacity_));
    bytes_ += capacity_;
  }

  Growth* growth_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::size_t used_ = 0;
  std::size_t capacity_ = 0;  // of the last block
  std::size_t bytes_ = 0;
};

}  // namespace tessera::lang
