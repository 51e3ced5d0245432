// Fourier transforms along one dimension of a tensor. Long contiguous lines go one by one, short or strided ones side by side
// in groups that depend on the shape alone, so the result does not depend on the number of threads.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/fft.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"

#include "backends/cpu/fft_line-inl.h"
#include "backends/cpu/fft_line.h"
#include "backends/cpu/fft_lines.h"
#include "backends/cpu/fft_real-inl.h"
#include "hwy/highway.h"
#include "runtime/ops/fft.h"
#include "runtime/pieces.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

template <class T>
class Transform {
 public:
  explicit Transform(const FftCall& c)
      : c_(c),
        halved_(c.kind != FftCall::Complex && c.n % 2 == 0),
        length_(halved_ ? c.n / 2 : c.n),
        kept_(c.n / 2 + 1),
        lines_(c) {
    const bool is_dense = c.in_step == 1 && c.out_step == 1 && length_ >= 64;
    side_by_side_ = has_passes(length_) && !is_dense && lines_.across > 1;
    plan_ = side_by_side_ ? passes_plan<T>(length_) : line_plan<T>(length_);
    if (halved_) roots_ = half_roots<T>(c.n);
  }

  void run() const {
    if (lines_.count() == 0) return;
    const int64_t width = side_by_side_ ? width_for<T>(length_ > 1024 ? 1 : lines_.across) : 1;
    const int64_t groups = (lines_.across + width - 1) / width, tasks = groups * lines_.outer();
    parallel_for(tasks, std::max<int64_t>(1, kWork / (c_.n * width)), [&](int64_t begin, int64_t end) {
      if (!side_by_side_) {
        for (int64_t i = begin; i < end; i++) one(lines_.start(i / groups, i % groups));
        return;
      }
      const Block<T> block(length_ + 1, width);
      const Scratch<T> turned(2 * (length_ + 1) * width);
      for (int64_t i = begin; i < end; i++) {
        const int64_t first = i % groups * width;
        several(lines_.start(i / groups, first), std::min(width, lines_.across - first), width, block, turned.data());
      }
    });
  }

 private:
  static constexpr int64_t kWork = int64_t(1) << 13;

  // The line that starts at an element, as complex numbers or as real ones.
  Place<T> complex_at(const void* p, int64_t element, int64_t step) const {
    T* const at = static_cast<T*>(const_cast<void*>(p)) + 2 * element;
    return {at, at + 1, 2 * step};
  }
  T* real_at(const void* p, int64_t element) const { return static_cast<T*>(const_cast<void*>(p)) + element; }
  Place<T> in_at(int64_t element) const {
    if (c_.kind != FftCall::FromReal) return complex_at(c_.in, element, c_.in_step);
    T* const at = real_at(c_.in, element);
    return halved_ ? Place<T>{at, at + c_.in_step, 2 * c_.in_step} : Place<T>{at, nullptr, c_.in_step};
  }
  Place<T> out_at(int64_t element) const {
    if (c_.kind != FftCall::ToReal) return complex_at(c_.out, element, c_.out_step);
    T* const at = real_at(c_.out, element);
    return halved_ ? Place<T>{at, at + c_.out_step, 2 * c_.out_step} : Place<T>{at, nullptr, c_.out_step};
  }
  T scale() const { return T(c_.scale); }

  // One line by itself.
  void one(const LineStart& start) const {
    const Place<T> in = in_at(start.in), out = out_at(start.out);
    if (c_.kind == FftCall::Complex) {
      if (c_.inverse) LineTransform<T>::run(*plan_, in.exchanged(), scale(), out.exchanged());
      else LineTransform<T>::run(*plan_, in, scale(), out);
      return;
    }
    const Block<T> block(std::max(c_.n, length_ + 1), 1);
    Buffers<T> b = block.buffers();
    if (c_.kind == FftCall::FromReal) {
      LineTransform<T>::run(*plan_, in, T(1), {b.re, b.im, 1});
      if (halved_) join_spectrum<false>(1, b);
      in_pieces(kept_, [&](int64_t i, int64_t last) { store_run(b.re + i, b.im + i, last - i, scale(), out.at(i)); });
      if (c_.whole) mirror(out);
      return;
    }
    in_pieces(kept_, [&](int64_t i, int64_t last) { load_run(in.at(i), last - i, b.re + i, b.im + i); });
    prepare_to_real(1, b);
    LineTransform<T>::run(*plan_, {b.im, b.re, 1}, scale(), out.exchanged());
  }

  // Several lines side by side.
  void several(const LineStart& start, int64_t count, int64_t width, const Block<T>& block, T* turned) const {
    Buffers<T> b = block.buffers();
    if (count < width) block.clear();
    const Place<T> in = in_at(start.in), out = out_at(start.out);
    const int64_t in_parts = c_.kind == FftCall::FromReal ? 1 : 2, out_parts = c_.kind == FftCall::ToReal ? 1 : 2;
    load_lines(in, c_.kind == FftCall::ToReal ? kept_ : length_, in_parts * lines_.in_across, count, width, b, turned);
    if (c_.kind == FftCall::ToReal) prepare_to_real(width, b);
    const bool backward = c_.kind == FftCall::ToReal || (c_.kind == FftCall::Complex && c_.inverse);
    if (backward) exchange(b);
    run_passes(*plan_, width, b);
    if (backward) exchange(b);
    if (c_.kind == FftCall::FromReal && halved_) join_spectrum<false>(width, b);
    store_lines(b, c_.kind == FftCall::FromReal ? kept_ : length_, out_parts * lines_.out_across, count, width, out,
                turned);
    if (c_.whole)
      for (int64_t l = 0; l < count; l++) mirror(out.moved(l * out_parts * lines_.out_across));
  }
  static void exchange(Buffers<T>& b) { std::swap(b.re, b.im), std::swap(b.other_re, b.other_im); }

  // Across the lines where they lie side by side in memory too, otherwise along them and turned.
  static void load_lines(const Place<T>& in, int64_t n, int64_t across, int64_t count, int64_t width,
                         const Buffers<T>& b, T* turned) {
    if (Place<T>{in.re, in.im, across}.is_dense() || n == 1) {
      for (int64_t i = 0; i < n; i++) {
        const Place<T> at = in.at(i);
        load_run(Place<T>{at.re, at.im, across}, count, b.re + i * width, b.im + i * width);
      }
      return;
    }
    T* const im = turned + n * width;
    for (int64_t l = 0; l < count; l++) load_run(in.moved(l * across), n, turned + l * n, im + l * n);
    turn(turned, n, count, n, b.re, width);
    turn(im, n, count, n, b.im, width);
  }
  void store_lines(const Buffers<T>& b, int64_t n, int64_t across, int64_t count, int64_t width, const Place<T>& out,
                   T* turned) const {
    if (Place<T>{out.re, out.im, across}.is_dense() || n == 1) {
      for (int64_t i = 0; i < n; i++) {
        const Place<T> at = out.at(i);
        store_run(b.re + i * width, b.im + i * width, count, scale(), Place<T>{at.re, at.im, across});
      }
      return;
    }
    T* const im = turned + n * width;
    turn(b.re, width, n, count, turned, n);
    turn(b.im, width, n, count, im, n);
    for (int64_t l = 0; l < count; l++) store_run(turned + l * n, im + l * n, n, scale(), out.moved(l * across));
  }

  // The halves' transform in b becomes the spectrum in b, or the reverse.
  template <bool kToReal>
  void join_spectrum(int64_t width, Buffers<T>& b) const {
    if (!kToReal) {
      std::copy_n(b.re, width, b.re + length_ * width);
      std::copy_n(b.im, width, b.im + length_ * width);
    }
    join_halves<kToReal>(*roots_, length_, width, b);
    b.swap();
  }
  // The imaginary parts that a spectrum of real numbers cannot have are left out.
  void prepare_to_real(int64_t width, Buffers<T>& b) const {
    std::fill_n(b.im, width, T(0));
    if (halved_) {
      std::fill_n(b.im + length_ * width, width, T(0));
      return join_spectrum<true>(width, b);
    }
    in_pieces(kept_ - 1, [&](int64_t i, int64_t last) {
      for (int64_t k = i + 1; k <= last; k++)
        for (int64_t l = 0; l < width; l++) {
          b.re[(c_.n - k) * width + l] = b.re[k * width + l];
          b.im[(c_.n - k) * width + l] = -b.im[k * width + l];
        }
    });
  }
  void mirror(const Place<T>& out) const {
    in_pieces(c_.n - kept_, [&](int64_t i, int64_t last) {
      for (int64_t k = kept_ + i; k < kept_ + last; k++) {
        const Place<T> to = out.at(k), from = out.at(c_.n - k);
        *to.re = *from.re, *to.im = -*from.im;
      }
    });
  }

  const FftCall& c_;
  bool halved_, side_by_side_ = false;
  int64_t length_, kept_;  // of the complex transform; of the spectrum of real numbers
  Lines lines_;
  typename FftPlan<T>::Pointer plan_;
  std::shared_ptr<const Parts<T>> roots_;
};

void transform(const FftCall& c) {
  if (c.dtype == kFloat64) Transform<double>(c).run();
  else Transform<float>(c).run();
}
void transform_in_place(int64_t n, double* re, double* im) {
  const Place<double> line{re, im, 1};
  LineTransform<double>::run(*line_plan<double>(n), line, 1.0, line);
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {

HWY_EXPORT(transform);
HWY_EXPORT(transform_in_place);

void transform_parts(int64_t n, double* re, double* im) { HWY_DYNAMIC_DISPATCH(transform_in_place)(n, re, im); }

namespace {
const KernelRegistration<FftCall> registration{fft_kernel, DeviceType::Cpu, [](const FftCall& c) {
                                                 HWY_DYNAMIC_DISPATCH(transform)(c);
                                               }};
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
