// Matrix products. All of them end in one gemm call on strided matrices; an operand is copied only when neither it nor
// its transpose has rows without gaps.
#include <algorithm>

#include "runtime/device/backend.h"
#include "runtime/autograd/node.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

// The last two dimensions of a tensor as gemm reads them.
struct Matrix {
  Tensor tensor;  // keeps a copy alive
  int64_t ld;
  bool transpose;
};

Matrix as_matrix(const Tensor& t) {
  size_t n = t.sizes().size();
  int64_t rows = t.sizes()[n - 2], cols = t.sizes()[n - 1], sr = t.strides()[n - 2], sc = t.strides()[n - 1];
  if ((sc == 1 || cols == 1) && (sr >= std::max<int64_t>(1, cols) || rows == 1))
    return {t, rows == 1 ? std::max<int64_t>(1, cols) : sr, false};
  if ((sr == 1 || rows == 1) && (sc >= std::max<int64_t>(1, rows) || cols == 1))
    return {t, cols == 1 ? std::max<int64_t>(1, rows) : sc, true};
  GradMode off(false);
  return {contiguous(t), std::max<int64_t>(1, cols), false};
}

void check_types(const Tensor& a, const Tensor& b) {
  check(a.dtype() == b.dtype(), TensorErrorKind::Runtime, "expected scalar type ", scalar_type_name(a.dtype()),
        " but found ", scalar_type_name(b.dtype()));
  check(!is_bool(a.dtype()), TensorErrorKind::Runtime, "\"addmm_impl_cpu_\" not implemented for 'Bool'");
  if (a.device() != b.device()) {
    const Tensor* both[] = {&a, &b};
    check(a.dim() > 0 && b.dim() > 0, TensorErrorKind::Runtime, "both arguments to matmul need to be at least 1D");
    common_device(both, 2);
  }
}

void check_mm_shapes(const Tensor& a, const Tensor& b) {
  check(a.sizes()[1] == b.sizes()[0], TensorErrorKind::Runtime, "mat1 and mat2 shapes cannot be multiplied (",
        a.sizes()[0], 'x', a.sizes()[1], " and ", b.sizes()[0], 'x', b.sizes()[1], ')');
}

// out (contiguous, ... x m x n) = alpha * a b + beta * out
void run_gemm(const Tensor& out, const Tensor& a_given, const Tensor& b_given, double alpha = 1, double beta = 0) {
  if (out.numel() == 0) return;
  Matrix a = as_matrix(a_given), b = as_matrix(b_given);
  size_t n = out.sizes().size();
  bool batched = n == 3;
  GemmCall c{out.dtype(),
             out.sizes()[n - 2],
             out.sizes()[n - 1],
             a_given.sizes()[n - 1],
             alpha,
             beta,
             a.tensor.data_ptr(),
             a.ld,
             batched ? a.tensor.strides()[0] : 0,
             a.transpose,
             b.tensor.data_ptr(),
             b.ld,
             batched ? b.tensor.strides()[0] : 0,
             b.transpose,
             out.data_ptr(),
             out.sizes()[n - 1],
             batched ? out.strides()[0] : 0,
             batched ? out.sizes()[0] : 1};
  if (c.k == 0) {
    if (beta == 0) fill_into(out, 0);
    else if (beta != 1) copy_into(out, out * beta);
    return;
  }
  gemm_kernel(out.device(), c);
}

Tensor flip(const Tensor& x) { return transpose(x, -2, -1); }

struct MmNode final : Node {
  MmNode(const char* node_name, const Tensor& a, const Tensor& b) : Node(node_name) {
    if (b.requires_grad()) saved_a = SavedTensor(a);
    if (a.requires_grad()) saved_b = SavedTensor(b);
    add_input(a);
    add_input(b);
  }
  void backward(const TensorList& grads, TensorList& out) override {
    const Tensor& g = grads[0];
    if (!g.defined()) return;
    bool batched = g.dim() == 3;
    if (needs(0)) out[0] = batched ? bmm(g, flip(saved_b.get(this))) : mm(g, flip(saved_b.get(this)));
    if (needs(1)) out[1] = batched ? bmm(flip(saved_a.get(this)), g) : mm(flip(saved_a.get(this)), g);
  }
  void release_saved() override {
    saved_a.reset();
    saved_b.reset();
  }
  SavedTensor saved_a, saved_b;
};

struct MvNode final : Node {
  MvNode(const Tensor& a, const Tensor& v) : Node("MvBackward0") {
    if (v.requires_grad()) saved_a = SavedTensor(a);
    if (a.requires_grad()) saved_v = SavedTensor(v);
    add_input(a);
    add_input(v);
  }
  void backward(const TensorList& grads, TensorList& out) override {
    if (!grads[0].defined()) return;
    if (needs(0)) out[0] = outer(grads[0], saved_v.get(this));
    if (needs(1)) out[1] = mv(flip(saved_a.get(this)), grads[0]);
  }
  void release_saved() override {
    saved_a.reset();
    saved_v.reset();
  }
  SavedTensor saved_a, saved_v;
};

struct DotNode final : Node {
  DotNode(const Tensor& a, const Tensor& b) : Node("DotBackward0"), saved_a(a), saved_b(b) {
    add_input(a);
    add_input(b);
  }
  void backward(const TensorList& grads, TensorList& out) override {
    if (!grads[0].defined()) return;
    if (needs(0)) out[0] = grads[0] * saved_b.get(this);
    if (needs(1)) out[1] = grads[0] * saved_a.get(this);
  }
  void release_saved() override {
    saved_a.reset();
    saved_b.reset();
  }
  SavedTensor saved_a, saved_b;
};

// beta * bias + alpha * a b, for mm and bmm; `weight` is b as the caller has it when b is its transpose.
struct AddmmNode final : Node {
  AddmmNode(const char* node_name, const Tensor& bias, const Tensor& a, const Tensor& b, double beta_value,
            double alpha_value, bool b_is_transposed)
      : Node(node_name), bias_shape(bias.sizes()), beta(beta_value), alpha(alpha_value), transposed(b_is_transposed) {
    if (b.requires_grad()) saved_a = SavedTensor(a);
    if (a.requires_grad()) saved_b = SavedTensor(b);
    add_input(bias);
    add_input(a);
    add_input(b);
  }
  void backward(const TensorList& grads, TensorList& out) override {
    const Tensor& g = grads[0];
    if (!g.defined()) return;
    auto product = g.dim() == 3 ? static_cast<Tensor (*)(const Tensor&, const Tensor&)>(&bmm) : &mm;
    if (needs(0)) out[0] = scaled(sum_to_size(g, bias_shape), beta);
    if (needs(1)) {
      Tensor b = saved_b.get(this);
      out[1] = scaled(product(g, transposed ? b : flip(b)), alpha);
    }
    if (needs(2)) {
      Tensor a = saved_a.get(this);
      out[2] = scaled(transposed ? product(flip(g), a) : product(flip(a), g), alpha);
    }
  }
  static Tensor scaled(const Tensor& x, double k) { return k == 1.0 ? x : x * k; }
  void release_saved() override {
    saved_a.reset();
    saved_b.reset();
  }
  SavedTensor saved_a, saved_b;
  Dims bias_shape;
  double beta, alpha;
  bool transposed;
};

Tensor start_with(const Tensor& bias, Ints shape, double beta) {
  Tensor out = Tensor::empty(shape, bias.dtype(), bias.device());
  if (beta != 0.0) copy_into(out, bias);
  return out;
}

void check_expands(const Tensor& bias, Ints shape) {
  Ints from = bias.sizes();
  check(from.size() <= shape.size(), TensorErrorKind::Runtime, "The number of sizes provided (", shape.size(),
        ") must be greater or equal to the number of dimensions in the tensor (", from.size(), ")");
  for (size_t i = 1; i <= from.size(); i++) {
    int64_t have = from[from.size() - i], want = shape[shape.size() - i];
    check(have == want || have == 1, TensorErrorKind::Runtime, "The expanded size of the tensor (", want,
          ") must match the existing size (", have, ") at non-singleton dimension ", shape.size() - i,
          ".  Target sizes: ", shape, ".  Tensor sizes: ", from);
  }
}

}  // namespace

Tensor mm(const Tensor& a, const Tensor& b) {
  check(a.dim() == 2, TensorErrorKind::Runtime, "self must be a matrix");
  check(b.dim() == 2, TensorErrorKind::Runtime, "mat2 must be a matrix");
  check_mm_shapes(a, b);
  check_types(a, b);
  Tensor out;
  if (a.sizes()[1] == 1) {  // nothing to add up
    const GradMode no_grad(false);
    out = mul(a, b);
  } else {
    out = Tensor::empty({a.sizes()[0], b.sizes()[1]}, a.dtype(), a.device());
    run_gemm(out, a, b);
  }
  if (needs_grad(a, b)) set_history(out, make_counted<MmNode>("MmBackward0", a, b));
  return out;
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  check(a.dim() == 3, TensorErrorKind::Runtime, "batch1 must be a 3D tensor");
  check(b.dim() == 3, TensorErrorKind::Runtime, "batch2 must be a 3D tensor");
  check(a.sizes()[0] == b.sizes()[0] && a.sizes()[2] == b.sizes()[1], TensorErrorKind::Runtime,
        "Expected size for first two dimensions of batch2 tensor to be: [", a.sizes()[0], ", ", a.sizes()[2],
        "] but got: [", b.sizes()[0], ", ", b.sizes()[1], "].");
  check_types(a, b);
  Tensor out = Tensor::empty({a.sizes()[0], a.sizes()[1], b.sizes()[2]}, a.dtype(), a.device());
  run_gemm(out, a, b);
  if (needs_grad(a, b)) set_history(out, make_counted<MmNode>("BmmBackward0", a, b));
  return out;
}

Tensor mv(const Tensor& a, const Tensor& v) {
  check(a.dim() == 2 && v.dim() == 1, TensorErrorKind::Runtime, "vector + matrix @ vector expected, got 1, ", a.dim(),
        ", ", v.dim());
  check(a.sizes()[1] == v.sizes()[0], TensorErrorKind::Runtime, "size mismatch, got ", a.sizes()[0], ", ", a.sizes()[0],
        'x', a.sizes()[1], ',', v.sizes()[0]);
  check_types(a, v);
  Tensor out = Tensor::empty({a.sizes()[0]}, a.dtype(), a.device());
  run_gemm(out.view_of({out.numel(), 1}, {1, 1}), a, v.view_of({v.numel(), 1}, {v.strides()[0], 1}));
  if (needs_grad(a, v)) set_history(out, make_counted<MvNode>(a, v));
  return out;
}

Tensor dot(const Tensor& a, const Tensor& b) {
  check(a.dim() == 1 && b.dim() == 1, TensorErrorKind::Runtime, "1D tensors expected, but got ", a.dim(), "D and ",
        b.dim(), "D tensors");
  check(a.dtype() == b.dtype(), TensorErrorKind::Runtime, "dot : expected both vectors to have same dtype, but found ",
        scalar_type_name(a.dtype()), " and ", scalar_type_name(b.dtype()));
  check(a.numel() == b.numel(), TensorErrorKind::Runtime, "inconsistent tensor size, expected tensor [", a.numel(),
        "] and src [", b.numel(), "] to have the same number of elements, but got ", a.numel(), " and ", b.numel(),
        " elements respectively");
  check_types(a, b);
  Tensor out = Tensor::empty({}, a.dtype(), a.device());
  int64_t n = a.numel();
  run_gemm(out.view_of({1, 1}, {1, 1}), a.view_of({1, n}, {std::max<int64_t>(n, 1), a.strides()[0]}),
           b.view_of({n, 1}, {b.strides()[0], 1}));
  if (needs_grad(a, b)) set_history(out, make_counted<DotNode>(a, b));
  return out;
}

Tensor outer(const Tensor& a, const Tensor& b) {
  check(a.dim() == 1, TensorErrorKind::Runtime, "outer: Expected 1-D argument self, but got ", a.dim(), "-D");
  check(b.dim() == 1, TensorErrorKind::Runtime, "outer: Expected 1-D argument vec2, but got ", b.dim(), "-D");
  return mul(unsqueeze(a, 1), b);
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  int64_t da = a.dim(), db = b.dim();
  if (da == 2 && db == 2) return mm(a, b);
  check(da != 0 && db != 0, TensorErrorKind::Runtime, "both arguments to matmul need to be at least 1D, but they are ",
        da, "D and ", db, 'D');
  if (da == 1 && db == 1) return dot(a, b);
  if (da == 2 && db == 1) return mv(a, b);
  if (da == 1 && db == 2) return squeeze(mm(unsqueeze(a, 0), b), 0);
  if (da == 3 && db == 3 && a.sizes()[0] == b.sizes()[0]) return bmm(a, b);
  if (da >= 3 && db <= 2) {  // all rows of a in one product
    Tensor rows = reshape(a, {-1, a.size(-1)});
    Tensor flat = db == 1 ? mv(rows, b) : mm(rows, b);
    Dims shape(a.sizes().first(size_t(da - 1)));
    if (db == 2) shape.push_back(b.sizes()[1]);
    return view(flat, shape);
  }
  Tensor left = da == 1 ? unsqueeze(a, 0) : a, right = db == 1 ? unsqueeze(b, 1) : b;
  Ints ls = left.sizes(), rs = right.sizes();
  Dims batch = broadcast_shapes(ls.first(ls.size() - 2), rs.first(rs.size() - 2));
  auto stack_of = [&](const Tensor& x) {
    Dims full = batch;
    full.push_back(x.size(-2));
    full.push_back(x.size(-1));
    return reshape(expand(x, full), {numel_of(batch), x.size(-2), x.size(-1)});
  };
  Tensor product = bmm(stack_of(left), stack_of(right));
  Dims shape = batch;
  if (da > 1) shape.push_back(left.size(-2));
  if (db > 1) shape.push_back(right.size(-1));
  return view(product, shape);
}

Tensor addmm(const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  check(a.dim() == 2, TensorErrorKind::Runtime, "mat1 must be a matrix, got ", a.dim(), "-D tensor");
  check(b.dim() == 2, TensorErrorKind::Runtime, "mat2 must be a matrix, got ", b.dim(), "-D tensor");
  check_mm_shapes(a, b);
  check(bias.dtype() == b.dtype(), TensorErrorKind::Runtime, "self and mat2 must have the same dtype");
  check_types(a, b);
  check_expands(bias, {a.sizes()[0], b.sizes()[1]});
  Tensor out = start_with(bias, {a.sizes()[0], b.sizes()[1]}, beta.to_double());
  run_gemm(out, a, b, alpha.to_double(), beta.to_double());
  if (needs_grad(bias, a, b))
    set_history(out, make_counted<AddmmNode>("AddmmBackward0", bias, a, b, beta.to_double(), alpha.to_double(), false));
  return out;
}

Tensor baddbmm(const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  check(a.dim() == 3, TensorErrorKind::Runtime, "batch1 must be a 3D tensor");
  check(b.dim() == 3, TensorErrorKind::Runtime, "batch2 must be a 3D tensor");
  check(a.sizes()[0] == b.sizes()[0] && a.sizes()[2] == b.sizes()[1], TensorErrorKind::Runtime,
        "Expected size for first two dimensions of batch2 tensor to be: [", a.sizes()[0], ", ", a.sizes()[2],
        "] but got: [", b.sizes()[0], ", ", b.sizes()[1], "].");
  check_types(a, b);
  Dims shape{a.sizes()[0], a.sizes()[1], b.sizes()[2]};
  check_expands(bias, shape);
  Tensor out = start_with(bias, shape, beta.to_double());
  run_gemm(out, a, b, alpha.to_double(), beta.to_double());
  if (needs_grad(bias, a, b))
    set_history(out,
                make_counted<AddmmNode>("BaddbmmBackward0", bias, a, b, beta.to_double(), alpha.to_double(), false));
  return out;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (x.dim() != 2 || weight.dim() != 2) {
    if (x.dim() > 2 && weight.dim() == 2) {
      Dims shape(x.sizes());
      Tensor flat = linear(reshape(x, {-1, x.size(-1)}), weight, bias);
      shape.back() = weight.sizes()[0];
      return view(flat, shape);
    }
    Tensor product = matmul(x, weight.dim() == 2 ? transpose(weight, 0, 1) : weight);
    return bias.defined() ? add(product, bias) : product;
  }
  check(x.sizes()[1] == weight.sizes()[1], TensorErrorKind::Runtime, "mat1 and mat2 shapes cannot be multiplied (",
        x.sizes()[0], 'x', x.sizes()[1], " and ", weight.sizes()[1], 'x', weight.sizes()[0], ')');
  check_types(x, weight);
  if (!bias.defined()) return mm(x, transpose(weight, 0, 1));
  check(bias.dtype() == x.dtype(), TensorErrorKind::Runtime, "expected scalar type ", scalar_type_name(x.dtype()),
        " but found ", scalar_type_name(bias.dtype()));
  Dims shape{x.sizes()[0], weight.sizes()[0]};
  check_expands(bias, shape);
  Tensor out = start_with(bias, shape, 1.0);
  Ints w = weight.strides();
  run_gemm(out, x, weight.view_of({weight.sizes()[1], weight.sizes()[0]}, {w[1], w[0]}), 1.0, 1.0);
  if (needs_grad(bias, x, weight))
    set_history(out, make_counted<AddmmNode>("AddmmBackward0", bias, x, weight, 1.0, 1.0, true));
  return out;
}

namespace {

constexpr uint32_t kBoth = kFunction | kMethod | kOut;
FastPaths binary_path(BinaryFast f) {
  FastPaths paths;
  paths.binary = f;
  return paths;
}
Tensor matmul_fast(const Tensor& a, const Tensor& b, unsigned) { return matmul(a, b); }
Tensor linear_op(const Tensor& x, const Tensor& w, const OptionalTensor& b) {
  return linear(x, w, b.value_or(Tensor()));
}

const OpRegistration matmul_op{
    "matmul",
    "matmul(Tensor self, Tensor other) -> Tensor",
    "The matrix product, batched and broadcast.",
    kBoth,
    box<&matmul>,
    binary_path(matmul_fast),
    0,
    "f[2,3], f[3,4]\n"
    "f[3], f[3]\n"
    "f[2,2,3], f[3,2]\n"
    "f[3], f[2,3,4]\n"
    "f[4,3].t, f[3,2]\n"
    "f[2,3], f[2,3] -> RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"};
TS_OP(mm, "mm(Tensor self, Tensor mat2) -> Tensor", "The product of two matrices.", kBoth, &mm,
      "f[2,3], f[3,4]\n"
      "f[2,0], f[0,3]\n"
      "f[2,3], f[3] -> RuntimeError: mat2 must be a matrix");
TS_OP(bmm, "bmm(Tensor self, Tensor mat2) -> Tensor", "The products of two stacks of matrices.", kBoth, &bmm,
      "f[2,2,3], f[2,3,4]");
TS_OP(mv, "mv(Tensor self, Tensor vec) -> Tensor", "Matrix times vector.", kBoth, &mv, "f[2,3], f[3]");
TS_OP(
    dot, "dot(Tensor self, Tensor tensor) -> Tensor", "The sum of products of two vectors.", kBoth, &dot,
    "f[3], f[3]\n"
    "f[3], f[2] -> RuntimeError: inconsistent tensor size, expected tensor [3] and src [2] to have the same number of elements, but got 3 and 2 elements respectively");
TS_OP(outer, "outer(Tensor self, Tensor vec2) -> Tensor", "All products of two vectors' elements.", kBoth, &outer,
      "f[3], f[2]");
TS_OP(addmm, "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * (mat1 @ mat2).", kBoth | kInplace, &addmm,
      "f[4], f[2,3], f[3,4], beta=0.5, alpha=2\n"
      "f[2,4], f[2,3], f[3,4]");
TS_OP(baddbmm, "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * (batch1 @ batch2).", kBoth | kInplace, &baddbmm,
      "f[2,2,4], f[2,2,3], f[2,3,4], beta=0.5, alpha=2");
TS_OP(linear, "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", "input @ weight.T + bias.",
      kFunctional, &linear_op,
      "f[2,3], f[4,3], f[4]\n"
      "f[3], f[4,3]\n"
      "f[2,2,3], f[4,3], f[4]");

}  // namespace
}  // namespace tessera::tensor
