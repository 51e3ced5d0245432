// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/ops/batching.h"
#include "runtime/ops/loss.h"

#include <array>
#include <bit>
#include <numeric>

#include "runtime/autograd/record.h"
#include "runtime/device/meta.h"
#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/index_along.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/result_layout.h"
#include "runtime/ops/softmax.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {

constinit Kernel<CrossEntropyCall> cross_entropy_kernel("cross_entropy");
constinit Kernel<CrossEntropyGradCall> cross_entropy_grad_kernel("cross_entropy_backward");

namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

Tensor reduced(const Tensor& loss, int64_t reduction) {
  return reduction == kMean ? mean(loss) : reduction == kSum ? sum(loss) : loss;
}

template <class T>
T sum_in_levels(const T* items, const int64_t* classes, int64_t n, int64_t ignore_index) {
  constexpr size_t kLevels = 8;
  const int64_t power = std::max<int64_t>(4, std::bit_width(uint64_t(std::max<int64_t>(n, 1) - 1)) / int64_t(kLevels));
  const auto plus = [](T a, T b) { return T(float(a) + float(b)); };
  std::array<T, kLevels> sums{};
  for (int64_t i = 0; i < n; i++) {
    if (classes[i] == ignore_index) continue;
    sums[0] = plus(sums[0], items[i]);
    for (size_t j = 0; j + 1 < kLevels && ((i >> (int64_t(j) * power)) & ((int64_t(1) << power) - 1)) == 0; j++) {
      sums[j + 1] = plus(sums[j + 1], sums[j]);
      sums[j] = T();
    }
  }
  return std::accumulate(sums.begin(), sums.end(), T(), plus);
}

// Of a batch in float32 or halves in the order in which PyTorch adds up negative log likelihoods, each sum rounded: sums of sixteen, sums of
// sixteen such and so on, each begun by a first number of its own; ignored ones do not count.
Tensor sum_of_items(const Tensor& items, const Tensor& classes, int64_t ignore_index) {
  if (items.dim() > 1 || !(DTypeSet(kFloat32) | kHalfTypes).has(items.dtype()) || !items.device().is_cpu()) return sum(items);
  const Tensor in = contiguous(items), targets = contiguous(classes), out = Tensor::empty({}, items.dtype(), items.device());
  with_type<DTypeSet(kFloat32) | kHalfTypes>(items.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    *out.data<T>() = sum_in_levels(in.data<T>(), targets.data<int64_t>(), in.numel(), ignore_index);
  });
  return out;
}

// The gradient of one element of an elementwise loss, before the derivative of the element itself.
Tensor element_gradient(const Tensor& g, int64_t reduction, int64_t count) {
  return reduction == kMean ? g / double(count) : g;
}

Dims reduced_shape(Ints elements, int64_t reduction) { return reduction == kNone ? Dims(elements) : Dims(); }

struct MseLoss {
  static Meta shape(const Tensor& self, const Tensor& target, int64_t reduction) {
    PromotionState common;
    common.add(self), common.add(target);
    require_type(kFloatTypes, common.result(), self.device(), "mse_cpu");
    const Tensor* both[] = {&self, &target};
    const Dims sizes = broadcast_shapes(self.sizes(), target.sizes());
    return {reduced_shape(sizes, reduction), common.result(), common_device(both, 2),
            reduction == kNone ? result_strides(both, sizes) : Dims()};
  }
  static void run(const Tensor& out, const Tensor& self, const Tensor& target, int64_t reduction) {
    const Tensor gap = to_dtype(self, out.dtype()) - to_dtype(target, out.dtype());
    copy_into(out, reduced(gap * gap, reduction));
  }
  static void grad(Tensor& out, const Tensor& self, const Tensor& target, int64_t reduction) {
    const int64_t count = numel_of(broadcast_shapes(self.sizes(), target.sizes()));
    record(out, "MseLossBackward0", {&self, &target}, keep(self, target),
           [reduction, count, left = Dims(self.sizes()), right = Dims(target.sizes())](Sweep& s) {
             const DType type = s.g().dtype();
             const Tensor gap = to_dtype(s.kept(0), type) - to_dtype(s.kept(1), type);
             const Tensor d = element_gradient(s.g(), reduction, count) * gap * 2.0;
             s.give(0, [&] { return sum_to_size(d, left); });
             s.give(1, [&] { return sum_to_size(-d, right); });
           });
  }
};

struct BinaryCrossEntropy {
  static constexpr TypeRule types{kFloatTypes, {"binary_cross_entropy", "binary_cross_entropy_out_cuda"}};
  static Meta shape(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction) {
    check(target.dtype() == self.dtype(), TensorErrorKind::Runtime, "Found dtype ", scalar_type_name(target.dtype()),
          " but expected ", scalar_type_name(self.dtype()));
    Dims sizes = broadcast_shapes(self.sizes(), target.sizes());
    if (weight) sizes = broadcast_shapes(sizes, weight->sizes());
    if (reduction == kNone && Ints(sizes) == self.sizes())  // laid as the input is
      return Meta(sizes, self.dtype(), self.device(), dense_strides(self));
    return Meta(reduced_shape(sizes, reduction), self);
  }
  static void run(const Tensor& out, const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                  int64_t reduction) {
    check_range(self, "input"), check_range(target, "target");
    const DType type = self.dtype() == kFloat64 ? kFloat64 : kFloat32;
    const Tensor x = to_dtype(self, type), y = to_dtype(target, type);
    // A logarithm below -100 counts as -100: a sure answer that is wrong has a finite loss.
    Tensor loss = (y - 1.0) * clamp_min(log1p(-x), -100.0) - y * clamp_min(log(x), -100.0);
    if (weight) loss = loss * *weight;
    copy_into(out, reduced(to_dtype(loss, self.dtype()), reduction));
  }
  static void grad(Tensor& out, const Tensor& self, const Tensor& target, const OptionalTensor& weight_given,
                   int64_t reduction) {
    const Tensor weight = weight_given.value_or(Tensor());
    record(out, "BinaryCrossEntropyBackward0", {&self, &target}, keep(self, target, weight),
           [reduction, count = self.numel()](Sweep& s) {
             const Tensor x = s.kept(0), y = s.kept(1), w = s.kept(2);
             Tensor g = element_gradient(s.g(), reduction, count);
             if (w.defined()) g = g * w;
             s.give(0, [&] { return g * (x - y) / clamp_min((1.0 - x) * x, 1e-12); });
             s.give(1, [&] { return -g * (log(x) - log1p(-x)); });
           });
  }

 private:
  static void check_range(const Tensor& t, const char* which) {
    check(!any_true(~((t >= 0.0) & (t <= 1.0))), TensorErrorKind::Runtime, "all elements of ", which,
          " should be between 0 and 1");
  }
};

}  // namespace

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return apply<MseLoss>(self, target, reduction);
}
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction) {
  return apply<BinaryCrossEntropy>(self, target, weight, reduction);
}

// ---- classes ----

namespace {

// Class numbers have the shape of the input without its dimension of classes.
void check_target(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight) {
  check_one_device(self.dim() > 2 ? "wrapper_CUDA__nll_loss2d_forward" : "wrapper_CUDA_nll_loss_forward",
                   {{"self", self}, {"target", target}, {"weight", weight.value_or(Tensor())}});
  check(self.dim() > 0, TensorErrorKind::Runtime,
        "Expected floating point type for target with class probabilities, got ", scalar_type_name(target.dtype()));
  const size_t n = self.sizes().size();
  const auto check_type = [&] {
    check(target.dtype() == kInt64 || target.dtype() == kUInt8, TensorErrorKind::Runtime,
          "expected target dtype to be Long or Byte, but got ", scalar_type_name(target.dtype()));
  };
  if (n == 1) {
    check(target.dim() <= 1, TensorErrorKind::Runtime, "0D or 1D target tensor expected, multi-target not supported");
    check_type();
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
  check_type();
  const int64_t classes = self.sizes()[n == 1 ? 0 : 1];
  check(!weight || (weight->dim() == 1 && weight->numel() == classes), TensorErrorKind::Runtime,
        "weight tensor should be defined either for all ", classes,
        " classes or no classes but got weight tensor of shape: ", weight ? weight->sizes() : Ints());
  check(n <= 2 || target.dtype() == kInt64, TensorErrorKind::Runtime, "expected scalar type Long but found ",
        scalar_type_name(target.dtype()));
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

// The elements at the classes' places, which lie in one dimension.
Tensor at_classes(const Tensor& self, int64_t dim, const Tensor& classes) {
  const Tensor out = Tensor::empty(classes.sizes(), self.dtype(), self.device());
  if (out.numel())
    move_along({IndexCall::Mode::Read, dim, IndexCall::Complaint::Target}, self, classes, classes.strides(), out,
               out.sizes());
  return out;
}

// What a target of class numbers means: which classes, how much each counts.
struct Picked {
  Tensor classes;  // ignored ones point at class 0
  Tensor weight;   // of each element; undefined: 1
  int64_t dim;

  Picked(const Tensor& self, const Tensor& target, const std::optional<Tensor>& given, int64_t ignore_index)
      : dim(self.dim() == 1 ? 0 : 1) {
    // A device would have to be waited for.
    const bool ignores = ignore_index >= 0 || !self.device().is_cpu() || any_true(target == ignore_index);
    const Tensor kept = ignores ? target != ignore_index : Tensor();
    const Tensor safe = ignores ? where(kept, Operand(target), Operand(0)) : target;
    classes = unsqueeze(safe, dim);
    if (given) {
      weight = reshape(at_classes(*given, 0, reshape(safe, {-1})), target.sizes());
      if (ignores) weight = where(kept, Operand(weight), Operand(0.0));
    } else if (ignores) {
      weight = to_dtype(kept, self.dtype());
    }
  }
};

Tensor as_classes(const Tensor& target) { return to_dtype(target, kInt64); }

/// The loss, and how much each element counts in it in the end.
struct NllLoss {
  static std::array<Meta, 2> shape(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                                   int64_t reduction, int64_t) {
    check_target(self, target, weight);
    require_type(kFloatTypes, self,
                 self.dim() <= 2 ? KernelName("nll_loss_out_frame", "nll_loss_forward_reduce_cuda_kernel_2d")
                                 : KernelName("nll_loss2d_forward_out_frame", "nll_loss2d_forward_kernel"));
    return {Meta(reduced_shape(target.sizes(), reduction), self), Meta(target.sizes(), self)};
  }
  static void run(const Tensor& out, const Tensor& counts, const Tensor& self, const Tensor& target_given,
                  const OptionalTensor& weight, int64_t reduction, int64_t ignore_index) {
    const Tensor target = as_classes(target_given);
    check_classes(self, target, ignore_index);
    const Picked p(self, target, weight, ignore_index);
    const Tensor loss = -squeeze(at_classes(self, p.dim, p.classes), p.dim);
    if (!p.weight.defined()) {
      fill_into(counts, reduction == kMean ? 1.0 / double(target.numel()) : 1.0);
      const auto total = [&] { return sum_of_items(loss, target, ignore_index); };
      if (reduction == kNone) copy_into(out, loss);
      else copy_into(out, reduction == kMean ? total() / double(target.numel()) : total());
    } else if (reduction == kMean) {
      const Tensor total = sum_of_items(p.weight, target, ignore_index);
      copy_into(counts, p.weight / total);
      copy_into(out, sum_of_items(loss * p.weight, target, ignore_index) / total);
    } else {
      copy_into(counts, p.weight);
      copy_into(out, reduction == kSum ? sum_of_items(loss * p.weight, target, ignore_index) : loss * p.weight);
    }
  }
  static void grad(Tensor& out, Tensor& counts, const Tensor& self, const Tensor& target, const OptionalTensor&,
                   int64_t, int64_t ignore_index) {
    record(out, target.dim() > 1 ? "NllLoss2DBackward0" : "NllLossBackward0", {&self}, keep(target, counts),
           [ignore_index, dim = self.dim() == 1 ? 0 : 1, sizes = Dims(self.sizes())](Sweep& s) {
             s.give(0, [&] {
               const Tensor target = as_classes(s.kept(0));
               const Tensor classes = where(target != ignore_index, Operand(target), Operand(0));
               return scatter_add(zeros(sizes, s.g().dtype(), s.g().device()), dim, unsqueeze(classes, dim),
                                  unsqueeze(-s.g() * s.kept(1), dim));
             });
           });
  }
};

}  // namespace

Tensor nll_loss(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
                int64_t ignore_index) {
  return std::get<0>(apply<NllLoss>(self, target, weight, reduction, ignore_index));
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
  if (Context::current().records) {  // it will be differentiated again: the same from ops
    const Tensor number = as_classes(target), kept = number != ignore_index;
    const Tensor safe = unsqueeze(where(kept, Operand(number), Operand(0)), dim);
    const Tensor hit = scatter(zeros(x.sizes(), x.dtype(), x.device()), dim, safe, Scalar(1.0));
    return to_dtype((softmax(x, dim) - hit) * unsqueeze(scale, dim), x.dtype());
  }
  const Tensor in = contiguous(x), classes = contiguous(as_classes(target)),
               out = Tensor::empty(x.sizes(), x.dtype(), x.device());
  const Tensor each = contiguous(expand(to_dtype(scale, log_totals.dtype()), target.sizes()));
  const ClassLines l(x);
  if (out.numel())
    cross_entropy_grad_kernel(x.device(), {x.dtype(), in.data_ptr(), classes.data<int64_t>(), log_totals.data_ptr(),
                                           each.data_ptr(), out.data_ptr(), l.outer, l.classes, l.inner, ignore_index});
  return out;
}

/// The loss; of each element log(sum(exp(x - max))) and how much it counts in the end.
struct CrossEntropy {
  static std::array<Meta, 3> shape(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                                   int64_t reduction, int64_t) {
    check_target(self, target, weight);
    require_type(kFloatTypes, self, {"log_softmax_lastdim_kernel_impl", "host_softmax"});
    const Meta each(target.sizes(), self.dtype() == kFloat64 ? kFloat64 : kFloat32, self.device());
    return {Meta(reduction == kNone ? target.sizes() : Ints(), self), each, each};
  }
  static void run(const Tensor& out, const Tensor& log_totals, const Tensor& counts, const Tensor& self,
                  const Tensor& target, const std::optional<Tensor>& weight_given, int64_t reduction,
                  int64_t ignore_index) {
    const DType type = counts.dtype();
    const Tensor x = contiguous(self), classes = contiguous(as_classes(target)),
                 loss = Tensor::empty(target.sizes(), type, x.device());
    const Tensor weight = weight_given ? contiguous(to_dtype(*weight_given, type)) : Tensor();
    const ClassLines l(self);
    if (target.numel())
      cross_entropy_kernel(
          x.device(),
          {x.dtype(), x.data_ptr(), classes.data<int64_t>(), weight.defined() ? weight.data_ptr() : nullptr,
           loss.data_ptr(), log_totals.data_ptr(), counts.data_ptr(), l.outer, l.classes, l.inner, ignore_index});
    if (reduction == kMean) {
      const Tensor total = sum_of_items(counts, classes, ignore_index);
      copy_into(out, sum_of_items(loss, classes, ignore_index) / total);
      copy_into(counts, counts / total);
    } else {
      copy_into(out, reduction == kSum ? sum_of_items(loss, classes, ignore_index) : loss);
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
  if (is_half(self.dtype()) && self.device().is_cpu()) {  // in two steps, the first rounded to halves
    CrossEntropy::shape(self, target, weight, reduction, ignore_index);
    return nll_loss(log_softmax(self, self.dim() == 1 ? 0 : 1, {}), target, weight, reduction, ignore_index);
  }
  return std::get<0>(apply<CrossEntropy>(self, target, weight, reduction, ignore_index));
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  check(self.dtype() == kInt64, TensorErrorKind::Runtime,
        "one_hot is only applicable to index tensor of type LongTensor.");
  if (self.numel() == 0) {
    check(num_classes > 0, TensorErrorKind::Runtime, "Can not infer total number of classes from empty tensor.");
  } else if (has_streams(self.device()) && num_classes != -1) {  // scatter checks the classes, without a wait for the device
    check(num_classes >= 1, TensorErrorKind::Runtime, "num_classes should be positive");
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
      MseLoss,
      "f[3,4], f[3,4]\n"
      "f[3,4].t, f[4], 0\n"
      "f[3,4], i[3,4]<5, 2\n"
      "f[2], f[3] -> RuntimeError: The size of tensor a (2) must match the size of tensor b (3)\n"
      "i[2]<3, i[2]<3 -> NotImplementedError: \"mse_cpu\" not implemented for 'Long'",
      .any_device = true, .autocast = Autocast::Float32, .autocast_cuda = Autocast::Float32,
      .batching = Batching::Loss);
TS_OP(binary_cross_entropy,
      "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
      "The cross-entropy of probabilities with targets of 0 to 1.", kInternal, BinaryCrossEntropy,
      "p[3,4], p[3,4]\n"
      "p[3,4].t, p[3,4], None, 0\n"
      "p[3,4], p[3,4], p[4]:float32, 2\n"
      "f{0.5,1.5}, p[2] -> RuntimeError: all elements of input should be between 0 and 1\n"
      "p[2], f{0.5,-1} -> RuntimeError: all elements of target should be between 0 and 1\n"
      "p[2], i[2]<2 -> RuntimeError: Found dtype Long but expected Float\n"
      "i[2]<2, i[2]<2 -> NotImplementedError: \"binary_cross_entropy\" not implemented for 'Long'",
      .autocast = Autocast::Float32, .batching = Batching::Loss);
TS_OP(
    nll_loss,
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100) -> Tensor",
    "The negative log-probability of the target class.", kInternal, &nll_loss,
    "f[3,4], i[3]<4\n"
    "f[3,4], i[3]<4, p[4]:float32, 2\n"
    "f[3,4], i{0,1,3}, p[4]:float32, 1, 1\n"
    "f[2,4,5], i[2,5]<4, None, 0\n"
    "f[4], i[]<4\n"
    "f[3,4], i{0,9,1} -> IndexError: Target 9 is out of bounds.\n"
    "f[3,4], f[3] -> RuntimeError: expected target dtype to be Long or Byte, but got Float\n"
    "f[3,4], i[2]<4 -> ValueError: Expected input batch_size (3) to match target batch_size (2).\n"
    "f[3,4], i[3]<4, f[3] -> RuntimeError: weight tensor should be defined either for all 4 classes or no classes but "
    "got weight tensor of shape: [3]\n"
    "i[3,4]<4, i[3]<4 -> NotImplementedError: \"nll_loss_out_frame\" not implemented for 'Long'",
    .any_device = true, .autocast = Autocast::Float32, .autocast_cuda = Autocast::Float32,
    .batched = batched_class_loss);
TS_OP(
    cross_entropy,
    "cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100) -> Tensor",
    "The negative log-probability of the target class, from numbers of any size.", kInternal, &cross_entropy,
    "f[3,4], i[3]<4\nf[3,4], i[3]<4, p[4]:float32, 2\nf[3,4], i[3]<4, p[4]:float32, 1, 1\nf[3,4,5], i[3,5]<4, None, 0\nf[4], i[]<4\n"
    "f[3,4], i[2]<4 -> ValueError: Expected input batch_size (3) to match target batch_size (2).\n"
    "f[3,4], i{0,9,1} -> IndexError: Target 9 is out of bounds.",
    .any_device = true, .autocast = Autocast::Float32, .autocast_cuda = Autocast::Float32,
    .batched = batched_class_loss);
TS_OP(one_hot, "one_hot(Tensor self, int num_classes=-1) -> Tensor", "Ones at the class numbers, zeros elsewhere.",
      kFunctional | kNoGrad | kDataDependent, &one_hot,
      "i[3]<4, 5\n"
      "i[2,3]<4\n"
      "i[0], 3\n"
      "f[3] -> RuntimeError: one_hot is only applicable to index tensor of type LongTensor.\n"
      "i[0] -> RuntimeError: Can not infer total number of classes from empty tensor.\n"
      "i{0,-1} -> RuntimeError: Class values must be non-negative.\n"
      "i{0,3}, 3 -> RuntimeError: Class values must be smaller than num_classes.",
      .batching = Batching::Front);

}  // namespace
}  // namespace tessera::tensor
