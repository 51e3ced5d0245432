// Convolution in tiles (gemm_tile.h) with the outputs along lanes: the im2col matrix is read where it lies, in a copy of some
// lines of the image with zeros around. The gradient of the input is such a convolution with kernels turned round; for that
// of the weights the same copy gives the rows, and k runs along the places of the window.
#pragma once

#include <vector>

#include "backends/cpu/conv_lines.h"
#include "backends/cpu/conv_order.h"
#include "backends/cpu/gemm_tile.h"
#include "backends/cpu/scratch.h"

namespace tessera::tensor::cpu {

template <class T>
class TileConvolution {
 public:
  /// `parts`: into how many bands the rows should be cut at least, so that there is one for each thread. `places`: of the result, that
  /// are computed at once.
  TileConvolution(const RowShape& s, int64_t parts, int64_t places)
      : apart_(s.steps[0] == 1 ? s.dilation[0] : 1),
        s_(dense(s, apart_)),
        line_(s.width + 2 * s.padding[1]),
        row_(s.steps[0] * s.channels * line_),
        taps_(s.channels * s.kernel[0] * s.kernel[1]),
        places_(places),
        panels_(s.outputs, tile_lanes(T())) {
    const int64_t line = std::max<int64_t>(1, s.channels * line_), rows = rows_from(0);
    const auto fits = [&](int64_t elements) { return (elements / line - halo()) / s.steps[0]; };
    const auto rows_of = [&](int64_t n) { return (n + s.columns - 1) / s.columns; };
    // Few rows would read all of the weights for each; so they are more, as long as the second-level cache holds them.
    const int64_t most = std::max(fits(kBand), std::min(fits(kLargeBand), rows_of(kFewPlaces)));
    band_ = std::clamp<int64_t>(std::min({most, (rows + parts - 1) / parts, rows_of(places)}), 1, rows);
  }
  /// Whether lanes are filled, and a tile is computed for longer than it is written.
  static bool suits(int64_t outputs, int64_t taps) { return outputs >= 8 && taps >= 48; }

  int64_t bands() const { return apart_ * ((rows_from(0) + band_ - 1) / band_); }
  int64_t panels() const { return panels_.count; }
  /// Multiplications of a band.
  int64_t work() const { return panels_.padded() * taps_ * band_ * s_.columns; }
  int64_t packed_size() const { return taps_ * panels_.padded(); }
  /// Of the sums of a gradient: the most of a panel, and those of one.
  int64_t sums_size() const { return taps_ * std::min(panels_.padded(), 3 * panels_.width); }
  int64_t panel_sums(int64_t panel) const { return taps_ * panels_.size(panel); }

  /// [outputs, channels, kernel] into panels, one after the other, in the order of the sums.
  void pack(const T* weight, T* to) const {
    const std::vector<int64_t> rows = rows_of_taps();
    PollBudget budget;
    for (int64_t i = 0; i < panels_.count; i++, budget.take(taps_ * panels_.width))
      pack_panel(PanelSource<T>{weight + panels_.first(i) * taps_, taps_, true, taps_, panels_.columns(i), rows.data()},
                 panels_.size(i), to + panels_.first(i) * taps_);
  }
  /// The same of [channels, outputs, kernel].
  void pack_exchanged(const T* weight, T* to) const {
    const int64_t taps = s_.kernel[0] * s_.kernel[1];
    const std::vector<int64_t> rows = rows_of_taps();
    PollBudget budget;
    for (int64_t i = 0; i < panels_.count; i++)
      for (int64_t c = 0; c < s_.channels; c++, budget.take(taps * panels_.width))
        pack_panel(PanelSource<T>{weight + (c * s_.outputs + panels_.first(i)) * taps, taps, true, taps,
                                  panels_.columns(i), rows.data() + c * taps},
                   panels_.size(i), to + panels_.first(i) * taps_);
  }

  /// A band of `out`; `bias`, padded with zeros, or null.
  void run(int64_t band, const T* image, const T* packed, const T* bias, T* out) const {
    const Band at = band_at(band);
    if (at.rows <= 0) return;
    const Scratch<T> copy(copy_size());
    copy_lines(s_, image, at.top, lines(), apart_, copy.data());
    const SumLines sums(s_, line_);
    // Short lines, and those with steps, are no whole tiles: their places are counted through, of all rows if they are neighbours.
    const bool whole = s_.steps[1] == 1 && s_.columns >= 12;
    const std::vector<int64_t> offsets = whole ? std::vector<int64_t>() : places(at.rows);
    const auto runs = seen_rows(sums, at.rows, s_.kernel[0], at.top, s_.steps[0] * apart_, s_.dilation[0] * apart_,
                                s_.height, whole || s_.columns % 4 == 0);
    for (int64_t i = 0; i < panels_.count; i++)
      for (const SeenRows& run : runs) {
        const int64_t j = panels_.first(i), together = whole || apart_ > 1 ? 1 : run.count;
        std::vector<int64_t> weights = run.lines.rows;
        for (int64_t& row : weights) row *= panels_.size(i);
        TileWork<T> work{.a = copy.data(),
                         .row = 1,
                         .lines = int64_t(run.lines.starts.size()),
                         .inner = sums.inner,
                         .step = sums.step,
                         .part = run.lines.part,
                         .last_inner = sums.last_inner,
                         .starts = run.lines.starts.data(),
                         .b = packed + j * taps_,
                         .b_step = panels_.size(i),
                         .b_starts = weights.data(),
                         .out_row = 1,
                         .out_lane = s_.rows * s_.columns,
                         .bias = bias ? bias + j : nullptr};
        for (int64_t r = run.first; r < run.first + run.count; r += together) {
          if (whole) work.a = copy.data() + r * row_;
          else work.offsets = offsets.data() + r * s_.columns;
          work.out = out + j * s_.rows * s_.columns + (at.first + r * apart_) * s_.columns;
          compute(work, together * s_.columns, panels_.size(i), panels_.columns(i), taps_);
        }
      }
  }

  /// Images whose places are summed at once, for the gradient of the weights: small ones are too short a sum by themselves.
  int64_t images_at_once() const {
    if (band_ < s_.rows) return 1;  // so it is where rows lie apart
    return std::max<int64_t>(1, std::min(places_ / (s_.rows * s_.columns), 2 * kBand / copy_size()));
  }
  /// Some images, [channels, height, width], and the gradients of their results, with the steps from one to the next.
  struct Images {
    const T *data, *gradient;
    int64_t step, gradient_step, count;
  };
  /// Adds what they give to the gradient of the weights of one panel, [taps, its size]; the first ones set it.
  void add_weight_gradient(int64_t panel, const Images& images, bool is_first, T* sums) const {
    const int64_t size = panels_.size(panel), plane = s_.rows * s_.columns;
    const Scratch<T> copy(images.count * copy_size()), packed(images.count * band_ * s_.columns * size);
    const std::vector<int64_t> offsets = taps();
    for (int64_t band = 0; band < bands(); band++) {
      const Band at = band_at(band);
      if (at.rows <= 0) continue;
      std::vector<int64_t> starts;
      T* to = packed.data();
      for (int64_t i = 0; i < images.count; i++) {
        copy_lines(s_, images.data + i * images.step, at.top, lines(), apart_, copy.data() + i * copy_size());
        const T* const gradient = images.gradient + i * images.gradient_step + panels_.first(panel) * plane;
        const int64_t together = apart_ > 1 ? 1 : at.rows;
        for (int64_t y = 0; y < at.rows; y += together, to += together * s_.columns * size)
          pack_panel(PanelSource<T>{gradient + (at.first + y * apart_) * s_.columns, plane, true, together * s_.columns,
                                    panels_.columns(panel)},
                     size, to);
        for (int64_t y = 0; y < at.rows; y++) starts.push_back(i * copy_size() + y * row_);
      }
      compute(TileWork<T>{.a = copy.data(),
                          .offsets = offsets.data(),
                          .lines = int64_t(starts.size()),
                          .inner = s_.columns,
                          .step = s_.steps[1],
                          .starts = starts.data(),
                          .b = packed.data(),
                          .b_step = size,
                          .out = sums,
                          .out_row = size,
                          .beta = T(is_first && band == 0 ? 0 : 1)},
              taps_, size, size, int64_t(starts.size()) * s_.columns);
    }
  }
  /// Such sums to the gradient, [outputs, taps].
  void put_weight_gradient(int64_t panel, const T* sums, T* to) const {
    put_turned(TurnedSums<T>{sums, taps_, panels_.size(panel), panels_.columns(panel),
                             to + panels_.first(panel) * taps_, 1, taps_, T(1), T(0)});
  }

 private:
  /// m rows of a panel, each the sum of k products: in parts between which the program can be stopped.
  static void compute(const TileWork<T>& work, int64_t m, int64_t size, int64_t columns, int64_t k) {
    const int64_t part = places_at_once(size * k);
    Context::current().poll();
    if (m <= part) return tile_rows(work, m, size, columns);
    in_pieces(m, part, [&](int64_t begin, int64_t end) {
      TileWork<T> some = work;
      if (some.offsets) some.offsets += begin;
      else some.a += begin * some.row;
      some.out += begin * some.out_row;
      tile_rows(some, end - begin, size, columns);
    });
  }

  static constexpr int64_t kBand = int64_t(1) << 15;       // elements of the copy,
  static constexpr int64_t kLargeBand = int64_t(1) << 17;  // and while there are
  static constexpr int64_t kFewPlaces = 112;               // fewer places

  // Rows that lie the dilation apart see lines that do: among themselves they are a convolution without dilation.
  static RowShape dense(RowShape s, int64_t apart) {
    s.dilation[0] /= apart;
    return s;
  }
  /// Rows from `first` on that lie `apart_` apart.
  int64_t rows_from(int64_t first) const { return (s_.rows - first + apart_ - 1) / apart_; }
  struct Band {
    int64_t first, rows;  // of the result; none if the dilation is larger than the result
    int64_t top;          // the line of the image that the first one sees
  };
  Band band_at(int64_t band) const {
    const int64_t of_one = bands() / apart_, remainder = band / of_one, done = band % of_one * band_;
    const int64_t first = remainder + done * apart_;
    return {first, std::min(band_, rows_from(remainder) - done), first * s_.steps[0] - s_.padding[0]};
  }

  /// The row of a panel that each tap of each channel is.
  std::vector<int64_t> rows_of_taps() const {
    const TapOrder order = SumLines::order_of(s_);
    std::vector<int64_t> rows;
    rows.reserve(size_t(taps_));
    for (int64_t c = 0; c < s_.channels; c++)
      for (int64_t t = 0; t < order.taps; t++) rows.push_back(order.row(c, t));
    return rows;
  }
  int64_t halo() const { return s_.dilation[0] * (s_.kernel[0] - 1); }
  /// Lines of the image that a band sees.
  int64_t lines() const { return (band_ - 1) * s_.steps[0] + halo() + 1; }
  int64_t copy_size() const { return s_.channels * lines() * line_ + kPaddedTo; }

  /// Where the places of `rows` rows of the result begin to read, and where the taps do.
  std::vector<int64_t> places(int64_t rows) const {
    std::vector<int64_t> offsets;
    for (int64_t y = 0; y < rows; y++)
      for (int64_t x = 0; x < s_.columns; x++) offsets.push_back(y * row_ + x * s_.steps[1]);
    return offsets;
  }
  std::vector<int64_t> taps() const {
    std::vector<int64_t> offsets;
    for (int64_t c = 0; c < s_.channels; c++)
      for (int64_t y = 0; y < s_.kernel[0]; y++)
        for (int64_t x = 0; x < s_.kernel[1]; x++)
          offsets.push_back((y * s_.dilation[0] * s_.channels + c) * line_ + x * s_.dilation[1]);
    return offsets;
  }

  const int64_t apart_;  // rows of the result that are computed together lie so far apart
  const RowShape s_;
  const int64_t line_, row_, taps_;  // row_: from a row of the result to the next, in the copy
  const int64_t places_;             // that are wanted at once
  const Panels panels_;
  int64_t band_;
};

}  // namespace tessera::tensor::cpu
