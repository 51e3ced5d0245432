// Masks block by block.
//
// Masks are looked at eight elements at a time, as one word: what is all clear costs one comparison. Inside a word every
// element is written and only the place that is written next depends on the mask, so that random masks cost no mispredicted
// jumps. Threads take blocks whose first place is known from a count that went before.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/threads.h"
#include "runtime/dtype.h"

namespace tessera::tensor::cpu {

inline constexpr int64_t kMaskBlock = 16384;  // elements of a mask: two blocks are worth a thread

inline uint64_t word_of(const uint8_t* mask) {
  uint64_t word;
  std::memcpy(&word, mask, 8);
  return word;
}

/// Of bytes that are 0 or 1. Words are added byte by byte, as many as a byte can hold, before their bytes are.
inline int64_t count_set(const uint8_t* mask, int64_t n) {
  constexpr uint64_t kLow = 0x00ff00ff00ff00ff;
  constexpr int64_t kWords = 4, kMost = 255;
  int64_t total = 0, i = 0;
  while (i + 8 * kWords <= n) {
    uint64_t sums[kWords] = {};
    for (const int64_t end = std::min(n, i + 8 * kWords * kMost) - 8 * kWords; i <= end; i += 8 * kWords)
      for (int64_t w = 0; w < kWords; w++) sums[w] += word_of(mask + i + 8 * w);
    for (const uint64_t sum : sums) total += int64_t((((sum & kLow) + (sum >> 8 & kLow)) * 0x0001000100010001u) >> 48);
  }
  for (; i < n; i++) total += mask[i];
  return total;
}

/// Any elements as bytes 0 and 1, block by block; a mask stays where it is.
template <class T>
const uint8_t* as_bytes(const T* in, int64_t n, uint8_t* buffer) {
  if constexpr (std::is_same_v<T, bool>) return reinterpret_cast<const uint8_t*>(in);
  for (int64_t i = 0; i < n; i++) buffer[i] = convert_element<bool>(in[i]);
  return buffer;
}

/// f(block, mask bytes, first element, elements) for every block, shared by threads.
template <class T, class F>
void for_blocks(const T* in, int64_t n, const F& f) {
  parallel_for((n + kMaskBlock - 1) / kMaskBlock, 2, [&](int64_t begin, int64_t end) {
    uint8_t buffer[std::is_same_v<T, bool> ? 1 : kMaskBlock];
    for (int64_t block = begin; block < end; block++) {
      const int64_t first = block * kMaskBlock, count = std::min(kMaskBlock, n - first);
      f(block, as_bytes(in + first, count, buffer), first, count);
    }
  });
}

/// How many are set before each block; the last item is the whole count.
template <class T>
std::vector<int64_t> counts_before(const T* in, int64_t n) {
  std::vector<int64_t> before(size_t((n + kMaskBlock - 1) / kMaskBlock) + 1, 0);
  for_blocks(in, n, [&](int64_t block, const uint8_t* mask, int64_t, int64_t count) {
    before[size_t(block) + 1] = count_set(mask, count);
  });
  for (size_t i = 1; i < before.size(); i++) before[i] += before[i - 1];
  return before;
}

/// The first place from i on, in steps of 32, behind which something is set or fewer are left.
inline int64_t pass_clear(const uint8_t* mask, int64_t i, int64_t n) {
  while (i + 32 <= n &&
         (word_of(mask + i) | word_of(mask + i + 8) | word_of(mask + i + 16) | word_of(mask + i + 24)) == 0)
    i += 32;
  return i;
}

/// take(k, i, set) for the k-th place i that is set, and inside of a word for the places between them too; k stays below
/// `count`, which is how many are set.
template <class Take>
void for_set(const uint8_t* mask, int64_t n, int64_t count, const Take& take) {
  int64_t k = 0, i = 0;
  for (; i + 8 <= n && k < count; i += 8) {
    uint64_t word = word_of(mask + i);
    if (word == 0) {
      i = pass_clear(mask, i + 8, n) - 8;
      continue;
    }
    const bool whole = k + 8 <= count;
    for (int64_t j = 0; j < 8; j++, word >>= 8) {
      if (whole || word & 1) take(k, i + j, word & 1);
      k += int64_t(word & 1);
    }
  }
  for (; i < n && k < count; i++)
    if (mask[i]) take(k++, i, true);
}

}  // namespace tessera::tensor::cpu
