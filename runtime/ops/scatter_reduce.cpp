// Writes that combine: elements of a source that meet in one place become their sum, product, mean, largest or smallest,
// with or without what stood there.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>
#include <limits>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/index_along.h"
#include "runtime/ops/indexing.h"

namespace tessera::tensor {
namespace {

using Mode = IndexCall::Mode;
using Complaint = IndexCall::Complaint;

enum class Rule { Sum, Product, Mean, Most, Least };

constexpr const char* kNames[] = {"sum", "prod", "mean", "amax", "amin"};

std::optional<Rule> rule_named(const std::string& name) {
  if (name == "max") return Rule::Most;  // older names, still taken
  if (name == "min") return Rule::Least;
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return Rule(found - std::begin(kNames));
}

Mode mode_of(Rule rule) {
  return rule == Rule::Product ? Mode::Multiply
         : rule == Rule::Most  ? Mode::Maximum
         : rule == Rule::Least ? Mode::Minimum
                               : Mode::Accumulate;
}

// What changes nothing when it is combined with.
Scalar identity_of(Rule rule, DType dtype) {
  if (rule == Rule::Product) return 1;
  if (rule == Rule::Sum || rule == Rule::Mean) return 0;
  if (is_floating(dtype)) return rule == Rule::Most ? -HUGE_VAL : HUGE_VAL;
  return with_type<kRealTypes - kFloatTypes>(dtype, [&](auto tag) {
    using Limits = std::numeric_limits<typename decltype(tag)::type>;
    return Scalar(int64_t(rule == Rule::Most ? Limits::lowest() : Limits::max()));
  });
}

// Where the elements of a source go: an index for each, along a dimension.
struct Places {
  int64_t dim;
  Tensor index;
  Complaint complaint = Complaint::Scatter;

  void move(Mode mode, const Tensor& self, const Tensor& values) const {
    if (index.numel() == 0) return;
    const auto vector = [](const Tensor& t) { return t.dim() ? t : t.view_of({1}, {1}); };
    const Tensor at = vector(index);
    move_along({mode, dim, complaint}, vector(self), at, at.strides(), vector(values), at.sizes());
  }
  void move_number(Mode mode, const Tensor& self, Scalar value) const {
    const Tensor number = Tensor::scalar(value, self.dtype(), self.device());
    move(mode, self, number.view_of(index.sizes(), Dims(index.sizes().size(), 0)));
  }
};

// What the kernel combines in: sums in every dtype, the others in few.
DType type_of_kernel(Rule rule, DType t) {
  if (mode_of(rule) == Mode::Accumulate || is_complex(t) || t == kFloat64) return t;
  return is_floating(t) ? kFloat32 : kInt64;
}

void run_reduce(const Tensor& out, const Tensor& self, const Places& places, const Tensor& src, Rule rule,
                bool include_self) {
  if (const DType type = type_of_kernel(rule, out.dtype()); type != out.dtype()) {
    const Tensor wide = to(self, type, {}, true);
    run_reduce(wide, wide, places, to_dtype(src, type), rule, include_self);
    return copy_into(out, wide);
  }
  const Tensor values = apart_from(out, src);
  start_from(out, self);
  if (!include_self) places.move_number(Mode::Write, out, identity_of(rule, out.dtype()));
  places.move(mode_of(rule), out, values);
  if (rule != Rule::Mean) return;
  const Tensor counts = include_self ? ones_like(out) : zeros_like(out);
  places.move_number(Mode::Accumulate, counts, 1);
  const Tensor n = where(counts == 0, 1, counts);
  copy_into(out, is_differentiable(out.dtype()) ? out / n : floor_divide(out, n));
}

// ---- derivatives ----

Tensor reduced(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, Rule rule, bool include_self);

// Both gradients of one reduction. `index` has the shape of the source's part that takes part.
struct Gradients {
  Tensor g, index, self, src, result;
  int64_t dim;
  bool include_self;

  Tensor at_places(const Tensor& t) const { return gather(t, dim, index); }
  Tensor without_places(const Tensor& t) const { return include_self ? t : scatter(t, dim, index, Scalar(0)); }

  void sum(Sweep& s) const {
    s.give(0, [&] { return without_places(g); });
    s.give(1, [&] { return at_places(g); });
  }
  void mean(Sweep& s) const {
    const Tensor start = include_self ? ones_like(g) : zeros_like(g);
    const Tensor counts = scatter_add(start, dim, index, ones_like(empty(index.sizes(), g.dtype(), g.device())));
    const Tensor each = g / where(counts == 0.0, 1.0, counts);
    s.give(0, [&] { return without_places(each); });
    s.give(1, [&] { return at_places(each); });
  }
  // Those that equal the result share its gradient.
  void extreme(Sweep& s) const {
    const Tensor self_hits = to_dtype(self == result, g.dtype()),
                 src_hits = to_dtype(src == at_places(result), g.dtype());
    const Tensor share = g / scatter_add(self_hits, dim, index, src_hits);
    s.give(0, [&] { return without_places(self_hits * share); });
    s.give(1, [&] { return src_hits * at_places(share); });
  }
  // The product of the others: the result over the element itself; for a zero that is alone, the product with it as 1.
  void product(Sweep& s) const {
    s.give(0, [&] {
      const Tensor own = where(self == 0.0, 1.0, self);
      return without_places(g * reduced(own, dim, index, src, Rule::Product, include_self) / own);
    });
    s.give(1, [&] {
      const Tensor zero = src == 0.0;
      const Tensor zeros_there = at_places(scatter_add(zeros_like(g), dim, index, to_dtype(zero, g.dtype())));
      const Tensor alone = zero & (zeros_there == 1.0);
      const Tensor others = reduced(self, dim, index, where(alone, 1.0, src), Rule::Product, include_self);
      return where(alone, at_places(g * others), at_places(g * result) / where(zero, 1.0, src));
    });
  }
};

// Written in place, self is kept as it was, and the result is found again.
void record_reduce(Tensor& out, const char* node, const Tensor& self, const Places& places, const Tensor& src,
                   Rule rule, bool include_self) {
  const bool reads_values = rule != Rule::Sum && rule != Rule::Mean, in_place = &out.storage() == &self.storage();
  Kept<4> kept{{SavedTensor(places.index), SavedTensor(), SavedTensor(), SavedTensor()}};
  if (reads_values) {
    kept.tensors[1] = SavedTensor(in_place ? clone(self.view_of(self.sizes(), self.strides())) : self);
    kept.tensors[2] = SavedTensor(src);
    if (!in_place) kept.tensors[3] = SavedTensor(out, true);
  }
  record(out, node, {&self, &src}, std::move(kept), [dim = places.dim, rule, include_self, reads_values](Sweep& s) {
    Gradients to{s.g(), s.kept(0), s.kept(1), s.kept(2), s.kept(3), dim, include_self};
    if (reads_values && !to.result.defined()) to.result = reduced(to.self, dim, to.index, to.src, rule, include_self);
    switch (rule) {
      case Rule::Sum: return to.sum(s);
      case Rule::Mean: return to.mean(s);
      case Rule::Product: return to.product(s);
      case Rule::Most:
      case Rule::Least: return to.extreme(s);
    }
  });
}

// ---- scatter_reduce ----

struct ScatterReduce {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce,
                    bool) {
    const Meta meta = scattered_shape(self, dim, index, &src);
    const auto rule = rule_named(reduce);
    check(rule.has_value(), TensorErrorKind::Runtime,
          "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
    const bool ordered = rule == Rule::Most || rule == Rule::Least;
    const DTypeSet types = ordered ? kRealTypes : rule == Rule::Mean ? kAllTypes - kBool : kAllTypes;
    require_type(types, self,
                 {text("scatter_gather_tensor_cpu_reduce_", reduce).c_str(), "cuda_scatter_gather_base_kernel_func"});
    return meta;
  }
  static Places places(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
    return {wrap_dim(dim, self.dim()), as_index(out, index)};
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                  const std::string& reduce, bool include_self) {
    run_reduce(out, self, places(out, self, dim, index), src, *rule_named(reduce), include_self);
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                   const std::string& reduce, bool include_self) {
    record_reduce(out, "ScatterReduceBackward0", self, places(out, self, dim, index), src, *rule_named(reduce),
                  include_self);
  }
};

Tensor reduced(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, Rule rule, bool include_self) {
  return apply<ScatterReduce>(self, dim, index, src, std::string(kNames[int(rule)]), include_self);
}

// scatter(..., reduce=): 'add' or 'multiply'.
std::string rule_of_scatter(const std::string& reduce) {
  check(reduce == "add" || reduce == "multiply", TensorErrorKind::Runtime,
        "reduce argument must be either add or multiply.");
  return reduce == "add" ? "sum" : "prod";
}
Tensor scatter_combined(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                        const std::string& reduce) {
  return apply<ScatterReduce>(self, dim, index, src, rule_of_scatter(reduce), true);
}
Tensor scatter_number_combined(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                               const std::string& reduce) {
  return scatter_combined(self, dim, index, full(index.sizes(), value, self.dtype(), self.device()), reduce);
}

constexpr uint32_t kWrites = kFunction | kMethod | kInplace | kOut;
TS_OP(scatter, "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
      "Adds or multiplies elements to their index along a dimension.", kWrites, &scatter_combined,
      "f[3,4], 1, i[3,4]<4, f[3,4], reduce='add'\n"
      "f[3], 0, i{0}, f[1], reduce='x' -> RuntimeError: reduce argument must be either add or multiply.",
      .out = kOutStructured, .one_device = "scatter_reduce");
TS_OP(scatter, "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
      "Adds or multiplies a number to places along a dimension.", kWrites, &scatter_number_combined,
      "f[3,4], 1, i[3,2]<4, 1.5, reduce='multiply'", .out = kOutStructured, .one_device = "scatter_value_reduce");
TS_OP(
    scatter_reduce,
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
    "Combines elements at their index along a dimension: 'sum', 'prod', 'mean', 'amax' or 'amin'.", kWrites,
    ScatterReduce,
    "f[3,4], 1, i[3,6]<4, f[3,6], 'sum'\n"
    "f[3,4].t, 0, i[7,2]<3, f[7,2], 'prod'\n"
    "f[3], 0, i[5]<3, f[5], 'prod', include_self=False\n"
    "f[3,4], 0, i[6,4]<3, f[6,4], 'mean'\n"
    "f[5], -1, i[7]<3, f[7], 'mean', include_self=False\n"
    "f[3,4], 1, i[3,6]<4, f[3,6], 'amax'\n"
    "f[5], 0, i[7]<3, f[7], 'amin', include_self=False\n"
    "i[4]<9, 0, i[6]<4, i[6]<9, 'mean'\n"
    "i[4]<9, 0, i[6]<4, i[6]<9, 'amax', include_self=False\n"
    "b[4], 0, i[6]<4, b[6], 'prod'\n"
    "c[4], 0, i[6]<4, c[6], 'sum'\n"
    "f[3], 0, i{3}, f[1], 'sum' -> RuntimeError: index 3 is out of bounds for dimension 0 with size 3\n"
    "f[3], 0, i{0,1}, f[1], 'sum' -> RuntimeError: Expected index [2] to be no larger than self [3] apart from "
    "dimension 0 and to be no larger size than src [1]\n"
    "f[3], 0, i{0}, f[1], 'maximum' -> RuntimeError: reduce argument must be either sum, prod, mean, amax or amin, got "
    "max\n"
    "b[3], 0, i{0}, b[1], 'mean' -> NotImplementedError: \"scatter_gather_tensor_cpu_reduce_mean\" not implemented "
    "for 'Bool'",
    .out = kOutStructured, .one_device = "scatter_reduce_two");

// ---- index_reduce ----

// The same with an index for each item of a dimension.
struct IndexReduce {
  static constexpr bool in_place = true;
  static constexpr TypeRule types{kRealTypes, {"index_func_", "index_reduce"}};
  static Meta shape(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    const std::string& reduce, bool) {
    check(std::find(std::begin(kNames) + 1, std::end(kNames), reduce) != std::end(kNames), TensorErrorKind::Runtime,
          "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce, ".");
    if (reduce == "mean") require_type(types.set - kBool, self, types.kernel);
    return items_written_shape("index_reduce_", self, dim, index, source);
  }
  static Places places(const Tensor& out, const Tensor& self, int64_t dim_given, const Tensor& index,
                       const Tensor& source) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    const Tensor at = as_index(out, index);
    Dims strides(source.sizes().size(), 0);
    if (!strides.empty()) strides[size_t(dim)] = at.dim() ? at.strides()[0] : 0;
    return {dim, at.view_of(source.sizes(), strides), Complaint::Select};
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                  const std::string& reduce, bool include_self) {
    check_no_internal_overlap(out);
    run_reduce(out, self, places(out, self, dim, index, source), source, *rule_named(reduce), include_self);
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                   const std::string& reduce, bool include_self) {
    record_reduce(out, "IndexReduceBackward0", self, places(out, self, dim, index, source), source, *rule_named(reduce),
                  include_self);
  }
};

TS_OP(
    index_reduce,
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    "Combines source's items with those that index names: 'prod', 'mean', 'amax' or 'amin'.", kWrites, IndexReduce,
    "f[4,3], 0, i[5]<4, f[5,3], 'prod'\n"
    "f[4,3], 1, i{1,1}, f[4,2], 'mean', include_self=False\n"
    "f[3,2].t, 1, i[4]<2, f[3,4], 'amax'\n"
    "f[3], 0, i[7]<3, f[7], 'amin', include_self=False\n"
    "i[3]<9, 0, i[5]<3, i[5]<9, 'mean'\n"
    "f[3], 0, i{0}, f[1], 'sum' -> RuntimeError: index_reduce(): Expected reduce to be one of prod, mean, amax or amin "
    "but got sum.\n"
    "f[2,2], 0, i{0}, f[2,2], 'prod' -> RuntimeError: index_reduce_(): Number of indices (1) should be equal to "
    "source.size(dim): (2), for dim: 0\n"
    "f[2,2], 0, i{5}, f[1,2], 'amax' -> IndexError: index out of range in self",
    .out = kOutStructured, .one_device = "index_reduce");

}  // namespace
}  // namespace tessera::tensor
