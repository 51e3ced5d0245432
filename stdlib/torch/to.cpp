// In a file of its own: runtime/ops.h declares a function for every op, many of them names that other files use.
// compile: small (seldom in an inner loop)
#include "stdlib/torch/to.h"

#include "runtime/ops.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/pinned.h"

namespace tessera::stdlib {

Tensor tensor_to(const Tensor& t, DType dtype, Device device, bool copy, bool wait) {
  return wait ? to(t, dtype, device, copy) : to_without_waiting(t, dtype, device, copy);
}

Tensor tensor_to(const Tensor& t, DType dtype, Device device, bool copy, const char* format) {
  const bool same = dtype == t.dtype() && device == t.device() && !copy;
  if (same && is_taken_for(t, format)) return t;
  return to_format(to_device(t, device), dtype, (copy || dtype == t.dtype()) && device == t.device(), format);
}

bool tensor_lies_in(const Tensor& t, const char* format) {
  const std::string_view name = format;
  if (name.starts_with("torch.channels_last") && t.dim() != (name.ends_with("_3d") ? 5 : 4)) return false;
  return lies_in(t, strides_in(t, format));
}

}  // namespace tessera::stdlib
