// Ops that address the items of one dimension by a vector of indices.
// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/index_along.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

using Mode = IndexCall::Mode;
using Complaint = IndexCall::Complaint;

bool is_index_type(const Tensor& t) { return t.dtype() == kInt64 || t.dtype() == kInt32; }

// The sizes without one dimension.
Dims slice_of(const Tensor& t, int64_t dim) {
  Dims sizes(t.sizes());
  if (t.dim()) sizes.erase(size_t(dim));
  return sizes;
}
// A slice's shape as index_copy's message writes it.
std::string spaced(Ints sizes) {
  std::string text;
  for (const int64_t s : sizes) text += (text.empty() ? "" : " ") + std::to_string(s);
  return text;
}

struct IndexSelect {
  static constexpr Forward forward = Forward::Linear;
  static Meta shape(const Tensor& self, int64_t dim_given, const Tensor& index) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    check(index.dim() <= 1, TensorErrorKind::Index, "index_select(): Index is supposed to be a vector");
    check(is_index_type(index), TensorErrorKind::Runtime, "index_select(): Expected dtype int32 or int64 for index");
    check_same_device(self, index);
    Dims sizes(self.sizes());
    if (self.dim() == 0) {
      check(index.numel() == 1, TensorErrorKind::Runtime, "index_select(): Index to scalar can have only 1 value, got ",
            index.numel(), " value(s)");
    } else {
      check(sizes[dim] > 0 || index.numel() == 0, TensorErrorKind::Runtime,
            "index_select(): self indexing axis dim should be positive");
      sizes[dim] = index.numel();
    }
    return Meta(sizes, self);
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
    move_items({Mode::Read, wrap_dim(dim, self.dim()), Complaint::Select}, self, as_index(out, index), out);
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
    record(out, "IndexSelectBackward0", {&self}, keep(index), [dim, sizes = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] { return index_add(zeros(sizes, s.g().dtype(), s.g().device()), dim, s.kept(0), s.g(), 1); });
    });
  }
};

}  // namespace

Meta items_written_shape(const char* name, const Tensor& self, int64_t dim_given, const Tensor& index,
                         const Tensor& source) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  check(index.dim() <= 1, TensorErrorKind::Index, name,
        "(): Index is supposed to be a vector, but got dim: ", index.dim(),
        " with type: ", scalar_type_name(index.dtype()), " and size: ", index.sizes());
  check(is_index_type(index), TensorErrorKind::Runtime, name,
        "(): Expected dtype int32/int64 for index but got: ", scalar_type_name(index.dtype()));
  check(self.dtype() == source.dtype(), TensorErrorKind::Runtime, name, "(): self (", scalar_type_name(self.dtype()),
        ") and source (", scalar_type_name(source.dtype()), ") must have the same scalar type");
  check(dim == 0 || dim < source.dim(), TensorErrorKind::Runtime, name, "(): Indexing dim ", dim,
        " is out of bounds of the source tensor with dim ", source.dim());
  const int64_t length = source.dim() ? source.sizes()[dim] : 1;
  check(index.numel() == length, TensorErrorKind::Runtime, name, "(): Number of indices (", index.numel(),
        ") should be equal to source.size(dim): (", length, "), for dim: ", dim);
  check((self.dim() == 0) == (source.dim() == 0) && slice_of(self, dim) == slice_of(source, dim),
        TensorErrorKind::Runtime,
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ",
        self.sizes(), " source.shape = ", source.sizes());
  check_same_device(self, index);
  check_same_device(self, source);
  return Meta(self.sizes(), self);
}

namespace {

struct IndexAdd {
  static constexpr Forward forward = Forward::Linear;
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
    alpha.as(self.dtype());
    return items_written_shape("index_add_", self, dim, index, source);
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                  Scalar alpha) {
    const Scalar factor = is_differentiable(self.dtype()) ? alpha : alpha.as(self.dtype());
    const Tensor added = apart_from(out, factor.equals(1) ? source : source * factor), at = as_index(out, index);
    const int64_t d = wrap_dim(dim, self.dim());
    // Which of two ways PyTorch goes shows in what it says of an index out of range.
    const bool as_scatter =
        self.dim() > 1 && (d == 0 || d == self.dim() - 1) && alpha.equals(1) && index.dtype() == kInt64;
    start_from(out, self);
    move_items({Mode::Accumulate, d, as_scatter ? Complaint::Scatter : Complaint::Select}, out, at, added);
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                   Scalar alpha) {
    record(out, "IndexAddBackward0", {&self, &source}, keep(index), [dim, alpha](Sweep& s) {
      s.give(0, [&] { return s.g(); });
      s.give(1, [&] {
        const Tensor g = index_select(s.g(), dim, s.kept(0));
        return alpha.equals(1) ? g : g * alpha;
      });
    });
  }
};

struct IndexCopy {
  static constexpr Forward forward = Forward::Linear;
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, int64_t dim_given, const Tensor& index, const Tensor& source) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    check(index.dim() <= 1, TensorErrorKind::Index, "index_copy_(): Index should have dimension 1 or 0 (got ",
          index.dim(), ")");
    check_ranks(self, index, source);
    check(index.dtype() == kInt64, TensorErrorKind::Runtime,
          "index_copy_(): Expected a long tensor for index, but got ", scalar_type_name(index.dtype()));
    check(self.dtype() == source.dtype(), TensorErrorKind::Runtime,
          "index_copy_(): self and source expected to have the same dtype, but got (self) ",
          scalar_type_name(self.dtype()), " and (source) ", scalar_type_name(source.dtype()));
    check_same_device(self, index);
    check_same_device(self, source);
    const Dims ours = slice_of(self, dim), theirs = slice_of(source, dim);
    check(ours == theirs, TensorErrorKind::Runtime,
          "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: ",
          spaced(ours), " at dimension ", dim, " and source slice shape: ", spaced(theirs), " at dimension 0.");
    const int64_t length = source.dim() ? source.sizes()[dim] : 1;
    check(index.numel() == length, TensorErrorKind::Index, "index_copy_(): Number of indices (", index.numel(),
          ") should be equal to source.size(dim) (", length, ")");
    return Meta(self.sizes(), self);
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
    const Tensor at = as_index(out, index), values = apart_from(out, source);
    start_from(out, self);
    const bool scalar = out.dim() == 0 || values.dim() == 0;  // either may be one number in no dimension
    const Tensor to = scalar && out.dim() == 0 ? out.view_of({1}, {1}) : out,
                 from = scalar && values.dim() == 0 ? values.view_of({1}, {1}) : values;
    move_items({Mode::Write, wrap_dim(dim, self.dim()), Complaint::Copy}, to, at, from);
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
    record(out, "IndexCopyBackward0", {&self, &source}, keep(index), [dim, sizes = Dims(source.sizes())](Sweep& s) {
      s.give(0, [&] { return index_fill(s.g(), dim, s.kept(0), 0); });
      s.give(1, [&] { return reshape(index_select(s.g(), dim, s.kept(0)), sizes); });
    });
  }

 private:
  static void check_ranks(const Tensor& self, const Tensor& index, const Tensor& source) {
    check(source.dim() != 0 || index.numel() == 1, TensorErrorKind::Index,
          "index_copy_(): When source is scalar, index should have one element (got ", index.numel(), ")");
    check(source.dim() == self.dim() || source.dim() == 0 || self.dim() == 0, TensorErrorKind::Index,
          "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
          "dimensionality (",
          source.dim(), "), destination dimensionality (", self.dim(), ")");
  }
};

struct IndexFill {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
    wrap_dim(dim, self.dim());
    check(index.dtype() == kInt64, TensorErrorKind::Index, "index_fill_(): Expected dtype int64 for index.");
    check(!value.is_complex() || is_complex(self.dtype()), TensorErrorKind::Runtime,
          "index_fill_(): Converting complex Scalar to non-complex type is not supported");
    check(index.dim() <= 1, TensorErrorKind::Runtime, "Index has to be a vector/scalar");
    check_same_device(self, index);
    return Meta(self.sizes(), self.dtype(), self.device(), dense_strides(self));
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim_given, const Tensor& index, Scalar value) {
    fill(out, self, dim_given, index, Tensor::scalar(value, self.dtype(), self.device()));
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, Scalar) {
    record(out, "IndexFillBackward0", {&self}, keep(index),
           [dim](Sweep& s) { s.give(0, [&] { return index_fill(s.g(), dim, s.kept(0), 0); }); });
  }
  static void fill(const Tensor& out, const Tensor& self, int64_t dim_given, const Tensor& index,
                   const Tensor& number) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    const Tensor at = as_index(out, index);
    start_from(out, self);
    const Tensor to = out.dim() ? out : out.view_of({1}, {1});  // one number may be named any number of times
    Dims sizes(to.sizes());
    sizes[dim] = index.numel();
    move_items({Mode::Write, dim, Complaint::Index, IndexCall::Negative::Wrap}, to, at,
               number.view_of(sizes, Dims(sizes.size(), 0)));
  }
};

struct IndexFillTensor {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
    check(value.dim() == 0, TensorErrorKind::Runtime,
          "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
          " dimension(s).");
    return IndexFill::shape(self, dim, index, is_complex(value.dtype()) ? Scalar(std::complex<double>(0, 1)) : 0);
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
    IndexFill::fill(out, self, dim, index, to_device(to_dtype(apart_from(out, value), self.dtype()), self.device()));
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
    record(out, "IndexFillBackward1", {&self, &value}, keep(index), [dim, dtype = value.dtype()](Sweep& s) {
      s.give(0, [&] { return index_fill(s.g(), dim, s.kept(0), 0); });
      s.give(1, [&] {  // what is named twice was written twice, and counts once
        const Tensor others = index_fill(ones(s.g().sizes(), kBool, s.g().device()), dim, s.kept(0), 0);
        return to_dtype(sum(masked_fill(s.g(), others, Scalar(0))), dtype);
      });
    });
  }
};

}  // namespace

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  return apply<IndexSelect>(self, dim, index);
}
Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  return apply<IndexAdd>(self, dim, index, source, alpha);
}
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  return apply<IndexCopy>(self, dim, index, source);
}
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  return apply<IndexFill>(self, dim, index, value);
}

namespace {

constexpr uint32_t kBoth = kFunction | kMethod, kWrites = kFunction | kMethod | kInplace;
TS_OP(index_select, "index_select(Tensor self, int dim, Tensor index) -> Tensor",
      "The items of a dimension that index names.", kBoth | kOut, IndexSelect,
      "f[4,3], 0, i[5]<4\n"
      "f[4,3], -1, i[2]<3\n"
      "f[4,3].t, 1, i[6]<3\n"
      "f[], 0, i{0}\n"
      "f[2,2], 0, i{2} -> IndexError: index out of range in self\n"
      "f[2,2], 0, i{-1} -> IndexError: index out of range in self\n"
      "f[2,2], 0, f[1] -> RuntimeError: index_select(): Expected dtype int32 or int64 for index\n"
      "f[2,2], 0, i[1,1]<2 -> IndexError: index_select(): Index is supposed to be a vector\n"
      "f[], 0, i{0,0} -> RuntimeError: index_select(): Index to scalar can have only 1 value, got 2 value(s)",
      .out = {OutRule::Same, "$n(): self and result must have the same scalar type"}, .one_device = "_index_select");
TS_OP(index_add, "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
      "Adds source's items to those that index names.", kWrites | kOut, IndexAdd,
      "f[4,3], 0, i[5]<4, f[5,3]\n"
      "f[4,3], 1, i{1,1}, f[4,2], alpha=0.5\n"
      "f[3], 0, i[7]<3, f[7]\n"
      "f[2,2], 0, i{0}, f[1,3] -> RuntimeError: source tensor shape must match self tensor shape, excluding the "
      "specified dimension. Got self.shape = [2, 2] source.shape = [1, 3]\n"
      "f[2,2], 0, i{0}, f[1,3000000] -> RuntimeError: source tensor shape must match self tensor shape\n"
      "f[2,2], 1, i{0}, f[2] -> RuntimeError: index_add_(): Indexing dim 1 is out of bounds of the source tensor with "
      "dim 1\n"
      "f[2,2], 0, i{0}, f[2,2] -> RuntimeError: index_add_(): Number of indices (1) should be equal to "
      "source.size(dim): (2), for dim: 0\n"
      "f[2,2], 0, i{5}, f[1,2] -> RuntimeError: index 5 is out of bounds for dimension 0 with size 2",
      .out = kOutStructured, .one_device = "index_add");
TS_OP(index_copy, "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
      "Puts source's items where index says.", kWrites | kOut, IndexCopy,
      "f[4,3], 0, i{2,0}, f[2,3]\n"
      "f[4,3], 1, i{1}, f[4,1]\n"
      "f[2,2], 0, i{0}, f[1,3] -> RuntimeError: index_copy_(): Source/destination tensor must have same slice shapes. "
      "Destination slice shape: 2 at dimension 0 and source slice shape: 3 at dimension 0.\n"
      "f[2,2], 0, i{0}, f[2,2] -> IndexError: index_copy_(): Number of indices (1) should be equal to "
      "source.size(dim) (2)\n"
      "f[2,2], 0, i{5}, f[1,2] -> IndexError: index_copy_(): index 5 is out of bounds for dimension 0 with size 2",
      .out = kOutStructured, .one_device = "index_copy", .autocast = Autocast::Widest);
TS_OP(index_fill, "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
      "Fills the items that index names.", kWrites, IndexFill,
      "f[4,3], 0, i{2,-1}, 1.5\n"
      "f[4,3], 1, i{1}, 2\n"
      "f[2,2], 0, i{2}, 3 -> IndexError: index 2 is out of bounds for dimension 0 with size 2\n"
      "f[2,2], 0, f[1], 3 -> IndexError: index_fill_(): Expected dtype int64 for index.",
      .any_device = true);
TS_OP(index_fill, "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
      "Fills the items that index names.", kWrites, IndexFillTensor,
      "f[4,3], 0, i{2,0}, f[]\n"
      "f[4,3].t, 1, i{1}, i[]<5\n"
      "f[2,2], 0, i{0}, f[1] -> RuntimeError: index_fill_ only supports a 0-dimensional value tensor, but got tensor "
      "with 1 dimension(s).",
      .any_device = true);

}  // namespace
}  // namespace tessera::tensor
