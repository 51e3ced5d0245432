// The modes that each thread of a program has for itself, as in PyTorch: grad mode, inference mode, autocast, the hooks of saved
// tensors, fusion, torch.vmap. A new thread begins with the defaults.
#include "stdlib/torch/thread_modes.h"

#include "lang/vm/threads.h"
#include "runtime/fuse/pending.h"
#include "stdlib/torch/state.h"
#include "stdlib/torch/torch_function.h"

namespace tessera::stdlib {
namespace {

struct ThreadModes {
  bool grad_enabled = true, inference_mode = false;
  tensor::SavedTensorHooks* saved_hooks = nullptr;
  uint32_t modes = 0;
  AutocastModes autocast{};
  FunctionModes function_modes{};
  int64_t fuses_from = tensor::Context::kNever;
  VmapLevel vmap{};
  DispatchModes dispatch{};
  tensor::DualLevels duals{};
};

// Bits that say which kinds of tensors and tensor classes exist are common to all threads; the other modes belong to one thread.
constexpr uint32_t kOfThreads = ~uint32_t(kHasSubclasses | kHasDispatchClasses | kHasSparse);

// Memory that is not to be had leaves the modes to the next thread as they are.
void save_modes(Interpreter& in, void** mine) {
  tensor::PendingLaunches::try_flush();  // they wait on the thread that made them
  TorchState& state = torch_state(in);
  if (*mine == nullptr) *mine = new (std::nothrow) ThreadModes;
  if (*mine == nullptr) return;
  const tensor::Context& context = state.context;
  *static_cast<ThreadModes*>(*mine) = {context.grad_enabled, context.inference_mode, context.saved_hooks,
                                       state.modes,          state.autocast,         state.function_modes,
                                       context.fuses_from,   state.vmap,
                                       state.dispatch,       context.duals};
}

// Moves the kept modes out, so that the kept record holds no object: the main thread's record is freed after the interpreter's heap.
void load_modes(Interpreter& in, void** mine) {
  TorchState& state = torch_state(in);
  ThreadModes fresh;
  fresh.fuses_from = state.fuses_by_default;
  ThreadModes& modes = *mine == nullptr ? fresh : *static_cast<ThreadModes*>(*mine);
  state.context.duals = std::move(modes.duals);
  state.context.set_grad_enabled(modes.grad_enabled);
  state.context.inference_mode = modes.inference_mode;
  state.context.saved_hooks = modes.saved_hooks;
  state.modes = (modes.modes & kOfThreads) | (state.modes & ~kOfThreads);
  state.autocast = std::move(modes.autocast);
  state.function_modes = std::move(modes.function_modes);
  state.context.fuses_from = modes.fuses_from;
  state.vmap = std::move(modes.vmap);
  state.dispatch = std::move(modes.dispatch);
  state.context.host_stops = in.stops;
}

}  // namespace

void keep_modes_per_thread(Interpreter& in) {
  torch_state(in).fuses_by_default = torch_state(in).context.fuses_from;
  lang::Threads::Extension extension;
  extension.save = save_modes;
  extension.load = load_modes;
  extension.drop = [](void* mine) { delete static_cast<ThreadModes*>(mine); };
  in.threads().set_extension(extension);
}

}  // namespace tessera::stdlib
