// cdist and pdist. Euclidean distances of many long rows come from one product, as |a|^2 - 2ab + |b|^2; others from a kernel,
// and where a gradient is asked for they are sentences of other ops, which their derivatives follow.
// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/ops/distances.h"

#include "runtime/autograd/record.h"
#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/masks.h"
#include "runtime/ops/pointwise.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<DistanceCall> distance_kernel("distance");

namespace {

constexpr DTypeSet kMeasured = DTypeSet(kFloat32) | kFloat64;

Dims batch_of(const Tensor& t) { return Dims(t.sizes().first(t.sizes().size() - 2)); }

/// Returns the gradient of the p-norm over the last dimension. `difference` is [..., n], `distance` its norms, [..., 1]. The gradient is 0 where
/// the difference is 0; for p = inf every element with the largest absolute value gets the whole gradient, as in PyTorch.
Tensor at_differences(const Tensor& g, const Tensor& difference, const Tensor& distance, double p) {
  if (p == 0) return zeros_like(difference);
  if (p == 1) return g * sign(difference);
  if (std::isinf(p)) return where(eq(abs(difference), distance), g * sign(difference), Scalar(0));
  const Tensor share = p == 2 ? difference / distance : sign(difference) * pow(abs(difference) / distance, p - 1);
  return where(eq(distance, 0) | eq(difference, 0), Scalar(0), g * share);
}

/// Of tensors whose batches are the same.
struct Distances {
  static constexpr TypeRule types{kMeasured, {"cdist", "cdist_cuda"}};
  static Meta shape(const Tensor& a, const Tensor& b, double) {
    Dims sizes(a.sizes());
    sizes[sizes.size() - 1] = b.size(-2);
    return Meta(sizes, a);
  }
  static void run(const Tensor& out, const Tensor& a_given, const Tensor& b_given, double p) {
    if (out.numel() == 0) return;
    const Tensor a = contiguous(a_given), b = contiguous(b_given);
    distance_kernel(a.device(), DistanceCall{p, a.dtype(), a.data_ptr(), b.data_ptr(), out.data_ptr(),
                                             numel_of(batch_of(a)), a.size(-2), b.size(-2), a.size(-1)});
  }
  static void grad(Tensor& out, const Tensor& a, const Tensor& b, double p) {
    record(out, "CdistBackward0", {&a, &b}, Kept<3>{{SavedTensor(a), SavedTensor(b), SavedTensor(out, true)}}, [p](Sweep& s) {
      const Tensor difference = unsqueeze(s.kept(0), -2) - unsqueeze(s.kept(1), -3);
      const Tensor each = at_differences(unsqueeze(s.g(), -1), difference, unsqueeze(s.kept(2), -1), p);
      s.give(0, [&] { return sum(each, Dims{-2}); });
      s.give(1, [&] { return sum(-each, Dims{-3}); });
    });
  }
};

struct PairDistances {
  static constexpr TypeRule types{kMeasured, {"pdist", "pdist_cuda"}};
  static Meta shape(const Tensor& rows, double) {
    const int64_t n = rows.sizes()[0];
    return Meta({n * (n - 1) / 2}, rows);
  }
  static void run(const Tensor& out, const Tensor& given, double p) {
    if (out.numel() == 0) return;
    const Tensor rows = contiguous(given);
    distance_kernel(rows.device(), DistanceCall{p, rows.dtype(), rows.data_ptr(), nullptr, out.data_ptr(), 1,
                                                rows.sizes()[0], 0, rows.sizes()[1]});
  }
  static void grad(Tensor& out, const Tensor& rows, double p) {
    record(out, "PdistBackward0", {&rows}, Kept<2>{{SavedTensor(rows), SavedTensor(out, true)}}, [p](Sweep& s) {
      s.give(0, [&] {
        const Tensor rows = s.kept(0);
        const int64_t n = rows.sizes()[0];
        const Tensor pairs = nonzero(triu(ones({n, n}, kBool, rows.device()), 1)), first = select(pairs, 1, 0), second = select(pairs, 1, 1);
        const Tensor difference = index_select(rows, 0, first) - index_select(rows, 0, second);
        const Tensor each = at_differences(unsqueeze(s.g(), -1), difference, unsqueeze(s.kept(1), -1), p);
        return index_add(index_add(zeros_like(rows), 0, first, each, 1), 0, second, each, -1);
      });
    });
  }
};

// Of many rows. The kernel has short ones before the product has been over its result three times, and to the last bit.
struct Euclid {
  static constexpr int64_t kShort = 24;
  static Meta shape(const Tensor& a, const Tensor& b, bool) { return Distances::shape(a, b, 2); }
  static void run(const Tensor& out, const Tensor& a, const Tensor& b, bool by_product) {
    if (!by_product && a.size(-1) <= kShort && kMeasured.has(a.dtype())) return Distances::run(out, a, b, 2);
    const Tensor in_a = sum(a * a, Dims{-1}, true), in_b = sum(b * b, Dims{-1}, true),
                 one = ones({}, a.dtype(), a.device());
    const Tensor left = cat({a * Scalar(-2), in_a, expand(one, in_a.sizes())}, -1),
                 right = cat({b, expand(one, in_b.sizes()), in_b}, -1);
    const Tensor product = matmul(left, transpose(right, -2, -1));
    const Operand squares[] = {product};
    const Scalar least[] = {Scalar(0)};
    run_pointwise_inplace(pointwise::k_clamp_min, squares, least);
    run_pointwise(pointwise::k_sqrt, squares, nullptr, &out);
  }
  static void grad(Tensor& out, const Tensor& a, const Tensor& b, bool) {
    record(out, "CdistBackward0", {&a, &b}, Kept<3>{{SavedTensor(a), SavedTensor(b), SavedTensor(out, true)}},
           [](Sweep& s) {
             const Tensor distance = s.kept(2), share = masked_fill(s.g() / distance, distance == Scalar(0), Scalar(0));
             const auto side = [](const Tensor& w, const Tensor& x, const Tensor& y) {
               return x * sum(w, Dims{-1}, true) - matmul(w, y);
             };
             s.give(0, [&] { return side(share, s.kept(0), s.kept(1)); });
             s.give(1, [&] { return side(transpose(share, -2, -1), s.kept(1), s.kept(0)); });
           });
  }
};

// Which way: 0 by size, 1 the product, 2 never the product.
int mode_of(const std::string& name) {
  static constexpr std::string_view kModes[] = {"use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
                                                "donot_use_mm_for_euclid_dist"};
  for (int k = 0; k < 3; k++)
    if (name == kModes[k]) return k;
  fail(TensorErrorKind::Value, name, " is not a valid value for compute_mode");
}

Tensor cdist(const Tensor& a_given, const Tensor& b_given, double p, const std::string& mode_name) {
  const int mode = mode_of(mode_name);
  const std::pair<const Tensor*, const char*> both[] = {{&a_given, "X1"}, {&b_given, "X2"}};
  for (const auto& [t, name] : both)
    check(t->dim() >= 2, TensorErrorKind::Runtime, "cdist only supports at least 2D tensors, ", name,
          " got: ", t->dim(), "D");
  check(a_given.size(-1) == b_given.size(-1), TensorErrorKind::Runtime,
        "X1 and X2 must have the same number of columns. X1: ", a_given.size(-1), " X2: ", b_given.size(-1));
  for (const auto& [t, name] : both)
    check(is_floating(t->dtype()), TensorErrorKind::Runtime, "cdist only supports floating-point dtypes, ", name,
          " got: ", scalar_type_name(t->dtype()));
  check(p >= 0, TensorErrorKind::Runtime, "cdist only supports non-negative p values");
  if (a_given.dtype() != b_given.dtype()) require_type(kMeasured, a_given, {"cdist", "cdist_cuda"});
  check(a_given.dtype() == b_given.dtype(), TensorErrorKind::Runtime, "expected scalar type ",
        scalar_type_name(a_given.dtype()), " but found ", scalar_type_name(b_given.dtype()));
  check_one_device("wrapper_CUDA___cdist_forward", {{"x1", a_given}, {"x2", b_given}});
  const Dims batch = broadcast_shapes(batch_of(a_given), batch_of(b_given));
  const auto spread = [&](const Tensor& t) {
    Dims sizes = batch;
    sizes.push_back(t.size(-2)), sizes.push_back(t.size(-1));
    return t.sizes() == Ints(sizes) ? t : expand(t, sizes);
  };
  const Tensor a = spread(a_given), b = spread(b_given);
  const bool many = mode == 1 || (mode == 0 && (a.size(-2) > 25 || b.size(-2) > 25));
  if (p == 2 && many && a.numel() && b.numel()) return apply<Euclid>(a, b, mode == 1);
  return apply<Distances>(a, b, p);
}

Tensor pdist(const Tensor& rows, double p) {
  check(rows.dim() == 2, TensorErrorKind::Runtime, "pdist only supports 2D tensors, got: ", rows.dim(), "D");
  check(is_floating(rows.dtype()), TensorErrorKind::Runtime, "pdist only supports floating-point dtypes");
  check(p >= 0, TensorErrorKind::Runtime, "pdist only supports non-negative p values");
  return apply<PairDistances>(rows, p);
}

TS_OP(cdist, "cdist(Tensor x1, Tensor x2, float p=2, str compute_mode='use_mm_for_euclid_dist_if_necessary') -> Tensor",
      "The p-norm between each pair of rows.", kFunction, &cdist,
      "f[3,2], f[4,2]\n"
      "f[2,3,2], f[2,2,2], 1\n"
      "f[3,2], f[2,4,2], 3\n"
      "f[3,2], f[4,2], 2, 'use_mm_for_euclid_dist'\n"
      "f[2,3], f[2,3], compute_mode='mm' -> ValueError: mm is not a valid value for compute_mode\n"
      "f[2,3], f[2] -> RuntimeError: cdist only supports at least 2D tensors, X2 got: 1D\n"
      "f[2,3], f[2,2] -> RuntimeError: X1 and X2 must have the same number of columns. X1: 3 X2: 2\n"
      "f[2,3], f[2,3], -1 -> RuntimeError: cdist only supports non-negative p values\n"
      "i[2,3]<4, f[2,3] -> RuntimeError: cdist only supports floating-point dtypes, X1 got: Long",
      .python_function = {"x1 x2 p= compute_mode="}, .speaks_as_python = true, .autocast = Autocast::Float32,
      .autocast_cuda = Autocast::Float32);
TS_OP(pdist, "pdist(Tensor input, float p=2) -> Tensor",
      "The distances of all pairs of rows, those of the first row first.", kFunction | kFunctional, &pdist,
      "f[4,3]\n"
      "f[3,2], 1\n"
      "f[1,2]\n"
      "f[3] -> RuntimeError: pdist only supports 2D tensors, got: 1D\n"
      "f[3,2], -1 -> RuntimeError: pdist only supports non-negative p values\n"
      "i[3,2]<4 -> RuntimeError: pdist only supports floating-point dtypes",
      .autocast_cuda = Autocast::Float32);

}  // namespace
}  // namespace tessera::tensor
