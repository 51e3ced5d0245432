// Launches that wait: chains of random ops have the bits of the single ops, for any shapes, dtypes and number of threads, and whoever
// looks at elements finds them.
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <thread>

#include "runtime/autograd/engine.h"
#include "runtime/context.h"
#include "runtime/error.h"
#include "runtime/fuse/launch_queue.h"
#include "runtime/ops/join.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/pointwise_rows.h"
#include "runtime/ops/views.h"

using namespace tessera::tensor;

namespace {

struct Fusing {
  Fusing(bool on, int threads = 1) : scope(context) { context.fuses_from = on ? 8192 : Context::kNever, context.threads = threads; }
  Context context;
  ContextScope scope;
};

Tensor values(Ints shape, DType dtype, int seed = 0) {
  const Tensor out = Tensor::empty(shape, kFloat64);
  for (int64_t i = 0; i < out.numel(); i++)
    out.data<double>()[i] = double((i * 7919 + 12345 + seed * 611) % 10007) / 5003.0 - 1.0;
  const Tensor converted = to_dtype(out, dtype);
  converted.data_ptr();
  return converted;
}

std::string bits(const Tensor& t) {
  return {static_cast<const char*>(t.data_ptr()), size_t(t.numel()) * item_size(t.dtype())};
}

using Random = std::mt19937;
int below(Random& random, size_t n) { return int(random() % n); }

/// One op of random operands among `known`; the same for the same state of `random`.
Tensor random_op(Random& random, const std::vector<Tensor>& known, const std::vector<Tensor>& small) {
  const auto any = [&]() -> const Tensor& { return known[size_t(below(random, known.size()))]; };
  const Tensor& x = any();
  const Tensor& y = below(random, 4) == 0 ? small[size_t(below(random, small.size()))] : any();
  const auto number = [](const Tensor& t) { return t.dtype() == kBool ? to_dtype(t, kFloat32) : t; };
  const auto real = [&](const Tensor& t) { return is_floating(t.dtype()) ? t : to_dtype(t, kFloat32); };
  switch (below(random, 21)) {
    case 18: return lerp(to_dtype(x, kFloat32), to_dtype(y, kFloat32), 0.3);
    case 19: return sin(real(x));
    case 20: return log1p(abs(real(x)));
    case 16: return to_dtype(x, kFloat32);
    case 17: return to_dtype(x, below(random, 2) ? kBFloat16 : kFloat64);
    case 0: return neg(number(x));
    case 1: return add(x, y);
    case 2: return mul(y, x);
    case 3: return mul(x, 1.5);
    case 4: return sub(0.25, number(x));
    case 5: return div(x, add(abs(number(y)), 0.5));
    case 6: return sigmoid(is_floating(x.dtype()) ? x : to_dtype(x, kFloat32));
    case 7: return tanh(x);
    case 8: return where_(gt(x, 0.0), x, y);
    case 9: return maximum(x, y);
    case 10: return exp(neg(abs(number(x))));
    case 11: return logical_and(gt(x, y), lt(x, 0.5));
    case 12: return clamp_min(number(x), -0.3);
    case 13: return add_scaled(number(x), y, 0.7);
    case 14: return pow(number(x), 2.0);
    default: return eq(x, y);
  }
}

/// An op in place of random operands among `known`.
void overwrite(Random& random, const std::vector<Tensor>& known, const std::vector<Tensor>& small) {
  const Tensor& x = known[size_t(below(random, known.size()))];
  const Tensor& y = below(random, 4) == 0 ? small[size_t(below(random, small.size()))] : known[size_t(below(random, known.size()))];
  if (!is_floating(x.dtype())) return;
  switch (below(random, 5)) {
    case 0: return void(add_(x, 1.0));
    case 1: return void(copy_(x, mul(x, y)));
    case 2: return void(add_(x, y));
    case 3: {
      const Operand in[] = {x};
      return run_pointwise_inplace(pointwise::k_sigmoid, in);
    }
    default: { const Operand in[] = {x, x}; return run_pointwise_inplace(pointwise::k_mul, in); }
  }
}

struct Program {
  Dims shape;
  std::vector<DType> types;
  unsigned seed;
  int ops;

  /// The bits of some results of a random program; which ones are kept is random too.
  std::vector<std::string> run() const {
    Random random(seed);
    std::vector<Tensor> known, small;
    for (size_t i = 0; i < types.size(); i++) known.push_back(values(shape, types[i], int(i)));
    small.push_back(values({}, types[0], 3));
    small.push_back(values({shape.back()}, types[0], 4));
    if (shape.size() > 1) {
      Dims column(shape);
      column.back() = 1;
      small.push_back(values(column, types[0], 5));
      Dims first(shape);
      first[0] = 1;
      small.push_back(values(first, types[0], 6));
    }
    std::vector<Tensor> kept;
    for (int i = 0; i < ops; i++) {
      known.push_back(random_op(random, known, small));
      const int what = below(random, 8);
      if (what == 0) kept.push_back(known.back());
      if (what == 1) kept.push_back(known.back().view_of(known.back().sizes(), known.back().strides()));
      if (what == 2 && known.size() > 3) known.erase(known.begin());
      if (what == 3) overwrite(random, known, small);
    }
    kept.push_back(known.back());
    const Tensor last = to_dtype(mul(known.back(), 1.5), types[0] == kFloat64 ? kFloat64 : kFloat32);
    const auto temporary = [](Tensor t) {
      Context::current().launch_queue().expect_end_of(t);
      return t;
    };
    switch (below(random, 6)) {
      case 0: kept.push_back(sum(temporary(add(last, 1.0)))); break;
      case 1: kept.push_back(mean(temporary(mul(last, 3.0)), Dims{-1}, true)); break;
      case 2: kept.push_back(amax(temporary(mul(last, last)), Dims{-1}, false)); break;
      case 3: kept.push_back(sum(temporary(sigmoid(last)))), kept.push_back(last); break;
      case 4: kept.push_back(sum(temporary(neg(mul(last, 0.5))), Dims{-1}, false)); break;
      default: break;
    }
    std::vector<std::string> out;
    for (const Tensor& t : kept) out.push_back(bits(t));
    return out;
  }
};

}  // namespace

TEST_CASE("chains of random ops have the bits of the single ops") {
  const std::vector<Dims> shapes = {{8192}, {20000}, {100003}, {97, 131}, {129, 1024}, {5, 7, 1111}, {3, 5000}, {1025, 8}, {1000, 33}, {200, 48}};
  const std::vector<std::vector<DType>> types = {{kFloat32, kFloat32}, {kFloat64, kFloat64}, {kBFloat16, kBFloat16},
                                                 {kFloat16, kFloat32}, {kFloat32, kFloat64}, {kFloat32, kInt64, kBool}};
  unsigned seed = 1;
  for (int round = 0; round < 4; round++)
    for (const Dims& shape : shapes)
      for (const auto& of : types) {
        const Program program{shape, of, seed++, 3 + int(seed % 40)};
        std::vector<std::string> expected;
        {
          const Fusing off(false);
          expected = program.run();
        }
        for (const int threads : {1, 3}) {
          const Fusing on(true, threads);
          const bool same = program.run() == expected;
          CHECK_MESSAGE(same, "program ", program.seed, " with ", threads, " threads");
        }
      }
}

// Every row, on every float type: what is refused is refused at the call.
TEST_CASE("a launch of any row that waits has a kernel") {
  for (int id = 0; id < pointwise::kPointwiseCount; id++)
    for (const DType type : {kFloat32, kFloat64, kFloat16, kBFloat16, kBool, kInt64, kUInt8}) {
      const PointwiseRow& row = kPointwiseRows[id];
      const auto run = [&](bool on) -> std::string {
        const Fusing fusing(on);
        const Tensor x = values({8200}, type, 1), y = values({8200}, type, 2), z = values({8200}, type, 3);
        const Operand in[3] = {x, y, z};
        const Scalar params[2] = {0.25, 0.75};
        try {
          const Tensor result = run_pointwise(id, in, params);
          CHECK((!on || !result.storage().is_pending() || PendingLaunches::any()));
          return bits(result);
        } catch (const TensorError& error) {
          CHECK_FALSE(PendingLaunches::any());
          return error.what();
        }
      };
      const bool same = run(true) == run(false);
      CHECK_MESSAGE(same, row.name, " of ", scalar_type_name(type));
    }
}

namespace {

/// Each of these with each, and a rest that is no whole vector.
Tensor special_values(int period) {
  constexpr uint32_t kBits[] = {0, 0x80000000, 0x3f800000, 0xbfc00000, 0x7f800000, 0xff800000, 0x7fc00011, 0xffc00022, 0x7f800033, 1, 0x807fffff,
                                0x7f7fffff, 0xff7fffff, 0x40490fdb, 0x3e4ccccd, 0xc1200000};
  const Tensor out = Tensor::empty({8192 + 37}, kFloat32);
  for (int64_t i = 0; i < out.numel(); i++) std::memcpy(out.data<float>() + i, &kBits[i / period % 16], 4);
  return out;
}

}  // namespace

// Two NaNs too: what a generated function computes has the kernels' order of operands.
TEST_CASE("a chain of any two rows on special numbers has the bits of single ops") {
  for (int id = 0; id < pointwise::kPointwiseCount; id++) {
    std::string expected[3];
    for (const int way : {0, 1, 2}) {  // one by one, generated, interpreted
      Fusing fusing(way != 0);
      fusing.context.generates_code = way == 1;
      const Tensor x = special_values(1), y = special_values(16), z = special_values(256), one = special_values(3).view_of({}, {}, 18);
      const Scalar params[2] = {0.25, 0.75};
      try {
        const Operand plain[3] = {x, y, z}, repeated[3] = {one, y, z}, number[3] = {x, Scalar(0.5), z};
        const Tensor first = run_pointwise(id, plain, params), second = run_pointwise(id, repeated, params);
        const Tensor third = run_pointwise(id, number, params), mask = gt(x, y);
        const Tensor chosen = where_(mask, mul(x, y), add_scaled(z, x, 0.5)), sums = add(first, second);
        expected[way] = bits(maximum(minimum(sums, chosen), third)) + bits(sub(fmin(sums, x), fmax(third, y)));
        expected[way] += bits(mask) + bits(third) + bits(chosen) + bits(div(neg(abs(sums)), clamp_min(square(first), -1.0)));
      } catch (const TensorError& error) {
        expected[way] = error.what();
      }
    }
    CHECK_MESSAGE((expected[1] == expected[0]), std::string(kPointwiseRows[id].name), ", generated");
    CHECK_MESSAGE((expected[2] == expected[0]), std::string(kPointwiseRows[id].name), ", interpreted");
  }
}

TEST_CASE("who looks at elements finds them") {
  const Fusing on(true);
  const Tensor x = values({10000}, kFloat32);
  const auto twice = [&] {
    Tensor y = mul(x, 2.0);
    CHECK(PendingLaunches::any());
    CHECK(y.storage().is_pending());
    return y;
  };
  const float expected = x.data<float>()[17] * 2;
  SUBCASE("by their address") { CHECK(twice().data<float>()[17] == expected); }
  SUBCASE("through a view that was made before") {
    const Tensor y = twice(), view = y.view_of({10}, {1}, 10);
    CHECK(PendingLaunches::any());
    CHECK(view.offset() == 10);
    CHECK(view.data<float>()[7] == expected);
    CHECK(view.offset() == 10);
    CHECK(y.data<float>()[17] == expected);
  }
  SUBCASE("by a kernel") { CHECK(select(add(twice(), 0.0), 0, 17).item().to_double() == expected); }
  SUBCASE("when an operand is written") {
    const Tensor y = twice();
    add_(x, 1.0);
    CHECK(y.data<float>()[17] == expected);
  }
  SUBCASE("when an operand is given another memory") {
    Tensor other = values({10000}, kFloat32, 9);
    const Tensor y = twice();
    x.impl()->set_storage(&other.storage(), other.impl()->address());
    CHECK(y.data<float>()[17] == expected);
  }
  SUBCASE("from another thread, once the owner has come to an end") {
    const Tensor y = twice();
    CHECK(PendingLaunches::try_flush());
    std::thread([&] { CHECK(y.data<float>()[17] == expected); }).join();
  }
  SUBCASE("behind their context") {
    Tensor y;
    {
      const Fusing inner(true);
      y = mul(x, 2.0);
    }
    CHECK(y.data<float>()[17] == expected);
  }
  SUBCASE("of two contexts in turn") {
    const Tensor y = twice();
    Tensor z;
    {
      const Fusing inner(true);
      z = mul(y, 2.0);
      CHECK_FALSE(y.storage().is_pending());
      add_(x, 1.0);
      CHECK(z.data<float>()[17] == expected * 2);
    }
    CHECK(y.data<float>()[17] == expected);
  }
}

TEST_CASE("ops in place on a tensor that has memory wait for each other") {
  const Fusing on(true);
  const Tensor x = values({10000}, kFloat32);
  const float before = x.data<float>()[17];
  const Operand twice[2] = {x, Scalar(2.0)};
  run_pointwise_inplace(pointwise::k_mul, twice);
  add_(x, 1.0);
  const Tensor y = neg(x);
  CHECK(PendingLaunches::any());
  CHECK(y.data<float>()[17] == -(before * 2 + 1));
  CHECK(x.data<float>()[17] == before * 2 + 1);
}

TEST_CASE("a short op that has nothing to do with launches that wait leaves them waiting") {
  const Fusing on(true);
  const Tensor x = values({10000}, kFloat32), few = values({10}, kFloat32, 3);
  const float number = few.data<float>()[3], before = x.data<float>()[17];
  const Tensor part = x.view_of({10}, {1}, 10);
  const Tensor y = mul(x, 2.0);
  const Tensor sum = add(few, 1.0);
  CHECK(PendingLaunches::any());
  SUBCASE("and has its result") {
    CHECK(*reinterpret_cast<float*>(sum.impl()->address() + 12) == number + 1);
    CHECK(y.data<float>()[17] == before * 2);
  }
  SUBCASE("but not one that writes what they read") {
    add_(part, 1.0);
    CHECK_FALSE(PendingLaunches::any());
    CHECK(y.data<float>()[17] == before * 2);
    CHECK(x.data<float>()[17] == before + 1);
  }
  SUBCASE("nor one that reads what they write") {
    add_(x, 1.0);
    CHECK(PendingLaunches::any());
    CHECK(add(part, 1.0).data<float>()[7] == before + 2);
  }
  SUBCASE("nor one on a part of a pending result") {
    CHECK(add(y.view_of({10}, {1}, 10), 1.0).data<float>()[7] == before * 2 + 1);
  }
}

TEST_CASE("memory that others know is read at once") {
  const Fusing on(true);
  std::vector<float> memory(10000, 1.0F);
  const Tensor blob = Tensor::from_blob(memory.data(), {10000}, kFloat32);
  const Tensor y = mul(blob, 2.0);
  memory[5] = 7.0F;
  CHECK(y.data<float>()[5] == 2.0F);
  const Tensor x = values({10000}, kFloat32);
  float* const known = reinterpret_cast<float*>(x.impl()->exposed_address());
  const float before = known[5];
  const Tensor z = mul(x, 2.0);
  known[5] = 7.0F;
  CHECK(z.data<float>()[5] == before * 2);
}

TEST_CASE("a limit refuses what it refuses without a queue") {
  size_t expected = 0;
  for (const bool fuses : {false, true}) {
    const Fusing on(fuses);
    Tensor x = values({100000}, kFloat32);
    on.context.account->set_limit(on.context.account->used() + 3 * 520000);
    for (int i = 0; i < 100; i++) x = add(mul(x, 0.5), 1.0);  // two at a time beside what is there
    CHECK(x.data<float>()[0] == doctest::Approx(2.0));
    std::vector<Tensor> kept;
    const auto keep = [&] {
      for (int i = 0; i < 8; i++) kept.push_back(add(x, 1.0));
    };
    CHECK_THROWS_AS(keep(), TensorError);
    if (!fuses) expected = kept.size();
    CHECK(kept.size() == expected);
  }
}

TEST_CASE("a stop is not lost, and does not keep a launch that waits from its end") {
  Fusing on(true);
  const Tensor x = values({100000}, kFloat32);
  const Tensor y = mul(x, 2.0);
  on.context.cancel = true;
  CHECK(y.data<float>()[17] == x.data<float>()[17] * 2);
  CHECK_THROWS_AS(on.context.poll(), TensorError);
}

TEST_CASE("gradients through a chain have the bits of single ops") {
  std::string expected;
  for (const bool fuses : {false, true}) {
    const Fusing on(fuses);
    Tensor x = values({64, 257}, kFloat32), w = values({257}, kFloat32, 2);
    set_requires_grad(x, true), set_requires_grad(w, true);
    Tensor y = mul(sigmoid(add(mul(x, w), 0.5)), tanh(x));
    y = mul(exp(neg(mul(y, y))), x);
    backward({y}, {values({64, 257}, kFloat32, 5)});
    const std::string got = bits(autograd_meta(x).grad) + bits(autograd_meta(w).grad);
    if (!fuses) expected = got;
    CHECK(got == expected);
  }
}
