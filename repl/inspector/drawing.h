// Numbers as pictures of characters: heat maps, histograms, and pictures themselves.
#pragma once

#include <string>
#include <vector>

#include "repl/inspector/elements.h"
#include "repl/inspector/text_parts.h"
#include "repl/session/client.h"
#include "stdlib/matplotlib/native/terminal_picture.h"

namespace tessera::repl {

using stdlib::Picture;
using stdlib::Rgb;
using Lines = std::vector<std::string>;  // without newlines; they may have colours

// Two pixels in a character: 256 colours and more.
bool shows_half_blocks(const Style& style);

// A matrix as the means of its parts, as many as can be shown. NaN where a part has a NaN.
struct Grid {
  size_t rows = 0, columns = 0;
  std::vector<double> values;
  double at(size_t row, size_t column) const { return values[row * columns + column]; }
};
// Of the last two dimensions of a tensor that on_host gave (the first matrix of several; a vector is a row).
Grid averaged(const tensor::Tensor& host, size_t most_rows, size_t most_columns);

struct Range {
  double low = 0, high = 0;  // where both signs occur 0 is in the middle
};
Range colour_range(const Statistics& s);
// Blue over grey to red where both signs occur, else dark to light; magenta for NaN.
Rgb colour_of(double x, const Range& range);

// At most `columns` wide; with colours two rows of values in a line, else shades of grey.
Lines heat_map(const tensor::Tensor& host, const Range& range, size_t columns, const Style& style);
// What its colours mean: "-0.5 blue, 0 grey, 0.5 red".
std::string legend(const Range& range, const Style& style);

// A bar for each of a few whole numbers, else as many as there are enough elements for. No counts: nothing is finite, or all is
// equal.
struct Histogram {
  double low = 0, high = 0;
  std::vector<int64_t> counts;
};
Histogram histogram_of(const tensor::Tensor& host, const Statistics& s, size_t most_bins, const Stopping& stopping);

Lines histogram(const tensor::Tensor& host, const Statistics& s, size_t columns, const Style& style,
                const Stopping& stopping);

// A picture by the best that the style has: pixels, half blocks, greys. Lines end with newlines.
std::string picture_text(const Picture& picture, const Style& style);
// A tensor that can be taken for a picture: (C, H, W) or (H, W, C) of bytes or of numbers from 0 to 1; empty otherwise.
Picture picture_of(const tensor::Tensor& host, const Statistics& s);

// Two columns of lines, the second at `at`.
Lines beside(const Lines& left, const Lines& right, size_t at);

}  // namespace tessera::repl
