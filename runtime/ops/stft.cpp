// The short-time Fourier transform and its inverse: frames of a signal times a window, each transformed.
// compile: small (the transform takes longer)
#include <cmath>

#include "runtime/device/meta.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/class_text.h"
#include "runtime/ops/fft.h"
#include "runtime/ops/norm_layers.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

using std::optional;
constexpr auto kRuntime = TensorErrorKind::Runtime;

// ---- how messages show a call ----

std::string shown(const OptionalTensor& window) {
  return window ? text("window=", class_text(window->dtype()), "{", window->sizes(), "}") : "window=None";
}
template <class T>
std::string shown(const char* name, const optional<T>& value) {
  return value ? text(name, "=", int64_t(*value)) : text(name, "=None");
}

// The window in the middle of n_fft points; none when it would be ones alone.
Tensor centered(const OptionalTensor& window, int64_t length, int64_t n_fft, DType type, Device device) {
  if (!window && length == n_fft) return {};
  const Tensor w = window ? *window : ones({length}, type, device);
  const int64_t left = (n_fft - length) / 2;
  return length == n_fft ? w : pad(w, {left, n_fft - length - left});
}

// ---- forward ----

struct StftArguments {
  int64_t n_fft, hop, length;
  OptionalTensor window;
  bool normalized;
  optional<bool> onesided, return_complex, align;

  std::string shown_with(const Tensor& self) const {
    return text("stft(", class_text(self.dtype()), self.sizes(), ", n_fft=", n_fft, ", hop_length=", hop,
                ", win_length=", length, ", ", shown(window), ", normalized=", int(normalized), ", ",
                shown("onesided", onesided), ", ", shown("return_complex", return_complex), ", ",
                shown("align_to_window", align), ") ");
  }
  void check_all(const Tensor& self) const {
    check(is_floating(self.dtype()) || is_complex(self.dtype()), TensorErrorKind::NotImplemented, shown_with(self),
          ": expected a tensor of floating point or complex values");
    check(self.dim() == 1 || self.dim() == 2, kRuntime, shown_with(self), ": expected a 1D or 2D tensor");
    const int64_t size = self.size(-1);
    check(n_fft > 0 && n_fft <= size, kRuntime, shown_with(self), ": expected 0 < n_fft < ", size,
          ", but got n_fft=", n_fft);
    check(hop > 0, kRuntime, shown_with(self), ": expected hop_length > 0, but got hop_length=", hop);
    check(length > 0 && length <= n_fft, kRuntime, shown_with(self),
          ": expected 0 < win_length <= n_fft, but got win_length=", length);
    check(!window || window->sizes() == Ints({length}), kRuntime, shown_with(self),
          ": expected a 1D window tensor of size equal to win_length=", length, ", but got window with size ",
          window ? window->sizes() : Ints());
  }
};

// The signal with n_fft / 2 points more at both ends.
Tensor extended(const Tensor& self, int64_t n_fft, const std::string& mode) {
  Dims shape(self.sizes());
  while (shape.size() < 3) shape.insert(0, 1);
  const Tensor longer = pad(view(self, shape), {n_fft / 2, n_fft / 2}, mode);
  return view(longer, longer.sizes().drop(size_t(longer.dim() - self.dim())));
}

Tensor stft(const Tensor& signal, int64_t n_fft, optional<int64_t> hop, optional<int64_t> length,
            const OptionalTensor& window, bool center, const std::string& pad_mode, bool normalized,
            optional<bool> onesided, optional<bool> return_complex, optional<bool> align) {
  check(!center || !align, kRuntime, "stft align_to_window should only be set when center = false");
  const Tensor self = center ? extended(signal, n_fft, pad_mode) : signal;
  const StftArguments a{
      n_fft, hop.value_or(n_fft / 4), length.value_or(n_fft), window, normalized, onesided, return_complex, align};
  if (!window)
    Context::current().warn(
        "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. Other "
        "windows such as torch.hann_window or torch.hamming_window are recommended to reduce spectral leakage.To suppress "
        "this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`.");
  const bool complex_input = is_complex(self.dtype()) || (window && is_complex(window->dtype()));
  check(return_complex || complex_input, kRuntime,
        "stft requires the return_complex parameter be given for real inputs, and will further require that "
        "return_complex=True in a future PyTorch release.");
  if (return_complex && !*return_complex)
    Context::current().warn(
        "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors for "
        "all inputs, and return_complex=False will raise an error.\nNote: you can still call torch.view_as_real on the "
        "complex output to recover the old return format.");
  a.check_all(self);
  Tensor x = self.dim() == 1 ? unsqueeze(self, 0) : self;
  if (align.value_or(false)) {
    const int64_t left = (n_fft - a.length) / 2;
    x = pad(x, {left, n_fft - a.length - left});
  }
  Tensor frames = unfold(x, 1, n_fft, a.hop);
  const Tensor w = centered(window, a.length, n_fft, self.dtype(), self.device());
  if (w.defined()) frames = frames * w;
  const bool half = onesided.value_or(!complex_input);
  const Dims last{2};
  check(!complex_input || !half, kRuntime, "Cannot have onesided output if window or input is complex");
  check(real_type(frames.dtype()) == kFloat32 || real_type(frames.dtype()) == kFloat64, TensorErrorKind::NotImplemented,
        "MKL FFT doesn't support tensors of type: ", scalar_type_name(frames.dtype()));
  Tensor out = complex_input ? fft_c2c(frames, last, normalized, true) : fft_r2c(frames, last, normalized, half);
  out = transpose(out, 1, 2);
  if (self.dim() == 1) out = squeeze(out, 0);
  return return_complex.value_or(true) ? out : view_as_real(out);
}

// ---- inverse ----

// Frames [batch, count, size] added up where they overlap, `hop` from one to the next: cut into pieces of a hop's length, of which those
// with the same number lie side by side.
Tensor overlapped(const Tensor& frames, int64_t hop) {
  const int64_t batch = frames.sizes()[0], count = frames.sizes()[1], size = frames.sizes()[2];
  const int64_t pieces = (size + hop - 1) / hop;
  const Tensor cut = reshape(pad(frames, {0, pieces * hop - size}), {batch, count, pieces, hop});
  Tensor total;
  for (int64_t i = 0; i < pieces; i++) {
    const Tensor part = pad(select(cut, 2, i), {0, 0, i, pieces - 1 - i});
    total = total.defined() ? total + part : part;
  }
  return slice(reshape(total, {batch, (count + pieces - 1) * hop}), 1, 0, size + hop * (count - 1), 1);
}

struct IstftArguments {
  int64_t n_fft, hop, length;
  OptionalTensor window;
  bool center, normalized;
  optional<bool> onesided;
  optional<int64_t> points;
  bool return_complex;

  std::string shown_with(const Tensor& self) const {
    return text("istft(", class_text(self.dtype()), self.sizes(), ", n_fft=", n_fft, ", hop_length=", hop,
                ", win_length=", length, ", ", shown(window), ", center=", int(center),
                ", normalized=", int(normalized), ", ", shown("onesided", onesided), ", ", shown("length", points),
                ", return_complex=", int(return_complex), ") ");
  }
  bool is_half(const Tensor& self) const { return onesided.value_or(self.size(-2) != n_fft); }
  void check_all(const Tensor& self) const {
    check(self.numel() != 0, kRuntime, shown_with(self), ": input tensor cannot be empty.");
    check(self.dim() == 2 || self.dim() == 3, kRuntime, shown_with(self),
          ": expected a tensor with 3 or 4 dimensions, but got ", self.dim() + 1);
    const int64_t size = self.size(-2);
    const bool half = is_half(self);
    check(size == (half ? n_fft / 2 + 1 : n_fft), kRuntime, shown_with(self),
          ": expected the frequency dimension (3rd to the last) of the input tensor to match ",
          half ? "n_fft / 2 + 1 when onesided=True" : "n_fft when onesided=False", ", but got ", size);
    check(hop > 0 && hop <= length, kRuntime, shown_with(self), ": expected 0 < hop_length <= win_length");
    check(length > 0 && length <= n_fft, kRuntime, shown_with(self), ": expected 0 < win_length <= n_fft");
    check(!window || window->sizes() == Ints({length}), kRuntime, shown_with(self),
          ": Invalid window shape. window has to be 1D and length of `win_length`");
    check(!return_complex || !half, kRuntime, "Cannot have onesided output if window or input is complex");
    check(return_complex || !window || !is_complex(window->dtype()), kRuntime,
          "Complex windows are incompatible with return_complex=False");
  }
};

Tensor istft(const Tensor& self, int64_t n_fft, optional<int64_t> hop, optional<int64_t> length,
             const OptionalTensor& window, bool center, bool normalized, optional<bool> onesided,
             optional<int64_t> points, bool return_complex) {
  const IstftArguments a{n_fft,  hop.value_or(n_fft / 4), length.value_or(n_fft), window, center, normalized, onesided,
                         points, return_complex};
  if (!window)
    Context::current().warn(
        "A window was not provided. A rectangular window will be applied.Please provide the same window used by stft to "
        "make the inversion lossless.To suppress this warning and use a rectangular window, explicitly set "
        "`window=torch.ones(n_fft, device=<device>)`.");
  check(is_complex(self.dtype()), TensorErrorKind::Type,
        "istft requires a complex-valued input tensor matching the output from stft with return_complex=True.");
  check(self.dim() >= 2, TensorErrorKind::Index, "Dimension out of range (expected to be in range of [-",
        self.dim() + 1, ", ", self.dim(), "], but got -3)");
  a.check_all(self);
  const DType real_dtype = real_type(self.dtype());
  Tensor w = centered(window, a.length, n_fft, real_dtype, self.device());
  if (!w.defined()) w = ones({n_fft}, real_dtype, self.device());
  const Tensor spectra = transpose(self.dim() == 2 ? unsqueeze(self, 0) : self, 1, 2);
  const int64_t mode = normalized ? 1 : 2;
  const Dims last{2};
  const Tensor frames = return_complex ? fft_c2c(spectra, last, mode, false)
                                       : fft_c2r(slice(spectra, 2, 0, n_fft / 2 + 1, 1), last, mode, n_fft);
  const int64_t count = frames.sizes()[1], whole = n_fft + a.hop * (count - 1), start = center ? n_fft / 2 : 0;
  const int64_t end = points ? start + *points : center ? whole - n_fft / 2 : whole;
  const Tensor envelope = slice(overlapped(expand(w * w, {1, count, n_fft}), a.hop), 1, start, end, 1);
  check(!any_true(abs(envelope) < 1e-11), kRuntime, a.shown_with(self), "window overlap add min: 1\n[ CPUBoolType{} ]");
  Tensor y = slice(overlapped(frames * w, a.hop), 1, start, end, 1) / envelope;
  if (self.dim() == 2) y = squeeze(y, 0);
  if (end <= whole) return y;
  Context::current().warn(
      "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. Please "
      "check your center and hop_length settings.");
  return pad(y, {0, end - whole});
}

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(
    stft,
    "stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, "
    "str pad_mode='reflect', bool normalized=False, bool? onesided=None, bool? return_complex=None, "
    "bool? align_to_window=None) -> Tensor",
    "The Fourier transforms of overlapping frames of a signal, times a window.", kBoth, &stft,
    "f[20], 8, window=p[8], return_complex=True\n"
    "f[2,20], 8, 3, 5, p[5], False, return_complex=True, normalized=True\n"
    "f[20], 8, 3, 5, p[5], False, return_complex=True, align_to_window=True\n"
    "c[20], 6, window=p[6], pad_mode='constant'\n"
    "f[20], 7, window=p[7], return_complex=True, onesided=False\n"
    "f[20], 8, window=p[8] -> RuntimeError: stft requires the return_complex parameter be given for real inputs\n"
    "f[20], 8, 0, window=p[8], return_complex=True -> RuntimeError: stft(torch.FloatTensor[28], n_fft=8, hop_length=0, "
    "win_length=8, window=torch.FloatTensor{[8]}, normalized=0, onesided=None, return_complex=1, align_to_window=None) : "
    "expected hop_length > 0, but got hop_length=0\n"
    "f[20], 8, window=p[7], return_complex=True -> RuntimeError: stft(torch.FloatTensor[28]\n"
    "c[20], 8, window=p[8], onesided=True -> RuntimeError: Cannot have onesided output if window or input is complex",
    .speaks_as_python = true, .autocast = Autocast::Float32);
TS_OP(
    istft,
    "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, "
    "bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor",
    "The signal whose short-time Fourier transform comes nearest.", kBoth, &istft,
    "c[5,6], 8, window=g[8]\n"
    "c[2,4,5], 6, 2, 5, g[5], normalized=True, length=9\n"
    "c[6,4], 6, 2, window=g[6], onesided=False, return_complex=True, center=False\n"
    "f[5,6], 8, window=g[8] -> TypeError: istft requires a complex-valued input tensor\n"
    "c[6,3], 8, window=g[8] -> RuntimeError: istft(CPUComplexFloatType[6, 3], n_fft=8, hop_length=2, win_length=8, "
    "window=torch.FloatTensor{[8]}, center=1, normalized=0, onesided=None, length=None, return_complex=0) : expected the "
    "frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when onesided=True, but got 6");

}  // namespace
}  // namespace tessera::tensor
