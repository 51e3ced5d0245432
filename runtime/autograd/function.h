// Steps of the graph that a host or a script wrote itself, and the checks of what such code hands back: PyTorch's errors
// for a gradient or a hook's result of the wrong shape, type or device.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/autograd/node.h"

namespace tessera::tensor {

/// Turns the gradients of the outputs into those of the inputs. `saved` are the tensors that record_function was given.
using FunctionBackward = std::function<TensorList(const TensorList& grads, const TensorList& saved)>;

/// `outputs` become results of a node called `name`, and `backward` is called when their gradients are there (undefined:
/// nothing flowed into an output). Undefined inputs stand for arguments that were no tensors; undefined outputs, and inputs
/// that come back as outputs, get no history. A saved output is kept without its node, so that no cycle holds the graph.
/// `written` are inputs that the function has changed in place: as outputs they keep their identity and go on from here.
/// `are_views`: the outputs are views of the first input, which they know as their base.
CountedPtr<Node> record_function(std::string name, const TensorList& inputs, TensorList& outputs,
                                 const TensorList& saved, FunctionBackward backward, const TensorList& written = {},
                                 bool are_views = false);

/// What record_function was given to save, as it is now. Nothing for other nodes.
TensorList saved_of(Node& node);

/// The backward of a node that record_function made; null for others. For collectors that look for cycles through it.
FunctionBackward* function_of(Node& node);

/// What a hook returned for a gradient: that gradient if it is undefined, an error if it has another shape or type.
Tensor hook_result(const Tensor& grad, Tensor result, std::string_view hook_name = "");

}  // namespace tessera::tensor
