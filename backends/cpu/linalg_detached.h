// LAPACK's routines for one large matrix, which nobody can stop: on a thread of their own, with copies of their operands.
#pragma once

#include "runtime/ops/linalg/lapack_call.h"

namespace tessera::tensor::cpu {

/// Computes matrix `index` of a batch.
using OneMatrix = void (*)(const LapackCall&, int64_t index, int& workspace);

/// What computes one matrix of such a call, by its routine and dtype.
OneMatrix matrix_function(const LapackCall& call);

/// What a routine takes for one matrix, in parts of which a processor with AVX-512 does about fifty in a nanosecond.
int64_t operations_of(const LapackCall& call);

/// From here on a routine takes some milliseconds.
inline constexpr int64_t kWorthAThread = int64_t(1) << 27;

/// As one(call, index): the same bits. Its operands are copied, so that a program that stops can leave it (detached.h).
void run_detached(const LapackCall& call, int64_t index, OneMatrix one);

}  // namespace tessera::tensor::cpu
