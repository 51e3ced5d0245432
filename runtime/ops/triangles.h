// The triangles of matrices, as a kernel.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

/// Matrices with zeros above (lower) or below the diagonal. Both row-major without gaps; `out` may be `in`.
struct TriangleCall {
  bool lower;
  int64_t diagonal;
  DType dtype;
  const char* in;
  char* out;
  int64_t matrices, rows, columns;
  Launch launch{};
};
extern Kernel<TriangleCall> triangle_kernel;

}  // namespace tessera::tensor
