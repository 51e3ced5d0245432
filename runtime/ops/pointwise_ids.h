// Numbers of the pointwise ops. Include it only where the table is read: a new op recompiles what includes this.
#pragma once

namespace tessera::tensor {

#define UNARY(NAME, ...) k_##NAME,
#define UNARY1(NAME, ...) k_##NAME,
#define UNARY2(NAME, ...) k_##NAME,
#define BINARY(NAME, ...) k_##NAME,
#define TERNARY(NAME, ...) k_##NAME,
#define TERNARY1(NAME, ...) k_##NAME,
namespace pointwise {
enum Id : int {
#include "runtime/ops/pointwise.def"
  kPointwiseCount,
};
}  // namespace pointwise
using PointwiseId = pointwise::Id;
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1

}  // namespace tessera::tensor
