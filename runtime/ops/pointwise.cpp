// From operands to a kernel call: promotion, shape, result, loop, record. Cheap tests come first, since on four
// elements this function is the cost of the op.
#include "runtime/ops/out_types.h"
#include "runtime/ops/pointwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/autograd/tangents.h"
#include "runtime/device/backend.h"
#include "runtime/device/two_devices.h"
#include "runtime/context.h"
#include "runtime/fuse/launch_queue.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/pointwise_grad.h"
#include "runtime/ops/pointwise_rows.h"
#include "runtime/ops/refuse.h"
#include "runtime/ops/result_layout.h"
#include "runtime/ops/row_ways.h"

namespace tessera::tensor {
namespace {

struct Plan {
  DType common;  // PyTorch's result_type of the operands
  DType result;
  DType lane;            // type of the arithmetic: float32, float64, int32 or int64
  const Tensor* widest;  // a tensor operand of the full shape, if one has it
  unsigned rounded;      // bit k: operand k, a number, becomes one of the common dtype, a small floating type, before it is computed with
  bool dense;            // contiguous operands of one shape, and single numbers
};

DType lane_of(DType t) {
  if (is_complex(t)) return wide_type(t);
  if (is_floating(t)) return t == kFloat64 ? kFloat64 : kFloat32;
  return t == kInt64 || t == kUInt32 || t == kUInt64 ? kInt64 : kInt32;
}

int category(DType t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : is_integral(t) ? 1 : 0; }

[[gnu::hot]] DType promote(const Operand* in, int first, int count) {
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

[[gnu::cold]] void refuse_dtype(const PointwiseRow& row, DType type, Device device) {
  const RowFacts& facts = row.facts;
  if (is_bool(type) && facts.bool_words) fail(TensorErrorKind::NotImplemented, facts.bool_words);
  if (is_complex(type) && facts.complex_words) fail(facts.complex_kind, facts.complex_words);
  if (is_float8(type) && facts.float8_number_kernel) refuse_type(type, device, facts.float8_number_kernel);
  const std::string usual = text(row.name, "_cpu");
  refuse_type(type, device, facts.kernel ? facts.kernel : KernelName(usual.c_str()));
}

// In place a result must fit; the words of a row with bounds name the C++ type.
void check_inplace_dtype(const PointwiseRow& row, DType result, const Tensor& self) {
  const DType type = self.dtype();
  check(can_cast(result, type), TensorErrorKind::Runtime, "result type ", scalar_type_name(result),
        " can't be cast to the desired output type ", row.facts.bounds ? cpp_name(type) : scalar_type_name(type));
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

// Bounds promote as operands do. Of floats they are read as real numbers.
DType promote_bounds(const PointwiseRow& row, const Operand& x, const Scalar* bounds) {
  Operand all[3] = {x, 0, 0};
  for (int k = 0; k < row.params; k++) {
    const bool one_bound = row.params == 1;  // clamp itself asks for real numbers before
    if (one_bound && bounds[k].is_complex()) refuse_dtype(row, kComplex128, x.tensor().device());
    all[k + 1] = is_floating(x.tensor().dtype()) ? Operand(bounds[k].to_double()) : Operand(bounds[k]);
  }
  return promote(all, 0, row.params + 1);
}

bool gives_bool(const PointwiseRow& row) {
  return row.row_class == PointwiseClass::Predicate || row.row_class == PointwiseClass::Compare;
}

// A kernel looks at the dtype, after the shapes and what the result has to fit into.
[[gnu::cold, gnu::noinline]] void refuse_operands(const PointwiseRow& row, const Operand* in, DType common,
                                                  const Tensor* self) {
  const int count = row.arity;
  if (!is_complex(common) || !row.facts.complex_words) full_shape(in, count);
  if (self && !row.facts.complex_words) check_inplace_dtype(row, gives_bool(row) ? kBool : common, *self);
  int k = 0;  // a number goes to where the tensor beside it lies
  while (k + 1 < count && (!in[k].is_tensor() || in[k].tensor().device().is_cpu())) k++;
  refuse_dtype(row, common, in[k].is_tensor() ? in[k].tensor().device() : kCpu);
}

bool any_bool(const Operand* in, int count) {
  for (int k = 0; k < count; k++)
    if (in[k].is_tensor() ? is_bool(in[k].tensor().dtype()) : in[k].scalar().is_bool()) return true;
  return false;
}

// Whether a row takes these operands of a dtype that it does not take from all.
[[gnu::cold]] bool takes_these(const RowFacts& facts, const Operand* in, DType common) {
  if (is_bool(common)) return facts.takes_bool_to_number && !in[1].is_tensor();
  if (!facts.float8_number_kernel || !is_float8(common)) return false;
  return in[1].is_tensor() && (in[1].tensor().dim() != 0 || in[1].tensor().numel() == 0);
}

// PyTorch's kernels for the CPU round the numbers of most ops; those of the others, and of CUDA but for comparisons, take them as float32.
unsigned rounded_numbers(const PointwiseRow& row, Device device) {
  if (row.row_class == PointwiseClass::Compare) return ~0u;
  return device.is_cpu() ? ~row.facts.exact_numbers : 0;
}

[[gnu::hot]] void decide_types(const PointwiseRow& row, const Operand* in, const Scalar* params, Device device, Plan& plan, const Tensor* self) {
  const RowFacts& facts = row.facts;
  const int count = row.arity;
  if (facts.bounds) plan.common = promote_bounds(row, in[0], params);
  else plan.common = promote(in, row.row_class == PointwiseClass::Select ? 1 : 0, count);
  if (row.has_own_ways && facts.check_types) facts.check_types(in, count);
  if (!row.types.has(plan.common) && !takes_these(facts, in, plan.common)) [[unlikely]]
    refuse_operands(row, in, plan.common, self);
  if (facts.bool_is_int64 && is_bool(plan.common)) plan.common = kInt64;
  plan.result = plan.common;
  plan.rounded = (kHalfTypes | kSmallTypes).has(plan.common) ? rounded_numbers(row, device) : 0;
  if (row.row_class == PointwiseClass::Float) {
    if (!is_floating(plan.common) && !is_complex(plan.common)) plan.result = Context::current().default_dtype;
    plan.lane = lane_of(plan.result);
    return;
  }
  if (gives_bool(row)) plan.result = kBool;
  plan.lane = lane_of(plan.common);
  if (facts.refuse_bools && any_bool(in, count)) [[unlikely]]
    facts.refuse_bools(in, count);
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
[[gnu::hot]] const Scalar* fit_params(const PointwiseRow& row, const Scalar* given, const Plan& plan, Scalar* to) {
  const DType type = is_half(plan.result) ? kFloat32 : wide_type(plan.result);
  for (int k = 0; k < row.params; k++) {
    if (!is_floating(type) && row.facts.bounds)
      to[k] = clamp_bound(given[k], (row.facts.bounds & kLowerBound) != 0 && k == 0, type);
    else if (constexpr double kHalf = 65504; is_floating(type) && given[k].is_float() && std::abs(given[k].to_double()) <= kHalf)
      to[k] = given[k];  // each of the types holds it
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

[[gnu::hot]] void decide_shape(const Operand* in, int count, Plan& plan) {
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
[[gnu::hot]] Tensor empty_result(const Operand* in, int count, Ints sizes, DType dtype, Device device, bool dense) {
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

bool keeps_steps(const RowFacts& facts, const Operand* in) {
  return facts.empty_steps == EmptySteps::Kept ||
         (facts.empty_steps == EmptySteps::KeptOfIntegers && !is_differentiable(in[0].tensor().dtype()));
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

[[gnu::cold]] Scalar rounded(const Scalar& s, DType type) {
  return with_type<kHalfTypes | kSmallTypes>(type, [&](auto tag) -> Scalar {
    using T = typename decltype(tag)::type;
    return convert_element<typename WideOf<T>::type>(s.wrapped<T>());
  });
}

Scalar lane_number(const Operand& o, int k, const Plan& plan) {
  if (plan.rounded >> k & 1) return rounded(o.is_tensor() ? o.tensor().item() : o.scalar(), plan.common);
  return in_common(o.is_tensor() ? o.tensor().item() : o.scalar(), is_floating(plan.lane) ? plan.lane : plan.common);
}

// Operand k of the loop: the result is its first.
[[gnu::noinline]] void set_number(Loop& loop, int k, const Operand& o, const Plan& plan) {
  put_number(loop.numbers[k], lane_number(o, k - 1, plan), plan.lane);
  loop.use_number(k, plan.lane);
}

// True if a launch on the CPU may run before those that wait: it reads and writes other memory.
[[gnu::noinline]] bool may_overtake(const Operand* in, int count, const Tensor& out) {
  const Storage* storages[3] = {};
  for (int k = 0; k < count; k++)
    if (in[k].is_tensor()) storages[k] = &in[k].tensor().storage();
  return out.device().is_cpu() && !PendingLaunches::concern(out.storage(), storages, count);
}

[[gnu::always_inline]] inline void prepare_loop(Loop& loop, const Operand* in, int count, const Plan& plan, const Tensor& out) {
  if (plan.dense && out.is_contiguous()) {
    loop.operands = count + 1;
    loop.ndim = 1;
    loop.numel = loop.sizes[0] = out.numel();
    loop.data[0] = out.impl()->address();
    loop.dtype[0] = out.dtype();
    loop.strides[0][0] = 1;
    for (int k = 0; k < count; k++) {
      if (is_host_number(in[k])) {
        set_number(loop, k + 1, in[k], plan);
        loop.strides[k + 1][0] = 0;
      } else {
        assert(!in[k].tensor().has_math_bits());
        loop.data[k + 1] = in[k].tensor().impl()->address();
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
}

// A launch on the CPU before those that wait.
[[gnu::noinline]] void overtake(int id, const Operand* in, int count, const Scalar* params, const Plan& plan, const Tensor& out) {
  Loop loop;
  prepare_loop(loop, in, count, plan, out);
  if (loop.numel) pointwise_kernel.get(DeviceType::Cpu)(PointwiseCall{id, plan.lane, loop, params});
}

[[gnu::hot]] void call_kernel(int id, const Operand* in, int count, const Scalar* params, const Plan& plan, const Tensor& out) {
  if (PendingLaunches::any()) [[unlikely]] {
    if (may_overtake(in, count, out)) return overtake(id, in, count, params, plan, out);
    PendingLaunches::flush();
  }
  Loop loop;
  prepare_loop(loop, in, count, plan, out);
  if (loop.numel) pointwise_kernel(out.device(), PointwiseCall{id, plan.lane, loop, params});
}

// ---- results ----

// Nobody else sees what autograd hangs on a temporary: it was made by a node whose only result it is, and no one asked
// for its gradient. (A node or a view that kept its memory would share its storage.)
bool forgettable(const AutogradMeta* meta) {
  return !meta || (meta->grad_fn && meta->output == 0 && !meta->retains_grad && !meta->grad.defined() &&
                   !meta->view_base.defined() && !meta->tangents);
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

// The row whose kernel runs: bools and numbers as second operands may have a simpler one. It takes the first operand alone.
int simpler_row(int id, const RowFacts& facts, const Operand* in, const Plan& plan) {
  int found = -1;
  if (is_bool(plan.common)) found = facts.of_bools;
  else if (facts.of_number && !in[1].is_tensor() && (is_floating(plan.lane) || is_complex(plan.lane)))
    found = facts.of_number(in[1].scalar());
  return found < 0 ? id : found;
}

[[gnu::hot]] Device device_of(const Operand* in, int count) {
  const Tensor* tensors[3];
  int n = 0;
  for (int k = 0; k < count; k++)
    if (in[k].is_tensor()) tensors[n++] = &in[k].tensor();
  if (n == 1 || (n == 2 && tensors[0]->device() == tensors[1]->device())) return tensors[0]->device();
  return n ? common_device(tensors, n) : kCpu;
}

// The lane of uint64 is int64, which orders the same numbers once their top bit is turned round.
constexpr int64_t kTopBit = INT64_MIN;

Tensor run_ordered(const PointwiseRow& row, const Operand* in, const Scalar* params) {
  Tensor turned[3];
  Operand operands[3] = {0, 0, 0};
  for (int k = 0; k < row.arity; k++) {
    turned[k] = bitwise_xor(to_dtype(in[k].as_tensor(), kInt64), kTopBit);
    operands[k] = turned[k];
  }
  Scalar bounds[2] = {0, 6};  // of relu and relu6, which have no parameters
  for (int k = 0; k < row.params; k++) bounds[k] = params[k];
  for (Scalar& bound : bounds) bound = bound.to_int() ^ kTopBit;
  return to_dtype(bitwise_xor(run_pointwise(row.facts.ordered, operands, bounds), kTopBit), kUInt64);
}

// What was made of other ops, in the tensor that was given for it.
Tensor given(const Tensor* out, const Tensor& result) {
  if (!out) return result;
  check_out_type({}, {}, result.dtype(), out->dtype());
  if (result.device() != out->device()) fail_two_devices(out->device(), result.device());
  resize_output(*out, result.sizes());
  return copy_(*out, result);
}

// ---- the four steps of a call: plan, allocate, launch, record ----

/// A call of a row and what is decided of it on the way. On four numbers setting it up is a good part of the cost: nothing is cleared that
/// is set before it is read.
struct Call {
  Call(int op, const Operand* operands, const Scalar* parameters) : id(op), in(operands), params(parameters) {}

  const int id;
  const PointwiseRow& row = kPointwiseRows[id];
  const Operand* const in;
  const Scalar* params;
  const Tensor* out = nullptr;   // a tensor given for the result
  const Tensor* self = nullptr;  // the tensor that an in-place form writes to
  unsigned reuse = 0;            // bit i: operand i may be overwritten
  Plan plan;
  Device device;
  Dims broadcast;  // the full shape, where no operand has it
  bool record;
  bool waits = false;   // the launch was put off
  Tensor result, wide;  // wide: what was given for it, where the result has to be rounded first

  int count() const { return row.arity; }
  Ints sizes() const { return plan.widest ? plan.widest->sizes() : Ints(broadcast); }
};

// In place PyTorch looks at the shape first, otherwise at the dtypes.
void check_shape_in_place(Call& c) {
  if (!c.self->is_contiguous()) check_no_internal_overlap(*c.self);
  decide_shape(c.in, c.count(), c.plan);
  if (c.plan.widest && c.plan.widest->sizes() == c.self->sizes()) return;
  const Dims shape = full_shape(c.in, c.count());
  check(Ints(shape) == c.self->sizes(), TensorErrorKind::Runtime, "output with shape ", c.self->sizes(),
        " doesn't match the broadcast shape ", shape);
  c.broadcast = shape;
}

// `fitted` has room for two.
[[gnu::always_inline]] inline void make_plan(Call& c, Scalar* fitted) {
  const RowFacts& facts = c.row.facts;
  c.device = device_of(c.in, c.count());
  if (c.self) check_shape_in_place(c);
  decide_types(c.row, c.in, c.params, c.device, c.plan, c.self);
  if (c.row.has_own_ways) {
    if (facts.check_operands) facts.check_operands(c.in, c.plan.lane, c.plan.common);
    if (facts.check_params) facts.check_params(c.params, c.plan.common);
  }
  if (c.row.params) c.params = fit_params(c.row, c.params, c.plan, fitted);
}

bool runs_ordered(const Call& c) { return c.row.facts.ordered >= 0 && c.plan.common == kUInt64; }

void take_out(Call& c) {
  const Tensor& out = *c.out;
  if (c.record || out.is_tracked()) [[unlikely]] {
    bool reverse = out.requires_grad(), forward = out.is_dual() && !seen_tangents(out).empty();
    for (int k = 0; k < c.count(); k++)
      if (c.in[k].is_tensor()) {
        reverse |= c.record && c.in[k].tensor().requires_grad();
        forward |= !seen_tangents(c.in[k].tensor()).empty();
      }
    refuse_recorded_out(c.row.name, reverse, forward);
  }
  const RowFacts& facts = c.row.facts;
  check_out_type(facts.out_of_operands ? facts.out_of_operands(c.in) : facts.op.out, c.row.name, c.plan.result,
                 out.dtype());
  if (c.device != out.device()) [[unlikely]]
    fail_two_devices(out.device(), c.device);
  c.result = out;
  const bool other_shape = out.sizes() != c.sizes();
  resize_output(c.result, c.sizes());
  if (other_shape && !c.plan.dense) {  // the new steps are those of a fresh result
    const Tensor fresh = empty_result(c.in, c.count(), c.sizes(), c.plan.result, Device(DeviceType::Meta), false);
    c.result.impl()->set_layout(c.sizes(), fresh.strides());
  }
  check_no_internal_overlap(c.result);
  for (int k = 0; k < c.count(); k++)
    if (c.in[k].is_tensor()) check_no_partial_overlap(c.result, c.in[k].tensor());
  if (c.plan.lane != c.plan.result && out.dtype() != c.plan.result)
    c.wide = c.result, c.result = Tensor::empty(c.sizes(), c.plan.result, c.device);
}

// Hands the finished result to the tensor given as out=.
void hand_out(Call& c) {
  if (c.wide.defined()) {
    copy_into(c.wide, c.result);
    c.result = c.wide;
  }
  c.result.bump_version();
}

// Whatever the elements are, no kernel of the row raises.
bool cannot_raise(const PointwiseRow& row, DType lane) {
  if (is_floating(lane)) return true;
  const PointwiseClass c = real_class(row.row_class);
  return !is_complex(lane) && (c == PointwiseClass::Bits || c == PointwiseClass::Compare ||
                               c == PointwiseClass::Predicate || c == PointwiseClass::Select);
}

// True if halves may go through a row's composition.
bool may_round_steps(const Call& c) { return is_half(c.plan.common) && c.row.facts.of_halves && c.device.is_cpu(); }

// A launch of many elements may wait for those that follow (runtime/README.md, "Launches that wait"). All else of the call is as ever.
// Returns the result, undefined if the launch is to run at once.
[[gnu::noinline]] Tensor put_off(const Call& c) {
  if (!c.device.is_cpu() || c.out) return {};
  const int kernel = c.row.has_own_ways ? simpler_row(c.id, c.row.facts, c.in, c.plan) : c.id;
  if (may_round_steps(c)) return {};
  if (!cannot_raise(kPointwiseRows[kernel], c.plan.lane)) return {};
  ChainStep step;
  step.op = kernel, step.lane = c.plan.lane, step.dtype = c.plan.result;
  step.operands = uint8_t(kernel == c.id ? c.count() : 1);
  for (int k = 0; k < c.row.params; k++) step.params[k] = c.params[k];
  const Tensor* tensors[3] = {};
  for (int k = 0; k < step.operands; k++) {
    if (!is_host_number(c.in[k])) {
      tensors[k] = &c.in[k].tensor();
      continue;
    }
    put_number(step.in[k].number, lane_number(c.in[k], k, c.plan), c.plan.lane);
    step.in[k].dtype = c.plan.lane;
  }
  LaunchQueue& queue = Context::current().launch_queue();
  if (!c.self) return queue.put_off(step, tensors, c.sizes());
  return queue.put_off_in_place(step, tensors, *c.self) ? *c.self : Tensor();
}

// Short ops shall not pay for it, and stay in the caches anyway.
bool may_wait(const Call& c) {
  const Context& context = Context::current();
  if (!c.plan.widest) return context.fuses_from != Context::kNever;
  const int64_t numel = c.plan.widest->numel();
  return numel >= context.fuses_from || numel == context.waiting_rows;
}

[[gnu::hot]] void allocate(Call& c) {
  decide_shape(c.in, c.count(), c.plan);
  if (!c.plan.widest) c.broadcast = full_shape(c.in, c.count());
  c.record = wants_grad(c.row, c.in, c.plan.result);
  if (may_wait(c)) [[unlikely]]
    if (c.result = put_off(c); c.result.defined()) return void(c.waits = true);
  if (c.out) return take_out(c);
  if (c.reuse) {
    const unsigned kept = c.record ? recorded_reads(c.row, c.in) : 0;
    if (const Tensor* donor = reusable(c.in, c.count(), c.reuse, c.sizes(), c.plan.result, c.device, c.record, kept))
      return void(c.result = *donor);
  }
  c.result = empty_result(c.in, c.count(), c.sizes(), c.plan.result, c.device, c.plan.dense || c.row.facts.in_rows);
  if (c.row.has_own_ways && !c.result.numel() && keeps_steps(c.row.facts, c.in))
    c.result.impl()->set_layout(c.sizes(), c.in[0].tensor().strides());
}

[[gnu::cold, gnu::noinline]] bool launch_steps(const Call& c, const Tensor& to) {
  GradMode off(false);
  const Tensor made = c.row.facts.of_halves(c.in, c.plan.common);
  if (made.defined()) copy_into(to, made);
  return made.defined();
}

[[gnu::always_inline]] inline void launch(const Call& c, const Tensor& to) {
  int kernel = c.id;
  if (c.row.has_own_ways) {
    if (may_round_steps(c)) [[unlikely]]
      if (launch_steps(c, to)) return;
    kernel = simpler_row(c.id, c.row.facts, c.in, c.plan);
  }
  call_kernel(kernel, c.in, kernel == c.id ? c.count() : 1, c.params, c.plan, to);
}

void launch_in_place(const Call& c) {
  if (may_wait(c)) [[unlikely]]
    if (put_off(c).defined()) return;
  launch(c, *c.self);
}

CountedPtr<Node> node_of(const Call& c, unsigned reads, const Tensor& before = {}) {
  return row_node(c.id, c.row, c.in, c.params, reads, c.sizes(), before);
}

void record(Call& c) {
  const unsigned reads = recorded_reads(c.row, c.in);
  CountedPtr<Node> node = node_of(c, reads);
  if (reads & kReadsResult) keep_result(*node, c.result);
  set_history(c.result, std::move(node));
}

// The node keeps what self was before it is overwritten.
void launch_and_record_in_place(const Call& c, const Operand* in, const Scalar* params) {
  const unsigned reads = recorded_reads(c.row, c.in);
  Tensor before;
  if (reads & kReadsX) {
    GradMode off(false);
    before = clone(*c.self);
  }
  if (c.self->is_dual() && before.defined()) [[unlikely]]
    copy_tangents(before, *c.self);
  if (before.defined() && Context::current().grad_enabled) share_history(before, *c.self);
  CountedPtr<Node> node = node_of(c, reads, before);
  if (c.row.facts.nodes.in_place) node->name = c.row.facts.nodes.in_place;
  if (node->duals() != nullptr) [[unlikely]]
    compute_before_write(*node, c.id, in, c.count(), params);
  launch_in_place(c);
  c.self->bump_version();
  if (reads & kReadsResult) keep_result(*node, *c.self);
  Tensor handle = *c.self;
  rebase_history(handle, std::move(node));
}

// True if an operand has integers that the small floating type of the call rounds. The kernels would take them to float32 at once.
bool rounds_integers(const Call& c) {
  if (!(kHalfTypes | kSmallTypes).has(c.plan.common)) [[likely]]
    return false;
  for (int k = 0; k < c.count(); k++)
    if (!is_host_number(c.in[k]) && is_integral(c.in[k].tensor().dtype()) &&
        (item_size(c.in[k].tensor().dtype()) > 1 || !is_half(c.plan.common)))
      return true;
  return false;
}

/// Operands of a call with its integers in the common dtype.
struct RoundedOperands {
  explicit RoundedOperands(const Call& c) {
    for (int k = 0; k < c.count(); k++) {
      if (is_host_number(c.in[k]) || !is_integral(c.in[k].tensor().dtype())) operands[k] = c.in[k];
      else operands[k] = tensors[k] = to_dtype(c.in[k].tensor(), c.plan.common);
    }
  }

  Tensor tensors[3];
  Operand operands[3] = {0, 0, 0};
};

}  // namespace

[[gnu::hot]] Tensor run_pointwise(int id, const Operand* in, const Scalar* params, const Tensor* out, unsigned reuse) {
  Call c(id, in, params);
  c.out = out, c.reuse = reuse;
  if (c.row.facts.of_complex && row_ways::any_complex(in, c.count())) [[unlikely]]
    return given(out, c.row.facts.of_complex(in));
  Scalar fitted[2];
  make_plan(c, fitted);
  if (runs_ordered(c)) [[unlikely]]
    return given(out, run_ordered(c.row, in, c.params));
  if (rounds_integers(c)) [[unlikely]]
    return run_pointwise(id, RoundedOperands(c).operands, params, out, reuse);
  allocate(c);
  if (!c.waits) [[likely]]
    launch(c, c.result);
  if (out) hand_out(c);
  if (c.record) record(c);
  return std::move(c.result);
}

void run_pointwise_inplace(int id, const Operand* in, const Scalar* params) {
  const Tensor& self = in[0].tensor();
  Call c(id, in, params);
  c.self = &self;
  if (c.row.facts.of_complex && row_ways::any_complex(in, c.count())) [[unlikely]] {
    if (c.row.facts.complex_in_place_words) fail(TensorErrorKind::Runtime, c.row.facts.complex_in_place_words);
    return void(copy_(self, c.row.facts.of_complex(in)));
  }
  Scalar fitted[2];
  make_plan(c, fitted);
  check_inplace_dtype(c.row, c.plan.result, self);
  if (c.device != self.device()) [[unlikely]]
    fail_two_devices(self.device(), c.device);
  if (runs_ordered(c)) [[unlikely]]
    return void(copy_(self, run_ordered(c.row, in, c.params)));
  if (rounds_integers(c)) [[unlikely]] {
    const RoundedOperands rounded(c);
    if (rounded.tensors[0].defined()) return void(copy_(self, run_pointwise(id, rounded.operands, params)));  // a comparison, into integers
    return run_pointwise_inplace(id, rounded.operands, params);
  }
  for (int k = 1; k < c.count(); k++)
    if (in[k].is_tensor()) check_no_partial_overlap(self, in[k].tensor());
  c.record = wants_grad(c.row, in, c.plan.result);
  if (self.requires_grad() || c.record) check_inplace(self);
  if (c.record) return launch_and_record_in_place(c, in, params);
  launch_in_place(c);
  self.bump_version();
}

}  // namespace tessera::tensor
