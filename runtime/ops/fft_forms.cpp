// The functions of torch.fft: what they check and promote, then the three transforms of fft.h.
// compile: small (the transform takes longer)
#include <algorithm>

#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/fft.h"
#include "runtime/ops/join.h"
#include "runtime/ops/norm_layers.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

using std::optional;
using Norm = optional<std::string>;
constexpr auto kRuntime = TensorErrorKind::Runtime;

// ---- arguments ----

int64_t normalization(const Norm& norm, bool forward) {
  const std::string mode = norm.value_or("backward");
  if (mode == "ortho") return 1;
  if (mode == "backward") return forward ? 0 : 2;
  check(mode == "forward", kRuntime, "Invalid normalization mode: \"", mode, "\"");
  return forward ? 2 : 0;
}

Tensor promoted(const Tensor& self, bool to_complex) {
  DType type = self.dtype();
  if (is_complex(type)) return self;
  if (!is_floating(type)) type = Context::current().default_dtype;
  check(type == kFloat32 || type == kFloat64, TensorErrorKind::NotImplemented, "Unsupported dtype ",
        scalar_type_name(type));
  return to_dtype(self, to_complex ? complex_type(type) : type);
}

void check_points(int64_t n) { check(n >= 1, kRuntime, "Invalid number of data points (", n, ") specified"); }

int64_t one_dim(const Tensor& self, int64_t dim) {
  check(self.dim() > 0, TensorErrorKind::Index, "Dimension specified as ", dim, " but tensor has no dimensions");
  return wrap_dim(dim, self.dim());
}

// Cut, or zeros added at the end, to a size along each dimension.
Tensor resized(Tensor self, const Dims& dims, const Dims& sizes) {
  std::vector<int64_t> more(size_t(2 * self.dim()), 0);
  bool grows = false;
  for (size_t i = 0; i < dims.size(); i++) {
    const int64_t had = self.sizes()[dims[i]], wanted = sizes[i];
    if (wanted < had) self = slice(self, dims[i], 0, wanted, 1);
    more[size_t(2 * (self.dim() - dims[i]) - 1)] = std::max<int64_t>(0, wanted - had);
    grows = grows || wanted > had;
  }
  return grows ? pad(self, Ints(more.data(), more.size())) : self;
}

/// What is transformed: dimensions, and how many points of each.
struct Extent {
  Dims dims, sizes;
};

Extent extent_of(const Tensor& self, const optional<Dims>& s, const optional<Dims>& dim) {
  Extent e;
  if (dim)
    for (const int64_t d : *dim) e.dims.push_back(one_dim(self, d));
  for (size_t i = 0; i < e.dims.size(); i++)
    check(std::count(e.dims.begin(), e.dims.end(), e.dims[i]) == 1, kRuntime, "FFT dims must be unique");
  if (s) {
    check(!dim || dim->size() == s->size(), kRuntime, "When given, dim and shape arguments must have the same length");
    check(int64_t(s->size()) <= self.dim(), kRuntime, "Got shape with ", s->size(),
          " values but input tensor only has ", self.dim(), " dimensions.");
  }
  if (!dim)
    for (int64_t d = s ? self.dim() - int64_t(s->size()) : 0; d < self.dim(); d++) e.dims.push_back(d);
  for (size_t i = 0; i < e.dims.size(); i++) e.sizes.push_back(s && (*s)[i] != -1 ? (*s)[i] : self.sizes()[e.dims[i]]);
  for (const int64_t n : e.sizes) check_points(n);
  return e;
}

// For results that are real: how many numbers the last dimension has then. What is read of it is half and one.
int64_t real_extent(const char* name, const Tensor& self, const optional<Dims>& s, const optional<Dims>& dim,
                    Extent& e) {
  e = extent_of(self, s, dim);
  check(!e.dims.empty(), kRuntime, name, " must transform at least one axis");
  const int64_t n = s && s->back() != -1 ? s->back() : 2 * (self.sizes()[e.dims.back()] - 1);
  check_points(n);
  e.sizes.back() = n / 2 + 1;
  return n;
}

// ---- one dimension ----

Tensor to_complex_line(const Tensor& self, optional<int64_t> n_given, int64_t dim, const Norm& norm, bool forward) {
  Tensor x = promoted(self, false);
  dim = one_dim(self, dim);
  const int64_t n = n_given.value_or(self.sizes()[dim]);
  check_points(n);
  if (n_given) x = resized(x, {dim}, {n});
  const int64_t mode = normalization(norm, forward);
  if (is_complex(x.dtype())) return fft_c2c(x, Ints(&dim, 1), mode, forward);
  const Tensor y = fft_r2c(x, Ints(&dim, 1), mode, false);
  return forward ? y : renamed(conj(y), "ConjBackward0");
}
Tensor from_real_line(const char* name, const Tensor& self, optional<int64_t> n_given, int64_t dim, const Norm& norm,
                      bool forward) {
  check(!is_complex(self.dtype()), TensorErrorKind::Type, name, " expects a real input tensor, but got ",
        scalar_type_name(self.dtype()));
  Tensor x = promoted(self, false);
  dim = one_dim(self, dim);
  const int64_t n = n_given.value_or(self.sizes()[dim]);
  check_points(n);
  if (n_given) x = resized(x, {dim}, {n});
  const Tensor y = fft_r2c(x, Ints(&dim, 1), normalization(norm, forward), true);
  return forward ? y : renamed(conj(y), "ConjBackward0");
}
Tensor to_real_line(const Tensor& self, optional<int64_t> n_given, int64_t dim, const Norm& norm, bool forward) {
  Tensor x = promoted(self, true);
  dim = one_dim(self, dim);
  const int64_t n = n_given.value_or(2 * (self.sizes()[dim] - 1));
  check_points(n);
  if (n_given) x = resized(x, {dim}, {n / 2 + 1});
  return fft_c2r(forward ? conj(x) : x, Ints(&dim, 1), normalization(norm, forward), n);
}

using Points = optional<int64_t>;
Tensor fft(const Tensor& x, Points n, int64_t dim, const Norm& norm) { return to_complex_line(x, n, dim, norm, true); }
Tensor ifft(const Tensor& x, Points n, int64_t dim, const Norm& norm) {
  return to_complex_line(x, n, dim, norm, false);
}
Tensor rfft(const Tensor& x, Points n, int64_t dim, const Norm& norm) {
  return from_real_line("rfft", x, n, dim, norm, true);
}
Tensor ihfft(const Tensor& x, Points n, int64_t dim, const Norm& norm) {
  return from_real_line("ihfft", x, n, dim, norm, false);
}
Tensor irfft(const Tensor& x, Points n, int64_t dim, const Norm& norm) { return to_real_line(x, n, dim, norm, false); }
Tensor hfft(const Tensor& x, Points n, int64_t dim, const Norm& norm) { return to_real_line(x, n, dim, norm, true); }

// ---- several dimensions ----

using Sizes = optional<Dims>;

Tensor to_complex(const Tensor& self, const Sizes& s, const Sizes& dim, const Norm& norm, bool forward) {
  const Extent e = extent_of(self, s, dim);
  const Tensor x = resized(promoted(self, true), e.dims, e.sizes);
  return fft_c2c(x, e.dims, normalization(norm, forward), forward);
}
Tensor fftn(const Tensor& x, const Sizes& s, const Sizes& dim, const Norm& norm) {
  return to_complex(x, s, dim, norm, true);
}
Tensor ifftn(const Tensor& x, const Sizes& s, const Sizes& dim, const Norm& norm) {
  return to_complex(x, s, dim, norm, false);
}
Tensor rfftn(const Tensor& self, const Sizes& s, const Sizes& dim, const Norm& norm) {
  check(!is_complex(self.dtype()), TensorErrorKind::Type, "rfftn expects a real-valued input tensor, but got ",
        scalar_type_name(self.dtype()));
  const Extent e = extent_of(self, s, dim);
  check(!e.dims.empty(), kRuntime, "rfftn must transform at least one axis");
  return fft_r2c(resized(promoted(self, false), e.dims, e.sizes), e.dims, normalization(norm, true), true);
}
Tensor irfftn(const Tensor& self, const Sizes& s, const Sizes& dim, const Norm& norm) {
  Extent e;
  const int64_t n = real_extent("irfftn", self, s, dim, e);
  return fft_c2r(resized(promoted(self, true), e.dims, e.sizes), e.dims, normalization(norm, false), n);
}
Tensor hfftn(const Tensor& self, const Sizes& s, const Sizes& dim, const Norm& norm) {
  Extent e;
  const int64_t n = real_extent("hfftn", self, s, dim, e), mode = normalization(norm, true);
  Tensor x = resized(promoted(self, true), e.dims, e.sizes);
  if (e.dims.size() > 1) x = fft_c2c(x, Ints(e.dims).first(e.dims.size() - 1), mode, true);
  return fft_c2r(conj(x), Ints(e.dims).drop(e.dims.size() - 1), mode, n);
}
Tensor ihfftn(const Tensor& self, const Sizes& s, const Sizes& dim, const Norm& norm) {
  check(!is_complex(self.dtype()), TensorErrorKind::Type,
        "Only supports floating-point dtypes, but found: ", scalar_type_name(self.dtype()));
  const Extent e = extent_of(self, s, dim);
  check(!e.dims.empty(), kRuntime, "ihfftn must transform at least one axis");
  const int64_t mode = normalization(norm, false);
  const Tensor x = resized(promoted(self, false), e.dims, e.sizes);
  const Tensor y = conj(fft_r2c(x, Ints(e.dims).drop(e.dims.size() - 1), mode, true));
  return e.dims.size() == 1 ? y : fft_c2c(y, Ints(e.dims).first(e.dims.size() - 1), mode, false);
}

// ---- frequencies and shifts ----

Tensor shifted(const Tensor& self, const Sizes& dim, bool back) {
  Dims dims, shifts;
  if (dim) dims = *dim;
  else
    for (int64_t d = 0; d < self.dim(); d++) dims.push_back(d);
  for (int64_t& d : dims) d = one_dim(self, d);
  for (const int64_t d : dims) shifts.push_back((self.sizes()[d] + (back ? 1 : 0)) / 2);
  return roll(self, shifts, dims);
}
Tensor fftshift(const Tensor& self, const Sizes& dim) { return shifted(self, dim, false); }
Tensor ifftshift(const Tensor& self, const Sizes& dim) { return shifted(self, dim, true); }

#define TS_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
using Ignored = optional<bool>;
using NoLayout = optional<Dims>;

DType frequency_type(const char* name, const MaybeType& dtype, const MaybeDevice& device) {
  const DType type = dtype.value_or(Context::current().default_dtype);
  check(is_floating(type) || is_complex(type), kRuntime, name, " requires a floating point or complex dtype");
  if (is_complex(type)) refuse_type(type, device.value_or(Context::current().default_device), "arange_cpu");
  return type;
}
Tensor fftfreq(int64_t n, double d, MaybeType dtype, const NoLayout&, MaybeDevice device, Ignored) {
  const DType type = frequency_type("fftfreq", dtype, device);
  check(n >= 0, kRuntime, "Trying to create tensor with negative dimension ", n, ": [", n, "]");
  const int64_t positive = (n + 1) / 2;
  const Tensor steps = cat({arange(0, positive, 1, type, device), arange(-(n / 2), 0, 1, type, device)});
  return steps * (1.0 / (double(n) * d));
}
Tensor rfftfreq(int64_t n, double d, MaybeType dtype, const NoLayout&, MaybeDevice device, Ignored) {
  const DType type = frequency_type("rfftfreq", dtype, device);
  return arange(0, n / 2 + 1, 1, type, device) * (1.0 / (double(n) * d));
}

// ---- entries ----

constexpr uint32_t kForm = kFft | kOut;
#define TS_LINE(NAME, DOC, ...)                                                                                  \
  TS_OP(fft_##NAME, "fft_" #NAME "(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor", DOC, kForm, \
        &NAME, __VA_ARGS__)
#define TS_PLANE(NAME, BASE, DOC, ...)                                                                                \
  TS_OP(fft_##NAME, "fft_" #NAME "(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor", DOC, \
        kForm, &BASE, __VA_ARGS__)
#define TS_SPACE(NAME, DOC, ...)                                                                                   \
  TS_OP(fft_##NAME, "fft_" #NAME "(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", DOC, \
        kForm, &NAME, __VA_ARGS__)

TS_LINE(fft, "The discrete Fourier transform along one dimension.",
        "f[2,6]\n"
        "c[5,3], 4, 0, 'ortho'\n"
        "c[3], 6, norm='forward'\n"
        "i[4]<9\n"
        "f[3], 0 -> RuntimeError: Invalid number of data points (0) specified\n"
        "f[] -> IndexError: Dimension specified as -1 but tensor has no dimensions\n"
        "f[3]:float16 -> NotImplementedError: Unsupported dtype Half\n"
        "f[3], norm='x' -> RuntimeError: Invalid normalization mode: \"x\"",
        .out = {OutRule::Castable, "fft expects a complex output tensor, but got $O"}, .autocast = Autocast::Float32);
TS_LINE(ifft, "The inverse of fft.",
        "f[2,6]\n"
        "c[5,3], 4, 0, 'ortho'",
        .out = {OutRule::Castable, "ifft expects a complex output tensor, but got $O"}, .autocast = Autocast::Float32);
TS_LINE(rfft, "The first half of the Fourier transform of real numbers; the rest are its conjugates.",
        "f[2,6]\n"
        "f[5,3], 7, 0, 'forward'\n"
        "c[3] -> TypeError: rfft expects a real input tensor, but got ComplexFloat",
        .out = {OutRule::Castable, "rfft expects a complex output tensor, but got $O"}, .autocast = Autocast::Float32);
TS_LINE(irfft, "The inverse of rfft; n is 2 * (size - 1) unless given.",
        "c[2,4]\n"
        "c[5,3], 7, 0, 'ortho'\n"
        "f[4], 6\n"
        "c[1] -> RuntimeError: Invalid number of data points (0) specified",
        .out = {OutRule::Castable, "irfft expects a floating point output tensor, but got $O"},
        .autocast = Autocast::Float32);
TS_LINE(hfft, "The Fourier transform of numbers whose other half are their conjugates.",
        "c[2,4]\n"
        "c[5,3], 7, 0, 'ortho'",
        .out = {OutRule::Castable, "hfft expects a floating point output tensor, but got $O"},
        .autocast = Autocast::Float32);
TS_LINE(ihfft, "The inverse of hfft.",
        "f[2,6]\n"
        "f[5,3], 7, 0, 'forward'\n"
        "c[3] -> TypeError: ihfft expects a real input tensor, but got ComplexFloat",
        .out = {OutRule::Castable, "ihfft expects a complex output tensor, but got $O"}, .autocast = Autocast::Float32);

TS_SPACE(fftn, "The Fourier transform along several dimensions.",
         "f[2,3,4]\n"
         "c[2,3,4], [4, 2], [0, 2], 'ortho'\n"
         "c[3,4], [-1, 5]\n"
         "f[]\n"
         "f[3,4], [2, 3], [0] -> RuntimeError: When given, dim and shape arguments must have the same length\n"
         "f[3], [2, 3] -> RuntimeError: Got shape with 2 values but input tensor only has 1 dimensions.\n"
         "f[3,4], dim=[1, -1] -> RuntimeError: FFT dims must be unique",
         .out = {OutRule::Castable, "fftn expects a complex output tensor, but got $O"}, .autocast = Autocast::Float32);
TS_SPACE(ifftn, "The inverse of fftn.", "c[2,3,4], [4, 2], [0, 2], 'forward'",
         .out = {OutRule::Castable, "fftn expects a complex output tensor, but got $O"}, .autocast = Autocast::Float32);
TS_SPACE(rfftn, "The first half of the Fourier transform of real numbers along several dimensions.",
         "f[2,3,4]\n"
         "f[3,4], [5, 2], [1, 0], 'ortho'\n"
         "f[3], dim=[] -> RuntimeError: rfftn must transform at least one axis\n"
         "c[3] -> TypeError: rfftn expects a real-valued input tensor, but got ComplexFloat",
         .out = {OutRule::Castable, "rfftn expects a complex output tensor, but got $O"},
         .autocast = Autocast::Float32);
TS_SPACE(irfftn, "The inverse of rfftn.",
         "c[2,3,4]\n"
         "c[3,4], [5, 4], [1, 0], 'ortho'\n"
         "c[3], dim=[] -> RuntimeError: irfftn must transform at least one axis",
         .out = {OutRule::Castable, "irfftn expects a floating point output tensor, but got $O"},
         .autocast = Autocast::Float32);
TS_SPACE(hfftn, "The Fourier transform to real numbers along several dimensions.",
         "c[3,4]\n"
         "c[3,4], [5, 4], [1, 0], 'ortho'\n"
         "c[3], dim=[] -> RuntimeError: hfftn must transform at least one axis",
         .out = {OutRule::Castable, "hfftn expects a floating point output tensor, but got $O"},
         .autocast = Autocast::Float32);
TS_SPACE(ihfftn, "The inverse of hfftn.",
         "f[3,4]\n"
         "f[3,4], [5, 4], [1, 0], 'forward'\n"
         "f[3], dim=[] -> RuntimeError: ihfftn must transform at least one axis\n"
         "c[3] -> TypeError: Only supports floating-point dtypes, but found: ComplexFloat",
         .out = {OutRule::Castable, "ihfftn expects a complex output tensor, but got $O"},
         .autocast = Autocast::Float32);

TS_PLANE(fft2, fftn, "The Fourier transform along two dimensions.",
         "f[2,3,4]\n"
         "f[3] -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got -2)",
         .out = {OutRule::Castable, "fftn expects a complex output tensor, but got $O"}, .autocast = Autocast::Float32);
TS_PLANE(ifft2, ifftn, "The inverse of fft2.", "c[2,3,4], [2, 5]",
         .out = {OutRule::Castable, "fftn expects a complex output tensor, but got $O"}, .autocast = Autocast::Float32);
TS_PLANE(rfft2, rfftn, "The first half of the Fourier transform of real numbers along two dimensions.", "f[2,3,4]",
         .out = {OutRule::Castable, "rfftn expects a complex output tensor, but got $O"},
         .autocast = Autocast::Float32);
TS_PLANE(irfft2, irfftn, "The inverse of rfft2.", "c[2,3,4]",
         .out = {OutRule::Castable, "irfftn expects a floating point output tensor, but got $O"},
         .autocast = Autocast::Float32);
TS_PLANE(hfft2, hfftn, "The Fourier transform to real numbers along two dimensions.", "c[2,3,4]",
         .out = {OutRule::Castable, "hfftn expects a floating point output tensor, but got $O"},
         .autocast = Autocast::Float32);
TS_PLANE(ihfft2, ihfftn, "The inverse of hfft2.", "f[2,3,4]",
         .out = {OutRule::Castable, "ihfftn expects a complex output tensor, but got $O"},
         .autocast = Autocast::Float32);

TS_OP(fft_fftfreq, "fft_fftfreq(int n, float d=1.0, *, " TS_OPTIONS ") -> Tensor",
      "The frequencies of the numbers that fft gives.", kFft | kOut | kNoGrad, &fftfreq,
      "5\n"
      "4, 0.5\n"
      "0\n"
      "-1 -> RuntimeError: Trying to create tensor with negative dimension -1: [-1]\n"
      "3, dtype=int64 -> RuntimeError: fftfreq requires a floating point or complex dtype");
TS_OP(fft_rfftfreq, "fft_rfftfreq(int n, float d=1.0, *, " TS_OPTIONS ") -> Tensor",
      "The frequencies of the numbers that rfft gives.", kFft | kOut | kNoGrad, &rfftfreq,
      "5\n"
      "4, 0.5");
TS_OP(fft_fftshift, "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", "Moves frequency 0 to the middle.", kFft,
      &fftshift,
      "f[2,5]\n"
      "i[4]<9\n"
      "f[3,4], 0\n"
      "f[3], 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)");
TS_OP(fft_ifftshift, "fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", "The inverse of fftshift.", kFft,
      &ifftshift,
      "f[2,5]\n"
      "f[3,4], 0");

}  // namespace
}  // namespace tessera::tensor
