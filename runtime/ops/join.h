// Ops that put tensors together or move whole blocks of elements: cat, stack, repeat, flip, roll and their relatives.
#pragma once

#include <optional>
#include <string>

#include "runtime/tensor.h"

namespace tessera::tensor {

Tensor cat(const TensorList& tensors, int64_t dim = 0);
Tensor stack(const TensorList& tensors, int64_t dim = 0);
Tensor repeat(const Tensor& self, Ints repeats);
Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim = {});
Tensor tile(const Tensor& self, Ints dims);
Tensor flip(const Tensor& self, Ints dims);
Tensor roll(const Tensor& self, Ints shifts, Ints dims);
Tensor rot90(const Tensor& self, int64_t k, Ints dims);
Tensor tril(const Tensor& self, int64_t diagonal = 0);
Tensor triu(const Tensor& self, int64_t diagonal = 0);
TensorList broadcast_tensors(const TensorList& tensors);
TensorList meshgrid(const TensorList& tensors, const std::string& indexing = "ij");

/// A stretch of one dimension, sharing memory; no record.
Tensor part_of(const Tensor& whole, int64_t dim, int64_t start, int64_t length);

}  // namespace tessera::tensor
