// Recording a structured op without writing a class: the derivative is a lambda beside the op.
//
//     if (needs_grad(self)) record(out, "GatherBackward0", {&self}, keep(index), [=, shape = Dims(self.sizes())](Sweep& s) {
//         s.give(0, [&] { return scatter_add(zeros(shape, s.g().dtype()), dim, s.kept(0), s.g()); });
//     });
//
// Inputs are numbered as given, results and kept tensors likewise. Lambdas capture numbers and shapes; tensors go through
// keep(), which checks their version and frees them after the sweep.
#pragma once

#include <array>
#include <initializer_list>
#include <vector>

#include "runtime/autograd/node.h"

namespace tessera::tensor {

/// One node's turn in a backward sweep, as its lambda sees it.
struct Sweep {
  Node& node;
  const TensorList& grads;
  TensorList& results;
  const SavedTensor* saved;

  const Tensor& g(size_t output = 0) const { return grads[output]; }
  Tensor kept(size_t i) const { return saved[i].get(&node); }
  bool needs(size_t input) const { return node.needs(input); }
  /// Computes the gradient of an input, if somebody wants it.
  template <class F>
  void give(size_t input, F&& compute) {
    if (node.needs(input)) results[input] = compute();
  }
};

template <size_t N>
struct Kept {
  std::array<SavedTensor, N> tensors;
};
template <class... T>
Kept<sizeof...(T)> keep(const T&... tensors) {
  return {{SavedTensor(tensors)...}};
}
/// As many as there are; undefined ones stay so.
struct KeptList {
  std::vector<SavedTensor> tensors;
};
/// The op's own result.
struct ResultOf {
  const Tensor& tensor;
};
inline Kept<1> keep(ResultOf result) { return {{SavedTensor(result.tensor, true)}}; }

template <class K, class F>
class FormulaNode final : public Node {
 public:
  FormulaNode(const char* name, K&& kept, F&& formula)
      : Node(name), kept_(std::move(kept)), formula_(std::move(formula)) {}
  /// Nothing kept yet, the formula made in place.
  template <class... Args>
  FormulaNode(const char* name, Args&&... formula) : Node(name), formula_(std::forward<Args>(formula)...) {}
  /// For who fills it after the node is made.
  K& kept() { return kept_; }
  const F& formula() const { return formula_; }
  void backward(const TensorList& grads, TensorList& results) override {
    Sweep sweep{*this, grads, results, kept_.tensors.data()};
    formula_(sweep);
  }
  void release_saved() override {
    for (SavedTensor& t : kept_.tensors) t.reset();
  }

 private:
  K kept_;
  F formula_;
};

using Inputs = std::initializer_list<const Tensor*>;

template <class K, class F>
CountedPtr<Node> make_node(const char* name, Inputs inputs, K kept, F formula) {
  auto node = make_counted<FormulaNode<K, F>>(name, std::move(kept), std::move(formula));
  for (const Tensor* input : inputs) node->add_input(*input);
  return node;
}

/// Makes `out` the result of the op. The caller has asked needs_grad.
template <class K, class F>
void record(Tensor& out, const char* name, Inputs inputs, K kept, F formula) {
  set_history(out, make_node(name, inputs, std::move(kept), std::move(formula)));
}
template <class F>
void record(Tensor& out, const char* name, Inputs inputs, F formula) {
  set_history(out, make_node(name, inputs, Kept<0>{}, std::move(formula)));
}

/// The same for a view; asks by itself whether there is anything to record.
template <class F>
Tensor& record_view(Tensor& out, const Tensor& self, const char* name, F formula) {
  if (!Context::current().records || !is_differentiable(self.dtype())) return out;
  set_view_history(out, self, self.requires_grad() ? make_node(name, {&self}, Kept<0>{}, std::move(formula)) : nullptr);
  return out;
}

}  // namespace tessera::tensor
