// Places among sorted edges, counts of small numbers, numbers of runs.
#include "backends/cuda/divide.cuh"
#include "backends/cuda/half.cuh"
#include "runtime/ops/block_moves.h"
#include "runtime/ops/sorting.h"

namespace tessera::tensor::cuda {
namespace {

// ---- places among edges ----

template <class Number, class Element>
__device__ inline Number number_of(const void* data, int64_t i) {
  return Number(static_cast<const Element*>(data)[i]);
}
/// Every dtype in numbers that order it: int64, float or double.
template <class Number>
__device__ inline Number number_at(const void* data, int64_t i, DType dtype) {
  if constexpr (std::is_same_v<Number, float>) {
    if (dtype == DType::Float16) return float(static_cast<const Float16*>(data)[i]);
    if (dtype == DType::BFloat16) return float(static_cast<const Brain16*>(data)[i]);
  } else if constexpr (std::is_same_v<Number, int64_t>) {
    switch (dtype) {
      case DType::Bool:
      case DType::UInt8: return number_of<Number, uint8_t>(data, i);
      case DType::Int8: return number_of<Number, int8_t>(data, i);
      case DType::Int16: return number_of<Number, int16_t>(data, i);
      case DType::Int32: return number_of<Number, int32_t>(data, i);
      default: break;
    }
  }
  return number_of<Number, Number>(data, i);
}

// What is no number lies above everything.
template <class Number>
__global__ void __launch_bounds__(kThreads) search(const SearchCall c, FastDivide<uint64_t> per_row) {
  const int64_t n = c.rows * c.per_row;
  each_in_grid(n, [&](int64_t i) {
    const int64_t row = int64_t(per_row.quotient(uint64_t(i))) * c.size;
    const Number x = number_at<Number>(c.values, i, c.dtype);
    int64_t low = 0, high = c.size;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const Number edge = number_at<Number>(c.edges, row + middle, c.dtype);
      if (c.right ? !(edge > x) : !(edge >= x)) low = middle + 1;
      else high = middle;
    }
    c.out[i] = low;
  });
}

void search_rows(const SearchCall& c) {
  const int64_t n = c.rows * c.per_row;
  if (n == 0) return;
  const Place place(c.launch);
  const Grid grid{blocks_for(n, 1), kThreads};
  const FastDivide<uint64_t> per_row{uint64_t(c.per_row)};
  if (!is_floating(c.dtype)) launch<search<int64_t>>(place, grid, c, per_row);
  else if (c.dtype == DType::Float64) launch<search<double>>(place, grid, c, per_row);
  else launch<search<float>>(place, grid, c, per_row);
}

// ---- counts ----

// Each block counts in its shared memory. Whole numbers: the order of the sums does not matter.
__global__ void __launch_bounds__(kThreads) count_small(const CountSmallCall c) {
  constexpr int kSmall = int(CountSmallCall::kSmall);
  TS_SHARED(unsigned, counts, kSmall + 1);
  for (int k = threadIdx.x; k <= kSmall; k += kThreads) counts[k] = 0;
  __syncthreads();
  each_in_grid(c.n, [&](int64_t i) {
    const uint64_t x = uint64_t(c.in[i]);
    atomicAdd(&counts[x < uint64_t(kSmall) ? int(x) : kSmall], 1u);
  });
  __syncthreads();
  for (int k = threadIdx.x; k <= kSmall; k += kThreads)
    if (counts[k] != 0) atomicAdd(reinterpret_cast<unsigned long long*>(c.out + k), (unsigned long long)counts[k]);
}

void count_small_numbers(const CountSmallCall& c) {
  if (c.n == 0) return;
  // Few blocks, as each ends with all the counts; of no more numbers each than a count of 32 bits holds.
  const int64_t blocks = (c.n + 32767) / 32768, least = c.n >> 31;
  launch<count_small>(Place(c.launch), {unsigned(blocks < 512 ? blocks : least > 512 ? least : 512), kThreads}, c);
}

// ---- runs ----

// A thread finds the run of some places in a row, and goes on from there. How many places there are is known on the device
// alone.
__global__ void __launch_bounds__(kThreads) number_places(const RunNumbersCall c) {
  constexpr int64_t kPer = 4;
  const int64_t total = c.ends[c.n - 1], step = int64_t(gridDim.x) * kThreads * kPer;
#pragma unroll 1
  for (int64_t first = (int64_t(blockIdx.x) * kThreads + threadIdx.x) * kPer; first < total; first += step) {
    int64_t low = 0, high = c.n;  // the first run that ends behind the place
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (c.ends[middle] <= first) low = middle + 1;
      else high = middle;
    }
    for (int64_t k = first; k < first + kPer && k < total; k++) {
      while (c.ends[low] <= k) low++;
      c.out[k] = low;
    }
  }
}

void number_runs(const RunNumbersCall& c) {
  if (c.n == 0) return;
  const int64_t blocks = c.n / 64 + 8;
  launch<number_places>(Place(c.launch), {unsigned(blocks < 1024 ? blocks : 1024), kThreads}, c);
}

const CudaKernel<SearchCall> search_entry("searchsorted", search_rows);
const CudaKernel<CountSmallCall> count_entry("count_small", count_small_numbers);
const CudaKernel<RunNumbersCall> runs_entry("run_numbers", number_runs);

}  // namespace
}  // namespace tessera::tensor::cuda
