// Every row of pointwise.def as a C++ function, for hosts and tests. A new row compiles what includes this again.
#pragma once

#include "runtime/ops.h"

namespace tessera::tensor {

// sigmoid(x), add(x, y), add(x, 1.0), leaky_relu(x, 0.01)
#define UNARY(NAME, ...) Tensor NAME(const Tensor& x);
#define UNARY1(NAME, CLASS, WHERE, P, PD, ...) Tensor NAME(const Tensor& x, Scalar P = PD);
#define UNARY2(NAME, CLASS, WHERE, P, PD, Q, QD, ...) Tensor NAME(const Tensor& x, Scalar P = PD, Scalar Q = QD);
#define BINARY(NAME, ...) Tensor NAME(const Operand& x, const Operand& y);
#define TERNARY(NAME, ...) Tensor NAME(const Operand& x, const Operand& y, const Operand& z);
#define TERNARY1(NAME, CLASS, WHERE, SCHEMA, P, PD, ...) \
  Tensor NAME(const Operand& x, const Operand& y, const Operand& z, Scalar P = PD);
#include "runtime/ops/pointwise.def"
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1

}  // namespace tessera::tensor
