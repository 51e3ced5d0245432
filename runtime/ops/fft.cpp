// The three transforms that all others are made of: complex to complex, real to complex, complex to real. Several dimensions are
// transformed one after the other. The derivative of each is another of them.
// compile: small (the transform takes longer)
#include "runtime/ops/fft.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<FftCall> fft_kernel("fft");

namespace {

Dims wrapped(const Tensor& self, Ints dim) {
  Dims dims;
  for (const int64_t d : dim) dims.push_back(wrap_dim(d, self.dim()));
  return dims;
}

// Dimensions from the outermost in memory to the innermost; `last` that many at the end keep their place.
Dims by_stride(Ints strides, Dims dims, size_t last = 0) {
  std::stable_sort(dims.begin(), dims.end() - last, [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  return dims;
}

// The layout of PyTorch's results: other dimensions in the order that they have in memory, then the transformed ones. Without
// elements nothing is transformed, and it is row-major.
Dims result_strides(Ints strides, Ints out_sizes, const Dims& transformed) {
  if (numel_of(out_sizes) == 0) return {};
  Dims order(strides.size());
  std::iota(order.begin(), order.end(), int64_t(0));
  // Not stable: of dimensions with one step, as those of size 1 may be, it tells the order.
  const auto others = std::partition(order.begin(), order.end(), [&](int64_t d) {
    return std::find(transformed.begin(), transformed.end(), d) == transformed.end();
  });
  std::sort(order.begin(), others, [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  std::copy(transformed.begin(), transformed.end(), others);
  Dims made(out_sizes);
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    made[size_t(order[i])] = step;
    step *= std::max<int64_t>(1, out_sizes[order[i]]);
  }
  return made;
}
Meta result(const Tensor& self, Ints sizes, const Dims& transformed, DType dtype) {
  return {sizes, dtype, self.device(), result_strides(self.strides(), sizes, transformed)};
}

double scale_of(int64_t normalization, double points) {
  return normalization == 0 ? 1.0 : normalization == 1 ? 1.0 / std::sqrt(points) : 1.0 / points;
}
double points_of(Ints sizes, const Dims& dims) {
  double points = 1;
  for (const int64_t d : dims) points *= double(sizes[d]);
  return points;
}

void transform(FftCall::Kind kind, const Tensor& in, const Tensor& out, int64_t d, bool inverse, double scale,
               bool whole = false) {
  if (out.numel() == 0) return;
  Dims lines, in_strides, out_strides;
  for (int64_t i = 0; i < in.dim(); i++) {
    if (i == d) continue;
    lines.push_back(in.sizes()[i]);
    in_strides.push_back(in.strides()[i]), out_strides.push_back(out.strides()[i]);
  }
  const int64_t n = kind == FftCall::ToReal ? out.sizes()[d] : in.sizes()[d];
  fft_kernel(out.device(), {real_type(out.dtype()), kind, inverse, whole, scale, n, in.data_ptr(), out.data_ptr(),
                            in.strides()[d], out.strides()[d], lines, in_strides, out_strides});
}
// Along each of the dims in turn, the first from `from`, which may be `to` itself.
void transform_all(const Tensor& from, const Tensor& to, Ints dims, bool inverse, double scale) {
  const Tensor* in = &from;
  for (size_t i = dims.size(); i-- > 0; in = &to, scale = 1)
    transform(FftCall::Complex, *in, to, dims[i], inverse, scale);
}

void check_type(const Tensor& self, DType a, DType b, const char* wanted) {
  check(!kSmallComplexTypes.has(self.dtype()), TensorErrorKind::NotImplemented,
        "MKL FFT doesn't support tensors of type: ", scalar_type_name(real_type(self.dtype())));
  check(self.dtype() == a || self.dtype() == b, TensorErrorKind::NotImplemented, "a Fourier transform expects ", wanted,
        " but got ", scalar_type_name(self.dtype()));
}
// The real transforms have a last dimension, of which they keep or expect the half.
void check_dims(const Dims& dims) {
  check(!dims.empty(), TensorErrorKind::Runtime,
        "a real Fourier transform needs at least one dimension, but dim is empty");
}
void check_complex(const Tensor& self) { check_type(self, kComplex64, kComplex128, "complex numbers"); }

struct FftC2C {
  static constexpr Forward forward = Forward::Linear;
  static Meta shape(const Tensor& self, Ints dim, int64_t, bool) {
    check_complex(self);
    return result(self, self.sizes(), by_stride(self.strides(), wrapped(self, dim)), self.dtype());
  }
  static void run(const Tensor& out, const Tensor& self, Ints dim, int64_t normalization, bool forward) {
    const Dims dims = by_stride(self.strides(), wrapped(self, dim));
    if (dims.empty()) return copy_into(out, self);
    transform_all(self, out, dims, !forward, scale_of(normalization, points_of(self.sizes(), dims)));
  }
  static void grad(Tensor& out, const Tensor& self, Ints dim, int64_t normalization, bool forward) {
    record(out, "FftC2CBackward0", {&self}, [dims = wrapped(self, dim), normalization, forward](Sweep& s) {
      s.give(0, [&] { return fft_c2c(s.g(), dims, normalization, !forward); });
    });
  }
};

struct FftR2C {
  static constexpr Forward forward = Forward::Linear;
  static Meta shape(const Tensor& self, Ints dim, int64_t, bool onesided) {
    check_type(self, kFloat32, kFloat64, "real numbers");
    check_dims(wrapped(self, dim));
    const Dims dims = by_stride(self.strides(), wrapped(self, dim), 1);
    Dims sizes(self.sizes());
    if (onesided) sizes[size_t(dims.back())] = sizes[size_t(dims.back())] / 2 + 1;
    return result(self, sizes, dims, complex_type(self.dtype()));
  }
  static void run(const Tensor& out, const Tensor& self, Ints dim, int64_t normalization, bool onesided) {
    const Dims dims = by_stride(self.strides(), wrapped(self, dim), 1);
    const double scale = scale_of(normalization, points_of(self.sizes(), dims));
    transform(FftCall::FromReal, self, out, dims.back(), false, scale, !onesided);
    transform_all(out, out, Ints(dims).first(dims.size() - 1), false, 1);
  }
  static void grad(Tensor& out, const Tensor& self, Ints dim, int64_t normalization, bool onesided) {
    const Dims dims = wrapped(self, dim);
    record(out, "FftR2CBackward0", {&self},
           [dims, normalization, onesided, last = self.sizes()[dims.back()]](Sweep& s) {
             s.give(0, [&] {
               // Of the other half nothing came, so it counts as zeros.
               const Tensor g = onesided ? padded(s.g(), dims.back(), last) : s.g();
               return real(fft_c2c(g, dims, normalization, false));
             });
           });
  }

 private:
  static Tensor padded(const Tensor& g, int64_t dim, int64_t size) {
    if (g.sizes()[dim] == size) return g;
    Dims rest;
    for (int64_t d = 0; d < g.dim(); d++) rest.push_back(d == dim ? size - g.sizes()[d] : g.sizes()[d]);
    return cat({g, zeros(rest, g.dtype(), g.device())}, dim);
  }
};

struct FftC2R {
  static Meta shape(const Tensor& self, Ints dim, int64_t, int64_t last_size) {
    check_complex(self);
    const Dims dims = wrapped(self, dim);
    check_dims(dims);
    // The other dimensions go first, and their result decides the layout of the last one's.
    Dims sizes(self.sizes()), strides(self.strides());
    const Dims leading(Ints(dims).first(dims.size() - 1));
    if (!leading.empty() && self.numel()) strides = result_strides(strides, sizes, by_stride(strides, leading));
    sizes[size_t(dims.back())] = last_size;
    return {sizes, real_type(self.dtype()), self.device(), result_strides(strides, sizes, Dims{dims.back()})};
  }
  static void run(const Tensor& out, const Tensor& self, Ints dim, int64_t normalization, int64_t last_size) {
    const Dims dims = wrapped(self, dim);
    const Ints leading = Ints(dims).first(dims.size() - 1);
    Tensor half = self;
    if (!leading.empty()) half = fft_c2c(self, leading, 0, false);
    const double points = points_of(self.sizes(), Dims(leading)) * double(last_size);
    transform(FftCall::ToReal, half, out, dims.back(), true, scale_of(normalization, points));
  }
  static void grad(Tensor& out, const Tensor& self, Ints dim, int64_t normalization, int64_t) {
    record(out, "FftC2RBackward0", {&self}, [dims = wrapped(self, dim), normalization](Sweep& s) {
      s.give(0, [&] {
        const Tensor g = fft_r2c(s.g(), dims, normalization, true);
        // All but the first number, and the last of an even length, stand for their conjugates too.
        const int64_t doubled = s.g().sizes()[dims.back()] - g.sizes()[dims.back()];
        if (doubled <= 0) return g;
        Dims shape;
        for (int64_t d = 0; d < g.dim(); d++) shape.push_back(d == dims.back() ? g.sizes()[d] : 1);
        const Tensor weight = ones(shape, real_type(g.dtype()), g.device());
        fill_into(narrow(weight, dims.back(), 1, doubled), 2);
        return g * weight;
      });
    });
  }
};

}  // namespace

Tensor fft_c2c(const Tensor& self, Ints dim, int64_t normalization, bool forward) {
  return apply<FftC2C>(self, dim, normalization, forward);
}
Tensor fft_r2c(const Tensor& self, Ints dim, int64_t normalization, bool onesided) {
  return apply<FftR2C>(self, dim, normalization, onesided);
}
Tensor fft_c2r(const Tensor& self, Ints dim, int64_t normalization, int64_t last_size) {
  return apply<FftC2R>(self, dim, normalization, last_size);
}

namespace {

TS_OP(_fft_c2c, "_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor",
      "The Fourier transform of complex numbers.", kFunction | kInternal, FftC2C,
      "c[8], [0], 0, True\n"
      "c[3,5], [1], 1, False\n"
      "c[4,3,6].t, [2, 0], 2, True\n"
      "c[2,3], [], 0, True\n"
      "f[3], [0], 0, True -> NotImplementedError: a Fourier transform expects complex numbers but got Float");
TS_OP(_fft_r2c, "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
      "The Fourier transform of real numbers.", kFunction | kInternal, FftR2C,
      "f[8], [0], 0, True\n"
      "f[3,5], [1], 1, True\n"
      "f[4,3,6].t, [2, 0], 2, True\n"
      "f[4,6], [0, 1], 0, False\n"
      "f[3,5].t, [0], 0, False\n"
      "f[3], [], 0, True -> RuntimeError: a real Fourier transform needs at least one dimension, but dim is empty\n"
      "c[3], [0], 0, True -> NotImplementedError: a Fourier transform expects real numbers but got ComplexFloat");
TS_OP(_fft_c2r, "_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor",
      "The inverse Fourier transform to real numbers.", kFunction | kInternal, FftC2R,
      "c[5], [0], 0, 8\n"
      "c[3,4], [1], 1, 7\n"
      "c[4,3,6].t, [2, 0], 2, 6\n"
      "f[3], [0], 0, 4 -> NotImplementedError: a Fourier transform expects complex numbers but got Float");

}  // namespace
}  // namespace tessera::tensor
