// compile: small (once for a look of a person)
#include "repl/inspector/graph.h"

#include <unordered_map>
#include <unordered_set>

#include "lang/core/protocol.h"
#include "repl/inspector/reach.h"
#include "repl/inspector/text_parts.h"
#include "runtime/autograd/accumulate.h"
#include "runtime/autograd/node.h"
#include "stdlib/torch/state.h"

namespace tessera::repl {
using namespace lang;
using tensor::AccumulateGrad;
using tensor::AutogradMeta;
using tensor::CountedPtr;
using tensor::Edge;
using tensor::Node;
using tensor::Tensor;

namespace {

constexpr int64_t kMostCounted = 1'000'000;
constexpr size_t kMostLines = 200;

struct Held {
  std::string name, shape;
};

// What is known of tensors that live: the leaf, or the node that made it.
struct KnownTensors {
  std::unordered_map<const tensor::TensorImpl*, std::string> leaves;
  std::unordered_map<const Node*, Held> results;

  explicit KnownTensors(Interpreter& in) {
    for (const Reached& each : reach_tensors(in).tensors) {
      leaves.emplace(each.tensor.impl(), each.name);
      const AutogradMeta* meta = each.tensor.impl()->autograd;
      if (meta != nullptr && meta->grad_fn)
        results.emplace(meta->grad_fn.get(), Held{each.name, tensor::text(each.tensor.sizes())});
    }
  }
};

// Where a gradient of the tensor goes. As `y.grad_fn` does, this renews a view that was written through a relative.
CountedPtr<Node> root_of(Interpreter& in, const Tensor& t) {
  const tensor::ContextScope scope(stdlib::torch_state(in).context);
  try {
    return gradient_edge(t).node;
  } catch (const std::exception&) {
    return nullptr;
  }
}

class GraphReader {
 public:
  GraphReader(Interpreter& in, size_t most) : in_(in), most_(most), known_(in) {}

  // Breadth first, so that of a graph that is too large the part near the root is listed.
  Graph run(const Node* root) {
    number(root);
    for (size_t at = 0; at < open_.size(); ++at) {
      if (at % 4096 == 0 && in_.is_stopping()) {
        found_.gave_up = true;
        break;
      }
      const Node* const node = open_[at];
      const bool listed = at < found_.nodes.size();
      for (const Edge& edge : node->edges) {
        if (!edge.node) continue;
        const uint32_t input = number(edge.node.get());
        if (!listed || input >= found_.nodes.size()) continue;
        found_.nodes[at].inputs.push_back(input);
        ++found_.nodes[input].users;
      }
    }
    found_.total = static_cast<int64_t>(open_.size());
    return std::move(found_);
  }

 private:
  uint32_t number(const Node* node) {
    if (static_cast<int64_t>(open_.size()) >= kMostCounted && !numbers_.contains(node)) {
      found_.gave_up = true;
      return UINT32_MAX;
    }
    const auto [known, is_new] = numbers_.emplace(node, static_cast<uint32_t>(open_.size()));
    if (is_new) {
      open_.push_back(node);
      if (found_.nodes.size() < most_) found_.nodes.push_back(describe(*node));
    }
    return known->second;
  }

  GraphNode describe(const Node& node) const {
    GraphNode out;
    out.name = node.name;
    out.is_freed = node.released;
    if (const auto* leaf = dynamic_cast<const AccumulateGrad*>(&node)) {
      out.name = "AccumulateGrad";
      out.is_leaf = true;
      out.is_freed = false;
      out.shape = tensor::text(leaf->leaf().sizes());
      const auto known = known_.leaves.find(leaf->leaf().impl());
      out.tensor = known == known_.leaves.end() ? "" : known->second;
    } else if (const auto known = known_.results.find(&node); known != known_.results.end()) {
      out.tensor = known->second.name;
      out.shape = known->second.shape;
    }
    return out;
  }

  Interpreter& in_;
  const size_t most_;
  const KnownTensors known_;
  Graph found_;
  std::unordered_map<const Node*, uint32_t> numbers_;
  std::vector<const Node*> open_;
};

std::string refusal(Interpreter& in, const Value& value, std::string_view name) {
  if (tensor_in(in, value) == nullptr)
    return harmless(name) + " is no tensor but " + harmless(type_name(in, value)) + "\n";
  return harmless(name) + " requires no gradient: there is no graph behind it\n";
}

class TreeWriter {
 public:
  TreeWriter(const Graph& graph, const Style& style)
      : graph_(graph), style_(style), paint_(style), marks_(graph.nodes.size(), 0), drawn_(graph.nodes.size(), false) {}

  std::string text(std::string_view name) {
    open_.push_back({0, std::string(name), "", ""});
    while (!open_.empty() && lines_ < kMostLines) {
      const Line line = std::move(open_.back());
      open_.pop_back();
      write(line);
    }
    if (!open_.empty() || graph_.total > static_cast<int64_t>(graph_.nodes.size())) out_ += "...\n";
    return out_ + paint_(plural(graph_.total, "node") + (graph_.gave_up ? " and more" : ""), Paint::kBold) + "\n";
  }

 private:
  struct Line {
    uint32_t node;
    std::string name;    // of the root: what the person wrote
    std::string before;  // what stands left of this line
    std::string below;   // ... and of those that follow from it
  };

  // A node stands where it is met first; from there on only its mark does.
  void write(const Line& line) {
    const GraphNode& node = graph_.nodes[line.node];
    const bool again = drawn_[line.node];
    drawn_[line.node] = true;
    if (node.users > 1 && !node.is_leaf && marks_[line.node] == 0) marks_[line.node] = ++last_mark_;
    const std::string label = harmless(this->label(node, line.name));
    std::string mark = marks_[line.node] == 0 ? "" : (again ? " see #" : " #") + std::to_string(marks_[line.node]);
    const size_t used = display_width(line.before) + display_width(mark);
    out_ += line.before +
            paint_(shortened(label, style_.columns > used ? style_.columns - used : 1, style_),
                   node.is_leaf ? Paint::kGood : Paint::kPlain) +
            paint_(mark, Paint::kWarn) + "\n";
    ++lines_;
    if (again || node.inputs.empty()) return;
    if (node.inputs.size() == 1 && !graph_.nodes[node.inputs[0]].is_leaf) {
      open_.push_back({node.inputs[0], "", line.below, line.below});
      return;
    }
    if (display_width(line.below) + 24 > style_.columns) {  // too deep to be read
      out_ += line.below + (style_.unicode ? "└─ …" : "+- ...") + "\n";
      ++lines_;
      return;
    }
    for (size_t i = node.inputs.size(); i-- > 0;) {
      const bool last = i + 1 == node.inputs.size();
      if (style_.unicode)
        open_.push_back({node.inputs[i], "", line.below + (last ? "└─ " : "├─ "), line.below + (last ? "   " : "│  ")});
      else open_.push_back({node.inputs[i], "", line.below + "+- ", line.below + (last ? "   " : "|  ")});
    }
  }

  static std::string label(const GraphNode& node, const std::string& root) {
    const std::string tensor = root.empty() ? node.tensor : root;
    if (node.is_leaf) return (tensor.empty() ? "a leaf without a name" : tensor) + " " + node.shape;
    std::string out = node.name;
    if (!tensor.empty()) out += " -> " + tensor;
    if (!node.shape.empty()) out += " " + node.shape;
    return out + (node.is_freed ? " (freed)" : "");
  }

  const Graph& graph_;
  const Style& style_;
  const Paint paint_;
  std::vector<uint32_t> marks_;
  std::vector<bool> drawn_;
  std::vector<Line> open_;
  std::string out_;
  size_t lines_ = 0;
  uint32_t last_mark_ = 0;
};

std::string dot_string(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

Graph graph_of(Interpreter& in, const Value& value, size_t most_nodes) {
  const Tensor* t = tensor_in(in, value);
  if (t == nullptr) return {};
  const CountedPtr<Node> root = root_of(in, *t);
  return root ? GraphReader(in, most_nodes).run(root.get()) : Graph{};
}

std::string graph_text(Interpreter& in, const Value& value, std::string_view name, const Style& style) {
  const Graph graph = graph_of(in, value);
  return graph.nodes.empty() ? refusal(in, value, name) : TreeWriter(graph, style).text(name);
}

std::string graph_dot(Interpreter& in, const Value& value, std::string_view name) {
  const Graph graph = graph_of(in, value);
  if (graph.nodes.empty()) return "";
  std::string out =
      "digraph \"" + dot_string(name) + "\" {\n  rankdir=BT;\n  node [fontname=\"sans-serif\", shape=box];\n";
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const std::string tensor = i == 0 ? std::string(name) : node.tensor;
    std::string label =
        node.is_leaf ? (tensor.empty() ? "leaf" : tensor) : node.name + (tensor.empty() ? "" : "\n" + tensor);
    if (!node.shape.empty()) label += "\n" + node.shape;
    std::string escaped = dot_string(label);
    for (size_t at = 0; (at = escaped.find('\n', at)) != escaped.npos; at += 2) escaped.replace(at, 1, "\\n");
    out += "  n" + std::to_string(i) + " [label=\"" + escaped + "\"" +
           (node.is_leaf ? ", style=filled, fillcolor=lightblue" : "") + "];\n";
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const uint32_t input : graph.nodes[i].inputs)
      out += "  n" + std::to_string(input) + " -> n" + std::to_string(i) + ";\n";
  if (graph.total > static_cast<int64_t>(graph.nodes.size()))
    out +=
        "  // " + std::to_string(graph.total - static_cast<int64_t>(graph.nodes.size())) + " more nodes are left out\n";
  return out + "}\n";
}

}  // namespace tessera::repl
