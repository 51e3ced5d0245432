// Where tensors are not zero: the count, and the coordinates. The count has to reach the host before the places have memory;
// that is the caller's one synchronisation, and PyTorch's.
#include "backends/cuda/compact.cuh"
#include "backends/cuda/index_plan.cuh"

namespace tessera::tensor::cuda {
namespace {

// Whole numbers: the order of the atomic sums does not matter.
template <class Element>
__global__ void __launch_bounds__(kThreads)
    count_set(const Element* in, int64_t n, uint64_t bits, int64_t tiles, unsigned long long* count) {
  int64_t mine = 0;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x)
    mine += __popc(set_in_tile(in, tile * kTile, n, bits));
  const int64_t all = block_sum(mine);
  if (threadIdx.x == 0 && all != 0) atomicAdd(count, (unsigned long long)all);
}

void count_nonzero(const CountNonzeroCall& c) {
  const Place place(c.launch);
  check_call(cudaMemsetAsync(c.count, 0, sizeof(int64_t), place.stream()));
  if (c.n == 0) return;
  const unsigned blocks = blocks_of_tiles(c.n) < 1024 ? blocks_of_tiles(c.n) : 1024;
  with_element(item_size(c.dtype), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    launch<count_set<Element>>(place, {blocks, kThreads}, static_cast<const Element*>(c.in), c.n,
                               bits_that_count(c.dtype), tiles_of(c.n), reinterpret_cast<unsigned long long*>(c.count));
  });
}

template <class Element>
__global__ void __launch_bounds__(kThreads)
    write_set(const Element* in, int64_t n, uint64_t bits, int64_t tiles, const int64_t* before, int64_t* out) {
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x)
    for_set(in, tile, n, bits, before, [&](int64_t k, int64_t i) { out[k] = i; });
}

struct Columns {
  PlaceDims<uint64_t> dims;  // the last dimension first
  int64_t count;
  int64_t* out;
};

// The last column has the elements' numbers, and becomes the last coordinate.
__global__ void __launch_bounds__(kThreads) write_coordinates(const __grid_constant__ Columns c) {
  each_in_grid(c.count, [&](int64_t k) {
    const uint64_t number = uint64_t(c.out[(c.dims.count - 1) * c.count + k]);
    c.dims.each(number,
                [&](int d, uint64_t coordinate) { c.out[(c.dims.count - 1 - d) * c.count + k] = int64_t(coordinate); });
  });
}

// Coordinates of more dimensions than fit into a kernel's parameters.
void refuse_dims() {
  fail_with(TensorErrorKind::Runtime, "nonzero of more than 16 dimensions is not supported on CUDA");
}

void find_nonzero(const NonzeroCall& c) {
  if (c.ndim == 0 || c.count == 0) return;
  if (c.ndim > kMaxNestDims) refuse_dims();
  int64_t n = 1;
  for (int d = 0; d < c.ndim; d++) n *= c.sizes[d];
  const Place place(c.launch);
  const Scratch before(c.launch, size_t(tiles_of(n)) * sizeof(int64_t));
  int64_t* const last = c.out + (c.ndim - 1) * c.count;
  with_element(item_size(c.dtype), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const Element* in = static_cast<const Element*>(c.in);
    const uint64_t bits = bits_that_count(c.dtype);
    count_before_tiles(c.launch, place, in, n, bits, before.as<int64_t>());
    launch<write_set<Element>>(place, {blocks_of_tiles(n), kThreads}, in, n, bits, tiles_of(n), before.as<int64_t>(),
                               last);
  });
  if (c.ndim == 1) return;
  Columns columns{{}, c.count, c.out};
  for (int d = c.ndim - 1; d >= 0; d--) columns.dims.push(c.sizes[d]);
  launch<write_coordinates>(place, {blocks_for(c.count, 1), kThreads}, columns);
}

const CudaKernel<CountNonzeroCall> count_entry("count_nonzero", count_nonzero);
const CudaKernel<NonzeroCall> nonzero_entry("nonzero", find_nonzero);

}  // namespace
}  // namespace tessera::tensor::cuda
