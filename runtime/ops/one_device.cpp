// compile: small (runs after an error)
#include "runtime/ops/one_device.h"

#include "runtime/device/two_devices.h"

namespace tessera::tensor {
namespace {

// Writing into self is a kernel of its own: the underscore stands behind the op's name, wherever that is.
std::string kernel_name(const OpCall& call, const char* kernel) {
  std::string name = kernel;
  const std::string op = call.entry.name;
  const size_t at = name.find(op);
  if (call.is_inplace() && at != name.npos && !name.ends_with('_')) name.insert(at + op.size(), "_");
  return "wrapper_CUDA_" + name;
}

template <class Visit>
void each_operand(const OpCall& call, const Visit& visit) {
  for (size_t i = 0; i < call.args.size(); i++) {
    const Arg& arg = call.args[i];
    if (arg.is_tensor() && arg.tensor().defined()) visit(i, arg.tensor());
    if (arg.kind() != Arg::Kind::Tensors) continue;
    for (const Tensor& t : arg.tensors()) visit(i, t);
  }
}

bool on_two_devices(const OpCall& call) {
  const Tensor* first = nullptr;
  bool differ = false;
  each_operand(call, [&](size_t, const Tensor& t) {
    if (first == nullptr) first = &t;
    differ |= t.device() != first->device();
  });
  return differ;
}

[[gnu::cold, gnu::noinline]] void refuse_two_devices(const OpCall& call) {
  const OpFacts& facts = *call.entry.facts;
  if (facts.any_device) return;
  constexpr uint32_t kLooksItself = kView | kTakesMathBits | kNumberOperands;
  const bool has_kernel = call.entry.shape != nullptr || call.entry.has(kInternal);
  if (facts.one_device == nullptr && (!has_kernel || (call.entry.flags & kLooksItself) != 0)) return;
  const Tensor* first = nullptr;
  each_operand(call, [&](size_t i, const Tensor& t) {
    if (first == nullptr) first = &t;
    if (t.device() == first->device()) return;
    if (facts.one_device == nullptr) fail_two_devices(first->device(), t.device());
    fail_argument_device(kernel_name(call, facts.one_device), call.entry.schema().args[i].name, t.device(),
                         first->device());
  });
}

}  // namespace

[[gnu::hot]] void check_one_device(const OpCall& call) {
  if (on_two_devices(call)) [[unlikely]]
    refuse_two_devices(call);
}

}  // namespace tessera::tensor
