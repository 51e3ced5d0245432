// Values mixed by how well queries match keys, in one call: what the fused kernels of a device see.
#pragma once

#include "runtime/device/kernel.h"
#include "runtime/dtype.h"

namespace tessera::tensor {

/// An operand [batch, heads, rows, width] whose columns lie side by side.
struct AttentionRows {
  const void* data;
  int64_t steps[3];  // in elements: from one batch, head and row to the next
};

/// out = softmax(scale * query key^T + mask) value for each head, float32 or halves, arithmetic in float32. A key that the mask
/// or `causal` hides has no share; a query that sees none gets zeros. All heads together
/// have less than 2^31 queries.
struct AttentionCall {
  DType dtype;
  AttentionRows query, key, value;
  const void* mask;  // null: none; else `mask_dtype`: bool, what may be seen, or float32 or `dtype`, added
  DType mask_dtype;
  int64_t mask_steps[4];
  void* out;      // contiguous
  float* totals;  // log of the sum of a query's exponentials, contiguous
  int64_t batch, heads, queries, keys, width, value_width;
  float scale;
  bool causal;  // query i sees keys 0 to i
  Launch launch{};
};
extern Kernel<AttentionCall> attention_kernel;

/// Its gradients, contiguous: the scores are computed again.
struct AttentionGradCall {
  AttentionCall forward;  // out and totals are read
  AttentionRows g;
  void *dquery, *dkey, *dvalue;
  Launch launch{};
};
extern Kernel<AttentionGradCall> attention_grad_kernel;

}  // namespace tessera::tensor
