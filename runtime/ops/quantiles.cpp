// How elements are distributed: quantiles and histograms.
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

using std::optional;
constexpr uint32_t kBoth = kFunction | kMethod;

// Linear interpolation between the sorted neighbours of each place.
Tensor quantile(const Tensor& self, const Tensor& q, optional<int64_t> dim_given, bool keepdim,
                const std::string& interpolation) {
  if (q.device().is_cpu())
    check(!any((q < 0.0) | (q > 1.0)).item().to_bool(), TensorErrorKind::Runtime,
          "quantile() q values must be in the range [0, 1]");
  check(is_floating(self.dtype()), TensorErrorKind::Runtime,
        "quantile() input tensor must be either float or double dtype");
  check(q.dtype() == self.dtype(), TensorErrorKind::Runtime,
        "quantile() q tensor must be same dtype as the input tensor");
  check(self.numel() > 0, TensorErrorKind::Runtime, "quantile() input tensor must be non-empty");
  check(q.dim() <= 1, TensorErrorKind::Runtime, "quantile() q must be a scalar or 1D tensor");
  constexpr std::array<std::string_view, 5> kWays = {"linear", "lower", "higher", "midpoint", "nearest"};
  check(std::find(kWays.begin(), kWays.end(), interpolation) != kWays.end(), TensorErrorKind::Runtime,
        "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ", interpolation);
  const int64_t dim = dim_given ? wrap_dim(*dim_given, self.dim()) : 0;
  const Tensor given = dim_given ? self : reshape(self, {-1});
  const Tensor sorted = transpose(std::get<0>(sort(given, dim)), dim, -1);
  const Tensor place = reshape(q, {-1}) * double(given.size(dim) - 1), low = floor(place), high = ceil(place);
  const Tensor a = index_select(sorted, -1, to_dtype(low, kInt64)),
               b = index_select(sorted, -1, to_dtype(high, kInt64));
  Tensor out = interpolation == "lower"      ? a
               : interpolation == "higher"   ? b
               : interpolation == "midpoint" ? (a + b) / 2.0
               : interpolation == "nearest"  ? index_select(sorted, -1, to_dtype(round(place), kInt64))
                                             : a + (b - a) * (place - low);
  const Tensor last = slice(sorted, -1, sorted.size(-1) - 1, {});  // NaN is sorted to the end, and takes all
  out = where(isnan(last), last, out);
  out = movedim(transpose(out, dim, -1), {dim}, {0});
  if (keepdim) out = unsqueeze(out, dim_given ? dim + 1 : 1);
  if (keepdim && !dim_given)
    for (int64_t d = 1; d < self.dim(); d++) out = unsqueeze(out, 1);
  return q.dim() == 0 ? squeeze(out, 0) : out;
}
Tensor quantile_number(const Tensor& self, double q, optional<int64_t> dim, bool keepdim,
                       const std::string& interpolation) {
  check(q >= 0 && q <= 1, TensorErrorKind::Runtime, "quantile() q must be in the range [0, 1] but got ", q);
  return quantile(self, full({}, q, self.dtype(), self.device()), dim, keepdim, interpolation);
}

/// The bin of an element is computed in its own dtype: at the edges that decides, and it is what PyTorch does.
struct Histc {
  static constexpr TypeRule types{kFloatTypes, "histogram_cpu"};

  static Meta shape(const Tensor& self, int64_t bins, const Scalar&, const Scalar&) {
    check(bins > 0, TensorErrorKind::Runtime, "torch.histogram(): bins must be > 0, but got ", bins,
          " for dimension 0");
    return {{bins}, self};
  }
  static void run(const Tensor& out, const Tensor& self, int64_t bins, const Scalar& from, const Scalar& to) {
    const auto [low, high] = range(self, from.to_double(), to.to_double());
    const Tensor x = reshape(self, {-1}), inside = index(x, {logical_and(x >= low, x <= high)});
    const auto number = [&](double v) { return full({}, v, self.dtype(), self.device()); };
    const Tensor place = (inside - number(low)) * number(double(bins)) / (number(high) - number(low));
    const Tensor at = clamp_max(to_dtype(place, kInt64), bins - 1);
    fill_into(out, 0);
    copy_into(out, index_add(out, 0, at, ones(at.sizes(), self.dtype(), self.device())));
  }

 private:
  // min == max asks for the range of the elements; that of equal ones is made wider.
  static std::pair<double, double> range(const Tensor& self, double low, double high) {
    if (low == high && self.numel()) low = min(self).item().to_double(), high = max(self).item().to_double();
    if (low == high) low -= 1, high += 1;
    check(std::isfinite(low) && std::isfinite(high), TensorErrorKind::Runtime, "torch.histc: range of [", low, ", ",
          high, "] is not finite");
    check(low < high, TensorErrorKind::Runtime, "torch.histc: max must be larger than min");
    return {low, high};
  }
};

TS_OP(quantile,
      "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
      "The q-th quantiles.", kBoth | kOut, &quantile,
      "f[3,4], p[2]\n"
      "f[3], g[2] -> RuntimeError: quantile() q values must be in the range [0, 1]\n"
      "f[3,4], p[2], 1, True");
TS_OP(
    quantile,
    "quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
    "The q-th quantile.", kBoth | kOut, &quantile_number,
    "f[3,4], 0.3\n"
    "f[3,4], 0.6, 0, interpolation='nearest'\n"
    "f[3], 1.5 -> RuntimeError: quantile() q must be in the range [0, 1]");
TS_OP(histc, "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
      "How many elements fall into each of equal bins.", kBoth | kNoGrad | kOut, Histc,
      "f[3,4], 5\n"
      "p[9], 4, 0, 1\n"
      "f[0], 3\n"
      "i[3]<2 -> NotImplementedError: \"histogram_cpu\" not implemented for 'Long'\n"
      "f[3], 0 -> RuntimeError: torch.histogram(): bins must be > 0, but got 0 for dimension 0\n"
      "f[3], 3, 2, 1 -> RuntimeError: torch.histc: max must be larger than min");

}  // namespace
}  // namespace tessera::tensor
