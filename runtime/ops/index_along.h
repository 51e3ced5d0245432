// What ops that address one dimension by an index tensor have in common.
#pragma once

#include "runtime/ops/index_kernel.h"
#include "runtime/ops/op.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

struct AlongDim {
  IndexCall::Mode mode;
  int64_t dim;
  IndexCall::Complaint complaint = IndexCall::Complaint::Scatter;
  IndexCall::Negative negative = IndexCall::Negative::Refuse;
};

/// Moves elements between `values` and the places of `self` that `index` (int64) names in the dimension. `shape` is how far
/// each dimension goes; index and values may have stride 0.
void move_along(AlongDim how, const Tensor& self, const Tensor& index, Ints index_strides, const Tensor& values,
                Ints shape);
/// The same for a vector of indices, which walks along the dimension only; the shape is that of `values`.
void move_items(AlongDim how, const Tensor& self, const Tensor& index, const Tensor& values);

/// The start of every op that returns self with some elements written: `out` becomes a copy of self, unless it is self.
void start_from(const Tensor& out, const Tensor& self);
/// An operand of such an op: refused where it is what is written, copied where it lies between that (x[::2], x[1::2]).
Tensor apart_from(const Tensor& out, const Tensor& operand);
/// Indices as the kernel reads them.
Tensor as_index(const Tensor& out, const Tensor& index);

/// What scatter and its kin check: a dimension, an index for each element of `src` (null: a number), all inside of self.
Meta scattered_shape(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src);

/// What index_add and its kin check: a vector of indices, one for each item of `source`, whose items are like self's.
Meta items_written_shape(const char* name, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);

/// Numbers of the host are refused too.
void check_same_device(const Tensor& a, const Tensor& b);

}  // namespace tessera::tensor
