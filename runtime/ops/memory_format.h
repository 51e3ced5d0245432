// The order of dimensions in memory that memory_format= asks for: "torch.channels_last" and its kin, by their names.
#pragma once

#include <optional>
#include <string>

#include "runtime/tensor.h"

namespace tessera::tensor {

/// None is preserve_format.
using MemoryFormat = std::optional<std::string>;

/// Strides of a fresh tensor of like's sizes in a format; empty when they are row-major.
Dims strides_in(const Tensor& like, const MemoryFormat& format);
/// Whether the elements of t lie as these strides say, or row by row where there are none.
bool lies_in(const Tensor& t, const Dims& strides);
/// Whether a conversion to rows leaves the tensor as it is: all but images with their channels last, gaps or not.
bool suits_rows(const Tensor& t);
/// self where it lies so and has the dtype, unless a copy is asked for. Recorded when gradients are.
Tensor to_format(const Tensor& self, DType dtype, bool copy, const MemoryFormat& format);

}  // namespace tessera::tensor
