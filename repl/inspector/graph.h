// The autograd graph behind a tensor: what `:graph` shows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/core/interpreter.h"
#include "repl/session/client.h"

namespace tessera::repl {

struct GraphNode {
  std::string name;    // "AddmmBackward0"; of a leaf: "AccumulateGrad"
  std::string tensor;  // the variable or parameter that it made or that is the leaf: "model.0.weight"; may be empty
  std::string shape;   // of that tensor; empty where nobody holds it
  bool is_leaf = false;
  bool is_freed = false;         // what it kept went with an earlier backward
  std::vector<uint32_t> inputs;  // numbers of nodes; the same one may stand there twice
  uint32_t users = 0;            // nodes here whose input it is
};

struct Graph {
  std::vector<GraphNode> nodes;  // the first is the root's; inputs that have no number here are left out
  int64_t total = 0;             // nodes that there are
  bool gave_up = false;          // ... and more, which were not counted
};

constexpr size_t kMostGraphNodes = 10'000;  // that are listed

// Of a tensor that requires a gradient; no nodes for anything else.
Graph graph_of(lang::Interpreter& in, const lang::Value& value, size_t most_nodes = kMostGraphNodes);

// A tree: inputs below what they are inputs of, a node that several use drawn at its first place. A node with one input has
// it right below, so a long chain stays where it is.
std::string graph_text(lang::Interpreter& in, const lang::Value& value, std::string_view name, const Style& style);
// For Graphviz; empty where there is no graph.
std::string graph_dot(lang::Interpreter& in, const lang::Value& value, std::string_view name);

}  // namespace tessera::repl
