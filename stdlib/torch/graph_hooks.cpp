// compile: small (hooks are rare)
#include "stdlib/torch/graph_hooks.h"

#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "runtime/autograd/engine.h"
#include "stdlib/torch/graph.h"
#include "stdlib/torch/tensor_cycles.h"

namespace tessera::stdlib {

// Nodes ------------------------------------------------------------------------------------------------------------

NodeRecord& node_record(Node& node) {
  NodeHooks& hooks = node.own_hooks();
  if (!hooks.host_record) hooks.host_record = make_counted<NodeRecord>();
  return static_cast<NodeRecord&>(*hooks.host_record);
}

NodeRecord* find_node_record(Node& node) {
  return node.hooks ? static_cast<NodeRecord*>(node.hooks->host_record.get()) : nullptr;
}

namespace {

Value hook_handle(Interpreter& in, const Value& owner, uint64_t id) {
  const Value script(static_cast<Object*>(in.import("torch._script")));
  return call(in, get_attr(in, script, intern(in, "_TensorHookHandle")),
              {owner, Value::integer(static_cast<int64_t>(id))});
}

Value register_post_hook(Interpreter& in, const Args& args) {
  return hook_handle(in, args[0], add_post_hook(node_of(args[0]), ScriptNodeHook{&in, args[1]}));
}

Value register_pre_hook(Interpreter& in, const Args& args) {
  return hook_handle(in, args[0], add_pre_hook(node_of(args[0]), ScriptNodePreHook{&in, args[1]}));
}

Value remove_node_hook(Interpreter&, const Args& args) {
  remove_hook(node_of(args[0]), static_cast<uint64_t>(args[1].as_int()));
  return Value::none();
}

Value metadata(Interpreter& in, const Args& args) {
  NodeRecord& record = node_record(node_of(args[0]));
  if (record.metadata.is_undefined()) record.metadata = Value::adopt(new_dict(in));
  return record.metadata;
}

}  // namespace

void add_node_hooks(Interpreter& in, Type* type) {
  const NativeDef rows[] = {
      {"register_hook(self, fn: callable)", register_post_hook, "Calls fn(grad_inputs, grad_outputs) after the node."},
      {"register_prehook(self, fn: callable)", register_pre_hook, "Calls fn(grad_outputs) before the node."},
      {"_remove_hook(self, id: int)", remove_node_hook, ""},
  };
  in.add_methods(type, rows, 3);
  in.add_property(type, "metadata", metadata);
}

// Saved tensors ----------------------------------------------------------------------------------------------------

namespace {

struct PackedValue final : PackedTensor {
  PackedValue(Interpreter* interpreter, Value back, Value kept)
      : in(interpreter), unpack_hook(std::move(back)), value(std::move(kept)) {}
  Tensor unpack() override {
    const Value result = call(*in, unpack_hook, {value});
    if (!is_tensor(torch_state(*in), result))
      throw Error(ErrorKind::TypeError,
                  "Output of saved tensor unpack_hook expected to be a Tensor but got result of type " +
                      std::string(type_name(*in, result)));
    return tensor_of(result);
  }

  Interpreter* in;
  Value unpack_hook, value;
};

struct ScriptSavedHooks final : SavedTensorHooks {
  ScriptSavedHooks(Interpreter* interpreter, Value to, Value back)
      : in(interpreter), pack_hook(std::move(to)), unpack_hook(std::move(back)) {}
  CountedPtr<PackedTensor> pack(const Tensor& t) override {
    const Value to = pack_hook, back = unpack_hook;  // the hook may leave the block that these are of
    return make_counted<PackedValue>(in, back, call(*in, to, {wrap_tensor(*in, t)}));
  }

  Interpreter* in;
  Value pack_hook, unpack_hook;
};

}  // namespace

// Those of the `with` blocks that the program is in; the last one packs.
struct SavedHooksStack {
  std::vector<std::unique_ptr<SavedTensorHooks>> hooks;
  Value refusal;  // what disable_saved_tensors_hooks says, or undefined
};

namespace {

SavedHooksStack& hooks_stack(Interpreter& in) {
  std::shared_ptr<SavedHooksStack>& stack = torch_state(in).saved_hooks;
  if (!stack) stack = std::make_shared<SavedHooksStack>();
  return *stack;
}

void use_last_hooks(Interpreter& in, const SavedHooksStack& stack) {
  torch_state(in).context.saved_hooks = stack.hooks.empty() ? nullptr : stack.hooks.back().get();
}

Value push_saved_hooks(Interpreter& in, const Args& args) {
  SavedHooksStack& stack = hooks_stack(in);
  if (!stack.refusal.is_undefined() && !stack.refusal.is_none())
    throw Error(ErrorKind::RuntimeError, std::string(text_of(stack.refusal)));
  stack.hooks.push_back(std::make_unique<ScriptSavedHooks>(&in, args[0], args[1]));
  use_last_hooks(in, stack);
  return Value::none();
}

Value pop_saved_hooks(Interpreter& in, const Args&) {
  SavedHooksStack& stack = hooks_stack(in);
  if (stack.hooks.empty()) return Value::none();
  const std::unique_ptr<SavedTensorHooks> last = std::move(stack.hooks.back());
  stack.hooks.pop_back();
  use_last_hooks(in, stack);
  return Value::none();
}

// Answers what was said before.
Value refuse_saved_hooks(Interpreter& in, const Args& args) {
  SavedHooksStack& stack = hooks_stack(in);
  if (!args[0].is_none() && !stack.hooks.empty()) throw Error(ErrorKind::RuntimeError, std::string(text_of(args[0])));
  const Value before = stack.refusal.is_undefined() ? Value::none() : stack.refusal;
  stack.refusal = args[0];
  return before;
}

// Modes ------------------------------------------------------------------------------------------------------------

Value anomaly(Interpreter& in, const Args&) { return Value::boolean(torch_state(in).context.anomaly_mode); }
Value anomaly_checks_nan(Interpreter& in, const Args&) {
  return Value::boolean(torch_state(in).context.anomaly_checks_nan);
}

Value set_anomaly(Interpreter& in, const Args& args) {
  Context& context = torch_state(in).context;
  context.anomaly_mode = truth(in, args[0]);
  context.anomaly_checks_nan = truth(in, args[1]);
  context.forward_trace = nullptr;
  warn_through_language(in);
  if (!context.anomaly_mode) return Value::none();
  const Value trace = args[2], warn = args[3];
  Interpreter* interpreter = &in;
  context.forward_trace = [interpreter, trace] { return str_text(*interpreter, call(*interpreter, trace, {})); };
  context.warning_sink = [interpreter, warn](const std::string& message) {
    call(*interpreter, warn, {make_str(*interpreter, message)});
  };
  return Value::none();
}

Value inference(Interpreter& in, const Args&) { return Value::boolean(torch_state(in).context.inference_mode); }
// Inference mode is grad mode off as well, and a normal mode inside of it has grad mode on.
Value set_inference(Interpreter& in, const Args& args) {
  Context& context = torch_state(in).context;
  context.inference_mode = truth(in, args[0]);
  context.set_grad_enabled(truth(in, args[1]));
  return Value::none();
}

Value bump_version(Interpreter& in, const Args& args) {
  expect_tensor(in, args[0], "tensor").bump_version();
  return Value::none();
}

}  // namespace

void add_hook_functions(Interpreter& in, Module& module) {
  in.def(module, "_push_saved_hooks(pack: callable, unpack: callable)", "", push_saved_hooks);
  in.def(module, "_pop_saved_hooks()", "", pop_saved_hooks);
  in.def(module, "_refuse_saved_hooks(message)", "", refuse_saved_hooks);
  in.def(module, "_inference_mode()", "", inference);
  in.def(module, "_set_inference_mode(mode, grad_mode)", "", set_inference);
  in.def(module, "_anomaly_mode()", "", anomaly);
  in.def(module, "_anomaly_checks_nan()", "", anomaly_checks_nan);
  in.def(module, "_set_anomaly_mode(mode, check_nan, trace, warn)", "", set_anomaly);
  in.def(module, "_bump_version(tensor)", "", bump_version);
}

}  // namespace tessera::stdlib
