// Different values, runs of equal ones, and places among sorted values. All of it is sentences of other ops, so that it
// runs wherever they do; the number of different values is the one thing that the host has to wait for.
// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/autograd/engine.h"
#include "runtime/autograd/record.h"
#include "runtime/device/meta.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/index_along.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/pointwise.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<SearchCall> search_kernel("searchsorted");
constinit Kernel<CountSmallCall> count_small_kernel("count_small");

namespace {

// ---- runs of equal items ----

struct Runs {
  Tensor first;   // where each begins
  Tensor number;  // of the run that each item belongs to, when asked for
  Tensor counts;  // how long each is, when asked for
};

// `begins` says of every item whether it is the first of a run.
Runs runs_of(const Tensor& begins, bool numbers, bool counts) {
  Runs runs;
  const int64_t n = begins.numel();
  runs.first = reshape(nonzero(begins), {-1});
  if (numbers) runs.number = cumsum(begins, 0) - 1;
  if (counts)
    runs.counts = cat({slice(runs.first, 0, 1, {}), full({n ? 1 : 0}, n, kInt64, begins.device())}) - runs.first;
  return runs;
}

// Where n items' first is set, and the others are what `differ` writes: whether they differ from the one before.
template <class Differ>
Tensor begins_of(int64_t n, Device device, const Differ& differ) {
  const Tensor begins = Tensor::empty({n}, kBool, device);
  if (n) fill_into(narrow(begins, 0, 0, 1), true);
  if (n > 1) differ(narrow(begins, 0, 1, n - 1));
  return begins;
}
Tensor begins_in(const Tensor& flat) {
  const int64_t n = flat.numel();
  return begins_of(n, flat.device(), [&](const Tensor& out) {
    const Tensor items = narrow(flat, 0, 1, n - 1), before = narrow(flat, 0, 0, n - 1);
    const Operand both[] = {items, before};
    run_pointwise(pointwise::k_ne, both, nullptr, &out);
  });
}

// Of rows: those that differ anywhere from the one before.
Tensor begins_in_rows(const Tensor& rows) {
  const int64_t n = rows.sizes()[0];
  return begins_of(n, rows.device(), [&](const Tensor& out) {
    if (rows.numel() == 0) return fill_into(out, false);
    copy_into(out, any(reshape(narrow(rows, 0, 1, n - 1) != narrow(rows, 0, 0, n - 1), {n - 1, -1}), Dims{1}));
  });
}

// number[i] belongs to the item that came from places[i].
Tensor put_back(const Tensor& number, const Tensor& places) {
  const Tensor out = Tensor::empty(number.sizes(), kInt64, number.device());
  if (out.numel()) move_items({IndexCall::Mode::Write, 0}, out, places, number);
  return out;
}

// The order of rows as wholes: sorted by the last column first, each time keeping what is equal in order.
Tensor order_of_rows(const Tensor& rows) {
  Tensor order = arange(0, rows.sizes()[0], 1, kInt64, rows.device());
  for (int64_t c = rows.sizes()[1]; c-- > 0;) {
    const Tensor column = index_select(select(rows, 1, c), 0, order);
    order = index_select(order, 0, argsort(column, 0));
  }
  return order;
}

// A dimension's items as rows.
Tensor rows_along(const Tensor& self, int64_t dim) {
  check(self.dim() > 0, TensorErrorKind::Index, "Dimension specified as ", dim, " but tensor has no dimensions");
  for (int64_t d = 0; self.numel() == 0 && d < self.dim(); d++)
    check(d == dim || self.sizes()[d] != 0, TensorErrorKind::Runtime,
          "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  const Tensor first = contiguous(movedim(self, {dim}, {0}));
  const int64_t n = first.sizes()[0];
  return reshape(first, {n, n ? first.numel() / n : 0});
}

// Chosen rows, with their dimension where it was.
Tensor rows_back(const Tensor& rows, const Tensor& self, int64_t dim) {
  Dims sizes{rows.sizes()[0]};
  for (int64_t d = 0; d < self.dim(); d++)
    if (d != dim) sizes.push_back(self.sizes()[size_t(d)]);
  const Tensor back = movedim(reshape(rows, sizes), {0}, {dim});
  return back.numel() ? back : zeros(back.sizes(), back.dtype(), back.device());
}

struct NoDerivative {
  const char *node, *name;
};
constexpr NoDerivative kUnique{"Unique2Backward0", "_unique2"}, kUniqueDim{"UniqueDimBackward0", "unique_dim"},
    kConsecutive{"UniqueConsecutiveBackward0", "unique_consecutive"};

// Results are as many as were asked for.
void give_results(OpCall& c, const NoDerivative& words, Tensor values, const Runs& runs, const Tensor& inverse,
                  bool want_inverse, bool want_counts) {
  if (needs_grad(c.tensor(0)))
    record(values, words.node, {&c.tensor(0)}, [name = words.name](Sweep&) {
      fail(TensorErrorKind::NotImplemented, "the derivative for '", name, "' is not implemented.");
    });
  c.results.emplace_back(values);
  if (want_inverse) c.results.emplace_back(inverse);
  if (want_counts) c.results.emplace_back(runs.counts);
}

void unique_op(OpCall& c) {
  const Tensor self = detached(c.tensor(0));
  const bool inverse = Unbox<bool>::get(c, 2), counts = Unbox<bool>::get(c, 3);
  const auto dim_given = Unbox<std::optional<int64_t>>::get(c, 4);
  require_type(kAllTypes - kComplexTypes, self, dim_given ? "unique_dim" : "unique");
  refuse_meta(self, dim_given ? "unique_dim" : "_unique2");
  if (dim_given) {
    const int64_t dim = self.dim() ? wrap_dim(*dim_given, self.dim()) : *dim_given;
    const Tensor rows = rows_along(self, dim), order = order_of_rows(rows);
    const Runs runs = runs_of(begins_in_rows(index_select(rows, 0, order)), inverse, counts);
    return give_results(c, kUniqueDim, rows_back(index_select(rows, 0, index_select(order, 0, runs.first)), self, dim),
                        runs, inverse ? put_back(runs.number, order) : Tensor(), inverse, counts);
  }
  const auto [sorted, places] = sort(reshape(self, {-1}), 0);
  const Runs runs = runs_of(begins_in(sorted), inverse, counts);
  give_results(c, kUnique, index_select(sorted, 0, runs.first), runs,
               inverse ? reshape(put_back(runs.number, places), self.sizes()) : Tensor(), inverse, counts);
}

void unique_consecutive_op(OpCall& c) {
  const Tensor self = detached(c.tensor(0));
  refuse_meta(self, "unique_consecutive");
  const bool inverse = Unbox<bool>::get(c, 1), counts = Unbox<bool>::get(c, 2);
  const auto dim_given = Unbox<std::optional<int64_t>>::get(c, 3);
  require_type(kAllTypes - kComplexTypes, self, dim_given ? "unique_dim" : "unique");
  if (dim_given) {
    const int64_t dim = self.dim() ? wrap_dim(*dim_given, self.dim()) : *dim_given;
    const Tensor rows = rows_along(self, dim);
    const Runs runs = runs_of(begins_in_rows(rows), inverse, counts);
    return give_results(c, kConsecutive, rows_back(index_select(rows, 0, runs.first), self, dim), runs, runs.number,
                        inverse, counts);
  }
  const Tensor flat = reshape(self, {-1});
  const Runs runs = runs_of(begins_in(flat), inverse, counts);
  give_results(c, kConsecutive, index_select(flat, 0, runs.first), runs,
               inverse ? reshape(runs.number, self.sizes()) : Tensor(), inverse, counts);
}

// ---- places among sorted values ----

using Side = std::optional<std::string>;

struct Search {
  static Meta shape(const Tensor& sorted, const Tensor& values, bool as_int32, bool right, const Side& side,
                    const OptionalTensor& sorter) {
    check(!side || *side == "left" || *side == "right", TensorErrorKind::Runtime,
          "torch.searchsorted(): side can only be 'left' or 'right' but got ", side.value_or(""));
    check(!side || !right || *side == "right", TensorErrorKind::Runtime,
          "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
    if (sorter) check_sorter(sorted, *sorter);
    check(values.dim() > 0 || sorted.dim() == 1, TensorErrorKind::Runtime,
          "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
          "boundaries tensor dim(",
          sorted.dim(), ") and input value's dim(0) numel(1)");
    check(sorted.dim() > 0, TensorErrorKind::Runtime,
          "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension");
    const size_t outer = sorted.sizes().size() - 1;
    check(outer == 0 || (values.dim() == sorted.dim() && values.sizes().first(outer) == sorted.sizes().first(outer)),
          TensorErrorKind::Runtime,
          "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
          "tensor and input value tensor must match, but we got boundaries tensor ",
          sorted.sizes(), " and input value tensor ", values.sizes());
    return Meta(values.sizes(), as_int32 ? kInt32 : kInt64, values.device());
  }
  static void run(const Tensor& out, const Tensor& sorted, const Tensor& values, bool, bool right, const Side& side,
                  const OptionalTensor& sorter) {
    if (values.numel() == 0) return;
    const DType type = promote_types(sorted.dtype(), values.dtype());
    require_type(kRealTypes - kBool, type, values.device(), "searchsorted_out_cpu");
    const Tensor edges = contiguous(to_dtype(sorter ? in_order(sorted, *sorter) : sorted, type)),
                 given = contiguous(to_dtype(values, type));
    const Tensor places =
        out.dtype() == kInt64 && out.is_contiguous() ? out : Tensor::empty(out.sizes(), kInt64, out.device());
    const int64_t rows = edges.dim() == 1 ? 1 : numel_of(edges.sizes().first(edges.sizes().size() - 1));
    search_kernel(out.device(), SearchCall{right || side == "right", type, edges.data_ptr(), given.data_ptr(),
                                           places.data<int64_t>(), rows, edges.size(-1), given.numel() / rows});
    if (!places.same(out)) copy_into(out, places);
  }

 private:
  static void check_sorter(const Tensor& sorted, const Tensor& sorter) {
    check(sorter.sizes() == sorted.sizes(), TensorErrorKind::Runtime,
          "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor ", sorted.sizes(),
          "and got sorter tensor ", sorter.sizes());
    check(sorter.dtype() == kInt64, TensorErrorKind::Runtime,
          "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ",
          scalar_type_name(sorter.dtype()));
  }
  static Tensor in_order(const Tensor& sorted, const Tensor& sorter) {
    check(!any_true((sorter < 0) | (sorter >= sorted.size(-1))), TensorErrorKind::Runtime,
          "torch.searchsorted(): sorter index out of range");
    return gather(sorted, -1, sorter);
  }
};

}  // namespace

Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right) {
  return apply<Search>(sorted, values, false, right, Side(), OptionalTensor());
}

namespace {

Tensor searchsorted_number(const Tensor& sorted, Scalar value, bool as_int32, bool right, const Side& side,
                           const OptionalTensor& sorter) {
  return apply<Search>(sorted, full({}, value, sorted.dtype(), sorted.device()), as_int32, right, side, sorter);
}
Tensor bucketize_number(Scalar value, const Tensor& boundaries, bool as_int32, bool right) {
  return apply<Search>(boundaries, full({}, value, {}, boundaries.device()), as_int32, right, Side(), OptionalTensor());
}
Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool as_int32, bool right) {
  check(boundaries.dim() == 1, TensorErrorKind::Runtime, "boundaries tensor must be 1 dimension, but got dim(",
        boundaries.dim(), ")");
  return apply<Search>(boundaries, self, as_int32, right, Side(), OptionalTensor());
}

// Counts of many small numbers, found in one reading; nothing if there are few, or one that is not small.
Tensor small_counts(const Tensor& self, int64_t minlength) {
  constexpr int64_t kSmall = CountSmallCall::kSmall;
  if (minlength > kSmall || self.dim() != 1 || self.numel() < 2 * kSmall || !count_small_kernel.has(self.device().type))
    return Tensor();
  const Tensor in = contiguous(to_dtype(self, kInt64)), counts = zeros({kSmall + 1}, kInt64, self.device());
  count_small_kernel(self.device(), CountSmallCall{in.data<int64_t>(), in.numel(), counts.data<int64_t>()});
  // Up to the largest number that there is; in one wait for the device.
  const Tensor numbers = arange(0, kSmall + 1, 1, kInt64, self.device());
  const int64_t most = max(where(counts == Scalar(0), Scalar(-1), numbers)).item().to_int();
  if (most == kSmall) return Tensor();
  return clone(narrow(counts, 0, 0, std::max(minlength, most + 1)));
}

Tensor bincount(const Tensor& self, const OptionalTensor& weights, int64_t minlength) {
  refuse_meta(self, "bincount");
  require_type(kIntegralTypes | kWideUnsignedTypes, self, "bincount_cpu");
  check(minlength >= 0, TensorErrorKind::Runtime, "minlength should be >= 0");
  if (!weights)
    if (const Tensor counts = small_counts(self, minlength); counts.defined()) return counts;
  const auto [low, high] = self.numel() && self.dim() == 1
                               ? std::pair(min(self).item().to_int(), max(self).item().to_int())
                               : std::pair(int64_t(self.dim() == 1 ? 0 : -1), int64_t(-1));
  check(high < INT64_MAX, TensorErrorKind::Runtime, "maximum value of input overflowed, it should be < ", INT64_MAX,
        " but got ", high);
  check(low >= 0, TensorErrorKind::Runtime, "bincount only supports 1-d non-negative integral inputs.");
  check(!weights || weights->sizes() == self.sizes(), TensorErrorKind::Runtime,
        "weights should be 1-d and have the same length as input");
  const int64_t n = std::max(minlength, high + 1);
  const Tensor at = to_dtype(self, kInt64);
  if (!weights || !self.numel())
    return index_add(zeros({n}, kInt64, self.device()), 0, at, expand(ones({1}, kInt64, self.device()), self.sizes()));
  const DType type = weights->dtype() == kFloat32 ? kFloat32 : kFloat64;
  return index_add(zeros({n}, type, self.device()), 0, at, to_dtype(*weights, type));
}

constexpr uint32_t kBoth = kFunction | kMethod;
TS_BOXED(
    unique,
    "unique(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor[]",
    "The different values, in order.", kBoth | kNoGrad | kDataDependent, &unique_op,
    "i[20]<6\n"
    "i[4,5]<6, True, True, True\n"
    "i[12,2]<2, True, True, True, 0\n"
    "f[0]\n"
    "f[2,2], dim=3 -> IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 3)");
TS_BOXED(
    unique_consecutive,
    "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor[]",
    "Each run of equal values once.", kBoth | kNoGrad | kDataDependent, &unique_consecutive_op,
    "i[20]<2, True, True\n"
    "i[12,1]<2, True, True, 0");
TS_OP(
    searchsorted,
    "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, "
    "Tensor? sorter=None) -> Tensor",
    "Where each value would go among sorted ones.", kFunction | kNoGrad | kOut, Search,
    "f{0,1,2.5,4}, f[3,2]\n"
    "i{1,3,3,7}, i[5]<9, right=True\n"
    "f{0,1}, f[2], out_int32=True\n"
    "f{1,4,0,2.5}, f[5], side='right', sorter=i{2,0,3,1}\n"
    "f[2,2], f[] -> RuntimeError: torch.searchsorted(): input value can be a scalar only when boundaries tensor "
    "dimension is 1, but we got boundaries tensor dim(2) and input value's dim(0) numel(1)\n"
    "f{0,1}, f[2], side='up' -> RuntimeError: torch.searchsorted(): side can only be 'left' or 'right' but got up\n"
    "f{0,1}, f[2], right=True, side='left' -> RuntimeError: torch.searchsorted(): side and right can't be set to "
    "opposites, got side of left while right was True\n"
    "f{0,1}, f[2], sorter=i{0} -> RuntimeError: torch.searchsorted(): boundary and sorter must have the same size, but "
    "got boundary tensor [2]and got sorter tensor [1]\n"
    "f{0,1}, f[2], sorter=f[2] -> RuntimeError: torch.searchsorted(): sorter must be a tensor of long dtype but got "
    "dtype Float\n"
    "f{0,1}, f[2], sorter=i{0,2} -> RuntimeError: torch.searchsorted(): sorter index out of range\n"
    "f[], f[2] -> RuntimeError: torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
    "dimension",
    .out =
        {OutRule::Same,
         "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype $O and out_int32 flag is $I"},
    .out_unrecorded = true, .one_device = "Tensor_searchsorted");
TS_OP(
    searchsorted,
    "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, "
    "Tensor? sorter=None) -> Tensor",
    "Where a value would go among sorted ones.", kFunction | kNoGrad | kOut, &searchsorted_number, "f{0,1,2.5,4}, 1.5",
    .out =
        {OutRule::Same,
         "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype $O and out_int32 flag is $I"},
    .out_unrecorded = true);
TS_OP(
    bucketize, "bucketize(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
    "Between which boundaries each value lies.", kFunction | kNoGrad | kOut, &bucketize,
    "f[3,2], f{0,1,2.5,4}\n"
    "f[3], f[2,2] -> RuntimeError: boundaries tensor must be 1 dimension, but got dim(2)",
    .out =
        {OutRule::Same,
         "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype $O and out_int32 flag is $I"},
    .one_device = "Tensor_bucketize");
TS_OP(
    bucketize, "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
    "Between which boundaries a value lies.", kFunction | kNoGrad | kOut, &bucketize_number, "1.5, f{0,1,2.5,4}",
    .out = {
        OutRule::Same,
        "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype $O and out_int32 flag is $I"});
TS_OP(bincount, "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
      "How often each number from 0 on occurs.", kBoth | kNoGrad | kDataDependent, &bincount,
      "i[30]<7\n"
      "i[5]<4, f[5], 9\n"
      "i{1,-1} -> RuntimeError: bincount only supports 1-d non-negative integral inputs.\n"
      "f[3] -> NotImplementedError: \"bincount_cpu\" not implemented for 'Float'",
      .one_device = "_bincount");

}  // namespace
}  // namespace tessera::tensor
