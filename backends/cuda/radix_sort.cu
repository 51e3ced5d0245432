// Radix sort and prefix sums by CUB.
#include "backends/cuda/radix_sort.h"

#include <cub/cub.cuh>

namespace tessera::tensor::cuda {

template <class Key>
void Pairs<Key>::sort(const Place& place, int bits) {
  if (n_ < 2 || bits == 0) return;
  const int64_t to_other = in_second_ ? -n_ : n_;
  cub::DoubleBuffer<Key> keys(this->keys(), this->keys() + to_other);
  cub::DoubleBuffer<uint32_t> payload(this->payload(), this->payload() + to_other);
  size_t bytes = 0;
  check_call(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, payload, int(n_), 0, bits, place.stream()));
  const Scratch room(launch_, bytes);
  check_call(cub::DeviceRadixSort::SortPairs(room.get(), bytes, keys, payload, int(n_), 0, bits, place.stream()));
  if (keys.selector != 0) in_second_ = !in_second_;  // both buffers take turns together
}
template class Pairs<uint32_t>;
template class Pairs<uint64_t>;

void sum_before(const Launch& launch, const Place& place, int64_t* counts, int64_t n) {
  size_t bytes = 0;
  check_call(cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts, counts, int(n), place.stream()));
  const Scratch room(launch, bytes);
  check_call(cub::DeviceScan::ExclusiveSum(room.get(), bytes, counts, counts, int(n), place.stream()));
}

}  // namespace tessera::tensor::cuda
