#include <doctest/doctest.h>
#include <malloc.h>

#include <thread>

#include "runtime/autograd/engine.h"
#include "runtime/autograd/function.h"
#include "runtime/format.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/views.h"
#include "tests/sanitized.h"

using namespace tessera::tensor;

namespace {

Tensor leaf(std::vector<double> values, Ints sizes) {
  Tensor t = Tensor::from_values(values, sizes, kFloat64);
  set_requires_grad(t, true);
  return t;
}

std::vector<double> numbers(const Tensor& t) {
  const Tensor c = contiguous(detached(t));
  return {c.data<double>(), c.data<double>() + c.numel()};
}

std::vector<double> grad_of(const Tensor& t) { return numbers(autograd_meta(t).grad); }

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const TensorError& e) {
    return e.message();
  }
  return "";
}

void mul_(const Tensor& self, double factor) {
  const Operand both[] = {self, factor};
  run_pointwise_inplace(pointwise::k_mul, both);
}

using V = std::vector<double>;

}  // namespace

TEST_CASE("backward fills the leaves and adds up") {
  const Tensor w = leaf({3, 4}, {2}), b = leaf({1, 1}, {2});
  const Tensor y = sum(w * w + b);
  backward({y});
  CHECK(grad_of(w) == V{6, 8});
  CHECK(grad_of(b) == V{1, 1});
  backward({sum(w)});
  CHECK(grad_of(w) == V{7, 9});
}

TEST_CASE("a broadcast operand gets the sum") {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}, {2, 3}), row = leaf({1, 10, 100}, {3});
  backward({sum(x * row)});
  CHECK(grad_of(row) == V{5, 7, 9});
  CHECK(grad_of(x) == V{1, 10, 100, 1, 10, 100});
}

TEST_CASE("the messages are PyTorch's") {
  const Tensor x = leaf({1, 2}, {2});
  CHECK(message_of([&] { backward({detached(x)}, {detached(x)}); }) ==
        "element 0 of tensors does not require grad and does not have a grad_fn");
  CHECK(message_of([&] { backward({x * 2.0}); }) == "grad can be implicitly created only for scalar outputs");
  const Tensor y = sum(x * x);
  backward({y});
  CHECK(message_of([&] { backward({y}); }).starts_with("Trying to backward through the graph a second time"));
  CHECK(message_of([&] { zero_(x); }) == "a leaf Variable that requires grad is being used in an in-place operation.");
  CHECK(message_of([&] {
          grad({sum(x)}, {leaf({1}, {1})});
        }).starts_with("The differentiated Tensor at index 0 appears to not have been used"));
}

TEST_CASE("a saved tensor that was written is noticed") {
  const Tensor x = leaf({4, 9}, {2});
  const Tensor y = sqrt(x);
  mul_(y, 2.0);
  CHECK(
      message_of([&] { backward({sum(y)}); }) ==
      "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.DoubleTensor [2]], which is "
      "output 0 of Sqrt, is at version 1; expected version 0 instead. Hint: enable anomaly detection to find the operation that "
      "failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).");
}

TEST_CASE("a second derivative") {
  const Tensor x = leaf({2}, {1});
  const Tensor y = sum(x * x * x);
  const Tensor g = grad({y}, {x}, {}, true, true)[0];
  CHECK(numbers(g) == V{12});
  CHECK(numbers(grad({sum(g)}, {x})[0]) == V{12});
}

TEST_CASE("a long chain needs no deep stack") {
  Tensor x = leaf({1}, {1});
  Tensor y = x;
  for (int i = 0; i < 100000; i++) y = y + 1.0;
  backward({y});
  CHECK(grad_of(x) == V{1});
  Tensor z = x;
  for (int i = 0; i < 100000; i++) z = z * 1.0;
  z.reset();  // destroyed without a sweep
}

TEST_CASE("writes through a view reach the base") {
  const Tensor x = leaf({1, 2, 3, 4}, {2, 2});
  const Tensor y = x * 1.0;
  const Tensor row = select(y, 0, 0);
  mul_(row, 10.0);
  CHECK(numbers(y) == V{10, 20, 3, 4});
  CHECK(grad_fn_of(y)->name == std::string("CopySlices"));
  CHECK(grad_fn_of(row)->name == std::string("AsStridedBackward0"));
  backward({sum(y)});
  CHECK(grad_of(x) == V{10, 10, 1, 1});
}

TEST_CASE("writing a tracked value into a plain tensor tracks it") {
  const Tensor w = leaf({5}, {1}), x = zeros({2, 2}, kFloat64);
  const TensorIndex at[] = {TensorIndex::integer(0), TensorIndex::integer(1)};
  set_index(x, at, select(w, 0, 0));
  CHECK(x.requires_grad());
  backward({sum(x * x)});
  CHECK(grad_of(w) == V{10});
}

TEST_CASE("hooks see and replace gradients; retain_grad keeps them") {
  const Tensor x = leaf({1, 2}, {2});
  const Tensor y = x * 2.0;
  retain_grad(y);
  int calls = 0;
  add_hook(y, [&](const Tensor& g) { return calls++, g * 3.0; });
  const uint64_t id = add_hook(x, [&](const Tensor&) { return calls += 100, Tensor(); });
  remove_hook(x, id);
  backward({sum(y)});
  CHECK(calls == 1);
  CHECK(grad_of(y) == V{3, 3});
  CHECK(grad_of(x) == V{6, 6});
}

TEST_CASE("only what leads to the inputs runs") {
  const Tensor a = leaf({1}, {1}), b = leaf({2}, {1});
  const Tensor c = a * b, d = c * c;
  CHECK(numbers(grad({d}, {c}, {}, true)[0]) == V{4});
  CHECK(numbers(grad({d}, {a, b})[1]) == V{4});
  CHECK(!autograd_meta(a).grad.defined());
}

TEST_CASE("a step written by the host") {
  const Tensor x = leaf({3}, {1});
  TensorList out{detached(x) * 2.0};
  record_function("TwiceBackward", {x}, out, {},
                  [](const TensorList& g, const TensorList&) { return TensorList{g[0] * 2.0}; });
  CHECK(tensor_text(out[0]) == "tensor([6.], dtype=torch.float64, grad_fn=<TwiceBackward>)");
  backward({out[0]});
  CHECK(grad_of(x) == V{2});
}

TEST_CASE("a temporary with history lends its memory to a recorded op that does not keep it") {
  const Tensor a = leaf({1, 2}, {2}), b = leaf({3, 5}, {2}), c = leaf({7, 11}, {2});
  const auto consume = [](int id, Tensor temporary, const Tensor& other) {
    const void* memory = temporary.data_ptr();
    const Operand both[] = {temporary, other};
    const Tensor result = run_pointwise(id, both, nullptr, nullptr, 1);
    return std::pair(result, result.data_ptr() == memory);
  };
  const auto [sum_, reused] = consume(pointwise::k_add, a * b, c);
  CHECK(reused);
  CHECK(numbers(sum_) == V{10, 21});
  CHECK(std::string(grad_fn_of(sum_)->name) == "AddBackward0");
  const auto [product, product_reused] = consume(pointwise::k_mul, a * b, c);  // c's derivative reads a * b
  CHECK_FALSE(product_reused);
  const auto [of_result, of_result_reused] = consume(pointwise::k_add, exp(a), c);  // exp keeps its result
  CHECK_FALSE(of_result_reused);
  backward({sum(sum_ + product + of_result)});
  CHECK(grad_of(a) == V{3 + 21 + std::exp(1.0), 5 + 55 + std::exp(2.0)});
  CHECK(grad_of(b) == V{1 + 7, 2 + 22});
  CHECK(grad_of(c) == V{1 + 3 + 1, 1 + 10 + 1});
}

TEST_CASE("a temporary is not lent by a leaf, to a gradient that was asked for, or outside the tape") {
  const Tensor a = leaf({1, 2}, {2}), c = leaf({7, 11}, {2});
  const auto lent = [&](Tensor temporary) {
    const void* memory = temporary.data_ptr();
    const Operand both[] = {temporary, c};
    return run_pointwise(pointwise::k_add, both, nullptr, nullptr, 1).data_ptr() == memory;
  };
  CHECK(lent(a * 2.0));
  CHECK_FALSE(lent(leaf({1, 2}, {2})));
  const auto with_grad_kept = [&] {
    Tensor t = a * 2.0;
    retain_grad(t);
    return t;
  };
  CHECK_FALSE(lent(with_grad_kept()));
  Tensor before = a * 2.0;
  GradMode off(false);
  CHECK_FALSE(lent(std::move(before)));
  CHECK(lent(detached(a) * 2.0));
}

TEST_CASE("a graph goes on in another thread") {
  const Tensor x = leaf({1, 2}, {2});
  Tensor y = x * 2.0;
  for (int i = 0; i < 50; i++) y = y * 1.0;  // this thread's clock is ahead of a new thread's
  Tensor z;
  std::thread([&] { z = sum(y * y); }).join();
  CHECK(numbers(grad({z}, {x})[0]) == V{8, 16});
  CHECK(grad_fn_of(z)->sequence > grad_fn_of(y)->sequence);

  Tensor w;
  y = x * 2.0;
  std::thread([&] {
    for (int i = 0; i < 200; i++) y = y * 1.0;
    w = y * 1.0;
  }).join();
  mul_(w, 3.0);  // an in-place write takes the other thread's node as its input
  CHECK(numbers(grad({sum(w)}, {x})[0]) == V{6, 6});
}

TEST_CASE("a gradient that a function or a hook returns has to fit") {
  const Tensor x = leaf({1, 2, 3}, {3});
  const auto with = [&](const Tensor& gradient) {
    TensorList outputs{detached(x) * 2.0};
    record_function("DoubleBackward", {x}, outputs, {},
                    [=](const TensorList&, const TensorList&) { return TensorList{gradient}; });
    return message_of([&] { backward({sum(outputs[0])}); });
  };
  CHECK(with(ones({2})) ==
        "Function DoubleBackward returned an invalid gradient at index 0 - got [2] but expected shape compatible with "
        "[3]");
  CHECK(with(ones({2, 3}, kInt32)) == "");
  CHECK(grad_of(x) == V{2, 2, 2});  // summed to the shape, cast to the type

  const Tensor y = x * 1.0;
  add_hook(y, [](const Tensor&) { return ones({1, 3}, kFloat64); });
  CHECK(message_of([&] { backward({sum(y)}); }) == "hook has changed the size of value");
  const Tensor z = leaf({1}, {1});
  add_hook(z, [](const Tensor&) { return ones({1}, kFloat32); });
  CHECK(message_of([&] { backward({z * 1.0}); }) ==
        "hook has changed the type of value (was torch.DoubleTensor got torch.FloatTensor)");
}

namespace {

size_t bytes_in_use() { return mallinfo2().uordblks; }

// What a graph of a million nodes may leave behind: free lists have an end, and the first run fills them.
template <class F>
void leaves_nothing(F&& run) {
  run();
  const size_t before = bytes_in_use();
  run();
  CHECK(bytes_in_use() <= before + (size_t{1} << 16));
}

struct KeptTwice final : PackedTensor {
  explicit KeptTwice(Tensor t) : tensor(std::move(t)) {}
  Tensor unpack() override { return tensor * 0.5; }
  Tensor tensor;
};
struct Doubling final : SavedTensorHooks {
  CountedPtr<PackedTensor> pack(const Tensor& t) override {
    packed++;
    return make_counted<KeptTwice>(t * 2.0);
  }
  int packed = 0;
};

}  // namespace

TEST_CASE("a chain of a million nodes is swept and freed without recursion, and leaves no bytes") {
  const Tensor x = leaf({1}, {1});
  leaves_nothing([&] {
    Tensor y = x;
    for (int i = 0; i < (kSanitized ? 200'000 : 1'000'000); i++) y = y * 1.0;
    backward({y});
  });
  CHECK(grad_of(x) == V{2});
}

TEST_CASE("a graph of shared parts runs each node once and leaves no bytes") {
  constexpr int kParts = kSanitized ? 50'000 : 200'000;
  const Tensor x = leaf({1}, {1});
  leaves_nothing([&] {
    Tensor y = x;
    for (int i = 0; i < kParts; i++) y = (y + y) * 0.5;
    backward({y});
  });
  CHECK(grad_of(x) == V{2});
  leaves_nothing([&] {  // never swept
    Tensor y = x;
    for (int i = 0; i < kParts; i++) y = (y + y) * 0.5;
  });
}

TEST_CASE("saved tensors go through the hooks of their context") {
  Doubling hooks;
  const Tensor x = leaf({2, 3}, {2});
  Context::current().saved_hooks = &hooks;
  const Tensor y = x * x, z = exp(x);
  Context::current().saved_hooks = nullptr;
  CHECK(hooks.packed == 3);
  CHECK(numbers(grad({sum(y)}, {x})[0]) == V{4, 6});
  CHECK(numbers(grad({sum(z)}, {x})[0]) == numbers(z));
}

TEST_CASE("hooks of nodes see and replace what goes in and out") {
  const Tensor x = leaf({2, 3}, {2});
  const Tensor y = x * 3.0;
  Node& node = *grad_fn_of(y);
  const uint64_t id = add_pre_hook(node, [](const TensorList& g) { return TensorList{g[0] * 2.0}; });
  add_post_hook(node, [](const TensorList& results, const TensorList& grads) {
    CHECK(numbers(grads[0]) == V{2, 2});
    TensorList changed = results;
    changed[0] = results[0] + 1.0;
    return changed;
  });
  int accumulated = 0;
  add_accumulated_hook(x, [&](const Tensor& t) { accumulated += int(grad_of(t)[0]); });
  backward({sum(y)}, {}, true);
  CHECK(grad_of(x) == V{7, 7});
  CHECK(accumulated == 7);
  remove_hook(node, id);
}

TEST_CASE("anomaly mode raises on the first NaN and says where the node was made") {
  Context& context = Context::current();
  std::string warned;
  context.warning_sink = [&](const std::string& message) { warned = message; };
  context.forward_trace = [] { return std::string("here"); };
  context.anomaly_mode = true;
  const Tensor x = leaf({0, 1}, {2});
  const auto sweep = [&] { backward({sum(sqrt(x) * 0.0)}); };
  CHECK(message_of(sweep) == "Function 'SqrtBackward0' returned nan values in its 0th output.");
  CHECK(warned == "Error detected in SqrtBackward0. Traceback of forward call that caused the error:\nhere");
  context.anomaly_checks_nan = false;
  CHECK(message_of(sweep) == "");
  context.anomaly_mode = false;
  context.anomaly_checks_nan = true;
  context.forward_trace = nullptr;
  context.warning_sink = nullptr;
}

TEST_CASE("what inference mode makes stays outside of the tape") {
  Context::current().inference_mode = true;
  const Tensor made = Tensor::from_values(V{1, 2}, {2});
  const Tensor large = Tensor::empty({1000}, kFloat32);
  Context::current().inference_mode = false;
  CHECK((large.impl()->flags & TensorImpl::kInference) != 0);
  const Tensor x = leaf({1, 2}, {2});
  CHECK(message_of([&] { made* x; }).starts_with("Inference tensors cannot be saved for backward."));
  CHECK(message_of([&] {
          set_requires_grad(made, true);
        }).starts_with("Setting requires_grad=True on inference tensor outside InferenceMode"));
  CHECK((made + x).requires_grad());
}
