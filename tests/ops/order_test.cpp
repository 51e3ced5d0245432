// Sorting, selecting and going by index or mask on rows long enough for every way through the kernels, against the plainest
// possible code, and the same bits for any number of threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "runtime/context.h"
#include "runtime/ops.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"

using namespace tessera::tensor;

namespace {

// Numbers without a pattern; `kinds` of them differ. Some are NaN or -0 where the type has them.
Tensor numbers(int64_t n, int64_t kinds, DType dtype) {
  std::vector<double> values;
  uint64_t state = uint64_t(n) * 31 + uint64_t(kinds);
  for (int64_t i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int64_t kind = int64_t(state >> 33) % kinds;
    const bool floating = is_floating(dtype);
    if (floating && kind % 11 == 3) values.push_back(std::nan(""));
    else if (floating && kind % 11 == 4) values.push_back(-0.0);
    else values.push_back(double(kind) - double(kinds / 2));
  }
  return to_dtype(Tensor::from_values(values, {n}), dtype);
}

std::vector<double> doubles(const Tensor& t) {
  const Tensor d = contiguous(to_dtype(t, kFloat64));
  return {d.data<double>(), d.data<double>() + d.numel()};
}
std::vector<int64_t> integers(const Tensor& t) {
  const Tensor c = contiguous(t);
  return {c.data<int64_t>(), c.data<int64_t>() + c.numel()};
}

bool below(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

std::vector<int64_t> stable_order(const std::vector<double>& x, bool descending) {
  std::vector<int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return descending ? below(x[size_t(b)], x[size_t(a)]) : below(x[size_t(a)], x[size_t(b)]);
  });
  return order;
}

// PyTorch's topk, as its source says it.
std::vector<int64_t> topk_order(const std::vector<double>& x, int64_t k, bool largest, bool sorted) {
  std::vector<std::pair<double, int64_t>> queue;
  for (size_t i = 0; i < x.size(); i++) queue.emplace_back(x[i], int64_t(i));
  const auto first = [&](const auto& a, const auto& b) {
    return largest ? below(b.first, a.first) : below(a.first, b.first);
  };
  if (k * 64 <= int64_t(x.size())) {
    std::partial_sort(queue.begin(), queue.begin() + k, queue.end(), first);
  } else {
    std::nth_element(queue.begin(), queue.begin() + k - 1, queue.end(), first);
    if (sorted) std::sort(queue.begin(), queue.begin() + k - 1, first);
  }
  std::vector<int64_t> order;
  for (int64_t i = 0; i < k; i++) order.push_back(queue[size_t(i)].second);
  return order;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0;
}

// f with one thread and with three gives the same.
template <class F>
void check_threads(F f) {
  Context& context = Context::current();
  const int before = context.threads;
  context.threads = 1;
  const Tensor one = contiguous(f());
  context.threads = 3;
  const Tensor three = contiguous(f());
  context.threads = before;
  CHECK(same_bits(one, three));
}

constexpr DType kSorted[] = {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64};

}  // namespace

TEST_CASE("order: sort is stable, NaN last, for every dtype and length") {
  for (const DType dtype : kSorted)
    for (const int64_t n : {1, 2, 3, 5, 8, 13, 31, 32, 33, 64, 100, 257, 3000})
      for (const int64_t kinds : {1, 3, 100})
        for (const bool descending : {false, true}) {
          INFO(name(dtype), " ", n, " ", kinds, " ", descending);
          const Tensor x = numbers(n, kinds, dtype);
          const auto [values, index] = sort(x, 0, descending);
          REQUIRE(integers(index) == stable_order(doubles(x), descending));
          REQUIRE(same_bits(values, index_select(x, 0, index)));
        }
  for (const DType dtype : {kInt16, kInt64, kFloat32, kFloat64})
    for (const int64_t kinds : {100, 100000}) {
      const Tensor x = numbers(70000, kinds, dtype);
      CHECK(integers(std::get<1>(sort(x))) == stable_order(doubles(x), false));
    }
  // Keys that need all their bits beside the place, and numbers at both ends.
  const Tensor wide = Tensor::from_values<int64_t>({INT64_MAX, 5, INT64_MIN, -1, INT64_MAX, 0}, {6});
  CHECK(integers(std::get<1>(sort(wide))) == std::vector<int64_t>{2, 3, 5, 1, 0, 4});
  const Tensor far = cat({wide, arange(0, 100, 1, kInt64)});
  CHECK(integers(std::get<1>(sort(far))) == stable_order(doubles(far), false));
}

TEST_CASE("order: topk takes what PyTorch takes of equal elements") {
  for (const DType dtype : {kInt64, kFloat32, kFloat64, kBFloat16})
    for (const int64_t n : {3, 20, 100, 1000, 5000})
      for (const int64_t k : {int64_t(1), int64_t(3), n / 64, n / 9, n / 2, n})
        for (const int64_t kinds : {3, 100000})
          for (const int flags : {0, 1, 2, 3}) {
            if (k < 1 || k > n) continue;
            INFO(name(dtype), " ", n, " ", k, " ", kinds, " ", flags);
            const Tensor x = numbers(n, kinds, dtype);
            const auto [values, index] = topk(x, k, 0, flags & 1, flags & 2);
            REQUIRE(integers(index) == topk_order(doubles(x), k, flags & 1, flags & 2));
            REQUIRE(same_bits(values, index_select(x, 0, index)));
          }
}

TEST_CASE("order: kthvalue and median are elements of the sorted row") {
  for (const DType dtype : {kInt8, kInt64, kFloat32, kFloat64})
    for (const int64_t n : {1, 2, 50, 129, 1000, 20000})
      for (const int64_t kinds : {3, 100000}) {
        const Tensor x = numbers(n, kinds, dtype), sorted = std::get<0>(sort(x));
        for (const int64_t k : {int64_t(1), (n + 1) / 2, n}) {
          const auto [value, index] = kthvalue(x, k);
          CHECK(same_bits(value, select(x, 0, index.item().to_int())));
          const double got = value.item().to_double(), want = select(sorted, 0, k - 1).item().to_double();
          CHECK((got == want || (std::isnan(got) && std::isnan(want))));
        }
        const auto [middle, at] = median(x, 0);
        CHECK(same_bits(middle, select(x, 0, at.item().to_int())));
        const bool broken = is_floating(dtype) && any(isnan(x)).item().to_bool();
        CHECK(std::isnan(middle.item().to_double()) == broken);
        if (!broken) CHECK(at.item().to_int() == stable_order(doubles(x), false)[size_t(n - 1) / 2]);
      }
}

TEST_CASE("order: indexing and masks do not depend on threads") {
  const int64_t n = 70000;
  const Tensor x = numbers(n, 1000, kFloat32), value = to_dtype(numbers(n, 777, kInt64), kFloat32);
  const Tensor at = remainder(numbers(n, 100000, kInt64), Scalar(97)), mask = numbers(n, 5, kInt64) > Scalar(0);
  const Tensor table = zeros({97}), wide = reshape(value, {100, 700});
  check_threads([&] { return index_select(x, 0, at); });
  check_threads([&] { return scatter_add(table, 0, at, value); });
  check_threads([&] { return index_put(table, {at}, value, true); });
  check_threads([&] { return scatter(table, 0, at, value); });
  check_threads([&] { return index_add(zeros({97, 700}), 0, slice(at, 0, 0, 100), wide); });
  check_threads([&] { return scatter_add(zeros({100, 97}), 1, reshape(at, {100, 700}), wide); });
  check_threads([&] { return nonzero(mask); });
  check_threads([&] { return nonzero(reshape(mask, {7, 100, 100})); });
  check_threads([&] { return masked_select(value, mask); });
  check_threads([&] { return masked_fill(value, mask, Scalar(2)); });
  check_threads([&] { return index_put(value, {mask}, slice(x, 0, 0, nonzero(mask).sizes()[0]), false); });
  check_threads([&] { return std::get<1>(sort(reshape(x, {700, 100}), 0)); });
  check_threads([&] { return std::get<1>(topk(reshape(x, {100, 700}), 5)); });
  check_threads([&] { return contiguous(transpose(wide, 0, 1)); });
  check_threads([&] { return flip(wide, {1}); });
}

TEST_CASE("order: of several indices out of bounds the first is reported") {
  Context& context = Context::current();
  const int before = context.threads;
  const Tensor at = zeros({200000}, kInt64);
  for (const int64_t bad : {199999, 150000, 60000, 60001}) fill_(select(at, 0, bad), Scalar(bad));
  for (const int threads : {1, 3}) {
    context.threads = threads;
    try {
      gather(ones({5}), 0, at);
      FAIL_CHECK("taken");
    } catch (const TensorError& e) {
      CHECK(std::string(e.message()) == "index 60000 is out of bounds for dimension 0 with size 5");
    }
  }
  context.threads = before;
}

TEST_CASE("order: a mask of any density finds its places") {
  for (const int64_t n : {1, 7, 8, 9, 63, 1000, 40000})
    for (const int64_t share : {0, 1, 50, 99, 100}) {
      std::vector<int64_t> set(size_t(n), 0), places;
      for (int64_t i = 0; i < n; i++)
        if (i * 7919 % 100 < share) set[size_t(i)] = 1, places.push_back(i);
      const Tensor mask = Tensor::from_values(set, {n}, kBool), x = arange(0, n, 1, kInt64);
      CHECK(integers(nonzero(mask)) == places);
      CHECK(integers(nonzero(to_dtype(mask, kFloat32))) == places);
      CHECK(integers(masked_select(x, mask)) == places);
      CHECK(integers(index(x, {mask})) == places);
      const Tensor written = index_put(full({n}, -1, kInt64), {mask}, masked_select(x, mask), false);
      for (int64_t i = 0; i < n; i++)
        if (written.data<int64_t>()[i] != (set[size_t(i)] ? i : -1)) FAIL("at ", i, " of ", n);
    }
}

TEST_CASE("order: transposed, reversed and strided copies move every element") {
  for (const DType dtype : {kUInt8, kInt16, kFloat32, kInt64, kComplex128})
    for (const auto& [rows, columns] :
         {std::pair<int64_t, int64_t>{8, 8}, {9, 17}, {3, 50}, {50, 3}, {33, 65}, {64, 64}, {130, 129}, {200, 10}}) {
      const Tensor x =
          reshape(to_dtype(remainder(arange(0, rows * columns, 1, kInt64), Scalar(113)), dtype), {rows, columns});
      const auto element = [&](const Tensor& t, int64_t i, int64_t j) { return select(select(t, 0, i), 0, j).item(); };
      const Tensor turned = contiguous(t(x)), mirrored = flip(x, {0, 1}), converted = to_dtype(t(x), kFloat64);
      const Tensor thinned = contiguous(slice(x, 1, 0, columns, 2)), back = flip(x, {1});
      for (const auto& [i, j] : {std::pair<int64_t, int64_t>{0, 0},
                                 {rows - 1, columns - 1},
                                 {rows / 2, columns / 3},
                                 {rows - 1, 0},
                                 {0, columns - 1},
                                 {rows / 3, columns / 2}}) {
        const auto want = element(x, i, j).to_complex();
        CHECK(element(turned, j, i).to_complex() == want);
        CHECK(element(mirrored, rows - 1 - i, columns - 1 - j).to_complex() == want);
        CHECK(element(back, i, columns - 1 - j).to_complex() == want);
        CHECK(element(converted, j, i).to_complex() == want);
        if (j % 2 == 0) CHECK(element(thinned, i, j / 2).to_complex() == want);
      }
      CHECK(same_bits(contiguous(t(turned)), x));
      CHECK(same_bits(flip(mirrored, {0, 1}), x));
    }
}
