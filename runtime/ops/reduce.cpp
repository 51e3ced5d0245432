// Reductions: what the rows of reduce.def become. A row's parts (shape, run, grad) are the same functions for all rows; a
// form says how the arguments of a schema make a Request.
#include "runtime/ops/reduce.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/context.h"
#include "runtime/device/backend.h"
#include "runtime/fuse/launch_queue.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/grad_probe.h"
#include "runtime/ops/node_name.h"
#include "runtime/ops/reduce_rows.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

using namespace reduction;

// The CPU takes the mean first and then the squares, whose bits are PyTorch's.
constinit Kernel<ReduceCall> variance_kernel("variance", ServedBy::Devices);
// It has a name in a program whose backends do without it.
static const KernelRegistration<ReduceCall> known{variance_kernel, DeviceType::Meta, [](const ReduceCall&) {}};

// ---- pieces of derivatives ----

static Tensor prod_to(const Tensor& x, const Tensor& like) {
  Dims dims;
  for (size_t d = 0; d < like.sizes().size(); d++)
    if (like.sizes()[d] == 1) dims.push_back(int64_t(d));
  return like.dim() == 0 ? prod(x) : prod(x, dims, true);
}
// The product of the others, beside each element.
static Tensor prod_without(const Tensor& x, const Tensor& y) {
  Tensor zero = x == 0.0;
  if (!any(zero).item().to_bool()) return y / x;
  // With one zero the others' product is that element's derivative; with more, all derivatives are 0.
  Tensor zeros = sum_to_size(to_dtype(zero, x.dtype()), y.sizes());
  Tensor safe = where(zero, 1.0, x), others = prod_to(safe, y);
  return where(zero, where(zeros == 1.0, others, 0.0), y / safe);
}
static Tensor prod_dx(const Tensor& g, const Tensor& x, const Tensor& y) { return g * conj(prod_without(x, y)); }
static Tensor extreme_dx(const Tensor& g, const Tensor& x, const Tensor& y) {
  Tensor hit = to_dtype(x == y, x.dtype());
  return g * (hit / sum_to_size(hit, y.sizes()));
}
// Where the extreme of all is NaN, the NaNs share.
static Tensor extreme_of_all_dx(const Tensor& g, const Tensor& x, const Tensor& y) {
  const Tensor nan = logical_and(isnan(x), isnan(y)), hit = to_dtype(logical_or(x == y, nan), x.dtype());
  return g * (hit / sum_to_size(hit, y.sizes()));
}
static Tensor norm_dx(const Tensor& g, const Tensor& x, const Tensor& y, double p) {
  return g * where(y == 0.0, 0.0, sign(x) * pow(abs(x), p - 1.0) / pow(y, p - 1.0));
}

static Tensor zeros_for_nan(const Tensor& x) { return where(isnan(x), Operand(0.0), Operand(x)); }
namespace reduction {
static void product_of_complex(const Tensor& out, const Request& r);
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

struct ReduceRow {
  const char* name;
  ReduceClass row_class;
  ReduceShown shown;
  NodeName nodes[2];  // of the whole tensor, along dims
  Tensor (*formula)(const Tensor& g, const Tensor& x, const Tensor& y, double n, double p);
  unsigned reads;  // 1: x, 2: y
  ReduceFacts facts;
};

#define REDUCE(NAME, CLASS, SHOWN, DOC, IDENTITY, MAP, COMBINE, FINISH, DX, REFERENCE, ...)               \
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
constexpr ReduceRow make_row(const char* name, ReduceClass row_class, ReduceShown shown, const ReduceFacts& facts) {
  using R = decltype(D::of(probe::Probe<16>{}, probe::Probe<1>{}, probe::Probe<2>{}, 1.0, 1.0));
  const bool two = shown == ReduceShown::AllOrDims || shown == ReduceShown::AllOrDim;
  ReduceRow row{name, row_class, shown, {node_name(name, '0'), node_name(name, two ? '1' : '0')}, nullptr, 0, facts};
  if constexpr (!std::is_same_v<R, NoGrad>) {
    row.formula = [](const Tensor& g, const Tensor& x, const Tensor& y, double n, double p) -> Tensor {
      return D::of(g, x, y, n, p);
    };
    row.reads = reads_of<R>();
  }
  return row;
}

constexpr ReduceRow kRows[] = {
#define REDUCE(NAME, CLASS, SHOWN, DOC, IDENTITY, MAP, COMBINE, FINISH, DX, REFERENCE, ...) \
  make_row<D_##NAME>(#NAME, ReduceClass::CLASS, ReduceShown::SHOWN, ReduceFacts{__VA_ARGS__}),
#include "runtime/ops/reduce.def"
#undef REDUCE
};
constexpr const ReduceRow& row_of(int id) { return kRows[id]; }

// ---- dtypes and dims ----

DType result_type(const ReduceRow& row, DType in, MaybeType dtype) {
  switch (row.row_class) {
    case ReduceClass::Bool: return in == kUInt8 ? kUInt8 : kBool;
    case ReduceClass::Count: return dtype.value_or(kInt64);
    case ReduceClass::Keep: return in;
    case ReduceClass::Sum: return dtype.value_or(is_differentiable(in) ? in : kInt64);
    case ReduceClass::Float: break;
  }
  const DType given = dtype.value_or(in);
  check(!row.facts.refuses_integers || is_differentiable(given), TensorErrorKind::Runtime, row.name,
        "(): could not infer output dtype. ", dtype ? "Optional" : "Input",
        " dtype must be either a floating point or complex dtype. Got: ", scalar_type_name(given));
  return given;
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

/// Whether the row tests elements for 0. The test reads them in the input's dtype, not in the result's.
bool asks_truth(const ReduceRow& row) {
  return row.row_class == ReduceClass::Bool || row.row_class == ReduceClass::Count;
}

/// The reduced dimensions as PyTorch walks them: the smallest step innermost.
void append_reduced(ReduceCall& c, const Tensor& x, uint64_t mask) {
  int order[kMaxLoopDims], n = 0;
  const Ints strides = x.strides(), sizes = x.sizes();
  for (int d = int(sizes.size()); d-- > 0;)
    if ((mask >> d & 1) && sizes[size_t(d)] != 1) order[n++] = d;
  const auto outside = [&](int a, int b) {
    const int64_t sa = strides[size_t(a)], sb = strides[size_t(b)];
    return sa && sb && (sa > sb || (sa == sb && sizes[size_t(a)] > sizes[size_t(b)]));
  };
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && outside(order[j - 1], order[j]); j--) std::swap(order[j - 1], order[j]);
  for (int i = 0; i < n; i++)
    append_dim(c.reduced_sizes, c.reduced_strides, c.reduced, sizes[size_t(order[i])], strides[size_t(order[i])]);
  if (c.reduced == 0) c.reduced = c.reduced_sizes[0] = c.reduced_strides[0] = 1;
}

}  // namespace

namespace reduction {

uint64_t dim_mask(const Tensor& x, const MaybeDims& dims) {
  const uint64_t all = x.dim() >= 64 ? ~uint64_t(0) : (uint64_t(1) << x.dim()) - 1;
  if (!dims || dims->empty()) return all;
  check(x.dim() <= 64, TensorErrorKind::Runtime, "only tensors with up to 64 dims are supported");
  uint64_t mask = 0;
  for (int64_t d : *dims) {
    const uint64_t bit = uint64_t(1) << wrap_dim(d, x.dim());
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

int64_t reduced_numel(Ints sizes, uint64_t mask) {
  int64_t n = 1;
  for (size_t d = 0; d < sizes.size(); d++)
    if (mask >> d & 1) n *= sizes[d];
  return n;
}

void check_not_empty(const char* name, const Tensor& x, const MaybeDims& dim) {
  if (x.numel()) return;
  check(
      dim && !dim->empty(), TensorErrorKind::Runtime, name,
      "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  for (int64_t d : *dim)
    check(x.size(d) != 0, TensorErrorKind::Index, name, "(): Expected reduction dim ", d, " to have non-zero size.");
}

namespace {

// Sums of complex numbers are those of their parts; whether one is not 0 needs no order.
bool takes_complex(const ReduceRow& row) { return row.facts.takes_complex || asks_truth(row); }

/// The product along a dimension, which stays with length 1: half by half, so that the loops are long.
Tensor product_along(Tensor x, int64_t dim) {
  if (x.size(dim) == 0) return sum(x, Dims{dim}, true) + 1.0;
  Tensor odd;
  for (int64_t n = x.size(dim); n > 1; n /= 2) {
    if (n % 2) {
      const Tensor last = narrow(x, dim, n - 1, 1);
      odd = odd.defined() ? odd * last : last;
    }
    x = narrow(x, dim, 0, n / 2) * narrow(x, dim, n / 2, n / 2);
  }
  return odd.defined() ? x * odd : x;
}

void run_complex(int id, const Tensor& out, const Request& r) {
  const ReduceRow& row = row_of(id);
  if (row.facts.run_complex) return row.facts.run_complex(out, r);
  if (row.facts.prepare) {
    run_into(row.facts.prepared, out, {row.facts.prepare(r.x), r.mask, r.keepdim, r.dtype, r.param, r.node});
  } else if (is_complex(out.dtype())) {  // the dimension of the parts is kept
    const Tensor x = to_dtype(r.x, out.dtype());
    run_into(id, view_as_real(out), {view_as_real(x), r.mask, r.keepdim, {}, r.param, r.node});
  } else {
    const Tensor x = !is_complex(r.x.dtype()) ? r.x : asks_truth(row) ? r.x != 0.0 : to_dtype(r.x, out.dtype());
    run_into(id, out, {x, r.mask, r.keepdim, r.dtype, r.param, r.node});
  }
}

}  // namespace

[[gnu::cold]] static void refuse_type_of(const ReduceRow& row, DType type, Device device) {
  const std::string usual = text(row.name, "_cpu");
  refuse_type(type, device, row.facts.kernel ? row.facts.kernel : KernelName(usual.c_str()));
}

Meta meta_of(int id, const Request& r) {
  const ReduceRow& row = row_of(id);
  const DType in = r.x.dtype(), asked = r.dtype.value_or(in);
  if (kSmallTypes.has(asked) && !asks_truth(row) && !row.facts.takes_small && r.x.numel() != 0) [[unlikely]]
    refuse_type_of(row, asked, r.x.device());
  if (row.facts.complex_words && r.x.device().is_cpu()) {
    check(!is_complex(in), TensorErrorKind::NotImplemented, row.facts.complex_words);
    if (r.dtype && is_complex(*r.dtype)) refuse_type_of(row, *r.dtype, r.x.device());
  } else if (is_complex(in) && !takes_complex(row) && !row.facts.complex_words) {
    refuse_type_of(row, in, r.x.device());
  }
  return {reduced_shape(r.x.sizes(), r.mask, r.keepdim), result_type(row, in, r.dtype), r.x.device()};
}

static void fill_layout(ReduceCall& c, const Tensor& x, uint64_t mask) {
  c.kept = c.reduced = 0;
  c.kept_numel = 1;
  c.reduced_numel = reduced_numel(x.sizes(), mask);
  for (size_t d = x.sizes().size(); d-- > 0;) {
    if (mask >> d & 1) continue;
    append_dim(c.kept_sizes, c.kept_strides, c.kept, x.sizes()[d], x.strides()[d]);
    c.kept_numel *= x.sizes()[d];
  }
  append_reduced(c, x, mask);
}

static void fill_operands(ReduceCall& c, const Tensor& out, const Tensor& x) {
  c.in_dtype = x.dtype();
  c.out_dtype = out.dtype();
  c.in = x.bytes();
  c.out = out.bytes();
  c.out_index = nullptr;
}

void run_into(int id, const Tensor& out, const Request& r) {
  if (is_complex(r.x.dtype()) || is_complex(out.dtype())) return run_complex(id, out, r);
  const ReduceRow& row = row_of(id);
  const bool as_input = asks_truth(row);
  // As in PyTorch a dtype that is asked for is that of the elements already.
  const bool convert = !as_input && is_floating(r.x.dtype()) && !is_floating(out.dtype());
  const Tensor x = !convert ? r.x : to_dtype(row.facts.prepare ? row.facts.prepare(r.x) : r.x, out.dtype());
  ReduceCall c;  // only as many of its dimensions are set as are used: all of them are 2 KB
  fill_layout(c, x, r.mask);
  c.op = id;
  c.compute = lane_of(as_input ? x.dtype() : out.dtype());
  c.param = r.param;
  if (c.kept_numel == 0) return;
  if (PendingLaunches::any() && Context::current().launch_queue().reduce(c, x, out)) return;
  fill_operands(c, out, x);
  reduce_kernel(x.device(), c);
}

// Half by half along one dimension after the other.
static void product_of_complex(const Tensor& out, const Request& r) {
  Tensor x = to_dtype(r.x, out.dtype());
  for (int64_t d = 0; d < x.dim(); d++)
    if (r.mask >> d & 1) x = product_along(x, d);
  copy_into(out, reshape(x, out.sizes()));
}

bool variance_into(const Tensor& out, const Tensor& x, uint64_t mask, double divisor, bool root) {
  if (!variance_kernel.has(x.device().type) || is_complex(x.dtype())) return false;
  ReduceCall c;
  fill_layout(c, x, mask);
  fill_operands(c, out, x);
  c.op = root;
  c.compute = lane_of(out.dtype());
  c.param = divisor;
  if (c.kept_numel) variance_kernel(x.device(), c);
  return true;
}

void record_into(int id, Tensor& out, const Request& r) {
  const ReduceRow& row = row_of(id);
  if (!row.formula || !is_differentiable(out.dtype())) return;
  Kept<2> kept{
      {row.reads & 1 ? SavedTensor(r.x) : SavedTensor(), row.reads & 2 ? SavedTensor(out, true) : SavedTensor()}};
  const char* node = r.node ? r.node : row.nodes[0].text;
  record(out, node, {&r.x}, std::move(kept),
         [&row, shape = Dims(r.x.sizes()), type = r.x.dtype(), mask = r.mask, p = r.param,
          of_all = r.param == kOfAll ? row.facts.of_all_dx : nullptr](Sweep& s) {
           s.give(0, [&] {
             const Dims kept_shape = reduced_shape(shape, mask, true);
             const Tensor y = s.kept(1);
             const Tensor g = reshape(s.g(), kept_shape), result = y.defined() ? reshape(y, kept_shape) : y;
             Tensor d = of_all ? of_all(g, s.kept(0), result)
                               : row.formula(g, s.kept(0), result, double(reduced_numel(shape, mask)), p);
             if (d.sizes() != Ints(shape)) d = expand(d, shape);
             return to_dtype(d, type);
           });
         });
}

// The reduction of the rows of many elements may wait for what is made of its result (runtime/README.md, "Launches that wait").
[[gnu::noinline]] static Tensor put_off(int id, const Request& r, const Meta& meta) {
  Context& context = Context::current();
  if (r.x.numel() < context.fuses_from || !r.x.device().is_cpu() || !is_floating(r.x.dtype()) || asks_truth(row_of(id))) return {};
  ReduceCall c;
  fill_layout(c, r.x, r.mask);
  c.op = id;
  c.compute = lane_of(meta.dtype);
  c.param = r.param;
  return context.launch_queue().put_off_reduction(c, r.x, meta.sizes, meta.dtype);
}

Tensor reduce(int id, const Request& r) {
  const Meta meta = meta_of(id, r);
  constexpr int64_t kFewest = 128;  // two short rows
  Tensor out = r.x.numel() < kFewest ? Tensor() : put_off(id, r, meta);
  if (!out.defined()) {
    out = meta.allocate();
    if (out.device().type != DeviceType::Meta) {
      const GradMode off(false);
      run_into(id, out, r);
    }
  }
  if (needs_grad(r.x)) record_into(id, out, r);
  return out;
}

}  // namespace reduction

// ---- forms ----

namespace {

/// A row shown with the arguments that Make takes.
template <int kId, auto Make>
struct Form;
template <int kId, class... P, Request (*Make)(int, P...)>
struct Form<kId, Make> {
  static Meta shape(P... a) { return meta_of(kId, Make(kId, a...)); }
  static void run(const Tensor& out, P... a) { run_into(kId, out, Make(kId, a...)); }
  static void grad(Tensor& out, P... a) { record_into(kId, out, Make(kId, a...)); }
};

Request over(int id, const Tensor& x, const MaybeDims& dim, bool keepdim, MaybeType dtype) {
  const ReduceRow& row = row_of(id);
  if (row.row_class == ReduceClass::Keep) check_not_empty(row.name, x, dim);
  return {x, dim_mask(x, dim), keepdim, dtype, 0, row.nodes[dim ? 1 : 0].text};
}
Request whole_typed(int id, const Tensor& x, MaybeType dtype) { return over(id, x, {}, false, dtype); }
Request whole(int id, const Tensor& x) { return over(id, x, {}, false, {}); }
Request dims_typed(int id, const Tensor& x, const MaybeDims& dim, bool keepdim, MaybeType dtype) {
  if (dim) return over(id, x, dim, keepdim, dtype);
  return over(id, x, Dims(), keepdim, dtype);
}
Request maybe_dims_typed(int id, const Tensor& x, const MaybeDims& dim, bool keepdim, MaybeType dtype) {
  return over(id, x, dim, keepdim, dtype);
}
Request dim_typed(int id, const Tensor& x, int64_t dim, bool keepdim, MaybeType dtype) {
  return over(id, x, Dims{dim}, keepdim, dtype);
}
Request dims_kept(int id, const Tensor& x, const MaybeDims& dim, bool keepdim) { return over(id, x, dim, keepdim, {}); }
Request dim_kept(int id, const Tensor& x, int64_t dim, bool keepdim) { return over(id, x, Dims{dim}, keepdim, {}); }
Request dim_only(int id, const Tensor& x, std::optional<int64_t> dim) {
  return over(id, x, dim ? MaybeDims(Dims{*dim}) : MaybeDims(), false, {});
}
Request dims_only(int id, const Tensor& x, const Dims& dim) { return over(id, x, dim, false, {}); }
/// any and all take an empty list for what it says: no dimension.
Request dims_as_given(int id, const Tensor& x, const MaybeDims& dim, bool keepdim) {
  Request request = over(id, x, dim, keepdim, {});
  if (dim && dim->empty()) request.mask = 0;
  return request;
}

template <int kId>
Tensor along(const Tensor& x, const MaybeDims& dim, bool keepdim) {
  return reduce(kId, over(kId, x, dim, keepdim, {}));
}
/// The facts that all entries of a row of reduce.def share.
template <int kId>
constexpr OpFacts entry_facts() {
  OpFacts facts = kRows[kId].facts.op;
  if (kRows[kId].shown != ReduceShown::DimOrAll) facts.fast.along = along<kId>;
  return facts;
}
template <int kId>
inline constexpr OpFacts kEntryFacts = entry_facts<kId>();

constexpr uint32_t kBoth = kFunction | kMethod;
/// Sums of floats depend on the order of additions, and that on the strides.
constexpr uint32_t kSummed = kBoth | kLayoutMatters;

#define TS_SHOW_Hidden(NAME, DOC)
#define TS_SHOW_AllOrDims(NAME, DOC)                                                                             \
  TS_OP_OF(kEntryFacts<r_##NAME>, NAME, #NAME "(Tensor self, *, ScalarType? dtype=None) -> Tensor", DOC,         \
           kRows[r_##NAME].facts.whole_has_out ? kSummed | kOut : kSummed, Form<r_##NAME TS_COMMA whole_typed>,  \
           "f[3,4]\nf[40,50]\nf[3,4], dtype=float64\nf[0]\nc[3,4]");                                             \
  TS_OP_OF(kEntryFacts<r_##NAME>, NAME,                                                                          \
           #NAME ".dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", DOC, \
           kSummed | kOut, Form<r_##NAME TS_COMMA dims_typed>,                                                   \
           "f[3,4], 1\nf[3,4], [0, 1], True\nf[3,40], 0\nf[3,40].t, 0\nf[3,4,5], [0, 2]\n"                       \
           "f[3,4], 2 -> IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)\n"   \
           "f[3,4], [1, 1] -> RuntimeError: dim 1 appears multiple times in the list of dims")
#define TS_SHOW_AllOrDim(NAME, DOC)                                                                               \
  TS_OP_OF(kEntryFacts<r_##NAME>, NAME, #NAME "(Tensor self, *, ScalarType? dtype=None) -> Tensor", DOC, kSummed, \
           Form<r_##NAME TS_COMMA whole_typed>, "f[3,4]\nf[0]\nc[3,2]\ni[3]<4");                                  \
  TS_OP_OF(kEntryFacts<r_##NAME>, NAME,                                                                           \
           #NAME ".dim(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", DOC,      \
           kSummed | kOut, Form<r_##NAME TS_COMMA dim_typed>,                                                     \
           "f[3,4], 1\nf[3,4], -1, True\nc[5,4], 0\ni[3,4]<4, 0, dtype=float32\n"                                 \
           "f[3,4], 2 -> IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)")
#define TS_SHOW_DimsTyped(NAME, DOC)                                                                                  \
  TS_OP_OF(kEntryFacts<r_##NAME>, NAME,                                                                               \
           #NAME "(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", DOC,     \
           kSummed | kOut, Form<r_##NAME TS_COMMA maybe_dims_typed>,                                                  \
           "f[3,4]\nf[40,50]\nf[3,4], dtype=float64\nf[0]\ni[3]<4\nf[3,4], 1\nf[3,40].t, 0\nf[3,4,5], [0, 2], True\n" \
           "f[3,4], 2 -> IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)\n"        \
           "f[3,4], [1, 1] -> RuntimeError: dim 1 appears multiple times in the list of dims")
#define TS_SHOW_DimsOrAll(NAME, DOC)                                                                              \
  TS_OP_OF(kEntryFacts<r_##NAME>, NAME, #NAME "(Tensor self, int[1]? dim=[], bool keepdim=False) -> Tensor", DOC, \
           kBoth | kOut, Form<r_##NAME TS_COMMA dims_kept>,                                                       \
           "f[3,4]\nf[3,4], 1\nf[3,4,5], [0, 2], True\ni[3,4]<9, 0\nb[3,4], 1\n"                                  \
           "f[0] -> RuntimeError: " #NAME                                                                         \
           "(): Expected reduction dim to be specified for input.numel() == 0.\n"                                 \
           "f[0,3], 0 -> IndexError: " #NAME "(): Expected reduction dim 0 to have non-zero size.")
#define TS_SHOW_DimOrAll(NAME, DOC)                                                                                   \
  TS_OP_OF(kEntryFacts<r_##NAME>, NAME, #NAME "(Tensor self, int? dim=None) -> Tensor", DOC, kBoth | kNoGrad,         \
           Form<r_##NAME TS_COMMA dim_only>, "b[3,4]\nf[3,4], 1\ni[3,4]<2, 0");                                       \
  TS_OP_OF(kEntryFacts<r_##NAME>, NAME, #NAME ".dim_IntList(Tensor self, int[] dim) -> Tensor", DOC, kBoth | kNoGrad, \
           Form<r_##NAME TS_COMMA dims_only>, "b[3,4], [0, 1]\nf[2,3,4], [0, 2]\ni[2]<2, []")
#define TS_SHOW_Truth(NAME, DOC)                                                                                   \
  TS_OP_OF(kEntryFacts<r_##NAME>, NAME, #NAME "(Tensor self) -> Tensor", DOC, kBoth | kNoGrad,                     \
           Form<r_##NAME TS_COMMA whole>, "b[3,4]\nf[3,4]\nb[0]\nc[3]");                                           \
  TS_OP_OF(kEntryFacts<r_##NAME>, NAME, #NAME ".dim(Tensor self, int dim, bool keepdim=False) -> Tensor", DOC,     \
           kBoth | kNoGrad | kOut, Form<r_##NAME TS_COMMA dim_kept>, "b[3,4], 1\ni[3,4]<2, 0, True\nf[3,4], -1");  \
  TS_OP_OF(kEntryFacts<r_##NAME>, NAME, #NAME ".dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", \
           DOC, kBoth | kNoGrad | kOut, Form<r_##NAME TS_COMMA dims_as_given>,                                     \
           "b[3,4], [0, 1]\ni[2,3,4]<2, [0, 2], True\nf[3,4], []\nb[3,4], None, True")
#define TS_COMMA ,
#define REDUCE(NAME, CLASS, SHOWN, DOC, ...) TS_SHOW_##SHOWN(NAME, DOC);
#include "runtime/ops/reduce.def"
#undef REDUCE

}  // namespace

// ---- C++ functions ----

#define TS_FUNCTION_Hidden(NAME)
#define TS_FUNCTION(NAME)                                                             \
  Tensor NAME(const Tensor& x, const MaybeDims& dim, bool keepdim, MaybeType dtype) { \
    return reduce(r_##NAME, over(r_##NAME, x, dim, keepdim, dtype));                  \
  }
#define TS_FUNCTION_AllOrDims TS_FUNCTION
#define TS_FUNCTION_AllOrDim TS_FUNCTION
#define TS_FUNCTION_DimsTyped TS_FUNCTION
#define TS_FUNCTION_DimsOrAll TS_FUNCTION
#define TS_FUNCTION_DimOrAll TS_FUNCTION
#define TS_FUNCTION_Truth TS_FUNCTION
#define REDUCE(NAME, CLASS, SHOWN, ...) TS_FUNCTION_##SHOWN(NAME)
#include "runtime/ops/reduce.def"
#undef REDUCE

Tensor sum_to_size(const Tensor& g, Ints sizes) {
  if (g.sizes() == sizes) return g;
  uint64_t mask = 0;
  const size_t lead = g.sizes().size() - sizes.size();
  for (size_t d = 0; d < g.sizes().size(); d++)
    if (d < lead || (sizes[d - lead] == 1 && g.sizes()[d] != 1)) mask |= uint64_t(1) << d;
  const Tensor out = mask ? reduce(r_sum, {g, mask, true, g.dtype(), 0, "SumBackward1"}) : g;
  return out.sizes() == sizes ? out : reshape(out, sizes);
}

}  // namespace tessera::tensor
