#include "runtime/device/meta.h"
#include "runtime/ops/loss.h"

#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

Tensor reduced(const Tensor& loss, int64_t reduction) {
  return reduction == kMean ? mean(loss) : reduction == kSum ? sum(loss) : loss;
}

// The gradient of one element of an elementwise loss, before the derivative of the element itself.
Tensor element_gradient(const Tensor& g, int64_t reduction, int64_t count) {
  return reduction == kMean ? g / double(count) : g;
}

}  // namespace

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  Tensor out;
  {
    const GradMode no_grad(false);
    const Tensor gap = self - target;
    out = reduced(gap * gap, reduction);
  }
  if (!needs_grad(self, target)) return out;
  const int64_t count = numel_of(broadcast_shapes(self.sizes(), target.sizes()));
  record(out, "MseLossBackward0", {&self, &target}, keep(self, target),
         [reduction, count, left = Dims(self.sizes()), right = Dims(target.sizes())](Sweep& s) {
           const Tensor d = element_gradient(s.g(), reduction, count) * (s.kept(0) - s.kept(1)) * 2.0;
           s.give(0, [&] { return sum_to_size(d, left); });
           s.give(1, [&] { return sum_to_size(-d, right); });
         });
  return out;
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                            int64_t reduction) {
  Tensor out;
  {
    const GradMode no_grad(false);
    check(!any_true((self < 0.0) | (self > 1.0)), TensorErrorKind::Runtime,
          "all elements of input should be between 0 and 1");
    // A logarithm below -100 counts as -100: a sure answer that is wrong has a finite loss.
    Tensor loss = (target - 1.0) * clamp_min(log1p(-self), -100.0) - target * clamp_min(log(self), -100.0);
    if (weight) loss = loss * *weight;
    out = reduced(loss, reduction);
  }
  if (!needs_grad(self, target)) return out;
  const Tensor scale = weight.value_or(Tensor());
  record(out, "BinaryCrossEntropyBackward0", {&self, &target}, keep(self, target, scale),
         [reduction, count = self.numel()](Sweep& s) {
           const Tensor x = s.kept(0), y = s.kept(1), w = s.kept(2);
           Tensor g = element_gradient(s.g(), reduction, count);
           if (w.defined()) g = g * w;
           s.give(0, [&] { return g * (x - y) / clamp_min((1.0 - x) * x, 1e-12); });
           s.give(1, [&] { return g * (log1p(-x) - log(x)); });
         });
  return out;
}

// ---- classes ----

namespace {

void check_target(const Tensor& self, const Tensor& target, int64_t ignore_index) {
  check(self.dim() > 0, TensorErrorKind::Runtime, "input tensor should be 1D or 2D");
  check(target.dtype() == kInt64, TensorErrorKind::Runtime, "expected scalar type Long but found ",
        scalar_type_name(target.dtype()));
  const int64_t classes = self.dim() == 1 ? self.sizes()[0] : self.sizes()[1];
  if (self.dim() > 1)
    check(target.dim() > 0 && self.sizes()[0] == target.sizes()[0], TensorErrorKind::Value,
          "Expected input batch_size (", self.sizes()[0], ") to match target batch_size (",
          target.dim() ? target.sizes()[0] : 0, ").");
  if (!target.device().is_cpu()) return;
  const Tensor host = contiguous(target);
  for (int64_t i = 0; i < host.numel(); i++) {
    const int64_t t = host.data<int64_t>()[i];
    check((t >= 0 && t < classes) || t == ignore_index, TensorErrorKind::Index, "Target ", t, " is out of bounds.");
  }
}

// What a target of class numbers means: which classes, how much each counts.
struct Picked {
  Tensor classes;  // ignored ones point at class 0
  Tensor weight;   // of each element; undefined: 1
  int64_t dim;

  Picked(const Tensor& self, const Tensor& target, const std::optional<Tensor>& given, int64_t ignore_index)
      : dim(self.dim() == 1 ? 0 : 1) {
    const bool in_range = ignore_index < 0 && !any_true(target == ignore_index);
    const bool ignores = !in_range;
    const Tensor kept = ignores ? target != ignore_index : Tensor();
    const Tensor safe = ignores ? where(kept, Operand(target), Operand(0)) : target;
    classes = unsqueeze(safe, dim);
    if (given) {
      weight = reshape(index_select(*given, 0, reshape(safe, {-1})), target.sizes());
      if (ignores) weight = where(kept, Operand(weight), Operand(0.0));
    } else if (ignores) {
      weight = to_dtype(kept, self.dtype());
    }
  }
};

}  // namespace

Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
                int64_t ignore_index) {
  check_target(self, target, ignore_index);
  Tensor out, classes, scale;  // scale: how much each element counts in the end
  int64_t dim;
  {
    const GradMode no_grad(false);
    const Picked p(self, target, weight, ignore_index);
    dim = p.dim;
    classes = p.classes;
    const Tensor loss = -squeeze(gather(self, dim, classes), dim);
    if (reduction == kMean && p.weight.defined()) {
      const Tensor total = sum(p.weight);
      scale = p.weight / total;
      out = sum(loss * p.weight) / total;
    } else {
      scale = p.weight.defined()   ? p.weight
              : reduction == kMean ? full({}, 1.0 / double(target.numel()), self.dtype(), self.device())
                                   : Tensor();
      out = reduced(p.weight.defined() ? loss * p.weight : loss, reduction);
    }
  }
  if (needs_grad(self))
    record(out, target.dim() > 1 ? "NllLoss2DBackward0" : "NllLossBackward0", {&self}, keep(classes, scale),
           [dim, sizes = Dims(self.sizes()), shape = Dims(target.sizes())](Sweep& s) {
             s.give(0, [&] {
               const Tensor scale = s.kept(1), classes = s.kept(0);
               const Tensor each = scale.defined() ? -s.g() * scale : -s.g();
               return scatter_add(zeros(sizes, s.g().dtype(), s.g().device()), dim, classes,
                                  unsqueeze(expand(each, shape), dim));
             });
           });
  return out;
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  check(self.dtype() == kInt64, TensorErrorKind::Runtime, "one_hot is only applicable to index tensor.");
  if (self.numel() == 0) {
    check(num_classes > 0, TensorErrorKind::Runtime, "Can not infer total number of classes from empty tensor.");
  } else if (num_classes == -1 || !self.device().is_meta()) {
    check(min(self).item().to_int() >= 0, TensorErrorKind::Runtime, "Class values must be non-negative.");
    const int64_t most = max(self).item().to_int();
    if (num_classes == -1) num_classes = most + 1;
    check(most < num_classes, TensorErrorKind::Runtime, "Class values must be smaller than num_classes.");
  }
  Dims shape(self.sizes());
  shape.push_back(num_classes);
  return scatter(zeros(shape, kInt64, self.device()), -1, unsqueeze(self, -1), Scalar(1));
}

namespace {

TS_OP(mse_loss, "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", "The squared difference.", kInternal,
      &mse_loss);
TS_OP(binary_cross_entropy,
      "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
      "The cross-entropy of probabilities with targets of 0 to 1.", kInternal, &binary_cross_entropy);
TS_OP(nll_loss,
      "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100) -> Tensor",
      "The negative log-probability of the target class.", kInternal, &nll_loss);
TS_OP(one_hot, "one_hot(Tensor self, int num_classes=-1) -> Tensor", "Ones at the class numbers, zeros elsewhere.",
      kFunctional | kNoGrad, &one_hot);

}  // namespace
}  // namespace tessera::tensor
