// Memory without values for the length of a block, from the library's own allocator.
#pragma once

#include <cstdint>

#include "runtime/alloc.h"

namespace tessera::tensor::cpu {

template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t n)
      : bytes_(size_t(n) * sizeof(T)), data_(n ? static_cast<T*>(host::allocate(bytes_)) : nullptr) {}
  ~Scratch() {
    if (data_) host::release(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return data_; }

 private:
  size_t bytes_;
  T* data_;
};

}  // namespace tessera::tensor::cpu
