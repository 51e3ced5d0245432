// Sorting of rows, stable, with the places that the elements came from. Elements become keys (order_key.cuh).
//
// Short rows are sorted in shared memory, several by one block: no two records of key and place are equal, so that Batcher's
// bitonic network sorts them stably. Longer rows go through CUB's radix sort, all rows at once: the row's number stands above
// the key, or, where a key fills all bits, is sorted by after it.
#include "backends/cuda/sort.h"

#include <bit>

#include "backends/cuda/divide.cuh"
#include "backends/cuda/order_key.cuh"
#include "backends/cuda/radix_sort.h"

namespace tessera::tensor::cuda {
namespace {

// ---- short rows ----

constexpr int kRecords = 2048;  // that a block has in shared memory

struct Short {
  RowSort s;
  uint64_t flip;
  int width;  // records of a row: a power of two
  int bytes;  // of an element
};

// Places stand beside keys of 64 bits, below those of 32.
template <bool kWide>
__device__ inline bool comes_after(const uint64_t* keys, const uint16_t* places, int a, int b) {
  if constexpr (kWide) return keys[a] > keys[b] || (keys[a] == keys[b] && places[a] > places[b]);
  return keys[a] > keys[b];
}

template <bool kWide>
__global__ void __launch_bounds__(kThreads) sort_short(const Short c) {
  TS_SHARED(uint64_t, keys, kRecords);
  TS_SHARED(uint16_t, places, kWide ? kRecords : 1);
  const int width = c.width, rows = kRecords / width, bytes = c.bytes;
  for (int64_t first = int64_t(blockIdx.x) * rows; first < c.s.rows; first += int64_t(gridDim.x) * rows) {
    const int used = int(c.s.rows - first < rows ? c.s.rows - first : rows) * width;
    for (int r = threadIdx.x; r < used; r += kThreads) {
      const int i = r & (width - 1);
      uint64_t key = ~uint64_t(0);  // behind everything, and by its place behind what has the largest key
      if (i < c.s.size) key = order_key<uint64_t>(c.s.in, (first + r / width) * c.s.size + i, c.s.dtype) ^ c.flip;
      if constexpr (kWide) keys[r] = key, places[r] = uint16_t(i);
      else keys[r] = key << 32 | uint64_t(i);
    }
    __syncthreads();
    for (int k = 2; k <= width; k *= 2) {
      for (int j = k / 2; j > 0; j /= 2) {
        for (int pair = threadIdx.x; pair < used / 2; pair += kThreads) {
          const int a = (pair & ~(j - 1)) * 2 | (pair & (j - 1)), b = a | j;
          const bool up = (a & (width - 1) & k) == 0;
          if (comes_after<kWide>(keys, places, a, b) == up) {
            const uint64_t key = keys[a];
            keys[a] = keys[b], keys[b] = key;
            if constexpr (kWide) {
              const uint16_t at = places[a];
              places[a] = places[b], places[b] = at;
            }
          }
        }
        __syncthreads();
      }
    }
    for (int r = threadIdx.x; r < used; r += kThreads) {
      const int i = r & (width - 1);
      if (i >= c.s.keep) continue;
      const int64_t row = first + r / width;
      const int64_t from = row * c.s.size + (kWide ? int64_t(places[r]) : int64_t(uint32_t(keys[r])));
      copy_element(c.s.out, row * c.s.keep + i, c.s.in, from, bytes);
      c.s.index[row * c.s.keep + i] = c.s.places ? c.s.places[from] : from - row * c.s.size;
    }
    __syncthreads();
  }
}

uint64_t flip_of(const RowSort& s) {
  return !s.descending ? 0 : key_bits(s.dtype) == 64 ? ~uint64_t(0) : (uint64_t(1) << key_bits(s.dtype)) - 1;
}

void sort_short_rows(const RowSort& s, const Place& place) {
  const Short c{s, flip_of(s), int(std::bit_ceil(uint64_t(s.size))), int(item_size(s.dtype))};
  const int64_t in_block = kRecords / c.width, blocks = (s.rows + in_block - 1) / in_block;
  const Grid grid{unsigned(blocks < 65535 ? blocks : 65535), kThreads};
  if (key_bits(s.dtype) == 64) launch<sort_short<true>>(place, grid, c);
  else launch<sort_short<false>>(place, grid, c);
}

// ---- long rows ----

// `above`: the row's number stands above the key, at this bit; 64: nowhere.
template <class Key>
__global__ void __launch_bounds__(kThreads)
    make_keys(const void* in, DType dtype, Key flip, int above, FastDivide<uint32_t> size, int64_t n, Key* keys,
              uint32_t* places) {
  each_in_grid(n, [&](int64_t i) {
    Key key = order_key<Key>(in, i, dtype) ^ flip;
    if constexpr (sizeof(Key) == 8)
      if (above < 64) key |= Key(size.quotient(uint32_t(i))) << above;
    keys[i] = key;
    places[i] = uint32_t(i);
  });
}

__global__ void __launch_bounds__(kThreads)
    row_keys(const uint32_t* places, FastDivide<uint32_t> size, int64_t n, uint32_t* rows, uint32_t* to) {
  each_in_grid(n, [&](int64_t i) {
    rows[i] = size.quotient(places[i]);
    to[i] = places[i];
  });
}

__global__ void __launch_bounds__(kThreads)
    take_sorted(const RowSort s, int bytes, FastDivide<uint32_t> keep, const uint32_t* sorted, int64_t n) {
  each_in_grid(n, [&](int64_t i) {
    const auto [row, at] = keep.divide(uint32_t(i));
    const int64_t start = int64_t(row) * s.size, from = sorted[start + at];
    copy_element(s.out, i, s.in, from, bytes);
    s.index[i] = s.places ? s.places[from] : from - start;
  });
}

template <class Key>
void fill_keys(const RowSort& s, const Place& place, const Pairs<Key>& pairs, int above) {
  launch<make_keys<Key>>(place, {blocks_for(pairs.size(), 1), kThreads}, s.in, s.dtype, Key(flip_of(s)), above,
                         FastDivide<uint32_t>(uint32_t(s.size)), pairs.size(), pairs.keys(), pairs.payload());
}

// Some rows of fewer than 2^31 elements in all.
void sort_long_rows(const RowSort& s, const Launch& at, const Place& place) {
  const int64_t n = s.rows * s.size;
  const int row_bits = std::bit_width(uint64_t(s.rows - 1)), bits = key_bits(s.dtype);
  const auto take = [&](const uint32_t* sorted) {
    launch<take_sorted>(place, {blocks_for(s.rows * s.keep, 1), kThreads}, s, int(item_size(s.dtype)),
                        FastDivide<uint32_t>(uint32_t(s.keep)), sorted, s.rows * s.keep);
  };
  if (bits + row_bits <= 32 && s.rows == 1) {
    Pairs<uint32_t> pairs(at, n);
    fill_keys(s, place, pairs, 64);
    pairs.sort(place, bits);
    return take(pairs.payload());
  }
  Pairs<uint64_t> pairs(at, n);
  fill_keys(s, place, pairs, bits < 64 ? bits : 64);
  pairs.sort(place, bits < 64 ? bits + row_bits : 64);
  if (bits < 64 || s.rows == 1) return take(pairs.payload());
  Pairs<uint32_t> by_row(at, n);
  launch<row_keys>(place, {blocks_for(n, 1), kThreads}, pairs.payload(), FastDivide<uint32_t>(uint32_t(s.size)), n,
                   by_row.keys(), by_row.payload());
  by_row.sort(place, row_bits);
  take(by_row.payload());
}

}  // namespace

void check_row_size(int64_t size) {
  if (size > INT32_MAX)
    fail_with(TensorErrorKind::Runtime, "The dimension being sorted can not have more than INT_MAX elements.");
}

void sort_rows(const RowSort& given, const Launch& at, const Place& place) {
  if (given.rows == 0 || given.size == 0 || given.keep == 0) return;
  check_row_size(given.size);
  if (given.size <= kRecords) return sort_short_rows(given, place);
  // As many rows at once as a key's place can number; their memory is that of a few elements each.
  const int64_t at_once = INT32_MAX / given.size, bytes = int64_t(item_size(given.dtype));
  for (int64_t first = 0; first < given.rows; first += at_once) {
    RowSort s = given;
    s.rows = given.rows - first < at_once ? given.rows - first : at_once;
    s.in = static_cast<const char*>(given.in) + first * given.size * bytes;
    s.out = static_cast<char*>(given.out) + first * given.keep * bytes;
    s.index = given.index + first * given.keep;
    if (given.places) s.places = given.places + first * given.size;
    sort_long_rows(s, at, place);
  }
}

namespace {

void sort(const SortCall& c) {
  sort_rows({c.dtype, c.in, c.out, c.index, c.rows, c.size, c.size, c.descending}, c.launch, Place(c.launch));
}

const CudaKernel<SortCall> entry("sort", sort);

}  // namespace
}  // namespace tessera::tensor::cuda
