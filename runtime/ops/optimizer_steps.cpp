// The steps of optimizers as one op each, with the bits of the formulas that torch.optim's classes spell out. They answer
// False, with nothing done, for what those have to compute themselves.
#include "runtime/ops/optimizer_steps.h"

#include <initializer_list>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"

namespace tessera::tensor {

constinit Kernel<OptimizerCall> optimizer_kernel("optimizer_step");

namespace {

bool is_plain(const Tensor& t, const Tensor& weight) {
  return t.is_contiguous() && t.dtype() == weight.dtype() && t.device() == weight.device() &&
         t.sizes() == weight.sizes();
}

/// Arguments: the weight, its gradient, the tensors of the state, numbers.
template <OptimizerCall::Rule rule, int kStates, int kNumbers>
void step_boxed(OpCall& c) {
  const Tensor& weight = c.tensor(0);
  bool plain = (weight.dtype() == kFloat32 || weight.dtype() == kFloat64) &&
               optimizer_kernel.has(weight.device().type) &&
               !(Context::current().grad_enabled && weight.requires_grad());
  for (size_t i = 0; i < 2 + kStates; i++) plain = plain && is_plain(c.tensor(i), weight);
  if (plain && weight.numel() > 0) {
    OptimizerCall call{rule,
                       weight.dtype(),
                       weight.numel(),
                       weight.data_ptr(),
                       c.tensor(1).data_ptr(),
                       c.tensor(2).data_ptr(),
                       kStates > 1 ? c.tensor(3).data_ptr() : nullptr,
                       {}};
    for (size_t i = 0; i < kNumbers; i++) call.numbers[i] = c.scalar(2 + kStates + i).to_double();
    optimizer_kernel(weight.device(), call);
    for (size_t i = 0; i < 2 + kStates; i++)
      if (i != 1) c.tensor(i).bump_version();
  }
  c.results.emplace_back(plain);
}

#define TS_STEP(NAME, RULE, STATES, NUMBERS, SCHEMA, DOC, SAMPLES)                                                \
  const OpRegistration RULE##_op {                                                                                \
#NAME, #NAME SCHEMA " -> bool", DOC, kInternal | kNoGrad, step_boxed < OptimizerCall::RULE, STATES, NUMBERS>, \
        {}, 0, SAMPLES                                                                                            \
  }
TS_STEP(_adam_step_, Adam, 2, 5,
        "(Tensor(a!) self, Tensor grad, Tensor(b!) mean, Tensor(c!) square, float beta1, float beta2, float eps, float "
        "step_size, float correction)",
        "mean and square move towards grad and its square; self -= step_size * mean / (sqrt(square) / "
        "correction + eps).",
        "f[3,4], f[3,4], f[3,4], p[3,4], 0.9, 0.99, 1e-08, 0.1, 0.5\n"
        "f[40], f[40], f[40], p[40], 0.4, 0.99, 1e-08, 0.1, 0.5\n"
        "f[3], f[2], f[3], p[3], 0.9, 0.99, 1e-08, 0.1, 0.5");
TS_STEP(_momentum_step_, Momentum, 1, 3,
        "(Tensor(a!) self, Tensor grad, Tensor(b!) buffer, float momentum, float rate, float lr)",
        "buffer = momentum * buffer + rate * grad; self -= lr * buffer.",
        "f[3,4], f[3,4], f[3,4], 0.9, 1.0, 0.1\nf[33], f[33], f[33], 0.5, 0.25, 0.1");
TS_STEP(_rmsprop_step_, RmsProp, 1, 3,
        "(Tensor(a!) self, Tensor grad, Tensor(b!) square, float alpha, float eps, float lr)",
        "square moves towards the square of grad; self -= lr * grad / (sqrt(square) + eps).",
        "f[3,4], f[3,4], p[3,4], 0.9, 1e-08, 0.1\nf[33], f[33], p[33], 0.5, 0.25, 0.1");
TS_STEP(_adagrad_step_, Adagrad, 1, 2, "(Tensor(a!) self, Tensor grad, Tensor(b!) sum, float eps, float lr)",
        "sum += grad * grad; self -= lr * grad / (sqrt(sum) + eps).",
        "f[3,4], f[3,4], p[3,4], 1e-08, 0.1\nf[33], f[33], p[33], 0.25, 0.1");
#undef TS_STEP

}  // namespace
}  // namespace tessera::tensor
