// Methods of a tensor for autograd: backward, detaching, hooks.
// compile: small (what a call sets or hands on costs more)
#include "stdlib/torch/tensor_methods.h"

#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/node.h"
#include "stdlib/torch/convert.h"
#include "stdlib/torch/dispatch.h"
#include "stdlib/torch/profiler_events.h"
#include "stdlib/torch/tensor_cycles.h"

namespace tessera::stdlib {
namespace {

Value backward_from(Interpreter& in, const Args& args) {
  if (args[1].is_none() && args[4].is_none()) {  // as every training step calls it
    const NotedSweeps noted(in);
    const DispatchedSweeps dispatched(in);
    in_torch(in, args, [&] {
      const bool create = truth(in, args[3]);
      backward({self_of(args)}, {first_gradient(in, args[0])}, args[2].is_none() ? create : truth(in, args[2]), create);
    });
    return Value::none();
  }
  const Value autograd = Value(static_cast<Object*>(in.import("torch.autograd")));
  return call(in, get_attr(in, autograd, intern(in, "backward")),
              {args[0], args[1], args[2], args[3], Value::none(), args[4]});
}

Value detach(Interpreter& in, const Args& args) {
  if (auto answer = dispatch(in, "detach", Args{args.values, 1})) return *std::move(answer);
  return wrap_tensor(in, detached(self_of(args)));
}

Value detach_inplace(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] { detach_(self_of(args)); });
  return args[0];
}

Value requires_grad_inplace(Interpreter& in, const Args& args) {
  if (!args[1].is_bool())
    throw Error(ErrorKind::TypeError,
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not " + given_type(in, args[1]));
  if (args[1].as_bool() && !is_differentiable(self_of(args).dtype()))
    throw Error(ErrorKind::RuntimeError, "only Tensors of floating point dtype can require gradients");
  in_torch(in, args, [&] { set_requires_grad(self_of(args), args[1].as_bool()); });
  return args[0];
}

Value retain_grad_method(Interpreter& in, const Args& args) {
  in_torch(in, args, [&] { retain_grad(self_of(args)); });
  return Value::none();
}

// The hook keeps the script's function alive as long as the tensor; it runs while backward() does.
Value register_hook(Interpreter& in, const Args& args) {
  const Tensor& t = self_of(args);
  if (!t.requires_grad())
    throw Error(ErrorKind::RuntimeError, "cannot register a hook on a tensor that doesn't require gradient");
  const uint64_t id = add_hook(t, ScriptHook{&in, args[1]});
  track_tensor(in, args[0]);
  const Value script(static_cast<Object*>(in.import("torch._script")));
  return call(in, get_attr(in, script, intern(in, "_TensorHookHandle")),
              {args[0], Value::integer(static_cast<int64_t>(id))});
}

Value register_leaf_hook(Interpreter& in, const Args& args) {
  const Value reference = get_attr(in, Value(static_cast<Object*>(in.import("_weakref"))), intern(in, "ReferenceType"));
  const Value leaf = call(in, reference, {args[0]});
  const uint64_t id = in_torch(in, args, [&] {
    return add_accumulated_hook(self_of(args), ScriptLeafHook{&in, args[1], leaf});
  });
  track_tensor(in, args[0]);
  const Value script(static_cast<Object*>(in.import("torch._script")));
  return call(in, get_attr(in, script, intern(in, "_TensorHookHandle")),
              {args[0], Value::integer(static_cast<int64_t>(id))});
}

Value is_inference(Interpreter&, const Args& args) {
  return Value::boolean(self_of(args).impl()->flags & TensorImpl::kInference);
}

Value remove_tensor_hook(Interpreter&, const Args& args) {
  remove_hook(self_of(args), static_cast<uint64_t>(args[1].as_int()));
  return Value::none();
}

constexpr NativeDef kPlain[] = {
    {"detach", detach, "The same elements, outside of autograd."},
    {"detach_", detach_inplace, "Takes this tensor out of autograd."},
    {"retain_grad", retain_grad_method, "Keeps .grad although this is no leaf."},
};

constexpr NativeDef kMethods[] = {
    {"backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None)", backward_from,
     "Gathers gradients in the leaves that this tensor was computed from."},
    {"requires_grad_(self, requires_grad=True)", requires_grad_inplace, "Sets whether gradients flow to it."},
    {"register_hook(self, hook: callable)", register_hook, "Calls the hook with the gradient when it is computed."},
    {"register_post_accumulate_grad_hook(self, hook: callable)", register_leaf_hook,
     "Calls the hook with the leaf after .grad has taken up a gradient."},
    {"is_inference(self)", is_inference, "Whether it was made in inference mode."},
    {"_remove_hook(self, id: int)", remove_tensor_hook},
};

}  // namespace

MethodTables autograd_methods() { return {kPlain, kMethods}; }

}  // namespace tessera::stdlib
