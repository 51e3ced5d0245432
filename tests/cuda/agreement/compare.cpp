#include "tests/cuda/agreement/compare.h"

#include <algorithm>
#include <cmath>

#include "runtime/autograd/engine.h"
#include "runtime/context.h"
#include "runtime/device/memory.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/views.h"
#include "runtime/random.h"

namespace tessera::agreement {
namespace {

// The operands where the call wants them; on the CPU copies, so that every device starts from the same.
std::vector<OpArg> placed(const Call& call, Device device) {
  size_t next = 0;
  return replaced(call.args, [&](const Tensor& t) {
    const size_t k = next++;
    if (!t.defined() || t.is_wrapped_number()) return t;
    const auto count = int64_t(t.storage().bytes() / item_size(t.dtype()));
    const Tensor plain = without_math_bits(t);
    const Tensor copy =
        clone(plain.view_of({count}, {1}, -plain.offset())).view_of(t.sizes(), t.strides(), plain.offset());
    if (t.has_math_bits()) copy.set_math_bits(t.math_bits());
    return device.is_cpu() || (k < call.stays.size() && call.stays[k]) ? copy : moved(copy, device);
  });
}

// Numbers for gradients, none like the next.
Tensor weights(const Tensor& like) {
  Tensor w = reshape(cos(arange(0, like.numel(), 1, kFloat64)), like.sizes());
  if (is_complex(like.dtype())) w = complex(w, w * 0.5);
  return to_device(to_dtype(w, like.dtype()), like.device());
}

std::vector<OpArg> derivatives(const Call& call, std::vector<OpArg> args) {
  TensorList leaves;
  const bool writes = std::string_view(call.entry->name).ends_with('_');
  args = replaced(args, [&](const Tensor& t) {
    if (!t.defined() || t.is_wrapped_number() || !is_differentiable(t.dtype())) return t;
    set_requires_grad(t, true);
    leaves.push_back(t);
    return writes ? clone(t) : t;
  });
  if (leaves.empty()) return {};
  TensorList outputs, grads;
  for (const Tensor& t : tensors_in(call_op(*call.entry, args)))
    if (t.defined() && t.requires_grad() && is_differentiable(t.dtype())) {
      outputs.push_back(t);
      const GradMode none(false);
      grads.push_back(weights(t));
    }
  if (outputs.empty()) return {};
  std::vector<OpArg> out;
  for (Tensor& g : grad(outputs, leaves, grads, false, false, true))
    if (g.defined()) out.emplace_back(detached(g));
  return out;
}

std::vector<OpArg> call_of(const Call& call, std::vector<OpArg> args) {
  switch (call.form) {
    case Form::Function: return call_op(*call.entry, args);
    case Form::Backward: return derivatives(call, std::move(args));
    case Form::Inplace: {
      TensorList out{std::get<Tensor>(args.at(0))};
      call_op(*call.entry, args, out);
      return {out[0]};
    }
    case Form::Out:
    case Form::OutElsewhere: {
      // Its dtypes and how many there are follow from the call without it.
      TensorList out;
      for (const Tensor& t : tensors_in(call_op(*call.entry, args)))
        out.push_back(Tensor::empty({0}, t.dtype(), call.form == Form::Out ? t.device() : kCpu));
      call_op(*call.entry, args, out);
      return {out.begin(), out.end()};
    }
  }
  return {};
}

Tensor plain_result(const Tensor& t) {
  if (!t.defined()) return t;
  return detached(resolved(t));
}

}  // namespace

Outcome run(const Call& call, Device device) {
  Outcome outcome;
  Context& context = Context::current();
  context.generator().manual_seed(7);
  try {
    std::vector<OpArg> args = placed(call, device);
    for (const Tensor& t : tensors_in(args))
      if (t.defined() && t.device() != device) outcome.elsewhere.push_back(t);
    context.default_device = device;
    outcome.results = replaced(call_of(call, std::move(args)), plain_result);
    if (!device.is_cpu()) synchronize(device);
  } catch (const TensorError& e) {
    outcome.error = std::string(python_name(e.kind())) + ": " + e.message().substr(0, e.message().find('\n'));
    try {
      if (!device.is_cpu()) synchronize(device);  // what the call had begun belongs to it
    } catch (const TensorError&) {}
  }
  context.default_device = kCpu;
  return outcome;
}

namespace {

double tolerance(DType type) {
  switch (type) {
    case kFloat16: return 4e-3;
    case kBFloat16: return 3e-2;
    case kFloat64:
    case kComplex128: return 1e-10;
    default: return 2e-5;
  }
}

std::string shown(Ints list) { return text(list); }

// Empty, or the first element that is another.
std::string elements_differ(const Tensor& expected, const Tensor& got) {
  if (expected.numel() == 0) return {};
  if (!is_differentiable(expected.dtype())) {
    const Tensor other = ne(expected, got);
    if (!any(other).item().to_bool()) return {};
    const int64_t at = argmax(to_dtype(reshape(other, {-1}), kInt64)).item().to<int64_t>();
    const auto number = [&](const Tensor& t) { return text(select(reshape(t, {-1}), 0, at).item().to<int64_t>()); };
    return "element " + std::to_string(at) + " is " + number(got) + ", on the CPU " + number(expected);
  }
  const auto numbers = [](const Tensor& t) {
    return contiguous(to_dtype(is_complex(t.dtype()) ? view_as_real(contiguous(t)) : t, kFloat64));
  };
  const Tensor p = numbers(expected), q = numbers(got);
  const double *u = p.data<double>(), *v = q.data<double>();
  double scale = 0;
  for (int64_t k = 0; k < p.numel(); k++)
    if (std::isfinite(u[k])) scale = std::max(scale, std::fabs(u[k]));
  const double allowed = tolerance(expected.dtype());
  for (int64_t k = 0; k < p.numel(); k++) {
    if (u[k] == v[k] || (std::isnan(u[k]) && std::isnan(v[k]))) continue;
    if (std::fabs(u[k] - v[k]) <= allowed * (std::fabs(u[k]) + scale)) continue;
    return text("element ", k, " of ", p.numel(), " is ", v[k], ", on the CPU ", u[k]);
  }
  return {};
}

// A view of an operand lies where that does.
bool lies_right(const Tensor& t, Device device, const TensorList& elsewhere) {
  const auto views = [&](const Tensor& base) { return t.storage().data() == base.storage().data(); };
  return t.device() == device || std::any_of(elsewhere.begin(), elsewhere.end(), views);
}

std::string tensors_differ(const Tensor& expected, const Tensor& got, bool values) {
  if (!expected.defined() || !got.defined())
    return expected.defined() == got.defined() ? "" : "a result is None only once";
  if (expected.dtype() != got.dtype())
    return std::string("dtype is ") + name(got.dtype()) + ", on the CPU " + name(expected.dtype());
  if (expected.sizes() != got.sizes())
    return "shape is " + shown(got.sizes()) + ", on the CPU " + shown(expected.sizes());
  if (expected.numel() > 0 && expected.strides() != got.strides())
    return "strides are " + shown(got.strides()) + ", on the CPU " + shown(expected.strides());
  return values ? elements_differ(expected, to_device(got, kCpu)) : "";
}

// Results that are no tensors.
bool same_number(const OpArg& a, const OpArg& b) {
  bool same = true;
  const auto compare = [&]<class T>(T) {
    if (const T* x = std::get_if<T>(&a)) same = *x == std::get<T>(b);
  };
  compare(bool()), compare(int64_t()), compare(double()), compare(std::complex<double>()), compare(std::string());
  compare(std::vector<int64_t>());
  return same;
}

}  // namespace

std::string inferred_otherwise(const Call& call, const Outcome& got) {
  const Device device(DeviceType::Cuda, 0);
  Context::current().default_device = device;
  std::vector<Meta> metas;
  std::string why;
  try {
    metas = infer(*call.entry, placed(call, device));
  } catch (const TensorError& e) {
    why = "without running it is refused: " + e.message();
  }
  Context::current().default_device = kCpu;
  if (!why.empty()) return why;
  const TensorList results = tensors_in(got.results);
  if (metas.size() != results.size()) return "without running there is another number of results";
  for (size_t i = 0; i < metas.size(); i++) {
    const Meta real = Meta::of(results[i]);
    // Which operand gives a view its device is not asked where they lie on two.
    const bool elsewhere = !call.mixed && metas[i].device != real.device;
    if (Ints(metas[i].sizes) != Ints(real.sizes) || metas[i].dtype != real.dtype || elsewhere)
      return text("without running result ", i, " is ", name(metas[i].dtype), " ", Ints(metas[i].sizes), " on ",
                  metas[i].device.str(), ", not ", name(real.dtype), " ", Ints(real.sizes), " on ", real.device.str());
  }
  return {};
}

std::string difference(const Call& call, const Outcome& expected, const Outcome& got) {
  if (!got.error.empty() || !expected.error.empty()) {
    if (got.error == expected.error) return {};
    return (got.error.empty() ? "no error" : got.error) + "; on the CPU " +
           (expected.error.empty() ? "no error" : expected.error);
  }
  const Device device(DeviceType::Cuda, 0);
  const bool values = !call.entry->has(kUninitialised) && !call.entry->has(kRandom);
  if (expected.results.size() != got.results.size()) return "another number of results";
  for (size_t i = 0; i < got.results.size(); i++) {
    if (expected.results[i].index() != got.results[i].index()) return "a result of another kind";
    const TensorList a = tensors_in({expected.results[i]}), b = tensors_in({got.results[i]});
    if (a.size() != b.size()) return "another number of results";
    for (size_t k = 0; k < a.size(); k++)
      if (std::string differs = tensors_differ(a[k], b[k], values); !differs.empty()) return differs;
      else if (b[k].defined() && !lies_right(b[k], device, got.elsewhere))
        return "the result lies on " + b[k].device().str();
    if (a.empty() && !same_number(got.results[i], expected.results[i])) return "another number as result";
  }
  return {};
}

}  // namespace tessera::agreement
