// The end of every path: the node that adds gradients up in a leaf's `.grad`.
#pragma once

#include "runtime/autograd/node.h"

namespace tessera::tensor {

class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  ~AccumulateGrad() override;
  void backward(const TensorList& grad_outputs, TensorList& grad_inputs) override;

  /// Runs the leaf's hooks on a gradient that arrives.
  Tensor run_hooks(Tensor grad) const;
  const Tensor& leaf() const { return leaf_; }
  const Tensor& gradient() const { return autograd_meta(leaf_).grad; }

 private:
  void take(const Tensor& arrived);

  Tensor leaf_;
};

/// The leaf's accumulator; one at a time exists.
CountedPtr<Node> leaf_accumulator(const Tensor& leaf);

}  // namespace tessera::tensor
