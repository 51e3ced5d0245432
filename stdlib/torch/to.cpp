// In a file of its own: runtime/ops.h declares a function for every op, many of them names that other files use.
#include "stdlib/torch/to.h"

#include "runtime/ops.h"

namespace tessera::stdlib {

Tensor tensor_to(const Tensor& t, DType dtype, Device device, bool copy) { return to(t, dtype, device, copy); }

}  // namespace tessera::stdlib
