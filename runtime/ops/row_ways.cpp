// Checks, refusals and other ways to a result that belong to single rows of pointwise.def.
#include "runtime/ops/row_ways.h"

#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/out_types.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/refuse.h"
#include "runtime/plan.h"

namespace tessera::tensor::row_ways {
namespace {

using namespace pointwise;

bool has_type(const Operand& o, bool (*is_such)(DType)) { return o.is_tensor() && is_such(o.tensor().dtype()); }

DType common_type(const Operand* in, int count) {
  PromotionState state;
  for (int k = 0; k < count; k++) {
    if (in[k].is_tensor()) state.add(in[k].tensor());
    else state.add(in[k].scalar());
  }
  return state.result();
}

// Refuses a tensor that is not of the first one's dtype; `refuse` gets the place.
template <class Refuse>
void check_same_types(const Operand* in, int count, const Refuse& refuse) {
  for (int k = 1; k < count; k++) {
    if (!in[k].is_tensor() || !in[0].is_tensor() || in[k].tensor().is_wrapped_number()) continue;
    const DType type = in[0].tensor().dtype(), other = in[k].tensor().dtype();
    if (type == other || (k == 2 && in[k].tensor().dim() == 0 && !is_complex(other))) continue;
    refuse(k, type, other);
  }
}

}  // namespace

bool any_complex(const Operand* in, int count) {
  for (int k = 0; k < count; k++)
    if (in[k].is_tensor() ? is_complex(in[k].tensor().dtype()) : in[k].scalar().is_complex()) return true;
  return false;
}

void refuse_negated_bools(const Operand*, int) {
  fail(
      TensorErrorKind::NotImplemented,
      "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
      "`logical_not()` operator instead.");
}

void refuse_subtracted_bools(const Operand* in, int count) {
  bool all = true;
  for (int k = 0; k < count; k++) all &= in[k].is_tensor() ? is_bool(in[k].tensor().dtype()) : in[k].scalar().is_bool();
  if (all)
    fail(
        TensorErrorKind::NotImplemented,
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
        "instead.");
  fail(
      TensorErrorKind::NotImplemented,
      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
      "or `logical_not()` operator instead.");
}

void check_addcdiv_types(const Operand* in, int) {
  const auto is_whole = [](DType t) { return !is_differentiable(t); };
  check(!has_type(in[1], is_whole) || !has_type(in[2], is_whole), TensorErrorKind::Runtime,
        "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
        "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
        "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) "
        "for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / "
        "tensor2), for all dtypes.");
}

void check_heaviside_types(const Operand* in, int count) {
  if (any_complex(in, count)) return;  // refused for that
  check_same_types(in, count, [](int, DType, DType) {
    fail(TensorErrorKind::Runtime, "heaviside is not yet implemented for tensors with different dtypes.");
  });
}

void check_lerp_types(const Operand* in, int count) {
  static constexpr const char* kNames[] = {"", "end", "weight"};
  check_same_types(in, count, [](int k, DType type, DType other) {
    fail(TensorErrorKind::Runtime, "expected dtype ", cpp_name(type), " for `", kNames[k], "` but got dtype ",
         cpp_name(other));
  });
  if (!has_type(in[0], [](DType t) { return !is_differentiable(t); })) return;
  Dims shape(in[0].tensor().sizes());
  for (int k = 1; k < count; k++)
    if (in[k].is_tensor()) shape = broadcast_shapes(shape, in[k].tensor().sizes());
  refuse_type(in[0].tensor(), in[2].is_tensor() ? KernelName("lerp_kernel_tensor", "lerp_cuda")
                                                : KernelName("lerp_kernel_scalar", "lerp_cuda"));
}

// Integer division by zero stops before the kernel, which cannot.
void check_divisor(const Operand* in, DType lane, DType) {
  if (is_floating(lane)) return;
  const Operand& y = in[1];
  const bool zero =
      y.is_tensor() ? y.tensor().device().is_cpu() && any(eq(y.tensor(), 0)).item().to_bool() : !y.scalar().to_bool();
  check(!zero, TensorErrorKind::Runtime, "ZeroDivisionError");
}

void check_power(const Operand* in, DType lane, DType common) {
  if (in[1].is_tensor()) return;
  if (is_integral(lane))
    check(in[1].scalar().to_int() >= 0, TensorErrorKind::Runtime,
          "Integers to negative integer powers are not allowed.");
  if (!is_differentiable(common) || is_half(common)) in[1].scalar().as(common);
}

void check_choices(const Operand* in, DType, DType common) {
  for (int k = 1; k < 3; k++)
    if (!in[k].is_tensor() && !is_half(common)) in[k].scalar().as(common);
}

// softshrink's place of no value is as wide as the dtype allows.
void check_lambda(const Scalar* params, DType type) {
  const double value = params[0].to_double(), most = facts(is_floating(type) ? type : kFloat32).most;
  check(value >= 0 && value <= most, TensorErrorKind::Runtime, "lambda must be in range [0, ", most,
        "] for input dtype ", scalar_type_name(type), ", but found ", value);
}

void check_celu_alpha(const Scalar* params, DType) {
  check(params[0].to_double() != 0, TensorErrorKind::Runtime, "ZeroDivisionError: alpha cannot be 0 for CELU");
}

Tensor abs_of_complex(const Operand* in) { return complex_abs(in[0].as_tensor()); }

// A complex weight between real ends is refused.
Tensor lerp_of_complex(const Operand* in) {
  check_lerp_types(in, 3);
  const DType ends = common_type(in, 2);
  if (!in[2].is_tensor() && !is_complex(ends)) return lerp(in[0], in[1], in[2].scalar().as(ends));
  return add(in[0], mul(in[2], sub(in[1], in[0])));
}

Tensor logaddexp_of_complex(const Operand* in) { return complex_logaddexp(in[0].as_tensor(), in[1].as_tensor()); }

// Of bfloat16 alone, and of the exponents that have kernels of their own in PyTorch.
Tensor pow_of_halves(const Operand* in, DType common) {
  if (common != kBFloat16 || in[1].is_tensor() || in[1].scalar().is_complex()) return {};
  const Tensor& x = in[0].tensor();
  const double exponent = in[1].scalar().to_double();
  return exponent == 3.0 ? x * x * x : exponent == -2.0 ? reciprocal(x * x) : Tensor();
}
Tensor xlogy_of_halves(const Operand* in, DType common) {
  const Tensor x = in[0].as_tensor(), y = to_dtype(in[1].as_tensor(), common);
  return where(isnan(y), y, where(eq(x, 0), 0, mul(in[0], log(y))));
}
Tensor softsign_of_halves(const Operand* in, DType) { return div(in[0], add(abs(in[0].tensor()), 1)); }

int row_of_power(const Scalar& exponent) {
  if (exponent.is_complex()) return -1;
  const double e = exponent.to_double();
  return e == 2.0 ? k_square : e == 3.0 ? k_cube : e == 0.5 ? k_sqrt : e == -0.5 ? k_rsqrt : e == -1.0 ? k_reciprocal : -1;
}

OutRule out_of_lerp(const Operand* in) { return in[2].is_tensor() && in[2].tensor().dim() > 0 ? kOutFound : OutRule{}; }

}  // namespace tessera::tensor::row_ways
