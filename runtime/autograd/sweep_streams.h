// Streams in a backward pass, as PyTorch has them: each node runs on the stream on which its op ran, what it computes is handed to
// another stream by an event, and when all has run the caller's streams wait for those where gradients ended. So whoever may
// read the results of a forward pass may read the gradients too, without knowing of the streams in between.
//
// Where no node has a stream of its own, nothing of this costs anything but a test.
#pragma once

#include "runtime/autograd/node.h"
#include "runtime/device/traits.h"

namespace tessera::tensor {

/// Makes the node's device and stream current for the length of a block.
class OnStreamOf {
 public:
  explicit OnStreamOf(const Node& node) {
    if (node.device >= 0) [[unlikely]]
      enter(node);
  }
  ~OnStreamOf() {
    if (node_device_ >= 0) [[unlikely]]
      leave();
  }
  OnStreamOf(const OnStreamOf&) = delete;

 private:
  void enter(const Node& node);
  void leave();
  int node_device_ = -1, device_before_ = 0;
  StreamHandle stream_before_ = nullptr;
};

class SweepStreams {
 public:
  /// Before `to` reads a gradient that `from` has computed (null: the caller).
  void hand_over(const Tensor& grad, const Node* from, const Node& to) {
    if (has_streams(grad.device())) [[unlikely]]
      order(grad, from, to);
  }
  /// Gradients stay where the node has run: with a leaf, or with whoever asked for them.
  void end_at(const Node& node, const TensorList& grads);
  /// What the caller does next comes after all of it.
  void join();

 private:
  struct End {
    int device;
    StreamHandle stream;
  };
  void order(const Tensor& grad, const Node* from, const Node& to);
  std::vector<End> ends_;  // that are not the caller's
};

}  // namespace tessera::tensor
