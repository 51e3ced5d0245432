// Sorting and scanning of whole arrays, by CUB: the few instantiations that all kernels share.
#pragma once

#include "backends/cuda/launch.cuh"
#include "backends/cuda/scratch.h"

namespace tessera::tensor::cuda {

/// Keys with a payload each, and as much room again. After sort() the pairs lie in keys() and payload().
template <class Key>
class Pairs {
 public:
  static_assert(std::is_same_v<Key, uint32_t> || std::is_same_v<Key, uint64_t>);

  Pairs(const Launch& launch, int64_t n)
      : n_(n), launch_(launch), keys_(launch, size_t(n) * 2 * sizeof(Key)), payload_(launch, size_t(n) * 2 * 4) {}

  Key* keys() const { return static_cast<Key*>(keys_.get()) + (in_second_ ? n_ : 0); }
  uint32_t* payload() const { return static_cast<uint32_t*>(payload_.get()) + (in_second_ ? n_ : 0); }
  int64_t size() const { return n_; }

  /// By the lowest `bits` bits of the keys; equal ones stay in order. Fewer than 2^31 pairs.
  void sort(const Place& place, int bits);

 private:
  const int64_t n_;
  const Launch launch_;
  const Scratch keys_, payload_;
  bool in_second_ = false;
};

/// counts[i] becomes the sum of those before it.
void sum_before(const Launch& launch, const Place& place, int64_t* counts, int64_t n);

}  // namespace tessera::tensor::cuda
