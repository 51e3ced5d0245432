// Copies between dtypes.
#pragma once

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

/// Operand 0 of the loop = convert(operand 1).
void convert_elements(const Loop& loop, const Place& place);
/// Operand 0 = operand 1, whatever their dtypes and steps.
void copy_elements(const Loop& loop, const Place& place);

}  // namespace tessera::tensor::cuda
