// Along one dimension: the extremes with their index, and running sums and products.
// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/device/backend.h"
#include "runtime/ops.h"
#include "runtime/ops/batching.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/out_types.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/reduce.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

using namespace reduction;

namespace {

/// Runs the kernel over `dense` seen as outer x n x inner around `dim`.
void run_along(AlongCall::Op op, const Tensor& dense, int64_t dim, void* out, int64_t* index, bool backwards = false) {
  AlongCall c{op, dense.dtype(), dense.data_ptr(), out, index, 1, dense.dim() ? dense.sizes()[size_t(dim)] : 1,
              1,  backwards};
  for (int64_t d = 0; d < dense.dim(); d++)
    if (d != dim) (d < dim ? c.outer : c.inner) *= dense.sizes()[size_t(d)];
  if (c.outer != 0 && c.inner != 0) along_kernel(dense.device(), c);
}

// ---- extremes ----

Dims extreme_shape(const char* name, const Tensor& x, int64_t dim, bool keepdim) {
  check(!is_complex(x.dtype()), TensorErrorKind::Type, name, "(): does not support complex input");
  check(x.dim() <= 64, TensorErrorKind::Runtime, "only tensors with up to 64 dims are supported");
  const int64_t at = wrap_dim(dim, x.dim());
  if (x.dim()) check_not_empty(name, x, Dims{at});
  return reduced_shape(x.sizes(), x.dim() ? uint64_t(1) << at : 0, keepdim);
}

template <AlongCall::Op kOp>
struct Extreme {
  static constexpr bool kMax = kOp == AlongCall::Max;

  static std::array<Meta, 2> shape(const Tensor& self, int64_t dim, bool keepdim) {
    const Dims sizes = extreme_shape(kMax ? "max" : "min", self, dim, keepdim);
    return {Meta(sizes, self), Meta(sizes, kInt64, self.device())};
  }
  static void run(const Tensor& values, const Tensor& index, const Tensor& self, int64_t dim, bool) {
    run_along(kOp, contiguous(self), wrap_dim(dim, self.dim()), values.data_ptr(), index.data<int64_t>());
  }
  static void grad(Tensor& values, Tensor& index, const Tensor& self, int64_t dim_given, bool keepdim) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    record(values, kMax ? "MaxBackward0" : "MinBackward0", {&self}, keep(index),
           [dim, keepdim, sizes = Dims(self.sizes())](Sweep& s) {
             s.give(0, [&] {
               if (sizes.empty()) return s.g();
               const auto whole = [&](const Tensor& t) { return keepdim ? t : unsqueeze(t, dim); };
               return scatter(zeros(sizes, s.g().dtype(), s.g().device()), dim, whole(s.kept(0)), whole(s.g()));
             });
           });
  }
};

template <AlongCall::Op kOp>
struct ExtremeIndex {
  static Meta shape(const Tensor& self, const std::optional<int64_t>& dim, bool keepdim) {
    const char* name = kOp == AlongCall::Max ? "argmax" : "argmin";
    check(!is_complex(self.dtype()), TensorErrorKind::Type, name, "(): does not support complex input");
    check(!is_bool(self.dtype()), TensorErrorKind::NotImplemented, name, "(): does not support bool input");
    if (dim) return {extreme_shape(name, self, *dim, keepdim), kInt64, self.device()};
    check(self.numel() != 0, TensorErrorKind::Index, name,
          "(): Expected reduction dim to be specified for input.numel() == 0.");
    return {keepdim ? Dims(self.sizes().size(), 1) : Dims(), kInt64, self.device()};
  }
  static void run(const Tensor& out, const Tensor& self, const std::optional<int64_t>& dim, bool) {
    const Tensor x = contiguous(self);
    if (dim) run_along(kOp, x, wrap_dim(*dim, x.dim()), nullptr, out.data<int64_t>());
    else run_along(kOp, reshape(x, {-1}), 0, nullptr, out.data<int64_t>());
  }
};

// ---- running sums and products ----

DType running_type(const Tensor& x, MaybeType dtype) {
  return dtype.value_or(is_differentiable(x.dtype()) ? x.dtype() : kInt64);
}

/// Running sums, from the end when `backwards`; those of complex numbers are those of their parts.
void run_sums(const Tensor& out, const Tensor& self, int64_t dim, bool backwards) {
  const bool parts = is_complex(out.dtype());
  const Tensor from = contiguous(parts ? view_as_real(self) : self), to = parts ? view_as_real(out) : out;
  if (parts && self.dim() == 0) copy_into(to, from);
  else run_along(AlongCall::Sum, from, wrap_dim(dim, self.dim()), to.data_ptr(), nullptr, backwards);
}

/// Running products of complex numbers: of 1, 2, 4, ... neighbours.
void run_complex_products(const Tensor& out, const Tensor& self, int64_t dim) {
  Tensor products = self;
  const int64_t n = self.dim() ? self.size(dim) : 1;
  for (int64_t step = 1; step < n; step *= 2)
    products = cat(
        {narrow(products, dim, 0, step), narrow(products, dim, step, n - step) * narrow(products, dim, 0, n - step)},
        dim);
  copy_into(out, products);
}

/// The sum from here to the end.
struct SumFromHere {
  static constexpr Forward forward = Forward::Linear;
  static Meta shape(const Tensor& self, int64_t dim) {
    wrap_dim(dim, self.dim());
    return {self.sizes(), self};
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim) { run_sums(out, self, dim, true); }
  static void grad(Tensor& out, const Tensor& self, int64_t dim) {
    record(out, "FlipBackward0", {&self}, [dim](Sweep& s) { s.give(0, [&] { return cumsum(s.g(), dim); }); });
  }
};

/// The derivative of cumprod one element at a time: of what comes from there on, the products without it.
Tensor cumprod_dx_each(const Tensor& g, const Tensor& x, int64_t dim) {
  const int64_t n = x.sizes()[size_t(dim)];
  Dims line(x.sizes().size(), 1);
  line[size_t(dim)] = n;
  const Tensor place = reshape(arange(0, n, 1, kInt64, x.device()), line);
  Tensor out = zeros(x.sizes(), x.dtype(), x.device());
  for (int64_t k = 0; k < n; k++) {
    const Tensor here = place == k, products = cumprod(where(here, 1.0, x), dim);
    out = where(here, sum(where(place < k, 0.0, g * products), Dims{dim}, true), out);
  }
  return out;
}

/// The derivative of cumprod: sum from here on of g y / x; where x is 0 what would have been without it.
Tensor cumprod_dx(const Tensor& g, const Tensor& x, const Tensor& y, int64_t dim) {
  if (!x.dim()) return g;
  const Tensor zero = x == 0.0;
  if (!any(zero).item().to_bool()) return apply<SumFromHere>(g * y, dim) / x;
  if (Context::current().records) return cumprod_dx_each(g, x, dim);  // it will be differentiated again
  // Up to the first 0 all is as ever. That 0 itself sees the products that skip it, up to the second; beyond, all is 0.
  const Tensor plain = apply<SumFromHere>(g * y, dim) / where(zero, 1.0, x);
  const Tensor zeros = cumsum(to_dtype(zero, kInt64), dim), first = zero & (zeros == 1);
  const Tensor skipping = where(zeros == 1, g * cumprod(where(first, 1.0, x), dim), 0.0);
  return where(first, sum(skipping, Dims{dim}, true), where(zeros == 0, plain, 0.0));
}

template <AlongCall::Op kOp>
struct Running {
  static Meta shape(const Tensor& self, int64_t dim, MaybeType dtype) {
    wrap_dim(dim, self.dim());
    const DType type = running_type(self, dtype);
    if (self.dim() && self.numel())
      require_type(kAllTypes - kBool, type, self.device(),
                   kOp == AlongCall::Sum ? KernelName("cumsum_out_cpu", "cumsum_cuda")
                                         : KernelName("cumprod_out_cpu", "cumprod_cuda"));
    return {self.sizes(), type, self.device()};
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim, MaybeType) {
    if (kOp == AlongCall::Sum) return run_sums(out, to_dtype(self, out.dtype()), dim, false);
    if (is_complex(out.dtype()))
      return run_complex_products(out, to_dtype(self, out.dtype()), wrap_dim(dim, self.dim()));
    run_along(kOp, contiguous(to_dtype(self, out.dtype())), wrap_dim(dim, self.dim()), out.data_ptr(), nullptr);
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim_given, MaybeType) {
    if (!is_differentiable(out.dtype())) return;
    const int64_t dim = wrap_dim(dim_given, self.dim());
    const DType type = self.dtype();
    if constexpr (kOp == AlongCall::Sum)
      record(out, "CumsumBackward0", {&self}, [dim, type](Sweep& s) {
        s.give(0, [&] { return to_dtype(s.g().dim() ? apply<SumFromHere>(s.g(), dim) : s.g(), type); });
      });
    else
      record(out, "CumprodBackward0", {&self}, Kept<2>{{SavedTensor(self), SavedTensor(out, true)}},
             [dim, type](Sweep& s) {
               s.give(0, [&] { return to_dtype(conj(cumprod_dx(conj(s.g()), s.kept(0), s.kept(1), dim)), type); });
             });
  }
};

}  // namespace

// ---- C++ functions ----

std::tuple<Tensor, Tensor> max(const Tensor& x, int64_t dim, bool keepdim) {
  return apply<Extreme<AlongCall::Max>>(x, dim, keepdim);
}
std::tuple<Tensor, Tensor> min(const Tensor& x, int64_t dim, bool keepdim) {
  return apply<Extreme<AlongCall::Min>>(x, dim, keepdim);
}
Tensor argmax(const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  return apply<ExtremeIndex<AlongCall::Max>>(x, dim, keepdim);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  return apply<ExtremeIndex<AlongCall::Min>>(x, dim, keepdim);
}
Tensor cumsum(const Tensor& x, int64_t dim, MaybeType dtype) { return apply<Running<AlongCall::Sum>>(x, dim, dtype); }
Tensor cumprod(const Tensor& x, int64_t dim, MaybeType dtype) {
  return apply<Running<AlongCall::Product>>(x, dim, dtype);
}
Tensor max(const Tensor& x) {
  check_not_empty("max", x, {});
  require_type(kAllTypes - kComplexTypes, x, {"max_all", "max_all_cuda"});
  return reduce(r_amax, {x, dim_mask(x, {}), false, {}, kOfAll, "MaxBackward1"});
}
Tensor min(const Tensor& x) {
  check_not_empty("min", x, {});
  require_type(kAllTypes - kComplexTypes, x, {"min_all", "min_all_cuda"});
  return reduce(r_amin, {x, dim_mask(x, {}), false, {}, kOfAll, "MinBackward1"});
}

// ---- registry ----

namespace {

Tensor max_of_all(const Tensor& x) { return max(x); }
Tensor min_of_all(const Tensor& x) { return min(x); }
Tensor maximum_of(const Tensor& x, const Tensor& y) { return maximum(x, y); }
Tensor minimum_of(const Tensor& x, const Tensor& y) { return minimum(x, y); }

constexpr uint32_t kBoth = kFunction | kMethod;
#define TS_EXTREME_SAMPLES(NAME)                                                                      \
  "f[3,4], 1\nf[3,4], 0, True\ni[3,4]<9, -1\nf[2,3,4].t, 1\n"                                         \
  "f[3,4], 2 -> IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)\n" \
  "f[0,3], 0 -> IndexError: " NAME "(): Expected reduction dim 0 to have non-zero size."

TS_OP(max, "max(Tensor self) -> Tensor", "The largest element.", kBoth | kOut, &max_of_all, "f[3,4]\ni[5]<9",
      .forms =
          "Tensor self\n"
          "Tensor self, Tensor other\n"
          "Tensor self, int dim, bool keepdim=False",
      .batched = batched_whole<&amax>);
TS_OP(max, "max.other(Tensor self, Tensor other) -> Tensor", "", kBoth | kOut, &maximum_of, "f[3], f[2,3]",
      .alias_of = "maximum", .batching = Batching::Pointwise);
TS_OP(max, "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "The largest along dim and where it is.", kBoth | kOut, Extreme<AlongCall::Max>, TS_EXTREME_SAMPLES("max"),
      .out = kOutStructured);
TS_OP(min, "min(Tensor self) -> Tensor", "The smallest element.", kBoth | kOut, &min_of_all, "f[3,4]\ni[5]<9",
      .forms =
          "Tensor self\n"
          "Tensor self, Tensor other\n"
          "Tensor self, int dim, bool keepdim=False",
      .batched = batched_whole<&amin>);
TS_OP(min, "min.other(Tensor self, Tensor other) -> Tensor", "", kBoth | kOut, &minimum_of, "f[3], f[2,3]",
      .alias_of = "minimum", .batching = Batching::Pointwise);
TS_OP(min, "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "The smallest along dim and where it is.", kBoth | kOut, Extreme<AlongCall::Min>, TS_EXTREME_SAMPLES("min"),
      .out = kOutStructured);
TS_OP(argmax, "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "The index of the largest element.",
      kBoth | kNoGrad | kOut, ExtremeIndex<AlongCall::Max>, "f[3,4]\n" TS_EXTREME_SAMPLES("argmax"),
      .out = kOutStructured, .out_unrecorded = true);
TS_OP(argmin, "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "The index of the smallest element.",
      kBoth | kNoGrad | kOut, ExtremeIndex<AlongCall::Min>, "f[3,4]\n" TS_EXTREME_SAMPLES("argmin"),
      .out = kOutStructured, .out_unrecorded = true);
// A dtype that is asked for has to be self's.
void check_scan_in_place(const OpCall& c, const Tensor& self, const Meta& meta) {
  if (c.args.size() < 3 || c.none(2)) return;
  check(meta.dtype == self.dtype(), TensorErrorKind::Runtime, "Bad in-place call: input tensor dtype ",
        cpp_name(self.dtype()), " and output tensor dtype ", cpp_name(meta.dtype), " should match");
}
TS_OP(cumsum, "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "Running sums along dim.",
      kBoth | kInplace | kOut, Running<AlongCall::Sum>,
      "f[3,4], 1\nf[3,4], 0\nf[], 0\ni[3,4]<9, -1\nb[5], 0, dtype=float32\n"
      "f[3], 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)",
      .out = kOutAnything, .out_as_asked = kOutStructured.text, .check_in_place = check_scan_in_place,
      .autocast_cuda = Autocast::Total);
TS_OP(cumprod, "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "Running products along dim.",
      kBoth | kInplace | kOut, Running<AlongCall::Product>,
      "f[3,4], 1\nf[3,4], 0\nf{2,0,3}, 0\nf{2,0,3,0,1}, 0\nc[3,4], 1\ni[3,4]<9, -1", .out = kOutAnything,
      .out_as_asked = kOutStructured.text, .check_in_place = check_scan_in_place, .autocast_cuda = Autocast::Total);

}  // namespace
}  // namespace tessera::tensor
