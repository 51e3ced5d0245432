// compile: small (the loops are in the kernels)
// Parts of layers that PyTorch shows by names of their own, mostly with an underscore: what its compilers and its own
// modules call. Each is a few calls of others.
#include <algorithm>

#include "runtime/autograd/engine.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/norm_layers.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

// ---- _chunk_cat ----

bool of_same_dims(const TensorList& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.dim() == tensors[0].dim(); });
}

int64_t checked_chunk_dim(const TensorList& tensors, int64_t dim, int64_t chunks) {
  check(chunks >= 1, TensorErrorKind::Runtime, "_chunk_cat expects positive num_chunks");
  check(!tensors.empty(), TensorErrorKind::Runtime, "_chunk_cat expects a non-empty input tensor list");
  for (const Tensor& t : tensors) {
    check(t.numel() > 0, TensorErrorKind::Runtime, "_chunk_cat expects non-empty tensor");
    check(t.dtype() == tensors[0].dtype(), TensorErrorKind::Runtime,
          "_chunk_cat expects all input tensors with the same dtype");
    check(t.device() == tensors[0].device(), TensorErrorKind::Runtime,
          "_chunk_cat expects all inputs tensors on the same device");
  }
  if (of_same_dims(tensors)) {
    dim = wrap_dim(dim, tensors[0].dim());
  } else {
    check(dim >= 0, TensorErrorKind::Runtime,
          "_chunk_cat expects non-negative dim when input tensors have different ndims");
    for (const Tensor& t : tensors)
      check(dim < t.dim(), TensorErrorKind::Runtime, "_chunk_cat expects dim < ndim for all input tensors");
  }
  const Ints leading = tensors[0].sizes().first(size_t(dim));
  for (const Tensor& t : tensors)
    check(t.sizes().first(size_t(dim)) == leading, TensorErrorKind::Runtime,
          "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors");
  return dim;
}

// Each tensor with zeros behind, so that the dimension splits evenly; then the chunks of all side by side.
Tensor chunk_cat(const TensorList& tensors, int64_t given_dim, int64_t chunks) {
  const int64_t dim = checked_chunk_dim(tensors, given_dim, chunks);
  TensorList parts;
  for (const Tensor& t : tensors) {
    const int64_t size = t.sizes()[size_t(dim)], missing = (chunks - size % chunks) % chunks;
    Dims behind(size_t(2 * (t.dim() - dim)), 0);
    behind[behind.size() - 1] = missing;
    Dims shape(t.sizes().first(size_t(dim)));
    shape.push_back(chunks), shape.push_back(-1);
    parts.push_back(reshape(missing ? pad(t, behind) : t, shape));
  }
  if (!any_needs_grad(tensors)) return cat(parts, dim + 1);
  Tensor out = detached(cat(parts, dim + 1));
  auto node = make_node("NotImplemented", {}, Kept<0>{}, [](Sweep&) {
    fail(TensorErrorKind::Runtime, "derivative for aten::_chunk_cat is not implemented");
  });
  for (const Tensor& t : tensors) node->add_input(t);
  set_history(out, std::move(node));
  return out;
}

// ---- the derivatives of softmax ----

void check_softmax_gradient(const char* name, const Tensor& grad, const Tensor& output, int64_t dim) {
  wrap_dim(dim, grad.dim());
  check(grad.sizes() == output.sizes(), TensorErrorKind::Runtime,
        "Expected tensor for argument #1 'grad' to have same ", "size as tensor for argument #2 'output'; but ",
        grad.sizes(), " does not equal ", output.sizes(), " (while checking arguments for ", name, "_backward)");
  const bool along_last = wrap_dim(dim, grad.dim()) + 1 >= grad.dim();
  const std::string kernel = text(name, "_backward_", along_last ? "lastdim_" : "", "kernel_impl");
  require_type(kFloatTypes, grad, {kernel.c_str(), "host_softmax_backward"});
  check(grad.dtype() == output.dtype(), TensorErrorKind::Runtime, "expected scalar type ",
        scalar_type_name(grad.dtype()), " but found ", scalar_type_name(output.dtype()));
}
// Only of halves may the softmax have been in float32; else the input's type is the gradient's.
DType softmax_gradient_type(const Tensor& grad, DType input_dtype) {
  return grad.dtype() == kFloat32 && input_dtype == kFloat16 ? kFloat16 : grad.dtype();
}

// Halves are computed in float32.
Tensor wide(const Tensor& t) { return is_half(t.dtype()) ? to_dtype(t, kFloat32) : t; }

Tensor softmax_gradient(const Tensor& grad, const Tensor& output, int64_t dim, DType input_dtype) {
  check_softmax_gradient("softmax", grad, output, dim);  // names the op: its derivative is an op too
  const Tensor y = wide(output), gy = wide(grad) * y;
  return to_dtype(grad.numel() ? gy - y * sum(gy, Dims{dim}, true) : gy, softmax_gradient_type(grad, input_dtype));
}
Tensor log_softmax_gradient(const Tensor& grad, const Tensor& output, int64_t dim, DType input_dtype) {
  check_softmax_gradient("log_softmax", grad, output, dim);  // names the op: its derivative is an op too
  const Tensor g = wide(grad);
  return to_dtype(grad.numel() ? g - exp(wide(output)) * sum(g, Dims{dim}, true) : g,
                  softmax_gradient_type(grad, input_dtype));
}

// ---- indexing where a mask is set ----

using Indices = std::vector<OptionalTensor>;

// Where the mask is not set, indices may lie anywhere: they are moved into the tensor.
Indices clamped(const Tensor& self, const Indices& indices) {
  Indices out;
  for (size_t d = 0; d < indices.size(); d++) {
    const OptionalTensor& index = indices[d];
    if (!index || d >= self.sizes().size()) {
      out.push_back(index);
      continue;
    }
    check(index->dtype() == kInt64 || index->dtype() == kInt32, TensorErrorKind::Runtime,
          "_unsafe_masked_index found unexpected index type ", scalar_type_name(index->dtype()));
    const int64_t size = self.sizes()[d];
    out.push_back(clamp_max(clamp_min(*index, -size), size - 1));
  }
  return out;
}

Tensor masked_index(const Tensor& self, const Tensor& mask, const Indices& indices, Scalar fill) {
  const Indices inside = clamped(self, indices);
  if (self.numel() == 0) {  // nothing can be read: a tensor of ones has the result's shape
    Dims ones_of(self.sizes());
    for (int64_t& s : ones_of) s = std::max<int64_t>(s, 1);
    const Tensor stand_in = zeros(ones_of, self.dtype(), self.device());
    return masked_fill(index(stand_in, clamped(stand_in, indices)), logical_not(mask), fill);
  }
  return masked_fill(index(self, inside), logical_not(mask), fill);
}

Tensor masked_index_put_accumulate(const Tensor& self, const Tensor& mask, const Indices& indices,
                                   const Tensor& values) {
  if (self.numel() == 0) return clone(self);
  const Indices inside = clamped(self, indices);
  return index_put(self, inside, masked_fill(values, logical_not(mask), Scalar(0)), true);
}

TS_OP(_chunk_cat, "_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
      "Each tensor cut into chunks along a dimension, padded with zeros; those of all tensors side by side.",
      kFunction | kOut | kNoGrad, &chunk_cat,
      "(f[3,4], f[3,2]), 1, 2\n"
      "(f[5], f[2,3]), 0, 3\n"
      "(f[2], f[3]), 0, 0 -> RuntimeError: _chunk_cat expects positive num_chunks\n"
      "(f[2,3], f[4]), -1, 3 -> RuntimeError: _chunk_cat expects non-negative dim when input tensors have different "
      "ndims",
      .out = {OutRule::Castable, "torch.cat(): input types can't be cast to the desired output type $O",
              TensorErrorKind::Type},
      .one_device = "__chunk_cat");
TS_OP(
    _softmax_backward_data,
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
    "The gradient of softmax, from its result.", kFunction, &softmax_gradient,
    "f[3,4]:float32, f[3,4]:float32, 1, float32\n"
    "f[3]:float32, f[2]:float32, 0, float32 -> RuntimeError: Expected tensor for argument #1 'grad' to have same size "
    "as tensor for argument #2 'output'; but [3] does not equal [2] (while checking arguments for softmax_backward)",
    .one_device = "_softmax_backward_data");
TS_OP(_log_softmax_backward_data,
      "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
      "The gradient of log_softmax, from its result.", kFunction | kOut, &log_softmax_gradient,
      "f[3,4]:float32, f[3,4]:float32, 1, float32", .one_device = "_log_softmax_backward_data");
TS_OP(_unsafe_masked_index, "_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
      "self[indices] where the mask is set, else a number; there the indices may lie outside.", kFunction,
      &masked_index,
      "f[3,4], b[2,4], (i[2,1]<3, i[1,4]<4), 0.5\n"
      "f[3], b[2], (f[2]), 0 -> RuntimeError: _unsafe_masked_index found unexpected index type");
TS_OP(_unsafe_masked_index_put_accumulate,
      "_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor",
      "self with values added at the indices where the mask is set; elsewhere the indices may lie outside.", kFunction,
      &masked_index_put_accumulate, "f[3,4], b[2,4], (i[2,1]<3, i[1,4]<4), f[2,4]");

}  // namespace
}  // namespace tessera::tensor
