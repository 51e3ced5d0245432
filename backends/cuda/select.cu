// The n-th element of each row, and the first k of each row.
//
// A block narrows its row's key down by eight bits at a time, by counting; then it looks for the elements that have the key.
// Few long rows are sorted instead: a block alone would take longer. In short rows each element is a thread's. Of equal elements the ones that come first are taken,
// in order.
#include "backends/cuda/block_sum.cuh"
#include "backends/cuda/divide.cuh"
#include "backends/cuda/order_key.cuh"
#include "backends/cuda/radix_sort.h"
#include "backends/cuda/sort.h"

namespace tessera::tensor::cuda {
namespace {

constexpr int64_t kShortRow = 32;  // a block would wait more than it counts
constexpr int kDigits = 256;
static_assert(kDigits == kThreads, "a thread for each digit");

bool is_worth_sorting(int64_t rows, int64_t size) { return size > 65536 && rows < 32; }

/// A row of keys, as all threads of a block go through it.
struct KeyRow {
  const void* in;
  DType dtype;
  int64_t start, size;
  uint64_t flip;

  __device__ uint64_t operator[](int64_t i) const { return order_key<uint64_t>(in, start + i, dtype) ^ flip; }
};

struct NthKey {
  uint64_t key;
  int64_t which, equal;  // of those that equal it, and how many they are
};

/// The key that stands at place nth in order. All threads of the block get it.
__device__ inline NthKey nth_key(const KeyRow& row, int bits, int64_t nth) {
  TS_SHARED(unsigned, counts, kDigits);
  TS_SHARED(int64_t, found, 3);
  uint64_t prefix = 0;
  int64_t equal = row.size;
  for (int shift = bits - 8; shift >= 0; shift -= 8) {
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < row.size; i += kThreads) {
      const uint64_t key = row[i];
      if (shift + 8 == bits || key >> (shift + 8) == prefix) atomicAdd(&counts[(key >> shift) & (kDigits - 1)], 1u);
    }
    __syncthreads();
    const int64_t mine = counts[threadIdx.x];
    int64_t all;
    const int64_t before = sum_of_threads_before(mine, all);
    if (before <= nth && nth < before + mine) found[0] = threadIdx.x, found[1] = before, found[2] = mine;
    __syncthreads();
    prefix = prefix << 8 | uint64_t(found[0]);
    nth -= found[1];
    equal = found[2];
    __syncthreads();
  }
  return {prefix, nth, equal};
}

/// The place of the which-th element that has the key. All threads of the block get it.
__device__ inline int64_t occurrence(const KeyRow& row, uint64_t key, int64_t which) {
  TS_SHARED(int64_t, place, 1);
  for (int64_t first = 0;; first += kThreads) {
    const int64_t i = first + threadIdx.x;
    const int hit = i < row.size && row[i] == key;
    int all;
    const int before = sum_of_threads_before(hit, all);
    if (hit && before == which) *place = i;
    if (which < all || first + kThreads >= row.size) break;
    which -= all;
  }
  __syncthreads();
  const int64_t found = *place;
  __syncthreads();
  return found;
}

// ---- one element of each row ----

__global__ void __launch_bounds__(kThreads) select_in_blocks(const SelectCall c, int bits, uint64_t nan_key) {
  for (int64_t r = blockIdx.x; r < c.rows; r += gridDim.x) {
    const KeyRow row{c.in, c.dtype, r * c.size, c.size, 0};
    bool broken = false;
    if (c.rule == SelectCall::Rule::Median && nan_key != 0)
      for (int64_t i = threadIdx.x; i < c.size; i += kThreads) broken |= row[i] == nan_key;
    NthKey nth{nan_key, 0, 2};
    if (!__syncthreads_or(broken)) nth = nth_key(row, bits, c.nth);
    const int64_t place = occurrence(row, nth.key, nth.which);
    if (threadIdx.x != 0) continue;
    c.index[r] = place;
    copy_element(c.out, r, c.in, row.start + place, bits / 8);
  }
}

// Short rows: a thread for each element counts how many stand before it.
__global__ void __launch_bounds__(kThreads)
    select_by_rank(const SelectCall c, const __grid_constant__ FastDivide<uint64_t> by_size, int bytes,
                   uint64_t nan_key) {
  const int64_t n = c.rows * c.size, step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t e = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; e < n; e += step) {
    const auto [row, place] = by_size.divide(uint64_t(e));
    const int64_t start = e - int64_t(place);
    const uint64_t key = order_key<uint64_t>(c.in, e, c.dtype);
    int before = 0, nan_before = 0, nans = 0;
    for (int i = 0; i < int(c.size); i++) {
      const uint64_t other = order_key<uint64_t>(c.in, start + i, c.dtype);
      const bool is_nan = nan_key != 0 && other == nan_key, earlier = i < int(place);
      before += other < key || (other == key && earlier);
      nans += is_nan, nan_before += is_nan && earlier;
    }
    const bool first_nan = key == nan_key && nan_before == 0;
    if (c.rule == SelectCall::Rule::Median && nans > 0 ? !first_nan : before != c.nth) continue;
    c.index[row] = int64_t(place);
    copy_element(c.out, int64_t(row), c.in, e, bytes);
  }
}

// Of one sorted row; a median is the first NaN if there is one.
__global__ void pick_sorted(const SelectCall c, int bytes, const void* sorted, const int64_t* places,
                            uint64_t nan_key) {
  int64_t at = c.nth;
  if (c.rule == SelectCall::Rule::Median && nan_key != 0 &&
      order_key<uint64_t>(sorted, c.size - 1, c.dtype) == nan_key) {
    int64_t low = 0, high = c.size - 1;  // NaN stands at high
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (order_key<uint64_t>(sorted, middle, c.dtype) == nan_key) high = middle;
      else low = middle + 1;
    }
    at = low;
  }
  *c.index = places[at];
  copy_element(c.out, 0, sorted, at, bytes);
}

void select_by_sorting(const SelectCall& c, const Place& place, uint64_t nan_key) {
  const size_t bytes = item_size(c.dtype);
  const Scratch sorted(c.launch, size_t(c.size) * bytes), places(c.launch, size_t(c.size) * sizeof(int64_t));
  for (int64_t r = 0; r < c.rows; r++) {
    SelectCall one = c;
    one.in = static_cast<const char*>(c.in) + r * c.size * int64_t(bytes);
    one.out = static_cast<char*>(c.out) + r * int64_t(bytes);
    one.index = c.index + r;
    sort_rows({c.dtype, one.in, sorted.get(), places.as<int64_t>(), 1, c.size, c.size, false}, c.launch, place);
    launch<pick_sorted>(place, {1, 1}, one, int(bytes), sorted.get(), places.as<int64_t>(), nan_key);
  }
}

void select(const SelectCall& c) {
  if (c.rows == 0) return;
  check_row_size(c.size);
  const Place place(c.launch);
  const int bits = key_bits(c.dtype);
  const uint64_t nan_key = !is_floating(c.dtype) ? 0 : bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  if (c.size <= kShortRow)
    return launch<select_by_rank>(place, {blocks_for(c.rows * c.size, 1), kThreads}, c,
                                  FastDivide<uint64_t>(uint64_t(c.size)), bits / 8, nan_key);
  if (is_worth_sorting(c.rows, c.size)) return select_by_sorting(c, place, nan_key);
  launch<select_in_blocks>(place, {unsigned(c.rows < 65535 ? c.rows : 65535), kThreads}, c, bits, nan_key);
}

// ---- the first k of each row ----

// In the order of the row: what is better than the k-th, and of its equals as many as there is room for.
__global__ void __launch_bounds__(kThreads)
    topk_in_blocks(const TopkCall c, int bits, uint64_t flip, void* out, int64_t* index) {
  const int bytes = bits / 8;
  for (int64_t r = blockIdx.x; r < c.rows; r += gridDim.x) {
    const KeyRow row{c.in, c.dtype, r * c.size, c.size, flip};
    const NthKey kth = nth_key(row, bits, c.k - 1);
    const int64_t equals = kth.which + 1;  // that are taken
    int64_t better_before = 0, equal_before = 0;
    for (int64_t first = 0; first < c.size && better_before + equal_before < c.k; first += kThreads) {
      const int64_t i = first + threadIdx.x;
      const uint64_t key = i < c.size ? row[i] : ~uint64_t(0);
      const bool better = i < c.size && key < kth.key, equal = i < c.size && key == kth.key;
      int all;  // both counts in one number
      const int before = sum_of_threads_before(int(better) | int(equal) << 16, all);
      const int64_t equal_here = equal_before + (before >> 16);
      if (better || (equal && equal_here < equals)) {
        const int64_t to = r * c.k + better_before + (before & 0xffff) + (equal_here < equals ? equal_here : equals);
        index[to] = i;
        copy_element(out, to, c.in, row.start + i, bytes);
      }
      better_before += all & 0xffff;
      equal_before += all >> 16;
      if (equal_before > equals) equal_before = equals;
    }
    __syncthreads();
  }
}

void topk(const TopkCall& c) {
  if (c.rows == 0 || c.k == 0) return;
  check_row_size(c.size);
  const Place place(c.launch);
  constexpr int64_t kShort = 2048;  // rows that a block sorts at once
  if (c.size <= kShort || is_worth_sorting(c.rows, c.size) || c.k == c.size)
    return sort_rows({c.dtype, c.in, c.out, c.index, c.rows, c.size, c.k, c.largest}, c.launch, place);
  const int bits = key_bits(c.dtype);
  const uint64_t flip = !c.largest ? 0 : bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  const Grid grid{unsigned(c.rows < 65535 ? c.rows : 65535), kThreads};
  if (!c.sorted) return launch<topk_in_blocks>(place, grid, c, bits, flip, c.out, c.index);
  const size_t found = size_t(c.rows * c.k);
  const Scratch best(c.launch, found * item_size(c.dtype)), places(c.launch, found * sizeof(int64_t));
  launch<topk_in_blocks>(place, grid, c, bits, flip, best.get(), places.as<int64_t>());
  sort_rows({c.dtype, best.get(), c.out, c.index, c.rows, c.k, c.k, c.largest, places.as<int64_t>()}, c.launch, place);
}

// ---- the most frequent element of each sorted row ----

// Each end of a run looks for its begin; the longest run wins, the first of several. No NaN equals another.
__global__ void __launch_bounds__(kThreads) longest_runs(const ModeCall c, uint64_t nan_key) {
  TS_SHARED(int64_t, lengths, kThreads);
  TS_SHARED(int64_t, ends, kThreads);
  for (int64_t r = blockIdx.x; r < c.rows; r += gridDim.x) {
    const KeyRow row{c.sorted, c.dtype, r * c.size, c.size, 0};
    int64_t length = 0, end = 0;
    for (int64_t i = threadIdx.x; i < c.size; i += kThreads) {
      const uint64_t key = row[i];
      const bool alone = nan_key != 0 && key == nan_key;
      if (!alone && i + 1 < c.size && row[i + 1] == key) continue;
      int64_t low = alone ? i : 0, high = i;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (row[middle] < key) low = middle + 1;
        else high = middle;
      }
      if (i - low + 1 > length) length = i - low + 1, end = i;
    }
    lengths[threadIdx.x] = length, ends[threadIdx.x] = end;
    __syncthreads();
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) {
        const int64_t other = lengths[threadIdx.x + half], other_end = ends[threadIdx.x + half];
        if (other > length || (other == length && other_end < end)) {
          length = other, end = other_end;
          lengths[threadIdx.x] = length, ends[threadIdx.x] = end;
        }
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) c.place[r] = end;
    __syncthreads();
  }
}

void mode(const ModeCall& c) {
  if (c.rows == 0) return;
  const int bits = key_bits(c.dtype);
  const uint64_t nan_key = !is_floating(c.dtype) ? 0 : bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  launch<longest_runs>(Place(c.launch), {unsigned(c.rows < 65535 ? c.rows : 65535), kThreads}, c, nan_key);
}

const CudaKernel<TopkCall> topk_entry("topk", topk);
const CudaKernel<SelectCall> select_entry("select", select);
const CudaKernel<ModeCall> mode_entry("mode", mode);

}  // namespace
}  // namespace tessera::tensor::cuda
