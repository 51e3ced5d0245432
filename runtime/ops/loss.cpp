#include "runtime/device/meta.h"
#include "runtime/ops/loss.h"

#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/softmax.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<CrossEntropyCall> cross_entropy_kernel("cross_entropy");
constinit Kernel<CrossEntropyGradCall> cross_entropy_grad_kernel("cross_entropy_backward");

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

// Class numbers have the shape of the input without its dimension of classes.
void check_target(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight) {
  check(self.dim() > 0, TensorErrorKind::Runtime,
        "Expected floating point type for target with class probabilities, got ", scalar_type_name(target.dtype()));
  check(target.dtype() == kInt64, TensorErrorKind::Runtime, "expected target dtype to be Long or Byte, but got ",
        scalar_type_name(target.dtype()));
  const size_t n = self.sizes().size();
  if (n == 1) {
    check(target.dim() == 0 || (target.dim() == 1 && target.sizes()[0] == 1), TensorErrorKind::Value,
          "For 1D input, 1D target must have size 1, but got target size: ", target.numel());
  } else {
    check(target.dim() > 0 && self.sizes()[0] == target.sizes()[0], TensorErrorKind::Value,
          "Expected input batch_size (", self.sizes()[0], ") to match target batch_size (",
          target.dim() ? target.sizes()[0] : 0, ").");
    Dims wanted(self.sizes().drop(1));
    wanted[0] = self.sizes()[0];
    check(n != 2 || target.dim() == 1, TensorErrorKind::Runtime,
          "0D or 1D target tensor expected, multi-target not supported");
    check(n != 4 || target.dim() == 3, TensorErrorKind::Runtime,
          "only batches of spatial targets supported (3D tensors) but got targets of dimension: ", target.dim());
    check(n != 4 || target.sizes() == Ints(wanted), TensorErrorKind::Runtime,
          "size mismatch (got input: ", self.sizes(), " , target: ", target.sizes());
    check(target.sizes() == Ints(wanted), TensorErrorKind::Runtime, "Expected target size ", Ints(wanted), ", got ",
          target.sizes());
  }
  const int64_t classes = self.sizes()[n == 1 ? 0 : 1];
  check(!weight || (weight->dim() == 1 && weight->numel() == classes), TensorErrorKind::Runtime,
        "weight tensor should be defined either for all ", classes,
        " classes or no classes but got weight tensor of shape: ", weight ? weight->sizes() : Ints());
}

void check_classes(const Tensor& self, const Tensor& target, int64_t ignore_index) {
  const int64_t classes = self.dim() == 1 ? self.sizes()[0] : self.sizes()[1];
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
  check_target(self, target, weight);
  check_classes(self, target, ignore_index);
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

// ---- cross entropy ----

namespace {

// [outer, classes, inner] around the dimension of the classes.
struct ClassLines {
  int64_t outer, classes, inner;
  explicit ClassLines(const Tensor& x)
      : outer(x.dim() == 1 ? 1 : x.sizes()[0]), classes(x.sizes()[x.dim() == 1 ? 0 : 1]), inner(1) {
    for (int64_t d = 2; d < x.dim(); d++) inner *= x.sizes()[size_t(d)];
  }
};

Tensor cross_entropy_grad(const Tensor& x, const Tensor& target, const Tensor& log_totals, const Tensor& scale,
                          int64_t ignore_index) {
  const int64_t dim = x.dim() == 1 ? 0 : 1;
  if (Context::current().grad_enabled) {  // it will be differentiated again: the same from ops
    const Tensor kept = target != ignore_index, safe = unsqueeze(where(kept, Operand(target), Operand(0)), dim);
    const Tensor hit = scatter(zeros(x.sizes(), x.dtype(), x.device()), dim, safe, Scalar(1.0));
    return to_dtype((softmax(x, dim) - hit) * unsqueeze(scale, dim), x.dtype());
  }
  const Tensor in = contiguous(x), classes = contiguous(target), out = Tensor::empty(x.sizes(), x.dtype(), x.device());
  const Tensor each = contiguous(expand(to_dtype(scale, log_totals.dtype()), target.sizes()));
  const ClassLines l(x);
  if (out.numel())
    cross_entropy_grad_kernel(
        x.device(), {x.dtype(), in.data_ptr(), classes.data<int64_t>(), log_totals.data_ptr(), each.data_ptr(),
                          out.data_ptr(), l.outer, l.classes, l.inner, ignore_index});
  return out;
}

}  // namespace

namespace {

/// The loss; of each element log(sum(exp(x))) and how much it counts in the end.
struct CrossEntropy {
  static std::array<Meta, 3> shape(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                                   int64_t reduction, int64_t) {
    check_target(self, target, weight);
    require_type(kFloatTypes, self.dtype(), "log_softmax_lastdim_kernel_impl");
    const Meta each(target.sizes(), self.dtype() == kFloat64 ? kFloat64 : kFloat32, self.device());
    return {Meta(reduction == kNone ? target.sizes() : Ints(), self), each, each};
  }
  static void run(const Tensor& out, const Tensor& log_totals, const Tensor& counts, const Tensor& self,
                  const Tensor& target, const std::optional<Tensor>& weight_given, int64_t reduction,
                  int64_t ignore_index) {
    const DType type = counts.dtype();
    const Tensor x = contiguous(self), classes = contiguous(target),
                 loss = Tensor::empty(target.sizes(), type, x.device());
    const Tensor weight = weight_given ? contiguous(to_dtype(*weight_given, type)) : Tensor();
    const ClassLines l(self);
    if (target.numel())
      cross_entropy_kernel(
          x.device(),
          {x.dtype(), x.data_ptr(), classes.data<int64_t>(), weight.defined() ? weight.data_ptr() : nullptr,
           loss.data_ptr(), log_totals.data_ptr(), counts.data_ptr(), l.outer, l.classes, l.inner, ignore_index});
    if (reduction == kMean) {
      const Tensor total = sum(counts);
      copy_into(out, sum(loss) / total);
      copy_into(counts, counts / total);
    } else {
      copy_into(out, reduction == kSum ? sum(loss) : loss);
    }
  }
  static void grad(Tensor& out, Tensor& log_totals, Tensor& counts, const Tensor& self, const Tensor& target,
                   const std::optional<Tensor>&, int64_t, int64_t ignore_index) {
    record(out, target.dim() > 1 ? "NllLoss2DBackward0" : "NllLossBackward0", {&self},
           keep(self, target, log_totals, counts), [ignore_index](Sweep& s) {
             s.give(0, [&] {
               const Tensor x = s.kept(0), counts = s.kept(3), scale = to_dtype(s.g(), counts.dtype()) * counts;
               return cross_entropy_grad(x, s.kept(1), s.kept(2), scale, ignore_index);
             });
           });
  }
};

}  // namespace

Tensor cross_entropy(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
                     int64_t ignore_index) {
  return std::get<0>(apply<CrossEntropy>(self, target, weight, reduction, ignore_index));
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
TS_OP(
    cross_entropy,
    "cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100) -> Tensor",
    "The negative log-probability of the target class, from numbers of any size.", kInternal, &cross_entropy,
    "f[3,4], i[3]<4\nf[3,4], i[3]<4, p[4]:float32, 2\nf[3,4], i[3]<4, p[4]:float32, 1, 1\nf[3,4,5], i[3,5]<4, None, 0\nf[4], i[]<4\n"
    "f[3,4], i[2]<4 -> ValueError: Expected input batch_size (3) to match target batch_size (2).\n"
    "f[3,4], i{0,9,1} -> IndexError: Target 9 is out of bounds.");
TS_OP(one_hot, "one_hot(Tensor self, int num_classes=-1) -> Tensor", "Ones at the class numbers, zeros elsewhere.",
      kFunctional | kNoGrad, &one_hot);

}  // namespace
}  // namespace tessera::tensor
