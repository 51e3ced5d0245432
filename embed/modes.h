// What a script's `with` blocks set for its tensors: torch.no_grad() and the like.
#pragma once

#include <optional>

#include "lang/core/interpreter.h"
#include "lang/core/signals.h"
#include "runtime/context.h"
#include "stdlib/torch/state.h"

namespace tessera::embed {

struct Modes {
  bool grad_enabled, inference_mode;
  tensor::Device default_device;
  tensor::SavedTensorHooks* saved_hooks;
  size_t dual_levels;  // of forward mode

  // Nothing: there is no tensor library as yet.
  static std::optional<Modes> of(lang::Interpreter& in) {
    if (in.extension == nullptr) return {};
    const tensor::Context& context = stdlib::torch_state(in).context;
    return Modes{context.grad_enabled, context.inference_mode, context.default_device, context.saved_hooks,
                 context.duals.entered.size()};
  }
  void set(lang::Interpreter& in) const;
  // `before`: what of() has answered then.
  static void restore(lang::Interpreter& in, const std::optional<Modes>& before);
};

// Around a run: one that a limit ends runs no __exit__, and its modes would be those of the next.
class ModesOfRun {
 public:
  explicit ModesOfRun(lang::Interpreter& in) : in_(in), before_(Modes::of(in)) {}
  ModesOfRun(const ModesOfRun&) = delete;
  ModesOfRun& operator=(const ModesOfRun&) = delete;
  ~ModesOfRun() {
    tensor::PendingLaunches::try_flush();  // the host may go on in another thread
    if ((in_.interrupt.load(std::memory_order_relaxed) & lang::kLimitHit) != 0) [[unlikely]]
      Modes::restore(in_, before_);
  }

 private:
  lang::Interpreter& in_;
  const std::optional<Modes> before_;
};

}  // namespace tessera::embed
