// Tensors as text: PyTorch's repr, and NumPy's str and repr for arrays, both to the character.
//
// Both choose one number format for all values that are shown; what a summary hides has no influence. The
// reading of elements is shared (format_sheet.h), the rules are apart: format.cpp is PyTorch's, format_numpy.cpp NumPy's.
#pragma once

#include <string>

#include "runtime/format_options.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// A run of elements in host memory with any layout.
struct ArrayView {
  const void* data;
  DType dtype;
  Ints sizes;
  Ints strides;  // in elements
};

/// repr(tensor): "tensor([1., 2.], requires_grad=True)". Copies from a device if it must.
std::string tensor_text(const Tensor& t, const FormatOptions& options, std::string_view name = "tensor");
std::string tensor_text(const Tensor& t, std::string_view name = "tensor");  // with the current Context's options

/// The part between "tensor(" and the suffixes, its further lines indented by `indent`.
std::string tensor_body(const ArrayView& a, const FormatOptions& options, int64_t indent);

/// What np.set_printoptions sets.
struct NumpyOptions {
  int64_t threshold = 1000, edge = 3, linewidth = 75;
  int precision = 8;
  bool suppress = false;  // no scientific form
  bool fixed = false;     // always so many digits: floatmode='fixed'
};

/// str(array) and repr(array) as NumPy's.
std::string numpy_str(const Tensor& t, const NumpyOptions& options = {});
std::string numpy_repr(const Tensor& t, const NumpyOptions& options = {});
std::string numpy_str(const ArrayView& a, const NumpyOptions& options = {});
std::string numpy_repr(const ArrayView& a, const NumpyOptions& options = {});

/// Python's repr of a float: the shortest digits that read back as the same value ("1e-05", "0.1", "nan").
std::string float_text(double x);

}  // namespace tessera::tensor
