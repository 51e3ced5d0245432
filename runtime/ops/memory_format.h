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
/// Whether the strides of an image or a volume say that its channels lie last, gaps or not; what could be either is rows.
bool has_channels_last(const Tensor& t);
/// Whether t's strides are taken for this format: a conversion to it leaves t as it is.
bool is_taken_for(const Tensor& t, const MemoryFormat& format);
/// Strides of a fresh tensor of these sizes that is made of t: with its channels last where t's are, else empty, for rows.
Dims suggested_strides(const Tensor& t, Ints sizes);
/// A copy with its channels last where that is asked for, else t as it is. Recorded when gradients are.
Tensor channels_last_if(bool wanted, const Tensor& t);
/// self where it lies so and has the dtype, unless a copy is asked for. Recorded when gradients are.
Tensor to_format(const Tensor& self, DType dtype, bool copy, const MemoryFormat& format);

}  // namespace tessera::tensor
