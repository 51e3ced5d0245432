// The p-norms of the differences of rows: a block has a tile of pairs, a thread one of them. Pieces of the rows meet in shared
// memory; a pair's sum goes through its rows from first to last.
#include "backends/cuda/divide.cuh"
#include "runtime/ops/distances.h"

namespace tessera::tensor::cuda {
namespace {

constexpr int kSide = 16;            // pairs of a tile
constexpr int kPiece = 32;           // elements of a row that a tile has at a time
constexpr int kStride = kPiece + 1;  // of rows in shared memory: no two threads of a column meet in one bank

enum class Norm { Count, Sum, Euclid, Most, Power };

template <class T>
__device__ inline T met(Norm norm, T total, T difference, T p) {
  const T d = difference < T(0) ? -difference : difference;
  switch (norm) {
    case Norm::Count: return total + T(d != T(0));
    case Norm::Sum: return total + d;
    case Norm::Euclid: return total + d * d;
    case Norm::Most: return d > total || d != d ? d : total;
    case Norm::Power: return total + pow(d, p);
  }
  return total;
}

// Rows `first` ... of a piece that begins at column `start`; zeros behind the ends.
template <class T>
__device__ inline void load_rows(const T* rows, int64_t count, int64_t width, int64_t first, int64_t start, T* tile) {
  for (int i = threadIdx.x; i < kSide * kPiece; i += kSide * kSide) {
    const int64_t row = first + i / kPiece, column = start + i % kPiece;
    tile[i / kPiece * kStride + i % kPiece] = row < count && column < width ? rows[row * width + column] : T(0);
  }
}

struct DistancePlan {
  DistanceCall call;
  Norm norm;
  FastDivide<uint64_t> tiles_a, tiles_b;
  int64_t tiles;
};

template <class T>
__global__ void __launch_bounds__(kSide* kSide) measure_pairs(const DistancePlan plan) {
  TS_SHARED(T, tile_a, kSide * kStride);
  TS_SHARED(T, tile_b, kSide * kStride);
  const DistanceCall& c = plan.call;
  const bool own = c.b == nullptr;  // each row with each that comes after it
  const int64_t count = own ? c.rows_a : c.rows_b;
  const T p = T(c.p);
  for (int64_t tile = blockIdx.x; tile < plan.tiles; tile += gridDim.x) {
    const auto line = plan.tiles_b.divide(uint64_t(tile)), at_batch = plan.tiles_a.divide(line.quotient);
    const int64_t batch = int64_t(at_batch.quotient);
    const int64_t first_a = int64_t(at_batch.rest) * kSide, first_b = int64_t(line.rest) * kSide;
    if (own && first_b + kSide <= first_a) continue;  // the same for the whole block
    const T* a = static_cast<const T*>(c.a) + batch * c.rows_a * c.width;
    const T* b = own ? a : static_cast<const T*>(c.b) + batch * c.rows_b * c.width;
    const int row = int(threadIdx.x) / kSide, column = int(threadIdx.x) % kSide;
    T total = T(0);
    for (int64_t start = 0; start < c.width; start += kPiece) {
      load_rows(a, c.rows_a, c.width, first_a, start, tile_a);
      load_rows(b, count, c.width, first_b, start, tile_b);
      __syncthreads();
      const int piece = int(c.width - start < kPiece ? c.width - start : kPiece);
      for (int k = 0; k < piece; k++)
        total = met(plan.norm, total, tile_a[row * kStride + k] - tile_b[column * kStride + k], p);
      __syncthreads();
    }
    if (plan.norm == Norm::Euclid) total = sqrt(total);
    else if (plan.norm == Norm::Power) total = pow(total, T(1) / p);
    const int64_t i = first_a + row, j = first_b + column;
    if (i >= c.rows_a || j >= count || (own && j <= i)) continue;
    const int64_t at = own ? i * count - (i + 1) * (i + 2) / 2 + j : (batch * c.rows_a + i) * count + j;
    static_cast<T*>(c.out)[at] = total;
  }
}

Norm norm_of(double p) {
  return p == 0 ? Norm::Count : p == 1 ? Norm::Sum : p == 2 ? Norm::Euclid : p - p != 0 ? Norm::Most : Norm::Power;
}

void measure(const DistanceCall& c) {
  const int64_t count = c.b ? c.rows_b : c.rows_a;
  const int64_t tiles_a = (c.rows_a + kSide - 1) / kSide, tiles_b = (count + kSide - 1) / kSide;
  if (c.batches * tiles_a * tiles_b == 0) return;
  const DistancePlan plan{c, norm_of(c.p), FastDivide<uint64_t>(uint64_t(tiles_a)),
                          FastDivide<uint64_t>(uint64_t(tiles_b)), c.batches * tiles_a * tiles_b};
  const Grid grid{unsigned(plan.tiles < 65535 ? plan.tiles : 65535), kSide * kSide};
  if (c.dtype == DType::Float64) launch<measure_pairs<double>>(Place(c.launch), grid, plan);
  else launch<measure_pairs<float>>(Place(c.launch), grid, plan);
}

const CudaKernel<DistanceCall> entry("distance", measure);

}  // namespace
}  // namespace tessera::tensor::cuda
