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

bool is_leaf(const Tensor& t);
void set_requires_grad(const Tensor& t, bool requires_grad);
/// Keeps the gradient of a tensor that is no leaf in its `.grad` too.
void retain_grad(const Tensor& t);
/// Calls the hook with each gradient of t; what it returns (if defined) takes the gradient's place. The answer removes it.
uint64_t add_hook(const Tensor& t, TensorHook hook);
void remove_hook(const Tensor& t, uint64_t id);

/// The same elements outside the graph, sharing memory and version.
Tensor detached(const Tensor& t);
void detach_(const Tensor& t);
/// `x.data`: as detached, but writes through it are not noticed by the tape.
Tensor detached_alias(const Tensor& t);
/// `x.data = y`: x takes over y's storage, layout and dtype.
void replace_data(const Tensor& self, const Tensor& data);

}  // namespace tessera::tensor
