#include "stdlib/torch/tensor_cycles.h"
// compile: small (runs when cycles are sought)

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "runtime/autograd/function.h"
#include "runtime/ops/math_bits.h"
#include "stdlib/torch/dispatch.h"
#include "stdlib/torch/graph.h"

namespace tessera::stdlib {
namespace {

// The record of a tensor that only this object holds.
AutogradMeta* own_record(Object* self) {
  const Tensor& t = known_cast<TensorObject>(self)->tensor;
  return t.defined() && t.impl()->refs.unique() ? t.impl()->autograd : nullptr;
}

// The node that made a tensor, if nothing but the tensor holds it.
Node* own_node(const AutogradMeta& meta) {
  return meta.grad_fn && meta.grad_fn->refs.unique() ? meta.grad_fn.get() : nullptr;
}

void visit_hook(const TensorHook& hook, Visitor& visitor) {
  if (const auto* script = hook.target<ScriptHook>()) visitor(script->function);
}

std::string hook_name(Interpreter& in, const Value& hook) {
  const Value name = find_attr(in, hook, intern(in, "__name__"));
  return is_str(name) ? std::string(text_of(name)) : std::string(type_name(in, hook));
}

}  // namespace

Tensor ScriptHook::operator()(const Tensor& grad) const {
  const Value result = call(*in, function, {wrap_gradient(*in, grad)});
  if (result.is_none()) return {};
  if (!is_tensor(torch_state(*in), result))
    throw Error(ErrorKind::TypeError,
                "expected Variable, but hook returned '" + std::string(type_name(*in, result)) + "'");
  return hook_result(grad, to_gradient(*in, result), hook_name(*in, function));
}

namespace {

TensorList changed_by(Interpreter& in, const Value& hook, const Value& result, size_t expected) {
  if (result.is_none()) return {};
  const TorchState& state = torch_state(in);
  if (is_tensor(state, result) && expected == 1) return {resolved(tensor_of(result))};
  if (!result.is_object() || !result.as_object()->type->is_subtype_of(in.types.tuple))
    throw Error(ErrorKind::TypeError, "expected tuple, but hook returned '" + std::string(type_name(in, result)) + "'");
  if (as_tuple(result)->size != expected)
    throw Error(ErrorKind::RuntimeError,
                "hook '" + hook_name(in, hook) + "' has returned an incorrect number of values (got " +
                    std::to_string(as_tuple(result)->size) + ", but expected " + std::to_string(expected) + ")");
  TensorList list;
  for (const Value& item : *as_tuple(result))
    list.push_back(item.is_none() ? Tensor() : resolved(expect_tensor(in, item, "hook's result")));
  return list;
}

}  // namespace

TensorList ScriptNodePreHook::operator()(const TensorList& grads) const {
  return changed_by(*in, function, call(*in, function, {wrap_list(*in, grads)}), grads.size());
}

TensorList ScriptNodeHook::operator()(const TensorList& results, const TensorList& grads) const {
  const Value given[] = {wrap_list(*in, results), wrap_list(*in, grads)};
  return changed_by(*in, function, call(*in, function, Args{given, 2, nullptr, nullptr}), results.size());
}

void ScriptLeafHook::operator()(const Tensor& tensor) const {
  const Value object = call(*in, leaf, {});
  call(*in, function, {object.is_none() ? wrap_tensor(*in, tensor) : object});
}

TensorList ScriptBackward::operator()(const TensorList& grads, const TensorList& saved) const {
  const Value given[] = {wrap_list(*in, grads), wrap_list(*in, saved)};
  const Value answer = call(*in, function, Args{given, 2, nullptr, nullptr});
  TensorList list;
  for (const Value& item : *object_cast<Tuple>(answer)) {
    if (!item.is_none() && !is_tensor(torch_state(*in), item))
      throw Error(ErrorKind::RuntimeError, "expected Variable or None (got " + std::string(type_name(*in, item)) + ")");
    list.push_back(item.is_none() ? Tensor() : to_gradient(*in, item));
  }
  return list;
}

void track_tensor(Interpreter& in, const Value& tensor) {
  auto* object = static_cast<GcObject*>(tensor.as_object());
  if (!(object->flags & kTracked)) in.collector().track(object);
}

void traverse_tensor(Object* self, Visitor& visitor) {
  const AutogradMeta* meta = own_record(self);
  if (meta == nullptr) return;
  if (meta->host_record) visitor(static_cast<KeptGradient&>(*meta->host_record).object);
  for (const auto& [id, hook] : meta->hooks) visit_hook(hook, visitor);
  for (const auto& [id, hook] : meta->accumulated_hooks)
    if (const auto* script = hook.target<ScriptLeafHook>()) visitor(script->function);
  Node* node = own_node(*meta);
  if (node == nullptr) return;
  if (node->hooks) {
    for (const NodeHooks::Hook& hook : node->hooks->hooks) visit_hook(hook.run, visitor);
    for (const auto& [id, hook] : node->hooks->before)
      if (const auto* script = hook.target<ScriptNodePreHook>()) visitor(script->function);
    for (const auto& [id, hook] : node->hooks->after)
      if (const auto* script = hook.target<ScriptNodeHook>()) visitor(script->function);
  }
  if (const FunctionBackward* function = function_of(*node)) {
    if (const auto* script = function->target<ScriptBackward>()) visitor(script->function);
  }
}

// Takes the functions out first and drops them last: what they hold may come back here.
void clear_tensor(Interpreter&, Object* self) {
  AutogradMeta* meta = own_record(self);
  if (meta == nullptr) return;
  const CountedPtr<Counted> gradient = std::move(meta->host_record);
  const auto hooks = std::exchange(meta->hooks, {});
  const auto accumulated_hooks = std::exchange(meta->accumulated_hooks, {});
  Node* node = own_node(*meta);
  if (node == nullptr) return;
  const std::unique_ptr<NodeHooks> node_hooks = std::make_unique<NodeHooks>();
  if (node->hooks) {
    node_hooks->hooks.swap(node->hooks->hooks);
    node_hooks->before.swap(node->hooks->before);
    node_hooks->after.swap(node->hooks->after);
  }
  if (FunctionBackward* function = function_of(*node); function != nullptr && function->target<ScriptBackward>()) {
    const FunctionBackward dropped =
        std::exchange(*function, [](const TensorList&, const TensorList&) { return TensorList(); });
  }
}

}  // namespace tessera::stdlib
