// Copies: elements of one dtype by their size, transposed ones through tiles in shared memory; other dtypes are converted
// (convert.cu).
#include "backends/cuda/convert.h"
#include "backends/cuda/raw_body.cuh"

namespace tessera::tensor::cuda {
namespace {

constexpr unsigned kTile = 32, kTileRows = 8;  // a warp reads and writes a tile's side, eight warps a tile
constexpr int64_t kShortSide = 8;              // below it most of a tile would be empty

/// The result runs along columns, the source along rows; further dimensions are walked by blocks.
struct Tiles {
  char* to;
  const char* from;
  uint32_t columns, rows;
  int32_t to_row, from_column;
  FastDivide<uint32_t> across, down;  // tiles
  int dims;
  FastDivide<uint32_t> sizes[kMaxNestDims];
  int32_t to_step[kMaxNestDims], from_step[kMaxNestDims];
};

template <class T>
__global__ void __launch_bounds__(kTile* kTileRows) transpose_tiles(const __grid_constant__ Tiles c) {
  TS_SHARED(T, tile, kTile * (kTile + 1));  // one more column: neighbours below each other lie in different banks
  const auto column_tile = c.across.divide(blockIdx.x);
  const auto row_tile = c.down.divide(column_tile.quotient);
  int32_t to_at = 0, from_at = 0;
  uint32_t rest = row_tile.quotient;
#pragma unroll 1
  for (int d = 0; d < c.dims; d++) {
    const auto place = c.sizes[d].divide(rest);
    to_at += int32_t(place.rest) * c.to_step[d];
    from_at += int32_t(place.rest) * c.from_step[d];
    rest = place.quotient;
  }
  const T* from = reinterpret_cast<const T*>(c.from) + from_at;
  T* to = reinterpret_cast<T*>(c.to) + to_at;
  const uint32_t first_column = column_tile.rest * kTile, first_row = row_tile.rest * kTile;
  const uint32_t x = threadIdx.x, y = threadIdx.y;
#pragma unroll
  for (uint32_t j = y; j < kTile; j += kTileRows) {
    const uint32_t column = first_column + j, row = first_row + x;
    if (column < c.columns && row < c.rows)
      tile[j * (kTile + 1) + x] = from[int32_t(row) + int32_t(column) * c.from_column];
  }
  __syncthreads();
#pragma unroll
  for (uint32_t j = y; j < kTile; j += kTileRows) {
    const uint32_t column = first_column + x, row = first_row + j;
    if (column < c.columns && row < c.rows) to[int32_t(row) * c.to_row + int32_t(column)] = tile[x * (kTile + 1) + j];
  }
}

// The dimension along which the source runs while the result runs along dimension 0; 0 if there is none worth a tile.
int tile_dimension(const Loop& loop) {
  const int64_t step = loop.strides[1][0];
  if (loop.strides[0][0] != 1 || step == 0 || step == 1 || step == -1 || loop.sizes[0] < kShortSide) return 0;
  for (int d = 1; d < loop.ndim; d++)
    if (loop.strides[1][d] == 1 && loop.sizes[d] >= kShortSide) return d;
  return 0;
}

void copy_tiles(const Loop& loop, int tiled, const Place& place) {
  Tiles c;
  c.to = loop.data[0];
  c.from = loop.data[1];
  c.columns = uint32_t(loop.sizes[0]);
  c.rows = uint32_t(loop.sizes[tiled]);
  c.to_row = int32_t(loop.strides[0][tiled]);
  c.from_column = int32_t(loop.strides[1][0]);
  const uint32_t across = (c.columns + kTile - 1) / kTile, down = (c.rows + kTile - 1) / kTile;
  c.across = FastDivide<uint32_t>(across);
  c.down = FastDivide<uint32_t>(down);
  c.dims = 0;
  uint32_t blocks = across * down;
  for (int d = 1; d < loop.ndim; d++) {
    if (d == tiled) continue;
    c.sizes[c.dims] = FastDivide<uint32_t>(uint32_t(loop.sizes[d]));
    c.to_step[c.dims] = int32_t(loop.strides[0][d]);
    c.from_step[c.dims++] = int32_t(loop.strides[1][d]);
    blocks *= uint32_t(loop.sizes[d]);
  }
  with_raw_type(loop.dtype[0], [&](auto tag) {
    launch<transpose_tiles<typename decltype(tag)::type>>(place, {blocks, dim3(kTile, kTileRows)}, c);
  });
}

// Elements move as what has their size.
void move(const Loop& loop, const Place& place) {
  with_raw_type(loop.dtype[0], [&](auto tag) {
    using Body = RawBody<typename decltype(tag)::type>;
    Operands<Body> operands{};
    operands.out[0] = loop.data[0];
    const Body body{};
    run_elementwise(place, loop, kKernels<Body>, &body, operands, {{1}});
  });
}

}  // namespace

void copy_elements(const Loop& loop, const Place& place) {
  if (loop.numel == 0) return;
  if (loop.dtype[0] != loop.dtype[1]) return convert_elements(loop, place);
  if (loop.ndim == 1 && loop.strides[0][0] == 1 && loop.strides[1][0] == 1)
    return check_call(cudaMemcpyAsync(loop.data[0], loop.data[1], size_t(loop.numel) * item_size(loop.dtype[0]),
                                      cudaMemcpyDeviceToDevice, place.stream()));
  if (tile_dimension(loop) == 0) return move(loop, place);
  const auto part_copy = [&](const Loop& part) {
    if (const int tiled = tile_dimension(part)) copy_tiles(part, tiled, place);
    else move(part, place);
  };
  if (is_one_part(loop)) part_copy(loop);
  else each_part(loop, part_copy);
}

namespace {

const CudaKernel<CopyCall> entry("copy_", [](const CopyCall& call) { copy_elements(call.loop, Place(call.launch)); });

}  // namespace
}  // namespace tessera::tensor::cuda
