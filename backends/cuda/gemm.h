// Matrix products for the plugin's own kernels, and what is left when the library has no algorithm.
#pragma once

#include "backends/cuda/cuda.h"
#include "runtime/ops/linear.h"

namespace tessera::tensor::cuda {

/// What the slot "mm" does; with `bias`, one number for each column is added to alpha a b (beta is then 0), and the epilogue
/// may follow.
void multiply(const GemmCall& call, const void* bias = nullptr, Epilogue epilogue = Epilogue::None);

/// The same by a kernel of our own, for what cuBLASLt has no algorithm for.
void multiply_plainly(const GemmCall& call, const void* bias, Epilogue epilogue);

inline size_t element_size(DType dtype) {
  switch (dtype) {
    case DType::Float16:
    case DType::BFloat16: return 2;
    case DType::Float32: return 4;
    case DType::Complex128: return 16;
    default: return 8;  // float64, complex64
  }
}

}  // namespace tessera::tensor::cuda
