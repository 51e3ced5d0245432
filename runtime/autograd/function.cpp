#include "runtime/autograd/function.h"

#include "runtime/ops.h"

namespace tessera::tensor {
namespace {

// What the gradient of an input has to look like.
struct InputInfo {
  Dims sizes;
  DType dtype = kFloat32;
  Device device = kCpu;
};

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
    check(g.device() == input.device, TensorErrorKind::Runtime, "Function ", name,
          " returned an invalid gradient at index ", i, " - expected device ", input.device.str(), " but got ",
          g.device().str());
    return g;
  }

  std::string own_name;
  FunctionBackward run;
  std::vector<SavedTensor> saved;
  std::vector<InputInfo> inputs;
};

std::string type_text(const Tensor& t) {
  const std::string type = scalar_type_name(t.dtype());
  if (is_complex(t.dtype())) return (t.device().is_cuda() ? "CUDA" : "CPU") + type + "Type";
  return (t.device().is_cuda() ? "torch.cuda." : "torch.") + type + "Tensor";
}

}  // namespace

CountedPtr<Node> record_function(std::string name, const TensorList& inputs, TensorList& outputs,
                                 const TensorList& saved, FunctionBackward backward) {
  auto node = make_counted<FunctionNode>(std::move(name), std::move(backward));
  for (const Tensor& input : inputs) {
    node->add_input(input);
    node->inputs.push_back(input.defined() ? InputInfo{Dims(input.sizes()), input.dtype(), input.device()}
                                           : InputInfo{});
  }
  node->outputs = uint32_t(outputs.size());
  for (uint32_t i = 0; i < outputs.size(); i++)
    if (outputs[i].defined()) set_history(outputs[i], node, i);
  for (const Tensor& t : saved) {
    bool is_result = false;
    for (const Tensor& output : outputs) is_result = is_result || (t.defined() && t.same(output));
    node->saved.emplace_back(t, is_result);
  }
  return node;
}

FunctionBackward* function_of(Node& node) {
  auto* function = dynamic_cast<FunctionNode*>(&node);
  return function ? &function->run : nullptr;
}

Tensor hook_result(const Tensor& grad, Tensor result, std::string_view hook_name) {
  if (!result.defined()) return grad;
  const std::string hook = hook_name.empty() ? "hook" : text("hook '", hook_name, "'");
  check(result.dtype() == grad.dtype() && result.device().type == grad.device().type, TensorErrorKind::Runtime, hook,
        " has changed the type of value (was ", type_text(grad), " got ", type_text(result), ")");
  check(result.sizes() == grad.sizes(), TensorErrorKind::Runtime, hook, " has changed the size of value");
  return result;
}

}  // namespace tessera::tensor
