#include "embed/modes.h"

#include "lang/core/interpreter.h"
#include "lang/core/signals.h"
#include "runtime/context.h"
#include "stdlib/torch/state.h"

namespace tessera::embed {

std::optional<Modes> Modes::of(lang::Interpreter& in) {
  if (in.extension == nullptr) return {};
  const tensor::Context& context = stdlib::torch_state(in).context;
  return Modes{context.grad_enabled, context.inference_mode, context.default_device, context.saved_hooks};
}

void Modes::set(lang::Interpreter& in) const {
  tensor::Context& context = stdlib::torch_state(in).context;
  context.grad_enabled = grad_enabled, context.inference_mode = inference_mode;
  context.default_device = default_device, context.saved_hooks = saved_hooks;
}

void Modes::restore(lang::Interpreter& in, const std::optional<Modes>& before) {
  if (in.extension != nullptr) before.value_or(Modes{true, false, tensor::kCpu, nullptr}).set(in);
}

ModesOfRun::~ModesOfRun() {
  if ((in_.interrupt.load(std::memory_order_relaxed) & lang::kLimitHit) != 0) Modes::restore(in_, before_);
}

}  // namespace tessera::embed
