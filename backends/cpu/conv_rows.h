// Convolution with steps of one along a row, without gathering: what a tap of the kernel sees along a row of the result is a
// stretch of a row of the image, so the rows of the im2col matrix are read where they lie, in a copy of some rows of the
// image with zeros around. The gradient of the input is such a convolution too, with kernels turned round.
#pragma once

#include <algorithm>
#include <vector>

#include "backends/cpu/conv_lines.h"
#include "backends/cpu/conv_order.h"
#include "backends/cpu/gemm_direct.h"
#include "backends/cpu/scratch.h"

namespace tessera::tensor::cpu {

template <class T>
class RowConvolution {
 public:
  /// `parts`: into how many bands the rows should be cut at least, so that there is one for each thread.
  RowConvolution(const RowShape& s, int64_t parts) : s_(s), line_(s.width + 2 * s.padding[1]) {
    const int64_t fits = kBand / std::max<int64_t>(1, s.channels * line_) - halo();
    band_ = std::clamp(std::min(fits / s.steps[0], (s.rows + parts - 1) / parts), std::min<int64_t>(4, s.rows), s.rows);
  }
  /// Whether it is quicker than gathering: short rows leave the vectors half empty.
  static bool suits(int64_t columns) { return columns >= 12; }

  int64_t bands() const { return (s_.rows + band_ - 1) / band_; }
  /// Multiplications of a band.
  int64_t work() const { return s_.outputs * taps() * band_ * s_.columns; }

  /// Rows of a band of `out`, which holds the bias already if `add`; the weight as TapOrder arranges it.
  void run(int64_t band, const T* image, const T* weight, T* out, bool add) const {
    const int64_t first = band * band_, rows = std::min(band_, s_.rows - first), taps = this->taps();
    // The last vector of the last row reads beyond it.
    const Scratch<T> copy(s_.channels * lines() * line_ + kPaddedTo);
    copy_lines(s_, image, first * s_.steps[0] - s_.padding[0], lines(), 1, copy.data());
    const SumLines sums(s_, line_);
    PollBudget budget;
    for (int64_t r = 0; r < rows; r++)
      for (int64_t block = 0; block < order().blocks(); block++) {
        const int64_t k = order().channels_of(block) * order().taps;
        in_pieces(s_.columns, places_at_once(s_.outputs * k), [&](int64_t begin, int64_t end) {
          budget.take(s_.outputs * k * (end - begin) >> 7);
          direct_rows({dtype_of<T>, s_.outputs, end - begin, k, 1.0, add || block > 0 ? 1.0 : 0.0,
                       weight + order().first_row(block), taps, 0, false,
                       copy.data() + r * s_.steps[0] * s_.channels * line_ + begin, sums.step, 0, false,
                       out + (first + r) * s_.columns + begin, s_.rows * s_.columns, 0, 1},
                      {sums.starts.data() + block * sums.part, sums.part});
        });
      }
  }

 private:
  static constexpr int64_t kBand = int64_t(1) << 15;  // elements of the copy

  int64_t taps() const { return s_.channels * s_.kernel[0] * s_.kernel[1]; }
  TapOrder order() const { return SumLines::order_of(s_); }
  int64_t halo() const { return s_.dilation[0] * (s_.kernel[0] - 1); }
  /// Lines of the image that a band sees.
  int64_t lines() const { return (band_ - 1) * s_.steps[0] + halo() + 1; }

  const RowShape s_;
  const int64_t line_;
  int64_t band_;
};

/// [outputs, channels, taps] as the gradient of the input needs it: [channels, outputs, taps] (RowShape::backwards turns the taps).
template <class T>
void exchange_channels(const T* weight, int64_t outputs, int64_t channels, int64_t taps, T* to) {
  for (int64_t c = 0; c < channels; c++)
    for (int64_t o = 0; o < outputs; o++)
      for (int64_t t = 0; t < taps; t++) *to++ = weight[(o * channels + c) * taps + t];
}

}  // namespace tessera::tensor::cpu
