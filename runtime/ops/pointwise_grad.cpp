// Fused derivatives: which operands they read, and the loop over them.
#include "runtime/ops/pointwise_grad.h"

#include <bit>

#include "runtime/context.h"

namespace tessera::tensor {

constinit Kernel<PointwiseGradCall> pointwise_grad_kernel("pointwise_grad");

namespace {

bool is_number(const Tensor& t) { return t.dim() == 0 && t.device().is_cpu(); }

// A single number on the host goes along as a value of the lane's type.
void set_number(Loop& loop, int k, const Tensor& t, DType lane) {
  const double value = t.item().to_double();
  if (lane == kFloat64) __builtin_memcpy(loop.numbers[k], &value, sizeof value);
  else {
    const float narrow = float(value);
    __builtin_memcpy(loop.numbers[k], &narrow, sizeof narrow);
  }
  loop.use_number(k, lane);
}

// All operands of one shape and dense, or numbers: a loop of one dimension without a plan.
bool make_dense_loop(Loop& loop, const Tensor* const* operands, int count) {
  const Tensor& out = *operands[0];
  for (int k = 1; k < count; k++)
    if (!is_number(*operands[k]) && !(operands[k]->is_contiguous() && operands[k]->sizes() == out.sizes()))
      return false;
  loop.operands = count;
  loop.ndim = 1;
  loop.numel = loop.sizes[0] = out.numel();
  for (int k = 0; k < count; k++) {
    loop.data[k] = operands[k]->impl()->data;
    loop.dtype[k] = operands[k]->dtype();
    loop.strides[k][0] = k > 0 && is_number(*operands[k]) ? 0 : 1;
  }
  return true;
}

bool rows_are_dense(const Loop& loop) {
  for (int k = 0; k < loop.operands; k++)
    if (uint64_t(loop.strides[k][0]) > 1) return false;
  return true;
}

}  // namespace

unsigned fused_gradients(int id, const PointwiseRow& row, const GradArgs& a, unsigned wanted, Tensor* out) {
  const DType lane = a.g.dtype();
  const DeviceType device = a.g.device().type;
  if ((lane != kFloat32 && lane != kFloat64) || !pointwise_grad_kernel.has(device) || a.g.numel() == 0) return 0;
  unsigned fused = 0, reads = 0;
  for (int k = 0; k < row.arity; k++)
    if ((wanted >> k & 1) && row.derivative[k].computed) fused |= 1u << k, reads |= row.derivative[k].reads;
  if (!fused) return 0;

  const Tensor* const sources[] = {&a.x, &a.y, &a.z, &a.result};
  const Tensor* operands[kMaxOperands] = {nullptr, &a.g};
  if (std::popcount(reads) + 2 > kMaxOperands) return 0;
  int count = 2;
  for (int k = 0; k < 4; k++) {
    if (!(reads >> k & 1)) continue;
    const Tensor& t = *sources[k];
    if (!t.defined() || is_complex(t.dtype()) || (t.device() != a.g.device() && !is_number(t))) return 0;
    operands[count++] = &t;
  }
  // Through a transposed operand the ops find the better order; their results keep its layout too.
  for (int k = 0; k < row.arity; k++)
    if (fused >> k & 1) out[k] = Tensor::empty(a.g.sizes(), lane, a.g.device());
  operands[0] = &out[std::countr_zero(fused)];
  Loop loop;
  if (!make_dense_loop(loop, operands, count)) {
    make_loop(loop, operands, count);
    if (!rows_are_dense(loop)) return 0;
  }
  for (int k = 1; k < count; k++)
    if (is_number(*operands[k])) set_number(loop, k, *operands[k], lane);
  PointwiseGradCall call{id, lane, loop, reads, {}, a.params};
  for (int k = 0; k < row.arity; k++)
    if (fused >> k & 1) call.results[k] = static_cast<char*>(out[k].data_ptr());
  pointwise_grad_kernel(a.g.device(), call);
  return fused;
}

}  // namespace tessera::tensor
