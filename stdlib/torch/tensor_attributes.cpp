// Attributes of a tensor: what it is, and its place in the autograd graph.
// compile: small (seldom in an inner loop)
#include "lang/objects/class.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/math_bits.h"
#include "stdlib/torch/dispatch.h"
#include "stdlib/torch/graph.h"
#include "stdlib/torch/op_call.h"
#include "stdlib/torch/tensor_cycles.h"
#include "stdlib/torch/tensor_type.h"

namespace tessera::stdlib {
namespace {

const Tensor& self_of(const Args& args) { return tensor_of(args[0]); }

Value shape(Interpreter& in, const Args& args) { return wrap_size(in, self_of(args).sizes()); }
Value dtype(Interpreter& in, const Args& args) {
  return torch_state(in).dtypes[static_cast<int>(self_of(args).dtype())];
}
Device device_of(Interpreter& in, const Args& args) { return shown_device(torch_state(in), self_of(args)); }
Value device(Interpreter& in, const Args& args) { return wrap_device(in, device_of(in, args)); }
Value ndim(Interpreter&, const Args& args) { return Value::integer(self_of(args).dim()); }
Value is_cpu(Interpreter& in, const Args& args) { return Value::boolean(device_of(in, args).is_cpu()); }
Value is_cuda(Interpreter& in, const Args& args) { return Value::boolean(device_of(in, args).is_cuda()); }
Value is_meta(Interpreter& in, const Args& args) { return Value::boolean(device_of(in, args).is_meta()); }
Value is_false(Interpreter&, const Args&) { return Value::boolean(false); }
Value itemsize(Interpreter&, const Args& args) {
  return Value::integer(static_cast<int64_t>(item_size(self_of(args).dtype())));
}
Value nbytes(Interpreter&, const Args& args) { return Value::integer(static_cast<int64_t>(self_of(args).nbytes())); }
Value version(Interpreter&, const Args& args) {
  if (self_of(args).impl()->flags & TensorImpl::kInference)
    throw Error(ErrorKind::RuntimeError, "Inference tensors do not track version counter.");
  return Value::integer(self_of(args).version());
}
Value requires_grad(Interpreter&, const Args& args) { return Value::boolean(self_of(args).requires_grad()); }
Value is_leaf_tensor(Interpreter&, const Args& args) { return Value::boolean(is_leaf(self_of(args))); }
Value layout(Interpreter& in, const Args&) {
  return get_attr(in, Value(static_cast<Object*>(in.import("torch"))), intern(in, "strided"));
}

Value set_requires(Interpreter& in, const Args& args) {
  in_torch(in, args[0], [&] { set_requires_grad(self_of(args), truth(in, args[1])); });
  return Value::none();
}

Value retains_grad(Interpreter&, const Args& args) {
  const AutogradMeta* meta = self_of(args).impl()->autograd;
  return Value::boolean(meta != nullptr && meta->retains_grad);
}

Value grad_fn(Interpreter& in, const Args& args) {
  CountedPtr<Node> node = grad_fn_of(self_of(args));
  return node ? wrap_node(in, std::move(node)) : Value::none();
}

// Keeps `object` as the script's object of the gradient of `self`, so that `t.grad is t.grad`. An object of a subclass of Tensor is not
// kept here: it holds another tensor than the engine, and the table of hollow tensors keeps it.
void keep_gradient(Interpreter& in, const Value& self, AutogradMeta& meta, const Value& object) {
  if (!tensor_of(object).same(meta.grad)) {
    meta.host_record = nullptr;
    return;
  }
  if (!meta.host_record) meta.host_record = make_counted<KeptGradient>();
  const Value dropped = std::exchange(static_cast<KeptGradient&>(*meta.host_record).object, object);
  track_tensor(in, self);
}

Value grad(Interpreter& in, const Args& args) {
  AutogradMeta* meta = self_of(args).impl()->autograd;
  if (meta != nullptr && meta->grad.defined()) {
    const auto* const kept = static_cast<const KeptGradient*>(meta->host_record.get());
    if (kept != nullptr && tensor_of(kept->object).same(meta->grad)) return kept->object;
    const Value object = wrap_gradient(in, meta->grad);
    keep_gradient(in, args[0], *meta, object);
    return object;
  }
  if (meta != nullptr && !meta->retains_grad && !is_leaf(self_of(args)))
    in_torch(in, args[0], [] {
      Context::current().warn(
          "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
          "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use "
          ".retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf "
          "Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.");
    });
  return Value::none();
}

void check_assigned_grad(Interpreter& in, const Tensor& g, const Tensor& t) {
  const std::string attempt = "attempting to assign a gradient ";
  if (!(g.sizes() == t.sizes()))
    throw Error(ErrorKind::RuntimeError, attempt + "of size '" + shape_str(g.sizes()) + "' to a tensor of size '" +
                                             shape_str(t.sizes()) +
                                             "'. Please ensure that the gradient and the tensor are the same size");
  if (g.dtype() != t.dtype())
    throw Error(
        ErrorKind::RuntimeError,
        attempt + "with dtype '" + cpp_name(g.dtype()) + "' to a tensor with grad_dtype '" +
            scalar_type_name(t.dtype()) +
            "'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the "
            "tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
            "caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume "
            "they match.");
  if (shown_device(torch_state(in), g).type != shown_device(torch_state(in), t).type)
    throw Error(ErrorKind::RuntimeError,
                attempt + "with device type '" + tessera::tensor::name(g.device().type) +
                    "' to a tensor with device type '" + tessera::tensor::name(t.device().type) +
                    "'. Please ensure that the gradient and the tensor are on the same device");
}

Value set_grad(Interpreter& in, const Args& args) {
  AutogradMeta& meta = autograd_meta(self_of(args));
  if (args[1].is_none()) {
    const CountedPtr<Counted> kept = std::move(meta.host_record);
    meta.grad.reset();
    return Value::none();
  }
  if (!is_tensor(torch_state(in), args[1]))
    throw Error(ErrorKind::TypeError, "assigned grad expected to be a Tensor or None but got grad of type " +
                                          std::string(type_name(in, args[1])));
  const Tensor& g = tensor_of(args[1]);
  const Tensor& t = self_of(args);
  if (g.same(t)) throw Error(ErrorKind::RuntimeError, "can't assign Variable as its own grad");
  check_assigned_grad(in, g, t);
  meta.grad = to_gradient(in, args[1]);
  keep_gradient(in, args[0], meta, args[1]);
  return Value::none();
}

Value data(Interpreter& in, const Args& args) { return wrap_tensor(in, detached_alias(self_of(args))); }

Value set_data(Interpreter& in, const Args& args) {
  if (!is_tensor(torch_state(in), args[1]))
    throw Error(ErrorKind::TypeError, "Variable data has to be a tensor, but got " + given_type(in, args[1]));
  const Tensor& given = tensor_of(args[1]);
  if (self_of(args).requires_grad() && !is_differentiable(given.dtype()))
    throw Error(ErrorKind::RuntimeError,
                "data set to a tensor that requires gradients must be floating point or complex dtype");
  in_torch(in, args, [&] { replace_data(self_of(args), given); });
  return Value::none();
}

// The tensor whose memory a view shows, through however many views. Autograd keeps it, for views that it made.
Value base_of_view(Interpreter& in, const Args& args) {
  const AutogradMeta* meta = self_of(args).impl()->autograd;
  return meta != nullptr && meta->view_base.defined() ? wrap_tensor(in, meta->view_base) : Value::none();
}
Value is_view(Interpreter&, const Args& args) {
  const AutogradMeta* meta = self_of(args).impl()->autograd;
  return Value::boolean(meta != nullptr && meta->view_base.defined());
}

// Tensor.T and its like: an op that is called by being named.
void add_property_op(Interpreter& in, Type* type, const OpEntry* entry) {
  const Value getter = make_op_function(in, {.name = entry->name, .entries = {entry}, .is_method = true});
  const Value none = Value::none();
  Str* const name = intern(in, entry->name);
  dict_set_str(in, type->attributes(), name,
               make_native_property(in, in.types.getset_descriptor, type->bases.front(), name, getter, none, none, make_str(in, entry->documentation())));
}

struct Row {
  const char* name;
  NativeFn get;
  NativeFn set;
  const char* doc;
};

const Row kRows[] = {
    {"shape", shape, nullptr, "The sizes, as a torch.Size."},
    {"dtype", dtype, nullptr, "The type of the elements."},
    {"device", device, nullptr, "Where the elements are."},
    {"ndim", ndim, nullptr, "The number of dimensions."},
    {"layout", layout, nullptr, "torch.strided, or a sparse layout."},
    {"is_cpu", is_cpu, nullptr, "Whether it is on the CPU."},
    {"is_cuda", is_cuda, nullptr, "Whether it is on a CUDA device."},
    {"is_sparse", is_false, nullptr, "Whether the layout is torch.sparse_coo."},
    {"is_sparse_csr", is_false, nullptr, "Whether the layout is torch.sparse_csr."},
    {"is_quantized", is_false, nullptr, "False: there are no quantized tensors."},
    {"is_mps", is_false, nullptr, "False: Apple's GPUs are not supported."},
    {"is_meta", is_meta, nullptr, "Whether it has a shape and a dtype but no data."},
    {"itemsize", itemsize, nullptr, "Bytes of an element."},
    {"nbytes", nbytes, nullptr, "Bytes of all elements."},
    {"_version", version, nullptr, "How often the memory was written in place."},
    {"requires_grad", requires_grad, set_requires, "Whether gradients flow to it."},
    {"is_leaf", is_leaf_tensor, nullptr, "Whether no recorded operation made it."},
    {"retains_grad", retains_grad, nullptr, "Whether retain_grad() was called."},
    {"grad_fn", grad_fn, nullptr, "The recorded operation that made it, or None."},
    {"grad", grad, set_grad, "The gradient that backward() gathered, or None."},
    {"grad_dtype", dtype, nullptr, "The dtype of gradients: that of the elements."},
    {"_base", base_of_view, nullptr, "The tensor whose memory this view shows, or None."},
    {"data", data, set_data, "The same elements, outside of autograd."},
};

}  // namespace

void add_tensor_attributes(Interpreter& in, TorchState& state) {
  // The properties are TensorBase's, as messages say.
  for (const Row& row : kRows) {
    in.add_property(state.tensor, row.name, row.get, row.set, row.doc);
    object_cast<Property>(*dict_get_text(state.tensor->attributes(), row.name))->owner = Value(static_cast<Object*>(state.tensor->bases.front()));
  }
  const NativeDef views{"_is_view(self)", is_view, "Whether it shows another tensor's memory."};
  in.add_methods(state.tensor, &views, 1);
  for (const OpEntry* entry : all_ops())
    if (entry->has(kProperty)) add_property_op(in, state.tensor, entry);
}

}  // namespace tessera::stdlib
