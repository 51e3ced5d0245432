// Lines of an image with zeros around, as convolutions read them.
#pragma once

#include <algorithm>

#include "backends/cpu/gemm_direct.h"
#include "runtime/pieces.h"

namespace tessera::tensor::cpu {

/// Multiplications between two looks at the cancel flag: about a millisecond.
inline constexpr int64_t kMostAtOnce = int64_t(1) << 24;
/// How many of the places of a row are computed at once when one takes so many multiplications; whole tiles.
inline int64_t places_at_once(int64_t work) {
  return std::max<int64_t>(1, kMostAtOnce / std::max<int64_t>(1, work) / 64) * 64;
}

/// Of one group: [channels, height, width] * [outputs, channels, kernel] -> [outputs, rows, columns].
struct RowShape {
  int64_t channels, height, width, outputs, rows, columns;
  int64_t kernel[2], padding[2], dilation[2];
  int64_t steps[2];          // from place to place: rows, columns
  bool backwards = false;    // the kernel is turned round: its last tap is the first
  bool by_channels = false;  // sums go channel by channel, in each tap by tap
};

/// `lines` lines from `top` on that lie `apart` apart, of each one all channels, zero outside of the image, and a vector of zeros
/// behind them.
template <class T>
void copy_lines(const RowShape& s, const T* image, int64_t top, int64_t lines, int64_t apart, T* to) {
  const int64_t line = s.width + 2 * s.padding[1];
  in_pieces(s.channels * lines * line + kPaddedTo,
            [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, T(0)); });
  to += s.padding[1];
  for (int64_t y = top; y < top + lines * apart; y += apart, to += s.channels * line)
    for (int64_t c = 0; c < s.channels && y >= 0 && y < s.height; c++)
      in_pieces(s.width, [&](int64_t begin, int64_t end) {
        std::copy_n(image + (c * s.height + y) * s.width + begin, end - begin, to + c * line + begin);
      });
}

}  // namespace tessera::tensor::cpu
