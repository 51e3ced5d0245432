#include "runtime/autograd/accumulate.h"

#include "runtime/autograd/engine.h"
#include "runtime/autograd/function.h"
#include "runtime/ops.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : Node("AccumulateGrad"), leaf_(leaf) {
  sequence = kLeafSequence;
  made(leaf);
}

AccumulateGrad::~AccumulateGrad() {
  if (AutogradMeta* meta = leaf_.impl()->autograd; meta && meta->accumulator == this) meta->accumulator = nullptr;
}

CountedPtr<Node> leaf_accumulator(const Tensor& leaf) {
  AutogradMeta& meta = autograd_meta(leaf);
  if (meta.accumulator) return CountedPtr<Node>::share(meta.accumulator);
  auto node = make_counted<AccumulateGrad>(leaf);
  meta.accumulator = node.get();
  return node;
}

Tensor AccumulateGrad::run_hooks(Tensor grad) const {
  const AutogradMeta* meta = leaf_.impl()->autograd;
  if (!meta || meta->hooks.empty() || !grad.defined()) return grad;
  const auto hooks = meta->hooks;  // a hook may remove itself
  for (const auto& [id, run] : hooks) grad = hook_result(grad, run(grad));
  return grad;
}

namespace {

// A gradient lies as its leaf does where that has no gaps, else row by row (empty).
Dims agreed_strides(const Tensor& leaf) {
  if (leaf.is_contiguous()) return {};
  const Dims dense = dense_strides(leaf);
  return Ints(dense) == leaf.strides() ? dense : Dims();
}

// Nobody else sees its elements, so that the leaf may keep it instead of a copy.
bool may_be_kept(const Tensor& grad, const Tensor& leaf) {
  PendingLaunches::flush();  // they hold storages too
  return lies_in(grad, agreed_strides(leaf)) && grad.dtype() == leaf.dtype() && grad.storage().unique() &&
         grad.nbytes() == grad.storage().bytes();
}

Tensor copy_beside(const Tensor& leaf, const Tensor& grad) {
  const Dims strides = agreed_strides(leaf);
  const Tensor out = Tensor::empty(grad.sizes(), grad.dtype(), grad.device());
  if (!strides.empty() && grad.sizes() == leaf.sizes()) out.impl()->set_layout(grad.sizes(), strides);
  copy_into(out, grad);
  return out;
}

}  // namespace

// The engine has moved the gradient into the list, so a count of one means that it is ours.
void AccumulateGrad::backward(const TensorList& grad_outputs, TensorList&) {
  const Tensor& arrived = grad_outputs[0];
  if (!arrived.defined()) return;
  take(arrived);
  const auto hooks = autograd_meta(leaf_).accumulated_hooks;  // a hook may remove itself
  for (const auto& [id, run] : hooks) run(leaf_);
}

void AccumulateGrad::take(const Tensor& given) {
  const bool is_recorded = Context::current().grad_enabled;
  Tensor plain;  // `.grad` has no tangents
  if (given.is_dual() && !is_recorded) plain = detached(given);
  const Tensor& arrived = plain.defined() ? plain : given;
  AutogradMeta& meta = autograd_meta(leaf_);
  Tensor& grad = meta.grad;
  if (SweepOps* const ops = sweep_ops(); ops != nullptr && ops->accumulate(leaf_, grad, arrived)) [[unlikely]]
    return;
  if (is_recorded) {
    grad = grad.defined() ? add(grad, arrived) : clone(arrived);
    meta.host_record = nullptr;  // it would hold the graph of what was there before
  } else if (grad.defined()) {
    add_(grad, arrived);
  } else if (arrived.impl()->refs.unique() && may_be_kept(arrived, leaf_)) {
    grad = arrived;
  } else {
    grad = copy_beside(leaf_, arrived);
  }
}

}  // namespace tessera::tensor
