// Matrix products. All of them end in one gemm call on strided matrices; an operand is copied only when neither it nor
// its transpose has rows without gaps.
#include <algorithm>

#include "runtime/context.h"
#include "runtime/device/backend.h"
#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/ops/batching.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/linear.h"
#include "runtime/ops/out_types.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<LinearCall> linear_kernel("linear");

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
  check(!is_bool(a.dtype()) || words_are_cudas(a.device()), TensorErrorKind::NotImplemented,
        "\"addmm_impl_cpu_\" not implemented for 'Bool'");
  if (a.device() != b.device()) [[unlikely]]
    fail_two_devices(a.device(), b.device());
}

void check_addmm_types(const Tensor& bias, const Tensor& a, const Tensor& b) {
  check(bias.dtype() == b.dtype(), TensorErrorKind::Runtime, "self and mat2 must have the same dtype, but got ",
        scalar_type_name(bias.dtype()), " and ", scalar_type_name(b.dtype()));
  check(a.dtype() == b.dtype(), TensorErrorKind::Runtime, "mat1 and mat2 must have the same dtype, but got ",
        scalar_type_name(a.dtype()), " and ", scalar_type_name(b.dtype()));
}

void check_mm_shapes(const char* op, const Tensor& a, const Tensor& b) {
  check(a.sizes()[1] == b.sizes()[0], TensorErrorKind::Runtime, op, ": mat1 and mat2 shapes cannot be multiplied (",
        a.sizes()[0], 'x', a.sizes()[1], " and ", b.sizes()[0], 'x', b.sizes()[1], ')');
}

constexpr KernelName kAddmm = {"addmm_impl_cpu_", "addmm_cuda"};

// Refuses dtypes of which the device has no products. Without elements none is asked for.
void check_kernel_type(const Tensor& out, KernelName kernel) {
  if (!out.device().is_cpu() && out.numel() > 0 && !traits_of(out.device()).products.has(out.dtype()))
    refuse_type(out, kernel);
}

void run_gemm(const Tensor& out, const Tensor& a, const Tensor& b, double alpha = 1, double beta = 0,
              KernelName kernel = {});

// PyTorch has products of two matrices and convolutions of float8, and convolutions of complex32.
[[gnu::cold]] void refuse_small_product(const Tensor& out, KernelName kernel) {
  if (!kernel && (out.dim() == 3 || is_float8(out.dtype()))) return;  // 3: of a convolution
  refuse_type(out, kernel ? kernel : kAddmm);
}

// Four real products of the parts.
void run_complex_gemm(const Tensor& out, const Tensor& a, const Tensor& b, double alpha, double beta) {
  const Tensor ar = contiguous(real(a)), ai = contiguous(imag(a)), br = contiguous(real(b)), bi = contiguous(imag(b));
  const Tensor re = beta == 0 ? Tensor::empty(out.sizes(), ar.dtype(), out.device()) : contiguous(real(out));
  const Tensor im = beta == 0 ? Tensor::empty(out.sizes(), ar.dtype(), out.device()) : contiguous(imag(out));
  run_gemm(re, ar, br, alpha, beta);
  run_gemm(re, ai, bi, -alpha, 1);
  run_gemm(im, ar, bi, alpha, beta);
  run_gemm(im, ai, br, alpha, 1);
  copy_into(real(out), re);
  copy_into(imag(out), im);
}

// One product, or one for each of the first dimension.
GemmCall gemm_of(const Tensor& out, const Tensor& a_given, const Matrix& a, const Matrix& b, double alpha,
                 double beta) {
  size_t n = out.sizes().size();
  bool batched = n == 3;
  return {out.dtype(),
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
          batched ? out.sizes()[0] : 1,
          Context::current().tf32};
}

// out (contiguous, ... x m x n) = alpha * a b + beta * out
void run_gemm(const Tensor& out, const Tensor& a_given, const Tensor& b_given, double alpha, double beta,
              KernelName kernel) {
  if (out.numel() == 0) return;
  if (kSmallTypes.has(out.dtype()) && a_given.sizes().back() != 0) refuse_small_product(out, kernel);
  check_kernel_type(out, kernel ? kernel : out.dim() == 3 ? KernelName("bmm", "baddbmm_cuda") : kAddmm);
  if (is_complex(out.dtype()) && out.device().is_cpu()) return run_complex_gemm(out, a_given, b_given, alpha, beta);
  const Matrix a = as_matrix(a_given), b = as_matrix(b_given);
  const GemmCall c = gemm_of(out, a_given, a, b, alpha, beta);
  if (c.k == 0) {
    if (beta == 0) fill_into(out, 0);
    else if (beta != 1) copy_into(out, to_dtype(out, wide_type(out.dtype())) * beta);
    return;
  }
  gemm_kernel(out.device(), c);
}

Tensor flip(const Tensor& x) { return transpose(x, -2, -1); }

// The adjoint of the last two dimensions: what the gradient of a product is multiplied by.
Tensor adjoint_of(const Tensor& x) { return conj(flip(x)); }
/// The gradient of k * x.
Tensor scaled(const Tensor& g, const Scalar& k) {
  if (k.is_complex()) return g * Scalar(std::conj(k.to_complex()));
  return k.equals(1) ? g : g * k;
}
Tensor product(const Tensor& a, const Tensor& b) { return a.dim() == 3 ? bmm(a, b) : mm(a, b); }
SavedTensor keep_if(bool wanted, const Tensor& t) { return wanted ? SavedTensor(t) : SavedTensor(); }

// a b, both matrices or both batches of them. Each operand is kept only for the other's gradient.
void record_product(Tensor& out, const char* name, const Tensor& a, const Tensor& b) {
  record(out, name, {&a, &b}, Kept<2>{{keep_if(b.is_tracked(), a), keep_if(a.is_tracked(), b)}}, [](Sweep& s) {
    s.give(0, [&] { return product(s.g(), adjoint_of(s.kept(1))); });
    s.give(1, [&] { return product(adjoint_of(s.kept(0)), s.g()); });
  });
}

// beta * bias + alpha * a b; with `transposed` b is given as its transpose, as a layer keeps its weight.
void record_sum_and_product(Tensor& out, const char* name, const Tensor& bias, const Tensor& a, const Tensor& b,
                            Scalar beta, Scalar alpha, bool transposed) {
  record(out, name, {&bias, &a, &b}, Kept<2>{{keep_if(b.is_tracked(), a), keep_if(a.is_tracked(), b)}},
         [shape = Dims(bias.sizes()), beta, alpha, transposed](Sweep& s) {
           const Tensor& g = s.g();
           s.give(0, [&] { return scaled(sum_to_size(g, shape), beta); });
           s.give(1, [&] {
             const Tensor w = s.kept(1);
             return scaled(product(g, transposed ? conj(w) : adjoint_of(w)), alpha);
           });
           s.give(2, [&] {
             const Tensor x = s.kept(0);
             return scaled(transposed ? product(flip(g), conj(x)) : product(adjoint_of(x), g), alpha);
           });
         });
}

void start_with(const Tensor& out, const Tensor& bias, double beta) {
  if (beta != 0.0) copy_into(out, bias);
}

void check_expands(const Tensor& bias, Ints shape) {
  if (bias.sizes() != shape) expand(bias, shape);
}

// The size of a dimension of what may have fewer dimensions than it should.
int64_t size_of(const Tensor& t, int64_t dim) {
  check(t.dim() > 0, TensorErrorKind::Index, "Dimension specified as ", dim, " but tensor has no dimensions");
  return t.size(dim);
}

void check_same_products(const Tensor& a, const Tensor& b) {
  check(a.dtype() == b.dtype(), TensorErrorKind::Runtime,
        "expected m1 and m2 to have the same dtype, but got: ", cpp_name(a.dtype()), " != ", cpp_name(b.dtype()));
}

// Small products have a kernel of their own in PyTorch, with its own words, and so have those that MKL computes.
void check_batch_types(const Tensor& a, const Tensor& b, const char* kernel) {
  const bool small = a.sizes()[1] * a.sizes()[2] * b.sizes()[2] < 400;
  const bool in_library = (is_floating(b.dtype()) && !is_half(b.dtype())) || is_complex(b.dtype());
  if (!small && in_library && std::string_view(kernel) == "bmm")
    check(a.dtype() == b.dtype(), TensorErrorKind::Runtime, "expected scalar type ", scalar_type_name(b.dtype()),
          " but found ", scalar_type_name(a.dtype()));
  if (!small) check_same_products(a, b);
  check(!small || !is_bool(a.dtype()) || words_are_cudas(a.device()), TensorErrorKind::NotImplemented, '"', kernel,
        "\" not implemented for 'Bool'");
  check_types(a, b);
}

void check_batches(const Tensor& a, const Tensor& b) {
  check(a.dim() == 3, TensorErrorKind::Runtime, "batch1 must be a 3D tensor");
  check(b.dim() == 3, TensorErrorKind::Runtime, "batch2 must be a 3D tensor");
  check(a.sizes()[0] == b.sizes()[0] && a.sizes()[2] == b.sizes()[1], TensorErrorKind::Runtime,
        "Expected size for first two dimensions of batch2 tensor to be: [", a.sizes()[0], ", ", a.sizes()[2],
        "] but got: [", b.sizes()[0], ", ", b.sizes()[1], "].");
}

struct Mm {
  static constexpr Forward forward = Forward::EachOperand;
  static Meta shape(const Tensor& a, const Tensor& b) {
    check(a.dim() == 2, TensorErrorKind::Runtime, "mm: self must be a matrix, got ", a.dim(), "-D tensor");
    check(b.dim() == 2, TensorErrorKind::Runtime, "mm: mat2 must be a matrix, got ", b.dim(), "-D tensor");
    check_one_device("wrapper_CUDA_mm", {{"self", a}, {"mat2", b}});
    check_mm_shapes("mm", a, b);
    check_same_products(a, b);
    check_types(a, b);
    return {{a.sizes()[0], b.sizes()[1]}, a};
  }
  static void run(const Tensor& out, const Tensor& a, const Tensor& b) {
    if (a.sizes()[1] != 1 || !out.device().is_cpu()) return run_gemm(out, a, b);
    const Operand in[] = {a, b};  // nothing to add up
    run_pointwise(pointwise::k_mul, in, nullptr, &out);
  }
  static void grad(Tensor& out, const Tensor& a, const Tensor& b) { record_product(out, "MmBackward0", a, b); }
};

struct Bmm {
  static constexpr Forward forward = Forward::EachOperand;
  static Meta shape(const Tensor& a, const Tensor& b) {
    check_one_device("wrapper_CUDA_bmm", {{"self", a}, {"mat2", b}});
    check_batches(a, b);
    check_batch_types(a, b, "bmm");
    return {{a.sizes()[0], a.sizes()[1], b.sizes()[2]}, a};
  }
  static void run(const Tensor& out, const Tensor& a, const Tensor& b) { run_gemm(out, a, b); }
  static void grad(Tensor& out, const Tensor& a, const Tensor& b) { record_product(out, "BmmBackward0", a, b); }
};

struct Mv {
  static constexpr Forward forward = Forward::EachOperand;
  static Meta shape(const Tensor& a, const Tensor& v) {
    // PyTorch makes the result beside the vector and adds the product to it.
    check_one_device("wrapper_CUDA_addmv_", {{"self", v}, {"mat", a}});
    const int64_t rows = size_of(a, 0);
    check(a.dim() == 2 && v.dim() == 1, TensorErrorKind::Runtime, "vector + matrix @ vector expected, got 1, ", a.dim(),
          ", ", v.dim());
    check(a.sizes()[1] == v.sizes()[0], TensorErrorKind::Runtime, "size mismatch, got input (", rows, "), mat (", rows,
          'x', a.sizes()[1], "), vec (", v.sizes()[0], ')');
    check(a.dtype() == v.dtype(), TensorErrorKind::Runtime, "addmv input tensors must have the same dtype, but got ",
          scalar_type_name(v.dtype()), ", ", scalar_type_name(a.dtype()), ", and ", scalar_type_name(v.dtype()));
    check(!is_bool(a.dtype()) || a.numel() == 0 || words_are_cudas(a.device()), TensorErrorKind::NotImplemented,
          "\"addmv_impl_cpu\" not implemented for 'Bool'");
    if (!is_bool(a.dtype())) check_types(a, v);
    return {{a.sizes()[0]}, a};
  }
  static void run(const Tensor& out, const Tensor& a, const Tensor& v) {
    run_gemm(out.view_of({out.numel(), 1}, {1, 1}), a, v.view_of({v.numel(), 1}, {v.strides()[0], 1}), 1, 0,
             "addmv_impl_cpu");
  }
  static void grad(Tensor& out, const Tensor& a, const Tensor& v) {
    record(out, "MvBackward0", {&a, &v}, Kept<2>{{keep_if(v.is_tracked(), a), keep_if(a.is_tracked(), v)}},
           [](Sweep& s) {
             s.give(0, [&] { return outer(s.g(), conj(s.kept(1))); });
             s.give(1, [&] { return mv(adjoint_of(s.kept(0)), s.g()); });
           });
  }
};

struct Dot {
  static constexpr Forward forward = Forward::EachOperand;
  static Meta shape(const Tensor& a, const Tensor& b) {
    check_one_device("wrapper_CUDA__dot", {{"self", a}, {"tensor", b}});
    check(a.dim() == 1 && b.dim() == 1, TensorErrorKind::Runtime, "1D tensors expected, but got ", a.dim(), "D and ",
          b.dim(), "D tensors");
    check(a.dtype() == b.dtype(), TensorErrorKind::Runtime,
          "dot : expected both vectors to have same dtype, but found ", scalar_type_name(a.dtype()), " and ",
          scalar_type_name(b.dtype()));
    check(a.numel() == b.numel(), TensorErrorKind::Runtime, "inconsistent tensor size, expected tensor [", a.numel(),
          "] and src [", b.numel(), "] to have the same number of elements, but got ", a.numel(), " and ", b.numel(),
          " elements respectively");
    check_types(a, b);
    return {{}, a};
  }
  static void run(const Tensor& out, const Tensor& a, const Tensor& b) {
    const int64_t n = a.numel();
    run_gemm(out.view_of({1, 1}, {1, 1}), a.view_of({1, n}, {std::max<int64_t>(n, 1), a.strides()[0]}),
             b.view_of({n, 1}, {b.strides()[0], 1}), 1, 0, "dot");
  }
  static void grad(Tensor& out, const Tensor& a, const Tensor& b) {
    record(out, "DotBackward0", {&a, &b}, keep(a, b), [](Sweep& s) {
      s.give(0, [&] { return s.g() * conj(s.kept(1)); });
      s.give(1, [&] { return s.g() * conj(s.kept(0)); });
    });
  }
};

// What scales is a number that the results could hold; halves are computed as float32.
void check_factors(const Tensor& a, const Scalar& beta, const Scalar& alpha) {
  const DType type = is_half(a.dtype()) ? kFloat32 : a.dtype();
  beta.as(type), alpha.as(type);
}

// `bias` spread over a b, both matrices.
struct Addmm {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
    check_one_device("wrapper_CUDA_addmm", {{"self", bias}, {"mat1", a}, {"mat2", b}});
    check_addmm_types(bias, a, b);
    check(a.dim() == 2, TensorErrorKind::Runtime, "addmm: self must be a matrix, got ", a.dim(), "-D tensor");
    check(b.dim() == 2, TensorErrorKind::Runtime, "addmm: mat2 must be a matrix, got ", b.dim(), "-D tensor");
    check_mm_shapes("addmm", a, b);
    check_expands(bias, {a.sizes()[0], b.sizes()[1]});
    check_factors(a, beta, alpha);
    return {{a.sizes()[0], b.sizes()[1]}, a};
  }
  static void run(const Tensor& out, const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
    if (out.numel()) check_types(a, b);
    // BLAS reads no matrix if alpha is 0, so their NaNs do not reach the result; a batch is multiplied by other kernels.
    if (alpha.equals(0) && out.dim() == 2 && out.dtype() != kBFloat16 && out.dtype() != kFloat16)
      return copy_into(out, beta.equals(0) ? zeros_like(out) : expand(bias * beta, out.sizes()));
    if (is_complex(out.dtype()) && (beta.is_complex() || alpha.is_complex()))
      return copy_into(out, product(a, b) * alpha + bias * beta);
    if (out.same(bias)) {
      if (!out.is_contiguous() || &out.storage() == &a.storage() || &out.storage() == &b.storage()) {
        const Tensor apart = Tensor::empty(out.sizes(), out.dtype(), out.device());
        run(apart, bias, a, b, beta, alpha);
        return copy_into(out, apart);
      }
    } else {
      start_with(out, bias, beta.to_double());
    }
    run_gemm(out, a, b, alpha.to_double(), beta.to_double());
  }
  static void grad(Tensor& out, const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
    record_sum_and_product(out, "AddmmBackward0", bias, a, b, beta, alpha, false);
  }
};

struct Baddbmm {
  static Meta shape(const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
    check_one_device("wrapper_CUDA_baddbmm", {{"self", bias}, {"batch1", a}, {"batch2", b}});
    const int64_t batches = size_of(a, 0), rows = size_of(a, 1);
    const Dims shape{batches, rows, size_of(b, 2)};
    check_expands(bias, shape);
    check(bias.dtype() == a.dtype(), TensorErrorKind::Runtime, "Input dtypes must be the same, got: input ",
          cpp_name(bias.dtype()), ", batch1: ", cpp_name(a.dtype()), ", batch2: ", cpp_name(b.dtype()));
    check_batches(a, b);
    check_batch_types(a, b, "baddbmm");
    check_factors(a, beta, alpha);
    return {shape, a};
  }
  static void run(const Tensor& out, const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
    Addmm::run(out, bias, a, b, beta, alpha);
  }
  static void grad(Tensor& out, const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
    record_sum_and_product(out, "BaddbmmBackward0", bias, a, b, beta, alpha, false);
  }
};

// Whether the backend offered epilogue(a b + bias) whole, and did it.
bool run_linear(const Tensor& out, const Tensor& bias, const Tensor& a_given, const Tensor& b_given,
                Epilogue epilogue = Epilogue::None) {
  const Device device = out.device();
  const bool served = out.dtype() == kFloat32 || out.dtype() == kFloat64 || (is_half(out.dtype()) && !device.is_cpu());
  const bool whole = linear_kernel.has(device.type) && served && bias.dim() == 1 && bias.sizes()[0] == out.sizes()[1] &&
                     bias.is_contiguous();
  if (!whole || out.numel() == 0 || a_given.sizes()[1] == 0) return false;
  if (epilogue != Epilogue::None && out.dtype() == kFloat64) return false;  // of which cuBLASLt has none
  const Matrix a = as_matrix(a_given), b = as_matrix(b_given);
  linear_kernel(device, {gemm_of(out, a_given, a, b, 1.0, 0.0), bias.data_ptr(), epilogue});
  return true;
}

struct AddmmActivation {
  static Meta shape(const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha, bool) {
    return Addmm::shape(bias, a, b, beta, alpha);
  }
  static void run(const Tensor& out, const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha,
                  bool use_gelu) {
    const bool cpu = out.device().is_cpu();
    if (!cpu && beta.equals(1) && alpha.equals(1) &&
        run_linear(out, bias, a, b, use_gelu ? Epilogue::GeluTanh : Epilogue::Relu))
      return;
    Addmm::run(out, bias, a, b, beta, alpha);
    const Operand in[] = {out};  // PyTorch's GELU differs with the device: cuBLASLt knows that of tanh alone
    run_pointwise(!use_gelu ? pointwise::k_relu
                  : cpu     ? pointwise::k_gelu_erf
                            : pointwise::k_gelu_tanh,
                  in, nullptr, &out);
  }
  static void grad(Tensor& out, const Tensor& bias, const Tensor& a, const Tensor& b, Scalar, Scalar, bool) {
    record(out, "NotImplemented", {&bias, &a, &b},
           [](Sweep&) { fail(TensorErrorKind::Runtime, "derivative for aten::_addmm_activation is not implemented"); });
  }
};

// x weight^T + bias, of matrices: what linear does to all rows at once.
struct LinearRows {
  static Meta shape(const Tensor& bias, const Tensor& x, const Tensor& weight) {
    check_one_device("wrapper_CUDA_addmm", {{"self", bias}, {"mat1", x}, {"mat2", weight}});
    check(x.sizes()[1] == weight.sizes()[1], TensorErrorKind::Runtime,
          "addmm: mat1 and mat2 shapes cannot be multiplied (", x.sizes()[0], 'x', x.sizes()[1], " and ",
          weight.sizes()[1], 'x', weight.sizes()[0], ')');
    check_addmm_types(bias, x, weight);
    check_types(x, weight);
    const Dims shape{x.sizes()[0], weight.sizes()[0]};
    check_expands(bias, shape);
    return {shape, x};
  }
  static void run(const Tensor& out, const Tensor& bias, const Tensor& x, const Tensor& weight) {
    const Tensor w = weight.view_of({weight.sizes()[1], weight.sizes()[0]}, {weight.strides()[1], weight.strides()[0]});
    if (run_linear(out, bias, x, w)) return;
    start_with(out, bias, 1.0);
    run_gemm(out, x, w, 1.0, 1.0);
  }
  static void grad(Tensor& out, const Tensor& bias, const Tensor& x, const Tensor& weight) {
    record_sum_and_product(out, "AddmmBackward0", bias, x, weight, 1.0, 1.0, true);
  }
};

}  // namespace

Tensor mm(const Tensor& a, const Tensor& b) { return apply<Mm>(a, b); }
Tensor bmm(const Tensor& a, const Tensor& b) { return apply<Bmm>(a, b); }
Tensor mv(const Tensor& a, const Tensor& v) { return apply<Mv>(a, v); }
Tensor dot(const Tensor& a, const Tensor& b) { return apply<Dot>(a, b); }
Tensor addmm(const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  return apply<Addmm>(bias, a, b, beta, alpha);
}
Tensor baddbmm(const Tensor& bias, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  return apply<Baddbmm>(bias, a, b, beta, alpha);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  check(a.dim() == 1, TensorErrorKind::Runtime, "outer: Expected 1-D argument self, but got ", a.dim(), "-D");
  check(b.dim() == 1, TensorErrorKind::Runtime, "outer: Expected 1-D argument vec2, but got ", b.dim(), "-D");
  return mul(unsqueeze(a, 1), b);
}

namespace {

// The product of all sizes but the last: -1 would not be one number where the last is 0.
int64_t rows_of(const Tensor& x) { return numel_of(x.sizes().first(x.sizes().size() - 1)); }

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  int64_t da = a.dim(), db = b.dim();
  if (da == 2 && db == 2) return mm(a, b);
  check(da != 0 && db != 0, TensorErrorKind::Runtime, "both arguments to matmul need to be at least 1D, but they are ",
        da, "D and ", db, 'D');
  if (da == 1 && db == 1) return dot(a, b);
  if (da == 2 && db == 1) return mv(a, b);
  if (da == 1 && db == 2) return squeeze(mm(unsqueeze(a, 0), b), 0);
  if (da == 3 && db == 3 && a.sizes()[0] == b.sizes()[0]) {
    const Tensor product = bmm(a, b);
    return product.requires_grad() ? unsafe_view(product, product.sizes()) : product;  // PyTorch's graph has both nodes
  }
  if (da >= 3 && db <= 2) {  // all rows of a in one product
    Tensor rows = reshape(a, {rows_of(a), a.size(-1)});
    Tensor flat = db == 1 ? mv(rows, b) : mm(rows, b);
    Dims shape(a.sizes().first(size_t(da - 1)));
    if (db == 2) shape.push_back(b.sizes()[1]);
    return unsafe_view(flat, shape);
  }
  if (da == 2 && a.requires_grad()) check_same_products(b, a);  // PyTorch multiplies the transposes there
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
  return unsafe_view(product, shape);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (x.dim() != 2 || weight.dim() != 2) {
    check(x.dim() > 0 && weight.dim() > 0, TensorErrorKind::Runtime,
          "both arguments to linear need to be at least 1D, but they are ", x.dim(), "D and ", weight.dim(), "D");
    check(weight.dim() <= 2, TensorErrorKind::Runtime, "t() expects a tensor with <= 2 dimensions, but self is ",
          weight.dim(), "D");
    check(!bias.defined() || weight.dim() == 2 || (bias.dim() == 0 && x.dim() != 2) || x.dtype() != weight.dtype(),
          TensorErrorKind::Runtime, "addmm: mat2 must be a matrix, got 1-D tensor");
    if (x.dim() > 2 && weight.dim() == 2) {
      Dims shape(x.sizes());
      Tensor flat = linear(reshape(x, {rows_of(x), x.size(-1)}), weight, bias);
      shape.back() = weight.sizes()[0];
      return unsafe_view(flat, shape);
    }
    check(!bias.defined() || x.dim() != 1 || x.dtype() == weight.dtype(), TensorErrorKind::Runtime,
          "mat1 and mat2 must have the same dtype, but got ", scalar_type_name(x.dtype()), " and ",
          scalar_type_name(weight.dtype()));
    if (is_float8(x.dtype()) && bias.defined() && weight.dim() == 2)  // which has products of matrices only
      return select(linear(unsqueeze(x, 0), weight, bias), 0, 0);
    Tensor product = matmul(x, weight.dim() == 2 ? transpose(weight, 0, 1) : weight);
    return bias.defined() ? add(product, bias) : product;
  }
  return bias.defined() ? apply<LinearRows>(bias, x, weight) : mm(x, transpose(weight, 0, 1));
}

namespace {

constexpr uint32_t kBoth = kFunction | kMethod | kOut;
Tensor matmul_fast(const Tensor& a, const Tensor& b, unsigned) { return matmul(a, b); }
Tensor linear_op(const Tensor& x, const Tensor& w, const OptionalTensor& b) {
  return linear(x, w, b.value_or(Tensor()));
}

// A product of two vectors is PyTorch's dot.
OutRule out_of_product(const OpCall&, const Tensor& result) { return result.dim() == 0 ? kOutOfDot : kOutStructured; }
TS_BOXED(matmul, "matmul(Tensor self, Tensor other) -> Tensor", "The matrix product, batched and broadcast.", kBoth,
         box<&matmul>,
         "f[2,3], f[3,4]\n"
         "c[2,3], c[3,2]\n"
         "f[3], f[3]\n"
         "f[2,2,3], f[3,2]\n"
         "f[3], f[2,3,4]\n"
         "f[4,3].t, f[3,2]\n"
         "f[2,3], f[2,3] -> RuntimeError: mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
         .fast = {.binary = matmul_fast}, .symbol = "@", .out = kOutStructured, .out_of_call = out_of_product,
         .autocast = Autocast::Lower, .autocast_cuda = Autocast::Lower, .batched = batched_product);
TS_OP(mm, "mm(Tensor self, Tensor mat2) -> Tensor", "The product of two matrices.", kBoth, Mm,
      "f[2,3], f[3,4]\n"
      "f[2,0], f[0,3]\n"
      "f[2,3], f[3] -> RuntimeError: mm: mat2 must be a matrix, got 1-D tensor",
      .forms =
          "Tensor self, Tensor mat2\n"
          "Tensor self, Tensor mat2, ScalarType out_dtype",
      .out = kOutStructured, .any_device = true, .autocast = Autocast::Lower, .autocast_cuda = Autocast::Lower,
      .batched = batched_product);
TS_OP(bmm, "bmm(Tensor self, Tensor mat2) -> Tensor", "The products of two stacks of matrices.", kBoth, Bmm,
      "f[2,2,3], f[2,3,4]",
      .forms =
          "Tensor self, Tensor mat2\n"
          "Tensor self, Tensor mat2, ScalarType out_dtype",
      .out = kOutStructured, .any_device = true, .autocast = Autocast::Lower, .autocast_cuda = Autocast::Lower,
      .batched = batched_product);
TS_OP(mv, "mv(Tensor self, Tensor vec) -> Tensor", "Matrix times vector.", kBoth, Mv, "f[2,3], f[3]",
      .out = {OutRule::Same, "addmv input tensors must have the same dtype, but got $O, $R, and $R"},
      .any_device = true, .autocast_cuda = Autocast::Lower, .batched = batched_product);
TS_OP(
    dot, "dot(Tensor self, Tensor tensor) -> Tensor", "The sum of products of two vectors.", kBoth, &dot,
    "f[3], f[3]\n"
    "f[3], f[2] -> RuntimeError: inconsistent tensor size, expected tensor [3] and src [2] to have the same number of elements, but got 3 and 2 elements respectively",
    .out = kOutOfDot, .one_device = "_dot", .autocast_cuda = Autocast::Widest, .batched = batched_product);
TS_OP(outer, "outer(Tensor self, Tensor vec2) -> Tensor", "All products of two vectors' elements.", kBoth, &outer,
      "f[3], f[2]", .batched = batched_outer);
TS_OP(addmm, "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * (mat1 @ mat2).", kBoth | kInplace, Addmm,
      "f[4], f[2,3], f[3,4], beta=0.5, alpha=2\n"
      "f[2,4], f[2,3], f[3,4]",
      .forms =
          "Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1\n"
          "Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1\n"
          "!Scalar beta, Tensor self, Scalar alpha, Tensor mat1, Tensor mat2\n"
          "!Scalar beta, Tensor self, Tensor mat1, Tensor mat2",
      .out = kOutStructured, .check_in_place = check_sum_in_place, .any_device = true, .autocast = Autocast::Lower,
      .autocast_cuda = Autocast::Lower, .batched = batched_added_product);
TS_OP(
    _addmm_activation,
    "_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool use_gelu=False) -> "
    "Tensor",
    "relu or gelu of beta * self + alpha * (mat1 @ mat2).", kFunction | kOut | kNoGrad, AddmmActivation,
    "f[4], f[2,3], f[3,4]\n"
    "f[4], f[2,3], f[3,4], beta=0.5, alpha=2, use_gelu=True",
    .autocast = Autocast::Lower);
TS_OP(baddbmm, "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * (batch1 @ batch2).", kBoth | kInplace, Baddbmm,
      "f[2,2,4], f[2,2,3], f[2,3,4], beta=0.5, alpha=2",
      .forms =
          "Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1\n"
          "Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1\n"
          "!Scalar beta, Tensor self, Scalar alpha, Tensor batch1, Tensor batch2\n"
          "!Scalar beta, Tensor self, Tensor batch1, Tensor batch2",
      .out = kOutStructured, .check_in_place = check_sum_in_place, .any_device = true, .autocast = Autocast::Lower,
      .autocast_cuda = Autocast::Lower);
TS_OP(linear, "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", "input @ weight.T + bias.",
      kFunctional | kOut, &linear_op,
      "f[2,3], f[4,3], f[4]\n"
      "f[3], f[4,3]\n"
      "f[2,2,3], f[4,3], f[4]",
      .out = kOutStructured, .autocast = Autocast::Lower, .autocast_cuda = Autocast::Lower, .batched = batched_linear);

}  // namespace
}  // namespace tessera::tensor
