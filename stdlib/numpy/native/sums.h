// Sums of floats in the order in which NumPy adds them.
#pragma once

#include <span>

#include "runtime/tensor.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

// The sum of a tensor of float32 or float64 along the given axes. Along the axis that lies closest in memory runs of up to 128 numbers are
// added in eight columns, and runs by pairs; what is not next to each other in memory is added one after the other. `poll` is called between
// pieces of a long sum.
Tensor sum_in_pairs(const Tensor& t, std::span<const int64_t> axes, void (*poll)(void*), void* context);

}  // namespace tessera::stdlib
