// Factors of matrices of which only some properties are determined: expected.def lists the entries (FACTORS).
#pragma once

#include "tests/cuda/agreement/calls.h"

namespace tessera::agreement {

/// Whether the values of both are the same, and CUDA's factors multiply to the matrix and are orthogonal as well as the CPU's.
bool same_factors(const Call& call, const TensorList& cpu, const TensorList& cuda);

}  // namespace tessera::agreement
