// What is set among many elements, tile by tile: a block looks at kTile elements. How many are set is counted first, the counts
// become places by a scan, and a second look writes.
//
// An element is set unless all of its bits but the signs of floating-point numbers are clear.
#pragma once

#include "backends/cuda/block_sum.cuh"
#include "backends/cuda/radix_sort.h"
#include "runtime/dtype.h"

namespace tessera::tensor::cuda {

inline constexpr int kPerThread = 16;
inline constexpr int64_t kTile = int64_t(kThreads) * kPerThread;
inline int64_t tiles_of(int64_t n) { return (n + kTile - 1) / kTile; }
inline unsigned blocks_of_tiles(int64_t n) { return unsigned(tiles_of(n) < 65535 ? tiles_of(n) : 65535); }

/// The bits of an element that make it not zero, repeated to 8 bytes.
inline uint64_t bits_that_count(DType dtype) {
  switch (dtype) {
    case DType::Float16:
    case DType::BFloat16: return 0x7fff7fff7fff7fff;
    case DType::Float32:
    case DType::Complex64: return 0x7fffffff7fffffff;
    case DType::Float64:
    case DType::Complex128: return 0x7fffffffffffffff;
    default: return ~uint64_t(0);
  }
}

__device__ inline bool is_set(ulonglong2 x, uint64_t bits) { return ((x.x | x.y) & bits) != 0; }
template <class Element>
__device__ inline bool is_set(Element x, uint64_t bits) {
  return (x & Element(bits)) != 0;
}

// Bit k of the result: whether byte k of the word is not 0.
__device__ inline unsigned bytes_set(unsigned word) {
  const unsigned high = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
  return (high * 0x00204081u) >> 28;
}

/// Which of elements first + 16 * threadIdx.x ... + 15 are set, for the tile that begins at `first`. All threads call it.
template <class Element>
__device__ inline unsigned set_in_tile(const Element* in, int64_t first, int64_t n, uint64_t bits) {
  const int64_t mine = first + int64_t(threadIdx.x) * kPerThread;
  if constexpr (sizeof(Element) == 1) {
    if ((uintptr_t(in) & 15) == 0) {  // the same for all
      if (mine + kPerThread <= n) {
        const uint4 x = *reinterpret_cast<const uint4*>(in + mine);
        return bytes_set(x.x) | bytes_set(x.y) << 4 | bytes_set(x.z) << 8 | bytes_set(x.w) << 12;
      }
      unsigned found = 0;
      for (int k = 0; k < kPerThread && mine + k < n; k++) found |= unsigned(in[mine + k] != 0) << k;
      return found;
    }
  }
  // Read side by side, then taken as runs: a ballot has the elements of two threads.
  TS_SHARED(unsigned, words, kTile / kWarp);
  for (int k = 0; k < kPerThread; k++) {
    const int64_t at = first + int64_t(k) * kThreads + threadIdx.x;
    const unsigned word = __ballot_sync(0xffffffffu, at < n && is_set(in[at], bits));
    if (threadIdx.x % kWarp == 0) words[(k * kThreads + threadIdx.x) / kWarp] = word;
  }
  __syncthreads();
  const unsigned found = (words[threadIdx.x / 2] >> (threadIdx.x % 2 * kPerThread)) & 0xffffu;
  __syncthreads();
  return found;
}

template <class Element>
__global__ void __launch_bounds__(kThreads)
    count_in_tiles(const Element* in, int64_t n, uint64_t bits, int64_t tiles, int64_t* counts) {
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int count = block_sum(__popc(set_in_tile(in, tile * kTile, n, bits)));
    if (threadIdx.x == 0) counts[tile] = count;
  }
}

/// How many are set before each tile.
template <class Element>
void count_before_tiles(const Launch& at, const Place& place, const Element* in, int64_t n, uint64_t bits,
                        int64_t* before) {
  launch<count_in_tiles<Element>>(place, {blocks_of_tiles(n), kThreads}, in, n, bits, tiles_of(n), before);
  sum_before(at, place, before, tiles_of(n));
}

/// take(k, i) for the k-th element i of the tile that is set. All threads of the block call it.
template <class Element, class Take>
__device__ inline void for_set(const Element* in, int64_t tile, int64_t n, uint64_t bits, const int64_t* before,
                               const Take& take) {
  unsigned found = set_in_tile(in, tile * kTile, n, bits);
  int total;
  int64_t k = before[tile] + sum_of_threads_before(__popc(found), total);
  for (; found != 0; found &= found - 1)
    take(k++, tile * kTile + int64_t(threadIdx.x) * kPerThread + __ffs(int(found)) - 1);
}

/// f(TypeTag<unsigned integer of that size>).
template <class F>
void with_element(size_t bytes, const F& f) {
  switch (bytes) {
    case 1: return f(TypeTag<uint8_t>());
    case 2: return f(TypeTag<uint16_t>());
    case 4: return f(TypeTag<uint32_t>());
    case 8: return f(TypeTag<uint64_t>());
    default: return f(TypeTag<ulonglong2>());
  }
}

}  // namespace tessera::tensor::cuda
