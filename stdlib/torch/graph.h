// What scripts see of the autograd graph: grad_fn objects, backward, custom functions (torch._C's part for torch.autograd).
#pragma once

#include "lang/objects/module.h"
#include "runtime/autograd/node.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

Value wrap_node(Interpreter& in, CountedPtr<Node> node);
// A tuple of tensors; None for undefined ones.
Value wrap_list(Interpreter& in, const TensorList& list);
void add_graph_functions(Interpreter& in, Module& module);

}  // namespace tessera::stdlib
