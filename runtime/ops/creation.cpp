// Fresh tensors: constants, ranges, the identity, and all of these in the shape of another tensor.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>
#include <cmath>
#include <complex>

#include "runtime/checked.h"
#include "runtime/device/backend.h"
#include "runtime/ops.h"
#include "runtime/pieces.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/steps.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

// The CPU computes linspace and logspace without a kernel, and finds the places of triangles in a mask.
constinit Kernel<StepsCall> steps_kernel("steps", ServedBy::Devices);
constinit Kernel<TrianglePlacesCall> triangle_places_kernel("triangle_places", ServedBy::Devices);
static const KernelRegistration steps_known{steps_kernel};
static const KernelRegistration places_known{triangle_places_kernel};
namespace {

DType type_or_default(MaybeType dtype) { return dtype.value_or(Context::current().default_dtype); }
Device device_or_default(MaybeDevice device) { return device.value_or(Context::current().default_device); }

/// Arguments of every entry that are accepted and mean nothing here: layout, pin_memory.
using NoLayout = std::optional<Dims>;
using Ignored = std::optional<bool>;

// ---- constants ----

struct Unset {
  static void check_sizes(Ints) {}
  static void fill(const Tensor&) {}
};
template <int kValue>
struct Constant {
  static void check_sizes(Ints sizes) {
    if (kValue == 0)
      for (const int64_t s : sizes)
        check(s >= 0, TensorErrorKind::Runtime, "zeros: Dimension size must be non-negative.");
  }
  static void fill(const Tensor& out) { fill_into(out, kValue); }
};

template <class Content>
struct Sized {
  static Meta shape(Ints size, MaybeType t, const NoLayout&, MaybeDevice d, Ignored) {
    Content::check_sizes(size);
    return {size, type_or_default(t), device_or_default(d)};
  }
  static void run(const Tensor& out, const auto&...) { Content::fill(out); }
};

struct Full {
  static Meta shape(Ints size, const Scalar& value, MaybeType t, const NoLayout&, MaybeDevice d, Ignored) {
    return {size, t ? *t : value.category(Context::current().default_dtype), device_or_default(d)};
  }
  static void run(const Tensor& out, Ints, const Scalar& value, const auto&...) { fill_into(out, value); }
};

// ---- like another tensor ----

/// The order of dimensions from the outermost in: by stride, where two strides tell; else as they stand.
Dims order_in_memory(const Tensor& t) {
  const auto lies_inside = [&](int64_t a, int64_t b) {
    const int64_t x = t.strides()[a], y = t.strides()[b];
    return x && y && (x < y || (x == y && t.sizes()[a] < t.sizes()[b]));
  };
  Dims order;
  for (int64_t d = 0; d < t.dim(); d++) {
    size_t at = order.size();
    for (size_t i = order.size(); i-- > 0;) {
      if (lies_inside(order[i], d)) at = i;
      else if (lies_inside(d, order[i])) break;
    }
    order.insert(at, d);
  }
  return order;
}

}  // namespace

Dims dense_strides(const Tensor& like) {
  if (like.is_contiguous()) {  // strides of dimensions of size 1, or of no elements, are kept too
    const Dims rows = contiguous_strides(like.sizes());
    return Ints(rows) == like.strides() ? Dims() : Dims(like.strides());
  }
  const Dims order = order_in_memory(like);
  Dims strides(order.size());
  int64_t step = 1;
  bool is_dense = true;
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t size = like.sizes()[order[i]];
    strides[order[i]] = step;
    is_dense &= size == 1 || like.strides()[order[i]] == step;
    step *= size;
  }
  return is_dense ? Dims(like.strides()) : strides;
}

// Batch, place, channel.
static Dims channels_last_strides(Ints sizes) {
  Dims strides(sizes);
  int64_t step = strides[1] = 1;
  step *= sizes[1];
  for (size_t d = sizes.size() - 1; d > 1; d--) strides[d] = step, step *= sizes[d];
  strides[0] = step;
  return strides;
}

Dims strides_in(const Tensor& like, const MemoryFormat& format) {
  if (!format || *format == "torch.preserve_format") return dense_strides(like);
  if (*format == "torch.contiguous_format") return {};
  const int64_t rank = *format == "torch.channels_last" ? 4 : 5;
  check(like.dim() == rank, TensorErrorKind::Runtime, "required rank ", rank, " tensor to use channels_last",
        rank == 4 ? "" : "_3d", " format");
  return channels_last_strides(like.sizes());
}

bool has_channels_last(const Tensor& t) {
  if (t.dim() != 4 && t.dim() != 5) return false;
  const Ints sizes = t.sizes(), strides = t.strides();
  if (strides[1] == 0) return false;
  int64_t least = 0;
  const auto goes_on = [&](size_t d) {  // from the innermost out
    if (sizes[d] == 0 || strides[d] < least || (d == 0 && least == strides[1])) return false;
    least = strides[d] * std::max<int64_t>(sizes[d], 1);
    return true;
  };
  if (!goes_on(1)) return false;
  for (size_t d = sizes.size() - 1; d > 1; d--)
    if (!goes_on(d)) return false;
  return goes_on(0);
}

bool is_taken_for(const Tensor& t, const MemoryFormat& format) {
  if (!format || *format == "torch.preserve_format") return true;
  strides_in(t, format);  // refuses what has another rank
  return has_channels_last(t) == (*format != "torch.contiguous_format");
}

Dims suggested_strides(const Tensor& t, Ints sizes) {
  return has_channels_last(t) ? channels_last_strides(sizes) : Dims();
}

Tensor channels_last_if(bool wanted, const Tensor& t) {
  if (!wanted) return t;
  const char* const format = t.dim() == 4 ? "torch.channels_last" : "torch.channels_last_3d";
  if (t.strides() == Ints(strides_in(t, format))) return t;
  return to_format(t, t.dtype(), true, format);
}

bool lies_in(const Tensor& t, const Dims& strides) {
  if (strides.empty()) return t.is_contiguous();
  for (int64_t d = 0; d < t.dim(); d++)
    if (t.size(d) != 1 && t.strides()[d] != strides[d]) return false;
  return true;
}

namespace {

Meta like_meta(const Tensor& like, MaybeType dtype, MaybeDevice device, const MemoryFormat& format) {
  return {like.sizes(), dtype.value_or(like.dtype()), device.value_or(like.device()), strides_in(like, format)};
}

template <class Content>
struct Like {
  static Meta shape(const Tensor& self, MaybeType t, const NoLayout&, MaybeDevice d, Ignored, const MemoryFormat& f) {
    return like_meta(self, t, d, f);
  }
  static void run(const Tensor& out, const auto&...) { Content::fill(out); }
};

struct FullLike {
  static Meta shape(const Tensor& self, const Scalar&, MaybeType t, const NoLayout&, MaybeDevice d, Ignored,
                    const MemoryFormat& f) {
    return like_meta(self, t, d, f);
  }
  static void run(const Tensor& out, const Tensor&, const Scalar& value, const auto&...) { fill_into(out, value); }
};

/// Another shape, with self's dtype and device.
template <class Content>
struct New {
  static Meta shape(const Tensor& self, Ints size, MaybeType t, const NoLayout&, MaybeDevice d, Ignored) {
    return {size, t.value_or(self.dtype()), d.value_or(self.device())};
  }
  static void run(const Tensor& out, const auto&...) { Content::fill(out); }
};

struct NewFull {
  static Meta shape(const Tensor& self, Ints size, const Scalar&, MaybeType t, const NoLayout&, MaybeDevice d,
                    Ignored) {
    return {size, t.value_or(self.dtype()), d.value_or(self.device())};
  }
  static void run(const Tensor& out, const Tensor&, Ints, const Scalar& value, const auto&...) {
    fill_into(out, value);
  }
};

// ---- ranges ----

struct Range {
  static Meta shape(const Scalar& start, const Scalar& end, const Scalar& step, MaybeType dtype, const NoLayout&,
                    MaybeDevice device, Ignored) {
    const bool integral = !start.is_float() && !end.is_float() && !step.is_float();
    const DType type = dtype.value_or(integral ? kInt64 : Context::current().default_dtype);
    const double a = start.to_double(), b = end.to_double(), s = step.to_double();
    check(s != 0.0, TensorErrorKind::Runtime, "step must be nonzero");
    check(std::isfinite(a) && std::isfinite(b), TensorErrorKind::Runtime, "unsupported range: ", a, " -> ", b);
    check((s > 0 && b >= a) || (s < 0 && b <= a), TensorErrorKind::Runtime,
          "upper bound and lower bound inconsistent with step sign");
    const bool exact = integral && !is_floating(type);
    return {{exact ? whole_count(start.to_int(), end.to_int(), step.to_int()) : float_count((b - a) / s)},
            type,
            device_or_default(device)};
  }
  static void run(const Tensor& out, const Scalar& start, const Scalar&, const Scalar& step, const auto&...) {
    require_type(kRealTypes, out, "arange_cpu");
    if (out.numel()) range_kernel(out.device(), RangeCall{out.data_ptr(), out.dtype(), out.numel(), start, step});
  }

 private:
  // In 64 bits without a sign: the span of two int64 always fits.
  static int64_t whole_count(int64_t from, int64_t to, int64_t by) {
    const uint64_t span = by > 0 ? uint64_t(to) - uint64_t(from) : uint64_t(from) - uint64_t(to);
    const uint64_t stride = by > 0 ? uint64_t(by) : 0 - uint64_t(by);
    const uint64_t count = span ? (span - 1) / stride + 1 : 0;
    check(count <= uint64_t(INT64_MAX), TensorErrorKind::Runtime, "invalid size, possible overflow?");
    return int64_t(count);
  }
  static int64_t float_count(double steps) {
    const double count = std::ceil(steps);
    check(count < 9e15, TensorErrorKind::Runtime, "invalid size, possible overflow?");
    return int64_t(count);
  }
};

struct RangeTo {
  static Meta shape(const Scalar& end, MaybeType t, const NoLayout& l, MaybeDevice d, Ignored p) {
    return Range::shape(0, end, 1, t, l, d, p);
  }
  static void run(const Tensor& out, const Scalar& end, const auto&...) { Range::run(out, 0, end, 1); }
};

/// Calls fill(tag, data) with memory of the host that becomes `out`.
template <class F>
void fill_from_host(const Tensor& out, F&& fill) {
  const DType type = is_complex(out.dtype()) ? real_type(out.dtype()) : out.dtype();
  const bool direct = out.device().is_cpu() && type == out.dtype();
  const Tensor host = direct ? out : Tensor::empty(out.sizes(), type);
  with_type(type, [&](auto tag) { fill(tag, static_cast<typename decltype(tag)::type*>(host.data_ptr())); });
  if (!direct) copy_into(out, host);
}

/// Whether a kernel of the device computes the elements, each from its number; then it has. `wide` in float64.
bool fill_by_steps(const Tensor& out, int64_t steps, double start, double end, bool wide, const double* base) {
  const DType type = out.dtype();
  if (!steps_kernel.computes_on(out.device()) || is_wide_unsigned(type) || is_complex(type) || !out.is_contiguous())
    return false;
  if (is_integral(type))
    with_type(type, [&](auto tag) {  // the ends are integers, of linspace those of the dtype's range
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T>)
        for (double* x : {&start, &end}) *x = base ? std::trunc(*x) : double(convert_element<T>(*x));
    });
  const double way = wide ? end - start : float(end) - float(start), count = double(steps - 1);
  const double step = steps <= 1 ? 0 : wide ? way / count : float(way) / float(count);
  if (steps != 0)
    steps_kernel(out.device(),
                 {out.data_ptr(), type, steps, start, end, step, wide, base != nullptr, base ? *base : 0});
  return true;
}

void check_steps(int64_t steps, DType type, Device device, KernelName kernel) {
  check(steps >= 0, TensorErrorKind::Runtime, "number of steps must be non-negative");
  if (is_bool(type) || kSmallTypes.has(type)) refuse_type(type, device, kernel);
}

struct Linspace {
  static Meta shape(const Scalar& a, const Scalar& b, int64_t steps, MaybeType t, const NoLayout&, MaybeDevice d,
                    Ignored) {
    const DType usual = type_or_default({}),
                type = t.value_or(a.is_complex() || b.is_complex() ? complex_type(usual) : usual);
    const Device device = device_or_default(d);
    check_steps(steps, type, device, "linspace_cpu");
    return {{steps}, type, device};
  }
  static void run(const Tensor& out, const Scalar& start, const Scalar& end, int64_t steps, const auto&...) {
    if (start.is_complex() || end.is_complex()) {
      const std::complex<double> a = start.to_complex(), b = end.to_complex();
      const DType part = real_type(out.dtype());
      copy_into(real(out), linspace(a.real(), b.real(), steps, part, out.device()));
      return copy_into(imag(out), linspace(a.imag(), b.imag(), steps, part, out.device()));
    }
    const bool wide = out.dtype() == kFloat64 || is_integral(out.dtype());
    if (fill_by_steps(out, steps, start.to_double(), end.to_double(), wide, nullptr)) return;
    fill_from_host(out, [&](auto tag, auto* p) {
      using T = typename decltype(tag)::type;
      using Step = std::conditional_t<std::is_same_v<T, double> || std::is_integral_v<T>, double, float>;
      // From both ends, in the dtype's own precision with one rounding, as PyTorch does: the last element is exactly `end`.
      const auto cut = [](double x) {  // integers start at integers of their own range
        if constexpr (std::is_integral_v<T>) return double(convert_element<T>(x));
        else return x;
      };
      const Step a = Step(cut(start.to_double())), b = Step(cut(end.to_double()));
      const Step step = steps > 1 ? (b - a) / Step(steps - 1) : Step(0);
      in_pieces(steps, [&](int64_t i, int64_t last) {
        for (; i < last; i++)
          p[i] = convert_element<T>(i < steps / 2 || steps == 1 ? std::fma(step, Step(i), a)
                                                                : std::fma(-step, Step(steps - i - 1), b));
      });
    });
  }
};

/// Of integers the ends are cut to integers before anything is computed, as in PyTorch.
struct Logspace {
  static Meta shape(const Scalar&, const Scalar&, int64_t steps, double, MaybeType t, const NoLayout&, MaybeDevice d,
                    Ignored) {
    const Device device = device_or_default(d);
    check_steps(steps, type_or_default(t), device, "logspace_cpu");
    return {{steps}, type_or_default(t), device};
  }
  static void run(const Tensor& out, const Scalar& start, const Scalar& end, int64_t steps, double base,
                  const auto&...) {
    if (fill_by_steps(out, steps, start.to_double(), end.to_double(), !is_integral(out.dtype()), &base)) return;
    fill_from_host(out, [&](auto tag, auto* p) {
      using T = typename decltype(tag)::type;
      using Step = std::conditional_t<std::is_integral_v<T>, float, double>;
      const auto cut = [](double x) { return std::is_integral_v<T> ? std::trunc(x) : x; };
      const Step a = Step(cut(start.to_double())), b = Step(cut(end.to_double()));
      const Step step = steps > 1 ? (b - a) / Step(steps - 1) : Step(0);
      for (int64_t i = 0; i < steps; i++) {
        const Step exponent = i < steps / 2 ? a + step * Step(i) : steps == 1 ? a : b - step * Step(steps - i - 1);
        p[i] = convert_element<T>(std::pow(base, double(exponent)));
      }
    });
  }
};

// ---- the identity ----

struct Eye {
  static Meta shape(int64_t n, int64_t m, MaybeType t, const NoLayout&, MaybeDevice d, Ignored) {
    check(n >= 0, TensorErrorKind::Runtime, "n must be greater or equal to 0, got ", n);
    check(m >= 0, TensorErrorKind::Runtime, "m must be greater or equal to 0, got ", m);
    return {{n, m}, type_or_default(t), device_or_default(d)};
  }
  static void run(const Tensor& out, int64_t n, int64_t m, const auto&...) {
    fill_into(out, 0);
    if (const int64_t diagonal = std::min(n, m)) fill_into(out.view_of({diagonal}, {m + 1}), 1);
  }
};
struct EyeSquare {
  static Meta shape(int64_t n, MaybeType t, const NoLayout& l, MaybeDevice d, Ignored p) {
    return Eye::shape(n, n, t, l, d, p);
  }
  static void run(const Tensor& out, int64_t n, const auto&...) { Eye::run(out, n, n); }
};

template <class Op, class... A>
Tensor make(MaybeType dtype, MaybeDevice device, const A&... args) {
  return apply<Op>(args..., dtype, NoLayout(), device, Ignored());
}
template <class Op, class... A>
Tensor make_like(MaybeType dtype, MaybeDevice device, const A&... args) {
  return apply<Op>(args..., dtype, NoLayout(), device, Ignored(), MemoryFormat());
}

}  // namespace

// ---- C++ functions ----

Tensor empty(Ints sizes, MaybeType dtype, MaybeDevice device) {
  return Tensor::empty(sizes, type_or_default(dtype), device_or_default(device));
}
Tensor zeros(Ints sizes, MaybeType dtype, MaybeDevice device) { return make<Sized<Constant<0>>>(dtype, device, sizes); }
Tensor ones(Ints sizes, MaybeType dtype, MaybeDevice device) { return make<Sized<Constant<1>>>(dtype, device, sizes); }
Tensor full(Ints sizes, Scalar value, MaybeType dtype, MaybeDevice device) {
  return make<Full>(dtype, device, sizes, value);
}
Tensor arange(Scalar start, Scalar end, Scalar step, MaybeType dtype, MaybeDevice device) {
  return make<Range>(dtype, device, start, end, step);
}
Tensor linspace(double start, double end, int64_t steps, MaybeType dtype, MaybeDevice device) {
  return make<Linspace>(dtype, device, Scalar(start), Scalar(end), steps);
}
Tensor logspace(double start, double end, int64_t steps, double base, MaybeType dtype, MaybeDevice device) {
  return make<Logspace>(dtype, device, Scalar(start), Scalar(end), steps, base);
}
Tensor eye(int64_t n, std::optional<int64_t> m, MaybeType dtype, MaybeDevice device) {
  return make<Eye>(dtype, device, n, m.value_or(n));
}
Tensor empty_like(const Tensor& like, MaybeType dtype, MaybeDevice device) {
  return make_like<Like<Unset>>(dtype, device, like);
}
Tensor full_like(const Tensor& like, Scalar value, MaybeType dtype, MaybeDevice device) {
  return make_like<FullLike>(dtype, device, like, value);
}
Tensor zeros_like(const Tensor& like, MaybeType dtype, MaybeDevice device) {
  return make_like<Like<Constant<0>>>(dtype, device, like);
}
Tensor ones_like(const Tensor& like, MaybeType dtype, MaybeDevice device) {
  return make_like<Like<Constant<1>>>(dtype, device, like);
}

Tensor empty_like_strided(const Tensor& like, DType dtype) {
  Tensor out = Tensor::empty(like.sizes(), dtype, like.device());
  if (const Dims strides = dense_strides(like); !strides.empty()) out.impl()->set_layout(like.sizes(), strides);
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

// ---- the registry ----

namespace {

#define TS_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

constexpr uint32_t kMake = kFunction | kNoGrad, kMakeLike = kMethod | kNoGrad;
TS_OP(empty, "empty(int[] size, *, " TS_OPTIONS ") -> Tensor", "A tensor whose elements are not set.",
      kMake | kUninitialised | kSizes, Sized<Unset>,
      "[2, 3]\n"
      "[2, -1] -> RuntimeError: Trying to create tensor with negative dimension -1: [2, -1]",
      .out = kOutAnything);
TS_OP(zeros, "zeros(int[] size, *, " TS_OPTIONS ") -> Tensor", "A tensor of zeros.", kMake | kSizes | kOut,
      Sized<Constant<0>>,
      "[2, 3]\n"
      "[2], dtype=int64\n"
      "[2, -1] -> RuntimeError: zeros: Dimension size must be non-negative.",
      .out = kOutAnything);
TS_OP(ones, "ones(int[] size, *, " TS_OPTIONS ") -> Tensor", "A tensor of ones.", kMake | kSizes | kOut,
      Sized<Constant<1>>,
      "[2, 3]\n"
      "[0, 3]",
      .out = kOutAnything);
TS_OP(full, "full(int[] size, Scalar fill_value, *, " TS_OPTIONS ") -> Tensor", "A tensor filled with one value.",
      kMake | kOut, Full,
      "[2, 3], 1.5\n"
      "[2], 7\n"
      "[2], 1, dtype=bool",
      .out = kOutAnything);
TS_OP(arange, "arange(Scalar end, *, " TS_OPTIONS ") -> Tensor", "0, 1, ... up to, not with, end.", kMake | kOut,
      RangeTo,
      "5\n"
      "2.5\n"
      "0",
      .out = kOutAnything);
TS_OP(arange, "arange.start(Scalar start, Scalar end, Scalar step=1, *, " TS_OPTIONS ") -> Tensor",
      "start, start + step, ... up to, not with, end.", kMake | kOut, Range,
      "1, 7, 2\n"
      "1, 2, 0.25\n"
      "5, -1, -2, dtype=float32\n"
      "5, 1 -> RuntimeError: upper bound and lower bound inconsistent with step sign\n"
      "1, 5, 0 -> RuntimeError: step must be nonzero",
      .out = kOutAnything);
// linspace and logspace of tensors. Those without dimensions are taken for numbers already, so these are met by others, and say so.
Scalar end_of(const Scalar& number, const char*) { return number; }
Scalar end_of(const Tensor& t, const char*) { return t.item(); }
std::string wrong_end(const Scalar&, const char*) { return {}; }
std::string wrong_end(const Tensor& t, const char* which) {
  return t.dim() ? text(which, " with ", t.dim(), " dimension(s)") : std::string();
}
template <class Op, class A, class B, class... Rest>
Tensor range_of_tensors(const char* name, const A& start, const B& end, const Rest&... rest) {
  const std::string first = wrong_end(start, "start"), last = wrong_end(end, "end");
  check(first.empty() && last.empty(), TensorErrorKind::Runtime, name,
        " only supports 0-dimensional start and end tensors, but got ", first,
        first.empty() || last.empty() ? "" : " and ", last, ".");
  return apply<Op>(end_of(start, name), end_of(end, name), rest...);
}
#define TS_RANGE_OF_TENSORS(OP, NAME, BASE, TEN)                                                                            \
  constexpr const char k##OP##Name[] = #NAME;                                                                               \
  TS_OP(                                                                                                                    \
      NAME, #NAME ".Tensor_Tensor(Tensor start, Tensor end, int steps" BASE ", *, " TS_OPTIONS ") -> Tensor",               \
      "Between numbers given as tensors.", kMake | kOut | kDataDependent,                                                   \
      (&OP##OfTensors<k##OP##Name, Tensor, Tensor>),                                                                        \
      "f[2], f[2,2], 3" TEN " -> RuntimeError: " #NAME                                                                      \
      " only supports 0-dimensional start and end tensors, but got start with 1 dimension(s) and end with 2 dimension(s).", \
      .out = kOutAnything);                                                                                                 \
  TS_OP(NAME, #NAME ".Scalar_Tensor(Scalar start, Tensor end, int steps" BASE ", *, " TS_OPTIONS ") -> Tensor",             \
        "Between numbers given as tensors.", kMake | kOut | kDataDependent,                                                 \
        (&OP##OfTensors<k##OP##Name, Scalar, Tensor>), "1, f[], 3" TEN, .out = kOutAnything);                               \
  TS_OP(NAME, #NAME ".Tensor_Scalar(Tensor start, Scalar end, int steps" BASE ", *, " TS_OPTIONS ") -> Tensor",             \
        "Between numbers given as tensors.", kMake | kOut | kDataDependent,                                                 \
        (&OP##OfTensors<k##OP##Name, Tensor, Scalar>), "f[], 1, 3" TEN, .out = kOutAnything)
template <const char* kName, class A, class B>
Tensor LinspaceOfTensors(const A& start, const B& end, int64_t steps, MaybeType t, const NoLayout& l, MaybeDevice d,
                         Ignored p) {
  return range_of_tensors<Linspace>(kName, start, end, steps, t, l, d, p);
}
template <const char* kName, class A, class B>
Tensor LogspaceOfTensors(const A& start, const B& end, int64_t steps, double base, MaybeType t, const NoLayout& l,
                         MaybeDevice d, Ignored p) {
  return range_of_tensors<Logspace>(kName, start, end, steps, base, t, l, d, p);
}
TS_OP(linspace, "linspace(Scalar start, Scalar end, int steps, *, " TS_OPTIONS ") -> Tensor",
      "steps numbers at equal distances, both ends included.", kMake | kOut, Linspace,
      "1, 2, 5\n"
      "0, 9, 4, dtype=int64\n"
      "0, 1, 3, dtype=complex64\n"
      "0, 1, -1 -> RuntimeError: number of steps must be non-negative\n"
      "0, 1, 3, dtype=bool -> NotImplementedError: \"linspace_cpu\" not implemented for 'Bool'",
      .forms =
          "Tensor start, Tensor end, int steps\n"
          "Scalar start, Tensor end, int steps\n"
          "Tensor start, Scalar end, int steps\n"
          "Scalar start, Scalar end, int steps",
      .out = kOutAnything);
TS_RANGE_OF_TENSORS(Linspace, linspace, "", "");
TS_RANGE_OF_TENSORS(Logspace, logspace, ", float base=10.0", ", 10");
#undef TS_RANGE_OF_TENSORS
TS_OP(logspace, "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, " TS_OPTIONS ") -> Tensor",
      "base to the powers of linspace.", kMake | kOut, Logspace,
      "0, 2, 3\n"
      "0.5, 3, 4, dtype=int64\n"
      "0, 1, 3, dtype=bool -> NotImplementedError: \"logspace_cpu\" not implemented for 'Bool'",
      .forms =
          "Tensor start, Tensor end, int steps, float base=10.0\n"
          "Scalar start, Tensor end, int steps, float base=10.0\n"
          "Tensor start, Scalar end, int steps, float base=10.0\n"
          "Scalar start, Scalar end, int steps, float base=10.0",
      .out = kOutAnything);
TS_OP(eye, "eye(int n, *, " TS_OPTIONS ") -> Tensor", "The identity matrix.", kMake | kOut, EyeSquare,
      "3\n"
      "-1 -> RuntimeError: n must be greater or equal to 0, got -1",
      .out = kOutAnything);
TS_OP(eye, "eye.m(int n, int m, *, " TS_OPTIONS ") -> Tensor", "Ones on the diagonal, zeros elsewhere.", kMake | kOut,
      Eye,
      "2, 3\n"
      "3, 0",
      .out = kOutAnything);
TS_OP(empty_like, "empty_like(Tensor self, *, " TS_OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
      "An unset tensor of self's shape, dtype and device.", kMake | kUninitialised, Like<Unset>, "f[2,3]",
      .batching = Batching::Front);
TS_OP(zeros_like, "zeros_like(Tensor self, *, " TS_OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
      "Zeros in self's shape, dtype and device.", kMake, Like<Constant<0>>, "f[2,3]", .batching = Batching::Front);
TS_OP(ones_like, "ones_like(Tensor self, *, " TS_OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
      "Ones in self's shape, dtype and device.", kMake, Like<Constant<1>>, "f[3,2].t", .batching = Batching::Front);
TS_OP(full_like,
      "full_like(Tensor self, Scalar fill_value, *, " TS_OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
      "One value in self's shape, dtype and device.", kMake, FullLike,
      "f[2,3], 2.5\n"
      "i[2]<3, 2",
      .batching = Batching::Front);
TS_OP(new_zeros, "new_zeros(Tensor self, int[] size, *, " TS_OPTIONS ") -> Tensor", "Zeros of self's dtype and device.",
      kMakeLike | kSizes, New<Constant<0>>, "f[2], [3, 2]");
TS_OP(new_ones, "new_ones(Tensor self, int[] size, *, " TS_OPTIONS ") -> Tensor", "Ones of self's dtype and device.",
      kMakeLike | kSizes, New<Constant<1>>, "f[2], [3, 2]");
TS_OP(new_empty, "new_empty(Tensor self, int[] size, *, " TS_OPTIONS ") -> Tensor",
      "Unset, of self's dtype and device.", kMakeLike | kUninitialised | kSizes, New<Unset>, "f[2], [3, 2]");
TS_OP(new_full, "new_full(Tensor self, int[] size, Scalar fill_value, *, " TS_OPTIONS ") -> Tensor",
      "One value, of self's dtype and device.", kMakeLike, NewFull, "f[2], [3, 2], 1.5");
#undef TS_OPTIONS

}  // namespace
}  // namespace tessera::tensor
