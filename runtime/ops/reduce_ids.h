// Numbers of the reductions, and what runs one.
#pragma once

namespace tessera::tensor::reduction {

#define REDUCE(NAME, ...) r_##NAME,
enum Id : int {
#include "runtime/ops/reduce.def"
  kReduceCount,
};
#undef REDUCE

}  // namespace tessera::tensor::reduction
