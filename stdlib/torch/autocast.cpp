#include "stdlib/torch/autocast.h"

#include <algorithm>
#include <optional>

#include "lang/core/protocol.h"
#include "lang/types/list.h"
#include "runtime/ops.h"

namespace tessera::stdlib {
namespace {

// What PyTorch does with an op's tensors on a CPU.
const char* const kLower[] = {
    "_addmm_activation",
    "addbmm",
    "addmm",
    "baddbmm",
    "bmm",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "linalg_vecdot",
    "linear",
    "matmul",
    "mm",
    "prelu",
    "scaled_dot_product_attention",
};
const char* const kFloat32Ops[] = {
    "adaptive_avg_pool3d",
    "adaptive_max_pool3d",
    "avg_pool3d",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cdist",
    "cholesky_inverse",
    "cholesky_solve",
    "cosine_embedding_loss",
    "cross_entropy",
    "cross_entropy_loss",
    "ctc_loss",
    "fft_fft",
    "fft_fft2",
    "fft_fftn",
    "fft_hfft",
    "fft_ifft",
    "fft_ifft2",
    "fft_ifftn",
    "fft_ihfft",
    "fft_irfft",
    "fft_irfft2",
    "fft_irfftn",
    "fft_rfft",
    "fft_rfft2",
    "fft_rfftn",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "geqrf",
    "grid_sampler",
    "hinge_embedding_loss",
    "huber_loss",
    "inverse",
    "kl_div",
    "l1_loss",
    "linalg_cholesky",
    "linalg_cholesky_ex",
    "linalg_cond",
    "linalg_eig",
    "linalg_eigh",
    "linalg_eigvals",
    "linalg_eigvalsh",
    "linalg_householder_product",
    "linalg_inv",
    "linalg_inv_ex",
    "linalg_lstsq",
    "linalg_matrix_rank",
    "linalg_qr",
    "linalg_solve",
    "linalg_svd",
    "linalg_svdvals",
    "linalg_tensorinv",
    "linalg_tensorsolve",
    "lu_solve",
    "margin_ranking_loss",
    "max_pool3d",
    "max_unpool2d",
    "max_unpool3d",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "nanquantile",
    "nll_loss",
    "orgqr",
    "ormqr",
    "pinverse",
    "poisson_nll_loss",
    "polar",
    "prod",
    "quantile",
    "reflection_pad1d",
    "reflection_pad2d",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "smooth_l1_loss",
    "soft_margin_loss",
    "stft",
    "svd",
    "trace",
    "triangular_solve",
    "triplet_margin_loss",
    "view_as_complex",
};
const char* const kWidest[] = {"cat", "index_copy", "stack"};

enum class Policy { None, Lower, Float32, Widest };

template <size_t N>
bool lists(const char* const (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Policy policy_of(const OpFunction& function) {
  if (function.is_inplace) return Policy::None;
  if (lists(kLower, function.name)) return Policy::Lower;
  if (lists(kFloat32Ops, function.name)) return Policy::Float32;
  return lists(kWidest, function.name) ? Policy::Widest : Policy::None;
}

// Calls f with each tensor of the call; lists are looked into once.
template <class F>
void for_each_tensor(Interpreter& in, const Value& v, F&& f) {
  const TorchState& state = torch_state(in);
  if (is_tensor(state, v)) return f(tensor_of(v));
  if (!v.is_object()) return;
  if (v.as_object()->type == in.types.tuple)
    for (const Value& item : *as_tuple(v))
      if (is_tensor(state, item)) f(tensor_of(item));
  if (v.as_object()->type == in.types.list)
    for (const Value& item : *static_cast<List*>(v.as_object()))
      if (is_tensor(state, item)) f(tensor_of(item));
}

class Caster {
 public:
  Caster(Interpreter& interpreter, DType to) : in_(interpreter), state_(torch_state(interpreter)), to_(to) {}

  Value cast(const Value& v) const {
    if (is_tensor(state_, v)) return wanted(tensor_of(v)) ? wrap_tensor(in_, to_dtype(tensor_of(v), to_)) : v;
    if (!v.is_object()) return v;
    Object* object = v.as_object();
    if (object->type == in_.types.tuple) return cast_all(*as_tuple(v), as_tuple(v)->size);
    if (object->type == in_.types.list) return cast_all(*static_cast<List*>(object), static_cast<List*>(object)->size);
    return v;
  }

  // Numbers of 64 bits stay, and what is of another kind of device.
  bool wanted(const Tensor& t) const {
    const bool on = t.device().is_cuda() ? state_.autocast.cuda : state_.autocast.cpu;
    return on && is_floating(t.dtype()) && t.dtype() != kFloat64 && t.dtype() != to_;
  }

 private:
  template <class Items>
  Value cast_all(Items& items, size_t count) const {
    Tuple* tuple = new_tuple(in_, count);
    const Value holder = Value::adopt(tuple);
    size_t i = 0;
    for (const Value& item : items) tuple->items[i++] = is_tensor(state_, item) ? cast(item) : item;
    return holder;
  }

  Interpreter& in_;
  const TorchState& state_;
  DType to_;
};

// The type that the call's tensors get, if they get one.
std::optional<DType> target(Interpreter& in, Policy policy, const Args& args) {
  const AutocastModes& modes = torch_state(in).autocast;
  bool any = false, cuda = false;
  std::optional<DType> widest;
  for (uint32_t i = 0; i < args.count; ++i)
    for_each_tensor(in, args[i], [&](const Tensor& t) {
      any = true;
      cuda = cuda || t.device().is_cuda();
      if (!is_floating(t.dtype())) return;
      if (t.dtype() == kFloat64) return;
      widest = widest ? promote_types(*widest, t.dtype()) : t.dtype();
    });
  if (!any || !(cuda ? modes.cuda : modes.cpu)) return {};
  if (policy == Policy::Float32) return kFloat32;
  if (policy == Policy::Widest) return widest;
  return cuda ? modes.cuda_dtype : modes.cpu_dtype;
}

// Ops that a listed op is made of are not listed again.
struct Off {
  explicit Off(AutocastModes& m) : modes(m), before(m.any) { modes.any = false; }
  ~Off() { modes.any = before; }
  AutocastModes& modes;
  bool before;
};

}  // namespace

bool call_autocast(Interpreter& in, OpFunction& function, const Args& args, Value& result) {
  const Policy policy = policy_of(function);
  if (policy == Policy::None) return false;
  const std::optional<DType> to = target(in, policy, args);
  if (!to) return false;
  const Caster caster(in, *to);
  std::vector<Value> values;
  for (uint32_t i = 0; i < args.count; ++i) values.push_back(caster.cast(args[i]));
  const Off off(torch_state(in).autocast);
  result = call_op(in, function, Args{values.data(), args.count, args.keyword_names, args.callee});
  return true;
}

namespace {

bool is_cuda_name(const Value& v) { return text_of(v) == "cuda"; }

// enabled, dtype, cache
Value get_autocast(Interpreter& in, const Args& args) {
  const TorchState& state = torch_state(in);
  const AutocastModes& modes = state.autocast;
  const bool cuda = is_cuda_name(args[0]);
  return make_tuple(
      in, {Value::boolean(cuda ? modes.cuda : modes.cpu),
           state.dtypes[static_cast<int>(cuda ? modes.cuda_dtype : modes.cpu_dtype)], Value::boolean(modes.cache)});
}

Value set_autocast(Interpreter& in, const Args& args) {
  AutocastModes& modes = torch_state(in).autocast;
  const bool cuda = is_cuda_name(args[0]);
  DType dtype;
  if (!to_dtype(in, args[2], dtype)) throw Error(ErrorKind::TypeError, "dtype must be a torch.dtype");
  (cuda ? modes.cuda : modes.cpu) = truth(in, args[1]);
  (cuda ? modes.cuda_dtype : modes.cpu_dtype) = dtype;
  modes.cache = truth(in, args[3]);
  modes.any = modes.cpu || modes.cuda;
  return Value::none();
}

}  // namespace

void add_autocast_functions(Interpreter& in, Module& module) {
  in.def(module, "_get_autocast(device: str)", "", get_autocast);
  in.def(module, "_set_autocast(device: str, enabled, dtype, cache)", "", set_autocast);
}

}  // namespace tessera::stdlib
