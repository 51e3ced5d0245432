// Every op with a derivative against finite differences, first and second order. Entries that take only tensors are called by
// themselves; the others stand in the table below.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "runtime/autograd/engine.h"
#include "runtime/autograd/gradcheck.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/conv.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/loss.h"
#include "runtime/ops/norm_layers.h"
#include "runtime/ops/op.h"
#include "runtime/ops/softmax.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"

using namespace tessera::tensor;

namespace {

// Different numbers of (low, high) without a simple pattern; no two are equal, none near a kink.
Tensor input(Ints sizes, double low, double high, int seed) {
  const Tensor t = Tensor::empty(sizes, kFloat64);
  for (int64_t i = 0; i < t.numel(); i++) {
    const double u = std::fmod(0.754877666 * double(i + 1) + 0.569840291 * double(seed + 1), 1.0);
    t.data<double>()[i] = low + (high - low) * u;
  }
  set_requires_grad(t, true);
  return t;
}

const std::map<std::string, std::pair<double, double>> kDomains = {
    {"acosh", {1.2, 3}}, {"arccosh", {1.2, 3}}, {"mvlgamma", {3, 5}}, {"special_zeta", {2, 4}}};

// No derivative where finite differences could see one, or not a function of its arguments alone.
const std::set<std::string> kSkipped = {"dot", "vdot", "inner", "mv", "mm", "bmm", "matmul", "linear", "addmm",
                                        "baddbmm", "outer", "ger", "where", "where_", "copysign", "T", "mT", "H", "mH",
                                        "clone", "contiguous", "bucketize", "copy", "dropout", "histc", "numpy_T", "nextafter",
                                        // Rows like these lie on a line, where the result is clamped: samples_test.cpp.
                                        "corrcoef",
                                        // Of Hermitian matrices and triangular factors: samples_test.cpp.
                                        "cholesky_inverse", "cholesky_solve", "linalg_cholesky", "linalg_cholesky_ex",
                                        "linalg_eigh", "linalg_eigvalsh", "linalg_matrix_sqrth"};

// Ops that PyTorch derives by their second operand alone: by the first they raise.
const std::set<std::string> kConstantFirst = {"igamma", "igammac", "special_gammainc", "special_gammaincc",
                                              "special_zeta"};

bool only_tensors(const OpSchema& schema) {
  for (const SchemaArg& arg : schema.args)
    if (!arg.has_default && (arg.kind != ArgKind::Tensor || arg.optional)) return false;
  return schema.args.size() > 0 && !schema.args[0].has_default;
}

// Whether the op takes such arguments and has a derivative for them; ops that refuse stand in the table.
bool is_recorded(const DifferentiableFunction& f, const TensorList& inputs) {
  try {
    for (const Tensor& t : f(inputs))
      if (t.requires_grad() && t.dtype() == kFloat64) return true;
  } catch (const TensorError&) {}
  return false;
}

void check_both(const std::string& name, const DifferentiableFunction& f, const TensorList& inputs) {
  std::string first, second;
  try {
    first = gradcheck(f, inputs);
    second = gradgradcheck(f, inputs);
  } catch (const TensorError& e) {
    first = e.message();
  }
  CHECK_MESSAGE(first == "", name, ": ", first);
  CHECK_MESSAGE(second == "", name, " (second derivative): ", second);
}

}  // namespace

TEST_CASE("derivatives of all ops on tensors") {
  int checked = 0;
  for (const OpEntry* entry : all_ops()) {
    if (entry->has(kNoGrad) || entry->has(kRandom) || kSkipped.contains(entry->name)) continue;
    const OpSchema& schema = entry->schema();
    if (!only_tensors(schema)) continue;
    const auto domain = kDomains.contains(entry->name) ? kDomains.at(entry->name) : std::pair(0.15, 0.85);
    TensorList inputs;
    for (const SchemaArg& arg : schema.args)
      if (!arg.has_default) inputs.push_back(input({3, 3}, domain.first, domain.second, int(inputs.size())));
    if (kConstantFirst.contains(entry->name)) set_requires_grad(inputs[0], false);
    const auto f = [&](const TensorList& given) {
      TensorList out;
      for (OpArg& r : call_op(*entry, std::vector<OpArg>(given.begin(), given.end()))) {
        if (auto* t = std::get_if<Tensor>(&r)) out.push_back(*t);
        if (auto* list = std::get_if<TensorList>(&r)) out.insert(out.end(), list->begin(), list->end());
      }
      return out;
    };
    if (!is_recorded(f, inputs)) continue;
    checked++;
    check_both(entry->schema_text, f, inputs);
  }
  CHECK(checked > 60);
}

namespace {

struct Case {
  const char* name;
  std::vector<std::vector<int64_t>> shapes;
  std::function<TensorList(const TensorList&)> f;
};

Tensor ints(std::vector<int64_t> values, Ints sizes) { return Tensor::from_values(values, sizes); }
TensorList both(const ValuesAndIndices& r) { return {std::get<0>(r)}; }
using L = const TensorList&;

const Case kCases[] = {
    {"mm", {{2, 3}, {3, 4}}, [](L x) { return TensorList{mm(x[0], x[1])}; }},
    {"bmm", {{2, 2, 3}, {2, 3, 2}}, [](L x) { return TensorList{bmm(x[0], x[1])}; }},
    {"mv", {{2, 3}, {3}}, [](L x) { return TensorList{mv(x[0], x[1])}; }},
    {"dot", {{3}, {3}}, [](L x) { return TensorList{dot(x[0], x[1])}; }},
    {"outer", {{3}, {2}}, [](L x) { return TensorList{outer(x[0], x[1])}; }},
    {"matmul batched", {{2, 1, 2, 3}, {3, 3, 2}}, [](L x) { return TensorList{matmul(x[0], x[1])}; }},
    {"matmul vector", {{3}, {2, 3, 2}}, [](L x) { return TensorList{matmul(x[0], x[1])}; }},
    {"addmm", {{3}, {2, 3}, {3, 3}}, [](L x) { return TensorList{addmm(x[0], x[1], x[2], 0.5, 2.0)}; }},
    {"linear", {{2, 2, 3}, {4, 3}, {4}}, [](L x) { return TensorList{linear(x[0], x[1], x[2])}; }},
    {"broadcast", {{2, 1, 3}, {4, 1}}, [](L x) { return TensorList{x[0] * x[1] + x[1]}; }},
    {"pow number",
     {{3}},
     [](L x) {
       return TensorList{pow(x[0], 2.5), pow(2.0, x[0])};
     }},
    {"where", {{2, 3}, {3}}, [](L x) { return TensorList{where(x[0] > 0.5, Operand(x[0]), Operand(x[1]))}; }},
    {"sum dim",
     {{2, 3}},
     [](L x) {
       return TensorList{sum(x[0], Dims{1}), sum(x[0], Dims{0}, true)};
     }},
    {"mean dim", {{2, 3}}, [](L x) { return TensorList{mean(x[0], Dims{0})}; }},
    {"var",
     {{2, 3}},
     [](L x) {
       return TensorList{var(x[0]), var(x[0], Dims{1}, 0)};
     }},
    {"std", {{2, 3}}, [](L x) { return TensorList{stddev(x[0], Dims{1})}; }},
    {"norm",
     {{2, 3}},
     [](L x) {
       return TensorList{norm(x[0]), norm(x[0], 1, Dims{1}), norm(x[0], 3)};
     }},
    {"prod",
     {{2, 3}},
     [](L x) {
       return TensorList{prod(x[0]), prod(x[0], Dims{1})};
     }},
    {"max dim", {{2, 3}}, [](L x) { return both(max(x[0], 1)); }},
    {"min dim", {{2, 3}}, [](L x) { return both(min(x[0], 0, true)); }},
    {"amax", {{2, 3}}, [](L x) { return TensorList{amax(x[0], Dims{1})}; }},
    {"logsumexp", {{2, 3}}, [](L x) { return TensorList{logsumexp(x[0], Dims{1})}; }},
    {"cumsum", {{2, 3}}, [](L x) { return TensorList{cumsum(x[0], 1)}; }},
    {"cumprod", {{2, 3}}, [](L x) { return TensorList{cumprod(x[0], 1)}; }},
    {"clamp", {{2, 3}}, [](L x) { return TensorList{clamp(x[0], 0.3, 0.7)}; }},
    {"view",
     {{2, 3}},
     [](L x) {
       return TensorList{view(x[0], {3, 2}), reshape(transpose(x[0], 0, 1), {6})};
     }},
    {"expand",
     {{2, 1}},
     [](L x) {
       return TensorList{expand(x[0], {3, 2, 4})};
     }},
    {"permute",
     {{2, 3, 2}},
     [](L x) {
       return TensorList{permute(x[0], {2, 0, 1}), movedim(x[0], {0}, {2})};
     }},
    {"squeeze",
     {{2, 1, 3}},
     [](L x) {
       return TensorList{squeeze(x[0]), squeeze(x[0], 1), unsqueeze(x[0], 0)};
     }},
    {"select", {{2, 3}}, [](L x) { return TensorList{select(x[0], 1, -1)}; }},
    {"slice",
     {{5, 2}},
     [](L x) {
       return TensorList{slice(x[0], 0, 1, 5, 2), narrow(x[0], 1, 0, 1)};
     }},
    {"diagonal", {{3, 4}}, [](L x) { return TensorList{diagonal(x[0], 1)}; }},
    {"unfold", {{6}}, [](L x) { return TensorList{unfold(x[0], 0, 3, 1)}; }},
    {"as_strided",
     {{6}},
     [](L x) {
       return TensorList{as_strided(x[0], {2, 3}, {1, 2}, 0), as_strided(x[0], {2, 3}, {1, 1}, 1)};
     }},
    {"split", {{5, 2}}, [](L x) { return split(x[0], 2); }},
    {"unbind", {{3, 2}}, [](L x) { return unbind(x[0], 0); }},
    {"unbind one", {{3, 2}}, [](L x) { return TensorList{unbind(x[0], 0)[1]}; }},
    {"cat",
     {{2, 2}, {2, 3}},
     [](L x) {
       return TensorList{cat({x[0], x[1], x[0]}, 1)};
     }},
    {"stack",
     {{2}, {2}},
     [](L x) {
       return TensorList{stack({x[0], x[1]}, 1)};
     }},
    {"repeat",
     {{2, 3}},
     [](L x) {
       return TensorList{repeat(x[0], {2, 1, 2})};
     }},
    {"repeat_interleave", {{2, 3}}, [](L x) { return TensorList{repeat_interleave(x[0], 2, 1)}; }},
    {"flip",
     {{2, 3}},
     [](L x) {
       return TensorList{flip(x[0], {0, 1}), roll(x[0], {1}, {1}), rot90(x[0], 1, {0, 1})};
     }},
    {"tril",
     {{3, 3}},
     [](L x) {
       return TensorList{tril(x[0]), triu(x[0], 1)};
     }},
    {"index",
     {{4, 3}},
     [](L x) {
       return TensorList{index(x[0], {ints({0, 2, 2}, {3})}), index(x[0], {ints({1, 3}, {2}), ints({0, 0}, {2})})};
     }},
    {"index mask", {{2, 3}}, [](L x) { return TensorList{index(x[0], {detached(x[0]) > 0.4})}; }},
    {"index_put",
     {{4, 2}, {2, 2}},
     [](L x) {
       return TensorList{index_put(x[0], {ints({0, 2}, {2})}, x[1]), index_put(x[0], {ints({1, 1}, {2})}, x[1], true)};
     }},
    {"index_select",
     {{4, 2}},
     [](L x) {
       return TensorList{index_select(x[0], 0, ints({3, 0, 3}, {3}))};
     }},
    {"index_add",
     {{4, 2}, {2, 2}},
     [](L x) {
       return TensorList{index_add(x[0], 0, ints({1, 1}, {2}), x[1], 2.0)};
     }},
    {"index_copy",
     {{4, 2}, {2, 2}},
     [](L x) {
       return TensorList{index_copy(x[0], 0, ints({1, 3}, {2}), x[1])};
     }},
    {"gather",
     {{3, 3}},
     [](L x) {
       return TensorList{gather(x[0], 1, ints({0, 0, 2, 1}, {2, 2}))};
     }},
    {"scatter",
     {{3, 3}, {2, 2}},
     [](L x) {
       return TensorList{scatter(x[0], 1, ints({0, 1, 2, 1}, {2, 2}), x[1]),
                         scatter_add(x[0], 0, ints({0, 0, 2, 0}, {2, 2}), x[1])};
     }},
    {"take",
     {{3, 3}},
     [](L x) {
       return TensorList{take(x[0], ints({8, 0, 0}, {3}))};
     }},
    {"masked_fill",
     {{2, 3}},
     [](L x) {
       return TensorList{masked_fill(x[0], detached(x[0]) > 0.5, Scalar(2.0)),
                         masked_select(x[0], detached(x[0]) > 0.5)};
     }},
    {"sort",
     {{2, 4}},
     [](L x) {
       return TensorList{std::get<0>(sort(x[0], 1, true)), std::get<0>(topk(x[0], 2, 0)),
                         std::get<0>(kthvalue(x[0], 2))};
     }},
    {"median",
     {{2, 3}},
     [](L x) {
       return TensorList{median(x[0]), std::get<0>(median(x[0], 1))};
     }},
    {"softmax",
     {{2, 3}},
     [](L x) {
       return TensorList{softmax(x[0], 1), softmax(x[0], 0)};
     }},
    {"log_softmax", {{2, 3, 2}}, [](L x) { return TensorList{log_softmax(x[0], 1)}; }},
    {"mse_loss",
     {{2, 3}, {2, 3}},
     [](L x) {
       return TensorList{mse_loss(x[0], x[1]), mse_loss(x[0], x[1], 0)};
     }},
    {"binary_cross_entropy", {{2, 3}, {2, 3}}, [](L x) { return TensorList{binary_cross_entropy(x[0], x[1])}; }},
    {"nll_loss",
     {{3, 4}},
     [](L x) {
       return TensorList{nll_loss(x[0], ints({1, 0, 3}, {3})), nll_loss(x[0], ints({1, -100, 3}, {3}), {}, 1),
                         nll_loss(x[0], ints({1, 0, 3}, {3}), {}, 0)};
     }},
    {"nll_loss 2d",
     {{2, 3, 2}},
     [](L x) {
       return TensorList{nll_loss(x[0], ints({1, 0, 2, 2}, {2, 2}), ones({3}, kFloat64) * 0.5)};
     }},
    {"layer_norm", {{2, 4}, {4}, {4}}, [](L x) { return TensorList{layer_norm(x[0], {4}, x[1], x[2])}; }},
    {"batch_norm",
     {{3, 2, 2}, {2}, {2}},
     [](L x) { return TensorList{batch_norm(x[0], x[1], x[2], {}, {}, true, 0.1, 1e-5)}; }},
    {"embedding",
     {{4, 3}},
     [](L x) {
       return TensorList{embedding(x[0], ints({1, 3, 1, 0}, {2, 2}))};
     }},
    {"pad",
     {{2, 3}},
     [](L x) {
       return TensorList{pad(x[0], {1, 2, 0, 1}), pad(x[0], {2, 1}, "reflect"), pad(x[0], {-1, 1}, "constant", 3.0)};
     }},
    {"conv2d",
     {{2, 2, 4, 4}, {3, 2, 3, 3}, {3}},
     [](L x) {
       return TensorList{conv2d(x[0], x[1], x[2], {1, 1}, {1, 1}, {1, 1}, 1)};
     }},
    {"conv2d strided",
     {{1, 2, 5, 4}, {2, 1, 2, 2}, {2}},
     [](L x) {
       return TensorList{conv2d(x[0], x[1], x[2], {2, 1}, {1, 0}, {1, 2}, 2)};
     }},
    {"conv_transpose2d",
     {{1, 2, 3, 3}, {2, 2, 2, 2}, {2}},
     [](L x) {
       return TensorList{conv_transpose2d(x[0], x[1], x[2], {2, 2}, {0, 0}, {1, 1}, 1, {1, 1})};
     }},
    {"max_pool2d",
     {{1, 2, 4, 4}},
     [](L x) {
       return both(max_pool2d_with_indices(x[0], {2, 2}, {}, {0, 0}, {1, 1}, false));
     }},
    {"avg_pool2d",
     {{1, 2, 5, 4}},
     [](L x) {
       return TensorList{avg_pool2d(x[0], {2, 2}, {2, 2}, {1, 0}, true, false), adaptive_avg_pool2d(x[0], {2, 3})};
     }},
};

}  // namespace

TEST_CASE("derivatives of structured ops") {
  for (const Case& c : kCases) {
    TensorList inputs;
    for (const auto& shape : c.shapes) inputs.push_back(input(shape, 0.15, 0.85, int(inputs.size())));
    check_both(c.name, c.f, inputs);
  }
}
