// Ops that go by a mask: where it is set, what it selects, fills and replaces.
// compile: small (seldom in a step, and the kernel takes longer)
#include <cstring>

#include "runtime/autograd/record.h"
#include "runtime/device/meta.h"
#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/out_types.h"
#include "runtime/ops/index_along.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/masks.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {

constinit Kernel<CountNonzeroCall> count_nonzero_kernel("count_nonzero");
constinit Kernel<NonzeroCall> nonzero_kernel("nonzero");
constinit Kernel<MaskRowsCall> mask_rows_kernel("mask_rows");
constinit Kernel<MaskedFillCall> masked_fill_kernel("masked_fill");

// How many are set decides how much memory the result takes, so the host has to wait for it, as in PyTorch.
int64_t count_set(const Tensor& dense) {
  if (dense.numel() == 0) return 0;
  const Tensor count = Tensor::empty({}, kInt64, dense.device());
  count_nonzero_kernel(dense.device(),
                       CountNonzeroCall{dense.dtype(), dense.data_ptr(), dense.numel(), count.data<int64_t>()});
  return count.item().to_int();
}

Tensor nonzero(const Tensor& self) {
  refuse_meta_nonzero(self);
  const GradMode no_grad(false);
  if (is_float8(self.dtype())) refuse_type(self, "nonzero_count_cpu");
  const Tensor in = contiguous(to_dtype(self, wide_type(self.dtype())));
  const int64_t count = count_set(in);
  const Tensor out = Tensor::empty({count, in.dim()}, kInt64, in.device());
  out.impl()->set_layout(out.sizes(), Dims{1, count});  // column by column: each is an index of its own
  if (out.numel())
    nonzero_kernel(in.device(), NonzeroCall{in.dtype(), in.data_ptr(), int(in.dim()), in.sizes().data(), count,
                                            out.data<int64_t>()});
  return out;
}

void move_masked_rows(bool write, const Tensor& mask, const Tensor& self, const Tensor& values) {
  if (mask.numel() == 0 || values.numel() == 0) return;
  const int64_t width = self.numel() / mask.numel();
  mask_rows_kernel(self.device(), MaskRowsCall{write, self.dtype(), mask.data<bool>(), mask.numel(), width,
                                               self.bytes(), values.bytes(), width ? values.numel() / width : 0});
}

void fill_where(const Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& value) {
  if (out.numel() == 0) return;
  const Tensor* operands[] = {&out, &self, &mask, &value};
  Loop loop;
  make_loop(loop, operands, 4);
  if (value.dim() == 0 && value.device().is_cpu()) {  // by value, on any device
    std::memcpy(loop.numbers[3], value.data_ptr(), item_size(value.dtype()));
    loop.use_number(3, value.dtype());
  }
  masked_fill_kernel(out.device(), MaskedFillCall{loop});
}

namespace {

Meta filled_shape(const Tensor& self, const Tensor& mask) {
  check(mask.dtype() == kBool, TensorErrorKind::Runtime,
        "masked_fill_ only supports boolean masks, but got mask with dtype ", cpp_name(mask.dtype()));
  if (self.device() != mask.device()) {
    if (self.device().is_meta() || mask.device().is_meta()) fail_two_devices(self.device(), mask.device());
    fail(TensorErrorKind::Runtime, "expected self and mask to be on the same device, but got mask on ",
         mask.device().str(), " and self on ", self.device().str());
  }
  return Meta(broadcast_shapes(mask.sizes(), self.sizes()), self);
}

void run_fill(const Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& value) {
  if (out.same(self)) check_no_internal_overlap(out);
  const Tensor at = out.same(mask) ? mask : apart_from(out, mask);
  fill_where(out, self, at, to_dtype(value, self.dtype()));
}

struct MaskedFillNumber {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, const Tensor& mask, Scalar value) {
    value.as(self.dtype());
    return filled_shape(self, mask);
  }
  static void run(const Tensor& out, const Tensor& self, const Tensor& mask, Scalar value) {
    run_fill(out, self, mask, Tensor::scalar(value, self.dtype()));
  }
  static void grad(Tensor& out, const Tensor& self, const Tensor& mask, Scalar) {
    record(out, "MaskedFillBackward0", {&self}, keep(mask), [shape = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] { return sum_to_size(masked_fill(s.g(), s.kept(0), Scalar(0)), shape); });
    });
  }
};

struct MaskedFill {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, const Tensor& mask, const Tensor& value) {
    broadcast_shapes(mask.sizes(), self.sizes());
    check(value.dim() == 0, TensorErrorKind::Runtime,
          "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
          " dimension(s).");
    if (is_complex(value.dtype()) && !is_complex(self.dtype()) && !value.device().is_cpu()) refuse_number(self.dtype());
    check(value.device().is_cpu() || value.device() == self.device(), TensorErrorKind::Runtime,
          "masked_fill_: Expected inputs to be on same device");
    return filled_shape(self, mask);
  }
  static void run(const Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& value) {
    // On the host the number is at hand, and refused where the dtype cannot hold it.
    run_fill(out, self, mask,
             value.device().is_cpu() ? Tensor::scalar(value.item(), self.dtype()) : apart_from(out, value));
  }
  static void grad(Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& value) {
    record(out, "MaskedFillBackward1", {&self, &value}, keep(mask), [shape = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] { return sum_to_size(masked_fill(s.g(), s.kept(0), Scalar(0)), shape); });
      s.give(1, [&] { return sum(where(s.kept(0), Operand(s.g()), Operand(0.0))); });
    });
  }
};

struct MaskedScatter {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, const Tensor& mask, const Tensor& source) {
    check(self.dtype() == source.dtype(), TensorErrorKind::Runtime,
          "masked_scatter: expected self and source to have same dtypes but got", scalar_type_name(self.dtype()),
          " and ", scalar_type_name(source.dtype()));
    check(mask.dtype() == kBool, TensorErrorKind::Runtime,
          "masked_scatter_ only supports boolean masks, but got mask with dtype ", scalar_type_name(mask.dtype()));
    check_one_device("wrapper_CUDA__masked_scatter_", {{"self", self}, {"mask", mask}, {"source", source}});
    return Meta(broadcast_shapes(self.sizes(), mask.sizes()), self);
  }
  static void run(const Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& source) {
    const Tensor wide = contiguous(expand(apart_from(out, mask), out.sizes())),
                 values = contiguous(apart_from(out, source));
    const bool by_kernel = !out.device().is_cpu() && values.numel() > 0;  // it finds out, and nobody waits
    check(by_kernel || values.numel() >= count_set(wide), TensorErrorKind::Runtime,
          "Number of elements of source < number of ones in mask");
    start_from(out, self);
    const Tensor dense = contiguous(out);
    move_masked_rows(true, wide, dense, values);
    if (!dense.same(out)) copy_into(out, dense);
  }
  static void grad(Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& source) {
    record(out, "MaskedScatterBackward0", {&self, &source}, keep(mask),
           [shape = Dims(self.sizes()), from = Dims(source.sizes())](Sweep& s) {
             s.give(0, [&] { return sum_to_size(masked_fill(s.g(), s.kept(0), Scalar(0)), shape); });
             s.give(1, [&] { return gradient_of_source(masked_select(s.g(), s.kept(0)), from); });
           });
  }

 private:
  // The elements that were written had the first gradients, the others none.
  static Tensor gradient_of_source(const Tensor& used, Ints sizes) {
    const Tensor unused = zeros({numel_of(sizes) - used.numel()}, used.dtype(), used.device());
    return reshape(cat({used, unused}, 0), sizes);
  }
};

}  // namespace

Tensor masked_fill(const Tensor& self, const Tensor& mask, Scalar value) {
  return apply<MaskedFillNumber>(self, mask, value);
}
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return apply<MaskedFill>(self, mask, value);
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  check(mask.dtype() == kBool, TensorErrorKind::Runtime, "masked_select: expected BoolTensor for mask");
  check_one_device("wrapper_CUDA__masked_select", {{"self", self}, {"mask", mask}});
  refuse_meta(self, "masked_select");
  const Dims shape = broadcast_shapes(self.sizes(), mask.sizes());
  Tensor out;
  {
    const GradMode no_grad(false);
    const Tensor in = contiguous(expand(self, shape)), kept = contiguous(expand(mask, shape));
    out = Tensor::empty({count_set(kept)}, self.dtype(), self.device());
    move_masked_rows(false, kept, in, out);
  }
  if (needs_grad(self))
    record(out, "MaskedSelectBackward0", {&self}, keep(mask), [shape, sizes = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] {
        const Dims wide = shape.empty() ? Dims{1} : shape;  // a number is a vector of one
        const Tensor empty = zeros(wide, s.g().dtype(), s.g().device());
        return sum_to_size(index_put(empty, {expand(s.kept(0), wide)}, s.g(), false), sizes);
      });
    });
  return out;
}

namespace {

TensorList nonzero_tuple(const Tensor& self) { return unbind(nonzero(self.dim() ? self : reshape(self, {1})), 1); }

void nonzero_op(OpCall& c) {
  if (!Unbox<bool>::get(c, 1)) return return_value(c, nonzero(c.tensor(0)));
  check(c.out.empty(), TensorErrorKind::Runtime, "nonzero does not support the out kwarg when as_tuple is True");
  return_value(c, nonzero_tuple(c.tensor(0)));
}

constexpr uint32_t kBoth = kFunction | kMethod, kWrites = kFunction | kMethod | kInplace;
TS_OP(masked_fill, "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", "value where mask is true.",
      kWrites, MaskedFillNumber,
      "f[3,4], b[3,4], 1.5\n"
      "f[3,4].t, b[4], 2\n"
      "f[2,2], f[2,2], 1 -> RuntimeError: masked_fill_ only supports boolean masks, but got mask with dtype float\n"
      "f[2,2], b[3], 1 -> RuntimeError: The size of tensor a (3) must match the size of tensor b (2)",
      .any_device = true, .batching = Batching::Pointwise);
TS_OP(
    masked_fill, "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", "value where mask is true.",
    kWrites, MaskedFill,
    "f[3,4], b[3,4], f[]\n"
    "f[2,2], b[2,2], f[1] -> RuntimeError: masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
    "1 dimension(s).",
    .any_device = true, .batching = Batching::ByExample);
TS_OP(masked_select, "masked_select(Tensor self, Tensor mask) -> Tensor",
      "The elements where mask is true, as a vector.", kBoth | kOut | kDataDependent, &masked_select,
      "f[3,4], b[3,4]\n"
      "f[3,1], b[4]\n"
      "f[], b[]\n"
      "f[2,2], f[2,2] -> RuntimeError: masked_select: expected BoolTensor for mask",
      .out = {OutRule::Same, "$n(): self and result must have the same scalar type"}, .one_device = "_masked_select");
TS_OP(masked_scatter, "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
      "source's elements, in order, where mask is true.", kWrites, MaskedScatter,
      "f[3,4], b[3,4], f[12]\n"
      "f[3,4].t, b[4], f[3,4]\n"
      "f[4], b{1,1,0,1}, f[2] -> RuntimeError: Number of elements of source < number of ones in mask",
      .one_device = "_masked_scatter_");
TS_BOXED(nonzero, "nonzero(Tensor self, *, bool as_tuple=False) -> Tensor",
         "The places of the elements that are not zero, one a row, or as a vector for each dimension.",
         kBoth | kNoGrad | kOut | kDataDependent, &nonzero_op,
         "b[3,4]\n"
         "i[2,3,4]<2\n"
         "b[3,4], as_tuple=True\n"
         "f[]",
         .out = {OutRule::Same, "nonzero: Expected out tensor to have scalar type Long but got scalar type$O",
                 TensorErrorKind::Runtime, true});
TS_OP(nonzero_numpy, "nonzero_numpy(Tensor self) -> Tensor[]",
      "The places of nonzero elements, a vector for each dimension.", kInternal | kNoGrad | kDataDependent,
      &nonzero_tuple, "b[3,4]");
TS_OP(where, "where(Tensor condition) -> Tensor[]", "The places of nonzero elements, a vector for each dimension.",
      kFunction | kNoGrad | kDataDependent, &nonzero_tuple, "b[3,4]",
      .out = {OutRule::Same, "Expected out type to be $R but got $O"});

}  // namespace
}  // namespace tessera::tensor
