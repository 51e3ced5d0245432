// From operands to a kernel call: promotion, shape, result, loop, record. Cheap tests come first, since on four
// elements this function is the cost of the op.
#include "runtime/ops/out_types.h"
#include "runtime/ops/pointwise.h"

#include <algorithm>
#include <limits>

#include "runtime/device/backend.h"
#include "runtime/device/two_devices.h"
#include "runtime/context.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/pointwise_grad.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/pointwise_rows.h"
#include "runtime/ops/refuse.h"
#include "runtime/ops/result_layout.h"

namespace tessera::tensor {
namespace {

using namespace pointwise;

struct Plan {
  DType common;  // PyTorch's result_type of the operands
  DType result;
  DType lane;            // type of the arithmetic: float32, float64, int32 or int64
  const Tensor* widest;  // a tensor operand of the full shape, if one has it
  bool dense;            // contiguous operands of one shape, and single numbers
};

DType lane_of(DType t) {
  if (is_complex(t)) return t;
  if (is_floating(t)) return t == kFloat64 ? kFloat64 : kFloat32;
  return t == kInt64 || t == kUInt32 || t == kUInt64 ? kInt64 : kInt32;
}

int category(DType t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : is_integral(t) ? 1 : 0; }

DType promote(const Operand* in, int first, int count) {
  // One dtype among the tensors, and numbers that are not of a higher category: the common case.
  DType type = kBool;
  bool seen = false, simple = true;
  for (int k = first; k < count; k++) {
    if (!in[k].is_tensor()) continue;
    const TensorImpl* t = in[k].tensor().impl();
    if (t->flags & TensorImpl::kWrappedNumber) simple = false;
    else if (!seen) type = t->dtype, seen = true;
    else if (type != t->dtype) simple = false;
  }
  if (seen && simple) {
    for (int k = first; k < count; k++)
      if (!in[k].is_tensor()) simple &= int(in[k].scalar().kind()) <= category(type);
    if (simple) return type;
  }
  PromotionState state;
  for (int k = first; k < count; k++) {
    if (in[k].is_tensor()) state.add(in[k].tensor());
    else state.add(in[k].scalar());
  }
  return state.result();
}

[[gnu::cold]] void refuse_bool(int id, const Operand* in, int count) {
  bool all = true;
  for (int k = 0; k < count; k++) all &= in[k].is_tensor() ? is_bool(in[k].tensor().dtype()) : in[k].scalar().is_bool();
  if (id == k_neg)
    fail(
        TensorErrorKind::NotImplemented,
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
        "`logical_not()` operator instead.");
  if (all)
    fail(
        TensorErrorKind::NotImplemented,
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.");
  fail(
      TensorErrorKind::NotImplemented,
      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
      "`logical_not()` operator instead.");
}

// What PyTorch calls the kernel of a row in a refusal, where that is not the row's name.
std::string kernel_name(std::string_view row) {
  static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"selu", "elu_cpu"},
      {"celu", "elu_cpu"},
      {"gelu_erf", "GeluKernelImpl"},
      {"gelu_tanh", "GeluKernelImpl"},
      {"logsigmoid", "log_sigmoid_cpu"},
      {"softshrink", "softshrink_check"},
      {"bitwise_left_shift", "lshift_cpu"},
      {"bitwise_right_shift", "rshift_cpu"},
      {"erf", "erf_vml_cpu"},
      {"round", "round_vml_cpu"},
      {"lgamma", "lgamma_vml_cpu"},
      {"floor", "floor_vml_cpu"},
      {"ceil", "ceil_vml_cpu"},
      {"trunc", "trunc_vml_cpu"},
      {"erfc", "erfc_vml_cpu"},
      {"erfinv", "erfinv_vml_cpu"},
      {"addcmul", "addcmul_cpu_out"},
      {"pow", "pow"},
      {"floor_divide", "div_floor_cpu"},
      {"trunc_divide", "div_trunc_cpu"},
  };
  for (const auto& [name, kernel] : kOthers)
    if (row == name) return std::string(kernel);
  if (row == "special_entr") return "entr_cpu";
  return std::string(row) + "_cpu";
}

// Where PyTorch speaks of complex numbers in other words than "not implemented for".
const char* complex_refusal(std::string_view row) {
  if (row == "sign")
    return "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.";
  if (row == "floor") return "floor is not supported for complex inputs";
  if (row == "ceil") return "ceil is not supported for complex inputs";
  if (row == "trunc") return "trunc is not supported for complex inputs";
  if (row == "signbit") return "signbit is not implemented for complex tensors.";
  if (row == "maximum") return "maximum not implemented for complex tensors.";
  if (row == "minimum") return "minimum not implemented for complex tensors.";
  if (row == "fmax") return "fmax not implemented for complex tensors.";
  if (row == "fmin") return "fmin not implemented for complex tensors.";
  if (row == "deg2rad") return "deg2rad is not supported for complex tensors.";
  if (row == "rad2deg") return "rad2deg is not supported for complex tensors.";
  if (row == "isposinf") return "isposinf does not support complex inputs.";
  if (row == "isneginf") return "isneginf does not support complex inputs.";
  if (row == "heaviside") return "heaviside is not yet implemented for complex tensors.";
  if (row.substr(0, 6) == "clamp_" || row == "relu" || row == "relu6" || row == "hardtanh")
    return "clamp is not supported for complex types";
  return nullptr;
}

[[gnu::cold]] void refuse_dtype(const PointwiseRow& row, DType type, Device device) {
  const char* const own_words = is_complex(type) ? complex_refusal(row.name) : nullptr;
  const std::string_view row_name = row.name;
  const bool extreme =
      row_name == "maximum" || row_name == "minimum" || row_name.starts_with("fm") || row_name.starts_with("is");
  if (is_bool(type) && row_name == "relu")
    fail(TensorErrorKind::NotImplemented, "Boolean inputs not supported for relu");
  if (is_bool(type) && (row_name == "relu6" || row_name == "hardtanh"))
    fail(TensorErrorKind::NotImplemented, "Bool inputs not supported for hardtanh");
  if (own_words) fail(extreme ? TensorErrorKind::Type : TensorErrorKind::NotImplemented, own_words);
  refuse_type(type, device, kernel_name(row.name).c_str());
}

bool is_clamp(int id) { return id == k_clamp_min || id == k_clamp_max || id == k_clamp_both; }

// In place a result must fit; the words of clamp name the C++ type.
void check_inplace_dtype(int id, DType result, const Tensor& self) {
  const DType type = self.dtype();
  check(can_cast(result, type), TensorErrorKind::Runtime, "result type ", scalar_type_name(result),
        " can't be cast to the desired output type ", is_clamp(id) ? cpp_name(type) : scalar_type_name(type));
}

bool any_complex(const Operand* in, int count) {
  for (int k = 0; k < count; k++)
    if (in[k].is_tensor() ? is_complex(in[k].tensor().dtype()) : in[k].scalar().is_complex()) return true;
  return false;
}

Dims full_shape(const Operand* in, int count) {
  Dims shape;
  bool first = true;
  for (int k = 0; k < count; k++) {
    if (!in[k].is_tensor()) continue;
    shape = first ? Dims(in[k].tensor().sizes()) : broadcast_shapes(shape, in[k].tensor().sizes());
    first = false;
  }
  return shape;
}

// Rows that take no mixture of dtypes.
[[gnu::cold]] void check_mixture(int id, const Operand* in, int count) {
  if (id == k_addcdiv) {
    const auto is_whole = [](const Operand& o) { return o.is_tensor() && !is_differentiable(o.tensor().dtype()); };
    check(
        !is_whole(in[1]) || !is_whole(in[2]), TensorErrorKind::Runtime,
        "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
        "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
        "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) "
        "for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / "
        "tensor2), for all dtypes.");
    return;
  }
  static constexpr const char* kNames[] = {"", "end", "weight"};
  if (id == k_heaviside && any_complex(in, count)) return;  // refused for that
  for (int k = 1; k < count; k++) {
    if (!in[k].is_tensor() || !in[0].is_tensor() || in[k].tensor().is_wrapped_number()) continue;
    const DType type = in[0].tensor().dtype(), other = in[k].tensor().dtype();
    if (type == other || (k == 2 && in[k].tensor().dim() == 0 && !is_complex(other))) continue;
    check(id != k_heaviside, TensorErrorKind::Runtime,
          "heaviside is not yet implemented for tensors with different dtypes.");
    fail(TensorErrorKind::Runtime, "expected dtype ", cpp_name(type), " for `", kNames[k], "` but got dtype ",
         cpp_name(other));
  }
  if (id == k_lerp && in[0].is_tensor() && !is_differentiable(in[0].tensor().dtype())) {
    full_shape(in, count);
    refuse_type(in[0].tensor(), in[2].is_tensor() ? "lerp_kernel_tensor" : "lerp_kernel_scalar");
  }
}

// The bounds of a clamp promote as operands do. Of floats they are read as real numbers.
DType promote_clamp(const PointwiseRow& row, const Operand& x, const Scalar* bounds) {
  Operand all[3] = {x, 0, 0};
  for (int k = 0; k < row.params; k++) {
    const bool one_bound = row.params == 1;  // clamp itself asks for real numbers before
    if (one_bound && bounds[k].is_complex()) refuse_dtype(row, kComplex128, x.tensor().device());
    all[k + 1] = is_floating(x.tensor().dtype()) ? Operand(bounds[k].to_double()) : Operand(bounds[k]);
  }
  return promote(all, 0, row.params + 1);
}

// `self`: the tensor that an in-place form writes to.
void decide_types(int id, const PointwiseRow& row, const Operand* in, int count, const Scalar* params, Plan& plan,
                  const Tensor* self = nullptr) {
  if (is_clamp(id)) plan.common = promote_clamp(row, in[0], params);
  else plan.common = promote(in, row.row_class == PointwiseClass::Select ? 1 : 0, count);
  if (id == k_lerp || id == k_addcdiv || id == k_heaviside) check_mixture(id, in, count);
  const bool bool_power = id == k_pow && is_bool(plan.common) && !in[1].is_tensor();  // to True or False: no arithmetic
  if (!row.types.has(plan.common) && !bool_power) [[unlikely]] {
    // A kernel looks at the dtype, after the shapes and what the result has to fit into.
    if (!is_complex(plan.common) || !complex_refusal(row.name)) full_shape(in, count);
    const bool predicate = row.row_class == PointwiseClass::Predicate || row.row_class == PointwiseClass::Compare;
    if (self && !complex_refusal(row.name)) check_inplace_dtype(id, predicate ? kBool : plan.common, *self);
    int k = 0;  // a number goes to where the tensor beside it lies
    while (k + 1 < count && (!in[k].is_tensor() || in[k].tensor().device().is_cpu())) k++;
    refuse_dtype(row, plan.common, in[k].is_tensor() ? in[k].tensor().device() : kCpu);
  }
  if (id == k_square && is_bool(plan.common)) plan.common = kInt64;  // x ** 2
  plan.result = plan.common;
  switch (row.row_class) {
    case PointwiseClass::Float:
      if (!is_floating(plan.common) && !is_complex(plan.common)) plan.result = Context::current().default_dtype;
      plan.lane = lane_of(plan.result);
      return;
    case PointwiseClass::Number:
    case PointwiseClass::Divide:
    case PointwiseClass::Select: break;
    case PointwiseClass::Predicate:
    case PointwiseClass::Compare: plan.result = kBool; break;
    default: break;
  }
  plan.lane = lane_of(plan.common);
  if (id == k_sub || id == k_neg) {
    bool any_bool = false;
    for (int k = 0; k < count; k++)
      any_bool |= in[k].is_tensor() ? is_bool(in[k].tensor().dtype()) : in[k].scalar().is_bool();
    if (any_bool) [[unlikely]]
      refuse_bool(id, in, count);
  }
}

// Integer division by zero stops before the kernel, which cannot.
void check_divisor(const Operand& y, DType lane) {
  if (is_floating(lane)) return;
  bool zero =
      y.is_tensor() ? y.tensor().device().is_cpu() && any(eq(y.tensor(), 0)).item().to_bool() : !y.scalar().to_bool();
  check(!zero, TensorErrorKind::Runtime, "ZeroDivisionError");
}

// softshrink's place of no value is as wide as the dtype allows.
void check_lambda(const Scalar& lambda, DType type) {
  const double value = lambda.to_double(), most = type == kFloat64    ? 1.7976931348623157e308
                                                  : type == kFloat16  ? 65504.0
                                                  : type == kBFloat16 ? 3.3895313892515355e38
                                                                      : 3.4028234663852886e38;
  check(value >= 0 && value <= most, TensorErrorKind::Runtime, "lambda must be in range [0, ", most,
        "] for input dtype ", scalar_type_name(type), ", but found ", value);
}

void check_alpha(const Scalar& alpha) {
  check(alpha.to_double() != 0, TensorErrorKind::Runtime, "ZeroDivisionError: alpha cannot be 0 for CELU");
}

void check_operands(int id, const PointwiseRow& row, const Operand* in, const Plan& plan) {
  if (row.row_class == PointwiseClass::Divide) check_divisor(in[1], plan.lane);
  if (id == k_pow && !in[1].is_tensor()) {
    if (is_integral(plan.lane))
      check(in[1].scalar().to_int() >= 0, TensorErrorKind::Runtime,
            "Integers to negative integer powers are not allowed.");
    if (!is_differentiable(plan.common) || is_half(plan.common)) in[1].scalar().as(plan.common);
  }
  if (row.row_class == PointwiseClass::Select)
    for (int k = 1; k < row.arity; k++)
      if (!in[k].is_tensor() && !is_half(plan.common)) in[k].scalar().as(plan.common);
}

// ---- parameters ----

// A bound beyond the dtype on the side where it would leave nothing is refused, on the other side it bounds nothing.
Scalar clamp_bound(const Scalar& bound, bool lower, DType type) {
  const int64_t value = bound.to_int();
  return with_type<DTypeSet(kBool) | kIntegralTypes | kWideUnsignedTypes>(type, [&](auto tag) -> Scalar {
    using T = typename decltype(tag)::type;
    constexpr int64_t low = int64_t(std::numeric_limits<T>::lowest());
    constexpr int64_t top = sizeof(T) < 8 ? int64_t(std::numeric_limits<T>::max()) : INT64_MAX;
    check(lower ? value <= top : value >= low, TensorErrorKind::Runtime, "Clamp ", lower ? "min" : "max", " value ",
          double(value), " is outside the representable range of ", scalar_type_name(type));
    return std::clamp(value, low, top);
  });
}

// A row's numbers as the dtype that it computes in holds them (a half is computed as float32); `to` has room for two.
const Scalar* fit_params(int id, const PointwiseRow& row, const Scalar* given, const Plan& plan, Scalar* to) {
  const DType type = is_half(plan.result) ? kFloat32 : plan.result;
  for (int k = 0; k < row.params; k++) {
    if (!is_floating(type) && is_clamp(id)) to[k] = clamp_bound(given[k], id != k_clamp_max && k == 0, type);
    else {
      to[k] = given[k].as(type);
      if (is_floating(type)) to[k] = given[k].is_complex() ? Scalar(given[k].to_double()) : given[k];
    }
  }
  return to;
}

// ---- shape ----

// A single number on the host: goes into the kernel as a value, whatever its dtype.
bool is_host_number(const Operand& o) {
  return !o.is_tensor() || (o.tensor().dim() == 0 && o.tensor().device().is_cpu());
}

void decide_shape(const Operand* in, int count, Plan& plan) {
  plan.widest = nullptr;
  plan.dense = true;
  for (int k = 0; k < count; k++) {
    if (!in[k].is_tensor()) continue;
    const Tensor& t = in[k].tensor();
    if (!plan.widest) plan.widest = &t;
    else if (plan.widest->sizes() != t.sizes()) {
      if (is_host_number(in[k])) continue;
      if (is_host_number(*plan.widest)) plan.widest = &t;
      else {
        plan.widest = nullptr;  // a real broadcast
        plan.dense = false;
        return;
      }
    }
    plan.dense &= t.is_contiguous();
  }
  if (plan.widest && plan.widest->dim() == 0) plan.dense = true;
}

// Row-major operands give row-major results; of others, and of none at all, result_strides knows.
Tensor empty_result(const Operand* in, int count, Ints sizes, DType dtype, Device device, bool dense) {
  Tensor out = Tensor::empty(sizes, dtype, device);
  if (dense && out.numel()) return out;
  const Tensor* operands[kMaxOperands] = {};
  bool rows = out.numel() != 0;
  for (int k = 0; k < count; k++) {
    operands[k] = in[k].is_tensor() ? &in[k].tensor() : nullptr;
    rows &= !operands[k] || operands[k]->is_contiguous();
  }
  if (rows) return out;
  if (const Dims strides = result_strides({operands, size_t(count)}, sizes); !strides.empty())
    out.impl()->set_layout(sizes, strides);
  return out;
}

// What PyTorch makes with empty_like first keeps the steps of a tensor without elements.
bool copies_strides(int id, const Operand* in) {
  if (id == k_deg2rad || id == k_rad2deg) return true;
  return (id == k_isfinite || id == k_isinf) && !is_differentiable(in[0].tensor().dtype());
}

// ---- the call ----

void put_number(char* to, const Scalar& from, DType lane) {
  with_type<kRealTypes | kComplexTypes>(lane, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value = from.wrapped<T>();
    __builtin_memcpy(to, &value, sizeof value);
  });
}

// The number takes the common dtype first: int8 -1 among uint8 is 255.
Scalar in_common(const Scalar& s, DType common) {
  if (!is_integral(common)) return s;
  return with_type<kIntegralTypes | kWideUnsignedTypes>(common, [&](auto tag) -> Scalar {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) return s.wrapped<T>();
    else return s;
  });
}

void set_number(Loop& loop, int k, const Operand& o, const Plan& plan) {
  const DType lane = plan.lane;
  put_number(loop.numbers[k],
             in_common(o.is_tensor() ? o.tensor().item() : o.scalar(), is_floating(lane) ? lane : plan.common), lane);
  loop.use_number(k, lane);
}

void call_kernel(int id, const Operand* in, int count, const Scalar* params, const Plan& plan, const Tensor& out) {
  Loop loop;
  if (plan.dense && out.is_contiguous()) {
    loop.operands = count + 1;
    loop.ndim = 1;
    loop.numel = loop.sizes[0] = out.numel();
    loop.data[0] = out.bytes();
    loop.dtype[0] = out.dtype();
    loop.strides[0][0] = 1;
    for (int k = 0; k < count; k++) {
      if (is_host_number(in[k])) {
        set_number(loop, k + 1, in[k], plan);
        loop.strides[k + 1][0] = 0;
      } else {
        loop.data[k + 1] = in[k].tensor().bytes();
        loop.dtype[k + 1] = in[k].tensor().dtype();
        loop.strides[k + 1][0] = 1;
      }
    }
  } else {
    Tensor placeholder;  // shape [] for numbers; its data is replaced below
    const Tensor* operands[kMaxOperands] = {&out};
    for (int k = 0; k < count; k++) {
      if (!in[k].is_tensor() && !placeholder.defined()) placeholder = Tensor::empty({}, plan.lane);
      operands[k + 1] = in[k].is_tensor() ? &in[k].tensor() : &placeholder;
    }
    make_loop(loop, operands, count + 1);
    for (int k = 0; k < count; k++)
      if (is_host_number(in[k])) set_number(loop, k + 1, in[k], plan);
  }
  if (loop.numel) pointwise_kernel(out.device(), PointwiseCall{id, plan.lane, loop, params});
}

// ---- results ----

// Nobody else sees what autograd hangs on a temporary: it was made by a node whose only result it is, and no one asked
// for its gradient. (A node or a view that kept its memory would share its storage.)
bool forgettable(const AutogradMeta* meta) {
  return !meta || (meta->grad_fn && meta->output == 0 && !meta->retains_grad && !meta->grad.defined() &&
                   !meta->view_base.defined());
}

// An operand whose memory may take the result: sole owner of impl and storage, same shape and dtype. `kept`: operands
// that the tape is about to keep. A temporary with history lends its memory to a recorded op only, whose history takes
// the place of its own.
const Tensor* reusable(const Operand* in, int count, unsigned reuse, Ints sizes, DType dtype, Device device,
                       bool record, unsigned kept) {
  reuse &= ~kept;
  for (int k = 0; k < count; k++) {
    if (!(reuse >> k & 1) || !in[k].is_tensor()) continue;
    const Tensor& t = in[k].tensor();
    TensorImpl* impl = t.impl();
    const bool history = impl->autograd || (impl->flags & TensorImpl::kRequiresGrad);
    if (impl->refs.unique() && impl->storage->unique() && impl->dtype == dtype && impl->device == device &&
        t.is_contiguous() && !(impl->flags & TensorImpl::kWrappedNumber) && Ints(impl->sizes) == sizes &&
        (!history || (record && impl->autograd && forgettable(impl->autograd))))
      return &t;
  }
  return nullptr;
}

// Bools have ops of their own for what bits do.
int replace_for_bool(int id, DType common) {
  if (!is_bool(common)) return id;
  return id == k_bitwise_not ? int(k_logical_not) : id;
}

// x ** 2 and the like without pow.
int replace_pow(int id, const Operand* in, DType lane) {
  if (id != k_pow || in[1].is_tensor() || !(is_floating(lane) || is_complex(lane))) return id;
  if (in[1].scalar().is_complex()) return id;
  double e = in[1].scalar().to_double();
  return e == 2.0    ? int(k_square)
         : e == 3.0  ? int(k_cube)
         : e == 0.5  ? int(k_sqrt)
         : e == -1.0 ? int(k_reciprocal)
                     : id;
}

Device device_of(const Operand* in, int count) {
  const Tensor* tensors[3];
  int n = 0;
  for (int k = 0; k < count; k++)
    if (in[k].is_tensor()) tensors[n++] = &in[k].tensor();
  if (n == 1 || (n == 2 && tensors[0]->device() == tensors[1]->device())) return tensors[0]->device();
  return n ? common_device(tensors, n) : kCpu;
}

// Of complex tensors; a complex weight between real ones is refused.
Tensor complex_lerp(const Operand* in) {
  check_mixture(k_lerp, in, 3);
  const DType ends = promote(in, 0, 2);
  if (!in[2].is_tensor() && !is_complex(ends)) return lerp(in[0], in[1], in[2].scalar().as(ends));
  return add(in[0], mul(in[2], sub(in[1], in[0])));
}

// The lane of uint64 is int64, which orders the same numbers once their top bit is turned round.
constexpr int64_t kTopBit = INT64_MIN;

bool orders_uint64(int id, DType common) {
  if (common != kUInt64) return false;
  return is_clamp(id) || id == k_maximum || id == k_minimum || id == k_fmax || id == k_fmin || id == k_relu ||
         id == k_relu6 || id == k_hardtanh;
}

Tensor run_ordered(int id, const PointwiseRow& row, const Operand* in, const Scalar* params) {
  Tensor turned[3];
  Operand operands[3] = {0, 0, 0};
  for (int k = 0; k < row.arity; k++) {
    turned[k] = bitwise_xor(to_dtype(in[k].as_tensor(), kInt64), kTopBit);
    operands[k] = turned[k];
  }
  Scalar bounds[2] = {0, 6};
  for (int k = 0; k < row.params; k++) bounds[k] = params[k];
  for (Scalar& bound : bounds) bound = bound.to_int() ^ kTopBit;
  const int same = id == k_relu ? int(k_clamp_min) : id == k_relu6 || id == k_hardtanh ? int(k_clamp_both) : id;
  return to_dtype(bitwise_xor(run_pointwise(same, operands, bounds), kTopBit), kUInt64);
}

// What was made of other ops, in the tensor that was given for it.
Tensor given(const Tensor* out, const Tensor& result, const char* name) {
  if (!out) return result;
  check_out_type(name, result.dtype(), out->dtype());
  if (result.device() != out->device()) fail_two_devices(out->device(), result.device());
  resize_output(*out, result.sizes());
  return copy_(*out, result);
}

}  // namespace

Tensor run_pointwise(int id, const Operand* in, const Scalar* params, const Tensor* out, unsigned reuse) {
  const PointwiseRow& row = kPointwiseRows[id];
  const int count = row.arity;
  if (id == k_abs && in[0].is_tensor() && is_complex(in[0].tensor().dtype())) [[unlikely]]
    return given(out, complex_abs(in[0].tensor()), "complex_abs");
  if ((id == k_lerp || id == k_logaddexp) && any_complex(in, count)) [[unlikely]]
    return given(out, id == k_lerp ? complex_lerp(in) : complex_logaddexp(in[0].as_tensor(), in[1].as_tensor()),
                 row.name);
  Plan plan;
  Device device = device_of(in, count);
  decide_types(id, row, in, count, params, plan);
  if (row.row_class == PointwiseClass::Divide || row.row_class == PointwiseClass::Select || id == k_pow)
    check_operands(id, row, in, plan);
  Scalar fitted[2];
  if (id == k_softshrink) check_lambda(params[0], plan.common);
  if (id == k_celu) check_alpha(params[0]);
  if (row.params) params = fit_params(id, row, params, plan, fitted);
  if (orders_uint64(id, plan.common)) [[unlikely]]
    return given(out, run_ordered(id, row, in, params), row.name);
  decide_shape(in, count, plan);
  Dims broadcast;
  Ints sizes;
  if (plan.widest) sizes = plan.widest->sizes();
  else {
    broadcast = full_shape(in, count);
    sizes = broadcast;
  }
  const bool record = wants_grad(row, in, plan.result);
  Tensor result, wide;  // wide: what was given for it, where the result has to be rounded first
  if (out) {
    check(
        !record && !(out->requires_grad() && Context::current().grad_enabled), TensorErrorKind::Runtime, row.name,
        "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
    const bool weighed = id == k_lerp && in[2].is_tensor() && in[2].tensor().dim() > 0;
    check_out_type(weighed ? "lerp.tensor" : row.name, plan.result, out->dtype());
    if (device != out->device()) [[unlikely]]
      fail_two_devices(out->device(), device);
    result = *out;
    const bool other_shape = result.sizes() != sizes;
    resize_output(result, sizes);
    if (other_shape && !plan.dense) {  // the new steps are those of a fresh result
      const Tensor fresh = empty_result(in, count, sizes, plan.result, Device(DeviceType::Meta), false);
      result.impl()->set_layout(sizes, fresh.strides());
    }
    check_no_internal_overlap(result);
    for (int k = 0; k < count; k++)
      if (in[k].is_tensor()) check_no_partial_overlap(result, in[k].tensor());
    if (plan.lane != plan.result && out->dtype() != plan.result)
      wide = result, result = Tensor::empty(sizes, plan.result, device);
  } else if (const Tensor* donor = reuse ? reusable(in, count, reuse, sizes, plan.result, device, record,
                                                    record ? recorded_reads(row, in) : 0)
                                         : nullptr) {
    result = *donor;
  } else {
    result = empty_result(in, count, sizes, plan.result, device, plan.dense || id == k_logsigmoid);  // always in rows
    if (!result.numel() && copies_strides(id, in)) result.impl()->set_layout(sizes, in[0].tensor().strides());
  }
  int kernel = replace_pow(replace_for_bool(id, plan.common), in, plan.lane);
  call_kernel(kernel, in, kernel == id ? count : 1, params, plan, result);
  if (wide.defined()) {
    copy_into(wide, result);
    result = wide;
  }
  if (out) result.bump_version();
  if (record) {
    const unsigned reads = recorded_reads(row, in);
    CountedPtr<Node> node = row_node(id, row, in, params, reads, sizes);
    if (reads & kReadsResult) keep_result(*node, result);
    set_history(result, std::move(node));
  }
  return result;
}

// Of these PyTorch differentiates the form in place by its result, a formula with a name of its own.
static const char* inplace_node_name(int id, const char* name) {
  switch (id) {
    case k_elu:
    case k_selu: return "EluBackward1";
    case k_celu: return "CeluBackward1";
    case k_leaky_relu: return "LeakyReluBackward1";
    case k_threshold: return "ThresholdBackward1";
    default: return name;
  }
}

void run_pointwise_inplace(int id, const Operand* in, const Scalar* params) {
  const PointwiseRow& row = kPointwiseRows[id];
  const int count = row.arity;
  const Tensor& self = in[0].tensor();
  if (id == k_lerp && any_complex(in, count)) [[unlikely]]
    return void(copy_(self, complex_lerp(in)));
  check(id != k_abs || !is_complex(self.dtype()), TensorErrorKind::Runtime,
        "In-place abs is not supported for complex tensors.");
  Plan plan;
  Device device = device_of(in, count);
  if (!self.is_contiguous()) check_no_internal_overlap(self);
  decide_shape(in, count, plan);
  if (!plan.widest || plan.widest->sizes() != self.sizes()) {
    Dims shape = full_shape(in, count);
    check(Ints(shape) == self.sizes(), TensorErrorKind::Runtime, "output with shape ", self.sizes(),
          " doesn't match the broadcast shape ", shape);
  }
  decide_types(id, row, in, count, params, plan, &self);
  check_operands(id, row, in, plan);
  Scalar fitted[2];
  if (id == k_celu) check_alpha(params[0]);
  if (row.params) params = fit_params(id, row, params, plan, fitted);
  check_inplace_dtype(id, plan.result, self);
  if (device != self.device()) [[unlikely]]
    fail_two_devices(self.device(), device);
  if (orders_uint64(id, plan.common)) [[unlikely]]
    return void(copy_(self, run_ordered(id, row, in, params)));
  for (int k = 1; k < count; k++)
    if (in[k].is_tensor()) check_no_partial_overlap(self, in[k].tensor());
  bool record = Context::current().grad_enabled && wants_grad(row, in, plan.result);
  if (self.requires_grad() || record) check_inplace(self);
  const auto write = [&] {
    int kernel = replace_pow(replace_for_bool(id, plan.common), in, plan.lane);
    call_kernel(kernel, in, kernel == id ? count : 1, params, plan, self);
    self.bump_version();
  };
  if (!record) return write();
  const unsigned reads = recorded_reads(row, in);
  Tensor before;
  if (reads & kReadsX) {
    GradMode off(false);
    before = clone(self);
  }
  CountedPtr<Node> node = row_node(id, row, in, params, reads, self.sizes(), before);
  node->name = inplace_node_name(id, node->name);
  write();
  if (reads & kReadsResult) keep_result(*node, self);
  Tensor handle = self;
  rebase_history(handle, std::move(node));
}

}  // namespace tessera::tensor
