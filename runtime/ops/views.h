// Views: other shapes and strides on the same storage. Each is an op with a derivative; writes through a view reach its
// relatives (runtime/autograd/views.h). Ops that only sometimes are views (reshape, flatten) are here too.
#pragma once

#include <optional>

#include "runtime/tensor.h"

namespace tessera::tensor {

/// Strides of a fresh tensor with like's order of dimensions in memory; empty when that is row-major.
Dims dense_strides(const Tensor& like);

Tensor as_strided(const Tensor& self, Ints size, Ints stride, std::optional<int64_t> storage_offset = {});
Tensor view(const Tensor& self, Ints size);
Tensor reshape(const Tensor& self, Ints shape);
// The same elements in another shape, as a tensor of its own rather than a view: only for results that nobody else holds.
Tensor unsafe_view(const Tensor& self, Ints shape);
Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
Tensor unflatten(const Tensor& self, int64_t dim, Ints sizes);
Tensor expand(const Tensor& self, Ints size);
Tensor broadcast_to(const Tensor& self, Ints size);
Tensor permute(const Tensor& self, Ints dims);
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor t(const Tensor& self);
Tensor numpy_T(const Tensor& self);
Tensor matrix_T(const Tensor& self);
Tensor squeeze(const Tensor& self);
Tensor squeeze(const Tensor& self, int64_t dim);
Tensor unsqueeze(const Tensor& self, int64_t dim);
Tensor select(const Tensor& self, int64_t dim, int64_t index);
Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
             int64_t step = 1);
Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);
Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step);
Tensor movedim(const Tensor& self, Ints source, Ints destination);
TensorList split(const Tensor& self, int64_t split_size, int64_t dim = 0);
TensorList split_with_sizes(const Tensor& self, Ints sizes, int64_t dim = 0);
TensorList chunk(const Tensor& self, int64_t chunks, int64_t dim = 0);
TensorList unbind(const Tensor& self, int64_t dim = 0);

/// Another tensor on all of self's memory, in the graph behind self.
Tensor alias(const Tensor& self);

}  // namespace tessera::tensor
