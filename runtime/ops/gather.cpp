// Ops that address one dimension by an index for each element: gather, its inverses, and take, which goes by flat places.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/index_along.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

Tensor remainder(const Operand& x, const Operand& y);  // a row of pointwise.def

namespace {

using Mode = IndexCall::Mode;

// A number in no dimension counts as a vector of one.
int64_t rank(const Tensor& t) { return std::max<int64_t>(t.dim(), 1); }
Tensor at_least_vector(const Tensor& t) { return t.dim() ? t : t.view_of({1}, {1}); }

// An index without elements may be of any dtype: torch.tensor([]) is one of floats.
void check_index(const char* name, const Tensor& self, const Tensor& index) {
  check(index.numel() == 0 || index.dtype() == kInt64 || index.dtype() == kInt32, TensorErrorKind::Runtime, name,
        "(): Expected dtype int32/int64 for index");
  check_same_device(self, index);
}

// Whether the index stays inside of `other` in every dimension but one. A number is a vector of one element.
bool fits(const Tensor& index, const Tensor& other, int64_t but) {
  const auto size = [](const Tensor& t, int64_t d) { return t.dim() ? t.sizes()[size_t(d)] : 1; };
  for (int64_t d = 0; d < rank(index); d++)
    if (d != but && size(index, d) > size(other, d)) return false;
  return true;
}

void move_elements(Mode mode, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& values) {
  if (index.numel() == 0) return;
  const Tensor at = at_least_vector(index);
  move_along({mode, dim}, at_least_vector(self), at, at.strides(), at_least_vector(values), at.sizes());
}

struct Gather {
  static constexpr Forward forward = Forward::Linear;
  static Meta shape(const Tensor& self, int64_t dim_given, const Tensor& index, bool) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    check_index("gather", self, index);
    if (index.numel() == 0) return Meta(index.sizes(), self);
    check(rank(index) == rank(self), TensorErrorKind::Runtime,
          "Index tensor must have the same number of dimensions as input tensor");
    for (int64_t d = 0; d < std::min(self.dim(), index.dim()); d++)
      check(d == dim || index.sizes()[d] <= self.sizes()[d], TensorErrorKind::Runtime,
            "Size does not match at dimension ", d, " expected index ", index.sizes(), " to be no larger than self ",
            self.sizes(), " apart from dimension ", dim);
    return Meta(index.sizes(), self);
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, bool) {
    move_elements(Mode::Read, self, wrap_dim(dim, self.dim()), as_index(out, index), out);
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, bool) {
    record(out, "GatherBackward0", {&self}, keep(index), [dim, sizes = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] { return scatter_add(zeros(sizes, s.g().dtype(), s.g().device()), dim, s.kept(0), s.g()); });
    });
  }
};

}  // namespace

// ---- scatter ----

Meta scattered_shape(const Tensor& self, int64_t dim_given, const Tensor& index, const Tensor* src) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  check_index("scatter", self, index);
  if (src) {
    check(src->dtype() == self.dtype(), TensorErrorKind::Runtime,
          "scatter(): Expected self.dtype to be equal to src.dtype");
    check_same_device(self, *src);
  }
  if (index.numel() == 0) return Meta(self.sizes(), self);
  check(rank(index) == rank(self), TensorErrorKind::Runtime,
        "Index tensor must have the same number of dimensions as self tensor");
  check(!src || rank(index) == rank(*src), TensorErrorKind::Runtime,
        "Index tensor must have the same number of dimensions as src tensor");
  const bool inside = fits(index, self, dim) && (!src || fits(index, *src, -1));
  if (src)
    check(inside, TensorErrorKind::Runtime, "Expected index ", index.sizes(), " to be no larger than self ",
          self.sizes(), " apart from dimension ", dim, " and to be no larger size than src ", src->sizes());
  check(inside, TensorErrorKind::Runtime, "Expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
        " apart from dimension ", dim);
  return Meta(self.sizes(), self);
}

namespace {

void run_scatter(Mode mode, const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                 const Tensor& src) {
  const Tensor at = as_index(out, index), values = apart_from(out, src);
  start_from(out, self);
  move_elements(mode, out, wrap_dim(dim, self.dim()), at, values);
}

struct Scatter {
  static constexpr Forward forward = Forward::Linear;
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    return scattered_shape(self, dim, index, &src);
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    run_scatter(Mode::Write, out, self, dim, index, src);
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    record(out, "ScatterBackward0", {&self, &src}, keep(index), [dim](Sweep& s) {
      s.give(0, [&] { return scatter(s.g(), dim, s.kept(0), Scalar(0)); });
      s.give(1, [&] { return gather(s.g(), dim, s.kept(0)); });
    });
  }
};

struct ScatterNumber {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, int64_t dim, const Tensor& index, Scalar) {
    return scattered_shape(self, dim, index, nullptr);
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
    const Tensor number = Tensor::scalar(value, self.dtype(), self.device());
    run_scatter(Mode::Write, out, self, dim, index, number.view_of(index.sizes(), Dims(index.sizes().size(), 0)));
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, Scalar) {
    record(out, "ScatterBackward1", {&self}, keep(index),
           [dim](Sweep& s) { s.give(0, [&] { return scatter(s.g(), dim, s.kept(0), Scalar(0)); }); });
  }
};

struct ScatterAdd {
  static constexpr Forward forward = Forward::Linear;
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    return scattered_shape(self, dim, index, &src);
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    run_scatter(Mode::Accumulate, out, self, dim, index, src);
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
    record(out, "ScatterAddBackward0", {&self, &src}, keep(index), [dim](Sweep& s) {
      s.give(0, [&] { return s.g(); });
      s.give(1, [&] { return gather(s.g(), dim, s.kept(0)); });
    });
  }
};

// ---- take ----

struct Take {
  static Meta shape(const Tensor& self, const Tensor& index) {
    check(index.dtype() == kInt64, TensorErrorKind::Runtime, "take(): Expected a long tensor for index, but got ",
          scalar_type_name(index.dtype()));
    check_same_device(self, index);
    check(self.numel() > 0 || index.numel() == 0, TensorErrorKind::Index, "take(): tried to take from an empty tensor");
    return Meta(index.sizes(), self);
  }
  static void run(const Tensor& out, const Tensor& self, const Tensor& index) {
    const Tensor flat = reshape(self, {-1}), at = reshape(as_index(out, index), {-1});
    move_items({Mode::Read, 0, IndexCall::Complaint::Take, IndexCall::Negative::Wrap}, flat, at,
               out.view_of({out.numel()}, {1}));
  }
  static void grad(Tensor& out, const Tensor& self, const Tensor& index) {
    record(out, "TakeBackward0", {&self}, keep(index), [sizes = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] {
        const Tensor flat = zeros({numel_of(sizes)}, s.g().dtype(), s.g().device());
        return reshape(index_put(flat, {reshape(s.kept(0), {-1})}, reshape(s.g(), {-1}), true), sizes);
      });
    });
  }
};

}  // namespace

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index) { return apply<Gather>(self, dim, index, false); }
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return apply<Scatter>(self, dim, index, src);
}
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  return apply<ScatterNumber>(self, dim, index, value);
}
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return apply<ScatterAdd>(self, dim, index, src);
}
Tensor take(const Tensor& self, const Tensor& index) { return apply<Take>(self, index); }

namespace {

// Along a dimension, and only there, an index counts modulo the size. That none needs it is seen sooner than divided, where
// the answer is at hand.
Tensor within(const Tensor& indices, int64_t size) {
  if (size == 0 || indices.numel() == 0) return indices;
  if (indices.device().is_cpu()) {
    const GradMode no_grad(false);
    if (min(indices).item().to_int() >= 0 && max(indices).item().to_int() < size) return indices;
  }
  return remainder(Operand(indices), Operand(size));
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  check(indices.device() == self.device(), TensorErrorKind::Runtime, "Expected tensor to have ", self.device().str(),
        " Device, but got tensor with ", indices.device().str(),
        " Device (while checking arguments for torch.take_along_dim():)");
  if (!dim) return gather(reshape(self, {-1}), 0, reshape(indices, {-1}));
  check(indices.dtype() == kInt64, TensorErrorKind::Runtime,
        "torch.take_along_dim(): dtype of indices should be Long but got ", scalar_type_name(indices.dtype()));
  check(self.dim() == indices.dim(), TensorErrorKind::Runtime,
        "torch.take_along_dim(): input and indices should have the same number of dimensions, but got ", self.dim(),
        " dimensions for input, and ", indices.dim(), " dimensions for indices");
  const int64_t at = wrap_dim(*dim, self.dim());
  Dims ours(self.sizes()), theirs(indices.sizes());
  if (self.dim() == 0) return gather(self, 0, indices);
  ours[at] = theirs[at] = 1;
  Dims shape = broadcast_shapes(ours, theirs), wide = shape;
  shape[at] = indices.sizes()[at], wide[at] = self.sizes()[at];
  return gather(expand(self, wide), at, expand(within(indices, self.sizes()[at]), shape));
}

constexpr uint32_t kBoth = kFunction | kMethod, kWrites = kFunction | kMethod | kInplace | kOut;
TS_OP(gather, "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
      "Elements by their index along a dimension.", kBoth | kOut, Gather,
      "f[3,4], 1, i[3,2]<4\n"
      "f[3,4].t, 0, i[5,2]<3\n"
      "f[2,3,4], -2, i[1,5,4]<3\n"
      "f[], 0, i{0}\n"
      "f[3,4], 1, i[3,2]<4:int32\n"
      "f[3,4], 1, f[0]\n"
      "f[3,4], 0, f[3,4] -> RuntimeError: gather(): Expected dtype int32/int64 for index\n"
      "f[3,4], 0, i[3]<3 -> RuntimeError: Index tensor must have the same number of dimensions as input tensor\n"
      "f[2,2], 0, i[1,3]<2 -> RuntimeError: Size does not match at dimension 1 expected index [1, 3] to be no larger "
      "than self [2, 2] apart from dimension 0\n"
      "f[3], 0, i{3} -> RuntimeError: index 3 is out of bounds for dimension 0 with size 3\n"
      "f[3], 0, i{-1} -> RuntimeError: index -1 is out of bounds for dimension 0 with size 3",
      .out = kOutStructured, .one_device = "gather", .may_give_sparse_gradient = true);
TS_OP(scatter, "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
      "Writes elements to their index along a dimension.", kWrites, Scatter,
      "f[2,3], 1, i{2,0,1}, f[3] -> RuntimeError: Index tensor must have the same number of dimensions as self tensor\n"
      "f[4], 0, i{2,0,1}, f[3]\n"
      "f[4,2].t, 0, i{1}, f[1] -> RuntimeError: Index tensor must have the same number of dimensions as self tensor\n"
      "f[3], 0, i{3}, f[1] -> RuntimeError: index 3 is out of bounds for dimension 0 with size 3\n"
      "f[3], 0, i{0,1}, f[1] -> RuntimeError: Expected index [2] to be no larger than self [3] apart from dimension 0 "
      "and to be no larger size than src [1]",
      .out = kOutStructured, .one_device = "scatter_src");
TS_OP(scatter, "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
      "Writes a number to places along a dimension.", kWrites, ScatterNumber,
      "f[3,4], 1, i[3,2]<4, 1.5\n"
      "f[3], 0, i{3}, 2 -> RuntimeError: index 3 is out of bounds for dimension 0 with size 3",
      .out = kOutStructured, .one_device = "scatter_value");
TS_OP(scatter_add, "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
      "Adds elements to their index along a dimension.", kWrites, ScatterAdd,
      "f[3,4], 1, i[3,6]<4, f[3,6]\n"
      "f[3,4].t, 0, i[7,2]<3, f[7,2]\n"
      "f[3], 0, i[9]<3, f[9]\n"
      "f[2,2], 0, i[1,3]<2, f[1,3] -> RuntimeError: Expected index [1, 3] to be no larger than self [2, 2] apart from "
      "dimension 0 and to be no larger size than src [1, 3]\n"
      "f[3], 0, i{-1}, f[1] -> RuntimeError: index -1 is out of bounds for dimension 0 with size 3",
      .out = kOutStructured, .one_device = "scatter_add", .autocast_cuda = Autocast::Widest);
TS_OP(take, "take(Tensor self, Tensor index) -> Tensor", "Elements by their place in the flattened tensor.",
      kBoth | kOut, Take,
      "f[2,3], i{0,-1,5,0}\n"
      "f[2,3].t, i[2,2]<6\n"
      "f[4], i{4} -> IndexError: out of range: tried to access index 4 on a tensor of 4 elements.\n"
      "f[0], i{0} -> IndexError: take(): tried to take from an empty tensor",
      .out = {OutRule::Same,
              "take(): self and out expected to have the same dtype, but got self.dtype = $R and out.dtype = $O"},
      .one_device = "_take");
TS_OP(take_along_dim, "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", "gather that broadcasts.",
      kBoth | kOut, &take_along_dim,
      "f[3,4], i[3,1]<4, 1\n"
      "f[3,4], i[5]<12\n"
      "f[3], i{-1,3,-4}, 0\n"
      "f[2], i{2} -> RuntimeError: index 2 is out of bounds for dimension 0 with size 2\n"
      "f[2,2], i[1]<2, 0 -> RuntimeError: torch.take_along_dim(): input and indices should have the same number of "
      "dimensions, but got 2 dimensions for input, and 1 dimensions for indices",
      .out = kOutStructured);

}  // namespace
}  // namespace tessera::tensor
