// Covariance, correlation, and rows cut to a largest norm.
// compile: small (the factorisation takes longer)
#include "runtime/ops/linalg/common.h"

namespace tessera::tensor {
namespace {

using namespace linalg;
using MaybeTensor = std::optional<Tensor>;

// ---- covariance ----

void check_weights(const MaybeTensor& weights, const char* name, bool whole, int64_t count) {
  if (!weights) return;
  check(weights->dim() <= 1, TensorErrorKind::Runtime, "cov(): expected ", name,
        " to have one or fewer dimensions but got ", name, " with ", weights->dim(), " dimensions");
  check(whole ? is_integral(weights->dtype()) : is_floating(weights->dtype()), TensorErrorKind::Runtime,
        "cov(): expected ", name, whole ? " to have integral dtype but got " : " to have floating point dtype but got ",
        name, " with ", scalar_type_name(weights->dtype()), " dtype");
  check(weights->numel() == count, TensorErrorKind::Runtime, "cov(): expected ", name,
        " to have the same numel as there are observations in the input but got ", weights->numel(), " != ", count);
  check(count == 0 || weights->device().is_meta() || !any(*weights < 0).item().to_bool(), TensorErrorKind::Runtime,
        "cov(): ", name, " cannot be negative");
}

/// Rows are variables, columns observations; a weight is how often an observation counts.
Tensor cov(const Tensor& self, int64_t correction, const MaybeTensor& fweights, const MaybeTensor& aweights) {
  check(self.dim() <= 2, TensorErrorKind::Runtime,
        "cov(): expected input to have two or fewer dimensions but got an input with ", self.dim(), " dimensions");
  check(!is_bool(self.dtype()), TensorErrorKind::NotImplemented, "cov(): bool dtype is not supported for input");
  const Tensor in = self.dim() < 2 ? reshape(self, {1, -1}) : self;
  const int64_t count = columns(in);
  check_weights(fweights, "fweights", true, count);
  check_weights(aweights, "aweights", false, count);
  Tensor w = fweights ? *fweights : Tensor();
  if (aweights) w = w.defined() ? w * *aweights : *aweights;
  const DType type = is_differentiable(in.dtype()) ? in.dtype() : Context::current().default_dtype;
  const Tensor total = w.defined() ? sum(w) : full({}, count, kInt64, in.device());
  check(!w.defined() || w.numel() == 0 || w.device().is_meta() || total.item().to_double() != 0,
        TensorErrorKind::Runtime, "cov(): weights sum to zero, can't be normalized");
  const Tensor x = to_dtype(in, type), average = sum(w.defined() ? x * w : x, Dims{1}) / total;
  Tensor divisor;
  if (w.defined() && aweights && correction != 0) divisor = total - sum(w * *aweights) / total * double(correction);
  else divisor = total - correction;
  if (!divisor.device().is_meta() && divisor.item().to_double() <= 0) {
    Context::current().warn(
        "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.");
    divisor = clamp_min(divisor, 0);
  }
  const Tensor centred = x - unsqueeze(average, 1);
  return squeeze(matmul(centred, mH(w.defined() ? centred * w : centred)) / divisor);
}

Tensor corrcoef(const Tensor& self) {
  check(self.dim() <= 2, TensorErrorKind::Runtime,
        "corrcoef(): expected input to have two or fewer dimensions but got an input with ", self.dim(), " dimensions");
  Tensor c = cov(self, 1, {}, {});
  if (c.dim() == 0) return c / c;
  const Tensor d = diagonal(c), deviation = sqrt(is_complex(d.dtype()) ? real(d) : d);
  c = c / unsqueeze(deviation, -1) / unsqueeze(deviation, 0);
  if (!is_complex(c.dtype())) return clamp_both(c, -1, 1);
  return complex(clamp_both(real(c), -1, 1), clamp_both(imag(c), -1, 1));
}

// ---- renorm ----

Tensor renorm(const Tensor& self, Scalar p, int64_t dim_given, Scalar most) {
  check(!p.is_complex(), TensorErrorKind::Runtime, "renorm: p must be real-valued");
  check(p.to_double() > 0, TensorErrorKind::Runtime, "renorm: non-positive-norm not supported");
  check(most.to_double() >= 0, TensorErrorKind::Runtime, "renorm: expected maxnorm to be >= 0 but got ",
        most.to_double());
  check(self.dim() > 1, TensorErrorKind::Runtime, "renorm: input needs at least 2 dimensions, got ", self.dim(),
        " dimensions");
  const int64_t dim = wrap_dim(dim_given, self.dim());
  Dims others;
  for (int64_t d = 0; d < self.dim(); d++)
    if (d != dim) others.push_back(d);
  const Tensor norm = linalg_vector_norm(self, p, others, true, {});
  const Tensor factor = where(norm > most.to_double(), Operand(most.to_double() / (norm + 1e-7)), Operand(Scalar(1.0)));
  return contiguous(self * to_dtype(factor, real_type(self.dtype())));
}

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(
    cov, "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
    "The covariance of the rows.", kBoth | kLayoutMatters, &cov,
    "f[3,4]\nf[5]\nf[3,4], correction=0\nf[2,3], fweights=i{1,2,1}\nf[2,3], aweights=p[3]\nf[2,3], fweights=i{1,2,1}, aweights=p[3]\nc[2,4]\ni[2,4]<9\n"
    "f[2,2,2] -> RuntimeError: cov(): expected input to have two or fewer dimensions but got an input with 3 dimensions\n"
    "f[2,3], fweights=p[3] -> RuntimeError: cov(): expected fweights to have integral dtype but got fweights with Float dtype\n"
    "f[2,3], aweights=p[2] -> RuntimeError: cov(): expected aweights to have the same numel as there are observations in the input but got 2 != 3",
    .autocast = Autocast::Product, .autocast_cuda = Autocast::Product);
TS_OP(
    corrcoef, "corrcoef(Tensor self) -> Tensor", "The correlation coefficients of the rows.", kBoth | kLayoutMatters,
    &corrcoef,
    "f[3,5]\nf[5]\nc[2,5]\ni[2,4]<9\n"
    "f[2,2,2] -> RuntimeError: corrcoef(): expected input to have two or fewer dimensions but got an input with 3 dimensions",
    .autocast = Autocast::Product, .autocast_cuda = Autocast::Product);
TS_OP(renorm, "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
      "Parts along dim scaled down to a largest p-norm.", kBoth | kInplace | kOut, &renorm,
      "f[3,2], 2, 0, 1.5\nf[3,2], 1, 1, 0.5\nc[2,2], 2, 0, 1\nf[2,2,2], 3, -1, 1\n"
      "f[3], 2, 0, 1 -> RuntimeError: renorm: input needs at least 2 dimensions, got 1 dimensions\n"
      "f[2,2], -1, 0, 1 -> RuntimeError: renorm: non-positive-norm not supported\n"
      "f[2,2], 2, 0, -1 -> RuntimeError: renorm: expected maxnorm to be >= 0 but got -1",
      .out = kOutStructured, .autocast_cuda = Autocast::Float32, .batching = Batching::ByExample);

}  // namespace
}  // namespace tessera::tensor
