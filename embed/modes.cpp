#include "embed/modes.h"

#include "runtime/autograd/tangents.h"

namespace tessera::embed {

void Modes::set(lang::Interpreter& in) const {
  tensor::Context& context = stdlib::torch_state(in).context;
  const tensor::ContextScope scope(context);
  tensor::exit_dual_levels(dual_levels);
  context.duals.later = false;
  context.set_grad_enabled(grad_enabled), context.inference_mode = inference_mode;
  context.default_device = default_device, context.saved_hooks = saved_hooks;
}

void Modes::restore(lang::Interpreter& in, const std::optional<Modes>& before) {
  if (in.extension != nullptr) before.value_or(Modes{true, false, tensor::kCpu, nullptr, 0}).set(in);
}

}  // namespace tessera::embed
