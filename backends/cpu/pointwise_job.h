// Which inner kernel runs a pointwise call, and what it reads and writes: for single calls and for chains of them.
#pragma once

#include "backends/cpu/pointwise_table.h"
#include "runtime/device/calls.h"

namespace tessera::tensor::cpu {

// As many as reductions split: what one op splits and the next does not changes caches on the way. Functions take longer.
inline constexpr int64_t kGrain = 32768, kFunctionGrain = 16384;

struct Job {
  const Loop& loop;
  InnerKernel kernel;
  const Scalar* params;
  DType takes[kMaxOperands];  // what the kernel reads, row by row; of operand 0: what it writes
};

/// `by_rows`: the kernel sees rows of the loop, in which an operand's step is that of dimension 0.
Job make_job(const PointwiseCall& call, bool by_rows);

/// The size, in bytes, of the last-level cache that one processor can use. The C library reports the sum over all dies.
int64_t last_cache_bytes();

}  // namespace tessera::tensor::cpu
