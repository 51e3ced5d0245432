// What scripts hang on the graph: hooks of nodes, what packs saved tensors, the trace that anomaly mode asks for.
#pragma once

#include "lang/objects/module.h"
#include "runtime/autograd/node.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

// A node's part that belongs to scripts: the metadata dict, and the object that stands for the node while there is one.
struct NodeRecord : Counted {
  Value metadata;
  Object* object = nullptr;
};
NodeRecord& node_record(Node& node);
NodeRecord* find_node_record(Node& node);

// Methods of node objects; `node_of` says which node an object is.
void add_node_hooks(Interpreter& in, Type* type);
Node& node_of(const Value& v);

void add_hook_functions(Interpreter& in, Module& module);

}  // namespace tessera::stdlib
