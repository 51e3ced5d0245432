// The tape: nodes, edges, saved tensors. A node is made by an op when grad mode is on and an input requires a
// gradient; it turns gradients of the op's results into gradients of its inputs. The engine (engine.cpp) walks
// nodes by sequence number, without recursion.
//
// How an op records (ops made from the tables do this by themselves):
//
//     if (needs_grad(x, w)) {
//         auto node = make_counted<LinearBackward>("LinearBackward0", x, w);   // saves what it reads
//         node->add_input(x);                                                  // an edge each, in order
//         node->add_input(w);
//         set_history(out, std::move(node));
//     }
//
// A view records with set_view_history, so that a write through it reaches its base. An in-place op calls
// check_inplace(self), writes, bumps the version, and calls rebase_history(self, node).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/autograd/pool.h"
#include "runtime/context.h"
#include "runtime/counted.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

class Node;
struct AutogradMeta;

/// Where the gradient of one input goes: that input's node, and which of its results the input was.
struct Edge {
  CountedPtr<Node> node;  // null: the input needs no gradient
  uint32_t output = 0;
};

/// The edges of a node. Two lie in the node itself, which is enough for nearly every op.
class EdgeList {
 public:
  EdgeList() = default;
  EdgeList(const EdgeList&) = delete;
  EdgeList& operator=(const EdgeList&) = delete;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Edge* begin() { return more_ ? more_->data() : inline_; }
  Edge* end() { return begin() + size_; }
  const Edge* begin() const { return more_ ? more_->data() : inline_; }
  const Edge* end() const { return begin() + size_; }
  Edge& operator[](size_t i) { return begin()[i]; }
  const Edge& operator[](size_t i) const { return begin()[i]; }
  void push_back(Edge&& edge) {
    if (size_ < kInline) inline_[size_].node = std::move(edge.node), inline_[size_].output = edge.output;
    else push_more(std::move(edge));
    size_++;
  }

 private:
  static constexpr uint32_t kInline = 2;
  void push_more(Edge edge);

  Edge inline_[kInline];
  std::unique_ptr<std::vector<Edge>> more_;  // holds all of them once there are more
  uint32_t size_ = 0;
};

/// The directional derivative of a tensor at a level of forward mode (tangents.h).
struct Tangent {
  uint32_t level;
  Tensor value;
};
using Tangents = std::vector<Tangent>;  // by level, outermost first

/// The tangents of a node's inputs and results, kept while an input carries tangents (forward mode).
struct DualRecord {
  struct Input {
    uint32_t edge;
    Tangents tangents;
  };
  std::vector<Input> inputs;
  std::vector<Tangents> results;  // those that are computed
  bool is_counted = false;        // the next member is set
  bool has_graph = false;         // an input requires a gradient
};

using TensorHook = std::function<Tensor(const Tensor&)>;

/// See (and may replace, by a list of the same length) what a node is given, or what it has computed from that.
using NodePreHook = std::function<TensorList(const TensorList& grad_outputs)>;
using NodePostHook = std::function<TensorList(const TensorList& grad_inputs, const TensorList& grad_outputs)>;

/// What few nodes have: functions that see (and may replace) the gradient of a result, and tensors that keep theirs.
struct NodeHooks {
  struct Hook {
    uint32_t output;
    uint64_t id;
    TensorHook run;
  };
  std::vector<Hook> hooks;
  std::vector<AutogradMeta*> retained;
  std::vector<std::pair<uint64_t, NodePreHook>> before;
  std::vector<std::pair<uint64_t, NodePostHook>> after;
  std::string forward_trace;        // where the node was made, under anomaly mode
  CountedPtr<Counted> host_record;  // what a host keeps with the node
  std::unique_ptr<DualRecord> duals;
};

class Node : public Counted {
 public:
  /// Of leaves' accumulators, which run as soon as they can: their memory is free before older nodes run.
  static constexpr uint64_t kLeafSequence = UINT64_MAX;

  explicit Node(const char* op_name) : name(op_name), sequence(next_sequence_++) {}
  ~Node() override;
  static void* operator new(size_t bytes) { return pool_allocate(bytes); }
  static void operator delete(void* block, size_t bytes) { pool_release(block, bytes); }

  /// grad_outputs: one per result, undefined when nothing flowed into it. Fill grad_inputs[i] for every edge i with
  /// needs(i); leave it undefined for zero. Runs with grad mode on only under create_graph.
  virtual void backward(const TensorList& grad_outputs, TensorList& grad_inputs) = 0;
  /// Frees what was saved (after backward without retain_graph).
  virtual void release_saved() {}

  /// Adds the edge of the next input: its node, or a fresh leaf accumulator, or nothing.
  void add_input(const Tensor& input);
  void add_edge(Edge edge);
  /// Notes what the node made and where: backward runs on the stream that is current there now (sweep_streams.h).
  void made(const Tensor& result) {
    dtype = result.dtype();
    if (!result.device().is_cpu() && device < 0) [[unlikely]]
      note_stream(result.device());
  }
  void note_stream(Device on);
  /// Null unless an input carries tangents.
  DualRecord* duals() const { return hooks ? hooks->duals.get() : nullptr; }
  bool needs(size_t input) const { return input < edges.size() && edges[input].node; }
  NodeHooks& own_hooks() {
    if (!hooks) hooks = std::make_unique<NodeHooks>();
    return *hooks;
  }

  const char* name;  // "AddBackward0"
  /// Larger than that of every node behind an edge, whatever thread made it. A clock of each thread that add_edge sets
  /// forward (Lamport's) gives that order at no cost; nodes that do not lead to each other may share a number.
  uint64_t sequence;
  uint32_t outputs = 1;
  bool released = false;
  bool runs_without_gradients = false;  // backward is called even when no gradient arrived
  DType dtype = kBool;                  // of its result, and so of its gradient; nobody asks of several; bool: not told
  int8_t device = -1;                   // of CUDA; -1: its results lie elsewhere
  StreamHandle stream = nullptr;        // of that device
  EdgeList edges;
  std::unique_ptr<NodeHooks> hooks;

 private:
  friend class Engine;
  void note_dual(const Tensor& input);
  inline static thread_local uint64_t next_sequence_ = 0;

  // Where the running pass keeps this node: see Engine.
  uint64_t pass_ = 0;
  uint32_t task_ = 0;
};

/// A saved tensor as the hooks of its context keep it, and what ties it to the graph when it comes back.
class PackedTensor : public Counted {
 public:
  virtual Tensor unpack() = 0;

 private:
  friend class SavedTensor;
  Edge edge_;
};

/// Takes the place of the tensors that ops save while it is the context's saved_hooks.
class SavedTensorHooks {
 public:
  virtual ~SavedTensorHooks() = default;
  virtual CountedPtr<PackedTensor> pack(const Tensor& t) = 0;
};

/// A tensor kept for backward. Remembers the version; get() throws PyTorch's "one of the variables needed for gradient
/// computation has been modified by an inplace operation" when it changed. A saved *result* is kept without
/// its own node (that would be a cycle); get(node) puts it back.
class SavedTensor {
 public:
  SavedTensor() = default;
  explicit SavedTensor(const Tensor& t, bool is_result = false);
  Tensor get(Node* owner) const;
  bool saved() const { return tensor_.defined() || packed_; }
  void reset() { tensor_.reset(), packed_ = nullptr; }
  /// Saves by these hooks from now on.
  void pack(SavedTensorHooks& hooks);

 private:
  [[noreturn]] void fail_changed(const Node* owner) const;
  Tensor unpacked(Node* owner) const;

  Tensor tensor_;
  CountedPtr<PackedTensor> packed_;  // instead of the tensor
  uint32_t version_ = 0;
  uint32_t output_ = 0;
  bool is_result_ = false;
  bool empty_ = true;
};

/// What autograd hangs on a tensor.
struct AutogradMeta {
  Tensor grad;
  CountedPtr<Node> grad_fn;     // read it through grad_fn_of: a write through a relative may have made it stale
  Node* accumulator = nullptr;  // the leaf's AccumulateGrad while someone holds it
  uint32_t output = 0;          // which result of grad_fn this is
  uint32_t view_version = 0;    // the storage's version when grad_fn was set
  bool leaf_requires_grad = false;
  bool retains_grad = false;
  bool one_of_several_views = false;                   // of split, unbind, chunk: may not be written
  Tensor view_base;                                    // for differentiable views: the tensor that owns the history
  std::vector<std::pair<uint64_t, TensorHook>> hooks;  // of a leaf; others have theirs on the node
  std::vector<std::pair<uint64_t, std::function<void(const Tensor&)>>>
      accumulated_hooks;               // of a leaf, after .grad is set
  std::unique_ptr<Tangents> tangents;  // of forward mode
  CountedPtr<Counted> host_record;     // what a host keeps with the tensor
};

/// The tensor's record, made if there is none.
AutogradMeta& autograd_meta(const Tensor& t);
void destroy_autograd_meta(AutogradMeta* meta) noexcept;

/// The node that made the tensor, null for leaves.
CountedPtr<Node> grad_fn_of(const Tensor& t);
/// Where a gradient of the tensor goes: its node, a leaf's accumulator, or nowhere.
Edge gradient_edge(const Tensor& t);

template <class... Tensors>
inline bool needs_grad(const Tensors&... inputs) {
  return ((inputs.defined() && inputs.is_tracked()) || ...) && Context::current().records;
}
bool any_needs_grad(const TensorList& inputs);
/// In anomaly mode: notes where the program stands as the place that made the node.
void remember_forward(Node& node);

/// Makes `out` the node's result number `output`. Results that are not floating stay outside.
void set_history(Tensor& out, CountedPtr<Node> node, uint32_t output = 0);
/// The same where tangents are known, or play no part.
void set_history_alone(Tensor& out, CountedPtr<Node> node, uint32_t output = 0);
/// Makes `view`, which shares storage with `base`, a differentiable view of it; node may be null when base needs no
/// gradient. Does nothing outside grad mode.
void set_view_history(Tensor& view, const Tensor& base, CountedPtr<Node> node, uint32_t output = 0,
                      bool one_of_several = false);
/// Before an in-place write when grad mode is on: refuses leaves that require grad and views of such leaves.
void check_inplace(const Tensor& self);
/// After an in-place write: self is now the node's result (and the base of self, if it is a view, follows).
void rebase_history(Tensor& self, CountedPtr<Node> node);

}  // namespace tessera::tensor
