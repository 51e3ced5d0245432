// The steps of optimizers as one op each, with the bits of the formulas that torch.optim's classes spell out. They answer
// False, with nothing done, for what those have to compute themselves.
#include "runtime/ops/optimizer_steps.h"

#include <algorithm>
#include <initializer_list>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"

namespace tessera::tensor {

constinit Kernel<OptimizerCall> optimizer_kernel("optimizer_step");
// The CPU moves one parameter after the other.
constinit Kernel<OptimizerListCall> optimizer_list_kernel("optimizer_steps", ServedBy::Devices);

namespace {

// The CPU moves one by one; a slot is known from its first kernel on.
const KernelRegistration<OptimizerListCall> known{optimizer_list_kernel, DeviceType::Meta,
                                                  [](const OptimizerListCall&) {}};

bool is_plain(const Tensor& t, const Tensor& weight) {
  return t.is_contiguous() && t.dtype() == weight.dtype() && t.device() == weight.device() &&
         t.sizes() == weight.sizes();
}

/// Arguments: the weight, its gradient, `states` tensors of the state, numbers.
void step_by(OpCall& c, OptimizerCall::Rule rule, size_t states, size_t numbers) {
  const Tensor& weight = c.tensor(0);
  bool plain = (weight.dtype() == kFloat32 || weight.dtype() == kFloat64) &&
               optimizer_kernel.has(weight.device().type) &&
               !(Context::current().records && weight.is_tracked());
  for (size_t i = 0; i < 2 + states; i++) plain = plain && is_plain(c.tensor(i), weight);
  if (plain && weight.numel() > 0) {
    OptimizerCall call{rule,
                       weight.dtype(),
                       weight.numel(),
                       weight.data_ptr(),
                       c.tensor(1).data_ptr(),
                       c.tensor(2).data_ptr(),
                       states > 1 ? c.tensor(3).data_ptr() : nullptr,
                       {}};
    for (size_t i = 0; i < numbers; i++) call.numbers[i] = c.scalar(2 + states + i).to_double();
    optimizer_kernel(weight.device(), call);
    for (size_t i = 0; i < 2 + states; i++)
      if (i != 1) c.tensor(i).bump_version();
  }
  c.results.emplace_back(plain);
}
template <OptimizerCall::Rule rule, size_t kStates, size_t kNumbers>
void step_boxed(OpCall& c) {
  step_by(c, rule, kStates, kNumbers);
}

#define TS_STEP(NAME, RULE, STATES, NUMBERS, SCHEMA, DOC, SAMPLES)  \
  TS_BOXED(NAME, #NAME SCHEMA " -> bool", DOC, kInternal | kNoGrad, \
           (step_boxed<OptimizerCall::RULE, STATES, NUMBERS>), SAMPLES)
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

OptimizerCall::Rule rule_of(const std::string& name) {
  if (name == "adam") return OptimizerCall::Adam;
  if (name == "momentum") return OptimizerCall::Momentum;
  if (name == "rmsprop") return OptimizerCall::RmsProp;
  if (name == "adagrad") return OptimizerCall::Adagrad;
  if (name == "unscale") return OptimizerCall::Unscale;
  check(name == "plain", TensorErrorKind::Value, "Unknown rule of an optimizer: ", name);
  return OptimizerCall::Plain;
}

/// What a kernel for many parameters takes: all of them plain, of one dtype, on one device.
bool can_step(const TensorList& weights, const TensorList& grads, const TensorList& first, const TensorList& second) {
  const Tensor& one = weights.front();
  if (!optimizer_list_kernel.has(one.device().type) || (one.dtype() != kFloat32 && one.dtype() != kFloat64))
    return false;
  for (const TensorList* list : {&grads, &first, &second})
    if (!list->empty() && list->size() != weights.size()) return false;
  for (size_t i = 0; i < weights.size(); i++) {
    const Tensor& weight = weights[i];
    if (weight.dtype() != one.dtype() || weight.device() != one.device() || !weight.is_contiguous()) return false;
    if (Context::current().records && weight.is_tracked()) return false;
    for (const TensorList* list : {&grads, &first, &second})
      if (!list->empty() && !is_plain((*list)[i], weight)) return false;
  }
  return true;
}

bool is_number(const std::optional<Tensor>& t, const Tensor& weight, bool may_be_double) {
  return !t || ((t->dtype() == kFloat32 || (may_be_double && t->dtype() == kFloat64)) && t->numel() == 1 &&
                t->device() == weight.device());
}
bool can_count(const TensorList& weights, const TensorList& steps) {
  if (!steps.empty() && steps.size() != weights.size()) return false;
  for (const Tensor& step : steps)
    if (!is_number(step, weights.front(), false)) return false;
  return true;
}

bool step_together(const std::string& rule, const TensorList& weights, const TensorList& grads, const TensorList& first,
                   const TensorList& second, const std::vector<double>& numbers, bool maximize, bool nesterov,
                   double decay, double shrink, const TensorList& steps, const std::optional<Tensor>& rate,
                   const std::optional<Tensor>& found) {
  OptimizerListCall call{rule_of(rule), kFloat32, maximize, nesterov, decay,  shrink, {},
                         nullptr,       kFloat32, nullptr,  0,        nullptr};
  check(numbers.size() <= std::size(call.numbers), TensorErrorKind::Value, "Too many numbers for a step");
  if (weights.empty()) return true;
  if (!can_step(weights, grads, first, second) || !can_count(weights, steps) ||
      !is_number(rate, weights.front(), true) || !is_number(found, weights.front(), false))
    return false;
  std::vector<OptimizerTensor> tensors;
  for (size_t i = 0; i < weights.size(); i++) {
    if (weights[i].numel() == 0 && steps.empty()) continue;
    tensors.push_back({weights[i].data_ptr(), grads[i].data_ptr(), first.empty() ? nullptr : first[i].data_ptr(),
                       second.empty() ? nullptr : second[i].data_ptr(), weights[i].numel(),
                       steps.empty() ? nullptr : steps[i].data<float>()});
  }
  std::copy(numbers.begin(), numbers.end(), call.numbers);
  if (rate) call.rate = rate->data_ptr(), call.rate_dtype = rate->dtype();
  if (found) call.found = found->data<float>();
  if (call.rule == OptimizerCall::Adam && !steps.empty()) call.rule = OptimizerCall::CountedAdam;
  call.dtype = weights.front().dtype();
  call.count = int64_t(tensors.size());
  call.tensors = tensors.data();
  if (call.count > 0) optimizer_list_kernel(weights.front().device(), call);
  for (const TensorList* list : {&weights, &first, &second, &steps})
    for (const Tensor& t : *list) t.bump_version();
  return true;
}

TS_OP(
    _optimizer_steps_,
    "_optimizer_steps_(str rule, Tensor[] weights, Tensor[] grads, Tensor[] first, Tensor[] second, float[] numbers, "
    "bool maximize, bool nesterov, float decay, float shrink, Tensor[] steps, Tensor? rate, "
    "Tensor? found) -> bool",
    "A step of an optimizer for many parameters at once; False, and nothing is done, where that cannot be.",
    kInternal | kNoGrad, &step_together,
    "'adam', (f[2], f[3]), (f[2], f[3]), (f[2], f[3]), (p[2], p[3]), [0.9, 0.99, 1e-08, 0.1, 0.5], False, False, 0.0, 0.0, (), None, None\n"
    "'adam', (f[2], f[3]), (f[2], f[3]), (f[2], f[3]), (p[2], p[3]), [0.9, 0.99, 1e-08, 0.1], False, False, 0.1, 0.9, (p[], p[]), p[], None\n"
    "'momentum', (f[2], f[3]), (f[2], f[3]), (f[2], f[3]), (f[2], f[3]), [0.9, 1.0, 0.1], True, True, 0.1, 0.0, (), None, p[]\n"
    "'faster', (f[2], f[3]), (f[2], f[3]), (f[2], f[3]), (p[2], p[3]), [0.9], False, False, 0.0, 0.0, (), None, None -> "
    "ValueError: Unknown rule of an optimizer");

}  // namespace
}  // namespace tessera::tensor
