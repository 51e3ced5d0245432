// Kernels along rows and columns at the lengths where they change their way: whole registers and what is left of them, few
// rows and many, lines that are kept at once and longer ones.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "runtime/ops.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/softmax.h"
#include "runtime/ops/views.h"

using namespace tessera::tensor;

namespace {

Tensor pattern(Ints sizes) {
  const Tensor n = arange(0, numel_of(sizes), 1, kFloat32);
  return reshape(remainder(n * 7919.0 + 12345.0, Scalar(1009)) * (1.0 / 256) - 2.0, sizes);
}
bool same_bits(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() && std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0;
}

}  // namespace

TEST_CASE("rows: a NaN anywhere is the extreme of its row, and of no other") {
  for (const int64_t count : {1, 3, 4, 5, 31, 33, 70})
    for (const int64_t n : {1, 7, 8, 9, 24, 31, 32, 33, 47, 100, 300, 600})
      for (const int64_t place : {int64_t(0), n / 3, n / 2, n - 1}) {
        const int64_t row = count / 2;
        const Tensor x = pattern({count, n}), turned = t(x);
        x.data<float>()[row * n + place] = NAN;
        const Tensor results[] = {amax(x, Dims{1}), amin(x, Dims{1}), amax(contiguous(turned), Dims{0}),
                                  amin(contiguous(turned), Dims{0})};
        for (const Tensor& y : results)
          for (int64_t i = 0; i < count; i++)
            if (std::isnan(y.data<float>()[i]) != (i == row)) FAIL("row ", i, " of ", count, ", length ", n);
        for (int64_t i = 0; i < count; i++)
          if (i != row) {
            float most = -INFINITY;
            for (int64_t k = 0; k < n; k++) most = std::max(most, x.data<float>()[i * n + k]);
            if (results[0].data<float>()[i] != most || results[2].data<float>()[i] != most)
              FAIL("the largest of row ", i);
          }
      }
}

TEST_CASE("rows: a row's sum does not depend on the rows beside it") {
  for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16})
    for (const int64_t n : {5, 8, 15, 40, 100, 257, 1000, 1027}) {
      const Tensor x = to_dtype(pattern({37, n}), dtype), together = sum(x, Dims{1});
      for (int64_t i = 0; i < 37; i++)
        CHECK(same_bits(sum(select(x, 0, i), Dims{0}), contiguous(select(together, 0, i))));
    }
}

TEST_CASE("rows: softmax of halves is that of floats, rounded once") {
  for (const DType dtype : {kFloat16, kBFloat16})
    for (const int64_t n : {1, 5, 32, 100, 126, 128, 1000, 4064, 4065, 5000})
      for (const int64_t dim : {0, 1}) {
        const Tensor x = to_dtype(dim ? pattern({3, n}) : pattern({n, 35}), dtype);
        CHECK(same_bits(softmax(x, dim), to_dtype(softmax(to_dtype(x, kFloat32), dim), dtype)));
      }
}

TEST_CASE("rows: one element repeated") {
  for (const DType dtype : {kBool, kUInt8, kInt16, kFloat32, kInt64, kComplex128})
    for (const int64_t n : {1, 2, 15, 16, 31, 64, 67, 300}) {
      const Tensor column = to_dtype(reshape(arange(1, 20, 1, kInt64), {19, 1}), dtype);
      const Tensor wide = contiguous(expand(column, {19, n})), filled = full({n}, Scalar(1), dtype);
      for (int64_t i = 0; i < 19; i++)
        for (const int64_t k : {int64_t(0), n / 2, n - 1})
          CHECK(select(select(wide, 0, i), 0, k).item().to_complex() ==
                select(select(column, 0, i), 0, 0).item().to_complex());
      CHECK(same_bits(filled, to_dtype(ones({n}), dtype)));
    }
}

TEST_CASE("rows: arithmetic on halves is that of floats, rounded once") {
  for (const DType dtype : {kFloat16, kBFloat16})
    for (const int64_t n : {1, 15, 16, 17, 31, 32, 33, 100, 600, 20000}) {
      const Tensor base = to_dtype(pattern({3, 2 * n}), dtype), column = to_dtype(pattern({3, 1}), dtype);
      const auto wide = [](const Tensor& x) { return to_dtype(x, kFloat32); };
      for (const Tensor& x :
           {slice(base, 1, 0, n), slice(base, 1, 0, 2 * n, 2), contiguous(slice(base, 1, n, 2 * n))}) {
        const Tensor y = slice(base, 1, n, 2 * n);
        CHECK(same_bits(x + y, to_dtype(wide(x) + wide(y), dtype)));
        CHECK(same_bits(x * column, to_dtype(wide(x) * wide(column), dtype)));
        CHECK(same_bits(column / x, to_dtype(wide(column) / wide(x), dtype)));
        CHECK(same_bits(x * 2.1, to_dtype(wide(x) * 2.1, dtype)));  // the number is not a half
        CHECK(
            same_bits(clamp(x, Scalar(-0.3), Scalar(1.7)), to_dtype(clamp(wide(x), Scalar(-0.3), Scalar(1.7)), dtype)));
        CHECK(same_bits(lt(x, y), lt(wide(x), wide(y))));
        CHECK(same_bits(x + wide(y), wide(x) + wide(y)));
      }
    }
}
