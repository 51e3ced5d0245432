#include "tests/cuda/agreement/factors.h"

#include <algorithm>
#include <string_view>

#include "runtime/ops.h"
#include "runtime/ops/linalg/common.h"
#include "runtime/ops/views.h"
#include "tests/cuda/agreement/expected.h"
#include "tests/cuda/agreement/near.h"

namespace tessera::agreement {
namespace {

constexpr double kAsGood = 4;  // times the CPU's own error, beside a rounding
double rounding(DType values) { return values == kFloat64 ? 1e-10 : 1e-4; }

double farthest(const Tensor& a, const Tensor& b) { return a.numel() ? amax(abs(a - b)).item().to_double() : 0; }

// The letters of a product name the results in order: "u s v" is U diag(S) V^H, "u s w" is U diag(S) W.
struct Factors {
  Tensor left, values, right;  // right: what stands there in the product

  Factors(const TensorList& results, std::string_view product) : left(results[0]), values(results[1]) {
    const bool turned = product == "u s v";
    right = turned ? linalg::mH(results[2]) : results[2];
  }
  /// How far the product is from the matrix, and columns and rows from having length 1 and right angles.
  double error(const Tensor& matrix) const {
    const int64_t k = values.size(-1);
    const Tensor product =
        matmul(narrow(left, -1, 0, k) * unsqueeze(to_dtype(values, left.dtype()), -2), narrow(right, -2, 0, k));
    const double size = matrix.numel() ? amax(abs(matrix)).item().to_double() : 1;
    return std::max({farthest(product, matrix) / size, from_identity(matmul(linalg::mH(left), left)),
                     from_identity(matmul(right, linalg::mH(right)))});
  }

 private:
  static double from_identity(const Tensor& gram) { return farthest(gram, eye(gram.size(-1), {}, gram.dtype())); }
};

}  // namespace

bool same_factors(const Call& call, const TensorList& cpu, const TensorList& cuda) {
  const char* product = product_of(call);
  if (product == nullptr || cpu.size() != 3 || cuda.size() != 3) return false;
  TensorList here;
  for (size_t k = 0; k < 3; k++) {
    here.push_back(to_device(cuda[k], kCpu));
    if (cpu[k].sizes() != here[k].sizes() || cpu[k].dtype() != here[k].dtype()) return false;
  }
  const Factors a(cpu, product), b(here, product);
  const Tensor matrix = std::get<Tensor>(call.args[0]);
  return elements_differ(a.values, b.values, [] { return TensorList(); }).empty() &&
         b.error(matrix) <= kAsGood * a.error(matrix) + rounding(a.values.dtype());
}

}  // namespace tessera::agreement
