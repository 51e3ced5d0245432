// Copies on the host, converting where the types differ.
//
// Three shapes of one loop nest. A tile, where the result runs along one dimension and the source along another: squares
// go through registers (transpose.h). Rows, where both run along the innermost dimension or one of them has to jump. And
// short rows (three colours, pairs), where the two innermost loops change places so that the long one is inside.
#include <cstring>

#include "runtime/device/backend.h"
#include "backends/cpu/convert.h"
#include "backends/cpu/threads.h"
#include "backends/cpu/transpose.h"
#include "backends/cpu/walk.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kGrain = 32768;
constexpr int64_t kManyStrips = 16;  // enough for the threads
constexpr int64_t kShortRow = 16;    // below it the call for each row would cost more than the row
constexpr int64_t kShortBlock =
    512;  // rows that are gone through at once when loops change places: they stay in the cache

// The dimension along which the source runs while the result runs along dimension 0; 0 if there is none worth a tile.
int tile_dimension(const Loop& loop) {
  const int64_t step = loop.strides[1][0];
  if (loop.strides[0][0] != 1 || step == 0 || step == 1 || step == -1 || loop.sizes[0] < 8) return 0;
  for (int d = 1; d < loop.ndim; d++)
    if (loop.strides[1][d] == 1 && loop.sizes[d] >= 8) return d;
  return 0;
}

// The loop nest without dimensions 0 and `tiled`, and in their place one step for each strip of rows of the result.
void copy_tiles(const Loop& loop, int tiled) {
  const Transposer transpose(loop.dtype[0], loop.dtype[1]);
  const int64_t side = transpose.side(), strips = (loop.sizes[tiled] + side - 1) / side,
                items = loop.numel / (loop.sizes[0] * loop.sizes[tiled]) * strips;
  const int64_t to_size = int64_t(item_size(loop.dtype[0])), from_size = int64_t(item_size(loop.dtype[1]));
  // Where strips are few their columns are shared too.
  const int64_t columns = items >= kManyStrips ? loop.sizes[0] : std::max<int64_t>(1, kGrain / (side * side)) * side,
                cuts = (loop.sizes[0] + columns - 1) / columns;
  const int64_t grain = std::max<int64_t>(1, kGrain / (std::min(columns, loop.sizes[0]) * side));
  parallel_for(items * cuts, grain, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; piece++) {
      const int64_t item = piece / cuts, column = piece % cuts * columns;
      int64_t rest = item / strips;
      const int64_t row = item % strips * side;
      int64_t to = row * loop.strides[0][tiled] + column, from = row + column * loop.strides[1][0];
      for (int d = 1; d < loop.ndim; d++) {
        if (d == tiled) continue;
        to += rest % loop.sizes[d] * loop.strides[0][d];
        from += rest % loop.sizes[d] * loop.strides[1][d];
        rest /= loop.sizes[d];
      }
      transpose({loop.data[0] + to * to_size, loop.strides[0][tiled], loop.data[1] + from * from_size,
                 loop.strides[1][0], std::min(columns, loop.sizes[0] - column),
                 std::min(side, loop.sizes[tiled] - row)});
    }
  });
}

void copy_run(const Loop& loop, ConvertRun run) {
  const int64_t to_step = loop.strides[0][0], from_step = loop.strides[1][0];
  const int64_t to_size = int64_t(item_size(loop.dtype[0])), from_size = int64_t(item_size(loop.dtype[1]));
  parallel_for(loop.numel, kGrain, [&](int64_t begin, int64_t end) {
    run(loop.data[0] + begin * to_step * to_size, to_step, loop.data[1] + begin * from_step * from_size, from_step,
        end - begin);
  });
}

// The loop nest of whole rows: dimension 0 left out.
void leave_out_rows(const Loop& loop, Loop& rows) {
  rows.operands = loop.operands;
  rows.ndim = loop.ndim - 1;
  rows.numel = loop.numel / loop.sizes[0];
  for (int k = 0; k < loop.operands; k++) {
    rows.data[k] = loop.data[k], rows.dtype[k] = loop.dtype[k];
    std::copy_n(loop.strides[k] + 1, rows.ndim, rows.strides[k]);
  }
  std::copy_n(loop.sizes + 1, rows.ndim, rows.sizes);
}

void copy_rows(const Loop& loop, ConvertRun run) {
  Loop rows;
  leave_out_rows(loop, rows);
  const int64_t width = loop.sizes[0], to_size = int64_t(item_size(loop.dtype[0])),
                from_size = int64_t(item_size(loop.dtype[1]));
  const int64_t to_step = loop.strides[0][0], from_step = loop.strides[1][0], to_row = rows.strides[0][0],
                from_row = rows.strides[1][0];
  const bool plain = loop.dtype[0] == loop.dtype[1] && to_step == 1 && from_step == 1;
  const auto block = [&](char* to, const char* from, int64_t n) {
    if (plain)
      for (int64_t i = 0; i < n; i++)
        std::memcpy(to + i * to_row * to_size, from + i * from_row * from_size, size_t(width * to_size));
    else
      for (int64_t i = 0; i < n; i++)
        run(to + i * to_row * to_size, to_step, from + i * from_row * from_size, from_step, width);
  };
  const auto block_by_columns = [&](char* to, const char* from, int64_t n) {
    for (int64_t i = 0; i < n; i += kShortBlock)
      for (int64_t j = 0; j < width; j++)
        run(to + (i * to_row + j * to_step) * to_size, to_row, from + (i * from_row + j * from_step) * from_size,
            from_row, std::min(kShortBlock, n - i));
  };
  parallel_for(rows.numel, std::max<int64_t>(1, kGrain / width), [&](int64_t begin, int64_t end) {
    Walker w(rows, begin);
    while (begin < end) {
      const int64_t n = std::min(end - begin, w.row_left());
      if (width < kShortRow && n > width) block_by_columns(w.at(0), w.at(1), n);
      else block(w.at(0), w.at(1), n);
      w.advance(n);
      begin += n;
    }
  });
}

void copy(const CopyCall& call) {
  const Loop& loop = call.loop;
  if (const int tiled = tile_dimension(loop)) return copy_tiles(loop, tiled);
  const ConvertRun run = converter(loop.dtype[0], loop.dtype[1]);
  if (loop.ndim == 1) copy_run(loop, run);
  else copy_rows(loop, run);
}

const KernelRegistration copy_registration{copy_kernel, DeviceType::Cpu, &copy};

}  // namespace
}  // namespace tessera::tensor::cpu
