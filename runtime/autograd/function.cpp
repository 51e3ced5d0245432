#include "runtime/autograd/function.h"

#include <algorithm>

#include "runtime/class_text.h"
#include "runtime/ops.h"

namespace tessera::tensor {
namespace {

// What the gradient of an input has to look like.
struct InputInfo {
  Dims sizes;
  DType dtype = kFloat32;
  Device device = kCpu;
  bool is_hollow = false;
};

// Whether a tensor may carry an object of a script instead of elements: Note [Hollow tensors].
bool may_be_hollow(const Tensor& t) { return t.device().is_meta() && t.storage().is_exposed(); }

bool expands_to(Ints small, Ints large) {
  if (small.size() > large.size()) return false;
  for (size_t i = 1; i <= small.size(); i++) {
    const int64_t s = small[small.size() - i];
    if (s != 1 && s != large[large.size() - i]) return false;
  }
  return true;
}

struct FunctionNode final : Node {
  FunctionNode(std::string text, FunctionBackward f) : Node(""), own_name(std::move(text)), run(std::move(f)) {
    name = own_name.c_str();
    runs_without_gradients = true;
  }

  void backward(const TensorList& grads, TensorList& results) override {
    TensorList kept;
    for (const SavedTensor& s : saved) kept.push_back(s.get(this));
    TensorList answer = run(grads, kept);
    for (size_t i = 0; i < answer.size() && i < results.size(); i++)
      if (needs(i) && answer[i].defined()) results[i] = fitted(std::move(answer[i]), i);
  }
  void release_saved() override {
    for (SavedTensor& s : saved) s.reset();
  }

  // The gradient in its input's shape and type, if it has one that can become it.
  Tensor fitted(Tensor g, size_t i) const {
    const InputInfo& input = inputs[i];
    if (!(g.sizes() == Ints(input.sizes))) {
      check(expands_to(input.sizes, g.sizes()), TensorErrorKind::Runtime, "Function ", name,
            " returned an invalid gradient at index ", i, " - got ", g.sizes(), " but expected shape compatible with ",
            input.sizes);
      g = sum_to_size(g, input.sizes);
    }
    check(
        is_floating(g.dtype()) || is_complex(input.dtype) == is_complex(g.dtype()), TensorErrorKind::Runtime,
        "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got false.  "
        "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)");
    if (g.dtype() != input.dtype) g = to_dtype(g, input.dtype);
    const bool is_hollow = may_be_hollow(g);
    check(g.device() == input.device || is_hollow || input.is_hollow, TensorErrorKind::Runtime, "Function ", name,
          " returned an invalid gradient at index ", i, " - expected device ", input.device.str(), " but got ",
          g.device().str());
    return g;
  }

  std::string own_name;
  FunctionBackward run;
  std::vector<SavedTensor> saved;
  std::vector<InputInfo> inputs;
};

bool contains(const TensorList& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& each) { return each.defined() && each.same(t); });
}

// The history of an output that is an input, changed.
void write_history(Tensor& t, const CountedPtr<Node>& node, uint32_t output, size_t outputs) {
  const AutogradMeta* meta = t.impl()->autograd;
  check(!t.requires_grad() || (meta && meta->grad_fn), TensorErrorKind::Runtime,
        "a leaf Variable that requires grad has been used in an in-place operation.");
  t.bump_version();
  if (!meta || !meta->view_base.defined()) return set_history(t, node, output);
  check(
      outputs == 1, TensorErrorKind::Runtime,
      "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more "
      "than one Tensor. This is not supported by the current autograd engine. You should either make sure the input "
      "is not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting "
      "it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other "
      "operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change.");
  rebase_history(t, node);
}

}  // namespace

CountedPtr<Node> record_function(std::string name, const TensorList& inputs, TensorList& outputs,
                                 const TensorList& saved, FunctionBackward backward, const TensorList& written,
                                 bool are_views) {
  auto node = make_counted<FunctionNode>(std::move(name), std::move(backward));
  for (const Tensor& input : inputs) {
    node->add_input(input);
    node->inputs.push_back(input.defined() ? InputInfo{Dims(input.sizes()), input.dtype(), input.device(), may_be_hollow(input)}
                                           : InputInfo{});
  }
  node->outputs = uint32_t(outputs.size());
  for (uint32_t i = 0; i < outputs.size(); i++) {
    if (!outputs[i].defined()) continue;
    if (contains(written, outputs[i])) write_history(outputs[i], node, i, outputs.size());
    else if (are_views) set_view_history(outputs[i], inputs[0], node, i, outputs.size() > 1);
    else set_history(outputs[i], node, i);
  }
  for (const Tensor& t : saved) {
    node->saved.emplace_back(t, t.defined() && contains(outputs, t));
  }
  return node;
}

TensorList saved_of(Node& node) {
  TensorList list;
  if (auto* function = dynamic_cast<FunctionNode*>(&node))
    for (const SavedTensor& s : function->saved) list.push_back(s.get(&node));
  return list;
}

FunctionBackward* function_of(Node& node) {
  auto* function = dynamic_cast<FunctionNode*>(&node);
  return function ? &function->run : nullptr;
}

Tensor hook_result(const Tensor& grad, Tensor result, std::string_view hook_name) {
  if (!result.defined()) return grad;
  const std::string hook = hook_name.empty() ? "hook" : text("hook '", hook_name, "'");
  check(result.dtype() == grad.dtype() && result.device().type == grad.device().type, TensorErrorKind::Runtime, hook,
        " has changed the type of value (was ", class_text(grad.dtype(), grad.device()), " got ",
        class_text(result.dtype(), result.device()), ")");
  check(result.sizes() == grad.sizes(), TensorErrorKind::Runtime, hook, " has changed the size of value");
  return result;
}

}  // namespace tessera::tensor
