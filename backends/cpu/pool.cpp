// The largest element of each window of an image, or their mean: on lanes along a row of the result for float32 and float64, one
// by one for other types. A row of the image is read in a copy with -inf, or 0, at its ends, so that no window is cut.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool.cpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "hwy/highway.h"
#include "runtime/ops/conv.h"
#include "runtime/pieces.h"

#ifndef TESSERA_POOL_ONCE
#define TESSERA_POOL_ONCE
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
  PollBudget budget;
  for (int64_t i = 0; i < c.out_height; i++) {
    const Span rows(c.window, 0, i, c.height);
    for (int64_t j = 0; j < c.out_width; j++) {
      const Span columns(c.window, 1, j, c.width);
      int64_t best = rows.first * c.width + columns.first;
      auto largest = convert_element<Compared<T>>(in[best]);
      for (int64_t y = rows.first; y <= rows.last; y += down, budget.take(columns.last - columns.first + 1))
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

template <class T>
void pool_plane(const AvgPoolCall& c, int64_t plane) {
  const T* in = static_cast<const T*>(c.in) + plane * c.height * c.width;
  T* out = static_cast<T*>(c.out) + plane * c.out_height * c.out_width;
  PollBudget budget;
  for (int64_t i = 0; i < c.out_height; i++) {
    const Span rows(c.window, 0, i, c.height);
    for (int64_t j = 0; j < c.out_width; j++) {
      const Span columns(c.window, 1, j, c.width);
      T sum = 0;
      for (int64_t y = rows.first; y <= rows.last; y++, budget.take(columns.last - columns.first + 1))
        for (int64_t x = columns.first; x <= columns.last; x++) sum += in[y * c.width + x];
      *out++ = sum / T(c.divisor);
    }
  }
}

}  // namespace
}  // namespace tessera::tensor::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
/// Elements 0, step, 2 * step, ... of what follows.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_every(D d, const T* from, int64_t step, hn::Vec<hn::RebindToSigned<D>> places) {
  if (step == 1) return hn::LoadU(d, from);
  if (step == 2) return hn::ConcatEven(d, hn::LoadU(d, from + hn::Lanes(d)), hn::LoadU(d, from));
  return hn::GatherIndex(d, from, places);
}

template <class T, class Call>
class LanePool {
 public:
  static constexpr bool kMax = std::is_same_v<Call, MaxPoolCall>;
  using Place = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

  explicit LanePool(const Call& c)
      : c_(c),
        w_(c.window),
        lanes_(int64_t(hn::Lanes(d_))),
        line_(std::max((c.out_width + lanes_) * w_.stride[1] + (w_.kernel[1] - 1) * w_.dilation[1] + lanes_,
                       c.width + 2 * w_.padding[1])),
        copy_(c.height * line_) {
    // Where the first element of each window lies, along its row.
    for (int64_t j = 0; j < c.out_width; j++) firsts_.push_back(Place(Span(w_, 1, j, c.width).first));
    firsts_.resize(size_t(c.out_width + lanes_), Place(0));
    std::fill_n(copy_.data(), c.height * line_, kMax ? -std::numeric_limits<T>::infinity() : T(0));
  }
  static bool suits(const Call& c) {
    return c.out_width >= 4 && c.height * c.width < (int64_t(1) << 30) && c.window.stride[1] < 1024 &&
           c.window.kernel[1] * c.window.dilation[1] < 1024;
  }

  void plane(int64_t number) const {
    const T* in = static_cast<const T*>(c_.in) + number * c_.height * c_.width;
    T* out = static_cast<T*>(c_.out) + number * c_.out_height * c_.out_width;
    int64_t* index = nullptr;
    if constexpr (kMax) index = c_.index + number * c_.out_height * c_.out_width;
    PollBudget budget;
    for (int64_t y = 0; y < c_.height; y++, budget.take(c_.width))
      std::copy_n(in + y * c_.width, c_.width, copy_.data() + y * line_ + w_.padding[1]);
    for (int64_t i = 0; i < c_.out_height; i++)
      for (int64_t j = 0; j < c_.out_width; j += lanes_) {
        const Span rows(w_, 0, i, c_.height);
        budget.take(w_.kernel[0] * w_.kernel[1]);
        const int64_t n = std::min(lanes_, c_.out_width - j), place = i * c_.out_width + j;
        if constexpr (kMax) largest_of(rows, j, out + place, index + place, n);
        else mean_of(rows, j, out + place, n);
      }
  }

 private:
  void largest_of(const Span& rows, int64_t j, T* out, int64_t* index, int64_t n) const {
    const hn::RebindToSigned<decltype(d_)> di;
    const int64_t step = w_.stride[1];
    const auto every = hn::Mul(hn::Iota(di, Place(0)), hn::Set(di, Place(step)));
    const auto start = hn::Add(every, hn::Set(di, Place(j * step - w_.padding[1])));
    auto largest = hn::Set(d_, -std::numeric_limits<T>::infinity());
    auto best = hn::Add(hn::LoadU(di, firsts_.data() + j), hn::Set(di, Place(rows.first * c_.width)));
    for (int64_t y = rows.first; y <= rows.last; y += w_.dilation[0])
      for (int64_t x = 0; x < w_.kernel[1] * w_.dilation[1]; x += w_.dilation[1]) {
        const auto value = load_every(d_, copy_.data() + y * line_ + j * step + x, step, every);
        const auto better = hn::Or(hn::Gt(value, largest), hn::IsNaN(value));
        largest = hn::IfThenElse(better, value, largest);
        best = hn::IfThenElse(hn::RebindMask(di, better), hn::Add(start, hn::Set(di, Place(y * c_.width + x))), best);
      }
    HWY_ALIGN T values[hn::MaxLanes(hn::ScalableTag<T>())];
    HWY_ALIGN Place places[hn::MaxLanes(hn::ScalableTag<T>())];
    hn::Store(largest, d_, values);
    hn::Store(best, di, places);
    std::copy_n(values, n, out);
    std::copy_n(places, n, index);
  }

  void mean_of(const Span& rows, int64_t j, T* out, int64_t n) const {
    const hn::RebindToSigned<decltype(d_)> di;
    const int64_t step = w_.stride[1];
    const auto every = hn::Mul(hn::Iota(di, Place(0)), hn::Set(di, Place(step)));
    auto sum = hn::Zero(d_);
    for (int64_t y = rows.first; y <= rows.last; y += w_.dilation[0])
      for (int64_t x = 0; x < w_.kernel[1] * w_.dilation[1]; x += w_.dilation[1])
        sum = hn::Add(sum, load_every(d_, copy_.data() + y * line_ + j * step + x, step, every));
    HWY_ALIGN T values[hn::MaxLanes(hn::ScalableTag<T>())];
    hn::Store(hn::Div(sum, hn::Set(d_, T(c_.divisor))), d_, values);
    std::copy_n(values, n, out);
  }

  const hn::ScalableTag<T> d_{};
  const Call& c_;
  const Window& w_;
  const int64_t lanes_, line_;
  const Scratch<T> copy_;
  std::vector<Place> firsts_;
};
#endif

template <class T, class Call>
void pool_range(const Call& c, int64_t begin, int64_t end) {
#if HWY_TARGET != HWY_SCALAR
  if (LanePool<T, Call>::suits(c)) {
    const LanePool<T, Call> pool(c);
    for (int64_t p = begin; p < end; p++) pool.plane(p);
    return;
  }
#endif
  for (int64_t p = begin; p < end; p++) pool_plane<T>(c, p);
}
void max_float(const MaxPoolCall& c, int64_t begin, int64_t end) { pool_range<float>(c, begin, end); }
void max_double(const MaxPoolCall& c, int64_t begin, int64_t end) { pool_range<double>(c, begin, end); }
void mean_float(const AvgPoolCall& c, int64_t begin, int64_t end) { pool_range<float>(c, begin, end); }
void mean_double(const AvgPoolCall& c, int64_t begin, int64_t end) { pool_range<double>(c, begin, end); }

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
HWY_EXPORT(max_float);
HWY_EXPORT(max_double);
HWY_EXPORT(mean_float);
HWY_EXPORT(mean_double);

template <class Call>
int64_t grain_of(const Call& c) {
  return std::max<int64_t>(1, 8192 / (c.height * c.width + 1));
}
void avg_pool(const AvgPoolCall& c) {
  parallel_for(c.planes, grain_of(c), [&](int64_t begin, int64_t end) {
    if (c.dtype == kFloat32) HWY_DYNAMIC_DISPATCH(mean_float)(c, begin, end);
    else HWY_DYNAMIC_DISPATCH(mean_double)(c, begin, end);
  });
}
void max_pool(const MaxPoolCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(c.planes, grain_of(c), [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<T, float>) HWY_DYNAMIC_DISPATCH(max_float)(c, begin, end);
      else if constexpr (std::is_same_v<T, double>) HWY_DYNAMIC_DISPATCH(max_double)(c, begin, end);
      else
        for (int64_t p = begin; p < end; p++) pool_plane<T>(c, p);
    });
  });
}

const KernelRegistration<MaxPoolCall> registration{max_pool_kernel, DeviceType::Cpu, max_pool};
const KernelRegistration<AvgPoolCall> avg_registration{avg_pool_kernel, DeviceType::Cpu, avg_pool};

}  // namespace
}  // namespace tessera::tensor::cpu
#endif
