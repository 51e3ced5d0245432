// compile: small (runs once for a backward pass)
#include "stdlib/torch/graph.h"

#include <unordered_set>

#include <algorithm>

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "runtime/autograd/accumulate.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/function.h"
#include "runtime/ops/math_bits.h"
#include "stdlib/torch/dispatch.h"
#include "stdlib/torch/graph_hooks.h"
#include "stdlib/torch/profiler_events.h"
#include "stdlib/torch/tensor_cycles.h"

namespace tessera::stdlib {
namespace {

// grad_fn as scripts see it.
struct NodeObject : Object {
  CountedPtr<Node> node;
};

constexpr char kNodeLayout[] = "autograd node";

void destroy(Interpreter& in, Object* self) {
  Node& node = *known_cast<NodeObject>(self)->node;
  if (NodeRecord* record = find_node_record(node)) record->object = nullptr;
  free_object(in, known_cast<NodeObject>(self));
}

Value repr_node(Interpreter& in, const Value& self) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<void*>(&node_of(self)));
  return make_str(in, std::string("<") + node_of(self).name + " object at " + address + ">");
}

// Only nodes of custom functions have it, and leaves' accumulators the other.
Value saved_tensors(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] { return wrap_list(in, saved_of(node_of(args[0]))); });
}
Value variable(Interpreter& in, const Args& args) {
  const auto* leaf = dynamic_cast<AccumulateGrad*>(&node_of(args[0]));
  return leaf ? wrap_tensor(in, leaf->leaf()) : Value::none();
}

Value sequence(Interpreter&, const Args& args) {
  return Value::integer(static_cast<int64_t>(node_of(args[0]).sequence));
}

Value name(Interpreter& in, const Args& args) {
  Node& node = node_of(args[0]);
  const std::string_view name = node.name;
  const bool is_qualified = name == "AccumulateGrad" || name == "CopySlices";
  return make_str(in, (is_qualified ? "torch::autograd::" : "") + std::string(name));
}

Value next_functions(Interpreter& in, const Args& args) {
  const Node& node = node_of(args[0]);
  Tuple* edges = new_tuple(in, node.edges.size());
  const Value holder = Value::adopt(edges);
  for (size_t i = 0; i < node.edges.size(); ++i) {
    const Edge& edge = node.edges[i];
    edges->items[i] =
        make_tuple(in, {edge.node ? wrap_node(in, edge.node) : Value::none(), Value::integer(edge.output)});
  }
  return holder;
}

int64_t hash_node(Interpreter&, const Value& self) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(&node_of(self)) >> 4);
}

Value compare_nodes(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  const bool comparable = other.is_object() && other.as_object()->type == self.as_object()->type;
  if (!comparable || (op != CompareOp::Eq && op != CompareOp::Ne)) return in.not_implemented;
  return Value::boolean((&node_of(self) == &node_of(other)) == (op == CompareOp::Eq));
}

// A type for each operation, as PyTorch has: type(y.grad_fn).__name__ is "MulBackward0".
Type* node_type(Interpreter& in, const char* name_of_node, bool is_function, bool is_leaf) {
  auto& known = torch_state(in).node_types;
  for (const auto& [known_name, type] : known)
    if (known_name == name_of_node) return type;
  Type* type = in.new_type({.name = name_of_node,
                            .module = is_function ? "torch.autograd.function" : "builtins",
                            .size = sizeof(NodeObject),
                            .flags = kFinalType | (is_function ? kNamedAlone : 0u)});
  known.emplace_back(name_of_node, type);
  type->slots.layout = kNodeLayout;
  type->slots.destroy = destroy;
  type->slots.repr = repr_node;
  type->slots.hash = hash_node;
  type->slots.compare = compare_nodes;
  const NativeDef rows[] = {{"name(self)", name, "The operation's name."},
                            {"_sequence_nr(self)", sequence, "A number that is larger than that of older nodes."}};
  in.add_methods(type, rows, 2);
  add_node_hooks(in, type);
  if (is_function) in.add_property(type, "saved_tensors", saved_tensors);
  if (is_leaf) in.add_property(type, "variable", variable);
  in.add_property(type, "next_functions", next_functions);
  return type;
}

TensorList tensors_of(Interpreter& in, const Value& v) {
  TensorList list;
  if (v.is_none()) return list;
  for (const Value& item : *as_tuple(v)) list.push_back(item.is_none() ? Tensor() : expect_tensor(in, item, "element"));
  return list;
}

// Gradients to start from, as the engine takes them.
TensorList gradients_of(Interpreter& in, const Value& v, const Value& roots) {
  TensorList list;
  if (!v.is_none())
    for (const Value& item : *as_tuple(v)) {
      if (!item.is_none()) expect_tensor(in, item, "element");
      list.push_back(item.is_none() ? Tensor() : to_gradient(in, item));
    }
  if ((torch_state(in).modes & kDispatches) == 0) [[likely]]
    return list;
  list.resize(std::max<size_t>(list.size(), as_tuple(roots)->size));
  for (size_t i = 0; i < as_tuple(roots)->size; ++i)
    if (!list[i].defined()) list[i] = first_gradient(in, as_tuple(roots)->items[i]);
  return list;
}

// A tensor, or a GradientEdge: a tuple of a node and the number of its result.
GraphPoints points_of(Interpreter& in, const Value& v) {
  GraphPoints points;
  if (v.is_none()) return points;
  for (const Value& item : *as_tuple(v)) {
    if (is_tensor(torch_state(in), item)) {
      points.push_back({tensor_of(item), {}});
      continue;
    }
    const Value node = find_attr(in, item, intern(in, "node")), output = find_attr(in, item, intern(in, "output_nr"));
    if (!has_layout(node, kNodeLayout) || !output.is_int() || output.as_int() < 0)
      throw Error(ErrorKind::RuntimeError,
                  "all inputs have to be Tensors or GradientEdges, but got " + std::string(type_name(in, item)));
    points.push_back({{}, {CountedPtr<Node>::share(&node_of(node)), static_cast<uint32_t>(output.as_int())}});
  }
  return points;
}

Value gradient_edge_of(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const Edge edge = gradient_edge(expect_tensor(in, args[0], "tensor"));
    if (!edge.node)
      throw Error(ErrorKind::RuntimeError,
                  "It is not possible to get the gradient edge for a Tensor that does not require gradients");
    return make_tuple(in, {wrap_node(in, edge.node), Value::integer(edge.output)});
  });
}

Value sweep(Interpreter& in, const Args&) {
  const Sweeping now = current_sweep();
  return make_tuple(in, {Value::integer(static_cast<int64_t>(now.id)), Value::boolean(now.limited)});
}

Value queue(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    queue_callback([&in, callback = args[0]] { call(in, callback, {}); });
    return Value::none();
  });
}

Value run_backward(Interpreter& in, const Args& args) {
  const NotedSweeps noted(in);
  const DispatchedSweeps dispatched(in);
  return in_torch(in, args[0], [&] {
    backward(points_of(in, args[0]), gradients_of(in, args[1], args[0]), truth(in, args[2]), truth(in, args[3]),
             points_of(in, args[4]));
    return Value::none();
  });
}

Value run_grad(Interpreter& in, const Args& args) {
  const NotedSweeps noted(in);
  const DispatchedSweeps dispatched(in);
  return in_torch(in, args[0], [&] {
    return wrap_list(in, grad(points_of(in, args[0]), points_of(in, args[1]), gradients_of(in, args[2], args[0]),
                              truth(in, args[3]), truth(in, args[4]), truth(in, args[5])));
  });
}

// Hangs a node that calls back into the script on what a custom Function computed. An input that the function returns as
// it is gets a tensor of its own, so that its history stays.
Value run_record(Interpreter& in, const Args& args) {
  return in_torch(in, args[0], [&] {
    const TensorList inputs = tensors_of(in, args[1]);
    const auto given = [](const TensorList& list, const Tensor& t) {
      return std::any_of(list.begin(), list.end(),
                         [&](const Tensor& other) { return other.defined() && other.same(t); });
    };
    const TensorList plain = tensors_of(in, args[5]), written = tensors_of(in, args[6]);
    TensorList outputs = tensors_of(in, args[2]);
    const Value results = wrap_list(in, outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value& result = as_tuple(results)->items[i];
      if (!outputs[i].defined()) continue;
      if (given(written, outputs[i])) result = as_tuple(args[2])->items[i];
      else if (given(inputs, outputs[i])) tensor_of(result) = outputs[i] = detached(outputs[i]);
      else result = as_tuple(args[2])->items[i];  // the script's own object: the collector sees cycles through it
      if (given(plain, outputs[i])) outputs[i] = Tensor();
      else track_tensor(in, result);
    }
    record_function(std::string(text_of(args[0])), inputs, outputs, tensors_of(in, args[3]),
                    ScriptBackward{&in, args[4]}, written, args[7].is_bool() && args[7].as_bool());
    return results;
  });
}

Value grad_enabled(Interpreter& in, const Args&) { return Value::boolean(torch_state(in).context.grad_enabled); }
Value set_grad_mode(Interpreter& in, const Args& args) {
  torch_state(in).context.set_grad_enabled(truth(in, args[0]));
  return Value::none();
}
}  // namespace

Node& node_of(const Value& v) { return *object_cast<NodeObject>(v)->node; }

Value wrap_list(Interpreter& in, const TensorList& list) {
  Tuple* tuple = new_tuple(in, list.size());
  const Value holder = Value::adopt(tuple);
  for (size_t i = 0; i < list.size(); ++i)
    tuple->items[i] = list[i].defined() ? wrap_gradient(in, list[i]) : Value::none();
  return holder;
}

// Operations of PyTorch that are compositions here: their last node carries the name that PyTorch shows.
constexpr const char* kComposed[] = {
    "AdaptiveAvgPool3DBackward0",
    "AdaptiveMaxPool2DBackward0",
    "AdaptiveMaxPool3DBackward0",
    "AffineGridGeneratorBackward0",
    "DivBackward1",
    "EmbeddingBagBackward0",
    "GridSampler2DBackward0",
    "GridSampler3DBackward0",
    "MeanBackward1",
    "NormBackward1",
    "ScaledDotProductFlashAttentionForCpuBackward0",
    "UpsampleBicubic2DAaBackward0",
    "UpsampleBicubic2DBackward0",
    "UpsampleBilinear2DAaBackward0",
    "UpsampleBilinear2DBackward0",
    "UpsampleLanczos2DAaBackward0",
    "UpsampleLinear1DBackward0",
    "UpsampleNearest1DBackward0",
    "UpsampleNearest2DBackward0",
    "UpsampleNearest3DBackward0",
    "UpsampleNearestExact1DBackward0",
    "UpsampleNearestExact2DBackward0",
    "UpsampleNearestExact3DBackward0",
    "UpsampleTrilinear3DBackward0",
    "ViewBackward0",
    "SmoothL1LossBackward0",
    "HuberLossBackward0",
    "BinaryCrossEntropyWithLogitsBackward0",
    "SoftMarginLossBackward0",
    "MultiMarginLossBackward0",
    "MultilabelMarginLossBackward0",
    "GluBackward0",
    "RreluWithNoiseBackward0",
    "RreluWithNoiseBackward1",
    "NativeGroupNormBackward0",
    "PixelShuffleBackward0",
    "PixelUnshuffleBackward0",
    "MkldnnRnnLayerBackward0",
    "StackBackward0",
    "TransposeBackward1",
};

Value name_composition(Interpreter& in, const Args& args) {
  const Tensor& result = tensor_of(args[0]);
  const auto node = torch_state(in).context.grad_enabled ? grad_fn_of(result) : nullptr;
  if (node)
    for (const char* known : kComposed)
      if (text_of(args[1]) == known) node->name = known;
  return args[0];
}

Value wrap_node(Interpreter& in, CountedPtr<Node> node) {
  NodeRecord& record = node_record(*node);
  if (record.object) return Value(record.object);
  const bool is_function = function_of(*node) != nullptr,
             is_leaf = dynamic_cast<AccumulateGrad*>(node.get()) != nullptr;
  auto* object = make_object<NodeObject>(in, node_type(in, node->name, is_function, is_leaf));
  object->node = std::move(node);
  record.object = object;
  return Value::adopt(object);
}

namespace {

// Whether a tensor's history begins at other leaves than those given.
Value has_other_leaves(Interpreter& in, const Args& args) {
  std::unordered_set<const Node*> seen;
  std::vector<CountedPtr<Node>> held;  // accumulators exist while somebody holds them
  for (const Tensor& leaf : tensors_of(in, args[1])) {
    held.push_back(gradient_edge(leaf).node);
    seen.insert(held.back().get());
  }
  std::vector<const Node*> open;
  const auto visit = [&](const Node* node) {
    if (node != nullptr && seen.insert(node).second) open.push_back(node);
  };
  const Edge start = gradient_edge(expect_tensor(in, args[0], "tensor"));
  visit(start.node.get());
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    if (node->edges.empty()) return Value::boolean(true);
    for (const Edge& edge : node->edges) visit(edge.node.get());
  }
  return Value::boolean(false);
}

}  // namespace

void add_graph_functions(Interpreter& in, Module& module) {
  add_hook_functions(in, module);
  in.def(module, "_has_other_leaves(tensor, leaves: tuple)", "", has_other_leaves);
  in.def(module, "_sweep()", "", sweep);
  in.def(module, "_queue_callback(callback: callable)", "", queue);
  in.def(module, "_gradient_edge(tensor)", "", gradient_edge_of);
  in.def(module, "_composed_as(tensor: Tensor, name: str)", "", name_composition);
  in.def(module, "_backward(roots: tuple, grads: tuple, retain_graph, create_graph, inputs)", "", run_backward);
  in.def(module, "_grad(outputs: tuple, inputs: tuple, grads: tuple, retain_graph, create_graph, allow_unused)", "",
         run_grad);
  in.def(module,
         "_record_function(name: str, inputs: tuple, outputs: tuple, saved: tuple, backward: callable, "
         "non_differentiable: tuple, dirty: tuple, is_view=False)",
         "", run_record);
  in.def(module, "_grad_enabled()", "", grad_enabled);
  in.def(module, "_set_grad_enabled(mode)", "", set_grad_mode);
}

}  // namespace tessera::stdlib
