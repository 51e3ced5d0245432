// What the samples cannot say of linear algebra: derivatives of complex singular vectors and eigenvectors, whose phase nothing
// determines, by functions that do not depend on it; the factors put together again; the bits of a matrix in a batch.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "runtime/autograd/gradcheck.h"
#include "runtime/autograd/node.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/linalg/linalg.h"
#include "runtime/ops/op.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/views.h"

using namespace tessera::tensor;

namespace {

Tensor numbers(Ints sizes, int seed, DType type = kFloat64) {
  const Tensor t = Tensor::empty(sizes, kFloat64);
  for (int64_t i = 0; i < t.numel(); i++)
    t.data<double>()[i] = std::sin(double(i * i) * 1.3 + double(seed) + 0.4) * 1.5;
  return to_dtype(t, type);
}

Tensor leaf(Ints sizes, int seed) {
  const Tensor t = numbers(sizes, seed);
  set_requires_grad(t, true);
  return t;
}

Tensor adjoint(const Tensor& a) { return conj(transpose(a, -2, -1)); }

std::vector<Tensor> call(const char* name, std::vector<OpArg> args) {
  const OpEntry& entry = *find_op(name)[0];
  for (size_t i = args.size(); i < entry.schema().args.size(); i++)
    args.push_back(default_value(entry.schema().args[i]));
  std::vector<Tensor> out;
  for (OpArg& result : call_op(entry, args)) out.push_back(std::get<Tensor>(result));
  return out;
}

void check_derivatives(const DifferentiableFunction& f, const TensorList& leaves) {
  CHECK(gradcheck(f, leaves) == "");
  CHECK(gradgradcheck(f, leaves) == "");
}

bool near(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  if (a.sizes() != b.sizes()) return false;
  const Tensor difference = a - b;
  const Tensor size = is_complex(difference.dtype()) ? complex_abs(difference) : abs(difference);
  return size.numel() == 0 || max(size).item().to_double() <= tolerance;
}

}  // namespace

TEST_CASE("linalg: functions of complex singular vectors have derivatives") {
  for (const Dims& sizes : {Dims{3, 3, 2}, Dims{4, 2, 2}, Dims{2, 3, 2}})
    check_derivatives(
        [](const TensorList& in) -> TensorList {
          const auto [u, s, vh] = linalg_svd(view_as_complex(in[0]), false);
          const Tensor product = matmul(u * unsqueeze(sin(s), -2), vh), range = matmul(u, adjoint(u));
          return {view_as_real(product), view_as_real(range), view_as_real(matmul(adjoint(vh), vh))};
        },
        {leaf(sizes, 3)});
}

TEST_CASE("linalg: functions of complex eigenvectors have derivatives") {
  check_derivatives(
      [](const TensorList& in) -> TensorList {
        const Tensor a = view_as_complex(in[0]);
        const auto [l, v] = linalg_eigh((a + adjoint(a)) * 0.5);
        return {view_as_real(matmul(v * unsqueeze(sin(l), -2), adjoint(v))), l};
      },
      {leaf({3, 3, 2}, 1)});
  const auto general = [](const Tensor& a) -> TensorList {
    const std::vector<Tensor> both = call("linalg_eig", {a});
    const Tensor product = matmul(both[1] * unsqueeze(both[0] * both[0], -2), linalg_inv(both[1]));
    const Tensor sizes = complex_abs(both[1]);
    return {view_as_real(product), view_as_real(both[0]), sizes * sizes};
  };
  check_derivatives([&](const TensorList& in) { return general(in[0]); }, {leaf({3, 3}, 2)});
  check_derivatives([&](const TensorList& in) { return general(view_as_complex(in[0])); }, {leaf({3, 3, 2}, 5)});
}

TEST_CASE("linalg: what asks for the phase of a complex vector is refused") {
  const Tensor a = leaf({3, 3, 2}, 4);
  const auto message = [&](const DifferentiableFunction& f) {
    try {
      return gradcheck(f, {a});
    } catch (const TensorError& e) {
      return e.message();
    }
  };
  CHECK(message([](const TensorList& in) -> TensorList {
          return {view_as_real(std::get<0>(linalg_svd(view_as_complex(in[0]))))};
        }).starts_with("svd_backward: The singular vectors in the complex case"));
  CHECK(message([](const TensorList& in) -> TensorList {
          return {view_as_real(std::get<1>(linalg_eigh(view_as_complex(in[0]))))};
        }).starts_with("linalg_eigh_backward: The eigenvectors in the complex case"));
}

TEST_CASE("linalg: a Cholesky factor is differentiable through what it solves") {
  check_derivatives(
      [](const TensorList& in) -> TensorList {
        const Tensor a = view_as_complex(in[0]), one = eye(2, {}, kComplex128);
        const Tensor l = call("linalg_cholesky", {matmul(a, adjoint(a)) + one})[0];
        return {view_as_real(call("cholesky_inverse", {l})[0])};
      },
      {leaf({2, 2, 2}, 6)});
}

TEST_CASE("linalg: factors put together give the matrix, for every dtype, size and batch") {
  for (const DType type : {kFloat32, kFloat64, kComplex64, kComplex128})
    for (const Dims& sizes :
         {Dims{1, 1}, Dims{4, 4}, Dims{5, 3}, Dims{3, 5}, Dims{2, 3, 4, 4}, Dims{40, 40}, Dims{3, 70, 50}}) {
      CAPTURE(name(type));
      CAPTURE(shape_str(sizes));
      Tensor a = numbers(sizes, 7, real_type(type));
      if (is_complex(type)) a = complex(a, numbers(sizes, 8, real_type(type)));
      const double tolerance = real_type(type) == kFloat32 ? 2e-4 : 1e-11;
      const auto [u, s, vh] = linalg_svd(a, false);
      CHECK(near(matmul(u * unsqueeze(s, -2), vh), a, tolerance));
      const std::vector<Tensor> qr = call("linalg_qr", {a}), lu = call("linalg_lu", {a}),
                                full = call("linalg_qr", {a, std::string("complete")});
      CHECK(near(matmul(qr[0], qr[1]), a, tolerance));
      CHECK(near(matmul(full[0], full[1]), a, tolerance));
      CHECK(near(matmul(lu[0], matmul(lu[1], lu[2])), a, tolerance));
      if (a.size(-1) != a.size(-2)) continue;
      const Tensor h = a + adjoint(a), b = narrow(h, -1, 0, 1);
      const auto [l, v] = linalg_eigh(h);
      CHECK(near(matmul(v * unsqueeze(l, -2), adjoint(v)), h, tolerance * 10));
      const std::vector<Tensor> eig = call("linalg_eig", {a});
      const Tensor wide = to_dtype(a, eig[0].dtype());
      CHECK(near(matmul(wide, eig[1]), eig[1] * unsqueeze(eig[0], -2), tolerance * 10));
      for (const bool hermitian : {false, true}) {
        const Tensor m = hermitian ? h : a + transpose(a, -2, -1);
        const std::vector<Tensor> ldl = call("linalg_ldl_factor", {m, hermitian});
        const Tensor x = call("linalg_ldl_solve", {ldl[0], ldl[1], b, hermitian})[0];
        CHECK(near(matmul(m, x), b, tolerance * 100 * (1 + max(abs(real(x))).item().to_double())));
      }
    }
}

TEST_CASE("linalg: reflectors of matrices with very large and very small elements") {
  for (const double scale : {1e-200, 1e-30, 1.0, 1e30, 1e200})
    for (const DType type : {kFloat64, kComplex128}) {
      CAPTURE(scale);
      const Tensor unit = numbers({5, 4}, 12), a = type == kFloat64 ? unit : complex(unit, numbers({5, 4}, 13));
      const std::vector<Tensor> qr = call("linalg_qr", {a * scale});
      CHECK(near(matmul(qr[0], qr[1]) / scale, a, 1e-12));
      CHECK(near(matmul(adjoint(qr[0]), qr[0]), eye(4, {}, type), 1e-12));
    }
  const std::vector<Tensor> none = call("linalg_qr", {zeros({3, 2}, kFloat64)});
  CHECK(near(none[0], eye(3, 2, kFloat64), 0));
  CHECK(near(none[1], zeros({2, 2}, kFloat64), 0));
}

TEST_CASE("linalg: a matrix has the same bits alone and in a batch, for any number of threads") {
  Context& context = Context::current();
  const int threads = context.threads;
  const Tensor a = numbers({30, 6, 6}, 9, kFloat32);
  for (const int n : {1, 4}) {
    context.threads = n;
    const Tensor all = linalg_inv(a), values = linalg_svdvals(a);
    for (int64_t i = 0; i < 30; i++) {
      const Tensor one = clone(select(a, 0, i)), inverse = contiguous(linalg_inv(one)),
                   expected = contiguous(select(all, 0, i));
      CHECK(std::memcmp(inverse.data_ptr(), expected.data_ptr(), inverse.nbytes()) == 0);
      const Tensor s = linalg_svdvals(one);
      CHECK(std::memcmp(s.data_ptr(), contiguous(select(values, 0, i)).data_ptr(), s.nbytes()) == 0);
    }
  }
  context.threads = threads;
}

TEST_CASE("linalg: a cancelled batch stops") {
  Context& context = Context::current();
  const Tensor a = numbers({400, 40, 40}, 11);
  context.cancel = true;
  CHECK_THROWS_AS(linalg_svd(a), TensorError);
  context.cancel = false;
  CHECK(linalg_svdvals(narrow(a, 0, 0, 2)).numel() == 80);
}
