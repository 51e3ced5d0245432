// Dense conversions have vectors, strided ones are element by element: both have to give the same bits, for every pair of
// dtypes, at every length of the remainder.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/ops.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/views.h"

using namespace tessera::tensor;

namespace {

// Values that both dtypes hold in range; what lies outside is undefined for integers.
std::vector<double> values_for(DType from, DType to) {
  std::vector<double> v = {0, 1, 2, 3, 5, 100, 127, 0.5, 1.5, 2.5, 99.9};
  const bool is_signed = from != kBool && from != kUInt8 && to != kUInt8;
  if (is_signed)
    for (double x : {-1.0, -0.5, -1.5, -100.0, -127.0}) v.push_back(x);
  if (is_floating(from) && is_floating(to))
    for (double x :
         {-0.0, 65504.0, 65519.0, 65520.0, 1e-5, 6e-8, 2.9e-8, 5.9604645e-8, 1e38, -1e38, 3.3895e38, 1e-40,
          double(INFINITY), double(-INFINITY), double(NAN), 1.00048828125, 1.00146484375, 1.00390625, 1.01171875})
      v.push_back(x);
  return v;
}

}  // namespace

TEST_CASE("dense and strided conversions give the same bits") {
  const DType types[] = {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64};
  for (const DType from : types)
    for (const DType to : types) {
      const std::vector<double> some = values_for(from, to);
      std::vector<double> all;
      for (int64_t i = 0; i < 2 * 133; i++) all.push_back(some[size_t(i / 2) % some.size()]);  // each twice, in a row
      const Tensor wide = to_dtype(Tensor::from_values(all, Dims{266}), from);
      for (const int64_t n : {1, 7, 16, 133}) {
        const Tensor strided = to_dtype(wide.view_of({n}, {2}), to);
        const Tensor dense = to_dtype(contiguous(wide.view_of({n}, {2})), to);
        INFO(std::string(name(from)), " to ", std::string(name(to)), ", ", n, " elements");
        CHECK(std::memcmp(contiguous(strided).data_ptr(), dense.data_ptr(), dense.nbytes()) == 0);
      }
    }
}

TEST_CASE("where on a mask, for every size of element, with numbers and broadcast") {
  for (const DType t : {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64})
    for (const int64_t n : {1, 15, 64, 133}) {
      const Tensor index = arange(Scalar(0), Scalar(n), Scalar(1), kInt64);
      const Tensor mask = eq(remainder(index, 3), 0);
      const Tensor x = to_dtype(remainder(index, 100), t), y = to_dtype(remainder(index, 7) + 1, t);
      const Tensor both = to_dtype(where(mask, x, y), kInt64),
                   first = to_dtype(where(mask, x, y.view_of({n}, {0})), kInt64);
      for (int64_t i = 0; i < n; i++) {
        const int64_t xi = is_bool(t) ? i % 100 != 0 : i % 100, yi = is_bool(t) ? 1 : i % 7 + 1;
        CHECK(both.data<int64_t>()[i] == (i % 3 == 0 ? xi : yi));
        CHECK(first.data<int64_t>()[i] == (i % 3 == 0 ? xi : 1));
      }
    }
}

TEST_CASE("transposed operands give what their copies give") {
  const auto same = [](const Tensor& a, const Tensor& b) {
    const Tensor x = contiguous(a), y = contiguous(b);
    return a.dtype() == b.dtype() && std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
  };
  for (const DType type : {kBool, kInt16, kInt64, kBFloat16, kFloat32, kFloat64, kComplex64, kComplex128})
    for (const auto& [rows, columns] :
         {std::pair<int64_t, int64_t>{4, 64}, {33, 32}, {100, 131}, {2, 300}, {257, 40}, {700, 129}})
      for (const int64_t planes : {1, 3}) {
        INFO(std::string(name(type)), " ", planes, "x", rows, "x", columns);
        const auto values = [&, rows = rows, columns = columns](int64_t first, int64_t period, DType as) {
          const Tensor x = remainder(arange(first, first + planes * rows * columns, 1, kInt64), Scalar(period));
          return transpose(to_dtype(reshape(x, {planes, columns, rows}), as), 1, 2);
        };
        const Tensor x = values(0, 113, type), y = contiguous(values(5, 97, type)), z = values(3, 101, type);
        const Tensor mask = values(0, 3, kBool), dx = contiguous(x), dz = contiguous(z);
        const Tensor row = select(select(y, 0, 0), 0, 0);
        CHECK(same(x + y, dx + y));
        CHECK(same(y + x, y + dx));
        CHECK(same(row + x, row + dx));
        CHECK(same(eq(x, y), eq(dx, y)));
        CHECK(same(where(mask, y, x), where(contiguous(mask), y, dx)));
        CHECK(same(where(contiguous(mask), x, z), where(contiguous(mask), dx, dz)));
        CHECK(same(y * values(0, 50, kInt16), y * contiguous(values(0, 50, kInt16))));
        Tensor sum = clone(y);
        add_(sum, x);
        CHECK(same(sum, dx + y));
      }
}

TEST_CASE("a result larger than the caches") {
  const int64_t n = (int64_t(40) << 20) / 4 + 13;  // 40 MiB and a remainder
  const Tensor x = full({n}, 1.5, kFloat32), y = full({n}, 2.0, kFloat32);
  const Tensor z = x + y, part = z.view_of({100}, {1}, n - 100);
  for (int64_t i = 0; i < 100; i++) CHECK(part.data<float>()[i] == 3.5f);
  CHECK(sum(z).item().to_double() == doctest::Approx(3.5 * double(n)));
  const Tensor above = z.view_of({n - 1}, {1}, 1) > x.view_of({n - 1}, {1}, 1);  // a result of another alignment
  CHECK(sum(above).item().to_int() == n - 1);
}
