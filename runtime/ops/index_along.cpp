// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/ops/index_along.h"

#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/plan.h"

namespace tessera::tensor {

constinit Kernel<IndexCall> index_kernel("index");

void fail_out_of_bounds(IndexCall::Complaint complaint, int64_t index, int64_t dim, int64_t extent) {
  using Complaint = IndexCall::Complaint;
  switch (complaint) {
    case Complaint::Select: fail(TensorErrorKind::Index, "index out of range in self");
    case Complaint::Target: fail(TensorErrorKind::Index, "Target ", index, " is out of bounds.");
    case Complaint::Take:
      fail(TensorErrorKind::Index, "out of range: tried to access index ", index, " on a tensor of ", extent,
           " elements.");
    default:
      fail(complaint == Complaint::Scatter ? TensorErrorKind::Runtime : TensorErrorKind::Index,
           complaint == Complaint::Copy ? "index_copy_(): " : "", "index ", index, " is out of bounds for dimension ",
           dim, " with size ", extent);
  }
}

void move_along(AlongDim how, const Tensor& self, const Tensor& index, Ints index_strides, const Tensor& values,
                Ints shape) {
  Dims self_strides(self.dim() ? Dims(self.strides()) : Dims(shape.size(), 0));
  if (!shape.empty()) self_strides[how.dim] = 0;
  IndexCall call{};
  call.mode = how.mode;
  call.negative = how.negative;
  call.complaint = how.complaint;
  call.dtype = self.dtype();
  call.ndim = int(shape.size());
  call.sizes = shape.data();
  call.self = self.bytes();
  call.self_strides = self_strides.data();
  call.values = values.bytes();
  call.value_strides = values.strides().data();
  call.count = 1;
  call.index[0] = index.data<int64_t>();
  call.index_strides[0] = index_strides.data();
  call.extent[0] = self.dim() ? self.sizes()[how.dim] : 1;
  call.step[0] = self.dim() ? self.strides()[how.dim] : 1;
  call.dim[0] = how.dim;
  index_kernel(self.device(), call);
}

void move_items(AlongDim how, const Tensor& self, const Tensor& index, const Tensor& values) {
  Dims strides(values.sizes().size(), 0);
  if (!strides.empty()) strides[how.dim] = index.dim() ? index.strides()[0] : 0;
  move_along(how, self, index, strides, values, values.sizes());
}

void start_from(const Tensor& out, const Tensor& self) {
  if (out.same(self)) check_no_internal_overlap(out);
  else copy_into(out, self);
}

Tensor apart_from(const Tensor& out, const Tensor& operand) {
  if (&out.storage() != &operand.storage()) return operand;
  const bool same = out.impl()->address() == operand.impl()->address() && out.sizes() == operand.sizes() &&
                    out.strides() == operand.strides() && out.numel() > 0;
  check(!same, TensorErrorKind::Runtime,
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location. Please clone() the tensor before performing the operation.");
  check_no_partial_overlap(out, operand);
  return clone(operand);
}

Tensor as_index(const Tensor& out, const Tensor& index) {
  return index.dtype() == kInt64 ? apart_from(out, index) : to_dtype(index, kInt64);
}

void check_same_device(const Tensor& a, const Tensor& b) {
  if (a.device() != b.device()) fail_two_devices(a.device(), b.device());
}

}  // namespace tessera::tensor
