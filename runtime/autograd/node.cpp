#include "runtime/autograd/node.h"

#include <algorithm>

#include "runtime/autograd/accumulate.h"
#include "runtime/autograd/tangents.h"
#include "runtime/autograd/views.h"
#include "runtime/class_text.h"
#include "runtime/device/traits.h"

namespace tessera::tensor {
namespace {

// Note [Long chains]
// Dropping the last handle of a result drops its node, which drops the nodes of its inputs, and so on: a chain of
// 100,000 ops must not become 100,000 nested destructors. So a node that loses its last reference while another one is
// being destroyed waits in a list, and the outermost call empties that list.
struct Graveyard {
  bool digging = false;
  std::vector<CountedPtr<Node>> waiting;
};
thread_local Graveyard* graveyard = nullptr;  // per thread: what a running destructor collects

void drop(CountedPtr<Node> node) {
  if (!node) return;
  if (graveyard) return graveyard->waiting.push_back(std::move(node));
  Graveyard mine;
  graveyard = &mine;
  node = nullptr;
  while (!mine.waiting.empty()) {
    CountedPtr<Node> next = std::move(mine.waiting.back());
    mine.waiting.pop_back();
    next = nullptr;
  }
  graveyard = nullptr;
}

}  // namespace

void EdgeList::push_more(Edge edge) {
  if (!more_) {
    more_ = std::make_unique<std::vector<Edge>>();
    for (Edge& e : inline_) more_->push_back(std::move(e));
  }
  more_->push_back(std::move(edge));
}

Node::~Node() {
  for (Edge& edge : edges) drop(std::move(edge.node));
  if (hooks)
    for (AutogradMeta* meta : hooks->retained)
      if (meta) meta->retains_grad = false;
}

void Node::note_stream(Device on) {
  if (!has_streams(on)) return;
  device = on.index;
  stream = Context::current().streams.get(device);
}

void Node::add_input(const Tensor& input) {
  if (input.defined() && input.is_dual()) [[unlikely]]
    note_dual(input);
  add_edge(gradient_edge(input));
}

void Node::add_edge(Edge edge) {
  if (edge.node && edge.node->sequence >= sequence && edge.node->sequence != kLeafSequence) [[unlikely]] {
    sequence = edge.node->sequence + 1;
    next_sequence_ = std::max(next_sequence_, sequence + 1);
  }
  edges.push_back(std::move(edge));
}

// ---- what hangs on a tensor ----

AutogradMeta& autograd_meta(const Tensor& t) {
  AutogradMeta*& meta = t.impl()->autograd;
  if (!meta) meta = new (pool_allocate(sizeof(AutogradMeta))) AutogradMeta;
  return *meta;
}

void destroy_autograd_meta(AutogradMeta* meta) noexcept {
  if (meta->retains_grad && meta->grad_fn && meta->grad_fn->hooks) std::erase(meta->grad_fn->hooks->retained, meta);
  drop(std::move(meta->grad_fn));
  meta->~AutogradMeta();
  pool_release(meta, sizeof(AutogradMeta));
}

CountedPtr<Node> grad_fn_of(const Tensor& t) {
  const AutogradMeta* meta = t.impl()->autograd;
  if (!meta) return nullptr;
  if (meta->view_base.defined() && meta->view_version != t.version()) renew_view_history(t);
  return meta->grad_fn;
}

Edge gradient_edge(const Tensor& t) {
  if (!t.defined()) return {};
  if (const AutogradMeta* meta = t.impl()->autograd) {
    if (meta->view_base.defined() && meta->view_version != t.version()) renew_view_history(t);
    if (meta->grad_fn) return {meta->grad_fn, meta->output};
  }
  if (!t.requires_grad()) return {};
  return {leaf_accumulator(t), 0};
}

bool any_needs_grad(const TensorList& inputs) {
  if (!Context::current().records) return false;
  for (const Tensor& t : inputs)
    if (t.defined() && t.is_tracked()) return true;
  return false;
}

void remember_forward(Node& node) {
  const Context& context = Context::current();
  if (!context.anomaly_mode || !context.forward_trace) [[likely]]
    return;
  if (!node.hooks || node.hooks->forward_trace.empty()) node.own_hooks().forward_trace = context.forward_trace();
}

void set_history(Tensor& out, CountedPtr<Node> node, uint32_t output) {
  if (!is_differentiable(out.dtype())) return;
  if (node->duals() != nullptr || !Context::current().grad_enabled) [[unlikely]]
    if (!record_tangents(out, *node, output)) return;
  set_history_alone(out, std::move(node), output);
}

void set_history_alone(Tensor& out, CountedPtr<Node> node, uint32_t output) {
  remember_forward(*node);
  node->made(out);
  AutogradMeta& meta = autograd_meta(out);
  meta.grad_fn = std::move(node);
  meta.output = output;
  meta.view_version = out.version();
  out.impl()->flags |= TensorImpl::kRequiresGrad;
}

// ---- saved tensors ----

SavedTensor::SavedTensor(const Tensor& t, bool is_result) : is_result_(is_result), empty_(!t.defined()) {
  if (empty_) return;
  check(!(t.impl()->flags & TensorImpl::kInference), TensorErrorKind::Runtime,
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
        "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
        "in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
  version_ = t.version();
  if (!is_result) {
    tensor_ = t.is_dual() ? as_seen(t) : t;
    if (SavedTensorHooks* hooks = Context::current().saved_hooks; hooks && !t.is_wrapped_number()) [[unlikely]]
      pack(*hooks);  // a number is no tensor of the script's
    return;
  }
  if (const AutogradMeta* meta = t.impl()->autograd) output_ = meta->output;
  tensor_ = t.view_of(t.sizes(), t.strides());
  if (SavedTensorHooks* hooks = Context::current().saved_hooks) [[unlikely]]
    pack(*hooks);
}

// Outside of the constructor's inline part: hooks are rare.
void SavedTensor::pack(SavedTensorHooks& hooks) {
  const GradMode no_grad(false);
  const uint32_t before = tensor_.version();
  packed_ = hooks.pack(tensor_);
  check(tensor_.version() == before, TensorErrorKind::Runtime,
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
        "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need "
        "to perform in-place operations on the input to a pack hook.");
  if (!is_result_ && tensor_.requires_grad()) packed_->edge_ = gradient_edge(tensor_);
  tensor_.reset();
}

Tensor SavedTensor::unpacked(Node* owner) const {
  const CountedPtr<PackedTensor> packed = packed_;  // unpacking may free the graph
  Tensor t = packed->unpack();
  const Edge edge = is_result_ ? Edge{CountedPtr<Node>::share(owner), output_} : packed->edge_;
  if (!edge.node || !Context::current().records) return t;
  if (t.impl()->autograd && gradient_edge(t).node == edge.node) return t;
  t = t.view_of(t.sizes(), t.strides());
  set_history(t, edge.node, edge.output);
  return t;
}

// "ExpBackward0": the node of exp, "Exp".
static std::string_view op_of(std::string_view node) {
  const size_t end = node.find_last_not_of("0123456789") + 1;
  return node.substr(0, end).ends_with("Backward") ? node.substr(0, end - 8) : node;
}

void SavedTensor::fail_changed(const Node* owner) const {
  const AutogradMeta* meta = tensor_.impl()->autograd;
  const Node* maker = is_result_ ? owner : meta ? meta->grad_fn.get() : nullptr;
  std::string from;
  if (maker)
    from = text(", which is output ", is_result_ || !meta ? output_ : meta->output, " of ", op_of(maker->name), ",");
  const bool traced = Context::current().anomaly_mode;
  fail(
      TensorErrorKind::Runtime,
      "one of the variables needed for gradient computation has been modified by an inplace operation: [",
      class_text(tensor_.dtype(), tensor_.device()), ' ', tensor_.sizes(), "]", from, " is at version ",
      tensor_.version(), "; expected version ", version_, " instead. Hint: ",
      traced
          ? "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was changed "
            "in there or anywhere later. Good luck!"
          : "enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False).");
}

Tensor SavedTensor::get(Node* owner) const {
  if (packed_) return unpacked(owner);
  if (!tensor_.defined()) {
    check(
        empty_, TensorErrorKind::Runtime,
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
        "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if "
        "you need to backward through the graph a second time or if you need to access saved tensors after calling backward.");
    return {};
  }
  if (tensor_.version() != version_) fail_changed(owner);
  if (!is_result_ || !Context::current().records) return tensor_;
  // Only a backward that is recorded itself asks where the result came from.
  Tensor t = tensor_.view_of(tensor_.sizes(), tensor_.strides());
  set_history(t, CountedPtr<Node>::share(owner), output_);
  return t;
}

}  // namespace tessera::tensor
