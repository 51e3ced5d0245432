// The sweep. Count how many edges reach each node, start at the roots, run a node when all its gradients have arrived,
// newest first; nothing recurses.
#include "runtime/autograd/engine.h"

#include <algorithm>
#include <atomic>
#include <queue>

#include "runtime/autograd/accumulate.h"
#include "runtime/autograd/function.h"
#include "runtime/autograd/sweep_streams.h"
#include "runtime/ops.h"

namespace tessera::tensor {

// One pass over a graph. A node's place in `tasks_` is written into the node itself for the length of the pass; the node
// keeps what was there, because a backward that a hook or a custom function starts may meet the same nodes.
class Engine {
 public:
  Engine(bool keep_graph, bool create_graph) : keep_graph_(keep_graph), grad_mode_(create_graph) {}
  ~Engine() {
    for (const Task& task : tasks_) task.node->pass_ = task.outer_pass, task.node->task_ = task.outer_task;
  }

  void add_root(const Edge& edge, Tensor grad) {
    const uint32_t task = visit(edge.node.get());
    roots_.push_back(edge.node);
    starts_.push_back({task, edge.output, std::move(grad)});
  }

  /// Only what leads to an input runs. With `capture`, inputs get their gradient in captured() instead of `.grad`.
  void add_input(const Edge& edge, bool capture) {
    limited_ = true;
    captured_.emplace_back();
    if (!edge.node) return;
    Task& task = tasks_[visit(edge.node.get())];
    roots_.push_back(edge.node);
    task.needed = task.is_end = true;
    if (capture) task.captures.push_back({edge.output, uint32_t(captured_.size() - 1)});
  }

  void run() {
    Running running(pass_, limited_);
    for (size_t i = 0; i < tasks_.size(); i++) count_edges(i);
    if (limited_) mark_needed();
    for (Start& s : starts_) receive(nullptr, s.task, s.output, std::move(s.grad));
    for (Start& s : starts_)
      if (Task& task = tasks_[s.task]; task.waiting == 0 && !task.queued) enqueue(s.task);
    while (!ready_.empty()) {
      const uint32_t next = ready_.top().task;
      ready_.pop();
      execute(next);
    }
    streams_.join();
    for (size_t i = 0; i < running.last.size(); i++) {  // one may add another
      const auto callback = running.last[i];
      callback();
    }
  }

  TensorList& captured() { return captured_; }

 private:
  // Says which sweep runs while it does.
  struct Running {
    Running(uint64_t id, bool limited) : before(current), outer(innermost) {
      current = {id, limited};
      innermost = this;
    }
    ~Running() {
      current = before;
      innermost = outer;
    }
    inline static thread_local Sweeping current;
    inline static thread_local Running* innermost = nullptr;
    inline static thread_local NodeWatch* watch = nullptr;  // per thread: whom its next sweeps tell
    inline static thread_local SweepOps* ops = nullptr;     // per thread: who does what its sweeps do beside nodes
    inline static thread_local const char* node = nullptr;  // per thread: the name of the one that runs
    Sweeping before;
    Running* outer;
    std::vector<std::function<void()>> last;  // to be called when all has run
  };
  friend Sweeping tessera::tensor::current_sweep();
  friend const char* tessera::tensor::running_node();
  friend NodeWatch* tessera::tensor::watch_nodes(NodeWatch* watch);
  friend SweepOps* tessera::tensor::set_sweep_ops(SweepOps* ops);
  friend SweepOps* tessera::tensor::sweep_ops();
  friend void tessera::tensor::queue_callback(std::function<void()> callback);

  struct Capture {
    uint32_t output, slot;
  };
  struct Task {
    Node* node;
    uint64_t outer_pass;
    uint32_t outer_task;
    uint32_t waiting = 0;  // edges whose gradient has not arrived
    bool needed = false, queued = false;
    bool is_end = false;  // an input: the sweep goes on behind it only if that leads to another one
    TensorList grads;
    std::vector<Capture> captures;
  };
  // Newer nodes come first; of leaves, which are all alike, the one that was ready first.
  struct Ready {
    uint64_t sequence;
    uint32_t order, task;
    bool operator<(const Ready& other) const {
      return sequence != other.sequence ? sequence < other.sequence : order > other.order;
    }
  };
  struct Start {
    uint32_t task, output;
    Tensor grad;
  };

  uint32_t visit(Node* node) {
    if (node->pass_ == pass_) return node->task_;
    tasks_.push_back({node, node->pass_, node->task_, 0, false, false, false, {}, {}});
    node->pass_ = pass_;
    node->task_ = uint32_t(tasks_.size() - 1);
    return node->task_;
  }

  // tasks_ grows while it is walked: that is the breadth-first search.
  void count_edges(size_t at) {
    for (const Edge& edge : tasks_[at].node->edges)
      if (edge.node) tasks_[visit(edge.node.get())].waiting++;
  }

  // Edges lead from newer nodes to older ones, so going through the tasks by sequence sees successors first.
  void mark_needed() {
    std::vector<uint32_t> order(tasks_.size());
    for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
    for (const uint32_t i : order)
      for (const Edge& edge : tasks_[i].node->edges)
        if (edge.node && tasks_[edge.node->task_].needed) tasks_[i].needed = true;
  }
  // Leaves have the largest sequence but no edges.
  uint64_t rank(uint32_t i) const { return tasks_[i].node->sequence + 1; }

  void receive(const Node* from, uint32_t at, uint32_t output, Tensor grad) {
    if (grad.defined()) {
      streams_.hand_over(grad, from, *tasks_[at].node);
      take_dtype(*tasks_[at].node, grad);
    }
    TensorList& grads = tasks_[at].grads;
    if (grads.size() <= output) grads.resize(std::max<size_t>(output + 1, tasks_[at].node->outputs));
    Tensor& slot = grads[output];
    if (!slot.defined()) slot = std::move(grad);
    else if (grad.defined()) {
      const OnStreamOf place(*tasks_[at].node);
      slot = sum_of(std::move(slot), std::move(grad));
    }
  }

  // Under autocast a result is of another dtype than what a formula makes of it: its gradient is not.
  void take_dtype(const Node& node, Tensor& grad) const {
    if (grad.dtype() == node.dtype || node.dtype == kBool || node.outputs != 1) [[likely]]
      return;
    const OnStreamOf place(node);
    const SweepMode mode(grad_mode_);
    grad = to_dtype(grad, node.dtype);
  }

  // In place where the first sum is ours alone.
  Tensor sum_of(Tensor a, Tensor b) const {
    if (SweepOps* const ops = sweep_ops(); ops != nullptr) [[unlikely]] {
      const SweepMode mode(grad_mode_);
      if (Tensor sum = ops->sum(a, b); sum.defined()) return sum;
    }
    if (!grad_mode_ && a.impl()->refs.unique() && a.storage().unique() && a.is_contiguous() && a.dtype() == b.dtype() &&
        a.sizes() == b.sizes()) {
      add_(a, b);
      return a;
    }
    return add(a, b);
  }

  void enqueue(uint32_t at) {
    tasks_[at].queued = true;
    ready_.push({tasks_[at].node->sequence, ++queued_, at});
  }

  void execute(uint32_t at) {
    Node* node = tasks_[at].node;
    TensorList grads = std::move(tasks_[at].grads);
    grads.resize(std::max<size_t>(grads.size(), node->outputs));
    TensorList results(node->edges.size());
    {
      const OnStreamOf place(*node);
      if (!limited_ || tasks_[at].needed) run_hooks(node, grads);
      for (const Capture& capture : tasks_[at].captures) captured_[capture.slot] = grads[capture.output];
      if (wants_run(tasks_[at], grads)) {
        const int64_t event = watch_ == nullptr ? 0 : watch_->begins(*node);
        call(node, grads, results);
        if (watch_ != nullptr) [[unlikely]]
          watch_->ended(event);
      }
    }
    if (node->device >= 0) [[unlikely]]
      end_at(*node, tasks_[at]);
    for (size_t i = 0; i < node->edges.size(); i++) {
      const Edge& edge = node->edges[i];
      if (!edge.node) continue;
      const uint32_t to = edge.node->task_;
      if (results[i].defined()) receive(node, to, edge.output, std::move(results[i]));
      if (--tasks_[to].waiting == 0) enqueue(to);
    }
  }

  // What stays behind at a node: gradients that were asked for, a leaf's, those that results keep.
  void end_at(const Node& node, const Task& task) {
    TensorList kept;
    for (const Capture& capture : task.captures) kept.push_back(captured_[capture.slot]);
    if (const auto* leaf = dynamic_cast<const AccumulateGrad*>(&node)) kept.push_back(leaf->gradient());
    if (node.hooks)
      for (const AutogradMeta* meta : node.hooks->retained) kept.push_back(meta->grad);
    if (!kept.empty()) streams_.end_at(node, kept);
  }

  bool wants_run(const Task& task, const TensorList& grads) const {
    const bool only_captured = !task.captures.empty() && task.node->edges.empty();
    if (only_captured || (limited_ && !task.needed)) return false;
    if (task.is_end && !task.node->edges.empty() && !leads_on(*task.node)) return false;
    if (task.node->runs_without_gradients) return true;
    return std::any_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); });
  }
  bool leads_on(const Node& node) const {
    return std::any_of(node.edges.begin(), node.edges.end(),
                       [&](const Edge& e) { return e.node && tasks_[e.node->task_].needed; });
  }

  void call(Node* node, TensorList& grads, TensorList& results) {
    const SweepMode mode(grad_mode_);
    if (node->hooks && !node->hooks->before.empty()) run_pre_hooks(*node, grads);
    if (SweepOps* const ops = sweep_ops(); ops != nullptr && !node->edges.empty()) [[unlikely]]
      ops->prepare(*node, grads);
    const bool watched = node->hooks && !node->hooks->after.empty();
    const TensorList given = watched ? grads : TensorList();
    if (Context::current().anomaly_mode) [[unlikely]]
      call_watched(*node, grads, results);
    else {
      const NamedNode named(*node);
      node->backward(grads, results);
    }
    if (watched) run_post_hooks(*node, results, given);
    if (keep_graph_) return;
    node->release_saved();
    node->released = true;
  }

  struct NamedNode {
    const char* before;
    explicit NamedNode(const Node& node) : before(std::exchange(Running::node, node.name)) {}
    ~NamedNode() { Running::node = before; }
    NamedNode(const NamedNode&) = delete;
  };

  // Under anomaly mode an error says where the forward part was.
  static void call_watched(Node& node, const TensorList& grads, TensorList& results) {
    try {
      node.backward(grads, results);
      if (Context::current().anomaly_checks_nan) check_nan(node, results);
    } catch (...) {
      warn_of_failure(node);
      throw;
    }
  }
  static void check_nan(const Node& node, const TensorList& results) {
    const GradMode no_grad(false);
    for (size_t i = 0; i < results.size(); i++) {
      const Tensor& g = results[i];
      if (!g.defined() || !is_differentiable(g.dtype())) continue;
      check(!any(isnan(g)).item().to_bool(), TensorErrorKind::Runtime, "Function '", node.name,
            "' returned nan values in its ", i, "th output.");
    }
  }
  static void warn_of_failure(const Node& node) {
    if (node.hooks && !node.hooks->forward_trace.empty())
      Context::current().warn(text("Error detected in ", node.name,
                                   ". Traceback of forward call that caused the error:\n", node.hooks->forward_trace));
    else
      Context::current().warn(text("Error detected in ", node.name,
                                   ". No forward pass information available. Enable detect anomaly during forward pass "
                                   "for more information."));
  }

  static void run_pre_hooks(const Node& node, TensorList& grads) {
    const auto hooks = node.hooks->before;  // a hook may remove itself
    for (const auto& [id, hook] : hooks)
      if (TensorList changed = hook(grads); !changed.empty()) take_changed(grads, std::move(changed));
  }
  static void run_post_hooks(const Node& node, TensorList& results, const TensorList& grads) {
    const auto hooks = node.hooks->after;
    for (const auto& [id, hook] : hooks)
      if (TensorList changed = hook(results, grads); !changed.empty()) take_changed(results, std::move(changed));
  }
  static void take_changed(TensorList& grads, TensorList changed) {
    check(changed.size() == grads.size(), TensorErrorKind::Runtime,
          "hooks have returned an incorrect number of values (got ", changed.size(), ", but expected ", grads.size(),
          ")");
    for (size_t i = 0; i < grads.size(); i++)
      grads[i] = grads[i].defined() ? hook_result(grads[i], std::move(changed[i])) : std::move(changed[i]);
  }

  // Functions that scripts hung on the results of this node, then the results that keep their gradient.
  void run_hooks(Node* node, TensorList& grads) {
    if (auto* leaf = dynamic_cast<AccumulateGrad*>(node->hooks || node->edges.empty() ? node : nullptr)) {
      const SweepMode mode(grad_mode_);
      grads[0] = leaf->run_hooks(std::move(grads[0]));
    }
    if (!node->hooks) return;
    const SweepMode mode(grad_mode_);
    const auto hooks = node->hooks->hooks;
    for (const NodeHooks::Hook& hook : hooks)
      if (Tensor& g = grads[hook.output]; g.defined()) g = hook_result(g, hook.run(g));
    for (AutogradMeta* meta : node->hooks->retained)
      if (Tensor& g = grads[meta->output]; g.defined()) {
        meta->grad = meta->grad.defined() ? sum_of(meta->grad, g) : g.device().is_meta() ? g : clone(g);
        meta->host_record = nullptr;
      }
  }

  static uint64_t new_pass() {
    static std::atomic<uint64_t> passes{0};
    return ++passes;
  }

  const uint64_t pass_ = new_pass();
  NodeWatch* const watch_ = Running::watch;
  const bool keep_graph_, grad_mode_;
  bool limited_ = false;
  std::vector<Task> tasks_;
  std::vector<CountedPtr<Node>> roots_;  // hold the graph while it is swept
  std::vector<Start> starts_;
  std::priority_queue<Ready> ready_;
  uint32_t queued_ = 0;
  SweepStreams streams_;
  TensorList captured_;
};

namespace {

std::string size_text(Ints sizes) {
  std::string s = "torch.Size([";
  for (size_t i = 0; i < sizes.size(); i++) s += (i ? ", " : "") + std::to_string(sizes[i]);
  return s + "])";
}

Tensor first_gradient(const GraphPoints& roots, const TensorList& grads, size_t i) {
  const Tensor& root = roots[i].tensor;
  if (!root.defined()) {  // an edge alone has no shape that a 1 could have
    check(i < grads.size() && grads[i].defined(), TensorErrorKind::Runtime,
          "grad can be implicitly created only for scalar outputs");
    return grads[i];
  }
  if (i >= grads.size() || !grads[i].defined()) {
    check(!root.requires_grad() || root.numel() == 1, TensorErrorKind::Runtime,
          "grad can be implicitly created only for scalar outputs");
    check(!root.requires_grad() || !is_complex(root.dtype()), TensorErrorKind::Runtime,
          "grad can be implicitly created only for real scalar outputs but got torch.", name(root.dtype()));
    return root.requires_grad() ? ones_like(root) : Tensor();
  }
  check(grads[i].sizes() == root.sizes(), TensorErrorKind::Runtime, "Mismatch in shape: grad_output[", i,
        "] has a shape of ", size_text(grads[i].sizes()), " and output[", i, "] has a shape of ",
        size_text(root.sizes()), ".");
  return grads[i];
}

void add_roots(Engine& engine, const GraphPoints& roots, const TensorList& grads) {
  TensorList firsts;
  for (size_t i = 0; i < roots.size(); i++) firsts.push_back(first_gradient(roots, grads, i));
  for (size_t i = 0; i < roots.size(); i++) {
    const Edge edge = roots[i].edge();
    check(edge.node.get() != nullptr, TensorErrorKind::Runtime, "element ", i,
          " of tensors does not require grad and does not have a grad_fn");
    engine.add_root(edge, std::move(firsts[i]));
  }
}

}  // namespace

GraphPoints graph_points(const TensorList& tensors) {
  GraphPoints points;
  for (const Tensor& t : tensors) points.push_back({t, {}});
  return points;
}

void backward(const TensorList& roots, const TensorList& grads, bool retain_graph, bool create_graph,
              const TensorList& inputs) {
  backward(graph_points(roots), grads, retain_graph, create_graph, graph_points(inputs));
}

void backward(const GraphPoints& roots, const TensorList& grads, bool retain_graph, bool create_graph,
              const GraphPoints& inputs) {
  Engine engine(retain_graph || create_graph, create_graph);
  {
    const SweepMode mode(create_graph);
    add_roots(engine, roots, grads);
  }
  for (size_t i = 0; i < inputs.size(); i++) {
    const Edge edge = inputs[i].edge();
    check(edge.node.get() != nullptr, TensorErrorKind::Runtime,
          "One of the differentiated Tensors does not require grad");
    if (inputs[i].tensor.defined() && !is_leaf(inputs[i].tensor)) retain_grad(inputs[i].tensor);
    engine.add_input(edge, false);
  }
  engine.run();
}

TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs, bool retain_graph,
                bool create_graph, bool allow_unused) {
  return grad(graph_points(outputs), graph_points(inputs), grad_outputs, retain_graph, create_graph, allow_unused);
}

TensorList grad(const GraphPoints& outputs, const GraphPoints& inputs, const TensorList& grad_outputs,
                bool retain_graph, bool create_graph, bool allow_unused) {
  check(!inputs.empty(), TensorErrorKind::Value, "grad requires non-empty inputs.");
  Engine engine(retain_graph || create_graph, create_graph);
  {
    const SweepMode mode(create_graph);
    add_roots(engine, outputs, grad_outputs);
  }
  for (const GraphPoint& input : inputs) {
    const Edge edge = input.edge();
    check(bool(edge.node), TensorErrorKind::Runtime, "One of the differentiated Tensors does not require grad");
    engine.add_input(edge, true);
  }
  engine.run();
  for (size_t i = 0; i < inputs.size(); i++)
    check(engine.captured()[i].defined() || allow_unused, TensorErrorKind::Runtime,
          "The differentiated Tensor at index ", i,
          " appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.");
  return std::move(engine.captured());
}

Sweeping current_sweep() { return Engine::Running::current; }
const char* running_node() { return Engine::Running::node; }

SweepOps* set_sweep_ops(SweepOps* ops) { return std::exchange(Engine::Running::ops, ops); }
SweepOps* sweep_ops() { return Engine::Running::ops; }
NodeWatch* watch_nodes(NodeWatch* watch) { return std::exchange(Engine::Running::watch, watch); }

void queue_callback(std::function<void()> callback) {
  Engine::Running* const running = Engine::Running::innermost;
  check(running != nullptr, TensorErrorKind::Runtime, "Final callbacks can only be installed during backward pass.");
  running->last.push_back(std::move(callback));
}

bool is_leaf(const Tensor& t) { return !t.requires_grad() || !grad_fn_of(t); }

void set_requires_grad(const Tensor& t, bool requires_grad) {
  if (t.requires_grad() && grad_fn_of(t)) {
    check(
        requires_grad, TensorErrorKind::Runtime,
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that doesn't "
        "require differentiation use var_no_grad = var.detach().");
    return;
  }
  check(!requires_grad || !(t.impl()->flags & TensorImpl::kInference) || Context::current().inference_mode,
        TensorErrorKind::Runtime,
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  check(!requires_grad || is_differentiable(t.dtype()), TensorErrorKind::Runtime,
        "only Tensors of floating point and complex dtype can require gradients");
  if (requires_grad) t.impl()->flags |= TensorImpl::kRequiresGrad;
  else t.impl()->flags &= uint8_t(~TensorImpl::kRequiresGrad);
  if (requires_grad || t.impl()->autograd) autograd_meta(t).leaf_requires_grad = requires_grad;
}

void retain_grad(const Tensor& t) {
  check(t.requires_grad(), TensorErrorKind::Runtime, "can't retain_grad on Tensor that has requires_grad=False");
  const CountedPtr<Node> node = grad_fn_of(t);
  AutogradMeta& meta = autograd_meta(t);
  if (!node || meta.retains_grad) return;
  if (!node->hooks) node->hooks = std::make_unique<NodeHooks>();
  node->hooks->retained.push_back(&meta);
  meta.retains_grad = true;
}

uint64_t new_hook_id() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

uint64_t add_hook(const Tensor& t, TensorHook hook) {
  check(t.requires_grad(), TensorErrorKind::Runtime,
        "cannot register a hook on a tensor that doesn't require gradient");
  const uint64_t id = new_hook_id();
  AutogradMeta& meta = autograd_meta(t);
  if (const CountedPtr<Node> node = grad_fn_of(t)) {
    if (!node->hooks) node->hooks = std::make_unique<NodeHooks>();
    node->hooks->hooks.push_back({meta.output, id, std::move(hook)});
  } else {
    meta.hooks.emplace_back(id, std::move(hook));
  }
  return id;
}

void remove_hook(const Tensor& t, uint64_t id) {
  AutogradMeta& meta = autograd_meta(t);
  std::erase_if(meta.hooks, [&](const auto& hook) { return hook.first == id; });
  std::erase_if(meta.accumulated_hooks, [&](const auto& hook) { return hook.first == id; });
  if (meta.grad_fn && meta.grad_fn->hooks)
    std::erase_if(meta.grad_fn->hooks->hooks, [&](const NodeHooks::Hook& hook) { return hook.id == id; });
}

uint64_t add_accumulated_hook(const Tensor& leaf, std::function<void(const Tensor&)> hook) {
  check(leaf.requires_grad(), TensorErrorKind::Runtime,
        "cannot register a hook on a tensor that doesn't require gradient");
  check(is_leaf(leaf), TensorErrorKind::Runtime, "post accumulate grad hooks cannot be registered on non-leaf tensors");
  const uint64_t id = new_hook_id();
  autograd_meta(leaf).accumulated_hooks.emplace_back(id, std::move(hook));
  return id;
}

uint64_t add_pre_hook(Node& node, NodePreHook hook) {
  const uint64_t id = new_hook_id();
  node.own_hooks().before.emplace_back(id, std::move(hook));
  return id;
}

uint64_t add_post_hook(Node& node, NodePostHook hook) {
  const uint64_t id = new_hook_id();
  node.own_hooks().after.emplace_back(id, std::move(hook));
  return id;
}

void remove_hook(Node& node, uint64_t id) {
  if (!node.hooks) return;
  std::erase_if(node.hooks->before, [&](const auto& hook) { return hook.first == id; });
  std::erase_if(node.hooks->after, [&](const auto& hook) { return hook.first == id; });
}

Tensor detached(const Tensor& t) { return t.view_of(t.sizes(), t.strides()); }

void detach_(const Tensor& t) {
  AutogradMeta* meta = t.impl()->autograd;
  t.impl()->flags &= uint8_t(~(TensorImpl::kRequiresGrad | TensorImpl::kDual));
  if (!meta) return;
  meta->tangents = nullptr;
  check(
      !meta->view_base.defined(), TensorErrorKind::Runtime,
      "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is "
      "set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these gradients. To fix this error, please refer to "
      "the Optimizer.zero_grad() function in torch/optim/optimizer.py as a solution.");
  meta->grad_fn = nullptr;
  meta->output = 0;
  meta->leaf_requires_grad = false;
}

Tensor detached_alias(const Tensor& t) {
  Storage* storage = Storage::alias(&t.storage());
  const Tensor out = Tensor::adopt(TensorImpl::create_view(storage, t.impl()->address(), t.sizes(), t.strides(), t.dtype()));
  storage->release();
  out.set_math_bits(t.math_bits());
  return out;
}

void replace_data(const Tensor& self, const Tensor& data) {
  TensorImpl* impl = self.impl();
  const Tensor kept = data;  // self may be data
  impl->dtype = data.dtype();
  if (impl->autograd && impl->autograd->accumulator) impl->autograd->accumulator->dtype = impl->dtype;
  impl->device = data.device();
  impl->set_storage(&data.storage(), data.impl()->address());
  impl->set_layout(data.sizes(), data.strides());
  self.set_math_bits(kept.math_bits());
}

}  // namespace tessera::tensor
