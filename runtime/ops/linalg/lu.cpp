// A = P L U with row exchanges, and what follows from it: solutions, inverses, determinants.
// The derivative of L and U: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
// differentiation" (2008); for matrices that are not square the same argument by blocks.
// compile: small (the factorisation takes longer)
#include "runtime/ops/linalg/common.h"

namespace tessera::tensor {
namespace {

using namespace linalg;

void check_lu(const Tensor& a, bool pivot, const char* name) {
  check(a.dim() >= 2, TensorErrorKind::Runtime, name,
        ": Expected tensor with 2 or more dimensions. Got size: ", a.sizes(), " instead");
  check(pivot || a.numel() == 0, TensorErrorKind::Runtime,
        "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  check_kernel(a, {"lu_cpu", "lu_factor_cusolver"});
}

void factor(const Tensor& lu, const Tensor& pivots, const Tensor& info, const Tensor& a) {
  copy_into(lu, a);
  run_lapack(lu,
             {.routine = LapackCall::Lu,
              .dtype = lu.dtype(),
              .batch = batch_count(lu),
              .m = rows(lu),
              .n = columns(lu),
              .a = lu.data_ptr(),
              .pivots = pivots.data<int32_t>()},
             info);
}

// ---- L and U ----

/// The m x k unit lower triangle and the k x n upper one of a matrix that holds both.
Tensor lower_of(const Tensor& lu) {
  const Tensor below = tril(narrow(lu, -1, 0, least(lu)), -1);
  return below + eye(rows(lu), least(lu), lu.dtype(), lu.device());
}
Tensor upper_of(const Tensor& lu) { return triu(narrow(lu, -2, 0, least(lu))); }

/// The gradient of A from those of L and U (either may be undefined). With M = L1^-1 dA1 U1^-1 of the square part:
/// dL1 = L1 tril(M, -1), dU1 = triu(M) U1; rows below and columns to the right follow from A2 = L2 U1 and A2 = L1 U2.
Tensor lu_gradient(const Tensor& gl, const Tensor& gu, const Tensor& p, const Tensor& l, const Tensor& u) {
  const int64_t m = rows(l), n = columns(u), k = columns(l);
  const Tensor l1 = narrow(l, -2, 0, k), u1 = narrow(u, -1, 0, k);
  const Tensor none = zeros_like(matmul(mH(l1), l1));
  Tensor below = gl.defined() ? matmul(mH(l1), narrow(gl, -2, 0, k)) : none;
  Tensor above = gu.defined() ? matmul(narrow(gu, -1, 0, k), mH(u1)) : none;
  if (n > k && gu.defined()) below = below - matmul(narrow(gu, -1, k, n - k), mH(narrow(u, -1, k, n - k)));
  if (m > k && gl.defined()) above = above - matmul(mH(narrow(l, -2, k, m - k)), narrow(gl, -2, k, m - k));
  const Tensor inner = tril(below, -1) + triu(above);
  Tensor g = linalg_solve_triangular(mH(u1), inner, false, false);  // inner U1^-H
  if (n > k) {
    const Tensor right = gu.defined() ? narrow(gu, -1, k, n - k) : zeros_like(narrow(u, -1, k, n - k));
    g = cat({g, right}, -1);
  }
  g = linalg_solve_triangular(mH(l1), g, true, true, true);  // L1^-H g
  if (m > k) {
    const Tensor low = gl.defined() ? linalg_solve_triangular(mH(u1), narrow(gl, -2, k, m - k), false, false)
                                    : zeros_like(narrow(l, -2, k, m - k));
    g = cat({g, low}, -2);
  }
  return p.dim() < 2 ? g : matmul(p, g);  // without pivoting there are no exchanges
}

struct LuFactorEx {
  static std::array<Meta, 3> shape(const Tensor& a, bool pivot, bool) {
    check_lu(a, pivot, "torch.lu_factor");
    const Dims batch = batch_of(a);
    return {column_major(a.sizes(), a.dtype(), a.device()), Meta(batch + Ints{least(a)}, kInt32, a.device()),
            Meta(batch, kInt32, a.device())};
  }
  static void run(const Tensor& lu, const Tensor& pivots, const Tensor& info, const Tensor& a, bool, bool) {
    factor(lu, pivots, info, a);
  }
  static void grad(Tensor& lu, Tensor& pivots, Tensor&, const Tensor& a, bool, bool) {
    record(lu, "LinalgLuFactorExBackward0", {&a}, Kept<2>{{SavedTensor(lu, true), SavedTensor(pivots)}}, [](Sweep& s) {
      s.give(0, [&] {
        const Tensor lu = s.kept(0), p = permutation_matrix(s.kept(1), rows(lu), lu.dtype());
        const Tensor gl = tril(narrow(s.g(), -1, 0, least(lu)), -1), gu = triu(narrow(s.g(), -2, 0, least(lu)));
        return lu_gradient(gl, gu, p, lower_of(lu), upper_of(lu));
      });
    });
  }
};

struct Lu {
  static std::array<Meta, 3> shape(const Tensor& a, bool pivot) {
    check_lu(a, pivot, "linalg.lu");
    const Dims batch = batch_of(a);
    return {Meta(pivot ? batch + Ints{rows(a), rows(a)} : Dims{0}, a), Meta(batch + Ints{rows(a), least(a)}, a),
            Meta(batch + Ints{least(a), columns(a)}, a)};
  }
  static void run(const Tensor& p, const Tensor& l, const Tensor& u, const Tensor& a, bool pivot) {
    if (!pivot) {  // there are no elements
      fill_identity(l);
      return;
    }
    const auto [lu, pivots, info] = apply<LuFactorEx>(a, true, false);
    copy_into(p, permutation_matrix(pivots, rows(a), a.dtype()));
    copy_into(l, lower_of(lu));
    copy_into(u, upper_of(lu));
  }
  static void grad(Tensor& p, Tensor& l, Tensor& u, const Tensor& a, bool) {
    Kept<3> kept{{SavedTensor(p), saved_result(l, 1), saved_result(u, 2)}};
    record_all({nullptr, &l, &u}, "LinalgLuBackward0", {&a}, std::move(kept), [](Sweep& s) {
      s.give(0, [&] { return lu_gradient(s.g(1), s.g(2), s.kept(0), s.kept(1), s.kept(2)); });
    });
  }
};

struct LuUnpack {
  static std::array<Meta, 3> shape(const Tensor& lu, const Tensor& pivots, bool data, bool order) {
    check(!order || pivots.dtype() == kInt32, TensorErrorKind::Runtime,
          "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.");
    check(lu.dim() >= 2, TensorErrorKind::Runtime,
          "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: ", lu.sizes(), " instead");
    const Dims batch = batch_of(lu), none{0}, expected = batch + Ints{least(lu)};
    check(!order || Ints(expected) == pivots.sizes(), TensorErrorKind::Value, "Expected LU_pivots to have shape ",
          expected, " but got ", pivots.sizes(), " instead.");
    return {Meta(order ? batch + Ints{rows(lu), rows(lu)} : none, lu),
            Meta(data ? batch + Ints{rows(lu), least(lu)} : none, lu),
            Meta(data ? batch + Ints{least(lu), columns(lu)} : none, lu)};
  }
  static void run(const Tensor& p, const Tensor& l, const Tensor& u, const Tensor& lu, const Tensor& pivots, bool data,
                  bool order) {
    if (order) copy_into(p, permutation_matrix(pivots, rows(lu), lu.dtype()));
    if (!data) return;
    copy_into(l, lower_of(lu));
    copy_into(u, upper_of(lu));
  }
  static void grad(Tensor&, Tensor& l, Tensor& u, const Tensor& lu, const Tensor&, bool data, bool) {
    if (!data) return;
    record_all({nullptr, &l, &u}, "LuUnpackBackward0", {&lu}, Kept<0>{}, [m = rows(lu), n = columns(lu)](Sweep& s) {
      s.give(0, [&] {
        const Tensor low = s.g(1).defined() ? widened(tril(s.g(1), -1), m, n) : Tensor();
        const Tensor high = s.g(2).defined() ? widened(triu(s.g(2)), m, n) : Tensor();
        return sum_of(low, high);
      });
    });
  }

 private:
  // With zeros below or to the right.
  static Tensor widened(const Tensor& part, int64_t m, int64_t n) {
    if (rows(part) == m && columns(part) == n) return part;
    const bool down = rows(part) < m;
    const Dims more = batch_of(part) + (down ? Ints{m - rows(part), n} : Ints{m, n - columns(part)});
    return cat({part, zeros(more, part.dtype(), part.device())}, down ? -2 : -1);
  }
};

// ---- solving with a factor ----

struct LuSolve {
  static Dims batch(const Tensor& lu, const Tensor& b) { return broadcast_shapes(batch_of(b), batch_of(lu)); }
  static Meta shape(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool) {
    check_floating(lu, "torch.linalg.lu_solve", true);
    check_same_type(lu, b, "linalg.lu_solve", "LU", "B");
    check(pivots.dtype() == kInt32, TensorErrorKind::Runtime,
          "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
    check_square(lu, "torch.linalg.lu_solve");
    check_solvable(lu, b, left, "linalg.lu_solve");
    check(pivots.dim() >= 1, TensorErrorKind::Index, "Dimension specified as -1 but tensor has no dimensions");
    check(pivots.size(-1) == rows(lu), TensorErrorKind::Runtime,
          "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix");
    check(pivots.sizes() == lu.sizes().first(size_t(lu.dim()) - 1), TensorErrorKind::Runtime,
          "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape ",
          pivots.sizes(), " instead");
    check_kernel(lu, {"linalg.lu_solve_cpu", "lu_solve_cusolver"});
    const Dims sizes = batch(lu, b) + Ints{rows(b), columns(b)};
    return left ? column_major(sizes, b.dtype(), b.device()) : Meta(sizes, b);
  }
  // X A = B is A^T X^T = B^T: a row-major X is a column-major X^T.
  static void run(const Tensor& x, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
    copy_into(x, b);
    const Dims all = batch(lu, b);
    const Tensor exchanged = contiguous(expand(pivots, all + Ints{rows(lu)}));
    if (x.numel()) check_pivots(exchanged, rows(lu), false);
    Tensor factors = as_column_major(expand(lu, all + Ints{rows(lu), rows(lu)}));
    const bool conjugated = !left && adjoint && is_complex(x.dtype());  // A^H X^T: neither N, T nor C of conj(A)
    if (conjugated) factors = as_column_major(conj(factors));
    run_lapack(x, {.routine = LapackCall::LuSolve,
                   .dtype = x.dtype(),
                   .batch = batch_count(x),
                   .n = rows(lu),
                   .k = left ? columns(x) : rows(x),
                   .a = factors.data_ptr(),
                   .b = x.data_ptr(),
                   .pivots = exchanged.data<int32_t>(),
                   .op = left ? (adjoint ? 'C' : 'N') : (adjoint ? 'N' : 'T')});
  }
  static void grad(Tensor& x, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
    Kept<3> kept{{SavedTensor(lu), SavedTensor(pivots), SavedTensor(x, true)}};
    record(x, "LinalgLuSolveBackward0", {&lu, &pivots, &b}, std::move(kept),
           [left, adjoint, b_sizes = Dims(b.sizes())](Sweep& s) {
             const Tensor lu = s.kept(0), pivots = s.kept(1), x = s.kept(2);
             const Tensor gb = apply<LuSolve>(lu, pivots, s.g(), left, !adjoint);
             s.give(2, [&] { return sum_to_size(gb, b_sizes); });
             s.give(0, [&] {
               if (x.numel() == 0) return zeros_like(lu);
               // Of A = P L U, or of its adjoint, then of the parts.
               Tensor ga = left ? matmul(gb, mH(x)) : matmul(mH(x), gb);
               ga = sum_to_size(adjoint ? -mH(ga) : -ga, lu.sizes());
               const Tensor l = lower_of(lu), u = upper_of(lu);
               const Tensor turned = matmul(mT(permutation_matrix(pivots, rows(lu), lu.dtype())), ga);
               return tril(matmul(turned, mH(u)), -1) + triu(matmul(mH(l), turned));
             });
           });
  }
};

}  // namespace

Tensor permutation_matrix(const Tensor& pivots, int64_t m, DType dtype) {
  const GradMode no_grad(false);
  const Dims batch(pivots.sizes().first(size_t(pivots.dim()) - 1));
  const Tensor order = Tensor::empty(batch + Ints{m}, kInt64, pivots.device()), given = contiguous(pivots);
  run_lapack(order, {.routine = LapackCall::Order,
                     .dtype = kFloat32,
                     .batch = numel_of(batch),
                     .m = m,
                     .k = pivots.size(-1),
                     .pivots = given.data<int32_t>(),
                     .order = order.data<int64_t>()});
  const Tensor places = reshape(arange(0, m, 1, kInt64, pivots.device()), {m, 1});
  return to_dtype(unsqueeze(order, -2) == places, dtype);
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& a, bool pivot, bool check_errors) {
  return apply<LuFactorEx>(a, pivot, check_errors);
}

Tensor linalg_lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
  return apply<LuSolve>(lu, pivots, b, left, adjoint);
}

namespace {

void check_pivots(const Tensor& info, const char* name) {
  int64_t place, number;
  if (first_failure(info, place, number))
    fail(TensorErrorKind::Runtime, failure_prefix(name, info, place), "U[", number, ",", number,
         "] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
         "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
}

std::tuple<Tensor, Tensor, Tensor> lu_factor_ex(const Tensor& a, bool pivot, bool check_errors) {
  auto result = apply<LuFactorEx>(a, pivot, check_errors);
  if (check_errors) check_pivots(std::get<2>(result), "torch.linalg.lu_factor_ex");
  return result;
}

std::tuple<Tensor, Tensor> lu_factor(const Tensor& a, bool pivot) {
  const auto [lu, pivots, info] = apply<LuFactorEx>(a, pivot, false);
  check_pivots(info, "torch.linalg.lu_factor");
  return {lu, pivots};
}

std::tuple<Tensor, Tensor, Tensor> lu_with_info(const Tensor& a, bool pivot, bool check_errors) {
  auto result = apply<LuFactorEx>(a, pivot, check_errors);
  if (check_errors) check_pivots(std::get<2>(result), "torch.linalg.lu_factor_ex");
  return result;
}

// Tensor.lu and torch.lu: two results, or three with `get_infos`.
TensorList torch_lu(const Tensor& a, bool pivot, bool get_infos) {
  const auto [lu, pivots, info] = lu_with_info(a, pivot, !get_infos);
  if (get_infos) return {lu, pivots, info};
  return {lu, pivots};
}

Tensor lu_solve(const Tensor& b, const Tensor& lu, const Tensor& pivots) {
  return apply<LuSolve>(lu, pivots, b, true, false);
}

TS_OP(
    linalg_lu_factor_ex,
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
    "L and U in one matrix, the row exchanges, and 0 or the place of a 0 on U's diagonal.", kLinalg | kOut,
    &lu_factor_ex,
    "f[3,3]\nf[4,3]\nf[2,4]\nf[2,2,3]\nc[2,2]\nf[0,3]\n"
    "f[2,2].z, check_errors=True -> RuntimeError: torch.linalg.lu_factor_ex: U[1,1] is zero and using it on lu_solve\n"
    "f[3] -> RuntimeError: torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: [3] instead",
    .out = kOutStructured);
TS_OP(linalg_lu_factor, "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
      "L and U in one matrix, and the row exchanges.", kLinalg | kOut, &lu_factor,
      "f[3,3]\nf[4,2]\nc[2,3]\n"
      "f[2,2].z -> RuntimeError: torch.linalg.lu_factor: U[1,1] is zero and using it on lu_solve\n"
      "f[2,2,2].z -> RuntimeError: torch.linalg.lu_factor: (Batch element 0): U[1,1] is zero\n"
      "f[2,2], pivot=False -> RuntimeError: linalg.lu_factor: LU without pivoting is not implemented on the CPU\n"
      "i[2,2]<3 -> NotImplementedError: \"lu_cpu\" not implemented for 'Long'",
      .out = kOutStructured);
TS_OP(linalg_lu, "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
      "P, L and U with A equal to P @ L @ U.", kLinalg | kOut, Lu,
      "f[3,3]\nf[4,2]\nf[2,4]\nf[2,3,3]\nc[3,3]\nc[3,2]\nf[0,3]\nf[2,0]\n"
      "f[3] -> RuntimeError: linalg.lu: Expected tensor with 2 or more dimensions. Got size: [3] instead",
      .out = kOutStructured);
TS_OP(
    lu_unpack,
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
    "P, L and U from what lu_factor answers.", kFunction | kOut, LuUnpack,
    "f[3,3], i{2,3,3}:int32\nf[2,4], i{2,2}:int32\nf[4,2], i{2,4}:int32\nf[3,3], i{2,3,3}:int32, False\nf[3,3], i{1,2,3}:int32, True, False\n"
    "f[2,2], i{1,2} -> RuntimeError: torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
    "f[2,2], i{1,9}:int32 -> RuntimeError: pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.\n"
    "f[2,2], i{1}:int32 -> ValueError: Expected LU_pivots to have shape [2] but got [1] instead.",
    .out = kOutStructured, .one_device = "lu_unpack");
TS_OP(
    linalg_lu_solve,
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
    "X with A @ X equal to B (X @ A unless left), from what lu_factor answers of A.", kLinalg | kOut, LuSolve,
    "f[3,3], i{2,3,3}:int32, f[3,2]\nf[3,3], i{2,3,3}:int32, f[2,3,1]\nf[3,3], i{3,2,3}:int32, f[2,3], left=False\n"
    "f[3,3], i{2,3,3}:int32, f[3,2], adjoint=True\nc[2,2], i{2,2}:int32, c[2,1], adjoint=True\n"
    "c[2,2], i{2,2}:int32, c[1,2], left=False\nc[2,2], i{2,2}:int32, c[1,2], left=False, adjoint=True\n"
    "f[2,2], i{1,2}, f[2,2] -> RuntimeError: linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32\n"
    "f[2,2], i{1,2,3}:int32, f[2,2] -> RuntimeError: linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix\n"
    "f[2,2], i{1,2}:int32, f[3,2] -> RuntimeError: linalg.lu_solve: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x2)",
    .out = kOutStructured, .one_device = "linalg_lu_solve");
TS_OP(lu_solve, "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
      "X with A @ X equal to self, from what lu_factor answers of A.", kFunction | kMethod | kOut, &lu_solve,
      "f[3,2], f[3,3], i{2,3,3}:int32", .out = kOutStructured, .one_device = "linalg_lu_solve",
      .autocast = Autocast::Float32);
TS_OP(lu, "lu(Tensor self, bool pivot=True, bool get_infos=False) -> Tensor[]", "As torch.linalg.lu_factor.", kMethod,
      &torch_lu, "f[3,3]\nf[3,3], True, True");
TS_OP(_lu_with_info,
      "_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)",
      "What torch.lu answers.", kFunction | kInternal, &lu_with_info, "f[3,3]");

}  // namespace
}  // namespace tessera::tensor
