// Reductions: dims, dtypes, messages and derivatives around the table reduce.def.
#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/device/backend.h"
#include "runtime/autograd/node.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/grad_probe.h"
#include "runtime/ops/reduce_ids.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

using namespace reduction;

// ---- pieces of derivatives ----

static Tensor prod_to(const Tensor& x, const Tensor& like) {
  Dims dims;
  for (size_t d = 0; d < like.sizes().size(); d++)
    if (like.sizes()[d] == 1) dims.push_back(int64_t(d));
  return like.dim() == 0 ? prod(x) : prod(x, dims, true);
}
static Tensor prod_dx(const Tensor& g, const Tensor& x, const Tensor& y) {
  Tensor zero = x == 0.0;
  if (!any(zero).item().to_bool()) return g * y / x;
  // With one zero the others' product is that element's derivative; with more, all derivatives are 0.
  Tensor zeros = sum_to_size(to_dtype(zero, x.dtype()), y.sizes());
  Tensor safe = where(zero, 1.0, x), others = prod_to(safe, y);
  return g * where(zero, where(zeros == 1.0, others, 0.0), y / safe);
}
static Tensor extreme_dx(const Tensor& g, const Tensor& x, const Tensor& y) {
  Tensor hit = to_dtype(x == y, x.dtype());
  return g * (hit / sum_to_size(hit, y.sizes()));
}
static Tensor norm_dx(const Tensor& g, const Tensor& x, const Tensor& y, double p) {
  return g * where(y == 0.0, 0.0, sign(x) * pow(abs(x), p - 1.0) / pow(y, p - 1.0));
}

namespace probe {
#define TS_PROBE(F)        \
  template <class... A>    \
  requires SomeProbe<A...> \
  constexpr Join<A...> F(const A&...) { return {}; }
TS_PROBE(prod_dx) TS_PROBE(extreme_dx) TS_PROBE(norm_dx)
#undef TS_PROBE
}  // namespace probe

namespace {

// ---- rows ----

enum class ReduceClass : unsigned char { Sum, Float, Keep, Bool };

struct ReduceRow {
  const char* name;
  ReduceClass row_class;
  Tensor (*formula)(const Tensor& g, const Tensor& x, const Tensor& y, double n, double p);
  unsigned reads;  // 1: x, 2: y
};

#define REDUCE(NAME, CLASS, IDENTITY, MAP, COMBINE, FINISH, DX)                                           \
  struct D_##NAME {                                                                                       \
    template <class G, class X, class Y>                                                                  \
    static auto of([[maybe_unused]] const G& g, [[maybe_unused]] const X& x, [[maybe_unused]] const Y& y, \
                   [[maybe_unused]] double n, [[maybe_unused]] double p) {                                \
      return (DX);                                                                                        \
    }                                                                                                     \
  };
#include "runtime/ops/reduce.def"
#undef REDUCE

template <class D>
constexpr ReduceRow make_row(const char* name, ReduceClass row_class) {
  using R = decltype(D::of(probe::Probe<16>{}, probe::Probe<1>{}, probe::Probe<2>{}, 1.0, 1.0));
  if constexpr (std::is_same_v<R, NoGrad>) return {name, row_class, nullptr, 0};
  else
    return {name, row_class,
            [](const Tensor& g, const Tensor& x, const Tensor& y, double n, double p) -> Tensor {
              return D::of(g, x, y, n, p);
            },
            reads_of<R>()};
}

const ReduceRow kRows[] = {
#define REDUCE(NAME, CLASS, ...) make_row<D_##NAME>(#NAME, ReduceClass::CLASS),
#include "runtime/ops/reduce.def"
#undef REDUCE
};

// ---- dims ----

/// The dims to reduce as bits; none or an empty list means all.
uint64_t dim_mask(const Tensor& x, const MaybeDims& dims, bool empty_is_all = true) {
  uint64_t all = x.dim() >= 64 ? ~uint64_t(0) : (uint64_t(1) << x.dim()) - 1;
  if (!dims || (dims->empty() && empty_is_all)) return all;
  uint64_t mask = 0;
  for (int64_t d : *dims) {
    uint64_t bit = uint64_t(1) << wrap_dim(d, x.dim());
    check(!(mask & bit), TensorErrorKind::Runtime, "dim ", std::countr_zero(bit),
          " appears multiple times in the list of dims");
    mask |= bit;
  }
  return mask & all;
}

Dims reduced_shape(Ints sizes, uint64_t mask, bool keepdim) {
  Dims out;
  for (size_t d = 0; d < sizes.size(); d++) {
    if (!(mask >> d & 1)) out.push_back(sizes[d]);
    else if (keepdim) out.push_back(1);
  }
  return out;
}

DType result_type(int id, const ReduceRow& row, DType in, MaybeType dtype) {
  if (row.row_class == ReduceClass::Bool) return in == kUInt8 ? kUInt8 : kBool;
  if (row.row_class == ReduceClass::Keep) return in;
  if (id == r_mean) {
    DType given = dtype.value_or(in);
    check(is_floating(given), TensorErrorKind::Runtime, "mean(): could not infer output dtype. ",
          dtype ? "Optional" : "Input",
          " dtype must be either a floating point or complex dtype. Got: ", scalar_type_name(given));
    return given;
  }
  if (dtype) return *dtype;
  if (row.row_class == ReduceClass::Sum && !is_floating(in)) return kInt64;
  return in;
}

DType lane_of(DType t) { return t == kFloat64 ? kFloat64 : is_floating(t) ? kFloat32 : kInt64; }

void append_dim(int64_t* sizes, int64_t* strides, int& n, int64_t size, int64_t stride) {
  if (size == 1) return;
  if (n && strides[n - 1] * sizes[n - 1] == stride) {
    sizes[n - 1] *= size;
    return;
  }
  sizes[n] = size;
  strides[n++] = stride;
}

void run(int id, const Tensor& x, const Tensor& out, uint64_t mask, Scalar param) {
  ReduceCall c;
  c.op = id;
  c.in_dtype = x.dtype();
  c.out_dtype = out.dtype();
  c.compute =
      lane_of(is_floating(out.dtype()) || is_floating(x.dtype()) ? promote_types(x.dtype(), out.dtype()) : kInt64);
  c.in = x.impl()->data;
  c.out = out.impl()->data;
  c.out_index = nullptr;
  c.kept = c.reduced = 0;
  c.kept_numel = c.reduced_numel = 1;
  c.param = param;
  for (size_t d = x.sizes().size(); d-- > 0;) {
    int64_t size = x.sizes()[d], stride = x.strides()[d];
    if (mask >> d & 1) {
      append_dim(c.reduced_sizes, c.reduced_strides, c.reduced, size, stride);
      c.reduced_numel *= size;
    } else {
      append_dim(c.kept_sizes, c.kept_strides, c.kept, size, stride);
      c.kept_numel *= size;
    }
  }
  if (c.reduced == 0) {
    c.reduced_sizes[0] = 1;
    c.reduced_strides[0] = 1;
    c.reduced = 1;
  }
  if (c.kept_numel) reduce_kernel(x.device().type, c);
}

struct ReduceNode final : Node {
  ReduceNode(const char* node_name, const ReduceRow& r, const Tensor& x, const Tensor& result, uint64_t m, double param)
      : Node(node_name), row(r), shape(x.sizes()), dtype(x.dtype()), mask(m), p(param) {
    if (row.reads & 1) saved_x = SavedTensor(x);
    if (row.reads & 2) saved_y = SavedTensor(result, true);
    add_input(x);
  }
  void backward(const TensorList& grads, TensorList& out) override {
    if (!grads[0].defined()) return;
    Dims kept = reduced_shape(shape, mask, true);
    double n = 1;
    for (size_t d = 0; d < shape.size(); d++)
      if (mask >> d & 1) n *= double(shape[d]);
    Tensor y = saved_y.get(this);
    Tensor d = row.formula(reshape(grads[0], kept), saved_x.get(this), y.defined() ? reshape(y, kept) : y, n, p);
    if (d.sizes() != Ints(shape)) d = expand(d, shape);
    out[0] = to_dtype(d, dtype);
  }
  void release_saved() override {
    saved_x.reset();
    saved_y.reset();
  }
  const ReduceRow& row;
  SavedTensor saved_x, saved_y;
  Dims shape;
  DType dtype;
  uint64_t mask;
  double p;
};

Tensor reduce(int id, const char* node_name, const Tensor& x, uint64_t mask, bool keepdim, MaybeType dtype = {},
              Scalar param = 0) {
  const ReduceRow& row = kRows[id];
  check(!is_complex(x.dtype()), TensorErrorKind::NotImplemented, '"', row.name, "_cpu\" not implemented for '",
        scalar_type_name(x.dtype()), "'");
  DType type = result_type(id, row, x.dtype(), dtype);
  Tensor in =
      dtype && lane_of(type) == kInt64 && is_floating(x.dtype()) && id != r_count_nonzero ? to_dtype(x, type) : x;
  Tensor out = Tensor::empty(reduced_shape(x.sizes(), mask, keepdim), type, x.device());
  run(id, in, out, mask, param);
  if (row.formula && needs_grad(x) && is_floating(type))
    set_history(out, make_counted<ReduceNode>(node_name, row, x, out, mask, param.to_double()));
  return out;
}

bool is_all(const MaybeDims& dim) { return !dim || dim->empty(); }

void check_not_empty(const char* name, const Tensor& x, const MaybeDims& dim) {
  if (x.numel()) return;
  check(
      !is_all(dim), TensorErrorKind::Runtime, name,
      "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  for (int64_t d : *dim)
    check(x.size(d) != 0, TensorErrorKind::Index, name, "(): Expected reduction dim ", wrap_dim(d, x.dim()),
          " to have non-zero size.");
}

}  // namespace

Tensor sum(const Tensor& x, const MaybeDims& dim, bool keepdim, MaybeType dtype) {
  return reduce(r_sum, dim ? "SumBackward1" : "SumBackward0", x, dim_mask(x, dim), keepdim, dtype);
}
Tensor mean(const Tensor& x, const MaybeDims& dim, bool keepdim, MaybeType dtype) {
  return reduce(r_mean, dim ? "MeanBackward1" : "MeanBackward0", x, dim_mask(x, dim), keepdim, dtype);
}
Tensor prod(const Tensor& x, const MaybeDims& dim, bool keepdim, MaybeType dtype) {
  return reduce(r_prod, dim ? "ProdBackward1" : "ProdBackward0", x, dim_mask(x, dim), keepdim, dtype);
}
Tensor amax(const Tensor& x, const MaybeDims& dim, bool keepdim) {
  check_not_empty("amax", x, dim);
  return reduce(r_amax, "AmaxBackward0", x, dim_mask(x, dim), keepdim);
}
Tensor amin(const Tensor& x, const MaybeDims& dim, bool keepdim) {
  check_not_empty("amin", x, dim);
  return reduce(r_amin, "AminBackward0", x, dim_mask(x, dim), keepdim);
}
Tensor any(const Tensor& x, const MaybeDims& dim, bool keepdim) {
  return reduce(r_any, "", x, dim_mask(x, dim), keepdim);
}
Tensor all(const Tensor& x, const MaybeDims& dim, bool keepdim) {
  return reduce(r_all, "", x, dim_mask(x, dim), keepdim);
}
Tensor max(const Tensor& x) {
  check_not_empty("max", x, {});
  return reduce(r_amax, "MaxBackward1", x, dim_mask(x, {}), false);
}
Tensor min(const Tensor& x) {
  check_not_empty("min", x, {});
  return reduce(r_amin, "MinBackward1", x, dim_mask(x, {}), false);
}

Tensor sum_to_size(const Tensor& g, Ints sizes) {
  if (g.sizes() == sizes) return g;
  uint64_t mask = 0;
  size_t lead = g.sizes().size() - sizes.size();
  for (size_t d = 0; d < g.sizes().size(); d++)
    if (d < lead || (sizes[d - lead] == 1 && g.sizes()[d] != 1)) mask |= uint64_t(1) << d;
  Tensor out = mask ? reduce(r_sum, "SumBackward1", g, mask, true, g.dtype()) : g;
  return out.sizes() == sizes ? out : reshape(out, sizes);
}

// ---- norms, variance, logsumexp ----

Tensor norm(const Tensor& x, Scalar p, const MaybeDims& dim, bool keepdim) {
  check(is_floating(x.dtype()), TensorErrorKind::Runtime,
        "norm(): input dtype should be either floating point or complex. Got ", scalar_type_name(x.dtype()),
        " instead.");
  uint64_t mask = dim_mask(x, dim);
  double e = p.to_double();
  int id = e == 2.0         ? r_norm2
           : e == 1.0       ? r_norm1
           : e == HUGE_VAL  ? r_norm_max
           : e == -HUGE_VAL ? r_norm_min
           : e == 0.0       ? r_count_nonzero
                            : r_norm_p;
  if (id == r_count_nonzero) return reduce(id, "", x, mask, keepdim, x.dtype());
  return reduce(id, "NormBackward1", x, mask, keepdim, {}, p);
}

namespace {

struct VarNode final : Node {
  VarNode(const char* node_name, const Tensor& x, const Tensor& result, uint64_t m, double d, bool is_root)
      : Node(node_name), saved_x(x), mask(m), divisor(d), root(is_root) {
    if (root) saved_y = SavedTensor(result, true);
    add_input(x);
  }
  void backward(const TensorList& grads, TensorList& out) override {
    if (!grads[0].defined()) return;
    Tensor x = saved_x.get(this);
    Dims kept = reduced_shape(x.sizes(), mask, true);
    Tensor g = reshape(grads[0], kept);
    Tensor centred = x - reduce(r_mean, "MeanBackward1", x, mask, true);
    if (root) {
      Tensor y = reshape(saved_y.get(this), kept);
      out[0] = where(y == 0.0, 0.0, g / y) * centred * (1.0 / divisor);
    } else {
      out[0] = g * centred * (2.0 / divisor);
    }
  }
  void release_saved() override {
    saved_x.reset();
    saved_y.reset();
  }
  SavedTensor saved_x, saved_y;
  uint64_t mask;
  double divisor;
  bool root;
};

// Two passes: the mean, then the squares of what is left. Nothing cancels.
Tensor variance(const Tensor& x, const MaybeDims& dim, int64_t correction, bool keepdim, bool root) {
  check(is_floating(x.dtype()), TensorErrorKind::Runtime, "std and var only support floating point and complex dtypes");
  uint64_t mask = dim_mask(x, dim);
  double n = 1;
  for (size_t d = 0; d < x.sizes().size(); d++)
    if (mask >> d & 1) n *= double(x.sizes()[d]);
  double divisor = std::max(0.0, n - double(correction));
  if (n - double(correction) <= 0)
    Context::current().warn(
        text(root ? "std" : "var",
             "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
             "(input numel divided by output numel)."));
  Tensor out;
  {
    GradMode off(false);
    Tensor centred = x - reduce(r_mean, "", x, mask, true);
    out = reduce(r_sum_squares, "", centred, mask, keepdim) / divisor;
    if (root) out = sqrt(out);
  }
  if (needs_grad(x))
    set_history(out, make_counted<VarNode>(root ? "StdBackward0" : "VarBackward0", x, out, mask, divisor, root));
  return out;
}

struct LogSumExpNode final : Node {
  LogSumExpNode(const Tensor& x, const Tensor& y, uint64_t m)
      : Node("LogsumexpBackward0"), saved_x(x), saved_y(y, true), mask(m) {
    add_input(x);
  }
  void backward(const TensorList& grads, TensorList& out) override {
    if (!grads[0].defined()) return;
    Tensor x = saved_x.get(this);
    Dims kept = reduced_shape(x.sizes(), mask, true);
    out[0] = reshape(grads[0], kept) * exp(x - reshape(saved_y.get(this), kept));
  }
  void release_saved() override {
    saved_x.reset();
    saved_y.reset();
  }
  SavedTensor saved_x, saved_y;
  uint64_t mask;
};

}  // namespace

Tensor var(const Tensor& x, const MaybeDims& dim, int64_t correction, bool keepdim) {
  return variance(x, dim, correction, keepdim, false);
}
Tensor stddev(const Tensor& x, const MaybeDims& dim, int64_t correction, bool keepdim) {
  return variance(x, dim, correction, keepdim, true);
}

Tensor logsumexp(const Tensor& x_given, const Dims& dim, bool keepdim) {
  Tensor x = is_floating(x_given.dtype()) ? x_given : to_dtype(x_given, Context::current().default_dtype);
  uint64_t mask = dim_mask(x, dim);
  Tensor out;
  {
    GradMode off(false);
    Tensor top = reduce(r_amax, "", x, mask, true);
    top = where(isinf(top), 0.0, top);
    out = log(reduce(r_sum, "", exp(x - top), mask, true)) + top;
    out = out.view_of(reduced_shape(x.sizes(), mask, keepdim),
                      contiguous_strides(reduced_shape(x.sizes(), mask, keepdim)));
  }
  if (needs_grad(x)) set_history(out, make_counted<LogSumExpNode>(x, out, mask));
  return out;
}

// ---- along one dimension ----

namespace {

AlongCall along_call(AlongCall::Op op, const Tensor& dense, int64_t dim) {
  AlongCall c{op, dense.dtype(), dense.data_ptr(), nullptr, nullptr, 1, dense.dim() ? dense.sizes()[size_t(dim)] : 1,
              1};
  for (int64_t d = 0; d < dense.dim(); d++)
    if (d != dim) (d < dim ? c.outer : c.inner) *= dense.sizes()[size_t(d)];
  return c;
}

struct ExtremeNode final : Node {
  ExtremeNode(const char* node_name, const Tensor& x, const Tensor& i, int64_t d, bool keep)
      : Node(node_name), index(i), shape(x.sizes()), dim(d), keepdim(keep) {
    outputs = 2;
    add_input(x);
  }
  void backward(const TensorList& grads, TensorList& out) override {
    if (!grads[0].defined()) return;
    Tensor g = grads[0], i = index.get(this);
    if (shape.empty()) {
      out[0] = g;
      return;
    }
    if (!keepdim) g = unsqueeze(g, dim), i = unsqueeze(i, dim);
    // The position along dim equals the index: a comparison instead of a scatter keeps it differentiable.
    Dims line(shape.size(), 1);
    line[size_t(dim)] = shape[size_t(dim)];
    Tensor place = reshape(arange(0, shape[size_t(dim)], 1, kInt64, g.device()), line);
    out[0] = where(eq(place, i), g, 0.0);
  }
  void release_saved() override { index.reset(); }
  SavedTensor index;
  Dims shape;
  int64_t dim;
  bool keepdim;
};

std::tuple<Tensor, Tensor> extreme(const char* name, const char* node_name, AlongCall::Op op, const Tensor& x,
                                   int64_t dim_given, bool keepdim) {
  int64_t dim = wrap_dim(dim_given, x.dim());
  if (x.dim()) check_not_empty(name, x, Dims{dim});
  Dims shape = reduced_shape(x.sizes(), x.dim() ? uint64_t(1) << dim : 0, keepdim);
  Tensor values = Tensor::empty(shape, x.dtype(), x.device()), index = Tensor::empty(shape, kInt64, x.device());
  Tensor dense;
  {
    GradMode off(false);
    dense = contiguous(x);
  }
  AlongCall c = along_call(op, dense, dim);
  c.out = values.data_ptr();
  c.index = static_cast<int64_t*>(index.data_ptr());
  if (values.numel()) along_kernel(x.device().type, c);
  if (needs_grad(x)) set_history(values, make_counted<ExtremeNode>(node_name, x, index, dim, keepdim));
  return {values, index};
}

Tensor arg_extreme(const char* name, AlongCall::Op op, const Tensor& x, std::optional<int64_t> dim_given,
                   bool keepdim) {
  GradMode off(false);
  Tensor dense = contiguous(x);
  if (!dim_given) {
    check(x.numel() != 0, TensorErrorKind::Index, name,
          "(): Expected reduction dim to be specified for input.numel() == 0.");
    Tensor out = Tensor::empty(keepdim ? Dims(x.sizes().size(), 1) : Dims(), kInt64, x.device());
    AlongCall c{op, x.dtype(), dense.data_ptr(), nullptr, static_cast<int64_t*>(out.data_ptr()), 1, x.numel(), 1};
    along_kernel(x.device().type, c);
    return out;
  }
  int64_t dim = wrap_dim(*dim_given, x.dim());
  if (x.dim()) check_not_empty(name, x, Dims{dim});
  Tensor out = Tensor::empty(reduced_shape(x.sizes(), x.dim() ? uint64_t(1) << dim : 0, keepdim), kInt64, x.device());
  AlongCall c = along_call(op, dense, dim);
  c.index = static_cast<int64_t*>(out.data_ptr());
  if (out.numel()) along_kernel(x.device().type, c);
  return out;
}

struct CumsumNode final : Node {
  CumsumNode(const Tensor& x, int64_t d) : Node("CumsumBackward0"), dim(d), dtype(x.dtype()) { add_input(x); }
  void backward(const TensorList& grads, TensorList& out) override {
    if (!grads[0].defined()) return;
    // The sum from here to the end: all, less what comes before.
    Tensor g = grads[0], run = cumsum(g, dim);
    out[0] = to_dtype(g.dim() ? sum(g, Dims{dim}, true) - run + g : g, dtype);
  }
  int64_t dim;
  DType dtype;
};
struct CumprodNode final : Node {
  CumprodNode(const Tensor& x, const Tensor& y, int64_t d)
      : Node("CumprodBackward0"), saved_x(x), saved_y(y, true), dim(d) {
    add_input(x);
  }
  void backward(const TensorList& grads, TensorList& out) override {
    if (!grads[0].defined()) return;
    Tensor gy = grads[0] * saved_y.get(this), x = saved_x.get(this);
    if (!x.dim()) {
      out[0] = grads[0];
      return;
    }
    out[0] = (sum(gy, Dims{dim}, true) - cumsum(gy, dim) + gy) / x;
  }
  void release_saved() override {
    saved_x.reset();
    saved_y.reset();
  }
  SavedTensor saved_x, saved_y;
  int64_t dim;
};

Tensor running(AlongCall::Op op, const Tensor& x_given, int64_t dim, MaybeType dtype) {
  GradMode off(false);
  DType type = dtype.value_or(is_floating(x_given.dtype()) ? x_given.dtype() : kInt64);
  Tensor x = contiguous(to_dtype(x_given, type)), out = Tensor::empty(x.sizes(), type, x.device());
  AlongCall c = along_call(op, x, dim);
  c.out = out.data_ptr();
  if (out.numel()) along_kernel(x.device().type, c);
  return out;
}

}  // namespace

std::tuple<Tensor, Tensor> max(const Tensor& x, int64_t dim, bool keepdim) {
  return extreme("max", "MaxBackward0", AlongCall::Max, x, dim, keepdim);
}
std::tuple<Tensor, Tensor> min(const Tensor& x, int64_t dim, bool keepdim) {
  return extreme("min", "MinBackward0", AlongCall::Min, x, dim, keepdim);
}
Tensor argmax(const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  return arg_extreme("argmax", AlongCall::Max, x, dim, keepdim);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  return arg_extreme("argmin", AlongCall::Min, x, dim, keepdim);
}

Tensor cumsum(const Tensor& x, int64_t dim_given, MaybeType dtype) {
  int64_t dim = wrap_dim(dim_given, x.dim());
  Tensor out = running(AlongCall::Sum, x, dim, dtype);
  if (needs_grad(x) && is_floating(out.dtype())) set_history(out, make_counted<CumsumNode>(x, dim));
  return out;
}
Tensor cumprod(const Tensor& x, int64_t dim_given, MaybeType dtype) {
  int64_t dim = wrap_dim(dim_given, x.dim());
  Tensor out = running(AlongCall::Product, x, dim, dtype);
  if (needs_grad(x) && is_floating(out.dtype())) set_history(out, make_counted<CumprodNode>(x, out, dim));
  return out;
}

// ---- registry ----

namespace {

constexpr uint32_t kBoth = kFunction | kMethod;

Tensor sum_all(const Tensor& x, MaybeType t) { return sum(x, {}, false, t); }
Tensor sum_dim(const Tensor& x, const MaybeDims& d, bool k, MaybeType t) {
  return sum(x, d ? d : MaybeDims(Dims()), k, t);
}
Tensor mean_all(const Tensor& x, MaybeType t) { return mean(x, {}, false, t); }
Tensor mean_dim(const Tensor& x, const MaybeDims& d, bool k, MaybeType t) {
  return mean(x, d ? d : MaybeDims(Dims()), k, t);
}
Tensor prod_all(const Tensor& x, MaybeType t) { return prod(x, {}, false, t); }
Tensor prod_dim(const Tensor& x, int64_t d, bool k, MaybeType t) { return prod(x, Dims{d}, k, t); }
Tensor any_all(const Tensor& x) { return any(x); }
Tensor all_all(const Tensor& x) { return all(x); }
Tensor any_dim(const Tensor& x, int64_t d, bool k) { return any(x, Dims{d}, k); }
Tensor all_dim(const Tensor& x, int64_t d, bool k) { return all(x, Dims{d}, k); }
using Pair = std::tuple<Tensor, Tensor>;
Tensor maximum_of(const Tensor& x, const Tensor& y) { return maximum(x, y); }
Tensor minimum_of(const Tensor& x, const Tensor& y) { return minimum(x, y); }
Tensor var_unbiased(const Tensor& x, bool unbiased) { return var(x, {}, unbiased); }
Tensor std_unbiased(const Tensor& x, bool unbiased) { return stddev(x, {}, unbiased); }
Tensor var_dim(const Tensor& x, const MaybeDims& d, bool unbiased, bool k) { return var(x, d, unbiased, k); }
Tensor std_dim(const Tensor& x, const MaybeDims& d, bool unbiased, bool k) { return stddev(x, d, unbiased, k); }
Tensor var_correction(const Tensor& x, const MaybeDims& d, std::optional<int64_t> c, bool k) {
  return var(x, d, c.value_or(1), k);
}
Tensor std_correction(const Tensor& x, const MaybeDims& d, std::optional<int64_t> c, bool k) {
  return stddev(x, d, c.value_or(1), k);
}
Tensor norm_op(const Tensor& x, std::optional<Scalar> p, const MaybeDims& d, bool k) {
  return norm(x, p.value_or(2), d, k);
}
Tensor norm_ord(const Tensor& x, Scalar p, const MaybeDims& d, bool k) { return norm(x, p, d, k); }
Tensor norm_name(const Tensor& x, const std::string& p, const MaybeDims& d, bool k) {
  check(p == "fro", TensorErrorKind::Runtime, "norm: only 'fro' and numbers are supported as p, but got ", p);
  return norm(x, 2, d, k);
}
Tensor count_all(const Tensor& x, std::optional<int64_t> d) {
  return reduce(r_count_nonzero, "", x, dim_mask(x, d ? MaybeDims(Dims{*d}) : MaybeDims()), false, kInt64);
}

TS_OP(sum, "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", "The sum of all elements.", kBoth, &sum_all);
TS_OP(sum, "sum.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
      "The sum over dim.", kBoth | kOut, &sum_dim);
TS_OP(mean, "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", "The mean of all elements.", kBoth, &mean_all);
TS_OP(mean, "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
      "The mean over dim.", kBoth | kOut, &mean_dim);
TS_OP(prod, "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", "The product of all elements.", kBoth, &prod_all);
TS_OP(prod, "prod.dim(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
      "The product over dim.", kBoth | kOut, &prod_dim);
TS_OP(amax, "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
      "The largest over dim; ties share the gradient.", kBoth | kOut, &amax);
TS_OP(amin, "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
      "The smallest over dim; ties share the gradient.", kBoth | kOut, &amin);
TS_OP(any, "any(Tensor self) -> Tensor", "Whether an element is not zero.", kBoth | kNoGrad, &any_all);
TS_OP(any, "any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", "Whether an element along dim is not zero.",
      kBoth | kNoGrad | kOut, &any_dim);
TS_OP(all, "all(Tensor self) -> Tensor", "Whether no element is zero.", kBoth | kNoGrad, &all_all);
TS_OP(all, "all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", "Whether no element along dim is zero.",
      kBoth | kNoGrad | kOut, &all_dim);
TS_OP(max, "max(Tensor self) -> Tensor", "The largest element.", kBoth, static_cast<Tensor (*)(const Tensor&)>(&max));
TS_OP(max, "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "The largest along dim and where it is.", kBoth | kOut,
      static_cast<Pair (*)(const Tensor&, int64_t, bool)>(&max));
TS_OP(max, "max.other(Tensor self, Tensor other) -> Tensor", "As maximum.", kBoth, &maximum_of);
TS_OP(min, "min(Tensor self) -> Tensor", "The smallest element.", kBoth, static_cast<Tensor (*)(const Tensor&)>(&min));
TS_OP(min, "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
      "The smallest along dim and where it is.", kBoth | kOut,
      static_cast<Pair (*)(const Tensor&, int64_t, bool)>(&min));
TS_OP(min, "min.other(Tensor self, Tensor other) -> Tensor", "As minimum.", kBoth, &minimum_of);
TS_OP(argmax, "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "The index of the largest element.",
      kBoth | kNoGrad | kOut, &argmax);
TS_OP(argmin, "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "The index of the smallest element.",
      kBoth | kNoGrad | kOut, &argmin);
TS_OP(var, "var(Tensor self, bool unbiased=True) -> Tensor", "The variance of all elements.", kBoth, &var_unbiased);
TS_OP(var, "var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
      "The variance over dim.", kBoth, &var_dim);
TS_OP(var, "var.correction(Tensor self, int[1]? dim=None, *, int? correction=None, bool keepdim=False) -> Tensor",
      "The variance over dim.", kBoth | kOut, &var_correction);
TS_OP(std, "std(Tensor self, bool unbiased=True) -> Tensor", "The standard deviation of all elements.", kBoth,
      &std_unbiased);
TS_OP(std, "std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
      "The standard deviation over dim.", kBoth, &std_dim);
TS_OP(std, "std.correction(Tensor self, int[1]? dim=None, *, int? correction=None, bool keepdim=False) -> Tensor",
      "The standard deviation over dim.", kBoth | kOut, &std_correction);
TS_OP(norm, "norm(Tensor self, Scalar? p=2, int[1]? dim=None, bool keepdim=False) -> Tensor", "The p-norm.", kBoth,
      &norm_op);
TS_OP(norm, "norm.name(Tensor self, str p, int[1]? dim=None, bool keepdim=False) -> Tensor", "The Frobenius norm.",
      kBoth, &norm_name);
TS_OP(vector_norm, "vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False) -> Tensor",
      "The norm of a vector.", kLinalg, &norm_ord);
TS_OP(logsumexp, "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
      "log(sum(exp(x))) without overflow.", kBoth | kOut, &logsumexp);
TS_OP(cumsum, "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "Running sums along dim.",
      kBoth | kInplace | kOut, &cumsum);
TS_OP(cumprod, "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "Running products along dim.",
      kBoth | kInplace | kOut, &cumprod);
TS_OP(count_nonzero, "count_nonzero(Tensor self, int? dim=None) -> Tensor", "How many elements are not zero.",
      kBoth | kNoGrad, &count_all);

}  // namespace
}  // namespace tessera::tensor
