#include "embed/modes.h"

namespace tessera::embed {

void Modes::set(lang::Interpreter& in) const {
  tensor::Context& context = stdlib::torch_state(in).context;
  context.grad_enabled = grad_enabled, context.inference_mode = inference_mode;
  context.default_device = default_device, context.saved_hooks = saved_hooks;
}

void Modes::restore(lang::Interpreter& in, const std::optional<Modes>& before) {
  if (in.extension != nullptr) before.value_or(Modes{true, false, tensor::kCpu, nullptr}).set(in);
}

}  // namespace tessera::embed
