// The largest element of each window of an image.
#include <cmath>

#include "backends/cpu/threads.h"
#include "runtime/ops/conv.h"

namespace tessera::tensor::cpu {
namespace {

// First and last place of a window that lie inside the image, counted in steps of the kernel.
struct Span {
  int64_t first, last;
  Span(const Window& w, int d, int64_t at, int64_t size) {
    const int64_t start = at * w.stride[d] - w.padding[d];
    first = start < 0 ? (-start + w.dilation[d] - 1) / w.dilation[d] * w.dilation[d] + start : start;
    last = std::min(start + (w.kernel[d] - 1) * w.dilation[d], size - 1);
  }
};

// What the elements are compared as: halves as float.
template <class T>
using Compared = std::conditional_t<(sizeof(T) < 4), float, T>;

template <class T>
void pool_plane(const MaxPoolCall& c, int64_t plane) {
  const T* in = static_cast<const T*>(c.in) + plane * c.height * c.width;
  T* out = static_cast<T*>(c.out) + plane * c.out_height * c.out_width;
  int64_t* index = c.index + plane * c.out_height * c.out_width;
  const int64_t down = c.window.dilation[0], across = c.window.dilation[1];
  for (int64_t i = 0; i < c.out_height; i++) {
    const Span rows(c.window, 0, i, c.height);
    for (int64_t j = 0; j < c.out_width; j++) {
      const Span columns(c.window, 1, j, c.width);
      int64_t best = rows.first * c.width + columns.first;
      auto largest = convert_element<Compared<T>>(in[best]);
      for (int64_t y = rows.first; y <= rows.last; y += down)
        for (int64_t x = columns.first; x <= columns.last; x += across) {
          // Chosen without a jump: which of them is larger cannot be foreseen. NaN is larger than all.
          const auto value = convert_element<Compared<T>>(in[y * c.width + x]);
          const bool better = (value > largest) | (value != value);
          largest = better ? value : largest;
          best = better ? y * c.width + x : best;
        }
      *out++ = in[best];
      *index++ = best;
    }
  }
}

void max_pool(const MaxPoolCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t grain = std::max<int64_t>(1, 8192 / (c.height * c.width + 1));
    parallel_for(c.planes, grain, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; p++) pool_plane<T>(c, p);
    });
  });
}

const KernelRegistration<MaxPoolCall> registration{max_pool_kernel, DeviceType::Cpu, max_pool};

}  // namespace
}  // namespace tessera::tensor::cpu
