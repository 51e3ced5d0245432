// The CPU's inner kernels: one function per op and lane type, over one run of memory. The run's operands have the
// lane's type (or are bool results) and steps 0 or 1; everything else is made to fit outside (pointwise.cpp). Kernels for
// halves compute on float lanes and convert in the registers: theirs with step 1 are halves, with step 0 a float.
#pragma once

#include <cstdint>

#include "runtime/scalar.h"

namespace tessera::tensor::cpu {

struct Run {
  void* out;
  const void* in[3];
  int64_t step[3];  // 0 or 1
  int64_t n;
  const Scalar* params;
};
using InnerKernel = void (*)(const Run&);

inline constexpr int kIntegerBlock = 32;  // elements
/// A kernel over `blocks` times kIntegerBlock elements; every operand is contiguous.
using BlockKernel = void (*)(void* out, const void* const* in, const Scalar* params, int64_t blocks);
struct BlockSizes {
  int arity;
  int64_t element, result;  // in bytes
};
/// Runs `kernel` over any number of elements: fills a buffer from each operand of step 0, and copies a remainder into a block of its own.
void run_in_blocks(const Run& r, BlockKernel kernel, BlockSizes sizes);

/// Arrays of kPointwiseCount kernels, null where an op does not exist for the lane. Chosen for this processor.
const InnerKernel* float_kernels();
const InnerKernel* double_kernels();
const InnerKernel* int32_kernels();
const InnerKernel* int64_kernels();
const InnerKernel* complex64_kernels();
const InnerKernel* complex128_kernels();
/// The same for ops that are quick beside a pass that converts; null for other ops.
const InnerKernel* float16_kernels();
const InnerKernel* bfloat16_kernels();
/// The same for int8, uint8, int16 and bool (as bytes of 0 and 1); null for other types and ops.
const InnerKernel* narrow_kernels(DType type);
/// where(bool, x, y) on elements of 1, 2, 4 and 8 bytes.
const InnerKernel* select_kernels();
/// "AVX3", "AVX2", ...: what the float kernels were compiled for.
const char* instruction_set();

}  // namespace tessera::tensor::cpu
