// How elements are distributed: quantiles and histograms.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/autograd/engine.h"
#include "runtime/device/meta.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

using std::optional;
constexpr uint32_t kBoth = kFunction | kMethod;

constexpr std::array<std::string_view, 5> kWays = {"linear", "lower", "higher", "midpoint", "nearest"};

void check_quantile(const Tensor& self, const Tensor& q, const std::string& interpolation) {
  check(std::find(kWays.begin(), kWays.end(), interpolation) != kWays.end(), TensorErrorKind::Runtime,
        "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ", interpolation);
  check(self.numel() > 0, TensorErrorKind::Runtime, "quantile() input tensor must be non-empty");
  check(q.dim() <= 1, TensorErrorKind::Runtime, "quantile() q must be a scalar or 1D tensor");
  check(self.dtype() == kFloat32 || self.dtype() == kFloat64, TensorErrorKind::Runtime,
        "quantile() input tensor must be either float or double dtype");
  check(q.dtype() == self.dtype(), TensorErrorKind::Runtime,
        "quantile() q tensor must be same dtype as the input tensor");
  if (q.device().is_cpu())
    check(!any_true((q < 0.0) | (q > 1.0)), TensorErrorKind::Runtime,
          "quantile() q values must be in the range [0, 1]");
}

/// Where each q falls among the sorted values of a line; NaN stands behind all numbers. kSkip: NaN is not there; else a line
/// with one has no other quantile.
template <bool kSkip>
Tensor ranks_of(const Tensor& sorted, const Tensor& q) {
  const Tensor nan = isnan(sorted);
  if (kSkip) return clamp_min(q * (sum(logical_not(nan), Dims{-1}, true) - 1), 0);
  const double last = double(sorted.size(-1) - 1);
  return where(any(nan, Dims{-1}, true), last, q * last);
}

/// Linear interpolation between the sorted neighbours of each place. All quantiles of a line lie side by side.
template <bool kSkip>
Tensor quantile(const Tensor& self, const Tensor& q, optional<int64_t> dim_given, bool keepdim,
                const std::string& interpolation) {
  const int64_t dim = wrap_dim(dim_given.value_or(0), self.dim());
  check_quantile(self, q, interpolation);
  const bool along = dim_given && self.dim();
  Tensor lines = !along ? reshape(self, {-1}) : transpose(unsqueeze(self, -1), dim, -1);
  if (along && !keepdim) lines = squeeze(lines, dim);
  if (!along && keepdim) {
    Dims sizes(size_t(self.dim()), 1);
    sizes.push_back(self.numel());
    lines = reshape(lines, sizes);
  }
  const Tensor sorted = std::get<0>(sort(contiguous(lines), -1));
  const Tensor rank = ranks_of<kSkip>(detached(sorted), q);
  const Tensor at = interpolation == "lower"     ? floor(rank)
                    : interpolation == "higher"  ? ceil(rank)
                    : interpolation == "nearest" ? round(rank)
                                                 : rank;
  const auto values_at = [&](const Tensor& place) { return gather(sorted, -1, to_dtype(place, kInt64)); };
  const Tensor low = values_at(floor(at));
  Tensor out = low;
  if (interpolation == "midpoint") out = lerp(low, values_at(ceil(at)), 0.5);
  if (interpolation == "linear") out = lerp(low, values_at(ceil(at)), at - floor(at));
  return renamed(q.dim() == 0 ? squeeze(out, -1) : squeeze(transpose(unsqueeze(out, 0), 0, -1), -1),
                 "SqueezeBackward4");
}
template <bool kSkip>
Tensor quantile_number(const Tensor& self, double q, optional<int64_t> dim, bool keepdim,
                       const std::string& interpolation) {
  check(q >= 0 && q <= 1, TensorErrorKind::Runtime, "quantile() q must be in the range [0, 1] but got ", q);
  return quantile<kSkip>(self, full({}, q, self.dtype(), self.device()), dim, keepdim, interpolation);
}

/// The bin of an element is computed in its own dtype: at the edges that decides, and it is what PyTorch does.
struct Histc {
  static constexpr TypeRule types{kFloatTypes, {"histogram_cpu", "histc"}};

  static Meta shape(const Tensor& self, int64_t bins, const Scalar&, const Scalar&) {
    check(bins > 0, TensorErrorKind::Runtime, "torch.histogram(): bins must be > 0, but got ", bins,
          " for dimension 0");
    return {{bins}, self};
  }
  static void run(const Tensor& out, const Tensor& self, int64_t bins, const Scalar& from, const Scalar& to) {
    const auto rounded = [&](double v) { return full({}, v, self.dtype(), self.device()).item().to_double(); };
    const auto limits = range(self, from.to_double(), to.to_double());
    const double low = rounded(limits.first), high = rounded(limits.second);
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

constexpr OutRule kOutOfQuantile{OutRule::Same, "quantile() out tensor must be same dtype as the input tensor"};
#define TS_QUANTILE(NAME, SKIP, DOC)                                                                                 \
  TS_OP(NAME,                                                                                                        \
        #NAME "(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", \
        DOC, kBoth | kOut, &quantile<SKIP>,                                                                          \
        "f[3,4], p[2]\n"                                                                                             \
        "f[3,4], p[2], 1, True\n"                                                                                    \
        "f[3,4], p[2], keepdim=True\n"                                                                               \
        "f[3,2,4], p[2], 1, interpolation='midpoint'\n"                                                              \
        "f[], p[2], 0\n"                                                                                             \
        "f[3], g[2] -> RuntimeError: quantile() q values must be in the range [0, 1]\n"                              \
        "f[3], p[2,1] -> RuntimeError: quantile() q must be a scalar or 1D tensor\n"                                 \
        "f[0], p[2] -> RuntimeError: quantile() input tensor must be non-empty\n"                                    \
        "i[3]<4, p[] -> RuntimeError: quantile() input tensor must be either float or double dtype",                 \
        .out = kOutOfQuantile, .autocast = Autocast::Float32, .batching = Batching::ByExample);                      \
  TS_OP(NAME,                                                                                                        \
        #NAME                                                                                                        \
        ".scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", \
        DOC, kBoth | kOut, &quantile_number<SKIP>,                                                                   \
        "f[3,4], 0.3\n"                                                                                              \
        "f[3,4], 0.6, 0, interpolation='nearest'\n"                                                                  \
        "f[3], 1.5 -> RuntimeError: quantile() q must be in the range [0, 1]",                                       \
        .out = kOutOfQuantile)
TS_QUANTILE(quantile, false, "The q-th quantiles; NaN where there is one.");
TS_QUANTILE(nanquantile, true, "The q-th quantiles of what is not NaN; NaN where there is nothing else.");
#undef TS_QUANTILE
TS_OP(histc, "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
      "How many elements fall into each of equal bins.", kBoth | kNoGrad | kOut, Histc,
      "f[3,4], 5\n"
      "p[9], 4, 0, 1\n"
      "f[0], 3\n"
      "i[3]<2 -> NotImplementedError: \"histogram_cpu\" not implemented for 'Long'\n"
      "f[3], 0 -> RuntimeError: torch.histogram(): bins must be > 0, but got 0 for dimension 0\n"
      "f[3], 3, 2, 1 -> RuntimeError: torch.histc: max must be larger than min",
      .out = {
          OutRule::Same,
          "torch.histogram: input tensor and hist tensor should have the same dtype, but got input $r and hist $o"});

}  // namespace
}  // namespace tessera::tensor
