#include "stdlib/torch/graph.h"

#include <algorithm>

#include "lang/core/protocol.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/function.h"
#include "stdlib/torch/tensor_cycles.h"

namespace tessera::stdlib {
namespace {

// grad_fn as scripts see it.
struct NodeObject : Object {
  CountedPtr<Node> node;
};

Node& node_of(const Value& v) { return *static_cast<NodeObject*>(v.as_object())->node; }

void destroy(Interpreter& in, Object* self) { free_object(in, static_cast<NodeObject*>(self)); }

Value repr_node(Interpreter& in, const Value& self) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<void*>(&node_of(self)));
  return make_str(in, std::string("<") + node_of(self).name + " object at " + address + ">");
}

Value name(Interpreter& in, const Args& args) { return make_str(in, node_of(args[0]).name); }

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
Type* node_type(Interpreter& in, const char* name_of_node) {
  auto& known = torch_state(in).node_types;
  for (const auto& [known_name, type] : known)
    if (known_name == name_of_node) return type;
  Type* type = in.new_type(
      {.name = name_of_node, .module = "torch.autograd.graph", .size = sizeof(NodeObject), .flags = kFinalType});
  known.emplace_back(name_of_node, type);
  type->slots.destroy = destroy;
  type->slots.repr = repr_node;
  type->slots.hash = hash_node;
  type->slots.compare = compare_nodes;
  const NativeDef rows[] = {{"name(self)", name, "The operation's name."}};
  in.add_methods(type, rows, 1);
  in.add_property(type, "next_functions", next_functions);
  return type;
}

TensorList tensors_of(Interpreter& in, const Value& v) {
  TensorList list;
  if (v.is_none()) return list;
  for (const Value& item : *as_tuple(v)) list.push_back(item.is_none() ? Tensor() : expect_tensor(in, item, "element"));
  return list;
}

Value run_backward(Interpreter& in, const Args& args) {
  return in_torch(in, args[0], [&] {
    backward(tensors_of(in, args[0]), tensors_of(in, args[1]), truth(in, args[2]), truth(in, args[3]),
             tensors_of(in, args[4]));
    return Value::none();
  });
}

Value run_grad(Interpreter& in, const Args& args) {
  return in_torch(in, args[0], [&] {
    return wrap_list(in, grad(tensors_of(in, args[0]), tensors_of(in, args[1]), tensors_of(in, args[2]),
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
    const TensorList plain = tensors_of(in, args[5]);
    TensorList outputs = tensors_of(in, args[2]);
    const Value results = wrap_list(in, outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value& result = as_tuple(results)->items[i];
      if (!outputs[i].defined()) continue;
      if (given(inputs, outputs[i])) tensor_of(result) = outputs[i] = detached(outputs[i]);
      else result = as_tuple(args[2])->items[i];  // the script's own object: the collector sees cycles through it
      if (given(plain, outputs[i])) outputs[i] = Tensor();
      else track_tensor(in, result);
    }
    record_function(std::string(text_of(args[0])), inputs, outputs, tensors_of(in, args[3]),
                    ScriptBackward{&in, args[4]});
    return results;
  });
}

Value grad_enabled(Interpreter& in, const Args&) { return Value::boolean(torch_state(in).context.grad_enabled); }
Value set_grad_mode(Interpreter& in, const Args& args) {
  torch_state(in).context.grad_enabled = truth(in, args[0]);
  return Value::none();
}
Value inference(Interpreter& in, const Args&) { return Value::boolean(torch_state(in).context.inference_mode); }
// Inference mode is grad mode off as well; leaving it puts both back.
Value set_inference(Interpreter& in, const Args& args) {
  Context& context = torch_state(in).context;
  const bool on = truth(in, args[0]);
  if (on != context.inference_mode) context.grad_enabled = !on;
  context.inference_mode = on;
  return Value::none();
}
Value anomaly(Interpreter& in, const Args&) { return Value::boolean(torch_state(in).context.anomaly_mode); }
Value set_anomaly(Interpreter& in, const Args& args) {
  torch_state(in).context.anomaly_mode = truth(in, args[0]);
  return Value::none();
}

}  // namespace

Value wrap_list(Interpreter& in, const TensorList& list) {
  Tuple* tuple = new_tuple(in, list.size());
  const Value holder = Value::adopt(tuple);
  for (size_t i = 0; i < list.size(); ++i)
    tuple->items[i] = list[i].defined() ? wrap_tensor(in, list[i]) : Value::none();
  return holder;
}

Value wrap_node(Interpreter& in, CountedPtr<Node> node) {
  auto* object = make_object<NodeObject>(in, node_type(in, node->name));
  object->node = std::move(node);
  return Value::adopt(object);
}

void add_graph_functions(Interpreter& in, Module& module) {
  in.def(module, "_backward(roots: tuple, grads: tuple, retain_graph, create_graph, inputs)", "", run_backward);
  in.def(module, "_grad(outputs: tuple, inputs: tuple, grads: tuple, retain_graph, create_graph, allow_unused)", "",
         run_grad);
  in.def(module,
         "_record_function(name: str, inputs: tuple, outputs: tuple, saved: tuple, backward: callable, "
         "non_differentiable: tuple)",
         "", run_record);
  in.def(module, "_grad_enabled()", "", grad_enabled);
  in.def(module, "_set_grad_enabled(mode)", "", set_grad_mode);
  in.def(module, "_inference_mode()", "", inference);
  in.def(module, "_set_inference_mode(mode)", "", set_inference);
  in.def(module, "_anomaly_mode()", "", anomaly);
  in.def(module, "_set_anomaly_mode(mode)", "", set_anomaly);
}

}  // namespace tessera::stdlib
