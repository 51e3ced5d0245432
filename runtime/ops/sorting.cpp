// compile: small (the kernel takes longer)
#include "runtime/ops/sorting.h"

#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<SortCall> sort_kernel("sort");
constinit Kernel<TopkCall> topk_kernel("topk");
constinit Kernel<SelectCall> select_kernel("select");
constinit Kernel<ModeCall> mode_kernel("mode");

namespace {

using TwoMetas = std::array<Meta, 2>;

// The derivative of every op here: the gradient goes back to where the value came from.
void record_pick(Tensor& values, const char* name, const Tensor& self, const Tensor& index, int64_t dim_given,
                 bool restore_dim) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  record(values, name, {&self}, keep(index), [dim, restore_dim, sizes = Dims(self.sizes())](Sweep& s) {
    s.give(0, [&] {
      Tensor g = s.g(), at = s.kept(0);
      if (restore_dim) g = unsqueeze(g, dim), at = unsqueeze(at, dim);
      return scatter_add(zeros(sizes, g.dtype(), g.device()), dim, at, g);
    });
  });
}

int64_t length_of(const Tensor& self, int64_t dim) { return self.dim() ? self.sizes()[dim] : 1; }

// Kernels work on rows: the dimension last, without gaps. A result is written in place where it has that layout already.
struct Rows {
  Tensor in;
  int64_t dim, size, count;

  Rows(const Tensor& self, int64_t dim_given) : dim(wrap_dim(dim_given, self.dim())) {
    in = contiguous(self.dim() ? transpose(self, dim, -1) : self);
    size = in.dim() ? in.size(-1) : 1;
    count = size ? in.numel() / size : 0;
  }
  /// Memory for a result that has `size` items in the dimension.
  Tensor out_for(const Tensor& result) const {
    if (result.dim() == 0 || dim == result.dim() - 1) return result.is_contiguous() ? result : like(result);
    return like(transpose(result, dim, -1));
  }
  void give_back(const Tensor& result, const Tensor& rows) const {
    if (!rows.same(result)) copy_into(result, result.dim() ? transpose(rows, dim, -1) : rows);
  }

 private:
  static Tensor like(const Tensor& t) { return Tensor::empty(t.sizes(), t.dtype(), t.device()); }
};

struct Sort {
  static constexpr TypeRule types{kAllTypes, "sorting_kernel_method_name"};
  static TwoMetas shape(const Tensor& self, int64_t dim, bool) {
    wrap_dim(dim, self.dim());
    check(!is_complex(self.dtype()), TensorErrorKind::Type,
          words_are_cudas(self.device()) ? "Sort currently does not support complex dtypes on CUDA."
                                         : " Sort does not support complex dtypes on CPU");
    const Dims strides = dense_strides(self);
    return {Meta(self.sizes(), self.dtype(), self.device(), strides),
            Meta(self.sizes(), kInt64, self.device(), strides)};
  }
  static void run(const Tensor& values, const Tensor& index, const Tensor& self, int64_t dim, bool descending) {
    if (is_wide_unsigned(self.dtype())) {  // as int64 that orders the same numbers
      const Scalar top_bit = self.dtype() == kUInt64 ? INT64_MIN : 0;
      const Tensor keys = bitwise_xor(to_dtype(self, kInt64), top_bit),
                   ordered = Tensor::empty(keys.sizes(), kInt64, keys.device());
      run(ordered, index, keys, dim, descending);
      return copy_into(values, bitwise_xor(ordered, top_bit));
    }
    const Rows rows(self, dim);
    const Tensor sorted = rows.out_for(values), places = rows.out_for(index);
    if (rows.in.numel())
      sort_kernel(self.device(), SortCall{self.dtype(), rows.in.data_ptr(), sorted.data_ptr(), places.data<int64_t>(),
                                          rows.count, rows.size, descending});
    rows.give_back(values, sorted), rows.give_back(index, places);
  }
  static void grad(Tensor& values, Tensor& index, const Tensor& self, int64_t dim, bool) {
    record_pick(values, "SortBackward0", self, index, dim, false);
  }
};

struct SortStable {
  static constexpr TypeRule types = Sort::types;
  static TwoMetas shape(const Tensor& self, std::optional<bool>, int64_t dim, bool descending) {
    return Sort::shape(self, dim, descending);
  }
  static void run(const Tensor& values, const Tensor& index, const Tensor& self, std::optional<bool>, int64_t dim,
                  bool descending) {
    Sort::run(values, index, self, dim, descending);
  }
  static void grad(Tensor& values, Tensor& index, const Tensor& self, std::optional<bool>, int64_t dim, bool) {
    record_pick(values, "SortBackward1", self, index, dim, false);
  }
};

struct Topk {
  static TwoMetas shape(const Tensor& self, int64_t k, int64_t dim_given, bool, bool) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    check(k >= 0 && k <= length_of(self, dim), TensorErrorKind::Runtime, "selected index k out of range");
    if (words_are_cudas(self.device())) require_type(kRealTypes - kBool, self, "topk_out_cuda");
    check(!is_complex(self.dtype()), TensorErrorKind::Type, " topk does not support complex dtypes on CPU");
    check(self.dtype() != kBool, TensorErrorKind::NotImplemented, "topk does not support bool dtypes on CPU");
    Dims sizes(self.sizes());
    if (self.dim()) sizes[dim] = k;
    return {Meta(sizes, self), Meta(sizes, kInt64, self.device())};
  }
  static void run(const Tensor& values, const Tensor& index, const Tensor& self, int64_t k, int64_t dim, bool largest,
                  bool sorted) {
    const Rows rows(self, dim);
    const Tensor best = rows.out_for(values), places = rows.out_for(index);
    if (best.numel())
      topk_kernel(self.device(), TopkCall{self.dtype(), rows.in.data_ptr(), best.data_ptr(), places.data<int64_t>(),
                                          rows.count, rows.size, self.dim() ? k : 1, largest, sorted});
    rows.give_back(values, best), rows.give_back(index, places);
  }
  static void grad(Tensor& values, Tensor& index, const Tensor& self, int64_t, int64_t dim, bool, bool) {
    record_pick(values, "TopkBackward0", self, index, dim, false);
  }
};

// ---- one item of each row ----

TwoMetas picked_shape(const Tensor& self, int64_t dim_given, bool keepdim, const char* name) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  check(length_of(self, dim) > 0, TensorErrorKind::Index, name, "(): Expected reduction dim ", dim,
        " to have non-zero size.");
  Dims sizes(self.sizes());
  if (self.dim()) {
    if (keepdim) sizes[dim] = 1;
    else sizes.erase(size_t(dim));
  }
  return {Meta(sizes, self), Meta(sizes, kInt64, self.device())};
}

// Results have one item a row. Up to two dimensions the rows' order is the result's.
Tensor one_per_row(const Rows& rows, const Tensor& result) {
  if (rows.in.dim() <= 2 || rows.dim == rows.in.dim() - 1) return result;
  return Tensor::empty({rows.count}, result.dtype(), result.device());
}
void give_back_one(const Rows& rows, const Tensor& result, const Tensor& items) {
  if (items.same(result)) return;
  Dims sizes(rows.in.sizes());
  sizes[sizes.size() - 1] = 1;
  const Tensor wide = transpose(items.view_of(sizes, contiguous_strides(sizes)), rows.dim, -1);
  copy_into(result, result.dim() == wide.dim() ? wide : squeeze(wide, rows.dim));
}

void select_rows(SelectCall::Rule rule, const Tensor& values, const Tensor& index, const Tensor& self, int64_t nth,
                 int64_t dim) {
  const Rows rows(self, dim);
  const Tensor items = one_per_row(rows, values), places = one_per_row(rows, index);
  if (rows.count)
    select_kernel(self.device(), SelectCall{rule, self.dtype(), rows.in.data_ptr(), items.data_ptr(),
                                            places.data<int64_t>(), rows.count, rows.size, nth});
  give_back_one(rows, values, items), give_back_one(rows, index, places);
}

struct Kthvalue {
  static TwoMetas shape(const Tensor& self, int64_t k, int64_t dim_given, bool keepdim) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    TwoMetas metas = picked_shape(self, dim, keepdim, "kthvalue");
    check(k >= 1 && k <= length_of(self, dim), TensorErrorKind::Runtime,
          "kthvalue(): selected number k out of range for dimension ", dim);
    if (self.dim()) require_type(kRealTypes - kBool, self, "kthvalue_cpu");
    return metas;
  }
  static void run(const Tensor& values, const Tensor& index, const Tensor& self, int64_t k, int64_t dim, bool) {
    if (self.dim() == 0) return copy_into(values, self), fill_into(index, 0);
    select_rows(SelectCall::Rule::Kth, values, index, self, k - 1, dim);
  }
  static void grad(Tensor& values, Tensor& index, const Tensor& self, int64_t, int64_t dim, bool keepdim) {
    record_pick(values, "KthvalueBackward0", self, index, dim, self.dim() && !keepdim);
  }
};

struct MedianDim {
  static TwoMetas shape(const Tensor& self, int64_t dim, bool keepdim) {
    require_type(kRealTypes - kBool, self, {"median_out", "median_out_impl"});
    return picked_shape(self, dim, keepdim, "median");
  }
  static void run(const Tensor& values, const Tensor& index, const Tensor& self, int64_t dim_given, bool) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    select_rows(SelectCall::Rule::Median, values, index, self, (length_of(self, dim) - 1) / 2, dim);
  }
  static void grad(Tensor& values, Tensor& index, const Tensor& self, int64_t dim, bool keepdim) {
    record_pick(values, "MedianBackward1", self, index, dim, self.dim() && !keepdim);
  }
};

struct Median {
  static Meta shape(const Tensor& self) {
    if (self.numel()) require_type(kRealTypes - kBool, self, {"median_cpu", "median_out_impl"});
    return Meta({}, self);
  }
  static void run(const Tensor& out, const Tensor& self) { pick(out, self); }
  static void grad(Tensor& out, const Tensor& self) {
    // Every element that equals the median has its share.
    record(out, "MedianBackward0", {&self}, keep(self, out.view_of({}, {})), [](Sweep& s) {
      s.give(0, [&] {
        const Tensor x = s.kept(0), m = s.kept(1), hit = logical_or(x == m, logical_and(isnan(x), isnan(m)));
        return to_dtype(hit, x.dtype()) * (s.g() / sum(hit));
      });
    });
  }

 private:
  // NaN, and what it becomes as an integer.
  static Scalar of_nothing(DType t) {
    if (is_differentiable(t)) return std::nan("");
    if (is_bool(t)) return true;
    return t == kInt64 ? INT64_MIN : t == kInt32 ? int64_t(INT32_MIN) : int64_t(0);
  }
  static void pick(const Tensor& out, const Tensor& self) {
    if (self.numel() == 0) return fill_into(out, of_nothing(self.dtype()));
    const Tensor flat = reshape(self, {-1}), index = Tensor::empty({}, kInt64, self.device());
    select_rows(SelectCall::Rule::Median, out, index, flat, (self.numel() - 1) / 2, 0);
  }
};

struct Mode {
  static TwoMetas shape(const Tensor& self, int64_t dim, bool keepdim) {
    const TwoMetas metas = picked_shape(self, dim, keepdim, "mode");
    if (self.dim())
      require_type(kRealTypes, self, {"mode_cpu", "cuda_mode"});  // one element is its own mode, whatever it is
    return metas;
  }
  static void run(const Tensor& values, const Tensor& index, const Tensor& self, int64_t dim, bool) {
    if (self.dim() == 0) return copy_into(values, self), fill_into(index, 0);
    const Rows rows(self, dim);
    if (rows.count == 0) return;
    const auto [sorted, places] = sort(rows.in, -1);
    Dims sizes(rows.in.sizes());
    if (!sizes.empty()) sizes[sizes.size() - 1] = 1;
    const Tensor at = Tensor::empty(sizes, kInt64, self.device());
    mode_kernel(self.device(), ModeCall{self.dtype(), sorted.data_ptr(), at.data<int64_t>(), rows.count, rows.size});
    const auto give = [&](const Tensor& result, const Tensor& from) {
      const Tensor wide = self.dim() ? transpose(gather(from, -1, at), rows.dim, -1) : from;
      copy_into(result, result.dim() == wide.dim() ? wide : squeeze(wide, rows.dim));
    };
    give(values, sorted), give(index, places);
  }
  static void grad(Tensor& values, Tensor& index, const Tensor& self, int64_t dim, bool keepdim) {
    record_pick(values, "ModeBackward0", self, index, dim, self.dim() && !keepdim);
  }
};

}  // namespace

ValuesAndIndices sort(const Tensor& self, int64_t dim, bool descending) { return apply<Sort>(self, dim, descending); }
Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  const GradMode no_grad(false);
  return std::get<1>(sort(self, dim, descending));
}
ValuesAndIndices topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted) {
  return apply<Topk>(self, k, dim, largest, sorted);
}
ValuesAndIndices kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  return apply<Kthvalue>(self, k, dim, keepdim);
}
ValuesAndIndices median(const Tensor& self, int64_t dim, bool keepdim) { return apply<MedianDim>(self, dim, keepdim); }
Tensor median(const Tensor& self) { return apply<Median>(self); }
ValuesAndIndices mode(const Tensor& self, int64_t dim, bool keepdim) { return apply<Mode>(self, dim, keepdim); }

namespace {

// The median of what is not NaN; NaN where there is nothing else.
ValuesAndIndices nanmedian_along(const Tensor& self, int64_t dim, bool keepdim) {
  const TwoMetas metas = picked_shape(self, dim, keepdim, "median");
  if (!is_floating(self.dtype())) return median(self, dim, keepdim);
  if (self.dim() == 0) return {renamed(clone(self), "NanmedianBackward1"), zeros({}, kInt64, self.device())};
  if (self.numel() == 0) return {metas[0].allocate(), metas[1].allocate()};
  Tensor index;
  {
    const GradMode off(false);
    const Tensor known = logical_not(isnan(self)), count = sum(known, Dims{dim}, true);
    const Tensor rank = floor_divide(clamp_min(count - 1, 0), 2);
    const Tensor found = gather(argsort(where(known, self, HUGE_VAL), dim), dim, rank);  // NaN behind all numbers
    index = where(count == 0, 0, found);
  }
  const Tensor values = gather(self, dim, index);
  if (keepdim) return {renamed(values, "NanmedianBackward1"), index};
  return {renamed(squeeze(values, dim), "NanmedianBackward1"), squeeze(index, dim)};
}
Tensor nanmedian(const Tensor& self) {
  if (!is_floating(self.dtype()) || !self.numel()) return median(self);
  return renamed(std::get<0>(nanmedian_along(reshape(self, {-1}), 0, false)), "NanmedianBackward0");
}

Tensor argsort_stable(const Tensor& self, bool, int64_t dim, bool descending) { return argsort(self, dim, descending); }
Tensor msort(const Tensor& self) { return std::get<0>(sort(self, 0)); }

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(sort, "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
      "The items of a dimension in order.", kBoth | kOut, Sort,
      "f[3,5]\n"
      "f[3,5], 0, True\n"
      "i[40]<9, 0\n"
      "f[]\n"
      "f[2,0]\n"
      "b[2,3]\n"
      "c[2] -> TypeError:  Sort does not support complex dtypes on CPU\n"
      "f[2], 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)",
      .out = kOutStructured);
TS_OP(sort,
      "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
      "The items of a dimension in order.", kBoth | kOut, SortStable, "f[3,5], stable=True, dim=0",
      .out = kOutStructured);
TS_OP(argsort, "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
      "The indices that sort a dimension.", kBoth | kNoGrad, &argsort, "f[3,5]\ni[3,5]<4, 0, True");
TS_OP(argsort, "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
      "The indices that sort a dimension.", kBoth | kNoGrad, &argsort_stable, "i[20]<4, stable=True");
TS_OP(msort, "msort(Tensor self) -> Tensor", "Sorted along the first dimension.", kBoth | kOut, &msort, "f[4,3]",
      .out = kOutStructured);
TS_OP(topk,
      "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
      "The k largest items of a dimension.", kBoth | kOut, Topk,
      "f[3,5], 2\n"
      "f[6,3], 3, 0, False\n"
      "f[200], 3\n"
      "i[50]<9, 20\n"
      "f[], 1\n"
      "f[3], 0\n"
      "f[2,2], 3 -> RuntimeError: selected index k out of range",
      .out = kOutStructured);
TS_OP(kthvalue, "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "The k-th smallest item of a dimension.", kBoth | kOut, Kthvalue,
      "f[3,5], 2\n"
      "f[5,3], 4, 0, True\n"
      "i[60]<9, 17\n"
      "f[], 1\n"
      "f[2,2], 3 -> RuntimeError: kthvalue(): selected number k out of range for dimension 1\n"
      "b[2,2], 1 -> NotImplementedError: \"kthvalue_cpu\" not implemented for 'Bool'",
      .out = {OutRule::Same, "output values must be of same type as input"});
TS_OP(median, "median(Tensor self) -> Tensor", "The lower of the middle values.", kBoth, Median, "f[3,4]\ni[7]<9\nf[]");
TS_OP(median, "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "The lower of the middle values of a dimension.", kBoth | kOut, MedianDim,
      "f[3,4], 1\n"
      "f[3,4], 0, True\n"
      "f[0,2], 0 -> IndexError: median(): Expected reduction dim 0 to have non-zero size.");
TS_OP(nanmedian, "nanmedian(Tensor self) -> Tensor", "The lower of the middle values of what is not NaN.", kBoth,
      &nanmedian, "f[3,4]\ni[7]<9\nb[2] -> NotImplementedError: \"median_cpu\" not implemented for 'Bool'");
TS_OP(nanmedian, "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "The lower of the middle values of a dimension, of what is not NaN.", kBoth | kOut, &nanmedian_along,
      "f[3,4], 1\n"
      "i[3,4]<9, 0, True\n"
      "f[0,2], 0 -> IndexError: median(): Expected reduction dim 0 to have non-zero size.");
TS_OP(mode, "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "The most frequent value of a dimension.", kBoth | kOut, Mode,
      "i[3,9]<3\n"
      "i[9,3]<3, 0, True\n"
      "f[0,2], 0 -> IndexError: mode(): Expected reduction dim 0 to have non-zero size.",
      .out = {OutRule::Same, "expected scalar type '$R' but got '$O' for values output"});

}  // namespace
}  // namespace tessera::tensor
