// What a structured op is: one struct with its parts, and one registration. From these follow the function, the method, the
// in-place form and out=, the result's metadata without running it (`infer`, device='meta'), and the generated tests.
//
//     struct Gather {
//       static constexpr TypeRule types{kAllTypes, "gather_out_cpu"};             // optional: dtypes of the first tensor
//       static Meta shape(const Tensor& self, int64_t dim, const Tensor& index);  // all checks; what the result will be
//       static void run(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index);  // fills it
//       static void grad(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index);       // optional: record(...)
//     };
//     Tensor gather(const Tensor& self, int64_t dim, const Tensor& index) { return apply<Gather>(self, dim, index); }
//     TS_OP(gather, "gather(Tensor self, int dim, Tensor index) -> Tensor", "Doc.", kFunction | kMethod | kOut, Gather,
//           "f[3,4], 1, i[3,2]<4\n"
//           "f[3,4], 0, f[3,4] -> RuntimeError: gather(): Expected dtype int64 for index");
//
// `static constexpr Forward forward` says that tangents of forward mode are computed by the op itself (Forward, below).
//
// `shape` always runs first and sees metadata only: on device 'meta' it is all that runs. An op with several results gives
// std::array<Meta, N>, and `run` and `grad` take as many tensors. `static constexpr bool in_place = true` says that `run` may
// be given self as `out`; then `grad` keeps neither self nor the result.
//
// A view gives View instead of Meta, several at once give Views; neither has `run`, and `grad` hands its node back
// (view_ops.h): it is only asked where there is something to record, so a view costs its shape and no more.
//
// A composition of other ops is a plain function, registered by its address; its shape follows from its parts.
// Then come the samples (samples.h), and behind them what there is to say of the op beside its parts (facts.h).
#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "runtime/autograd/record.h"
#include "runtime/autograd/tangents.h"
#include "runtime/ops/box.h"
#include "runtime/ops/refuse.h"
#include "runtime/pieces.h"

namespace tessera::tensor {

/// A result as a view of the first argument.
struct View {
  View() {}  // no aggregate, which would be cleared before its parts are made
  template <class Sizes = Dims, class Strides = Dims>
  View(Sizes&& s, Strides&& t, int64_t o = 0)
      : sizes(std::forward<Sizes>(s)), strides(std::forward<Strides>(t)), offset(o) {}

  Dims sizes, strides;
  int64_t offset = 0;  // in elements, from self's first
};
/// Parts of the first argument, each a view.
using Views = std::vector<View>;

/// How the result of an op depends on its floating operands, where forward mode may compute a tangent by the op itself: `static constexpr
/// Forward forward` in its struct. All other ops have theirs from their `grad` (Note [Tangents]).
enum class Forward : unsigned char {
  Linear,       // on all of them together: the op of the tangents
  EachOperand,  // on each of them: the sum of the op with one operand's tangent in the operand's place
};

/// The dtypes that an op takes, and the kernel's name in PyTorch's refusal: "sort" not implemented for 'ComplexFloat'.
struct TypeRule {
  DTypeSet set;
  KernelName kernel;
};

namespace detail {

inline bool asks_gradient(const Tensor& t) { return t.defined() && t.is_tracked(); }
inline bool asks_gradient(const OptionalTensor& t) { return t && asks_gradient(*t); }
inline bool asks_gradient(const TensorList& list) {
  for (const Tensor& t : list)
    if (asks_gradient(t)) return true;
  return false;
}
template <class T>
bool asks_gradient(const T&) {
  return false;
}

template <class... A>
const Tensor& first_tensor(const Tensor& t, const A&...) {
  return t;
}
template <class... A>
const Tensor& first_tensor(const TensorList& list, const A&...) {
  return list.at(0);
}
template <class T, class... A>
const Tensor& first_tensor(const T&, const A&... rest) {
  return first_tensor(rest...);
}

template <class Op, class... A>
auto checked_shape(const A&... args) {
  auto shape = Op::shape(args...);  // first, as PyTorch looks at the dtype where it chooses the kernel
  if constexpr (requires { Op::types; }) require_type(Op::types.set, first_tensor(args...), Op::types.kernel);
  return shape;
}

template <class Op, class... A>
concept HasGradient = requires(Tensor& t) {
  &Op::grad;
};

template <class Op, size_t N, class... A>
void fill(const std::array<Tensor, N>& out, const A&... args) {
  if (out[0].device().type == DeviceType::Meta) return;
  const GradMode off(false);
  std::apply([&](const auto&... o) { Op::run(o..., args...); }, out);
}

template <class Op, class... A>
Tangents tangents_by_op(const A&... args);

template <class Op, size_t N, class... A>
void record_results(std::array<Tensor, N>& out, const A&... args) {
  if constexpr (HasGradient<Op>) {
    if (!Context::current().records || !(asks_gradient(args) || ...)) return;
    const auto record = [&] { std::apply([&](auto&... o) { Op::grad(o..., args...); }, out); };
    if constexpr (requires { Op::forward; }) {
      if (Context::current().duals.seen > 0) [[unlikely]] {
        const GivenTangents given(tangents_by_op<Op>(args...));
        return record();
      }
    }
    record();
  }
}

inline std::array<Tensor, 1> allocate(const Meta& meta) { return {meta.allocate()}; }
template <size_t N>
std::array<Tensor, N> allocate(const std::array<Meta, N>& metas) {
  std::array<Tensor, N> out;
  for (size_t i = 0; i < N; i++) out[i] = metas[i].allocate();
  return out;
}

// An op of one result after its shape; the same code for operands and for tangents in their places.
template <class Op, class... A>
[[gnu::noinline]] Tensor run_recorded(const Meta& meta, const A&... args) {
  auto out = allocate(meta);
  fill<Op>(out, args...);
  record_results<Op>(out, args...);
  return out[0];
}

template <class Op, size_t I, class... A>
void add_part(Tensor& sum, uint32_t level, const A&... args) {
  std::tuple<A...> operands(args...);
  if constexpr (std::is_same_v<std::tuple_element_t<I, std::tuple<A...>>, Tensor>) {
    Tensor& operand = std::get<I>(operands);
    if (!has_tangent(operand, level)) return;
    operand = tangent_operand(operand, level);
    add_tangent(sum, std::apply([](const auto&... a) { return run_recorded<Op>(checked_shape<Op>(a...), a...); }, operands));
  }
}

template <class Op, class... A>
Tensor tangent_by_op(uint32_t level, const A&... args) {
  static_assert(((std::is_same_v<A, Tensor> || !std::is_convertible_v<A, const Tensor&>) && ...));
  if constexpr (Op::forward == Forward::Linear) {
    const auto run = [](const auto&... a) { return run_recorded<Op>(checked_shape<Op>(a...), a...); };
    return run(tangent_operand(args, level)...);
  } else {
    Tensor sum;
    [&]<size_t... I>(std::index_sequence<I...>) { (add_part<Op, I>(sum, level, args...), ...); }(std::index_sequence_for<A...>{});
    return sum;
  }
}

template <class Op, class... A>
Tangents tangents_by_op(const A&... args) {
  Tangents tangents;
  const DualLevels& duals = Context::current().duals;
  for (uint32_t i = 0, seen = duals.seen; i < seen; i++) {
    const uint32_t level = duals.entered[i];
    if (!(has_tangent(args, level) || ...)) continue;
    const LevelsBelow below(level);
    tangents.push_back({level, tangent_by_op<Op>(level, args...)});
  }
  return tangents;
}

template <class R>
constexpr bool kIsView = std::is_same_v<R, View> || std::is_same_v<R, Views>;

inline bool records_views_of(const Tensor& self) {
  return Context::current().records && is_differentiable(self.dtype());
}

template <class Op, class... A>
Tensor make_view(const View& view, const A&... args) {
  const Tensor& self = first_tensor(args...);
  Tensor out = self.view_of(view.sizes, view.strides, view.offset);
  if (records_views_of(self)) set_view_history(out, self, self.requires_grad() ? Op::grad(out, args...) : nullptr);
  return out;
}

constexpr int64_t kViewCost = 64;  // of a view, in elements of a loop

template <class Op, class... A>
TensorList make_view(const Views& views, const A&... args) {
  const Tensor& self = first_tensor(args...);
  TensorList parts;
  parts.reserve(views.size());
  PollBudget budget;
  for (const View& view : views) {
    budget.take(kViewCost);
    parts.push_back(self.view_of(view.sizes, view.strides, view.offset));
  }
  if (!records_views_of(self)) return parts;
  CountedPtr<Node> node;
  if (self.requires_grad()) node = Op::grad(parts, args...), node->outputs = uint32_t(parts.size());
  for (size_t i = 0; i < parts.size(); i++) {
    budget.take(kViewCost);
    set_view_history(parts[i], self, node, uint32_t(i), true);
  }
  return parts;
}

inline std::array<Meta, 1> as_array(Meta meta) { return {std::move(meta)}; }
template <size_t N>
std::array<Meta, N> as_array(std::array<Meta, N> metas) {
  return metas;
}

}  // namespace detail

/// The op as a C++ function: shape, allocate, run, grad.
template <class Op, class... A>
auto apply(const A&... args) {
  auto shape = detail::checked_shape<Op>(args...);
  if constexpr (detail::kIsView<decltype(shape)>) {
    return detail::make_view<Op>(shape, args...);
  } else if constexpr (requires { Op::forward; }) {
    return detail::run_recorded<Op>(shape, args...);
  } else {
    auto out = detail::allocate(shape);
    detail::fill<Op>(out, args...);
    detail::record_results<Op>(out, args...);
    if constexpr (out.size() == 1) return std::move(out[0]);
    else return std::tuple_cat(std::move(out));
  }
}

namespace detail {

template <class Op>
constexpr bool writes_self() {
  if constexpr (requires { Op::in_place; }) return Op::in_place;
  else return false;
}

/// Whether `out` may be filled as it is: after resizing, of the right dtype and dense, sharing no memory with an operand.
bool may_fill(const OpCall& c, const Tensor& out, const Meta& meta);
/// Refuses what an out= tensor may not be (a tensor that requires grad, a wrong device).
void check_out(const OpCall& c, bool recorded);
/// In place: `self` must have the result's shape and be able to hold its dtype.
void check_inplace_result(const OpCall& c, const Tensor& self, const Meta& meta);

template <class Op, class... A>
void run_in_place(OpCall& c, const A&... args) {
  Tensor self = c.out[0];
  check_inplace_result(c, self, as_array(checked_shape<Op>(args...))[0]);
  const bool recorded = Context::current().records && (asks_gradient(args) || ...);
  if (recorded) check_inplace(self);
  CountedPtr<Node> node;
  if constexpr (HasGradient<Op>) {
    if (recorded) {  // the node is made for a stand-in, since self's history is an input of it
      const TangentsLater later;
      Tensor result = self.view_of(self.sizes(), self.strides());
      Op::grad(result, args...);
      node = grad_fn_of(result);
    }
  }
  fill<Op>(std::array<Tensor, 1>{self}, args...);
  self.bump_version();
  if (node) rebase_history(self, std::move(node));
  c.results.emplace_back(self);
}

template <class Op, class... A>
void run_out(OpCall& c, const A&... args) {
  const bool recorded = Context::current().records && (asks_gradient(args) || ...);
  check_out(c, recorded);
  auto metas = as_array(checked_shape<Op>(args...));
  std::array<Tensor, metas.size()> out;
  for (size_t i = 0; i < out.size(); i++)
    out[i] = i < c.out.size() && may_fill(c, c.out[i], metas[i]) ? c.out[i] : metas[i].allocate();
  fill<Op>(out, args...);
  return_tensors(c, out.data(), out.size());
}

template <class Op, class R, class... A>
void run_form(OpCall& c, const A&... args) {
  if (c.out.empty()) return return_value(c, apply<Op>(args...));
  if constexpr (!kIsView<R>) {
    if (!c.is_inplace()) return run_out<Op>(c, args...);
    if constexpr (writes_self<Op>()) return run_in_place<Op>(c, args...);
  }
  return_value(c, apply<Op>(args...));
}
template <class Op, class R, class... P, size_t... I>
void call_structured(OpCall& c, R (*)(P...), std::index_sequence<I...>) {
  run_form<Op, R, std::remove_cvref_t<P>...>(c, Parameter<P>::get(c, I)...);
}
template <class Op, class R, class... P>
void call_structured(OpCall& c, R (*f)(P...)) {
  call_structured<Op>(c, f, std::index_sequence_for<P...>{});
}

template <class Op, class R, class... P, size_t... I>
std::vector<Meta> shape_boxed(OpCall& c, R (*)(P...), std::index_sequence<I...>) {
  std::tuple args{Unbox<std::remove_cvref_t<P>>::get(c, I)...};
  auto shape = checked_shape<Op>(std::get<I>(args)...);
  if constexpr (kIsView<R>) {
    const Tensor& self = first_tensor(std::get<I>(args)...);
    std::vector<Meta> metas;
    const auto add = [&](const View& v) { metas.emplace_back(v.sizes, self.dtype(), self.device(), v.strides); };
    if constexpr (std::is_same_v<R, View>) add(shape);
    else
      for (const View& view : shape) add(view);
    return metas;
  } else {
    auto metas = as_array(std::move(shape));
    return {metas.begin(), metas.end()};
  }
}
template <class Op, class R, class... P>
std::vector<Meta> shape_boxed(OpCall& c, R (*f)(P...)) {
  return shape_boxed<Op>(c, f, std::index_sequence_for<P...>{});
}

template <class Op>
constexpr DTypeSet types_of() {
  if constexpr (requires { Op::types; }) return Op::types.set;
  else return kAllTypes;
}

}  // namespace detail

/// What the registry keeps of an op: of a struct its parts, of a function the function.
template <class Op>
constexpr OpParts parts() {
  return {[](OpCall& c) { detail::call_structured<Op>(c, &Op::shape); },
          [](OpCall& c) { return detail::shape_boxed<Op>(c, &Op::shape); }, detail::types_of<Op>()};
}
template <auto Function>
constexpr OpParts parts() {
  return {&box<Function>, nullptr, kAllTypes};
}

}  // namespace tessera::tensor

/// TS_OP(name, schema, doc, flags, Struct or &function, samples, facts...): see above; the facts are designated initialisers of OpFacts.
#define TS_OP_JOIN2(a, b) a##b
#define TS_OP_JOIN(a, b) TS_OP_JOIN2(a, b)
#define TS_OP(NAME, SCHEMA, DOC, FLAGS, PARTS, SAMPLES, ...)                                      \
  static const ::tessera::tensor::OpRegistration TS_OP_JOIN(ts_op_, __COUNTER__) {                \
#NAME, SCHEMA, DOC, FLAGS, ::tessera::tensor::parts < PARTS>(), SAMPLES TS_FACTS(__VA_ARGS__) \
  }
/// Registers an op with a record of facts that several entries share.
#define TS_OP_OF(FACTS, NAME, SCHEMA, DOC, FLAGS, PARTS, SAMPLES)                  \
  static const ::tessera::tensor::OpRegistration TS_OP_JOIN(ts_op_, __COUNTER__) { \
#NAME, SCHEMA, DOC, FLAGS, ::tessera::tensor::parts < PARTS>(), SAMPLES, FACTS \
  }
/// Registers a boxed kernel: a function of an OpCall that reads its arguments and handles out= itself.
#define TS_BOXED(NAME, SCHEMA, DOC, FLAGS, KERNEL, SAMPLES, ...)                                  \
  static const ::tessera::tensor::OpRegistration TS_OP_JOIN(ts_op_, __COUNTER__) {                \
#NAME, SCHEMA, DOC, FLAGS, ::tessera::tensor::OpParts{KERNEL }, SAMPLES TS_FACTS(__VA_ARGS__) \
  }
