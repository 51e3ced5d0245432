// Cycles that lead through tensors: a hook that closes over its own tensor, a custom Function whose context holds its
// result. A tensor's graph is the runtime's, which knows no Values, so the script functions that hang on it are of the
// types below, which the collector's visitor can look for.
//
// Nearly no tensor is part of a cycle, so the collector hears only of those that get a hook, that are results of a custom
// Function, or that are instances of a script class and have attributes: track_tensor. It sees what hangs on a tensor
// that nobody else holds, and on its node if that is the tensor's alone: then the cycle is certain. What else holds a
// graph (another tensor, computed from it) keeps the cycle alive, as in PyTorch.
#pragma once

#include "stdlib/torch/state.h"

namespace tessera::stdlib {

// The functions that scripts hang on tensors, as the runtime calls them.
struct ScriptHook {
  Interpreter* in;
  Value function;
  Tensor operator()(const Tensor& grad) const;
};
struct ScriptBackward {
  Interpreter* in;
  Value function;
  TensorList operator()(const TensorList& grads, const TensorList& saved) const;
};

// Of a node: what it was given, or that and what came out.
struct ScriptNodePreHook {
  Interpreter* in;
  Value function;
  TensorList operator()(const TensorList& grads) const;
};
struct ScriptNodeHook {
  Interpreter* in;
  Value function;
  TensorList operator()(const TensorList& results, const TensorList& grads) const;
};
struct ScriptLeafHook {
  Interpreter* in;
  Value function;
  Value leaf;  // a weak reference to the script's object: the hook gets that one, which may be a key of a dict
  void operator()(const Tensor& leaf) const;
};

// The script's object for the gradient of a tensor, which the tensor keeps as long as it keeps the gradient: `t.grad is t.grad`, and what a
// script sets on it stays.
struct KeptGradient : Counted {
  Value object;
};

void track_tensor(Interpreter& in, const Value& tensor);

// For the type's table.
void traverse_tensor(Object* self, Visitor& visitor);
void clear_tensor(Interpreter& in, Object* self);

}  // namespace tessera::stdlib
