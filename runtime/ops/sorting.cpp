#include "runtime/ops/sorting.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<SortCall> sort_kernel("sort");

namespace {

// The derivative of every op here: the gradient goes back to where the value came from.
void record_pick(Tensor& values, const char* name, const Tensor& self, const Tensor& index, int64_t dim,
                 bool restore_dim) {
  if (!needs_grad(self)) return;
  record(values, name, {&self}, keep(index), [dim, restore_dim, sizes = Dims(self.sizes())](Sweep& s) {
    s.give(0, [&] {
      Tensor g = s.g(), at = s.kept(0);
      if (restore_dim) g = unsqueeze(g, dim), at = unsqueeze(at, dim);
      return scatter_add(zeros(sizes, g.dtype(), g.device()), dim, at, g);
    });
  });
}

// Sorted without a record, the dimension last.
ValuesAndIndices sorted_last(const Tensor& self, int64_t dim, bool descending) {
  const GradMode no_grad(false);
  const Tensor in = contiguous(self.dim() ? transpose(self, dim, -1) : self);
  const Tensor out = Tensor::empty(in.sizes(), in.dtype(), in.device()),
               index = Tensor::empty(in.sizes(), kInt64, in.device());
  const int64_t size = in.dim() ? in.size(-1) : 1;
  if (in.numel())
    sort_kernel(in.device().type, SortCall{in.dtype(), in.data_ptr(), out.data_ptr(), index.data<int64_t>(),
                                           in.numel() / size, size, descending});
  return {out, index};
}

Tensor back(const Tensor& t, int64_t dim) {
  const GradMode no_grad(false);
  return t.dim() ? contiguous(transpose(t, dim, -1)) : t;
}

}  // namespace

ValuesAndIndices sort(const Tensor& self, int64_t dim_given, bool descending) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  auto [sorted, places] = sorted_last(self, dim, descending);
  Tensor values = back(sorted, dim);
  const Tensor index = back(places, dim);
  record_pick(values, "SortBackward0", self, index, dim, false);
  return {values, index};
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  const GradMode no_grad(false);
  return std::get<1>(sort(self, dim, descending));
}

ValuesAndIndices topk(const Tensor& self, int64_t k, int64_t dim_given, bool largest, bool) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  check(k >= 0 && k <= (self.dim() ? self.sizes()[dim] : 1), TensorErrorKind::Runtime, "selected index k out of range");
  auto [sorted, places] = sorted_last(self, dim, largest);
  Tensor values, index;
  {
    const GradMode no_grad(false);
    const auto first = [&](const Tensor& t) {
      return t.dim() ? contiguous(transpose(narrow(t, -1, 0, k), dim, -1)) : t;
    };
    values = first(sorted), index = first(places);
  }
  record_pick(values, "TopkBackward0", self, index, dim, false);
  return {values, index};
}

namespace {

// One item of each sorted row.
ValuesAndIndices nth(const Tensor& self, int64_t n, int64_t dim, bool keepdim, const char* name) {
  auto [sorted, places] = sorted_last(self, dim, false);
  Tensor values, index;
  {
    const GradMode no_grad(false);
    const auto item = [&](const Tensor& t) {
      if (!t.dim()) return clone(t);
      const Tensor one = transpose(narrow(t, -1, n, 1), dim, -1);
      return contiguous(keepdim ? one : squeeze(one, dim));
    };
    values = item(sorted), index = item(places);
  }
  record_pick(values, name, self, index, dim, self.dim() && !keepdim);
  return {values, index};
}

}  // namespace

ValuesAndIndices kthvalue(const Tensor& self, int64_t k, int64_t dim_given, bool keepdim) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  check(k >= 1 && k <= (self.dim() ? self.sizes()[dim] : 1), TensorErrorKind::Runtime,
        "kthvalue(): selected number k out of range for dimension ", dim);
  return nth(self, k - 1, dim, keepdim, "KthvalueBackward0");
}

ValuesAndIndices median(const Tensor& self, int64_t dim_given, bool keepdim) {
  const int64_t dim = wrap_dim(dim_given, self.dim()), size = self.dim() ? self.sizes()[dim] : 1;
  check(size > 0, TensorErrorKind::Index, "median(): Expected reduction dim ", dim, " to have non-zero size.");
  auto [values, index] = nth(self, (size - 1) / 2, dim, keepdim, "MedianBackward1");
  if (!is_floating(self.dtype())) return {values, index};
  // A row with NaN has the median NaN, at its first place.
  const GradMode no_grad(false);
  const Tensor broken = isnan(self);
  if (!any(broken).item().to_bool()) return {values, index};
  const Tensor last = std::get<0>(max(to_dtype(broken, kUInt8), dim, keepdim)),
               first = std::get<1>(max(to_dtype(broken, kUInt8), dim, keepdim));
  return {where(to_dtype(last, kBool), Operand(std::nan("")), Operand(values)),
          where(to_dtype(last, kBool), Operand(first), Operand(index))};
}

Tensor median(const Tensor& self) {
  if (self.numel() == 0) return full({}, std::nan(""), self.dtype(), self.device());
  const Tensor flat = reshape(self, {-1});
  auto [values, index] = nth(flat, (self.numel() - 1) / 2, 0, false, "MedianBackward0");
  if (is_floating(self.dtype()) && any(isnan(self)).item().to_bool()) return sum(flat) * 0.0 + std::nan("");
  return values;
}

ValuesAndIndices mode(const Tensor& self, int64_t dim_given, bool keepdim) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  auto [sorted, places] = sorted_last(self, dim, false);
  const int64_t size = sorted.dim() ? sorted.size(-1) : 1, rows = size ? sorted.numel() / size : 0;
  Dims shape(self.sizes());
  if (self.dim()) shape[dim] = 1;
  const Tensor at = Tensor::empty({rows}, kInt64);
  const Tensor host = to_dtype(to_device(sorted, kCpu), kFloat64);
  for (int64_t r = 0; r < rows; r++) {
    const double* row = host.data<double>() + r * size;
    int64_t best = 0, best_count = 0;
    for (int64_t i = 0, start = 0; i < size; i++) {
      if (row[i] != row[start]) start = i;
      if (i - start + 1 > best_count) best = i, best_count = i - start + 1;
    }
    at.data<int64_t>()[r] = best;
  }
  const GradMode no_grad(false);
  const auto item = [&](const Tensor& t) {
    if (!t.dim()) return clone(t);
    Dims wide(t.sizes());
    wide[t.dim() - 1] = 1;
    const Tensor one = transpose(gather(t, -1, reshape(to_device(at, t.device()), wide)), dim, -1);
    return contiguous(keepdim ? one : squeeze(one, dim));
  };
  Tensor values = item(sorted);
  const Tensor index = item(places);
  return {values, index};
}

// ---- unique ----

namespace {

struct UniqueResult {
  Tensor values, inverse, counts;
};

UniqueResult unique_values(const Tensor& self) {
  const GradMode no_grad(false);
  const Tensor flat = contiguous(reshape(to_device(self, kCpu), {-1}));
  auto [sorted, places] = sorted_last(flat, 0, false);
  const int64_t n = flat.numel();
  const Tensor inverse = Tensor::empty({n}, kInt64);
  std::vector<int64_t> firsts, counts;
  const Tensor next_differs = n > 1 ? contiguous(narrow(sorted, 0, 1, n - 1) != narrow(sorted, 0, 0, n - 1)) : Tensor();
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || next_differs.data<bool>()[i - 1]) firsts.push_back(i), counts.push_back(0);
    counts.back()++;
    inverse.data<int64_t>()[places.data<int64_t>()[i]] = int64_t(firsts.size()) - 1;
  }
  const auto on_device = [&](const Tensor& t) { return to_device(t, self.device()); };
  const Tensor values = index_select(sorted, 0, Tensor::from_values(firsts, {int64_t(firsts.size())}));
  return {on_device(values), on_device(reshape(inverse, self.sizes())),
          on_device(Tensor::from_values(counts, {int64_t(counts.size())}))};
}

// Rows of a dimension as lists of numbers, to compare them as wholes.
UniqueResult unique_rows(const Tensor& self, int64_t dim_given) {
  const GradMode no_grad(false);
  const int64_t dim = wrap_dim(dim_given, self.dim()), n = self.sizes()[dim];
  const Tensor rows = to_dtype(to_device(reshape(contiguous(transpose(self, 0, dim)), {n, -1}), kCpu), kFloat64);
  const int64_t width = n ? rows.numel() / n : 0;
  std::map<std::vector<double>, std::vector<int64_t>> groups;
  for (int64_t i = 0; i < n; i++) {
    const double* row = rows.data<double>() + i * width;
    groups[std::vector<double>(row, row + width)].push_back(i);
  }
  const Tensor inverse = Tensor::empty({n}, kInt64);
  std::vector<int64_t> firsts, counts;
  for (const auto& [row, members] : groups) {
    for (const int64_t i : members) inverse.data<int64_t>()[i] = int64_t(firsts.size());
    firsts.push_back(members[0]), counts.push_back(int64_t(members.size()));
  }
  const Tensor at = to_device(Tensor::from_values(firsts, {int64_t(firsts.size())}), self.device());
  return {index_select(self, dim, at), to_device(inverse, self.device()),
          to_device(Tensor::from_values(counts, {int64_t(counts.size())}), self.device())};
}

// Results are as many as were asked for.
void unique_kernel(OpCall& c) {
  const auto dim = Unbox<std::optional<int64_t>>::get(c, 4);
  const UniqueResult r = dim ? unique_rows(c.tensor(0), *dim) : unique_values(c.tensor(0));
  c.results.emplace_back(r.values);
  if (Unbox<bool>::get(c, 2)) c.results.emplace_back(r.inverse);
  if (Unbox<bool>::get(c, 3)) c.results.emplace_back(r.counts);
}

void unique_consecutive_kernel(OpCall& c) {
  const GradMode no_grad(false);
  const Tensor flat = contiguous(reshape(to_device(c.tensor(0), kCpu), {-1}));
  const int64_t n = flat.numel();
  const Tensor differs = n > 1 ? contiguous(narrow(flat, 0, 1, n - 1) != narrow(flat, 0, 0, n - 1)) : Tensor();
  std::vector<int64_t> firsts, counts, inverse;
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || differs.data<bool>()[i - 1]) firsts.push_back(i), counts.push_back(0);
    counts.back()++;
    inverse.push_back(int64_t(firsts.size()) - 1);
  }
  c.results.emplace_back(index_select(flat, 0, Tensor::from_values(firsts, {int64_t(firsts.size())})));
  if (Unbox<bool>::get(c, 1)) c.results.emplace_back(reshape(Tensor::from_values(inverse, {n}), c.tensor(0).sizes()));
  if (Unbox<bool>::get(c, 2)) c.results.emplace_back(Tensor::from_values(counts, {int64_t(counts.size())}));
}

// Where each value would go among sorted boundaries.
Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool as_int32, bool right) {
  const Tensor edges = contiguous(to_dtype(sorted, kFloat64)), given = contiguous(to_dtype(values, kFloat64));
  check(sorted.dim() == 1, TensorErrorKind::NotImplemented, "searchsorted of several rows is not supported yet");
  const Tensor out = Tensor::empty(values.sizes(), kInt64);
  const double *first = edges.data<double>(), *last = first + edges.numel();
  for (int64_t i = 0; i < given.numel(); i++) {
    const double x = given.data<double>()[i];
    out.data<int64_t>()[i] = (right ? std::upper_bound(first, last, x) : std::lower_bound(first, last, x)) - first;
  }
  return as_int32 ? to_dtype(out, kInt32) : out;
}
Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool as_int32, bool right) {
  return searchsorted(boundaries, self, as_int32, right);
}

Tensor bincount(const Tensor& self, const OptionalTensor& weights, int64_t minlength) {
  check(self.dim() == 1 && !is_floating(self.dtype()), TensorErrorKind::Runtime,
        "bincount only supports 1-d non-negative integral inputs.");
  if (self.numel())
    check(min(self).item().to_int() >= 0, TensorErrorKind::Runtime,
          "bincount only supports 1-d non-negative integral inputs.");
  const int64_t most = self.numel() ? max(self).item().to_int() : -1;
  check(most < INT64_MAX, TensorErrorKind::Runtime, "maximum value of input overflowed, it should be < ", INT64_MAX,
        " but got ", most);
  check(minlength >= 0, TensorErrorKind::Runtime, "minlength should be >= 0");
  const int64_t n = std::max(minlength, most + 1);
  const Tensor at = to_dtype(self, kInt64);
  if (!weights) return index_add(zeros({n}, kInt64, self.device()), 0, at, ones(self.sizes(), kInt64, self.device()));
  const DType type = weights->dtype() == kFloat32 ? kFloat32 : kFloat64;
  return index_add(zeros({n}, type, self.device()), 0, at, to_dtype(*weights, type));
}

ValuesAndIndices sort_stable(const Tensor& self, std::optional<bool>, int64_t dim, bool descending) {
  return sort(self, dim, descending);
}
Tensor argsort_stable(const Tensor& self, bool, int64_t dim, bool descending) { return argsort(self, dim, descending); }
Tensor msort(const Tensor& self) { return std::get<0>(sort(self, 0)); }

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(sort, "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
      "The items of a dimension in order.", kBoth | kOut, &sort);
TS_OP(sort,
      "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
      "The items of a dimension in order.", kBoth | kOut, &sort_stable);
TS_OP(argsort, "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
      "The indices that sort a dimension.", kBoth | kNoGrad, &argsort);
TS_OP(argsort, "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
      "The indices that sort a dimension.", kBoth | kNoGrad, &argsort_stable);
TS_OP(msort, "msort(Tensor self) -> Tensor", "Sorted along the first dimension.", kBoth, &msort);
TS_OP(topk,
      "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
      "The k largest items of a dimension.", kBoth | kOut, &topk);
TS_OP(kthvalue, "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "The k-th smallest item of a dimension.", kBoth, &kthvalue);
TS_OP(median, "median(Tensor self) -> Tensor", "The lower of the middle values.", kBoth,
      static_cast<Tensor (*)(const Tensor&)>(&median));
TS_OP(median, "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "The lower of the middle values of a dimension.", kBoth,
      static_cast<ValuesAndIndices (*)(const Tensor&, int64_t, bool)>(&median));
TS_OP(mode, "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "The most frequent value of a dimension.", kBoth | kNoGrad, &mode);
const OpRegistration register_unique{
    "unique",
    "unique(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor[]",
    "The different values, in order.", kBoth | kNoGrad, &unique_kernel};
const OpRegistration register_consecutive{
    "unique_consecutive",
    "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor[]",
    "Each run of equal values once.", kBoth | kNoGrad, &unique_consecutive_kernel};
TS_OP(searchsorted,
      "searchsorted(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False) -> Tensor",
      "Where each value would go among sorted ones.", kFunction | kNoGrad, &searchsorted);
TS_OP(bucketize, "bucketize(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
      "Between which boundaries each value lies.", kFunction | kNoGrad, &bucketize);
TS_OP(bincount, "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
      "How often each number from 0 on occurs.", kBoth | kNoGrad, &bincount);

}  // namespace
}  // namespace tessera::tensor
