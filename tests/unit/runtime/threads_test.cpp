// The pool of threads: every piece once, the same bits for any number of threads, errors, cancellation, several contexts
// at once, forks, and rest when there is nothing to do.
#include "backends/cpu/threads.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "runtime/autograd/engine.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/conv.h"
#include "runtime/ops/join.h"
#include "runtime/ops/softmax.h"
#include "runtime/ops/views.h"
#include "tests/sanitized.h"

using namespace tessera::tensor;

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// A context with so many threads, entered.
struct Threads {
  explicit Threads(int n) : scope(context) { context.threads = n; }
  Context context;
  ContextScope scope;
};

/// Reproducible values in [-0.5, 0.5).
Tensor values(Ints shape, DType dtype = kFloat32) {
  const Tensor out = Tensor::empty(shape, kFloat64);
  for (int64_t i = 0; i < out.numel(); i++) out.data<double>()[i] = double((i * 7919 + 12345) % 10007) / 10007.0 - 0.5;
  return to_dtype(out, dtype);
}

std::string bits(const Tensor& t) {
  const Tensor dense = contiguous(t);
  return {static_cast<const char*>(dense.data_ptr()), size_t(dense.numel()) * item_size(dense.dtype())};
}

/// What f computes must not depend on the number of threads.
void check_same_bits(const char* what, const std::function<Tensor()>& f) {
  std::string expected;
  for (int n : {1, 2, 3, 5}) {
    Threads threads(n);
    const std::string got = bits(f());
    if (n == 1) expected = got;
    CHECK_MESSAGE(got == expected, what, " with ", n, " threads");
  }
}

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

int tasks_of_process() {
  int n = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) n++;
  return n;
}

/// Runs f in a forked child; true when it said so within 20 seconds.
bool in_child(const std::function<bool()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(f() ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("every element is visited once, whatever the number of threads and the grain") {
  for (int n : {1, 2, 3, 5, 40}) {
    Threads threads(n);
    for (int64_t size : {0, 1, 7, 100, 4099, 100000})
      for (int64_t grain : {1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(size));
        cpu::parallel_for(size, grain, [&](int64_t begin, int64_t end) {
          CHECK(begin < end);
          for (int64_t i = begin; i < end; i++) seen[size_t(i)]++;
        });
        CHECK(std::all_of(seen.begin(), seen.end(), [](const std::atomic<int>& count) { return count == 1; }));
      }
  }
}

TEST_CASE("several threads take part, and a call from inside of a piece stays on its thread") {
  Threads threads(3);
  std::atomic<int> arrived{0};
  std::atomic<bool> moved{false};
  cpu::run_split(3, {.grain = 1, .tasks = true}, cpu::RangeBody([&](int64_t, int64_t) {
                   arrived++;
                   for (const auto end = Clock::now() + 10s; arrived < 3 && Clock::now() < end;)
                     std::this_thread::yield();
                   const auto self = std::this_thread::get_id();
                   cpu::parallel_for(1000, 1, [&](int64_t, int64_t) {
                     if (std::this_thread::get_id() != self) moved = true;
                   });
                 }));
  CHECK(arrived == 3);
  CHECK_FALSE(moved);
}

TEST_CASE("what a piece throws comes out of the call, and the pool goes on") {
  Threads threads(2);
  for (int round = 0; round < 50; round++) {
    CHECK_THROWS_AS(cpu::parallel_for(1000, 10,
                                      [&](int64_t begin, int64_t) {
                                        if (begin >= 500) throw round;
                                      }),
                    int);
    std::atomic<int64_t> sum{0};
    cpu::parallel_for(1000, 10, [&](int64_t begin, int64_t end) { sum += end - begin; });
    CHECK(sum == 1000);
  }
}

TEST_CASE("a program of one thread shares its counts for the length of a split call alone") {
  CHECK(SharedCounts::on());  // as long as nobody says otherwise
  CHECK(in_child([] {
    SharedCounts::keep_to_one_thread();
    Threads threads(2);
    const Tensor t = values({10});
    const int64_t used = threads.context.account->used();
    std::atomic<int> alone{0};
    cpu::run_split(4, {.grain = 1, .tasks = true}, cpu::RangeBody([&](int64_t, int64_t) {
                     if (!SharedCounts::on()) alone++;
                     for (int i = 0; i < 100000; i++) const Tensor copy = t, fresh = Tensor::empty({4});
                   }));
    const bool counted = t.impl()->refs.unique() && threads.context.account->used() == used;
    const Tensor other = t;
    return counted && alone == 0 && !SharedCounts::on() && t.impl()->refs.value() == 2;
  }));
}

TEST_CASE("the same bits for 1, 2, 3 and 5 threads: products") {
  struct Shape {
    int64_t m, k, n;
  };
  for (DType dtype : {kFloat32, kFloat64, kFloat16, kInt32})
    for (const Shape s : {Shape{130, 150, 170}, {257, 129, 300}, {1, 300, 900}, {900, 300, 1}, {37, 5, 600}}) {
      const Tensor a = values({s.m, s.k}, dtype), b = values({s.k, s.n}, dtype);
      const Tensor at = contiguous(transpose(a, 0, 1)), bt = contiguous(transpose(b, 0, 1));
      check_same_bits("mm", [&] { return mm(a, b); });
      check_same_bits("mm of transposed", [&] { return mm(transpose(at, 0, 1), transpose(bt, 0, 1)); });
    }
  const Tensor large = values({600, 700}), other = values({700, 500});
  check_same_bits("large mm", [&] { return mm(large, other); });
  const Tensor stack = values({64, 24, 20}), stack2 = values({64, 20, 28});
  check_same_bits("bmm", [&] { return bmm(stack, stack2); });
  const Tensor v = values({400000});
  check_same_bits("dot", [&] { return dot(v, v); });
  const Tensor x = values({64, 300}), w = values({200, 300}), bias = values({200});
  check_same_bits("linear", [&] { return linear(x, w, bias); });
}

TEST_CASE("slices of a product are the product") {
  for (auto [m, k, n] : {std::tuple{130, 150, 170}, {1, 500, 700}, {700, 500, 1}, {300, 70, 500}}) {
    const Tensor a = values({m, k}), b = values({k, n});
    const Tensor exact = mm(to_dtype(a, kFloat64), to_dtype(b, kFloat64));
    Tensor expected = zeros({m, n}, kFloat64);
    for (int64_t p = 0; p < k; p++)
      expected = expected + to_dtype(narrow(a, 1, p, 1), kFloat64) * to_dtype(narrow(b, 0, p, 1), kFloat64);
    CHECK(max(abs(exact - expected)).item().to_double() < 1e-12);
    CHECK(max(abs(to_dtype(mm(a, b), kFloat64) - expected)).item().to_double() < 1e-4);
  }
}

TEST_CASE("the same bits for 1, 2, 3 and 5 threads: convolutions, reductions, pointwise") {
  const Tensor image = values({6, 8, 30, 31}), kernel = values({12, 8, 3, 3});
  check_same_bits("conv2d", [&] { return conv2d(image, kernel, std::nullopt, {1, 1}, {1, 1}, {1, 1}, 1); });
  check_same_bits("max_pool2d", [&] { return std::get<0>(max_pool2d_with_indices(image, {2}, {}, {0}, {1}, false)); });
  const Tensor big = values({700, 1100});
  check_same_bits("sum", [&] { return sum(big); });
  check_same_bits("sum of rows", [&] { return sum(big, Dims{1}); });
  check_same_bits("mean of columns", [&] { return mean(big, Dims{0}); });
  check_same_bits("softmax", [&] { return softmax(big, 1); });
  check_same_bits("exp", [&] { return exp(big) * big + tanh(big); });
  check_same_bits("of a transposed", [&] { return transpose(big, 0, 1) + values({1100, 700}); });
}

TEST_CASE("the same bits for 1, 2, 3 and 5 threads: a training run") {
  check_same_bits("training", [] {
    Tensor w1 = values({120, 200}), w2 = values({10, 120});
    const Tensor x = values({256, 200}), y = values({256, 10});
    for (int step = 0; step < 5; step++) {
      set_requires_grad(w1, true), set_requires_grad(w2, true);
      const Tensor off = linear(tanh(linear(x, w1, Tensor())), w2, Tensor()) - y;
      backward({mean(off * off)});
      const GradMode no_grad(false);
      w1 = w1 - autograd_meta(w1).grad * 0.1, w2 = w2 - autograd_meta(w2).grad * 0.1;
    }
    const GradMode no_grad(false);
    return cat({reshape(w1, {-1}), reshape(w2, {-1})}, 0);
  });
}

TEST_CASE("a large product can be cancelled") {
  constexpr int64_t kSide = kSanitized ? 1024 : 4096;
  for (int n : {1, 2}) {
    Threads threads(n);
    const Tensor a = ones({kSide, kSide});
    const auto begin = Clock::now();
    mm(a, a);
    const auto whole = Clock::now() - begin;
    std::atomic<bool> done{false};
    Clock::time_point asked;
    std::thread other([&] {
      std::this_thread::sleep_for(30ms);
      asked = Clock::now();
      if (!done) threads.context.cancel = true;
    });
    CHECK_THROWS_AS(mm(a, a), TensorError);
    const auto late = Clock::now() - asked;
    done = true;
    other.join();
    CHECK(late < whole / 2);  // some 20 ms of over a second, sanitized also
    threads.context.cancel = false;
  }
}

TEST_CASE("four host threads with contexts of their own compute at once") {
  const Tensor a = values({200, 210}), b = values({210, 190}), big = values({300000});
  std::string product, pointwise, total;
  {
    Threads one(1);
    product = bits(mm(a, b)), pointwise = bits(exp(big)), total = bits(sum(big));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> hosts;
  for (int host = 0; host < 4; host++)
    hosts.emplace_back([&, host] {
      Threads threads(host + 1);
      for (int round = 0; round < 30; round++)
        wrong += (bits(mm(a, b)) != product) + (bits(exp(big)) != pointwise) + (bits(sum(big)) != total);
    });
  for (std::thread& host : hosts) host.join();
  CHECK(wrong == 0);
}

TEST_CASE("one host's long call leaves a thread of the pool to others") {
  std::atomic<bool> shared{false}, stop{false};
  std::thread long_call([&] {
    Threads threads(2);
    cpu::run_split(100000, {.grain = 1, .tasks = true}, cpu::RangeBody([&](int64_t, int64_t) {
                     if (!stop) std::this_thread::sleep_for(100us);
                   }));
  });
  std::this_thread::sleep_for(20ms);
  {
    Threads threads(2);
    for (const auto end = Clock::now() + 10s; !shared && Clock::now() < end;) {
      const auto self = std::this_thread::get_id();
      cpu::run_split(20, {.grain = 1, .tasks = true}, cpu::RangeBody([&](int64_t, int64_t) {
                       if (std::this_thread::get_id() != self) shared = true;
                       std::this_thread::sleep_for(1ms);
                     }));
    }
  }
  CHECK(shared);
  stop = true;
  long_call.join();
}

TEST_CASE("a forked child computes with a pool of its own, and small work needs none") {
  const Tensor a = values({300, 310}), b = values({310, 290}), small = values({4, 4});
  Threads threads(2);
  const std::string expected = bits(mm(a, b));
  for (int round = 0; round < 3; round++)
    CHECK(in_child([&] {
      if (tasks_of_process() != 1) return false;
      const Tensor kept = mm(small, small) + exp(small);
      if (tasks_of_process() != 1) return false;
      return bits(mm(a, b)) == expected && tasks_of_process() == 2;
    }));
  CHECK(bits(mm(a, b)) == expected);
}

TEST_CASE("idle threads take no processor time") {
  Threads threads(4);
  const Tensor a = values({300, 300});
  for (int i = 0; i < 20; i++) mm(a, a);
  std::this_thread::sleep_for(20ms);
  const double before = processor_seconds();
  std::this_thread::sleep_for(200ms);
  CHECK(processor_seconds() - before < 0.01);
}
