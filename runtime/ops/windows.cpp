// Windows over images: where they stand, what they see as columns (unfold), and columns added up to images (fold).
// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/ops/windows.h"

#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

int64_t Window::span(int d) const { return saturated_add(saturated_mul(dilation[d], kernel[d] - 1), 1); }
int64_t Window::padded_size(int d, int64_t in) const { return saturated_add(in, saturated_mul(2, padding[d])); }

int64_t Window::out_size(int d, int64_t in, bool round_up) const {
  const int64_t room = saturated_sub(padded_size(d, in), span(d)), rest = room % stride[d];
  const int64_t steps = room / stride[d] + (rest > 0 && round_up ? 1 : rest < 0 && !round_up ? -1 : 0);
  // A window that would start in the padding after the image does not count.
  if (round_up && saturated_mul(steps, stride[d]) >= saturated_add(in, padding[d])) return steps;
  return saturated_add(steps, 1);
}

int64_t pick(Ints list, size_t i, int64_t otherwise) {
  return list.empty() ? otherwise : list[list.size() == 1 ? 0 : i];
}

Window window_of(Ints kernel, Ints stride, Ints padding, Ints dilation) {
  Window w;
  for (int d = 0; d < 2; d++) {
    w.kernel[d] = pick(kernel, d, 1);
    w.stride[d] = pick(stride, d, 1);
    w.padding[d] = pick(padding, d, 0);
    w.dilation[d] = pick(dilation, d, 1);
  }
  return w;
}

Tensor padded_image(const Tensor& image, const Window& w, double value, int64_t more_rows, int64_t more_columns) {
  if (!w.padding[0] && !w.padding[1] && !more_rows && !more_columns) return contiguous(image);
  const int64_t height = image.sizes()[2], width = image.sizes()[3];
  const Tensor out = full({image.sizes()[0], image.sizes()[1], saturated_add(w.padded_size(0, height), more_rows),
                           saturated_add(w.padded_size(1, width), more_columns)},
                          value, image.dtype(), image.device());
  copy_into(narrow(narrow(out, 2, w.padding[0], height), 3, w.padding[1], width), image);
  return out;
}

Tensor windows_over(const Tensor& image, const Window& w, int64_t out_height, int64_t out_width) {
  const Ints s = image.strides();
  return image.view_of({image.sizes()[0], image.sizes()[1], w.kernel[0], w.kernel[1], out_height, out_width},
                       {s[0], s[1], saturated_mul(w.dilation[0], s[2]), saturated_mul(w.dilation[1], s[3]),
                        saturated_mul(w.stride[0], s[2]), saturated_mul(w.stride[1], s[3])});
}

namespace {

std::string pair(const int64_t (&two)[2]) { return text("(", two[0], ", ", two[1], ")"); }

// Of unfold and fold.
void check_blocks(const Window& w) {
  const auto all = [](const int64_t(&two)[2], int64_t least, const char* message, const char* name) {
    check(two[0] >= least && two[1] >= least, TensorErrorKind::Runtime, message, ", but got ", name,
          "_height: ", two[0], " ", name, "_width: ", two[1]);
  };
  all(w.kernel, 1, "kernel size should be greater than zero", "kernel");
  all(w.stride, 1, "stride should be greater than zero", "stride");
  all(w.dilation, 1, "dilation should be greater than zero", "dilation");
  all(w.padding, 0, "padding should be non-negative", "pad");
}

// The same in memory, with a batch of one where there is none.
Tensor with_batch(const Tensor& t, int64_t ndim) {
  if (t.dim() == ndim) return t;
  Dims sizes(t.sizes()), strides(t.strides());
  sizes.insert(0, 1), strides.insert(0, 0);
  return t.view_of(sizes, strides);
}
Ints two(const int64_t (&values)[2]) { return {values, 2}; }

struct Im2Col {
  static Meta shape(const Tensor& self, Ints kernel, Ints dilation, Ints padding, Ints stride) {
    const Window w = window_of(kernel, stride, padding, dilation);
    check_blocks(w);
    bool empty = self.size(1) == 0 || self.size(2) == 0;  // which says what is wrong with fewer dimensions
    for (int64_t d = self.dim() == 4; d < self.dim(); d++) empty |= self.sizes()[size_t(d)] == 0;
    check(
        (self.dim() == 3 || self.dim() == 4) && !empty, TensorErrorKind::Runtime,
        "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ",
        self.sizes());
    const int64_t rows = w.out_size(0, self.size(-2)), columns = w.out_size(1, self.size(-1));
    check(rows >= 1 && columns >= 1, TensorErrorKind::Runtime, "Given input with spatial size (", self.size(-2), ", ",
          self.size(-1), "), kernel_size=", pair(w.kernel), ", dilation=", pair(w.dilation),
          ", padding=", pair(w.padding), ", calculated shape of the array of sliding blocks as (", rows, ", ", columns,
          "), but its components must be at least one.");
    Dims sizes{checked_mul(self.size(-3), checked_mul(w.kernel[0], w.kernel[1])), checked_mul(rows, columns)};
    if (self.dim() == 4) sizes.insert(0, self.sizes()[0]);
    return Meta(sizes, self);
  }
  static void run(const Tensor& out, const Tensor& self, Ints kernel, Ints dilation, Ints padding, Ints stride) {
    if (out.numel() == 0) return;
    const Window w = window_of(kernel, stride, padding, dilation);
    const Tensor image = with_batch(self, 4);
    const int64_t rows = w.out_size(0, image.sizes()[2]), columns = w.out_size(1, image.sizes()[3]);
    const Tensor seen = windows_over(padded_image(image, w, 0.0), w, rows, columns);
    copy_into(out.view_of(seen.sizes(), contiguous_strides(seen.sizes())), seen);
  }
  static void grad(Tensor& out, const Tensor& self, Ints kernel, Ints dilation, Ints padding, Ints stride) {
    record(out, "Im2ColBackward0", {&self},
           [w = window_of(kernel, stride, padding, dilation), height = self.size(-2), width = self.size(-1)](Sweep& s) {
             s.give(0, [&] { return col2im(s.g(), w, height, width); });
           });
  }
};

struct Col2Im {
  static Meta shape(const Tensor& self, Ints output_size, Ints kernel, Ints dilation, Ints padding, Ints stride) {
    const Window w = window_of(kernel, stride, padding, dilation);
    check_blocks(w);
    check(
        self.dim() == 2 || self.dim() == 3, TensorErrorKind::Runtime,
        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: ",
        self.sizes());
    const int64_t size[2] = {pick(output_size, 0, 1), pick(output_size, 1, 1)};
    const int64_t block = saturated_mul(w.kernel[0], w.kernel[1]);
    check(block != INT64_MAX, TensorErrorKind::Runtime, "Given kernel_width = ", w.kernel[1],
          " and kernel_height = ", w.kernel[0], " the product of kernel_width and kernel_height overflowed.");
    check(self.size(-2) % block == 0, TensorErrorKind::Runtime,
          "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=",
          self.size(-2), " and kernel_size=", pair(w.kernel), ".");
    const int64_t rows = w.out_size(0, size[0]), places = w.out_size(1, size[1]), blocks = saturated_mul(rows, places);
    check(rows > 0 && places > 0 && self.size(-1) == blocks, TensorErrorKind::Runtime, "Given output_size=", pair(size),
          ", kernel_size=", pair(w.kernel), ", dilation=", pair(w.dilation), ", padding=", pair(w.padding),
          ", stride=", pair(w.stride),
          ", expected size of input's dimension 2 to match the calculated number of sliding blocks ", rows, " * ",
          places, " = ", blocks, ", but got input.size(2)=", self.size(-1), ".");
    Dims sizes{self.size(-2) / block, size[0], size[1]};
    if (self.dim() == 3) sizes.insert(0, self.sizes()[0]);
    return Meta(sizes, self);
  }
  static void run(const Tensor& out, const Tensor& self, Ints output_size, Ints kernel, Ints dilation, Ints padding,
                  Ints stride) {
    if (out.numel() == 0) return;
    const Window w = window_of(kernel, stride, padding, dilation);
    const int64_t height = pick(output_size, 0, 1), width = pick(output_size, 1, 1);
    const Tensor to = with_batch(out, 4);
    const int64_t rows = w.out_size(0, height), places = w.out_size(1, width);
    const int64_t n = to.sizes()[0], channels = to.sizes()[1];
    const Tensor parts = reshape(self, {n, channels, w.kernel[0], w.kernel[1], rows, places});
    const Tensor image =
        zeros({n, channels, w.padded_size(0, height), w.padded_size(1, width)}, self.dtype(), self.device());
    for (int64_t i = 0; i < w.kernel[0]; i++)
      for (int64_t j = 0; j < w.kernel[1]; j++)
        add_(place_of(image, w, i, j, rows, places), select(select(parts, 2, i), 2, j));
    copy_into(to, narrow(narrow(image, 2, w.padding[0], height), 3, w.padding[1], width));
  }
  static void grad(Tensor& out, const Tensor& self, Ints, Ints kernel, Ints dilation, Ints padding, Ints stride) {
    record(out, "Col2ImBackward0", {&self}, [w = window_of(kernel, stride, padding, dilation)](Sweep& s) {
      s.give(0, [&] { return im2col(s.g(), w); });
    });
  }

 private:
  // The pixels that element (i, j) of the window sees.
  static Tensor place_of(const Tensor& image, const Window& w, int64_t i, int64_t j, int64_t rows, int64_t places) {
    const int64_t top = i * w.dilation[0], left = j * w.dilation[1];
    return slice(slice(image, 2, top, top + (rows - 1) * w.stride[0] + 1, w.stride[0]), 3, left,
                 left + (places - 1) * w.stride[1] + 1, w.stride[1]);
  }
};

}  // namespace

Tensor im2col(const Tensor& image, const Window& w) {
  return apply<Im2Col>(image, two(w.kernel), two(w.dilation), two(w.padding), two(w.stride));
}
Tensor col2im(const Tensor& columns, const Window& w, int64_t height, int64_t width) {
  return apply<Col2Im>(columns, Ints(Dims{height, width}), two(w.kernel), two(w.dilation), two(w.padding),
                       two(w.stride));
}

namespace {

constexpr uint32_t kHidden = kFunctional | kInternal;
TS_OP(im2col, "im2col(Tensor self, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
      "What each place of a window sees, as columns.", kHidden, Im2Col,
      "f[1,2,4,4], 2\n"
      "f[2,5,4], [3, 2], 1, [1, 0], 2\n"
      "f[1,2,4,4], 2, 2\n"
      "f[4,4], 2 -> IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)\n"
      "f[1,4,4], 0 -> RuntimeError: kernel size should be greater than zero, but got kernel_height: 0 kernel_width: 0\n"
      "f[1,4,4], 2, 1, -1 -> RuntimeError: padding should be non-negative, but got pad_height: -1 pad_width: -1\n"
      "f[1,2,2], 3 -> RuntimeError: Given input with spatial size (2, 2), kernel_size=(3, 3), dilation=(1, 1), "
      "padding=(0, 0), calculated shape of the array of sliding blocks as (0, 0), but its components must be at least "
      "one.");
TS_OP(
    col2im,
    "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
    "Columns back to images; overlaps add up.", kHidden, Col2Im,
    "f[1,8,9], [4, 4], 2\n"
    "f[6,6], [5, 4], [3, 2], 1, [1, 0], [2, 1] -> RuntimeError: Given output_size=(5, 4)\n"
    "f[6,9], [5, 4], [3, 2], 1, [1, 0], [2, 1]\n"
    "f[2,8,4], [3, 3], 2\n"
    "f[1,7,9], [4, 4], 2 -> RuntimeError: Expected size of input's dimension 1 to be divisible by the product of "
    "kernel_size, but got input.size(1)=7 and kernel_size=(2, 2).\n"
    "f[8], [4, 4], 2 -> RuntimeError: Expected 2D or 3D (batch mode) tensor for input");

}  // namespace
}  // namespace tessera::tensor
