// Numbers of the reductions, and what runs one.
#pragma once

namespace tessera::tensor::reduction {

#define REDUCE(NAME, ...) r_##NAME,
enum Id : int {
#include "runtime/ops/reduce.def"
  kReduceCount,
};
#undef REDUCE

/// What a row takes and gives, and the forms it is shown in: see reduce.def.
enum class ReduceClass : unsigned char { Sum, Float, Keep, Bool, Count };
enum class ReduceShown : unsigned char { Hidden, AllOrDims, AllOrDim, DimsTyped, DimsOrAll, DimOrAll, Truth };

}  // namespace tessera::tensor::reduction
