#include "tests/cuda/agreement/compare.h"

#include <algorithm>
#include <cmath>

#include "runtime/device/backend.h"
#include "runtime/autograd/engine.h"
#include "runtime/context.h"
#include "runtime/device/memory.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/views.h"
#include "runtime/random.h"
#include "tests/cuda/agreement/expected.h"
#include "tests/cuda/agreement/factors.h"
#include "tests/cuda/agreement/near.h"

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
Tensor weights(const Call& call, const Tensor& like) {
  Tensor w = reshape(cos(arange(0, like.numel(), 1, kFloat64)), like.sizes());
  if (is_complex(like.dtype())) w = complex(w, w * 0.5);
  w = to_dtype(w, like.dtype());
  return to_device(call.nearby < 0 ? w : last_bits_changed(w, call.nearby), like.device());
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
  const TensorList results = tensors_in(call_op(*call.entry, args));
  // What kernels of the call itself have to say comes before what its derivative refuses, as on the CPU.
  for (const Tensor& t : results)
    if (t.defined() && !t.device().is_cpu()) synchronize(t.device());
  for (const Tensor& t : results)
    if (t.defined() && t.requires_grad() && is_differentiable(t.dtype())) {
      outputs.push_back(t);
      const GradMode none(false);
      grads.push_back(weights(call, t));
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

std::string shown(Ints list) { return text(list); }

// A view of an operand lies where that does.
bool lies_right(const Tensor& t, Device device, const TensorList& elsewhere) {
  const auto views = [&](const Tensor& base) { return t.storage().data() == base.storage().data(); };
  return t.device() == device || std::any_of(elsewhere.begin(), elsewhere.end(), views);
}

std::string tensors_differ(const Call& call, const Tensor& expected, const Tensor& got, bool values,
                           const std::function<TensorList()>& moved) {
  if (!expected.defined() || !got.defined())
    return expected.defined() == got.defined() ? "" : "a result is None only once";
  if (expected.dtype() != got.dtype())
    return std::string("dtype is ") + name(got.dtype()) + ", on the CPU " + name(expected.dtype());
  if (expected.sizes() != got.sizes())
    return "shape is " + shown(got.sizes()) + ", on the CPU " + shown(expected.sizes());
  if (expected.numel() > 0 && expected.strides() != got.strides())
    return "strides are " + shown(got.strides()) + ", on the CPU " + shown(expected.strides());
  return values ? elements_differ(expected, to_device(got, kCpu), moved, tolerance_of(call)) : "";
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

namespace {

// What the CPU gives for operands whose last bits are others.
std::vector<Outcome> outcomes_nearby(const Call& call) {
  std::vector<Outcome> outcomes;
  for (int trial = 0; trial < 4; trial++) {
    Call nearby = call;
    nearby.nearby = trial;
    nearby.args = replaced(call.args, [&](const Tensor& t) { return last_bits_changed(t, trial); });
    outcomes.push_back(run(nearby, kCpu));
  }
  return outcomes;
}
// The k-th tensor of result i of such calls.
TensorList results_nearby(const Call& call, size_t i, size_t k) {
  TensorList results;
  for (const Outcome& outcome : outcomes_nearby(call)) {
    if (!outcome.error.empty() || outcome.results.size() <= i) continue;
    const TensorList tensors = tensors_in({outcome.results[i]});
    if (tensors.size() > k) results.push_back(tensors[k]);
  }
  return results;
}

// ---- ties ----

int64_t number_of(const Call& call, const char* name, int64_t otherwise) {
  const int at = call.entry->schema().find(name);
  if (at < 0) return otherwise;
  const OpArg& arg = call.args[size_t(at)];
  if (const auto* flag = std::get_if<bool>(&arg)) return *flag;
  if (const auto* number = std::get_if<int64_t>(&arg)) return *number;
  return otherwise;
}
bool all_equal(const Tensor& a, const Tensor& b) {
  return !any(logical_and(ne(a, b), logical_not(logical_and(isnan(a), isnan(b))))).item().to_bool();
}

// Whether indices along a dimension name elements that are equal to the values which are the call's first result; of a
// derivative, whether each line has the same total.
bool names_equal_elements(const Call& call, const Outcome& expected, const Tensor& a, const Tensor& b) {
  if (!has_ties(call)) return false;
  const Tensor self = std::get<Tensor>(call.args[0]);
  const int64_t dim = number_of(call, "dim", -1);
  if (self.dim() == 0) return false;
  if (call.form == Form::Backward)
    return elements_differ(sum(a, Dims{dim}), sum(b, Dims{dim}), [] { return TensorList(); }).empty();
  if (a.dtype() != kInt64) return false;
  const bool kept = a.dim() == self.dim();
  const Tensor index = kept ? b : unsqueeze(b, dim), values = std::get<Tensor>(expected.results[0]);
  return all_equal(gather(self, dim, index), kept ? values : unsqueeze(values, dim));
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

// The call on the device while its refusals are in the words of PyTorch's CPU: kernels have other names on CUDA.
static Outcome in_words_of_cpu(const Call& call) {
  DeviceBackend table = *device_backend(DeviceType::Cuda);
  table.traits.words = Words::Cpu;
  register_device_backend(DeviceType::Cuda, &table);
  const Outcome got = run(call, Device(DeviceType::Cuda, 0));
  register_device_backend(DeviceType::Cuda, nullptr);  // the plugin's again
  return {{}, {}, got.error};
}

static bool refuses_a_dtype(const std::string& error) { return error.find("\" not implemented for '") != error.npos; }

std::string difference(const Call& call, const Outcome& expected, const Outcome& got) {
  if (!got.error.empty() || !expected.error.empty()) {
    if (!errors_differ(expected.error, got.error)) return {};
    if (refuses_a_dtype(expected.error) && refuses_a_dtype(got.error) &&
        !errors_differ(expected.error, in_words_of_cpu(call).error))
      return {};
    for (const Outcome& nearby : outcomes_nearby(call))  // a matrix that is singular but for a last bit
      if (!errors_differ(nearby.error, got.error)) return {};
    return (got.error.empty() ? "no error" : got.error) + "; on the CPU " +
           (expected.error.empty() ? "no error" : expected.error);
  }
  const Device device(DeviceType::Cuda, 0);
  const bool values = !call.entry->has(kUninitialised) && !call.entry->has(kRandom) && !has_unwritten(call);
  if (expected.results.size() != got.results.size()) return "another number of results";
  for (size_t i = 0; i < got.results.size(); i++) {
    if (expected.results[i].index() != got.results[i].index()) return "a result of another kind";
    const TensorList a = tensors_in({expected.results[i]}), b = tensors_in({got.results[i]});
    if (a.size() != b.size()) return "another number of results";
    for (size_t k = 0; k < a.size(); k++) {
      const auto moved = [&] { return results_nearby(call, i, k); };
      if (std::string differs = tensors_differ(call, a[k], b[k], values, moved); !differs.empty()) {
        if (!names_equal_elements(call, expected, a[k], to_device(b[k], kCpu)) &&
            !same_factors(call, tensors_in(expected.results), tensors_in(got.results)))
          return differs;
      }
      if (b[k].defined() && !lies_right(b[k], device, got.elsewhere))
        return "the result lies on " + b[k].device().str();
    }
    if (a.empty() && !same_number(got.results[i], expected.results[i])) return "another number as result";
  }
  return {};
}

}  // namespace tessera::agreement
