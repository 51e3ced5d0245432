// Windows that go over images, as convolution, pooling and unfold read them.
#pragma once

#include "runtime/ops/conv.h"

namespace tessera::tensor {

/// Item i of a list that may be given as one number for all, or left out.
int64_t pick(Ints list, size_t i, int64_t otherwise);
Window window_of(Ints kernel, Ints stride, Ints padding, Ints dilation);

/// The image in the midst of `value`s, with `more` rows and columns beyond the padding, which a rounded-up size may need.
Tensor padded_image(const Tensor& image, const Window& w, double value, int64_t more_rows = 0,
                    int64_t more_columns = 0);
/// [N, C, kernel height, kernel width, out height, out width] over a padded image, sharing its memory.
Tensor windows_over(const Tensor& image, const Window& w, int64_t out_height, int64_t out_width);

}  // namespace tessera::tensor
