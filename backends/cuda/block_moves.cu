// Blocks of elements put together: joined rows, edges around images, triangles.
#include "runtime/ops/block_moves.h"

#include "backends/cuda/compact.cuh"
#include "backends/cuda/divide.cuh"
#include "backends/cuda/index_nest.h"
#include "runtime/ops/triangles.h"

namespace tessera::tensor::cuda {
namespace {

// ---- joined rows ----

constexpr int kPartsAtOnce = 64;

struct JoinPlan {
  struct Part {
    const void* data;
    int64_t start;  // in a row of the result
    FastDivide<uint64_t> width;
  };
  Part parts[kPartsAtOnce];
  int64_t rows, width;
  void* out;
};

// A row of blocks for each part.
template <class Element>
__global__ void __launch_bounds__(kThreads) join_parts(const __grid_constant__ JoinPlan plan) {
  const JoinPlan::Part& part = plan.parts[blockIdx.y];
  const Element* from = static_cast<const Element*>(part.data);
  Element* to = static_cast<Element*>(plan.out) + part.start;
  const int64_t n = plan.rows * int64_t(part.width.divisor());
  each_in_grid(n, [&](int64_t i) {
    const auto [row, at] = part.width.divide(uint64_t(i));
    to[int64_t(row) * plan.width + int64_t(at)] = from[i];
  });
}

void join(const JoinCall& c) {
  const int64_t item = int64_t(item_size(c.dtype));
  int64_t width = 0;
  uint64_t all = uint64_t(uintptr_t(c.out));  // what must be a multiple of a wider element
  for (int64_t k = 0; k < c.count; k++) {
    width += c.widths[k];
    all |= uint64_t(c.widths[k] * item) | uint64_t(uintptr_t(c.parts[k]));
  }
  if (width == 0 || c.rows == 0) return;
  int64_t times = 1;
  while (item * times < 16 && all % uint64_t(item * times * 2) == 0) times *= 2;
  const Place place(c.launch);
  with_element(size_t(item * times), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    int64_t start = 0;
    for (int64_t first = 0; first < c.count; first += kPartsAtOnce) {
      JoinPlan plan{};
      plan.rows = c.rows, plan.width = width / times, plan.out = c.out;
      unsigned used = 0;
      int64_t widest = 0;
      for (int64_t k = first; k < c.count && k < first + kPartsAtOnce; k++) {
        if (c.widths[k] == 0) continue;
        const int64_t own = c.widths[k] / times;
        plan.parts[used++] = {c.parts[k], start, FastDivide<uint64_t>(uint64_t(own))};
        start += own;
        widest = own > widest ? own : widest;
      }
      if (used) launch<join_parts<Element>>(place, {{blocks_for(c.rows * widest, 2), used}, kThreads}, plan);
    }
  });
}

// ---- edges ----

// Lists of the host go to the device as parameters of small kernels: no copy from memory that the host may change, and no wait.
constexpr int kNumbers = 448;
struct Numbers {
  int64_t n, values[kNumbers];
};
__global__ void write_numbers(const __grid_constant__ Numbers numbers, int64_t* to) {
  for (int64_t i = threadIdx.x; i < numbers.n; i += blockDim.x) to[i] = numbers.values[i];
}
void to_device(const int64_t* values, int64_t n, const Place& place, int64_t* to) {
  for (int64_t first = 0; first < n; first += kNumbers) {
    Numbers some;
    some.n = n - first < kNumbers ? n - first : kNumbers;
    __builtin_memcpy(some.values, values + first, size_t(some.n) * sizeof(int64_t));
    launch<write_numbers>(place, {1, kThreads}, some, to + first);
  }
}

// As a read by one index for each dimension.
void pad_edges(const EdgePadCall& c) {
  int64_t total = 0;
  for (int d = 0; d < c.dims; d++) total += c.out_sizes[d];
  if (total == 0) return;
  const Place place(c.launch);
  const Scratch places(c.launch, size_t(total) * sizeof(int64_t));
  IndexCall call{};
  call.mode = IndexCall::Mode::Read;
  call.negative = IndexCall::Negative::Refuse;
  call.dtype = c.dtype;
  call.self = static_cast<char*>(const_cast<void*>(c.in));
  call.values = static_cast<char*>(c.out);
  call.count = c.dims;
  call.launch = c.launch;
  IndexNest nest;
  nest.indices = c.dims;
  int64_t in_step = 1, out_step = 1, at = 0;
  for (int d = c.dims - 1; d >= 0; d--) {
    int64_t* const list = places.as<int64_t>() + at;
    to_device(c.places[d], c.out_sizes[d], place, list);
    call.index[d] = list;
    call.extent[d] = c.in_sizes[d];
    call.step[d] = in_step;
    IndexLevel level{c.out_sizes[d], 0, out_step, {}};
    level.index[d] = 1;
    nest.push(level);
    at += c.out_sizes[d], in_step *= c.in_sizes[d], out_step *= c.out_sizes[d];
  }
  nest.push({c.batch, in_step, out_step, {}});
  move_by_index(call, nest, SkipNegative::No);
}

// ---- triangles ----

struct TrianglePlan {
  bool lower;
  int64_t diagonal;
  FastDivide<uint64_t> packs, rows;  // in a row, in a matrix
  int64_t n;
};

// kItems elements of one row; what is cut off whole is not read.
template <class Element, int kItems>
__global__ void __launch_bounds__(kThreads)
    cut_triangles(const __grid_constant__ TrianglePlan plan, const Element* in, Element* out) {
  struct alignas(sizeof(Element) * kItems) Pack {
    Element items[kItems];
  };
  each_in_grid(plan.n, [&](int64_t i) {
    const auto [line, pack] = plan.packs.divide(uint64_t(i));
    const int64_t row = int64_t(plan.rows.divide(line).rest), column = int64_t(pack) * kItems;
    // Of the lower triangle columns up to `last` stay, of the upper one those from it on.
    const int64_t last = row + plan.diagonal;
    Pack x{};
    if (plan.lower ? column <= last : column + kItems > last) x = reinterpret_cast<const Pack*>(in)[i];
#pragma unroll
    for (int k = 0; k < kItems; k++)
      if (plan.lower ? column + k > last : column + k < last) x.items[k] = Element{};
    reinterpret_cast<Pack*>(out)[i] = x;
  });
}

template <class Element, int kItems>
void launch_cut(const TriangleCall& c) {
  const int64_t packs = c.columns / kItems, n = c.matrices * c.rows * packs;
  const int64_t far = c.rows + c.columns;  // beyond it nothing changes, and sums stay in range
  const int64_t diagonal = c.diagonal > far ? far : c.diagonal < -far ? -far : c.diagonal;
  const TrianglePlan plan{c.lower, diagonal, FastDivide<uint64_t>(uint64_t(packs)),
                          FastDivide<uint64_t>(uint64_t(c.rows)), n};
  launch<cut_triangles<Element, kItems>>(Place(c.launch), {blocks_for(n, 1), kThreads}, plan,
                                         reinterpret_cast<const Element*>(c.in), reinterpret_cast<Element*>(c.out));
}

void cut(const TriangleCall& c) {
  if (c.matrices == 0 || c.rows == 0 || c.columns == 0) return;
  with_element(item_size(c.dtype), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    constexpr int kItems = int(16 / sizeof(Element));
    const bool wide = c.columns % kItems == 0 && (uintptr_t(c.in) | uintptr_t(c.out)) % 16 == 0;
    if (wide) launch_cut<Element, kItems>(c);
    else launch_cut<Element, 1>(c);
  });
}

const CudaKernel<JoinCall> join_entry("join", join);
const CudaKernel<EdgePadCall> pad_entry("edge_pad", pad_edges);
const CudaKernel<TriangleCall> triangle_entry("triangle", cut);

}  // namespace
}  // namespace tessera::tensor::cuda
