// Fresh tensors.
#include <algorithm>
#include <cmath>

#include "runtime/device/backend.h"
#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"

namespace tessera::tensor {
namespace {

DType type_or_default(MaybeType dtype) { return dtype.value_or(Context::current().default_dtype); }
Device device_or_default(MaybeDevice device) { return device.value_or(Context::current().default_device); }

DType type_for(Scalar value, MaybeType dtype) {
  return dtype ? *dtype : value.category(Context::current().default_dtype);
}

void run_range(const Tensor& out, Scalar start, Scalar step) {
  if (out.numel()) range_kernel(out.device(), RangeCall{out.data_ptr(), out.dtype(), out.numel(), start, step});
}

}  // namespace

Tensor empty(Ints sizes, MaybeType dtype, MaybeDevice device) {
  return Tensor::empty(sizes, type_or_default(dtype), device_or_default(device));
}
Tensor zeros(Ints sizes, MaybeType dtype, MaybeDevice device) { return full(sizes, 0.0, dtype, device); }
Tensor ones(Ints sizes, MaybeType dtype, MaybeDevice device) { return full(sizes, 1.0, dtype, device); }

Tensor full(Ints sizes, Scalar value, MaybeType dtype, MaybeDevice device) {
  Tensor out = empty(sizes, type_for(value, dtype), device);
  fill_into(out, value);
  return out;
}

Tensor arange(Scalar start, Scalar end, Scalar step, MaybeType dtype, MaybeDevice device) {
  bool integral = !start.is_float() && !end.is_float() && !step.is_float();
  DType type = dtype.value_or(integral ? kInt64 : Context::current().default_dtype);
  double a = start.to_double(), b = end.to_double(), s = step.to_double();
  check(s != 0.0, TensorErrorKind::Runtime, "step must be nonzero");
  check(std::isfinite(a) && std::isfinite(b), TensorErrorKind::Runtime, "unsupported range: ", a, " -> ", b);
  check((s > 0 && b >= a) || (s < 0 && b <= a), TensorErrorKind::Runtime,
        "upper bound and larger bound inconsistent with step sign");
  int64_t n;
  if (integral && !is_floating(type)) {
    // In 64 bits without a sign: the span of two int64 always fits.
    const int64_t from = start.to_int(), to = end.to_int(), by = step.to_int();
    const uint64_t span = by > 0 ? uint64_t(to) - uint64_t(from) : uint64_t(from) - uint64_t(to);
    const uint64_t stride = by > 0 ? uint64_t(by) : 0 - uint64_t(by);
    const uint64_t count = span ? (span - 1) / stride + 1 : 0;
    check(count <= uint64_t(INT64_MAX), TensorErrorKind::Runtime, "invalid size, possible overflow?");
    n = int64_t(count);
  } else {
    double count = std::ceil((b - a) / s);
    check(count < 9e15, TensorErrorKind::Runtime, "invalid size, possible overflow?");
    n = int64_t(count);
  }
  Tensor out = Tensor::empty({n}, type, device_or_default(device));
  run_range(out, start, step);
  return out;
}

Tensor linspace(double start, double end, int64_t steps, MaybeType dtype, MaybeDevice device) {
  check(steps >= 0, TensorErrorKind::Runtime, "number of steps must be non-negative");
  DType type = type_or_default(dtype);
  Device place = device_or_default(device);
  if (place.is_meta()) return Tensor::empty({steps}, type, place);
  Tensor out = Tensor::empty({steps}, type);
  with_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Step = std::conditional_t<std::is_same_v<T, double> || std::is_integral_v<T>, double, float>;
    T* p = static_cast<T*>(out.data_ptr());
    // From both ends, in the dtype's own precision, as PyTorch does: the last element is exactly `end`.
    Step a = Step(start), b = Step(end), step = steps > 1 ? (b - a) / Step(steps - 1) : Step(0);
    for (int64_t i = 0; i < steps; i++)
      p[i] = convert_element<T>(i < steps / 2 ? a + step * Step(i) : steps == 1 ? a : b - step * Step(steps - i - 1));
  });
  return place.is_cpu() ? out : to_device(out, place);
}

Tensor logspace(double start, double end, int64_t steps, double base, MaybeType dtype, MaybeDevice device) {
  return to(pow(base, linspace(start, end, steps, kFloat64)), type_or_default(dtype), device_or_default(device));
}

Tensor eye(int64_t n, std::optional<int64_t> m, MaybeType dtype, MaybeDevice device) {
  check(n >= 0, TensorErrorKind::Runtime, "n must be greater or equal to 0, got ", n);
  check(m.value_or(0) >= 0, TensorErrorKind::Runtime, "m must be greater or equal to 0, got ", m.value_or(0));
  int64_t columns = m.value_or(n), diagonal = std::min(n, columns);
  Tensor out = full({n, columns}, 0.0, type_or_default(dtype), device);
  if (diagonal) fill_into(out.view_of({diagonal}, {columns + 1}), 1);
  return out;
}

Tensor empty_like(const Tensor& like, MaybeType dtype, MaybeDevice device) {
  Device place = device.value_or(like.device());
  if (place == like.device()) return empty_like_strided(like, dtype.value_or(like.dtype()));
  return Tensor::empty(like.sizes(), dtype.value_or(like.dtype()), place);
}
Tensor full_like(const Tensor& like, Scalar value, MaybeType dtype, MaybeDevice device) {
  Tensor out = empty_like(like, dtype, device);
  fill_into(out, value);
  return out;
}
Tensor zeros_like(const Tensor& like, MaybeType dtype, MaybeDevice device) { return full_like(like, 0, dtype, device); }
Tensor ones_like(const Tensor& like, MaybeType dtype, MaybeDevice device) { return full_like(like, 1, dtype, device); }

Tensor empty_like_strided(const Tensor& like, DType dtype) {
  if (like.is_contiguous()) return Tensor::empty(like.sizes(), dtype, like.device());
  // Dense in the order of like's dimensions, if it is dense at all; row-major otherwise.
  size_t n = like.sizes().size();
  Dims order(n);
  for (size_t i = 0; i < n; i++) order[i] = int64_t(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return like.strides()[size_t(a)] > like.strides()[size_t(b)]; });
  Dims strides(n);
  int64_t step = 1;
  bool dense = true;
  for (size_t i = n; i-- > 0;) {
    size_t d = size_t(order[i]);
    strides[d] = step;
    dense &= like.sizes()[d] == 1 || like.strides()[d] == step;
    step *= like.sizes()[d];
  }
  Tensor out = Tensor::empty(like.sizes(), dtype, like.device());
  if (dense) out.impl()->set_layout(like.sizes(), strides);
  return out;
}

void resize_output(const Tensor& out, Ints sizes) {
  if (out.sizes() == sizes) return;
  if (out.numel())
    Context::current().warn(text(
        "An output with one or more elements was resized since it had shape ", out.sizes(),
        ", which does not match the required output shape ", sizes,
        ". This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have "
        "zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
        "t.resize_(0)."));
  const int64_t item = int64_t(item_size(out.dtype()));
  if (storage_bytes_needed(sizes, contiguous_strides(sizes), out.offset(), item) <= int64_t(out.storage().bytes())) {
    out.impl()->set_layout(sizes, contiguous_strides(sizes));
    return;
  }
  Tensor fresh = Tensor::empty(sizes, out.dtype(), out.device());
  out.impl()->set_storage(&fresh.storage(), static_cast<char*>(fresh.data_ptr()));
  out.impl()->set_layout(sizes, contiguous_strides(sizes));
}

// ---- registry: layout and pin_memory are accepted and mean nothing here ----

namespace {

#define TS_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
using Ignored = std::optional<bool>;
using NoLayout = std::optional<Dims>;

Tensor op_empty(const Dims& size, MaybeType t, NoLayout, MaybeDevice d, Ignored) { return empty(size, t, d); }
Tensor op_zeros(const Dims& size, MaybeType t, NoLayout, MaybeDevice d, Ignored) { return zeros(size, t, d); }
Tensor op_ones(const Dims& size, MaybeType t, NoLayout, MaybeDevice d, Ignored) { return ones(size, t, d); }
Tensor op_full(const Dims& size, Scalar value, MaybeType t, NoLayout, MaybeDevice d, Ignored) {
  return full(size, value, t, d);
}
Tensor op_arange(Scalar end, MaybeType t, NoLayout, MaybeDevice d, Ignored) { return arange(0, end, 1, t, d); }
Tensor op_arange_start(Scalar start, Scalar end, Scalar step, MaybeType t, NoLayout, MaybeDevice d, Ignored) {
  return arange(start, end, step, t, d);
}
Tensor op_linspace(Scalar start, Scalar end, int64_t steps, MaybeType t, NoLayout, MaybeDevice d, Ignored) {
  return linspace(start.to_double(), end.to_double(), steps, t, d);
}
Tensor op_logspace(Scalar start, Scalar end, int64_t steps, double base, MaybeType t, NoLayout, MaybeDevice d,
                   Ignored) {
  return logspace(start.to_double(), end.to_double(), steps, base, t, d);
}
Tensor op_eye(int64_t n, MaybeType t, NoLayout, MaybeDevice d, Ignored) { return eye(n, {}, t, d); }
Tensor op_eye_m(int64_t n, int64_t m, MaybeType t, NoLayout, MaybeDevice d, Ignored) { return eye(n, m, t, d); }
Tensor op_empty_like(const Tensor& x, MaybeType t, NoLayout, MaybeDevice d, Ignored) { return empty_like(x, t, d); }
Tensor op_zeros_like(const Tensor& x, MaybeType t, NoLayout, MaybeDevice d, Ignored) { return zeros_like(x, t, d); }
Tensor op_ones_like(const Tensor& x, MaybeType t, NoLayout, MaybeDevice d, Ignored) { return ones_like(x, t, d); }
Tensor op_full_like(const Tensor& x, Scalar v, MaybeType t, NoLayout, MaybeDevice d, Ignored) {
  return full_like(x, v, t, d);
}

constexpr uint32_t kMake = kFunction | kNoGrad;
TS_OP(empty, "empty(int[] size, *, " TS_OPTIONS ") -> Tensor", "A tensor whose elements are not set.",
      kMake | kUninitialised | kSizes, &op_empty, "[2, 3]");
TS_OP(zeros, "zeros(int[] size, *, " TS_OPTIONS ") -> Tensor", "A tensor of zeros.", kMake | kSizes | kOut, &op_zeros,
      "[2, 3]\n"
      "[2], dtype=int64");
TS_OP(ones, "ones(int[] size, *, " TS_OPTIONS ") -> Tensor", "A tensor of ones.", kMake | kSizes | kOut, &op_ones,
      "[2, 3]\n"
      "[0, 3]");
TS_OP(full, "full(int[] size, Scalar fill_value, *, " TS_OPTIONS ") -> Tensor", "A tensor filled with one value.",
      kMake | kOut, &op_full,
      "[2, 3], 1.5\n"
      "[2], 7");
TS_OP(arange, "arange(Scalar end, *, " TS_OPTIONS ") -> Tensor", "0, 1, ... up to, not with, end.", kMake | kOut,
      &op_arange,
      "5\n"
      "2.5");
TS_OP(arange, "arange.start(Scalar start, Scalar end, Scalar step=1, *, " TS_OPTIONS ") -> Tensor",
      "start, start + step, ... up to, not with, end.", kMake | kOut, &op_arange_start,
      "1, 7, 2\n"
      "1, 2, 0.25\n"
      "1, 5, 0 -> RuntimeError: step must be nonzero");
TS_OP(linspace, "linspace(Scalar start, Scalar end, int steps, *, " TS_OPTIONS ") -> Tensor",
      "steps numbers at equal distances, both ends included.", kMake | kOut, &op_linspace,
      "1, 2, 5\n"
      "0, 9, 4, dtype=int64");
TS_OP(logspace, "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, " TS_OPTIONS ") -> Tensor",
      "base to the powers of linspace.", kMake, &op_logspace, "0, 2, 3");
TS_OP(eye, "eye(int n, *, " TS_OPTIONS ") -> Tensor", "The identity matrix.", kMake | kOut, &op_eye, "3");
TS_OP(eye, "eye.m(int n, int m, *, " TS_OPTIONS ") -> Tensor", "Ones on the diagonal, zeros elsewhere.", kMake | kOut,
      &op_eye_m, "2, 3");
TS_OP(empty_like, "empty_like(Tensor self, *, " TS_OPTIONS ") -> Tensor",
      "An unset tensor of self's shape, dtype and device.", kMake | kUninitialised, &op_empty_like, "f[2,3]");
TS_OP(zeros_like, "zeros_like(Tensor self, *, " TS_OPTIONS ") -> Tensor", "Zeros in self's shape, dtype and device.",
      kMake, &op_zeros_like, "f[2,3]");
TS_OP(ones_like, "ones_like(Tensor self, *, " TS_OPTIONS ") -> Tensor", "Ones in self's shape, dtype and device.",
      kMake, &op_ones_like, "f[3,2].t");
TS_OP(full_like, "full_like(Tensor self, Scalar fill_value, *, " TS_OPTIONS ") -> Tensor",
      "One value in self's shape, dtype and device.", kMake, &op_full_like, "f[2,3], 2.5");

Tensor new_zeros(const Tensor& x, const Dims& s, MaybeType t, NoLayout, MaybeDevice d, Ignored) {
  return zeros(s, t.value_or(x.dtype()), d.value_or(x.device()));
}
Tensor new_ones(const Tensor& x, const Dims& s, MaybeType t, NoLayout, MaybeDevice d, Ignored) {
  return ones(s, t.value_or(x.dtype()), d.value_or(x.device()));
}
Tensor new_empty(const Tensor& x, const Dims& s, MaybeType t, NoLayout, MaybeDevice d, Ignored) {
  return empty(s, t.value_or(x.dtype()), d.value_or(x.device()));
}
Tensor new_full(const Tensor& x, const Dims& s, Scalar v, MaybeType t, NoLayout, MaybeDevice d, Ignored) {
  return full(s, v, t.value_or(x.dtype()), d.value_or(x.device()));
}
TS_OP(new_zeros, "new_zeros(Tensor self, int[] size, *, " TS_OPTIONS ") -> Tensor", "Zeros of self's dtype and device.",
      kMethod | kNoGrad | kSizes, &new_zeros, "f[2], [3, 2]");
TS_OP(new_ones, "new_ones(Tensor self, int[] size, *, " TS_OPTIONS ") -> Tensor", "Ones of self's dtype and device.",
      kMethod | kNoGrad | kSizes, &new_ones, "f[2], [3, 2]");
TS_OP(new_empty, "new_empty(Tensor self, int[] size, *, " TS_OPTIONS ") -> Tensor",
      "Unset, of self's dtype and device.", kMethod | kNoGrad | kUninitialised | kSizes, &new_empty, "f[2], [3, 2]");
TS_OP(new_full, "new_full(Tensor self, int[] size, Scalar fill_value, *, " TS_OPTIONS ") -> Tensor",
      "One value, of self's dtype and device.", kMethod | kNoGrad, &new_full, "f[2], [3, 2], 1.5");
#undef TS_OPTIONS

}  // namespace
}  // namespace tessera::tensor
