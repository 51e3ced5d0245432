// Made from the tables: every pointwise op and every reduction is run by the CPU's kernels and by the ref backend on
// the same calls, over dtypes, sizes and layouts, and the results are compared in units in the last place.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/pointwise_rows.h"
#include "runtime/ops/reduce_ids.h"

using namespace tessera::tensor;

namespace {

constexpr double kSpecials[] = {0.0,  -0.0,  1.0,   -1.0,  0.5,    -0.5, 2.0,   -2.0,     3.0,       1e-5, -1e-5,
                                88.0, -88.0, 104.0, 700.0, -740.0, 1e10, -1e10, INFINITY, -INFINITY, NAN,  1e-40};

uint64_t state = 88172645463325252ull;
double uniform() {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return double(state >> 11) * 0x1p-53;
}

// Values in [-8, 8), with a special one now and then for floats.
Tensor values(Ints sizes, DType dtype, bool specials) {
  Tensor t = Tensor::empty(sizes, dtype);
  with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* p = static_cast<T*>(t.data_ptr());
    for (int64_t i = 0; i < t.numel(); i++) {
      double x = uniform() * 16 - 8;
      if (specials && is_floating(dtype) && uniform() < 0.2) x = kSpecials[size_t(uniform() * std::size(kSpecials))];
      if (dtype == kUInt8) x = std::fabs(x);
      p[i] = is_bool(dtype) ? convert_element<T>(double(x > 0))
                            : convert_element<T>(is_floating(dtype) ? x : std::trunc(x));
    }
  });
  return t;
}

double element(const Tensor& t, int64_t i) {
  return with_type(t.dtype(), [&](auto tag) {
    return convert_element<double>(static_cast<const typename decltype(tag)::type*>(t.data_ptr())[i]);
  });
}

// Distance in ULPs of the dtype; 0 for two NaNs.
double ulps(double got, double want, DType dtype) {
  if (std::isnan(got) && std::isnan(want)) return 0;
  if (got == want) return 0;
  if (std::isnan(got) || std::isnan(want) || std::isinf(got) || std::isinf(want)) {
    double top = dtype == kFloat16 ? 65504 : dtype == kFloat64 ? 1.79e308 : 3.4e38;
    return std::fabs(got) >= top * 0.99 && std::fabs(want) >= top * 0.99 && got * want > 0 ? 1 : 1e30;
  }
  int bits = dtype == kFloat64 ? 53 : dtype == kFloat32 ? 24 : dtype == kFloat16 ? 11 : 8;
  int lowest = dtype == kFloat64 ? -1074 : dtype == kFloat16 ? -24 : dtype == kFloat32 ? -149 : -133;
  int exponent = want == 0 ? lowest : std::max(lowest, std::ilogb(want) - bits + 1);
  return std::fabs(got - want) / std::ldexp(1.0, exponent);
}

// What an op may be off. 2 by default; sums of rounded terms, cancellation and powers cost more.
double allowed(int id, DType dtype) {
  using namespace pointwise;
  if (!is_floating(dtype)) return 0;
  switch (id) {
    case k_sin:
    case k_cos:
    case k_tan: return 4;
    case k_silu:
    case k_sigmoid:
    case k_rsqrt:
    case k_logsigmoid:
    case k_softplus:
    case k_xlogy: return 4;
    case k_tanh:
    case k_expm1:
    case k_log1p:
    case k_erf: return 3;
    default: return 2;
  }
}

DType lane_of(DType t) {
  return is_floating(t) ? (t == kFloat64 ? kFloat64 : kFloat32) : t == kInt64 ? kInt64 : kInt32;
}

bool has_kernel(const PointwiseRow& row, DType t) {
  if (row.row_class == PointwiseClass::Float) return is_floating(t);
  if (row.row_class == PointwiseClass::Bits) return !is_floating(t);
  return true;
}

// Ops whose result cancels: relative error means nothing, so the absolute one is compared with the operands' size.
bool cancels(int id) {
  using namespace pointwise;
  switch (id) {
    case k_add_scaled:
    case k_addcmul:
    case k_addcdiv:
    case k_lerp:
    case k_gelu_erf:
    case k_gelu_tanh:
    case k_mish:
    case k_logaddexp:
    case k_selu:
    case k_elu:
    case k_remainder:
    case k_fmod:
    case k_floor_divide:
    case k_trunc_divide:
    case k_pow:
    case k_frac:
    case k_hardswish:
    case k_hardsigmoid:
    case k_lgamma:
    case k_erfc:
    case k_asinh:
    case k_acosh:
    case k_atanh:
    case k_deg2rad:
    case k_rad2deg:
    case k_softsign: return true;
    default: return false;
  }
}

void compare(int id, DType dtype, const Tensor* in, const Tensor& cpu, const Tensor& ref) {
  const PointwiseRow& row = kPointwiseRows[id];
  const Tensor* operands[kMaxOperands] = {&cpu};
  for (int k = 0; k < row.arity; k++) operands[k + 1] = &in[k];
  Scalar params[2] = {0.25, 1.5};
  if (!is_floating(dtype)) params[0] = 1, params[1] = 3;
  Loop loop;
  make_loop(loop, operands, row.arity + 1);
  pointwise_kernel(DeviceType::Cpu, PointwiseCall{id, lane_of(dtype), loop, params});
  operands[0] = &ref;
  make_loop(loop, operands, row.arity + 1);
  pointwise_kernel(DeviceType::Ref, PointwiseCall{id, lane_of(dtype), loop, params});
  double worst = 0;
  int64_t where = -1;
  Tensor a = contiguous(cpu), b = contiguous(ref);
  for (int64_t i = 0; i < a.numel(); i++) {
    double x = element(a, i), y = element(b, i);
    double u = ulps(x, y, ref.dtype());
    if (cancels(id) && std::isfinite(x) && std::isfinite(y) && std::fabs(x - y) <= 4e-6 * (1 + std::fabs(y)) &&
        dtype != kFloat64)
      u = 0;
    if (cancels(id) && std::isfinite(x) && std::isfinite(y) && std::fabs(x - y) <= 1e-13 * (1 + std::fabs(y)) &&
        dtype == kFloat64)
      u = 0;
    // inf minus a quotient that is finite in double alone
    if (id == pointwise::k_addcdiv && std::isnan(x) && std::isinf(y) && dtype != kFloat64) u = 0;
    if (u > worst) worst = u, where = i;
  }
  if (worst <= allowed(id, ref.dtype())) return;
  INFO("op ", std::string(row.name), " dtype ", std::string(name(dtype)), " element ", where, " cpu ",
       element(a, where), " ref ", element(b, where), " ulps ", worst);
  if (in[0].sizes() == ref.sizes() && in[0].is_contiguous()) {
    INFO("x ", element(in[0], where), row.arity > 1 && in[1].sizes() == ref.sizes() ? element(in[1], where) : 0.0);
    CHECK(worst <= allowed(id, ref.dtype()));
  } else {
    CHECK(worst <= allowed(id, ref.dtype()));
  }
}

bool integer_trap(int id) {  // operands that integers must not have
  using namespace pointwise;
  return id == k_pow || id == k_bitwise_left_shift || id == k_bitwise_right_shift ||
         kPointwiseRows[id].row_class == PointwiseClass::Divide;
}

void run_layouts(int id, DType dtype) {
  const PointwiseRow& row = kPointwiseRows[id];
  const bool predicate = row.row_class == PointwiseClass::Predicate || row.row_class == PointwiseClass::Compare;
  const DType out = predicate ? kBool : dtype;
  auto make = [&](Ints sizes, int k) {
    Tensor t = values(sizes, dtype, true);
    if (k == 1 && !is_floating(dtype) && !is_bool(dtype) && integer_trap(id)) t = clamp(abs(t), Scalar(1), Scalar(6));
    return t;
  };
  for (int64_t n : {0, 1, 2, 7, 16, 33, 1000}) {  // dense
    Tensor in[3];
    for (int k = 0; k < row.arity; k++) in[k] = make({n}, k);
    compare(id, dtype, in, Tensor::empty({n}, out), Tensor::empty({n}, out));
  }
  // Transposed, every other element, broadcast; long rows of these, which are not gathered in tiles.
  for (int shape = 0; shape < 5; shape++) {
    Tensor in[3];
    for (int k = 0; k < row.arity; k++) {
      Tensor base = make({22, 60}, k);
      if (shape == 0) in[k] = k == 0 ? base.view_of({30, 22}, {1, 60}) : make({30, 22}, k);
      if (shape == 1) in[k] = base.view_of({22, 30}, {60, 2});
      if (shape == 2) in[k] = k == 0 ? base.view_of({22, 60}, {60, 1}) : k == 1 ? make({60}, k) : make({22, 1}, k);
      if (shape == 3) in[k] = k == 0 ? base.view_of({10, 59}, {120, 2}) : k == 1 ? make({10, 1}, k) : make({59}, k);
      if (shape == 4) in[k] = k == 0 ? make({1}, k) : make({22, 60}, k).view_of({19, 57}, {60, 1});
    }
    const Dims sizes = shape == 0       ? Dims{30, 22}
                       : shape == 1     ? Dims{22, 30}
                       : shape == 2     ? Dims{22, 60}
                       : shape == 3     ? Dims{10, 59}
                       : row.arity == 1 ? Dims{1}
                                        : Dims{19, 57};
    compare(id, dtype, in, Tensor::empty(sizes, out), Tensor::empty(sizes, out));
  }
}

TEST_CASE("pointwise: cpu agrees with ref") {
  for (int id = 0; id < pointwise::kPointwiseCount; id++)
    for (DType t : {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64}) {
      if (!has_kernel(kPointwiseRows[id], t)) continue;
      if (is_bool(t) && !kPointwiseRows[id].types.has(t)) continue;
      if (is_bool(t) && (id == pointwise::k_bitwise_not || id == pointwise::k_sub || id == pointwise::k_neg)) continue;
      run_layouts(id, t);
    }
}

constexpr reduction::ReduceClass kReduceClasses[] = {
#define REDUCE(NAME, CLASS, ...) reduction::ReduceClass::CLASS,
#include "runtime/ops/reduce.def"
#undef REDUCE
};

TEST_CASE("reductions: cpu agrees with ref and does not depend on threads") {
  Context& context = Context::current();
  const int threads = context.threads;
  for (int id = 0; id < reduction::kReduceCount; id++)
    for (DType t : {kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64})
      for (int layout = 0; layout < 6; layout++) {
        using namespace reduction;
        if (kReduceClasses[id] == ReduceClass::Float && !is_floating(t)) continue;
        Tensor x = values({70, 90}, t, false);
        if (id == r_prod)
          x = is_floating(t) ? to_dtype(to_dtype(x, kFloat64) * 1e-3 + 1.0, t) : clamp(x, Scalar(-1), Scalar(1));
        if (layout == 5 && is_floating(t)) fill_into(x.view_of({35, 4}, {180, 23}), NAN);  // in every other row
        ReduceCall c{};
        c.op = id;
        c.in_dtype = t;
        c.out_dtype = is_floating(t) ? (t == kFloat16 || t == kBFloat16 ? kFloat32 : t) : kInt64;
        c.compute = t == kFloat64 ? kFloat64 : is_floating(t) ? kFloat32 : kInt64;
        c.in = static_cast<const char*>(x.data_ptr());
        c.param = 3.0;
        c.kept = c.reduced = 1;
        auto set = [&](int64_t kn, int64_t ks, int64_t rn, int64_t rs) {
          c.kept_numel = c.kept_sizes[0] = kn, c.kept_strides[0] = ks, c.reduced_numel = c.reduced_sizes[0] = rn,
          c.reduced_strides[0] = rs;
        };
        if (layout == 0) set(70, 90, 90, 1);       // rows
        else if (layout == 1) set(90, 1, 70, 90);  // columns
        else if (layout == 2) set(1, 1, 6300, 1);  // all
        else if (layout == 3) set(45, 2, 70, 90);  // every other column
        else if (layout == 4) set(70, 90, 0, 1);   // nothing to reduce
        else set(70, 90, 90, 1);                   // rows, NaN among the numbers
        Tensor cpu = Tensor::empty({c.kept_numel}, c.out_dtype), ref = Tensor::empty({c.kept_numel}, c.out_dtype),
               one = Tensor::empty({c.kept_numel}, c.out_dtype);
        c.out = static_cast<char*>(ref.data_ptr());
        reduce_kernel(DeviceType::Ref, c);
        c.out = static_cast<char*>(cpu.data_ptr());
        context.threads = 2;
        reduce_kernel(DeviceType::Cpu, c);
        c.out = static_cast<char*>(one.data_ptr());
        context.threads = 1;
        reduce_kernel(DeviceType::Cpu, c);
        CHECK(std::memcmp(one.data_ptr(), cpu.data_ptr(), cpu.nbytes()) == 0);
        for (int64_t i = 0; i < cpu.numel(); i++) {
          double a = element(cpu, i), b = element(ref, i),
                 scale = is_floating(t) ? (t == kFloat64 ? 1e-12 : 2e-5) * (1 + std::fabs(b)) : 0;
          INFO("reduction ", id, " dtype ", std::string(name(t)), " layout ", layout, " cpu ", a, " ref ", b);
          CHECK((a == b || std::fabs(a - b) <= scale || (std::isnan(a) && std::isnan(b))));
        }
      }
  context.threads = threads;
}

}  // namespace
