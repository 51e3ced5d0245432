// backward() and grad(), and what else scripts and hosts do with the tape. Messages are PyTorch's.
#pragma once

#include "runtime/autograd/node.h"

namespace tessera::tensor {

/// Adds d(roots)/d(leaf) to the leaves' `.grad`. An undefined or missing entry of `grads` stands for 1 (of a scalar root).
/// With `inputs`, only these get gradients. Under create_graph the sweep is recorded itself.
void backward(const TensorList& roots, const TensorList& grads = {}, bool retain_graph = false,
              bool create_graph = false, const TensorList& inputs = {});
/// d(outputs)/d(inputs), one for each input, undefined for what was not used (allow_unused).
TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs = {},
                bool retain_graph = false, bool create_graph = false, bool allow_unused = false);

/// Where a sweep starts or ends: a tensor, or an edge of the graph without one.
struct GraphPoint {
  Tensor tensor;
  Edge place;
  Edge edge() const { return tensor.defined() ? gradient_edge(tensor) : place; }
};
using GraphPoints = std::vector<GraphPoint>;
void backward(const GraphPoints& roots, const TensorList& grads, bool retain_graph, bool create_graph,
              const GraphPoints& inputs);
TensorList grad(const GraphPoints& outputs, const GraphPoints& inputs, const TensorList& grad_outputs,
                bool retain_graph, bool create_graph, bool allow_unused);

/// The sweep that this thread is in.
struct Sweeping {
  uint64_t id = 0;       // 0: none
  bool limited = false;  // to the way to some inputs
};
Sweeping current_sweep();
/// The name of the node whose derivative this thread computes; null: none. A handler of a signal may ask.
const char* running_node();

/// Hears of the nodes that sweeps of this thread run.
class NodeWatch {
 public:
  virtual int64_t begins(const Node& node) = 0;
  virtual void ended(int64_t) = 0;  // what begins() answered; not called after an error

 protected:
  ~NodeWatch() = default;
};
/// Sets the NodeWatch of sweeps of this thread that begin from now on; null ends the watch. Returns the previous NodeWatch.
NodeWatch* watch_nodes(NodeWatch* watch);

/// Does what sweeps do with gradients beside running nodes, in place of the engine. An undefined result leaves it to the engine.
class SweepOps {
 public:
  virtual Tensor sum(const Tensor& a, const Tensor& b) = 0;
  /// Takes up a gradient in a leaf's `.grad`. Returns false to leave it to the engine.
  virtual bool accumulate(const Tensor& leaf, Tensor& grad, const Tensor& arrived) = 0;
  /// Replaces gradients that the formula of `node` cannot read by ones that it can.
  virtual void prepare(const Node& node, TensorList& grads) = 0;

 protected:
  ~SweepOps() = default;
};
/// Sets the SweepOps of this thread's backward sweeps; null restores the engine's own operations. Returns the previous SweepOps.
SweepOps* set_sweep_ops(SweepOps* ops);
SweepOps* sweep_ops();

/// Calls it when the sweep that this thread is in has run.
void queue_callback(std::function<void()> callback);

bool is_leaf(const Tensor& t);
void set_requires_grad(const Tensor& t, bool requires_grad);
/// Keeps the gradient of a tensor that is no leaf in its `.grad` too.
void retain_grad(const Tensor& t);
/// Calls the hook with each gradient of t; what it returns (if defined) takes the gradient's place. The answer removes it.
uint64_t add_hook(const Tensor& t, TensorHook hook);
void remove_hook(const Tensor& t, uint64_t id);
/// Calls the hook with the leaf whenever its `.grad` has taken up a gradient. remove_hook takes it away again.
uint64_t add_accumulated_hook(const Tensor& leaf, std::function<void(const Tensor&)> hook);
uint64_t add_pre_hook(Node& node, NodePreHook hook);
uint64_t add_post_hook(Node& node, NodePostHook hook);
void remove_hook(Node& node, uint64_t id);

/// The same elements outside the graph, sharing memory and version.
Tensor detached(const Tensor& t);
void detach_(const Tensor& t);
/// `x.data`: as detached, but writes through it are not noticed by the tape.
Tensor detached_alias(const Tensor& t);
/// `x.data = y`: x takes over y's storage, layout and dtype.
void replace_data(const Tensor& self, const Tensor& data);

}  // namespace tessera::tensor
