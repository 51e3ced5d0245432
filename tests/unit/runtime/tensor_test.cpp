// The core of the tensor library: memory, views, promotion, messages, donation, registry.
#include <doctest/doctest.h>

#include <thread>

#include "runtime/device/backend.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/op.h"
#include "runtime/ops/pointwise_ids.h"

using namespace tessera::tensor;

namespace {

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const TensorError& e) {
    return std::string(python_name(e.kind())) + ": " + e.message();
  }
  return "nothing thrown";
}

Tensor floats(std::vector<float> v) {
  int64_t n = int64_t(v.size());
  return Tensor::from_values(v, {n});
}

}  // namespace

TEST_CASE("memory goes back to the account with the last handle") {
  Context context;
  ContextScope scope(context);
  int64_t before = context.account->used();
  {
    Tensor a = Tensor::empty({4}), b = Tensor::empty({1000, 1000});
    Tensor view = b.view_of({10}, {1});
    b.reset();
    CHECK(context.account->used() > 4000000);
    view.reset();
    CHECK(context.account->used() < 4000);
  }
  CHECK(context.account->used() == before);
}

TEST_CASE("the limit of the account is a catchable MemoryError and loses nothing") {
  Context context;
  ContextScope scope(context);
  context.account->set_limit(1 << 20);
  Tensor kept = ones({1000});
  CHECK(message_of([] { Tensor::empty({1 << 20}); }).starts_with("MemoryError"));
  CHECK(sum(kept).item().to_double() == 1000);
}

TEST_CASE("a small tensor's storage outlives it in a view, and on another thread") {
  Tensor view;
  {
    Tensor a = floats({1, 2, 3, 4});
    view = a.view_of({2}, {1}, 2);
  }
  CHECK(view.data<float>()[0] == 3);
  Tensor made;
  std::thread([&] { made = floats({5, 6}); }).join();
  CHECK(made.data<float>()[1] == 6);
}

TEST_CASE("from_blob shares memory and calls the deleter once") {
  float data[4] = {1, 2, 3, 4};
  int calls = 0;
  {
    Tensor t = Tensor::from_blob(data, {2, 2}, kFloat32, [&](void*) { calls++; });
    Tensor u = t;
    run_pointwise_inplace(pointwise::k_mul, std::vector<Operand>{t, 2.0}.data());
    CHECK(data[3] == 8);
    CHECK(calls == 0);
  }
  CHECK(calls == 1);
}

TEST_CASE("promotion") {
  Tensor i = arange(0, 3), f = to_dtype(i, kFloat32), d0 = Tensor::scalar(1.5, kFloat64), b = gt(i, 0),
         h = to_dtype(i, kFloat16);
  CHECK((i + 1).dtype() == kInt64);
  CHECK((i + 1.5).dtype() == kFloat32);
  CHECK((f + d0).dtype() == kFloat32);  // 0-dim is weaker
  CHECK((i + d0).dtype() == kFloat64);  // but its category counts
  CHECK((h + f).dtype() == kFloat32);
  CHECK((h * 2.0).dtype() == kFloat16);
  CHECK((i / i).dtype() == kFloat32);
  CHECK((b + b).dtype() == kBool);
  CHECK((b + 1).dtype() == kInt64);
  CHECK((i > f).dtype() == kBool);
  CHECK(sum(b).dtype() == kInt64);
  CHECK(exp(i).dtype() == kFloat32);
  CHECK(to_dtype(i, kUInt8).dtype() == kUInt8);
  CHECK((to_dtype(i, kUInt8) + to_dtype(i, kInt8)).dtype() == kInt16);
  CHECK(add(d0, 1).dtype() == kFloat64);
}

TEST_CASE("messages are PyTorch's") {
  Tensor a = ones({2, 3}), b = ones({4, 5}), i = arange(0, 3);
  CHECK(message_of([&] { add(a, ones({4})); }) ==
        "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1");
  CHECK(message_of([&] { mm(a, b); }) == "RuntimeError: mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
  CHECK(message_of([&] { sum(a, Dims{2}); }) ==
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  CHECK(
      message_of([&] { mean(i); }) ==
      "RuntimeError: mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long");
  CHECK(message_of([&] { bitwise_and(a, a); }) ==
        "NotImplementedError: \"bitwise_and_cpu\" not implemented for 'Float'");
  CHECK(message_of([&] {
          Operand in[] = {i, 1.5};
          run_pointwise_inplace(pointwise::k_add, in);
        }) == "RuntimeError: result type Float can't be cast to the desired output type Long");
  CHECK(message_of([&] {
          Tensor small = ones({3});
          Operand in[] = {small, a};
          run_pointwise_inplace(pointwise::k_add, in);
        }) == "RuntimeError: output with shape [3] doesn't match the broadcast shape [2, 3]");
  CHECK(message_of([&] { floor_divide(i, 0); }) == "RuntimeError: ZeroDivisionError");
  CHECK(message_of([&] { pow(i, -1); }) == "RuntimeError: Integers to negative integer powers are not allowed.");
  CHECK(message_of([&] { a.item(); }) == "ValueError: only one element tensors can be converted to Python scalars");
  CHECK(message_of([&] { dot(i, to_dtype(i, kFloat32)); }) ==
        "RuntimeError: dot : expected both vectors to have same dtype, but found Long and Float");
}

TEST_CASE("donation writes in place only for a sole owner") {
  const OpEntry* add_entry = find_op("add")[0];
  Tensor x = floats({1, 2}), y = floats({3, 4});
  void* memory = x.data_ptr();
  Tensor z = add_entry->fast.binary(x, y, 1);
  CHECK(z.data_ptr() == memory);
  Tensor other = y;
  Tensor w = add_entry->fast.binary(other, y, 1);
  CHECK(w.data_ptr() != y.data_ptr());
  Tensor base = floats({1, 2, 3, 4}), part = base.view_of({2}, {1});
  CHECK(add_entry->fast.binary(part, part, 1).data_ptr() != part.data_ptr());
}

TEST_CASE("sum is as close as pairwise summation") {
  Tensor x = full({1 << 22}, 0.1);
  double want = double(0.1f) * double(1 << 22);
  CHECK(std::abs(sum(x).item().to_double() - want) <= 0.25);  // one after the other: 16690
  Tensor columns = full({1 << 18, 8}, 0.1);
  CHECK(std::abs(sum(columns, Dims{0}).data<float>()[3] - double(0.1f) * (1 << 18)) <= 0.01);
}

TEST_CASE("a cancelled context stops a large op") {
  Context context;
  ContextScope scope(context);
  Tensor x = ones({1 << 22});
  context.cancel = true;
  CHECK_THROWS_AS(exp(x), TensorError);
  context.cancel = false;
  CHECK(exp(x).numel() == 1 << 22);
}

TEST_CASE("every schema parses and has a doc") {
  CHECK(all_ops().size() > 150);
  for (const OpEntry* e : all_ops()) {
    INFO(std::string(e->schema_text));
    CHECK_NOTHROW(e->schema());
    CHECK(e->schema().name == e->name);
    CHECK(e->documentation().size() > 3);
    if (const char* other = e->facts->alias_of) CHECK_MESSAGE(!find_op(other).empty(), other);
    for (const SchemaArg& a : e->schema().args) CHECK_NOTHROW(default_value(a));
  }
}

TEST_CASE("boxed calls: defaults, in place and out=") {
  const OpEntry* leaky = find_op("leaky_relu")[0];
  Tensor x = floats({-1, 2});
  CHECK(std::get<Tensor>(call_op(*leaky, {x})[0]).data<float>()[0] == doctest::Approx(-0.01));
  const OpEntry* add_alpha = find_op("add")[1];
  Tensor out[] = {Tensor::empty({0})};
  call_op(*add_alpha, {x, int64_t(1), int64_t(3)}, out);
  CHECK(out[0].data<float>()[1] == 5);
  Tensor self[] = {x};
  call_op(*find_op("mul")[0], {x, 2.0}, self);
  CHECK(x.data<float>()[0] == -2);
}
