// In which order a convolution adds up the products of a place: as oneDNN's direct convolution does on processors with
// AVX-512, so that the sums have the bits that PyTorch prints (found by experiment against PyTorch 2.15). Sixteen channels at a
// time are summed from zero, tap by tap and in each channel by channel; to the bias these sums are added one after the other.
// A single small image is what PyTorch gives to a matrix product: channel by channel, in each tap by tap (gemm_order.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/cpu/conv_lines.h"
#include "runtime/ops/conv.h"
#include "runtime/pieces.h"

namespace tessera::tensor::cpu {

inline constexpr int64_t kChannelsAtOnce = 16;

/// Whether PyTorch would not ask oneDNN.
inline bool is_by_product(const ConvCall& c) {
  const bool large_kernel = c.window.kernel[0] > 3 && c.window.kernel[1] > 3;
  return c.groups == 1 && c.batch == 1 && !large_kernel && c.channels * c.height * c.width <= 20480;
}

/// The row of the im2col matrix, in this order, that a tap of a channel is.
struct TapOrder {
  int64_t channels, taps;
  bool by_channels = false;  // as a product: all channels are one block, and in each the taps follow each other

  int64_t at_once() const { return by_channels ? channels : kChannelsAtOnce; }
  int64_t blocks() const { return (channels + at_once() - 1) / at_once(); }
  int64_t channels_of(int64_t block) const { return std::min(at_once(), channels - block * at_once()); }
  int64_t first_row(int64_t block) const { return block * at_once() * taps; }
  int64_t row(int64_t channel, int64_t tap) const {
    if (by_channels) return channel * taps + tap;
    const int64_t block = channel / kChannelsAtOnce;
    return first_row(block) + tap * channels_of(block) + channel % kChannelsAtOnce;
  }
  /// [outputs, channels, taps] to [outputs, rows].
  template <class T>
  void arrange(const T* weight, int64_t outputs, T* to) const {
    PollBudget budget;
    for (int64_t o = 0; o < outputs; o++, to += channels * taps)
      for (int64_t c = 0; c < channels; c++) {
        budget.take(taps);
        for (int64_t t = 0; t < taps; t++) to[row(c, t)] = *weight++;
      }
  }
};

/// Where the lines of a sum begin in the copy of an image's lines (conv_lines.h), which are `line` long: along a sum's line go the
/// channels of a block, or by channels the taps of a row of the kernel.
struct SumLines {
  std::vector<int64_t> starts;
  std::vector<int64_t> window_rows;  // of the kernel's window, that each line lies in
  int64_t part, inner, last_inner;   // lines of a block; steps along a line, and along those of the last block
  int64_t step;                      // the length of one

  SumLines(const RowShape& s, int64_t line) {
    const TapOrder order = order_of(s);
    const int64_t high = s.kernel[0], wide = s.kernel[1], blocks = order.blocks();
    part = order.by_channels ? order.channels * high : order.taps;
    step = order.by_channels ? s.dilation[1] : line;
    inner = order.by_channels ? wide : order.channels_of(0);
    last_inner = order.by_channels ? wide : order.channels_of(blocks - 1);
    const auto begin = [&](int64_t channel, int64_t y, int64_t x) {
      starts.push_back((channel + y * s.dilation[0] * order.channels) * line + x * s.dilation[1]);
      window_rows.push_back(y);
    };
    for (int64_t block = 0; block < blocks; block++)
      for (int64_t i = 0; i < part; i++) {
        const int64_t tap = s.backwards ? part - 1 - i : i;
        if (order.by_channels) begin(i / high, i % high, 0);
        else begin(block * kChannelsAtOnce, tap / wide, tap % wide);
      }
  }
  // Of one channel both orders are the same, and a row of taps is the longer line.
  static TapOrder order_of(const RowShape& s) {
    return {s.channels, s.kernel[0] * s.kernel[1], s.by_channels || (s.channels == 1 && !s.backwards)};
  }
  int64_t blocks() const { return int64_t(starts.size()) / part; }
};

/// The rows of a kernel's window that see a line of the image, and the lines of a sum that are left of it.
struct SeenLines {
  int64_t first, last;                // rows of the window
  std::vector<int64_t> starts, rows;  // as in SumLines; the row of the packed weights that each line begins with
  int64_t part = 0;

  /// Of a window of `high` rows, `apart` lines apart, that begins at line `top`.
  SeenLines(int64_t high, int64_t top, int64_t apart, int64_t height) : first(0), last(high) {
    while (first < last && top + first * apart < 0) first++;
    while (first < last && top + (last - 1) * apart >= height) last--;
  }
  /// Lists the lines.
  void list(const SumLines& sums) {
    const int64_t full = (sums.blocks() - 1) * sums.part;
    for (int64_t i = 0; i < int64_t(sums.starts.size()); i++) {
      if (sums.window_rows[i] < first || sums.window_rows[i] >= last) continue;
      starts.push_back(sums.starts[i]);
      rows.push_back(std::min(i, full) * sums.inner + std::max<int64_t>(0, i - full) * sums.last_inner);
    }
    part = int64_t(starts.size()) / sums.blocks();
  }
};

/// Rows of a result whose windows see the same lines.
struct SeenRows {
  int64_t first, count;
  SeenLines lines;
};
/// `count` rows in such runs; the windows of neighbours begin `step` lines apart. Where rows are computed together (`cut` is false) they
/// see all lines, since a run of a few places that is no whole number of tiles takes longer than the zeros.
inline std::vector<SeenRows> seen_rows(const SumLines& sums, int64_t count, int64_t high, int64_t top, int64_t step,
                                       int64_t apart, int64_t height, bool cut) {
  std::vector<SeenRows> runs;
  if (!cut) runs.push_back({0, count, SeenLines(high, 0, 0, height)});
  for (int64_t r = 0; cut && r < count; r++, top += step) {
    const SeenLines lines(high, top, apart, height);
    if (!runs.empty() && lines.first == runs.back().lines.first && lines.last == runs.back().lines.last)
      runs.back().count++;
    else runs.push_back({r, 1, lines});
  }
  for (SeenRows& run : runs) run.lines.list(sums);
  return runs;
}

}  // namespace tessera::tensor::cpu
