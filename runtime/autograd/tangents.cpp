// compile: small (runs in forward mode alone)
#include "runtime/autograd/tangents.h"

#include <algorithm>

#include "runtime/autograd/engine.h"
#include "runtime/ops.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/pointwise.h"
#include "runtime/ops/pointwise_grad.h"

namespace tessera::tensor {
namespace {

// The levels that calls see, outermost first.
std::span<const uint32_t> seen_levels() {
  const DualLevels& duals = Context::current().duals;
  return {duals.entered.data(), duals.seen};
}

const Tensor* find_tangent(const Tangents& tangents, uint32_t level) {
  for (const Tangent& tangent : tangents)
    if (tangent.level == level) return &tangent.value;
  return nullptr;
}

void put_tangent(Tangents& tangents, uint32_t level, Tensor value) {
  auto at = tangents.begin();
  while (at != tangents.end() && at->level < level) ++at;
  if (at != tangents.end() && at->level == level) at->value = std::move(value);
  else tangents.insert(at, {level, std::move(value)});
}

void see(uint32_t count) {
  Context& context = Context::current();
  context.duals.seen = count;
  context.records = context.grad_enabled || count > 0;
}

}  // namespace

// ---- levels ----

uint32_t enter_dual_level() {
  Context& context = Context::current();
  const uint32_t level = ++context.last_level;
  context.duals.entered.push_back(level);
  context.live_levels.push_back(level);
  see(uint32_t(context.duals.entered.size()));
  return level;
}

void exit_dual_level() {
  Context& context = Context::current();
  if (context.duals.entered.empty()) return;
  std::erase(context.live_levels, context.duals.entered.back());
  context.duals.entered.pop_back();
  see(std::min(context.duals.seen, uint32_t(context.duals.entered.size())));
}

void exit_dual_levels(size_t count) {
  while (Context::current().duals.entered.size() > count) exit_dual_level();
  see(uint32_t(Context::current().duals.entered.size()));
}

bool is_live(uint32_t level) {
  const auto& live = Context::current().live_levels;
  return std::find(live.begin(), live.end(), level) != live.end();
}

LevelsBelow::LevelsBelow(uint32_t level)
    : seen_(Context::current().duals.seen), records_(Context::current().records) {
  uint32_t count = 0;
  for (const uint32_t each : seen_levels()) count += each < level;
  see(count);
}

LevelsBelow::~LevelsBelow() {
  Context::current().duals.seen = seen_;
  Context::current().records = records_;
}

// ---- tangents of a tensor ----

Tangents seen_tangents(const Tensor& t) {
  follow_base(t);
  AutogradMeta* const meta = t.impl()->autograd;
  const bool may_follow = !Context::current().live_levels.empty();  // a view may get more from its base
  if (meta == nullptr || !meta->tangents) {
    if (!may_follow) t.impl()->flags &= uint8_t(~TensorImpl::kDual);
    return {};
  }
  std::erase_if(*meta->tangents, [](const Tangent& tangent) { return !is_live(tangent.level); });
  if (meta->tangents->empty()) {
    meta->tangents = nullptr;
    if (!may_follow) t.impl()->flags &= uint8_t(~TensorImpl::kDual);
    return {};
  }
  Tangents found;
  for (const uint32_t level : seen_levels())
    if (const Tensor* value = find_tangent(*meta->tangents, level); value != nullptr && value->defined()) found.push_back({level, *value});
  return found;
}

Tensor tangent_of(const Tensor& t, uint32_t level) {
  follow_base(t);
  const AutogradMeta* const meta = t.impl()->autograd;
  if (meta == nullptr || !meta->tangents || !is_live(level)) return {};
  const Tensor* const value = find_tangent(*meta->tangents, level);
  return value != nullptr ? *value : Tensor();
}

void set_tangent(const Tensor& t, uint32_t level, Tensor value) {
  AutogradMeta& meta = autograd_meta(t);
  if (!meta.tangents) meta.tangents = std::make_unique<Tangents>();
  put_tangent(*meta.tangents, level, std::move(value));
  t.impl()->flags |= TensorImpl::kDual;
}

void copy_tangents(const Tensor& copy, const Tensor& of) {
  for (const Tangent& tangent : seen_tangents(of)) {
    const LevelsBelow below(tangent.level);
    set_tangent(copy, tangent.level, clone(tangent.value));
  }
}

void share_derivatives(const Tensor& copy, const Tensor& of) {
  if (of.is_dual())
    for (const Tangent& tangent : seen_tangents(of)) {
      const LevelsBelow below(tangent.level);
      set_tangent(copy, tangent.level, resolved(tangent.value));
    }
  share_history(copy, of);
}

void share_history(const Tensor& copy, const Tensor& of) {
  if (!of.requires_grad()) return;
  Edge edge = gradient_edge(of);
  AutogradMeta& meta = autograd_meta(copy);
  meta.grad_fn = std::move(edge.node), meta.output = edge.output, meta.view_version = copy.version();
  copy.impl()->flags |= TensorImpl::kRequiresGrad;
}

Tensor as_seen(const Tensor& t) {
  const DualLevels& duals = Context::current().duals;
  if (duals.seen == duals.entered.size()) return t;
  const Tensor plain = t.view_of(t.sizes(), t.strides());
  share_derivatives(plain, t);
  return plain;
}

// ---- tangents of a result ----

// The tangent as it is now in the graph: a write in place gives the tangent itself a history that may lead to who keeps it.
static Tensor kept_tangent(const Tensor& value) {
  if (!Context::current().grad_enabled) return value;
  const Tensor kept = value.view_of(value.sizes(), value.strides());
  share_derivatives(kept, value);
  return kept;
}

void Node::note_dual(const Tensor& input) {
  Tangents seen = seen_tangents(input);
  for (Tangent& tangent : seen) {
    const LevelsBelow below(tangent.level);
    tangent.value = kept_tangent(tangent.value);
  }
  NodeHooks& own = own_hooks();
  if (!own.duals) own.duals = std::make_unique<DualRecord>();  // also where no tangent is seen: then there may be nothing to record
  if (!seen.empty()) own.duals->inputs.push_back({uint32_t(edges.size()), std::move(seen)});
}

namespace {

// The end of edges to operands of which only tangents are asked for.
struct NowhereNode final : Node {
  NowhereNode() : Node("") { sequence = kLeafSequence; }
  void backward(const TensorList&, TensorList&) override {}
};

// For the length of a block a node computes what belongs to the operands with a tangent of one level, and nothing else.
class OnlyDualEdges {
 public:
  OnlyDualEdges(Node& node, uint32_t level) : node_(node) {
    for (Edge& edge : node.edges) kept_.push_back(std::exchange(edge, Edge()));
    for (const DualRecord::Input& input : node.duals()->inputs)
      if (find_tangent(input.tangents, level)) node.edges[input.edge].node = make_counted<NowhereNode>();
  }
  ~OnlyDualEdges() {
    for (size_t i = 0; i < kept_.size(); i++) node_.edges[i] = std::move(kept_[i]);
  }
  OnlyDualEdges(const OnlyDualEdges&) = delete;

 private:
  Node& node_;
  std::vector<Edge> kept_;
};

bool has_edges(const Node& node) {
  return std::any_of(node.edges.begin(), node.edges.end(), [](const Edge& edge) { return bool(edge.node); });
}

// J t as the derivative of u^T J by u.
Tensor tangent_by_products(Node& node, uint32_t output, const Tensor& out, const std::vector<DualInput>& inputs) {
  Tensor u;
  TensorList products(node.edges.size());
  {
    const GradMode on(true);
    u = zeros(out.sizes(), out.dtype(), out.device());
    set_requires_grad(u, true);
    TensorList grads(std::max(node.outputs, output + 1));
    grads[output] = u;
    node.backward(grads, products);
  }
  TensorList roots, vectors;
  for (const DualInput& input : inputs) {
    const Tensor& product = products[input.operand];
    if (!product.defined() || !product.requires_grad()) continue;
    roots.push_back(product);
    vectors.push_back(product.dtype() == input.tangent.dtype() ? input.tangent : to_dtype(input.tangent, product.dtype()));
  }
  if (roots.empty()) return {};
  return grad(roots, {u}, vectors, true, Context::current().grad_enabled, true)[0];
}

bool shares_memory(const Tensor& value, const std::vector<DualInput>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const DualInput& input) { return &input.tangent.storage() == &value.storage(); });
}

Tensor tangent_of_result(Node& node, uint32_t output, const Tensor& out, uint32_t level) {
  Context::current().poll();  // of levels in levels there is work without end behind one call
  const LevelsBelow below(level);
  std::vector<DualInput> inputs;
  for (const DualRecord::Input& input : node.duals()->inputs)
    if (const Tensor* tangent = find_tangent(input.tangents, level)) inputs.push_back({input.edge, resolved(*tangent)});
  Tensor value;
  {
    const OnlyDualEdges only(node, level);
    value = row_tangent(node, inputs, out);
    if (!value.defined()) value = tangent_by_products(node, output, out, inputs);
  }
  if (!value.defined()) return zeros(out.sizes(), out.dtype(), out.device());
  if (value.dtype() != out.dtype()) value = to_dtype(value, out.dtype());
  return shares_memory(value, inputs) ? clone(value) : value;
}

Tangents& results_of(DualRecord& duals, uint32_t output) {
  if (duals.results.size() <= output) duals.results.resize(output + 1);
  return duals.results[output];
}

bool any_has(const DualRecord& duals, uint32_t level) {
  return std::any_of(duals.inputs.begin(), duals.inputs.end(),
                     [&](const DualRecord::Input& input) { return find_tangent(input.tangents, level); });
}

// Computes what is missing of a result's tangents; their levels. A formula that reads the result itself asks for those of the levels
// around, which are there: levels are gone through from the outermost on.
std::vector<uint32_t> compute_tangents(const Tensor& out, Node& node, uint32_t output) {
  DualRecord& duals = *node.duals();
  std::vector<uint32_t> computed;
  results_of(duals, output);
  const Tangents* const given = std::exchange(Context::current().duals.given, nullptr);
  if (given != nullptr) duals.results[output] = *given;
  const std::span<const uint32_t> seen = seen_levels();
  for (const uint32_t level : std::vector<uint32_t>(seen.begin(), seen.end())) {
    const Tensor* const found = find_tangent(duals.results[output], level);
    if (!any_has(duals, level) || (found != nullptr && found->defined())) continue;
    if (found == nullptr) computed.push_back(level);
    Tensor value = tangent_of_result(node, output, out, level);
    put_tangent(duals.results[output], level, std::move(value));
  }
  return computed;
}

// A result's tangent is undefined in the record where it is computed anew each time: its history leads to the node, which would own itself.
// The operands' tangents are kept as they are now, for writes in place change them.
void keep_tangents_of_inputs(DualRecord& duals, const std::vector<uint32_t>& levels) {
  for (DualRecord::Input& input : duals.inputs)
    for (Tangent& tangent : input.tangents) {
      if (std::find(levels.begin(), levels.end(), tangent.level) == levels.end()) continue;
      const LevelsBelow below(tangent.level);
      tangent.value = clone(tangent.value);
    }
}

}  // namespace

bool record_tangents(const Tensor& out, Node& node, uint32_t output, bool writes) {
  const Context& context = Context::current();
  DualRecord* const duals = node.duals();
  if (duals == nullptr) return context.grad_enabled;
  if (context.duals.later) return true;
  if (!duals->is_counted) duals->is_counted = true, duals->has_graph = has_edges(node);
  const Tangents before = results_of(*duals, output);
  if (writes && context.grad_enabled)  // the tangent of the operand is overwritten, and a formula may have saved it
    keep_tangents_of_inputs(*duals, std::vector<uint32_t>(seen_levels().begin(), seen_levels().end()));
  const uint32_t owners = node.refs.value();
  const std::vector<uint32_t> computed = compute_tangents(out, node, output);
  const Tangents results = duals->results[output];
  if (node.refs.value() > owners) {
    keep_tangents_of_inputs(*duals, computed);
    for (const uint32_t level : computed) put_tangent(duals->results[output], level, Tensor());
  }
  for (const Tangent& forgotten : before)
    if (!forgotten.value.defined()) put_tangent(duals->results[output], forgotten.level, Tensor());
  for (const uint32_t level : std::vector<uint32_t>(seen_levels().begin(), seen_levels().end()))
    if (const Tensor* value = find_tangent(results, level)) {
      if (Tensor* kept = const_cast<Tensor*>(find_tangent(duals->results[output], level)); kept->defined()) {
        const LevelsBelow below(level);
        *kept = kept_tangent(*kept);
      }
      if (writes) write_tangent(out, level, *value);
      else set_tangent(out, level, *value);
    }
  return context.grad_enabled && duals->has_graph;
}

void compute_before_write(Node& node, int id, const Operand* in, int count, const Scalar* params) {
  const Tensor& self = in[0].tensor();
  if (std::none_of(in + 1, in + count, [&](const Operand& each) {
        return each.is_tensor() && each.tensor().is_dual() && &each.tensor().storage() == &self.storage();
      }))
    return;
  results_of(*node.duals(), 0) = seen_tangents(to_dtype(run_pointwise(id, in, params), self.dtype()));
}

void give_tangent(const Tensor& result, uint32_t level, const Tensor& value) {
  set_tangent(result, level, value);
  const CountedPtr<Node> node = grad_fn_of(result);
  if (!node || node->duals() == nullptr) return;
  put_tangent(results_of(*node->duals(), autograd_meta(result).output), level, value);
  node->duals()->is_counted = node->duals()->has_graph = true;
}

void refuse_recorded_out(const char* name, bool requires_grad, bool is_dual) {
  check(!requires_grad || !Context::current().grad_enabled, TensorErrorKind::Runtime, name,
        "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
  check(!is_dual, TensorErrorKind::NotImplemented, "Trying to use forward AD with ", name,
        "_out that does not support it because it is an out= function");
}

// ---- what ops say by themselves ----

Tensor tangent_operand(const Tensor& t, uint32_t level) {
  if (!t.defined() || !is_differentiable(t.dtype())) return t;
  const Tensor tangent = tangent_of(t, level);
  return tangent.defined() ? resolved(tangent) : zeros(t.sizes(), t.dtype(), t.device());
}

TensorList tangent_operand(const TensorList& list, uint32_t level) {
  TensorList tangents;
  for (const Tensor& t : list)
    tangents.push_back(is_differentiable(t.dtype()) ? tangent_operand(t, level) : zeros(t.sizes(), t.dtype(), t.device()));
  return tangents;
}

bool has_tangent(const Tensor& t, uint32_t level) { return t.defined() && t.is_dual() && tangent_of(t, level).defined(); }
bool has_tangent(const TensorList& list, uint32_t level) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& t) { return has_tangent(t, level); });
}

void add_tangent(Tensor& sum, Tensor part) { sum = sum.defined() ? add(sum, part) : std::move(part); }

}  // namespace tessera::tensor
