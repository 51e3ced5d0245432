// Rows that a mask selects or replaces: single elements as they are found; of wider rows each first gets its number among those
// that are set.
#include "backends/cuda/compact.cuh"
#include "backends/cuda/errors.cuh"
#include "backends/cuda/index_nest.h"

namespace tessera::tensor::cuda {
namespace {

constexpr int kOfSource = 1;  // the `dim` of the fault, by which it is told in the words of masked_scatter

template <class Element>
__global__ void __launch_bounds__(kThreads)
    move_set(const uint8_t* mask, int64_t n, int64_t tiles, const int64_t* before, Element* self, Element* values,
             bool write, int64_t value_count, ErrorTarget errors) {
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x)
    for_set(mask, tile, n, ~uint64_t(0), before, [&](int64_t k, int64_t i) {
      if (k >= value_count) report(errors, ErrorWord::TakeIndex, kOfSource, k, value_count);
      else if (write) self[i] = values[k];
      else values[k] = self[i];
    });
}

__global__ void __launch_bounds__(kThreads)
    number_set(const uint8_t* mask, int64_t n, int64_t tiles, const int64_t* before, int64_t* numbers) {
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    unsigned found = set_in_tile(mask, tile * kTile, n, ~uint64_t(0));
    int total;
    int64_t k = before[tile] + sum_of_threads_before(__popc(found), total);
    const int64_t first = tile * kTile + int64_t(threadIdx.x) * kPerThread;
    for (int j = 0; j < kPerThread && first + j < n; j++) numbers[first + j] = found >> j & 1 ? k++ : -1;
  }
}

// Row i of self and row numbers[i] of values, where there is one.
void move_rows(const MaskRowsCall& c, const int64_t* numbers) {
  IndexCall call{};
  call.mode = c.write ? IndexCall::Mode::Read : IndexCall::Mode::Write;
  call.negative = IndexCall::Negative::Refuse;
  call.dtype = c.dtype;
  call.self = c.values;
  call.values = c.self;
  call.count = 1;
  call.index[0] = numbers;
  call.extent[0] = c.value_rows;
  call.step[0] = c.width;
  call.launch = c.launch;
  IndexNest nest;
  nest.indices = 1;
  nest.push({c.width, 1, 1, {0}});
  nest.push({c.rows, 0, c.width, {1}});
  move_by_index(call, nest, SkipNegative::Yes);
}

void mask_rows(const MaskRowsCall& c) {
  if (c.rows == 0 || c.width == 0) return;
  const Place place(c.launch);
  const int64_t tiles = tiles_of(c.rows);
  const Scratch before(c.launch, size_t(tiles) * sizeof(int64_t));
  const uint8_t* mask = reinterpret_cast<const uint8_t*>(c.mask);
  const Grid grid{blocks_of_tiles(c.rows), kThreads};
  count_before_tiles(c.launch, place, mask, c.rows, ~uint64_t(0), before.as<int64_t>());
  if (c.width == 1)
    return with_element(item_size(c.dtype), [&](auto tag) {
      using Element = typename decltype(tag)::type;
      launch<move_set<Element>>(place, grid, mask, c.rows, tiles, before.as<int64_t>(),
                                reinterpret_cast<Element*>(c.self), reinterpret_cast<Element*>(c.values), c.write,
                                c.value_rows, c.launch.errors);
    });
  const Scratch numbers(c.launch, size_t(c.rows) * sizeof(int64_t));
  launch<number_set>(place, grid, mask, c.rows, tiles, before.as<int64_t>(), numbers.as<int64_t>());
  move_rows(c, numbers.as<int64_t>());
}

const CudaKernel<MaskRowsCall> entry("mask_rows", mask_rows);

}  // namespace
}  // namespace tessera::tensor::cuda
