// Norms, variance, logsumexp, and sums that skip NaN: ops made of reductions.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>
#include <cmath>

#include "runtime/device/meta.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/join.h"
#include "runtime/ops/linalg/linalg.h"
#include "runtime/ops/reduce.h"
#include "runtime/ops/softmax.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

using namespace reduction;

// ---- norms ----

namespace {

int norm_row(double p) {
  return p == 2.0         ? r_norm2
         : p == 1.0       ? r_norm1
         : p == HUGE_VAL  ? r_norm_max
         : p == -HUGE_VAL ? r_norm_min
         : p == 0.0       ? r_count_nonzero
                          : r_norm_p;
}

}  // namespace

Tensor norm(const Tensor& x, Scalar p, const MaybeDims& dim, bool keepdim) {
  check(!p.is_complex(), TensorErrorKind::Runtime,
        "linalg.vector_norm: Expected a non-complex scalar as the order of norm.");
  if (is_complex(x.dtype())) return norm(complex_abs(x), p, dim, keepdim);
  check(is_floating(x.dtype()), TensorErrorKind::NotImplemented,
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ", scalar_type_name(x.dtype()));
  const int id = norm_row(p.to_double());
  if (id == r_count_nonzero) return linalg_vector_norm(x, p, dim, keepdim, {});
  return reduce(id, {x, dim_mask(x, dim), keepdim, {}, p.to_double(), "LinalgVectorNormBackward0"});
}

// ---- variance ----

namespace {

void check_has_mean(const Tensor& x, const char* names) {
  check(is_differentiable(x.dtype()), TensorErrorKind::NotImplemented, names,
        " only support floating point and complex dtypes");
}

/// Two passes: the mean, then the squares of what is left. Nothing cancels.
template <bool kRoot>
struct Variance {
  static constexpr const char* kName = kRoot ? "std" : "var";

  static Meta shape(const Tensor& x, const MaybeDims& dim, std::optional<double>, bool keepdim) {
    check_has_mean(x, "std and var");
    if (is_float8(x.dtype()) && x.numel() != 0) refuse_type(x, "std_cpu");
    return {reduced_shape(x.sizes(), dim_mask(x, dim), keepdim), real_type(x.dtype()), x.device()};
  }
  static double divisor(const Tensor& x, uint64_t mask, std::optional<double> correction) {
    return std::max(0.0, double(reduced_numel(x.sizes(), mask)) - correction.value_or(1));
  }
  static Tensor centred(const Tensor& x, uint64_t mask) { return x - reduce(r_mean, {x, mask, true}); }
  /// Of complex numbers the squares of their sizes.
  static Tensor sum_squares(const Tensor& x, uint64_t mask, bool keepdim) {
    if (!is_complex(x.dtype())) return reduce(r_sum_squares, {x, mask, keepdim});
    return sum_squares(real(x), mask, keepdim) + sum_squares(imag(x), mask, keepdim);
  }

  static void run(const Tensor& out, const Tensor& x, const MaybeDims& dim, std::optional<double> correction,
                  bool keepdim) {
    const uint64_t mask = dim_mask(x, dim);
    const double n = divisor(x, mask, correction);
    const bool done = x.numel() && out.is_contiguous() && variance_into(out, x, mask, n, kRoot);
    if (!done && (is_half(x.dtype()) || kSmallTypes.has(x.dtype())))  // rounded once
      return run(out, to_dtype(x, is_half(x.dtype()) ? kFloat32 : wide_type(x.dtype())), dim, correction, keepdim);
    if (n <= 0)
      Context::current().warn(
          text(kName,
               "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
               "(input numel divided by output numel)."));
    if (done) return;
    if (!out.device().is_cpu() && x.numel()) {  // nothing can be asked there without waiting
      const Tensor there = variance_from_first(x, mask, keepdim) / n;
      return copy_into(out, kRoot ? sqrt(there) : there);
    }
    const Tensor mean = reduce(r_mean, {x, mask, true});
    Tensor variance = sum_squares(x - mean, mask, keepdim) / n;
    if (n > 0 && x.numel()) {
      const bool wide = real_type(x.dtype()) == kFloat64;
      // Squares of float32 may be too large where their mean or its root is not.
      if (!wide && is_infinite_somewhere(variance))
        return run(out, to_dtype(x, is_complex(x.dtype()) ? kComplex128 : kFloat64), dim, correction, keepdim);
      // The mean of equal numbers may be a digit away from them, and is not from the first of them.
      if (is_small_somewhere(variance, mean, wide ? 1e-28 : 1e-12))
        variance = variance_from_first(x, mask, keepdim) / n;
    }
    copy_into(out, kRoot ? sqrt(variance) : variance);
  }
  static bool is_infinite_somewhere(const Tensor& t) {
    return t.numel() == 1 ? std::isinf(t.item().to_double()) : any_true(isinf(t));
  }
  /// Beside the square of the mean.
  static bool is_small_somewhere(const Tensor& variance, const Tensor& mean, double share) {
    if (variance.numel() == 1) return variance.item().to_double() <= share * std::norm(mean.item().to_complex());
    const Tensor size = abs(mean);
    return any_true(variance <= reshape(size * size * share, variance.sizes()));
  }
  static Tensor variance_from_first(const Tensor& x, uint64_t mask, bool keepdim) {
    Tensor first = x;
    for (int64_t d = 0; d < x.dim(); d++)
      if (mask >> d & 1) first = narrow(first, d, 0, 1);
    const Tensor gap = x - first;
    return sum_squares(gap - reduce(r_mean, {gap, mask, true}), mask, keepdim);
  }
  static void grad(Tensor& out, const Tensor& self, const MaybeDims& dim, std::optional<double> correction, bool) {
    const uint64_t mask = dim_mask(self, dim);
    Kept<2> kept{{SavedTensor(self), kRoot ? SavedTensor(out, true) : SavedTensor()}};
    record(out, kRoot ? "StdBackward0" : "VarBackward0", {&self}, std::move(kept),
           [mask, n = divisor(self, mask, correction)](Sweep& s) {
             s.give(0, [&] {
               const Tensor x = s.kept(0);
               const Dims kept_shape = reduced_shape(x.sizes(), mask, true);
               const Tensor g = reshape(s.g(), kept_shape), left = centred(x, mask);
               if constexpr (!kRoot) return g * (2.0 / n) * left;
               const Tensor y = reshape(s.kept(1), kept_shape);
               return where(y == 0.0, 0.0, g / (y * n)) * left;
             });
           });
  }
};

}  // namespace

Tensor var(const Tensor& x, const MaybeDims& dim, int64_t correction, bool keepdim) {
  return apply<Variance<false>>(x, dim, std::optional<double>(double(correction)), keepdim);
}
Tensor stddev(const Tensor& x, const MaybeDims& dim, int64_t correction, bool keepdim) {
  return apply<Variance<true>>(x, dim, std::optional<double>(double(correction)), keepdim);
}

// ---- logsumexp ----

namespace {

struct LogSumExp {
  static Meta shape(const Tensor& self, const Dims& dim, bool keepdim) {
    const DType type = is_differentiable(self.dtype()) ? self.dtype() : Context::current().default_dtype;
    return {reduced_shape(self.sizes(), dim_mask(self, dim), keepdim), type, self.device()};
  }
  static void run(const Tensor& out, const Tensor& self, const Dims& dim, bool) {
    const uint64_t mask = dim_mask(self, dim);
    if (!out.numel()) return;
    if (is_complex(self.dtype()) || (is_half(out.dtype()) && self.device().is_cpu())) return run_steps(out, self, mask);
    // The reduced dimensions side by side: [outer, size, inner] if they are already, else at the end.
    Dims order, sizes;
    for (int pass = 0; pass < 2; pass++)
      for (int64_t d = 0; d < self.dim(); d++)
        if (int(mask >> d & 1) == pass) order.push_back(d);
    int64_t first = 0, size = reduced_numel(self.sizes(), mask), outer = 1;
    while (first < self.dim() && !(mask >> first & 1)) outer *= self.sizes()[size_t(first++)];
    const uint64_t run = mask >> first;
    const bool together = (run & (run + 1)) == 0;
    const Tensor x = contiguous(to_dtype(together ? self : permute(self, order), out.dtype()));
    if (!together) outer = out.numel();
    if (!size) return fill_into(out, -HUGE_VAL);
    logsumexp_kernel(self.device(), {out.dtype(), x.data_ptr(), out.data_ptr(), outer, size, out.numel() / outer});
  }
  // By ops: of complex numbers, and of halves, each step of which PyTorch rounds.
  static void run_steps(const Tensor& out, const Tensor& given, uint64_t mask) {
    if (!given.numel()) return fill_into(out, -HUGE_VAL);
    const Tensor self = to_dtype(given, out.dtype());
    const Tensor most = reduce(r_amax, {is_complex(self.dtype()) ? real(self) : self, mask, true}), shift = where(isfinite(most), most, 0.0);
    copy_into(out, reshape(log(reduce(r_sum, {exp(self - shift), mask, true})) + shift, out.sizes()));
  }
  static void grad(Tensor& out, const Tensor& self, const Dims& dim, bool) {
    record(out, "LogsumexpBackward0", {&self}, Kept<2>{{SavedTensor(self), SavedTensor(out, true)}},
           [mask = dim_mask(self, dim)](Sweep& s) {
             s.give(0, [&] {
               const Tensor x = s.kept(0);
               const Dims kept_shape = reduced_shape(x.sizes(), mask, true);
               return reshape(s.g(), kept_shape) * conj(exp(x - reshape(s.kept(1), kept_shape)));
             });
           });
  }
};

}  // namespace

Tensor logsumexp(const Tensor& x, const Dims& dim, bool keepdim) { return apply<LogSumExp>(x, dim, keepdim); }

// ---- registry ----

namespace {

Tensor var_unbiased(const Tensor& x, bool unbiased) { return var(x, {}, unbiased); }
Tensor std_unbiased(const Tensor& x, bool unbiased) { return stddev(x, {}, unbiased); }
Tensor var_dim(const Tensor& x, const MaybeDims& d, bool unbiased, bool k) { return var(x, d, unbiased, k); }
Tensor std_dim(const Tensor& x, const MaybeDims& d, bool unbiased, bool k) { return stddev(x, d, unbiased, k); }

/// var_mean and std_mean: both at once.
template <bool kRoot>
std::tuple<Tensor, Tensor> with_mean(const Tensor& x, const MaybeDims& dim, std::optional<double> correction,
                                     bool keepdim) {
  check_has_mean(x, kRoot ? "std_mean" : "var_mean");
  constexpr const char* kNode = kRoot ? "StdMeanBackward0" : "VarMeanBackward0";
  const DType wide = wide_type(x.dtype());
  const Tensor average =
      wide == x.dtype() ? mean(x, dim, keepdim) : to_dtype(mean(to_dtype(x, wide), dim, keepdim), x.dtype());
  return {renamed(apply<Variance<kRoot>>(x, dim, correction, keepdim), kNode), renamed(average, kNode)};
}
template <bool kRoot>
std::tuple<Tensor, Tensor> with_mean_dim(const Tensor& x, const MaybeDims& dim, bool unbiased, bool keepdim) {
  return with_mean<kRoot>(x, dim, double(unbiased), keepdim);
}
template <bool kRoot>
std::tuple<Tensor, Tensor> with_mean_all(const Tensor& x, bool unbiased) {
  return with_mean<kRoot>(x, {}, double(unbiased), false);
}

Tensor with_bits_of(const Tensor& t, DType type) {
  return Tensor::adopt(TensorImpl::create_view(&t.storage(), t.impl()->address(), t.sizes(), t.strides(), type));
}

Tensor nanmean(const Tensor& self, const MaybeDims& dim, bool keepdim, MaybeType dtype) {
  check(is_differentiable(self.dtype()), TensorErrorKind::NotImplemented,
        "nanmean(): expected input to have floating point or complex dtype but got ", scalar_type_name(self.dtype()));
  check(
      !dtype || is_differentiable(*dtype), TensorErrorKind::Runtime,
      "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: ",
      scalar_type_name(dtype.value_or(kInt64)));
  return nansum(self, dim, keepdim, dtype) / sum(logical_not(isnan(self)), dim, keepdim);
}
std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  check(!is_complex(self.dtype()), TensorErrorKind::Type, "aminmax not implemented for ",
        scalar_type_name(self.dtype()));
  check(dim || self.numel(), TensorErrorKind::Runtime,
        "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  if (dim && self.dim())
    check(self.size(*dim) != 0, TensorErrorKind::Index, "aminmax: Expected reduction dim ", wrap_dim(*dim, self.dim()),
          " to have non-zero size.");
  const MaybeDims dims = dim ? MaybeDims(Dims{*dim}) : MaybeDims();
  return {amin(self, dims, keepdim), amax(self, dims, keepdim)};
}

/// The bits of 64-bit numbers, exclusive-or: the order does not matter.
Tensor hash_tensor(const Tensor& self, const MaybeDims& given, bool keepdim, int64_t mode) {
  check(mode == 0, TensorErrorKind::Runtime, "Unknown hash_tensor mode: ", mode);
  require_type(kRealTypes, self, "xor_sum_cpu");
  const Dims dim = given.value_or(Dims());
  const uint64_t mask = dim_mask(self, given);
  check(
      self.numel() || !dim.empty(), TensorErrorKind::Runtime,
      "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
      "'dim' argument.");
  for (const int64_t d : dim)
    check(self.dim() == 0 || self.size(d) != 0, TensorErrorKind::Index, "hash_tensor: Expected reduction dim ", d,
          " to have non-zero size.");
  Tensor bits = contiguous(to_dtype(self, is_floating(self.dtype()) ? kFloat64 : kInt64));
  bits = with_bits_of(bits, kInt64);
  for (int64_t d = 0; d < self.dim(); d++)
    for (int64_t n = bits.size(d); (mask >> d & 1) && n > 1; n = (n + 1) / 2) {  // half by half
      const Tensor folded = bitwise_xor(narrow(bits, d, 0, n / 2), narrow(bits, d, n - n / 2, n / 2));
      bits = n % 2 ? cat({folded, narrow(bits, d, n / 2, 1)}, d) : folded;
    }
  return with_bits_of(contiguous(reshape(bits, reduced_shape(self.sizes(), mask, keepdim))), DType::UInt64);
}

Tensor norm_op(const Tensor& x, std::optional<Scalar> p, const MaybeDims& d, bool k, MaybeType dtype) {
  if (dtype) return linalg_vector_norm(x, p.value_or(2), d, k, dtype);
  return norm(x, p.value_or(2), d, k);
}
Tensor norm_name(const Tensor& x, const std::string& p, const MaybeDims& d, bool k, MaybeType dtype) {
  if (p == "fro") return norm_op(x, 2, d, k, dtype);
  Dims dims;
  if (d) dims = *d;
  else
    for (int64_t i = 0; i < x.dim(); i++) dims.push_back(i);
  return linalg_matrix_norm(x, p, dims, k, dtype);
}

constexpr uint32_t kBoth = kFunction | kMethod;
constexpr uint32_t kSummed = kFunction | kMethod | kLayoutMatters;

TS_OP(
    var, "var(Tensor self, bool unbiased=True) -> Tensor", "The variance of all elements.", kSummed, &var_unbiased,
    "f[3,4]\nf[4], False\nc[3,2]\ni[3]<4 -> NotImplementedError: std and var only support floating point and complex dtypes");
TS_OP(var, "var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
      "The variance over dim.", kSummed | kOut, &var_dim, "f[3,4], 1\nf[3,4], [0, 1], False, True");
TS_OP(var, "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
      "The variance over dim.", kSummed | kOut, Variance<false>,
      "f[3,4], 0, correction=0\nf[3,4,2], [0, 2]\nf[3,4], correction=0.5\nc[3,4], 0, correction=0");
TS_OP(std, "std(Tensor self, bool unbiased=True) -> Tensor", "The standard deviation of all elements.", kSummed,
      &std_unbiased, "f[3,4]\nf[4], False");
TS_OP(std, "std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
      "The standard deviation over dim.", kSummed | kOut, &std_dim, "f[3,4], 1\nf[3,4], [0, 1], False, True");
TS_OP(std, "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
      "The standard deviation over dim.", kSummed | kOut, Variance<true>,
      "f[3,4], 0, correction=0\nf[3,4,2], [0, 2]\nf[3,4], correction=0.5\nc[3,4], 0, correction=0");
#define TS_WITH_MEAN(NAME, ROOT, DOC)                                                                                  \
  TS_OP(NAME, #NAME "(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", DOC, kFunction | kLayoutMatters,          \
        &with_mean_all<ROOT>, "f[3,4]\nf[4], False\ni[3]<4 -> NotImplementedError: " #NAME " only support floating");  \
  TS_OP(NAME, #NAME ".dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)", DOC, \
        kFunction | kLayoutMatters, &with_mean_dim<ROOT>, "f[3,4], 1\nf[3,4], [0], True, True");                       \
  TS_OP(NAME,                                                                                                          \
        #NAME                                                                                                          \
        ".correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)"                   \
        " -> (Tensor, Tensor)",                                                                                        \
        DOC, kFunction | kLayoutMatters, &with_mean<ROOT>,                                                             \
        "f[3,4], 0, correction=1.5, keepdim=True\nf[4], correction=0")
TS_WITH_MEAN(std_mean, true, "Standard deviation and mean.");
TS_WITH_MEAN(var_mean, false, "Variance and mean.");
TS_OP(nanmean, "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
      "The mean of what is not NaN.", kBoth | kOut, &nanmean,
      "f[3,4]\n"
      "f[3,4], [0]",
      .out_as_asked = kOutStructured.text);
TS_OP(aminmax, "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
      "The smallest and the largest.", kBoth | kOut, &aminmax,
      "f[3,4]\n"
      "f[3,4], dim=1, keepdim=True",
      .out = kOutStructured);
TS_OP(hash_tensor, "hash_tensor(Tensor self, int[1]? dim=[], *, bool keepdim=False, int mode=0) -> Tensor",
      "Exclusive or of the elements' bits as float64 or int64, of all or along dim.", kBoth | kOut | kNoGrad,
      &hash_tensor,
      "f[3,4]\ni[5,3]<9, 0\nb[2,3,4], [0, 2], keepdim=True\nf[]\n"
      "f[0] -> RuntimeError: hash_tensor: Expected reduction dim to be specified for input.numel() == 0.\n"
      "f[2], mode=1 -> RuntimeError: Unknown hash_tensor mode: 1\n"
      "c[2] -> NotImplementedError: \"xor_sum_cpu\" not implemented for 'ComplexFloat'",
      .out = {OutRule::Same, "Expected result to be of dtype uint64, but got $O"});
OutRule out_of_norm(const OpCall& c, const Tensor&) {
  constexpr OutRule kNuclear{OutRule::Same, "linalg.matrix_norm expected out tensor dtype $R but got: $O"};
  return c.args[1].text() == "nuc" ? kNuclear : kOutStructured;
}
constexpr char kNormCall[] =
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False) -> Tensor";
TS_OP(norm, "norm(Tensor self, Scalar? p=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
      "The p-norm.", kSummed | kOut, &norm_op, "f[3,4]\nf[3,4], 1, 0\nf[3,4], 3, [0, 1], True\nf[3,4], 0.5, 1",
      .python_function = {"input p= dim= keepdim= out= dtype=", kNormCall},
      .python_method = {"self p= dim= keepdim= dtype=", kNormCall}, .out = kOutStructured,
      .autocast_cuda = Autocast::Float32);
TS_OP(norm, "norm.name(Tensor self, str p, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
      "The Frobenius or the nuclear norm.", kSummed | kOut, &norm_name,
      "f[3,4], 'fro'\nf[3,2], 'nuc'\nf[2,2], 'x' -> RuntimeError: linalg.matrix_norm: Order x not supported.",
      .out = kOutStructured, .out_of_call = out_of_norm);
TS_OP(logsumexp, "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
      "log(sum(exp(x))) without overflow.", kFunction | kMethod | kSpecial | kOut, LogSumExp,
      "f[3,4], 1\nf[3,4], 0, True\nf[3,4,2], [0, 2]\nf[3,40,2], 1\nc[3,4], 1\ni[3]<4, 0\n"
      "f[3], 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)",
      .out = {OutRule::Castable, "logsumexp(): Expected floating point type for result tensor, but got: $O"},
      .autocast_cuda = Autocast::Float32);

}  // namespace
}  // namespace tessera::tensor
