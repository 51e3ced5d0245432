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
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/context.h"
#include "runtime/counted.h"
#include "runtime/tensor.h"

namespace tessera {

class Node;

/// Where the gradient of one input goes: that input's node, and which of its results the input was.
struct Edge {
    CountedPtr<Node> node;  // null: the input needs no gradient
    uint32_t output = 0;
};

class Node : public Counted {
public:
    explicit Node(const char* op_name) : name(op_name) {}

    /// grad_outputs: one per result, undefined when nothing flowed into it. Fill grad_inputs[i] for every edge i with
    /// needs(i); leave it undefined for zero. Runs with grad mode on only under create_graph.
    virtual void backward(const TensorList& grad_outputs, TensorList& grad_inputs) = 0;
    /// Frees what was saved (after backward without retain_graph).
    virtual void release_saved() {}

    /// Adds the edge of the next input: its node, or a fresh leaf accumulator, or nothing.
    void add_input(const Tensor& input);
    bool needs(size_t input) const { return input < edges.size() && edges[input].node; }

    const char* name;  // "AddBackward0"
    uint64_t sequence = 0;
    uint32_t outputs = 1;
    bool released = false;
    std::vector<Edge> edges;
};

/// A tensor kept for backward. Remembers the version; get() throws PyTorch's "one of the variables needed for gradient
/// computation has been modified by an inplace operation" when it changed. A saved *result* is kept without
/// its own node (that would be a cycle); get(node) puts it back.
class SavedTensor {
public:
    SavedTensor() = default;
    explicit SavedTensor(const Tensor& t, bool is_result = false);
    Tensor get(Node* owner) const;
    bool saved() const { return tensor_.defined(); }
    void reset() { tensor_.reset(); }

private:
    Tensor tensor_;
    uint32_t version_ = 0;
    uint32_t output_ = 0;
    bool is_result_ = false;
};

/// What autograd hangs on a tensor.
struct AutogradMeta {
    Tensor grad;
    CountedPtr<Node> grad_fn;
    Node* accumulator = nullptr;  // the leaf's AccumulateGrad while someone holds it
    uint32_t output = 0;          // which result of grad_fn this is
    bool leaf_requires_grad = false;
    bool retains_grad = false;
    Tensor view_base;  // for differentiable views
    std::vector<std::function<Tensor(const Tensor&)>> hooks;
    std::string name;
};

/// The tensor's record, made if there is none.
AutogradMeta& autograd_meta(const Tensor& t);
void destroy_autograd_meta(AutogradMeta* meta) noexcept;

template <class... Tensors>
inline bool needs_grad(const Tensors&... inputs) {
    return ((inputs.defined() && inputs.requires_grad()) || ...) && Context::current().grad_enabled;
}

/// Makes `out` the node's result number `output`. Results that are not floating stay outside.
void set_history(Tensor& out, CountedPtr<Node> node, uint32_t output = 0);
/// Before an in-place write when grad mode is on: refuses leaves that require grad and views of such leaves.
void check_inplace(const Tensor& self);
/// After an in-place write: self is now the node's result (and the base of self, if it is a view, follows).
void rebase_history(Tensor& self, CountedPtr<Node> node);

}  // namespace tessera
