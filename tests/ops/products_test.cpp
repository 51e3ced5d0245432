// Products and convolutions against their definitions: every way a product is computed (lanes, slices of the library,
// vectors, halves, integers), and a convolution with both its gradients.
#include <doctest/doctest.h>

#include <functional>

#include "runtime/autograd/engine.h"
#include "runtime/context.h"
#include "runtime/ops.h"
#include "runtime/ops/conv.h"
#include "runtime/ops/views.h"

using namespace tessera::tensor;

namespace {

/// Reproducible values in [-0.5, 0.5), whole ones for integers.
Tensor values(Ints shape, DType dtype, int64_t seed = 1) {
  const Tensor out = Tensor::empty(shape, kFloat64);
  for (int64_t i = 0; i < out.numel(); i++) {
    const double x = double((i * 7919 + seed * 12345) % 10007) / 10007.0 - 0.5;
    out.data<double>()[i] = is_floating(dtype) ? x : double(int64_t(x * 20));
  }
  return to_dtype(out, dtype);
}

double at(const Tensor& t, int64_t i) { return t.data<double>()[i]; }
Tensor exact(const Tensor& t) { return contiguous(to_dtype(t, kFloat64)); }
double furthest(const Tensor& a, const Tensor& b) {
  const GradMode no_grad(false);
  return max(abs(exact(a) - exact(b))).item().to_double();
}

Tensor defined_product(const Tensor& a_given, const Tensor& b_given) {
  const Tensor a = exact(a_given), b = exact(b_given);
  const int64_t m = a.sizes()[0], k = a.sizes()[1], n = b.sizes()[1];
  const Tensor out = Tensor::empty({m, n}, kFloat64);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t p = 0; p < k; p++) sum += at(a, i * k + p) * at(b, p * n + j);
      out.data<double>()[i * n + j] = sum;
    }
  return out;
}

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::Float64: return 1e-12;
    case DType::Float32: return 1e-4;
    case DType::Float16: return 2e-2;
    case DType::BFloat16: return 1e-1;
    default: return 0;
  }
}

Tensor turned(const Tensor& t) { return transpose(contiguous(transpose(t, -2, -1)), -2, -1); }

struct Shape {
  int64_t n, channels, height, width, outputs, kernel[2], stride[2], padding[2], dilation[2], groups;
};

/// f(image and weight index, result index) for every tap of every place.
void each_tap(const Shape& s, int64_t rows, int64_t columns, const std::function<void(int64_t, int64_t, int64_t)>& f) {
  const int64_t depth = s.channels / s.groups, high = s.outputs / s.groups;
  for (int64_t i = 0; i < s.n; i++)
    for (int64_t o = 0; o < s.outputs; o++)
      for (int64_t r = 0; r < rows; r++)
        for (int64_t q = 0; q < columns; q++)
          for (int64_t c = 0; c < depth; c++)
            for (int64_t y = 0; y < s.kernel[0]; y++)
              for (int64_t x = 0; x < s.kernel[1]; x++) {
                const int64_t row = r * s.stride[0] - s.padding[0] + y * s.dilation[0];
                const int64_t column = q * s.stride[1] - s.padding[1] + x * s.dilation[1];
                if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
                f(((i * s.channels + o / high * depth + c) * s.height + row) * s.width + column,
                  ((o * depth + c) * s.kernel[0] + y) * s.kernel[1] + x,
                  ((i * s.outputs + o) * rows + r) * columns + q);
              }
}

}  // namespace

TEST_CASE("products are sums of products, however they are computed") {
  const int64_t sizes[][3] = {{1, 1, 1},     {1, 7, 1},   {3, 4, 5},    {6, 8, 16},   {7, 9, 13},
                              {1, 64, 64},   {64, 64, 1}, {2, 100, 3},  {17, 33, 31}, {64, 64, 64},
                              {100, 20, 40}, {70, 10, 9}, {130, 3, 90}, {5, 200, 90}, {90, 150, 140}};
  for (DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16, kInt64, kInt32})
    for (const auto& size : sizes) {
      const int64_t m = size[0], k = size[1], n = size[2];
      const Tensor a = values({m, k}, dtype), b = values({k, n}, dtype, 2);
      const Tensor expected = defined_product(a, b);
      INFO(std::string(name(dtype)), ' ', m, 'x', k, 'x', n);
      CHECK(furthest(mm(a, b), expected) <= tolerance(dtype));
      CHECK(furthest(mm(turned(a), b), expected) <= tolerance(dtype));
      CHECK(furthest(mm(a, turned(b)), expected) <= tolerance(dtype));
      CHECK(furthest(mm(turned(a), turned(b)), expected) <= tolerance(dtype));
      if (!is_floating(dtype)) continue;
      const Tensor bias = values({n}, dtype, 3);
      CHECK(furthest(addmm(bias, a, b, 0.5, 2.0), exact(bias) * 0.5 + expected * 2.0) <= 4 * tolerance(dtype));
      CHECK(furthest(linear(a, transpose(b, 0, 1), bias), addmm(bias, a, b)) == 0);
    }
}

TEST_CASE("a layer adds its bias while the product is written, bit by bit as addmm does") {
  for (DType dtype : {kFloat32, kFloat64})
    for (const auto& [m, k, n] : {std::tuple{64, 900, 250}, {250, 900, 64}, {37, 300, 101}, {512, 64, 64}}) {
      const Tensor x = values({m, k}, dtype), w = values({n, k}, dtype, 2), bias = values({n}, dtype, 3);
      INFO(m, ' ', k, ' ', n);
      CHECK(furthest(linear(x, w, bias), addmm(bias, x, transpose(w, 0, 1))) == 0);
      CHECK(furthest(linear(turned(x), turned(w), bias), addmm(bias, turned(x), transpose(turned(w), 0, 1))) == 0);
    }
}

TEST_CASE("products that no cache holds have the same bits for any number of threads") {
#if defined(__SANITIZE_ADDRESS__)  // a product takes seconds, and both types go the same way
  constexpr DType kTypes[] = {kFloat32};
  constexpr int kLeast = 3;
#else
  constexpr DType kTypes[] = {kFloat32, kFloat64};
  constexpr int kLeast = 1;
#endif
  for (DType dtype : kTypes) {
    const Tensor a = values({265, 2101}, dtype), b = values({2101, 270}, dtype, 2), bias = values({270}, dtype, 3);
    const Tensor expected = defined_product(a, b), one = mm(a, b);
    const auto is_one = [&](const Tensor& x) { return furthest(x, one) == 0; };
    CHECK(furthest(one, expected) <= tolerance(dtype));
    CHECK(furthest(addmm(bias, a, b, 0.5, 2.0), exact(bias) * 0.5 + expected * 2.0) <= 4 * tolerance(dtype));
    CHECK(is_one(mm(turned(a), turned(b))));
    int& threads = Context::current().threads;
    const int before = threads;
    for (threads = kLeast; threads <= 3; threads++) CHECK(is_one(mm(a, turned(b))));
    threads = before;
  }
}

TEST_CASE("batches of products") {
  for (const auto& [batch, m, k, n] : {std::tuple{300, 4, 4, 4}, {64, 16, 16, 16}, {5, 70, 30, 20}, {9, 40, 90, 50}}) {
    const Tensor a = values({batch, m, k}, kFloat32), b = values({batch, k, n}, kFloat32, 2);
    for (const Tensor& out : {bmm(a, b), bmm(turned(a), turned(b))})
      for (int64_t i : {int64_t(0), int64_t(batch) / 2, int64_t(batch) - 1})
        CHECK(furthest(select(out, 0, i), defined_product(select(a, 0, i), select(b, 0, i))) < 1e-4);
  }
}

TEST_CASE("a long dot product, of neighbours and of every third element") {
  for (DType dtype : {kFloat32, kFloat64}) {
    const Tensor a = values({600000}, dtype), b = values({600000}, dtype, 2);
    const Tensor x = slice(a, 0, 0, 600000, 3), y = slice(b, 0, 0, 600000, 3);
    const double error = dtype == kFloat64 ? 1e-8 : 0.1;
    CHECK(furthest(dot(a, b), sum(exact(a) * exact(b))) < error);
    CHECK(furthest(dot(x, y), sum(exact(x) * exact(y))) < error);
    CHECK(furthest(dot(x, b.view_of({200000}, {1})), sum(exact(x) * exact(b.view_of({200000}, {1})))) < error);
  }
}

TEST_CASE("a dot product of any length") {
  for (DType dtype : {kFloat32, kFloat64})
    for (int64_t n : {1, 3, 16, 17, 100, 127, 129, 1000, 5001, 40000, 70001}) {
      const Tensor a = values({n}, dtype), b = values({n}, dtype, 2);
      INFO(n);
      CHECK(furthest(dot(a, b), sum(exact(a) * exact(b))) < (dtype == kFloat64 ? 1e-9 : 0.02));
    }
}

TEST_CASE("what was in the memory of a result does not reach it") {
  for (int64_t n : {1, 5, 200}) {
    { const Tensor dirty = full({200, n}, NAN); }
    CHECK(furthest(mm(ones({200, 30}), ones({30, n})), full({200, n}, 30.0)) == 0);
  }
}

TEST_CASE("a convolution and its gradients are what they are defined as") {
  const Shape shapes[] = {
      {2, 3, 6, 7, 4, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},    {2, 3, 9, 16, 4, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
      {1, 2, 30, 31, 3, {5, 3}, {1, 1}, {0, 1}, {1, 1}, 1},  {3, 4, 14, 20, 6, {3, 2}, {1, 1}, {2, 1}, {1, 2}, 2},
      {1, 4, 15, 40, 4, {3, 3}, {2, 1}, {1, 1}, {2, 1}, 4},  {2, 3, 16, 33, 5, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 1},
      {2, 8, 10, 13, 7, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 1},  {2, 8, 10, 13, 7, {1, 1}, {2, 3}, {0, 0}, {1, 1}, 1},
      {1, 1, 1, 200, 2, {1, 9}, {1, 1}, {0, 4}, {1, 1}, 1},  {1, 40, 3, 30, 9, {3, 3}, {1, 1}, {3, 3}, {1, 1}, 1},
      {20, 2, 13, 12, 3, {2, 4}, {1, 1}, {1, 2}, {1, 1}, 1}, {1, 1, 90, 100, 1, {7, 7}, {3, 3}, {3, 0}, {2, 2}, 1},
      {2, 6, 24, 24, 12, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 3},
  };
  for (const Shape& s : shapes)
    for (DType dtype : {kFloat32, kFloat64}) {
      const Tensor image = values({s.n, s.channels, s.height, s.width}, dtype);
      const Tensor weight = values({s.outputs, s.channels / s.groups, s.kernel[0], s.kernel[1]}, dtype, 2);
      const Tensor bias = values({s.outputs}, dtype, 3);
      set_requires_grad(image, true), set_requires_grad(weight, true);
      const Tensor out = conv2d(image, weight, bias, {s.stride[0], s.stride[1]}, {s.padding[0], s.padding[1]},
                                {s.dilation[0], s.dilation[1]}, s.groups);
      const Tensor g = values(out.sizes(), dtype, 4);
      backward({out}, {g});
      const GradMode no_grad(false);
      const Tensor x = exact(image), w = exact(weight), up = exact(g);
      const Tensor result = zeros(out.sizes(), kFloat64), to_image = zeros(x.sizes(), kFloat64),
                   to_weight = zeros(w.sizes(), kFloat64);
      each_tap(s, out.sizes()[2], out.sizes()[3], [&](int64_t i, int64_t k, int64_t r) {
        result.data<double>()[r] += at(x, i) * at(w, k);
        to_image.data<double>()[i] += at(up, r) * at(w, k);
        to_weight.data<double>()[k] += at(up, r) * at(x, i);
      });
      const double error = dtype == kFloat64 ? 1e-11 : 1e-3;
      INFO("shape ", &s - shapes, ' ', std::string(name(dtype)));
      CHECK(furthest(out, result + reshape(exact(bias), {1, s.outputs, 1, 1})) < error);
      CHECK(furthest(autograd_meta(image).grad, to_image) < error);
      CHECK(furthest(autograd_meta(weight).grad, to_weight) < error);
    }
}
