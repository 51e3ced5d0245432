// Views with the dimensions in another order, or with dimensions of size 1 taken out or put in.
#include <algorithm>

#include "runtime/checked.h"
#include "runtime/ops/batching.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/view_ops.h"

namespace tessera::tensor {
namespace {

// dims counted from the front; `refuse` says that one of them stands twice.
template <class F>
Dims distinct(Ints dims, int64_t ndim, F&& refuse) {
  Dims out;
  for (const int64_t given : dims) {
    const int64_t dim = wrap_dim(given, ndim);
    if (std::find(out.begin(), out.end(), dim) != out.end()) refuse(dim);
    out.push_back(dim);
  }
  return out;
}

// ---- another order ----

struct Permute {
  static Dims order_of(const Tensor& self, Ints dims) {
    check(
        int64_t(dims.size()) == self.dim(), TensorErrorKind::Runtime,
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. "
        "input.dim() = ",
        self.dim(), " is not equal to len(dims) = ", dims.size());
    return distinct(dims, self.dim(),
                    [](int64_t) { fail(TensorErrorKind::Runtime, "permute(): duplicate dims are not allowed."); });
  }
  static View shape(const Tensor& self, Ints dims) {
    const Dims order = order_of(self, dims);
    View out{Dims(order.size()), Dims(order.size())};
    for (size_t d = 0; d < order.size(); d++)
      out.sizes[d] = self.sizes()[order[d]], out.strides[d] = self.strides()[order[d]];
    return out;
  }
  static CountedPtr<Node> grad(const Tensor&, const Tensor& self, Ints dims) {
    const Dims order = order_of(self, dims);
    Dims back(order.size());
    for (size_t d = 0; d < order.size(); d++) back[order[d]] = int64_t(d);
    return view_node("PermuteBackward0", self, [back](const Tensor& g) { return permute(g, back); });
  }
};

View exchanged(const Tensor& self, int64_t a, int64_t b) {
  View out{self.sizes(), self.strides()};
  if (self.dim()) std::swap(out.sizes[a], out.sizes[b]), std::swap(out.strides[a], out.strides[b]);
  return out;
}

struct Transpose {
  static View shape(const Tensor& self, int64_t dim0, int64_t dim1) {
    const int64_t first = wrap_dim(dim0, self.dim());  // what is wrong with it is told first
    return exchanged(self, first, wrap_dim(dim1, self.dim()));
  }
  static CountedPtr<Node> grad(const Tensor&, const Tensor& self, int64_t dim0, int64_t dim1) {
    return view_node("TransposeBackward0", self, [dim0, dim1](const Tensor& g) { return transpose(g, dim0, dim1); });
  }
};

struct MatrixTranspose {
  static View shape(const Tensor& self) {
    check(self.dim() <= 2, TensorErrorKind::Runtime, "t() expects a tensor with <= 2 dimensions, but self is ",
          self.dim(), "D");
    return exchanged(self, 0, self.dim() < 2 ? 0 : 1);
  }
  static CountedPtr<Node> grad(const Tensor&, const Tensor& self) { return view_node("TBackward0", self, t); }
};

// ---- dimensions of size 1 ----

// Without the dimensions of size 1 that `drops` picks.
template <class F>
View without(const Tensor& self, F&& drops) {
  View out;
  for (int64_t d = 0; d < self.dim(); d++)
    if (self.sizes()[d] != 1 || !drops(d))
      out.sizes.push_back(self.sizes()[d]), out.strides.push_back(self.strides()[d]);
  return out;
}

struct Squeeze {
  static View shape(const Tensor& self) {
    return without(self, [](int64_t) { return true; });
  }
  static CountedPtr<Node> grad(const Tensor&, const Tensor& self) {
    return view_node("SqueezeBackward0", self,
                     [shape = Dims(self.sizes())](const Tensor& g) { return reshape(g, shape); });
  }
};

struct SqueezeDim {
  static View shape(const Tensor& self, int64_t dim_given) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    View out{self.sizes(), self.strides()};
    if (self.dim() && out.sizes[dim] == 1) out.sizes.erase(dim), out.strides.erase(dim);
    return out;
  }
  static CountedPtr<Node> grad(const Tensor& out, const Tensor& self, int64_t dim_given) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    return view_node("SqueezeBackward1", self,
                     [dim, drops = out.dim() < self.dim()](const Tensor& g) { return drops ? unsqueeze(g, dim) : g; });
  }
};

struct SqueezeDims {
  static View shape(const Tensor& self, Ints dims) {
    const Dims named = distinct(dims, self.dim(), [](int64_t dim) {
      fail(TensorErrorKind::Runtime, "dim ", dim, " appears multiple times in the list of dims");
    });
    return without(self, [&](int64_t d) { return std::find(named.begin(), named.end(), d) != named.end(); });
  }
  static CountedPtr<Node> grad(const Tensor&, const Tensor& self, Ints) {
    return view_node("SqueezeBackward2", self,
                     [shape = Dims(self.sizes())](const Tensor& g) { return reshape(g, shape); });
  }
};

struct Unsqueeze {
  static View shape(const Tensor& self, int64_t dim_given) {
    const int64_t dim = wrap_dim(dim_given, self.dim() + 1);
    View out{self.sizes(), self.strides()};
    const int64_t stride = dim < self.dim() ? saturated_mul(out.sizes[dim], out.strides[dim]) : 1;
    out.sizes.insert(dim, 1), out.strides.insert(dim, stride);
    return out;
  }
  static CountedPtr<Node> grad(const Tensor& out, const Tensor& self, int64_t dim_given) {
    const int64_t dim = wrap_dim(dim_given, out.dim());
    return view_node("UnsqueezeBackward0", self, [dim](const Tensor& g) { return squeeze(g, dim); });
  }
};

}  // namespace

// ---- C++ functions ----

Tensor permute(const Tensor& self, Ints dims) { return apply<Permute>(self, dims); }
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) { return apply<Transpose>(self, dim0, dim1); }
Tensor t(const Tensor& self) { return apply<MatrixTranspose>(self); }
Tensor squeeze(const Tensor& self) { return apply<Squeeze>(self); }
Tensor squeeze(const Tensor& self, int64_t dim) { return apply<SqueezeDim>(self, dim); }
Tensor unsqueeze(const Tensor& self, int64_t dim) { return apply<Unsqueeze>(self, dim); }

Tensor numpy_T(const Tensor& self) {
  if (self.dim() != 2 && self.dim() != 0)
    Context::current().warn(
        "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a future "
        "release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions "
        "of a tensor.");
  Dims order;
  for (int64_t d = self.dim(); d-- > 0;) order.push_back(d);
  return permute(self, order);
}

Tensor matrix_T(const Tensor& self) {
  if (self.dim() == 0) return self;  // deprecated there
  check(self.dim() >= 2, TensorErrorKind::Runtime,
        "tensor.mT is only supported on matrices or batches of matrices. Got ", self.dim(), "-D tensor.");
  return transpose(self, -2, -1);
}

Tensor movedim(const Tensor& self, Ints source, Ints destination) {
  check(source.size() == destination.size(), TensorErrorKind::Runtime,
        "movedim: Invalid source or destination dims: source (", source,
        " dims) should contain the same number of dims as destination (", destination, " dims)");
  const auto wrapped = [&](Ints dims, const char* which) {
    return distinct(dims, self.dim(), [&](int64_t) {
      fail(TensorErrorKind::Runtime, "movedim: repeated dim in `", which, "` (", dims, ")");
    });
  };
  const Dims from = wrapped(source, "source"), to = wrapped(destination, "destination");
  if (self.dim() == 0) return self;
  Dims order(self.dim(), -1), taken(self.dim(), 0);
  for (size_t i = 0; i < from.size(); i++) order[to[i]] = from[i], taken[from[i]] = 1;
  int64_t next = 0;
  for (auto& d : order) {
    if (d >= 0) continue;
    while (taken[next]) next++;
    d = next++;
  }
  return permute(self, order);
}

// ---- the registry ----

namespace {

Tensor movedim_one(const Tensor& self, int64_t source, int64_t destination) {
  return movedim(self, {source}, {destination});
}
Tensor adjoint(const Tensor& self) {
  check(self.dim() != 1, TensorErrorKind::Runtime,
        "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return conj_view(matrix_T(self));
}
Tensor matrix_H(const Tensor& self) {
  check(self.dim() == 2 || self.dim() == 0, TensorErrorKind::Runtime,
        "tensor.H is only supported on matrices (2-D tensors). Got ", self.dim(), "-D tensor.",
        self.dim() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  return self.dim() ? adjoint(self) : conj_view(self);
}

// unsqueeze_ and its like: the tensor itself takes the view's layout and record.
Tensor become(const Tensor& self, const Tensor& view) {
  if (self.requires_grad()) check_inplace(self);
  Tensor handle = self;
  const CountedPtr<Node> node = view.requires_grad() ? grad_fn_of(view) : nullptr;
  self.impl()->set_layout(view.sizes(), view.strides());
  if (node) set_history(handle, node);
  if (view.is_dual()) [[unlikely]]
    for (const Tangent& tangent : seen_tangents(view)) set_tangent(self, tangent.level, tangent.value);
  return handle;
}
Tensor squeeze_in_place(const Tensor& self) { return become(self, squeeze(self)); }
Tensor squeeze_dim_in_place(const Tensor& self, int64_t dim) { return become(self, squeeze(self, dim)); }
Tensor squeeze_dims_in_place(const Tensor& self, Ints dim) { return become(self, apply<SqueezeDims>(self, dim)); }
Tensor unsqueeze_in_place(const Tensor& self, int64_t dim) { return become(self, unsqueeze(self, dim)); }
Tensor transpose_in_place(const Tensor& self, int64_t a, int64_t b) { return become(self, transpose(self, a, b)); }
Tensor t_in_place(const Tensor& self) { return become(self, t(self)); }

TS_OP(permute, "permute(Tensor self, int[] dims) -> Tensor", "The dimensions in another order.", kViewMethod | kSizes,
      Permute,
      "f[2,3,4], [2, 0, 1]\n"
      "f[2,3], [0, 0] -> RuntimeError: permute(): duplicate dims are not allowed.",
      .batched = batched_permute);
TS_OP(transpose, "transpose(Tensor self, int dim0, int dim1) -> Tensor", "Exchanges two dimensions.", kViewMethod,
      Transpose,
      "f[2,3,4], 0, 2\n"
      "f[], 0, -1\n"
      "f[2], 0, 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)");
TS_OP(swapaxes, "swapaxes(Tensor self, int axis0, int axis1) -> Tensor", "", kViewMethod,
      Transpose, "f[2,3,4], 0, 2", .alias_of = "transpose");
TS_OP(swapdims, "swapdims(Tensor self, int dim0, int dim1) -> Tensor", "", kViewMethod,
      Transpose, "f[2,3,4], 0, 2", .alias_of = "transpose");
TS_OP(t, "t(Tensor self) -> Tensor", "The transpose of a matrix; vectors stay.", kViewMethod, MatrixTranspose,
      "f[2,3]\n"
      "f[3]\n"
      "f[2,2,2] -> RuntimeError: t() expects a tensor with <= 2 dimensions, but self is 3D",
      .batched = batched_transpose);
TS_OP(T, "T(Tensor self) -> Tensor", "The dimensions in reverse order.", kProperty | kView, &numpy_T, "f[2,3]");
TS_OP(mT, "mT(Tensor self) -> Tensor", "The last two dimensions exchanged.", kProperty | kView, &matrix_T, "f[2,3,4]");
TS_OP(H, "H(Tensor self) -> Tensor", "The conjugate transpose.", kProperty | kView, &matrix_H, "f[2,3]");
TS_OP(mH, "mH(Tensor self) -> Tensor", "The last two dimensions exchanged, conjugated.", kProperty | kView, &adjoint,
      "f[2,3,4]");
TS_OP(adjoint, "adjoint(Tensor self) -> Tensor", "The last two dimensions exchanged, conjugated.", kViewMethod,
      &adjoint, "f[2,3,4]");
TS_OP(squeeze, "squeeze(Tensor self) -> Tensor", "Without the dimensions of size 1.", kViewMethod, Squeeze,
      "f[2,1,3,1]", .batched = batched_reshape);
TS_OP(squeeze, "squeeze.dim(Tensor self, int dim) -> Tensor", "Without that dimension, if its size is 1.", kViewMethod,
      SqueezeDim,
      "f[2,1,3], 1\n"
      "f[2,1,3], 0",
      .batched = batched_reshape);
TS_OP(squeeze, "squeeze.dims(Tensor self, int[] dim) -> Tensor", "Without those of the dimensions whose size is 1.",
      kViewMethod | kSizes, SqueezeDims,
      "f[1,2,1,3], [0, 2]\n"
      "f[1,2,1], [0, 1]\n"
      "f[1,2], []\n"
      "f[1,2], [0, 0] -> RuntimeError: dim 0 appears multiple times in the list of dims",
      .batched = batched_reshape);
TS_OP(unsqueeze, "unsqueeze(Tensor self, int dim) -> Tensor", "With a dimension of size 1 put in.", kViewMethod,
      Unsqueeze,
      "f[2,3], 1\n"
      "f[2,3], -1");
TS_OP(movedim, "movedim(Tensor self, int[] source, int[] destination) -> Tensor", "Moves dimensions to other places.",
      kViewMethod, &movedim, "f[2,3,4], [0, 1], [2, 0]");
TS_OP(movedim, "movedim.int(Tensor self, int source, int destination) -> Tensor", "Moves a dimension to another place.",
      kViewMethod, &movedim_one, "f[2,3,4], 0, 2");
TS_OP(moveaxis, "moveaxis(Tensor self, int[] source, int[] destination) -> Tensor", "",
      kViewMethod, &movedim, "f[2,3,4], [0, 1], [2, 0]", .alias_of = "movedim");
TS_OP(moveaxis, "moveaxis.int(Tensor self, int source, int destination) -> Tensor",
      "", kViewMethod, &movedim_one, "f[2,3,4], 0, 2", .alias_of = "movedim");
TS_OP(squeeze_, "squeeze_(Tensor self) -> Tensor", "squeeze, of the tensor itself.", kMethod | kTakesMathBits,
      &squeeze_in_place, "f[2,1,3]");
TS_OP(squeeze_, "squeeze_.dim(Tensor self, int dim) -> Tensor", "squeeze, of the tensor itself.",
      kMethod | kTakesMathBits, &squeeze_dim_in_place, "f[2,1,3], 1");
TS_OP(squeeze_, "squeeze_.dims(Tensor self, int[] dim) -> Tensor", "squeeze, of the tensor itself.",
      kMethod | kTakesMathBits | kSizes, &squeeze_dims_in_place, "f[1,2,1,3], [0, 2]");
TS_OP(unsqueeze_, "unsqueeze_(Tensor self, int dim) -> Tensor", "unsqueeze, of the tensor itself.",
      kMethod | kTakesMathBits, &unsqueeze_in_place, "f[2,3], 1");
TS_OP(transpose_, "transpose_(Tensor self, int dim0, int dim1) -> Tensor", "transpose, of the tensor itself.",
      kMethod | kTakesMathBits, &transpose_in_place, "f[2,3], 0, 1");
TS_OP(swapaxes_, "swapaxes_(Tensor self, int axis0, int axis1) -> Tensor", "swapaxes, of the tensor itself.",
      kMethod | kTakesMathBits, &transpose_in_place, "f[2,3], 0, 1");
TS_OP(swapdims_, "swapdims_(Tensor self, int dim0, int dim1) -> Tensor", "swapdims, of the tensor itself.",
      kMethod | kTakesMathBits, &transpose_in_place, "f[2,3], 0, 1");
TS_OP(t_, "t_(Tensor self) -> Tensor", "t, of the tensor itself.", kMethod | kTakesMathBits, &t_in_place, "f[2,3]");

}  // namespace
}  // namespace tessera::tensor
