// The tests of every op, made from the samples of its entry: calls work or are refused as the sample says, metadata without
// running agrees with the real result, threads change no bit, layouts only rounding, the forms (in place, out=) nothing, derivatives of
// first and second order agree with finite differences. No op is named here.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "runtime/autograd/engine.h"
#include "runtime/autograd/gradcheck.h"
#include "runtime/context.h"
#include "runtime/ops.h"
#include "runtime/ops/batching.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/join.h"
#include "runtime/ops/samples.h"
#include "runtime/ops/views.h"
#include "runtime/random.h"

using namespace tessera::tensor;

namespace {

TensorList tensors_in(const std::vector<OpArg>& args) {
  TensorList out;
  for (const OpArg& arg : args) {
    if (auto* t = std::get_if<Tensor>(&arg)) out.push_back(*t);
    if (auto* list = std::get_if<TensorList>(&arg)) out.insert(out.end(), list->begin(), list->end());
    if (auto* list = std::get_if<std::vector<OptionalTensor>>(&arg))
      for (const OptionalTensor& t : *list)
        if (t) out.push_back(*t);
  }
  return out;
}

// f(tensor) takes the place of every tensor of a call.
template <class F>
std::vector<OpArg> replaced(std::vector<OpArg> args, F&& f) {
  for (OpArg& arg : args) {
    if (auto* t = std::get_if<Tensor>(&arg)) *t = f(*t);
    if (auto* list = std::get_if<TensorList>(&arg))
      for (Tensor& t : *list) t = f(t);
    if (auto* list = std::get_if<std::vector<OptionalTensor>>(&arg))
      for (OptionalTensor& t : *list)
        if (t) t = f(*t);
  }
  return args;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const Tensor x = contiguous(a), y = contiguous(b);
  return x.numel() == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}
bool same_bits(const std::vector<OpArg>& a, const std::vector<OpArg>& b) {
  const TensorList x = tensors_in(a), y = tensors_in(b);
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); i++)
    if (!same_bits(x[i], y[i])) return false;
  return true;
}

/// The same but for rounding: sums follow the layout of what they add up, as PyTorch's do.
bool close(const std::vector<OpArg>& a, const std::vector<OpArg>& b) {
  const TensorList x = tensors_in(a), y = tensors_in(b);
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); i++) {
    if (same_bits(x[i], y[i])) continue;
    if (x[i].dtype() != y[i].dtype() || x[i].sizes() != y[i].sizes() || !is_floating(x[i].dtype())) return false;
    const Tensor p = contiguous(to_dtype(x[i], kFloat64)), q = contiguous(to_dtype(y[i], kFloat64));
    for (int64_t k = 0; k < p.numel(); k++) {
      const double u = p.data<double>()[k], v = q.data<double>()[k];
      if (!(std::fabs(u - v) <= 4e-6 * (1 + std::fabs(v)))) return false;
    }
  }
  return true;
}

/// Calls f(entry, sample) for each sample that has to work.
template <class F>
void each_sample(F&& f) {
  for (const OpEntry* entry : all_ops())
    for (const Sample& sample : samples_of(*entry)) {
      if (!sample.error_kind.empty()) continue;
      INFO(std::string(entry->schema_text), ": ", sample.call);
      try {
        f(*entry, sample);
      } catch (const TensorError& e) {
        FAIL_CHECK(std::string(python_name(e.kind())), ": ", e.message());
      }
    }
}

std::vector<OpArg> run(const OpEntry& entry, const std::vector<OpArg>& args) {
  Context::current().generator().manual_seed(7);
  std::vector<OpArg> results = call_op(entry, args);
  for (OpArg& result : results)  // the tests read elements, and those of conj stand for others
    if (auto* t = std::get_if<Tensor>(&result)) *t = resolved(*t);
  return results;
}

// The same elements, stored with a gap after each.
Tensor spread(const Tensor& t) {
  if (!t.defined() || t.dim() == 0 || t.is_wrapped_number()) return t;
  Dims strides = contiguous_strides(t.sizes());
  for (auto& s : strides) s *= 2;
  const Tensor room = Tensor::empty({2 * t.numel() + 1}, t.dtype()).view_of(t.sizes(), strides);
  copy_into(room, t);
  return room;
}

// Ops on Hermitian and triangular matrices read one triangle, or may read either: a derivative is that along matrices of the
// form, so a leaf is brought into the form of its sample first.
Tensor in_form_of(const Tensor& sample, const Tensor& leaf) {
  if (sample.dim() < 2 || sample.size(-1) != sample.size(-2) || sample.size(-1) < 2 || sample.dtype() != leaf.dtype())
    return leaf;
  const auto is = [&](const Tensor& form) { return all(sample == form).item().to_bool(); };
  const auto adjoint = [](const Tensor& t) { return conj(transpose(t, -2, -1)); };
  if (is(zeros_like(sample))) return leaf;
  if (is(adjoint(sample))) return (leaf + adjoint(leaf)) * 0.5;
  if (is(tril(sample))) return tril(leaf);
  return is(triu(sample)) ? triu(leaf) : leaf;
}

}  // namespace

TEST_CASE("samples: every entry has some") {
  std::string without;
  int count = 0;
  for (const OpEntry* entry : all_ops())
    if (samples_of(*entry).empty()) without += std::string("\n") + entry->schema_text, count++;
  INFO(without);
  CHECK(count == 0);
}

TEST_CASE("samples: calls work, or are refused as they say") {
  for (const OpEntry* entry : all_ops())
    for (const Sample& sample : samples_of(*entry)) {
      INFO(std::string(entry->schema_text), ": ", sample.call);
      std::string kind, message;
      try {
        run(*entry, sample_args(*entry, sample));
      } catch (const TensorError& e) {
        kind = python_name(e.kind()), message = e.message();
      }
      CHECK(kind == sample.error_kind);
      CHECK(message.substr(0, sample.error_message.size()) == sample.error_message);
    }
}

TEST_CASE("samples: metadata without running is the result's") {
  each_sample([](const OpEntry& entry, const Sample& sample) {
    if (entry.has(kDataDependent)) return;
    const std::vector<OpArg> args = sample_args(entry, sample);
    const std::vector<Meta> metas = infer(entry, args);
    const TensorList results = tensors_in(run(entry, args));
    REQUIRE(metas.size() == results.size());
    for (size_t i = 0; i < metas.size(); i++) {
      const Meta real = Meta::of(results[i]);
      CHECK(Ints(metas[i].sizes) == Ints(real.sizes));
      CHECK(metas[i].dtype == real.dtype);
      CHECK(metas[i].device == real.device);
    }
  });
}

TEST_CASE("samples: threads change no bit, layouts nothing but rounding") {
  Context& context = Context::current();
  const int threads = context.threads;
  each_sample([&](const OpEntry& entry, const Sample& sample) {
    if (entry.has(kUninitialised)) return;
    const std::vector<OpArg> args = sample_args(entry, sample);
    const auto copies = [](const Tensor& t) { return t.defined() && !t.is_wrapped_number() ? clone(t) : t; };
    context.threads = 1;
    const std::vector<OpArg> one = run(entry, replaced(args, copies));
    context.threads = 3;
    CHECK(same_bits(one, run(entry, replaced(args, copies))));
    if (!entry.has(kLayoutMatters)) CHECK(close(one, run(entry, replaced(args, spread))));
  });
  context.threads = threads;
}

TEST_CASE("samples: in place and out= give what the function gives") {
  each_sample([&](const OpEntry& entry, const Sample& sample) {
    if (entry.has(kUninitialised)) return;
    const auto copies = [](const Tensor& t) { return t.defined() && !t.is_wrapped_number() ? clone(t) : t; };
    const std::vector<OpArg> args = sample_args(entry, sample);
    const std::vector<OpArg> plain = run(entry, replaced(args, copies));
    const TensorList results = tensors_in(plain);
    if (entry.has(kOut) && results.size() == plain.size()) {
      TensorList out;
      for (const Tensor& t : results) out.push_back(Tensor::empty({0}, t.dtype()));
      Context::current().generator().manual_seed(7);
      std::vector<OpArg> call = replaced(args, copies);
      call_op(entry, call, out);
      for (size_t i = 0; i < out.size(); i++) CHECK(same_bits(out[i], results[i]));
    }
    const Tensor* self = args.empty() ? nullptr : std::get_if<Tensor>(&args[0]);
    if (entry.has(kInplace) && self && results.size() == 1 && results[0].dtype() == self->dtype() &&
        results[0].sizes() == self->sizes()) {
      std::vector<OpArg> call = replaced(args, copies);
      TensorList out{std::get<Tensor>(call[0])};
      Context::current().generator().manual_seed(7);
      call_op(entry, call, out);
      CHECK(same_bits(out[0], results[0]));
    }
  });
}

TEST_CASE("samples: derivatives agree with finite differences, twice") {
  int checked = 0;
  each_sample([&](const OpEntry& entry, const Sample& sample) {
    if (entry.has(kNoGrad) || entry.has(kRandom) || entry.has(kUninitialised)) return;
    const std::vector<OpArg> args = sample_args(entry, sample, kFloat64);
    TensorList leaves;
    // A complex operand is a leaf by its parts, so that differences are taken of real numbers.
    const auto is_leaf = [](const Tensor& t) {
      return t.defined() && (t.dtype() == kFloat64 || t.dtype() == kComplex128) && !t.is_wrapped_number();
    };
    const auto parts = [](const Tensor& t) { return t.dtype() == kComplex128 ? view_as_real(t) : t; };
    for (const Tensor& t : tensors_in(args))
      if (is_leaf(t)) leaves.push_back(clone(contiguous(parts(t)))), set_requires_grad(leaves.back(), true);
    const auto call = [&](const TensorList& given) {
      size_t next = 0;
      const bool writes = std::string_view(entry.name).ends_with('_');  // a leaf itself may not be written
      return tensors_in(run(entry, replaced(args, [&](const Tensor& t) {
                              if (!is_leaf(t)) return t;
                              const Tensor& leaf = given[next++];
                              const Tensor whole =
                                  in_form_of(t, t.dtype() == kComplex128 ? view_as_complex(leaf) : leaf);
                              return writes ? clone(whole) : whole;
                            })));
    };
    if (leaves.empty()) return;
    std::vector<size_t> differentiable;
    const TensorList results = call(leaves);
    for (size_t i = 0; i < results.size(); i++)
      if (is_leaf(results[i]) && results[i].requires_grad()) differentiable.push_back(i);
    if (differentiable.empty()) return;
    const DifferentiableFunction f = [&](const TensorList& given) {
      const TensorList all = call(given);
      TensorList out;
      for (const size_t i : differentiable) out.push_back(parts(all[i]));
      return out;
    };
    checked++;
    CHECK(gradcheck(f, leaves) == "");
    CHECK(gradgradcheck(f, leaves) == "");
  });
  CHECK(checked > 100);
}

// ---- batches ----

namespace {

constexpr int64_t kBatch = 3;

// A call of which some tensor arguments are batched, and its examples.
struct BatchedSample {
  std::vector<std::vector<OpArg>> examples;
  std::vector<OpArg> args;  // batched tensors are without data
  std::vector<BatchOperand> operands;
};

// `only` < 0: every tensor argument is batched.
BatchedSample batched_sample(const OpEntry& entry, const Sample& sample, int only) {
  BatchedSample batched;
  std::vector<TensorList> columns;
  for (int64_t i = 0; i < kBatch; i++) {
    int at = 0;
    std::vector<OpArg> shared = sample_args(entry, sample);
    const TensorList same = tensors_in(shared), own = tensors_in(sample_args(entry, sample, kFloat32, uint64_t(i)));
    columns.emplace_back();
    batched.examples.push_back(replaced(shared, [&](const Tensor& t) {
      if (!t.defined()) return t;
      const int k = at++;
      columns.back().push_back(only < 0 || only == k ? own[size_t(k)] : same[size_t(k)]);
      return columns.back().back();
    }));
  }
  int at = 0;
  batched.args = replaced(batched.examples[0], [&](const Tensor& t) {
    if (!t.defined()) return t;
    const int k = at++;
    if (only >= 0 && only != k) return t;
    TensorList column;
    for (const TensorList& each : columns) column.push_back(each[size_t(k)]);
    batched.operands.push_back({meta_like(t), stack(column, 0)});
    return batched.operands.back().example;
  });
  return batched;
}

// Not for what draws numbers, hands out memory as it was, or reads strides, which those of a stack are not.
bool is_for_batches(const OpEntry& entry) {
  const std::string_view name = entry.name;
  return !entry.has(kLayoutMatters) && !entry.has(kRandom) && !entry.has(kUninitialised) && !entry.has(kDataDependent) && !entry.has(kInternal) &&
         !name.ends_with('_') && entry.facts->batching != Batching::InScript;
}

}  // namespace

TEST_CASE("samples: a batch gives what its examples give") {
  each_sample([](const OpEntry& entry, const Sample& sample) {
    if (!is_for_batches(entry)) return;
    const int count = int(tensors_in(sample_args(entry, sample)).size());
    for (int only = count > 1 ? -1 : 0; only < count; only++) {
      BatchedSample batched = batched_sample(entry, sample, only);
      INFO("batched: ", only);
      std::vector<TensorList> each;
      for (const std::vector<OpArg>& example : batched.examples) each.push_back(tensors_in(run(entry, example)));
      bool is_stack = !each[0].empty();
      for (const TensorList& one : each)
        for (size_t k = 0; is_stack && k < one.size(); k++)
          is_stack = one.size() == each[0].size() && one[k].sizes() == each[0][k].sizes() && one[k].defined();
      if (!is_stack) continue;
      std::vector<OpArg> expected;
      for (size_t k = 0; k < each[0].size(); k++) {
        TensorList column;
        for (const TensorList& one : each) column.push_back(one[k]);
        expected.push_back(stack(column, 0));
      }
      std::vector<OpArg> got;
      try {
        got = BatchCall(entry, kBatch, BatchDraws::Refused, batched.args, batched.operands).run();
      } catch (const TensorError& e) {
        if (e.message().find("Batching rule not implemented") == std::string::npos) throw;
        continue;  // refused, not wrong
      }
      for (OpArg& result : got)
        if (auto* t = std::get_if<Tensor>(&result)) *t = resolved(*t);
      CHECK(close(got, expected));
    }
  });
}
