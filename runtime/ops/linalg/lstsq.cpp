// Least squares, and A = L D L^H of matrices that are Hermitian or symmetric but not definite.
// compile: small (the factorisation takes longer)
#include <algorithm>
#include <array>

#include "runtime/ops/linalg/common.h"

namespace tessera::tensor {

template <>
inline void return_value(OpCall& c, std::tuple<Tensor, Tensor, Tensor, Tensor> t) {
  Tensor list[] = {std::get<0>(t), std::get<1>(t), std::get<2>(t), std::get<3>(t)};
  return_tensors(c, list, 4);
}

namespace {

using namespace linalg;
using MaybeName = std::optional<std::string>;

LapackCall::Driver driver_of(const MaybeName& name, Device device) {
  if (!traits_of(device).solves_deficient) {
    check(name.value_or("gels") == "gels", TensorErrorKind::Runtime,
          "torch.linalg.lstsq: parameter `driver` should be one of (gels)");
    return LapackCall::Gels;
  }
  static constexpr const char* kNames[] = {"gels", "gelsy", "gelsd", "gelss"};
  if (!name) return LapackCall::Gelsy;
  for (size_t i = 0; i < std::size(kNames); i++)
    if (*name == kNames[i]) return LapackCall::Driver(i);
  fail(TensorErrorKind::Runtime, "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
}
bool has_values(LapackCall::Driver driver) { return driver == LapackCall::Gelsd || driver == LapackCall::Gelss; }

/// A and B with one batch, B a matrix.
struct Problem {
  Tensor a, b;
  bool vector;

  Problem(const Tensor& a_given, const Tensor& b_given) {
    constexpr const char* name = "torch.linalg.lstsq: ";
    check(a_given.dim() >= 2, TensorErrorKind::Runtime, name, "input must have at least 2 dimensions.");
    check(b_given.dim() >= 1, TensorErrorKind::Runtime, name, "other must have at least 1 dimension.");
    check(a_given.dtype() == b_given.dtype(), TensorErrorKind::Runtime, name,
          "Expected input and other to have the same dtype, but got input's dtype ", scalar_type_name(a_given.dtype()),
          " and other's dtype ", scalar_type_name(b_given.dtype()));
    check(a_given.device() == b_given.device(), TensorErrorKind::Runtime, name,
          "Expected other and input tensors to be on the same device, but got other on ", b_given.device().str(),
          " and input on ", a_given.device().str());
    const int64_t fewer = a_given.dim() - b_given.dim();
    check(fewer == 0 || fewer == 1, TensorErrorKind::Runtime, name,
          "input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1");
    vector = b_given.dim() == 1 || (a_given.dim() - 1 == b_given.dim() &&
                                    a_given.sizes().first(size_t(a_given.dim()) - 1) == b_given.sizes());
    check(b_given.size(vector ? -1 : -2) == rows(a_given), TensorErrorKind::Runtime, name,
          "input.size(-2) should match other.size(", vector ? "-1)" : "-2)");
    const Tensor column = vector ? as_column(b_given) : b_given;
    // A matrix with one dimension fewer is taken for a stack of vectors when the batch is told, as in PyTorch.
    const Dims batch = broadcast_shapes(batch_of(a_given), fewer ? batch_of(b_given, 1) : batch_of(column));
    a = expand(a_given, batch + Ints{rows(a_given), columns(a_given)});
    b = expand(column, batch + Ints{rows(column), columns(column)});
  }
};

struct LeastSquares {
  // x in a matrix as high as A or x, rank, singular values, info
  static std::array<Meta, 4> shape(const Tensor& a, const Tensor& b, double, LapackCall::Driver driver) {
    const Dims batch = batch_of(a), none{0};
    return {column_major(batch + Ints{std::max(rows(a), columns(a)), columns(b)}, b.dtype(), b.device()),
            Meta(driver == LapackCall::Gels ? none : batch, kInt64, a.device()),
            Meta(has_values(driver) ? batch + Ints{least(a)} : none, real_type(a.dtype()), a.device()),
            Meta(batch, kInt32, a.device())};
  }
  static void run(const Tensor& x, const Tensor& rank, const Tensor& values, const Tensor& info, const Tensor& a,
                  const Tensor& b, double rcond, LapackCall::Driver driver) {
    fill_into(x, 0);
    fill_into(rank, 0);
    copy_into(narrow(x, -2, 0, rows(b)), b);
    const Tensor lost = column_major_copy(a);
    if (x.numel() == 0) {
      fill_into(values, 0);
      return fill_into(info, 0);
    }
    run_lapack(lost,
               {.routine = LapackCall::LeastSquares,
                .dtype = a.dtype(),
                .batch = batch_count(a),
                .m = rows(a),
                .n = columns(a),
                .k = columns(b),
                .a = lost.data_ptr(),
                .b = x.data_ptr(),
                .values = has_values(driver) ? values.data_ptr() : nullptr,
                .rank = driver == LapackCall::Gels ? nullptr : rank.data<int64_t>(),
                .driver = driver,
                .rcond = rcond},
               info);
  }
};

/// What is left of B where there are more equations than unknowns, and all of those are determined.
Tensor residuals_of(const Tensor& x, const Tensor& rank, const Problem& p, LapackCall::Driver driver) {
  const int64_t m = rows(p.a), n = columns(p.a);
  const DType type = real_type(x.dtype());
  if (m <= n || driver == LapackCall::Gelsy) return Tensor::empty({0}, type, x.device());
  if (has_values(driver) && !x.device().is_meta() && !all(rank == n).item().to_bool())
    return Tensor::empty({0}, type, x.device());
  const Tensor left = narrow(x, -2, n, m - n), size = is_complex(left.dtype()) ? complex_abs(left) : left;
  return sum(size * size, Dims{-2});
}

/// Where a batch was repeated its first part, in the shape that it had before; the last `more` dimensions stay.
Tensor first_of(Tensor t, const Dims& batch, int64_t more) {
  while (t.dim() - more > int64_t(batch.size())) t = select(t, 0, 0);
  for (size_t d = 0; d < batch.size(); d++)
    if (batch[d] == 1 && t.size(int64_t(d)) != 1) t = narrow(t, int64_t(d), 0, 1);
  return t;
}

using LstsqResult = std::tuple<Tensor, Tensor, Tensor, Tensor>;

// X = P B with the pseudo-inverse P of A; of what is left, R = A X - B, the derivative through X is 0.
void record_lstsq(Tensor& solution, Tensor& residuals, const Problem& p) {
  const bool has_residuals = residuals.numel() != 0;
  record_all({&solution, has_residuals ? &residuals : nullptr}, "LinalgLstsqBackward0", {&p.a, &p.b}, keep(p.a, p.b),
             [vector = p.vector](Sweep& s) {
               const Tensor a = s.kept(0), b = s.kept(1), inverse = pseudo_inverse(a, {}, {}, false);
               const Tensor gx = s.g(0).defined() && vector ? as_column(s.g(0)) : s.g(0);
               Tensor twice, x;
               if (s.g(1).defined()) {
                 x = matmul(inverse, b);
                 twice = scale_columns((matmul(a, x) - b) * 2.0, s.g(1));
               }
               s.give(0, [&] {
                 const Tensor first = gx.defined() ? pseudo_inverse_gradient(matmul(gx, mH(b)), a, inverse) : Tensor();
                 return sum_of(first, twice.defined() ? matmul(twice, mH(x)) : Tensor());
               });
               s.give(1, [&] {
                 const Tensor first = gx.defined() ? matmul(mH(inverse), gx) : Tensor();
                 return sum_of(first, twice.defined() ? -twice : Tensor());
               });
             });
}

LstsqResult lstsq(const Tensor& a_given, const Tensor& b_given, const std::optional<double>& rcond,
                  const MaybeName& name) {
  const Problem p(a_given, b_given);
  const LapackCall::Driver driver = driver_of(name, p.a.device());
  const DType type = p.a.dtype();
  check(is_differentiable(type) && !is_half(type), TensorErrorKind::Runtime,
        "This function doesn't handle types other than float and double");
  const double epsilon = real_type(type) == kFloat32 ? 1.1920928955078125e-07 : 2.220446049250313e-16;
  Tensor solution, residuals, rank, values;
  {
    const GradMode no_grad(false);
    const double cut = rcond.value_or(epsilon * double(std::max(rows(p.a), columns(p.a))));
    const auto [x, found_rank, found_values, info] = apply<LeastSquares>(p.a, p.b, cut, driver);
    // Of each matrix of A, however often it is met in B's batch.
    const auto once = [&](const Tensor& t, int64_t more) {
      return t.dim() == int64_t(p.a.dim()) - 2 + more ? contiguous(first_of(t, batch_of(a_given), more)) : t;
    };
    rank = driver == LapackCall::Gels ? found_rank : once(found_rank, 0);
    values = has_values(driver) ? once(found_values, 1) : found_values;
    check_info(info, "torch.linalg.lstsq", [&](int64_t code) {
      return driver == LapackCall::Gels
                 ? text(
                       "The least squares solution could not be computed because the input matrix does not have full rank (error code: ",
                       code, ").")
                 : text("SVD did not converge (error code: ", code, ").");
    });
    solution = narrow(x, -2, 0, columns(p.a));
    if (p.vector) solution = squeeze(solution, -1);
    residuals = residuals_of(x, found_rank, p, driver);
  }
  if (needs_grad(p.a, p.b)) record_lstsq(solution, residuals, p);
  return {solution, residuals, rank, values};
}

// ---- L D L^H ----

struct LdlFactorEx {
  static std::array<Meta, 3> shape(const Tensor& a, bool, bool) {
    check_square(a, "torch.linalg.ldl_factor_ex");
    check_floating(a, "torch.linalg.ldl_factor_ex", true);
    check_kernel(a, {"ldl_factor_kernel_cpu", "ldl_factor_looped_cusolver"});
    return {column_major(a.sizes(), a.dtype(), a.device()), Meta(batch_of(a) + Ints{rows(a)}, kInt32, a.device()),
            Meta(batch_of(a), kInt32, a.device())};
  }
  static void run(const Tensor& ld, const Tensor& pivots, const Tensor& info, const Tensor& a, bool hermitian, bool) {
    copy_into(ld, tril(a));
    run_lapack(ld,
               {.routine = LapackCall::Ldl,
                .dtype = ld.dtype(),
                .batch = batch_count(ld),
                .n = rows(ld),
                .a = ld.data_ptr(),
                .pivots = pivots.data<int32_t>(),
                .hermitian = hermitian},
               info);
  }
  static void grad(Tensor& ld, Tensor&, Tensor&, const Tensor& a, bool, bool) {
    record(ld, "NotImplemented", {&a}, [](Sweep&) {
      fail(TensorErrorKind::Runtime, "derivative for aten::linalg_ldl_factor_ex is not implemented");
    });
  }
};

void check_ldl(const Tensor& info, const char* name) {
  check_info(info, name, [](int64_t i) {
    return text("D[", i, ",", i, "] is zero and using it on ldl_solve would result in a division by zero.");
  });
}

std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& a, bool hermitian, bool check_errors) {
  auto result = apply<LdlFactorEx>(a, hermitian, check_errors);
  if (check_errors) check_ldl(std::get<2>(result), "torch.linalg.ldl_factor_ex");
  return result;
}
std::tuple<Tensor, Tensor> ldl_factor(const Tensor& a, bool hermitian) {
  const auto [ld, pivots, info] = apply<LdlFactorEx>(a, hermitian, false);
  check_ldl(info, "torch.linalg.ldl_factor");
  return {ld, pivots};
}

struct LdlSolve {
  static Dims batch(const Tensor& ld, const Tensor& b) { return broadcast_shapes(batch_of(b), batch_of(ld)); }
  static Meta shape(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool) {
    check_square(ld, "torch.linalg.ldl_solve");
    check_floating(ld, "torch.linalg.ldl_solve", true);
    check(b.dtype() == ld.dtype(), TensorErrorKind::Runtime,
          "Expected b and A to have the same dtype, but found b of type ", scalar_type_name(b.dtype()),
          " and A of type ", scalar_type_name(ld.dtype()), " instead.");
    check(b.size(-2) == rows(ld), TensorErrorKind::Runtime,
          "Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is ", rows(ld), " by ", columns(ld),
          " but each b matrix is ", rows(b), " by ", columns(b));
    check(is_integral(pivots.dtype()), TensorErrorKind::Runtime,
          "torch.linalg.ldl_solve: Expected pivots to be integers. Got ", scalar_type_name(pivots.dtype()));
    check(pivots.sizes() == ld.sizes().first(size_t(ld.dim()) - 1), TensorErrorKind::Runtime,
          "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ",
          pivots.sizes(), " instead");
    check_kernel(ld, {"ldl_solve_kernel_cpu", "ldl_solve_looped_cusolver"});
    return column_major(batch(ld, b) + Ints{rows(b), columns(b)}, b.dtype(), b.device());
  }
  static void run(const Tensor& x, const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian) {
    copy_into(x, b);
    const Dims all = batch(ld, b);
    const Tensor factors = as_column_major(expand(ld, all + Ints{rows(ld), rows(ld)}));
    const Tensor exchanged = contiguous(expand(to_dtype(pivots, kInt32), all + Ints{rows(ld)}));
    check_pivots(exchanged, rows(ld), true);
    run_lapack(x, {.routine = LapackCall::LdlSolve,
                   .dtype = x.dtype(),
                   .batch = batch_count(x),
                   .n = rows(x),
                   .k = columns(x),
                   .a = factors.data_ptr(),
                   .b = x.data_ptr(),
                   .pivots = exchanged.data<int32_t>(),
                   .hermitian = hermitian});
  }
  static void grad(Tensor& x, const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian) {
    record(x, "LinalgLdlSolveBackward0", {&b, &ld}, keep(ld, pivots),
           [hermitian, complex = is_complex(b.dtype()), b_sizes = Dims(b.sizes())](Sweep& s) {
             check(!s.needs(1), TensorErrorKind::Runtime, "derivative for aten::linalg_ldl_solve is not implemented");
             s.give(0, [&] {
               // A symmetric complex matrix is not its own adjoint, but its adjoint's conjugate.
               const bool turned = complex && !hermitian;
               const Tensor g = turned ? conj(s.g()) : s.g();
               const Tensor solved = apply<LdlSolve>(s.kept(0), s.kept(1), g, hermitian);
               return sum_to_size(turned ? conj(solved) : solved, b_sizes);
             });
           });
  }
};

TS_OP(
    linalg_lstsq,
    "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    "X for which A @ X is nearest to B, column by column.", kLinalg | kOut | kDataDependent, &lstsq,
    "f[4,2], f[4,3]\nf[4,2], f[4]\nf[2,3,2], f[2,3,1]\nf[4,2], f[4,1], driver='gelsd'\nf[4,2], f[4,2], driver='gels'\n"
    "f[4,2], f[4,2], driver='gelss'\nf[2,3], f[2,1]\nc[3,2], c[3,1]\nc[3,2], c[3,1], driver='gelsd'\nf[0,3], f[0,2]\nf[3,0], f[3,2]\n"
    "f[3], f[3] -> RuntimeError: torch.linalg.lstsq: input must have at least 2 dimensions.\n"
    "f[3,2], f[2,2] -> RuntimeError: torch.linalg.lstsq: input.size(-2) should match other.size(-2)\n"
    "i[2,2]<3, i[2,2]<3 -> RuntimeError: This function doesn't handle types other than float and double\n"
    "f[3,2], f[3,2], driver='x' -> RuntimeError: torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)",
    .out = {OutRule::Castable,
            "torch.$n: Expected solution to be safely castable from $R dtype, but got solution with dtype $O",
            TensorErrorKind::Runtime, true},
    .autocast = Autocast::Float32);
TS_OP(
    linalg_ldl_factor_ex,
    "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)",
    "L and D in one matrix, the exchanges, and 0 or the place of a 0 in D.", kLinalg | kOut | kNoGrad, &ldl_factor_ex,
    "f[3,3].s\nc[3,3].s, hermitian=True\nc[3,3]\nf[2,3,3]\nf[0,0]\n"
    "f[3] -> RuntimeError: torch.linalg.ldl_factor_ex: The input tensor A must have at least 2 dimensions.",
    .out = kOutStructured);
TS_OP(linalg_ldl_factor, "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
      "L and D in one matrix, and the exchanges.", kLinalg | kOut | kNoGrad, &ldl_factor,
      "f[3,3].s\nf[2,2].z -> RuntimeError: torch.linalg.ldl_factor: D[1,1] is zero", .out = kOutStructured);
TS_OP(
    linalg_ldl_solve, "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    "X with A @ X equal to B, from what ldl_factor answers of A.", kLinalg | kOut | kNoGrad, LdlSolve,
    "f[3,3], i{1,2,3}:int32, f[3,2]\nc[2,2], i{1,2}:int32, c[2,1], hermitian=True\nf[2,2], i{1,2}:int32, f[2,2,1]\n"
    "f[2,2], i{1,2}:int32, f[3,2] -> RuntimeError: Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is 2 by 2 but each b matrix is 3 by 2",
    .out = kOutStructured, .one_device = "linalg_ldl_solve");

}  // namespace
}  // namespace tessera::tensor
