// Threads of a block that share a line of elements, and how what each has found is combined: in a fixed order (a tree within
// a warp, then warp after warp), so that a result has the same bits in every run and in every thread.
#pragma once

#include "backends/cuda/launch.cuh"

namespace tessera::tensor::cuda {

inline constexpr int kMaxTeam = 512;  // threads of a block: with more, kernels over lines would have too few registers

namespace warp {

/// f on each 32-bit word of a value: exchanges know 4 and 8 bytes.
template <class T, class F>
__device__ T by_words(T x, const F& f) {
  static_assert(sizeof(T) % 4 == 0 && std::is_trivially_copyable_v<T>);
  unsigned words[sizeof(T) / 4];
  memcpy(words, &x, sizeof x);
#pragma unroll
  for (unsigned& word : words) word = f(word);
  memcpy(&x, words, sizeof x);
  return x;
}
template <class T>
__device__ T across(T x, int lanes) {
  return by_words(x, [&](unsigned word) { return __shfl_xor_sync(0xffffffffu, word, lanes); });
}
template <class T>
__device__ T from_below(T x, int lanes, int width) {
  return by_words(x, [&](unsigned word) { return __shfl_up_sync(0xffffffffu, word, unsigned(lanes), width); });
}
template <class T>
__device__ T from_lane(T x, int lane, int width) {
  return by_words(x, [&](unsigned word) { return __shfl_sync(0xffffffffu, word, lane, width); });
}

}  // namespace warp

/// As the host cuts a block of threads. A row's threads stand side by side. Columns stand side by side, each thread of one
/// in another row of threads.
struct TeamShape {
  int size = 32;      // threads a line; a power of two
  int columns = 0;    // lines side by side, a power of two; 0: rows
  int threads = 256;  // of a block

  int teams() const { return threads / size; }
};

/// A thread's place in its team. Every thread of the block has to take part in what it does.
class Team {
 public:
  int rank, size;     // number in the team
  int number, teams;  // the team's number in the block

  __device__ explicit Team(const TeamShape& shape) {
    const int thread = int(threadIdx.x);
    size = shape.size;
    teams = shape.threads / shape.size;
    if (shape.columns == 0) {
      rank = thread & (size - 1);
      number = thread / size;
      nearest_ = 1;
      farthest_ = size < 32 ? size / 2 : 16;
      first_ = thread - rank;
      step_ = 32;
      count_ = size / 32;
    } else {
      number = thread & (shape.columns - 1);
      rank = thread / shape.columns;
      nearest_ = shape.columns;
      farthest_ = 16;
      const bool several = shape.columns < 32;  // threads of a column in a warp
      first_ = several ? thread & 31 : number;
      step_ = several ? 32 : shape.columns;
      count_ = several ? shape.threads / 32 : size;
    }
  }

  /// f(... f(f(x of thread 0, x of thread 1), ...), the same in all threads of the team. f need not be commutative.
  template <class T, class F>
  __device__ T combine(T x, const F& f) const {
    const int thread = int(threadIdx.x);
    for (int lanes = nearest_; lanes <= farthest_; lanes *= 2) {
      const T other = warp::across(x, lanes);
      x = thread & lanes ? f(other, x) : f(x, other);
    }
    if (count_ <= 1) return x;
    T* const slots = shared_slots<T>();
    slots[thread] = x;
    __syncthreads();
    x = slots[first_];
    for (int k = 1; k < count_; k++) x = f(x, slots[first_ + k * step_]);
    __syncthreads();  // before the next one uses the memory again
    return x;
  }

  /// Of a row's threads: what those before this one have, `start` in the first; `total` is that of all.
  template <class T, class F>
  __device__ T before(T x, T start, T& total, const F& f) const {
    const int thread = int(threadIdx.x), width = size < 32 ? size : 32, lane = rank & (width - 1);
    for (int lanes = 1; lanes < width; lanes *= 2) {
      const T below = warp::from_below(x, lanes, width);
      if (lane >= lanes) x = f(below, x);
    }
    T mine = warp::from_below(x, 1, width);
    if (lane == 0) mine = start;
    if (count_ <= 1) {
      total = warp::from_lane(x, width - 1, width);
      return mine;
    }
    T* const slots = shared_slots<T>();
    if (lane == 31) slots[thread / 32] = x;
    __syncthreads();
    T sum = start, here = start;
    for (int k = 0; k < count_; k++) {
      if (k == rank / 32) here = sum;
      sum = f(sum, slots[first_ / 32 + k]);
    }
    __syncthreads();
    total = sum;
    return f(here, mine);
  }

 private:
  template <class T>
  static __device__ T* shared_slots() {
    TS_SHARED(T, slots, kMaxTeam);
    return slots;
  }

  int nearest_, farthest_;    // lanes of a warp that belong to the team differ in these bits
  int first_, step_, count_;  // whose values hold all the others
};

/// The power of two that is not below n, within limits.
inline int power_of_two(int64_t n, int least, int most) {
  int power = least;
  while (power < n && power < most) power *= 2;
  return power;
}

}  // namespace tessera::tensor::cuda
