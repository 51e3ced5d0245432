// __torch_dispatch__: modes and classes that answer each op below autograd. Dispatching asks the modes that a program has entered
// (torch.utils._python_dispatch.TorchDispatchMode), innermost first, then the operands whose class defines __torch_dispatch__.
//
// Natives only stop a call at the door and hand it to torch._dispatch, which is written in the language: it finds PyTorch's overload, takes
// compositions apart, records derivatives, and asks. What it calls in the end comes back here with dispatching switched off.
#pragma once

#include <optional>
#include <string_view>

#include "lang/objects/module.h"
#include "runtime/autograd/engine.h"
#include "stdlib/torch/state.h"
#include "stdlib/torch/torch_function.h"

namespace tessera::stdlib {

// Lets modes and classes answer a call of an op; `name` is that of the registry, with an underscore for the form in place.
// Returns std::nullopt if neither a mode nor the class of an operand takes part in dispatching.
[[gnu::noinline, gnu::cold]] std::optional<Value> dispatch_at_door(Interpreter& in, std::string_view name,
                                                                   const Args& args);
inline std::optional<Value> dispatch(Interpreter& in, std::string_view name, const Args& args) {
  if ((torch_state(in).modes & kDispatches) == 0) [[likely]]
    return {};
  return dispatch_at_door(in, name, args);
}

// ---- Tensors without memory ------------------------------------------------------------------------------------------
// Note [Hollow tensors]: Tensor._make_wrapper_subclass makes a tensor of a class that has a shape, a dtype and a device, but no elements. It lies
// on device 'meta', so that no kernel can read it, on a storage of its own, under which the table of hollow tensors keeps the device
// that it says. On its way through the engine, which knows no objects, such an instance is a second hollow tensor that holds the object.

// The device that a tensor says; that of its memory but for hollow tensors.
Device shown_device(const TorchState& state, const Tensor& t);
// A gradient as the engine takes it, and as scripts see it.
Tensor to_gradient(Interpreter& in, const Value& v);
Value wrap_gradient(Interpreter& in, const Tensor& t);
// The gradient with which a sweep begins at a root that was given none; undefined: the engine makes it.
Tensor first_gradient(Interpreter& in, const Value& root);

// During its lifetime, backward sweeps of this thread show their own operations (sums and accumulation of gradients) to dispatch modes and classes.
class DispatchedSweeps final : public tensor::SweepOps {
 public:
  explicit DispatchedSweeps(Interpreter& in);
  ~DispatchedSweeps();
  DispatchedSweeps(const DispatchedSweeps&) = delete;
  Tensor sum(const Tensor& a, const Tensor& b) override;
  bool accumulate(const Tensor& leaf, Tensor& grad, const Tensor& arrived) override;
  void prepare(const tensor::Node& node, TensorList& grads) override;

 private:
  bool are_shown(const Tensor& a, const Tensor& b) const;
  Interpreter& in_;
  tensor::SweepOps* before_ = nullptr;
  bool is_set_ = false;
};

// Marks that there is a class with __torch_dispatch__.
void note_dispatching_class(Interpreter& in, const Type* type);
void add_dispatch_methods(Interpreter& in, Type* tensor);
void add_dispatch_functions(Interpreter& in, Module& module);

}  // namespace tessera::stdlib
