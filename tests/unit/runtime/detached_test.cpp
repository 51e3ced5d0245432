// Work that cannot be stopped: the caller leaves it, it ends by itself; how many may be left; exit and fork meanwhile; and that
// LAPACK's routines give the same bits there.
#include "backends/cpu/detached.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "backends/cpu/blas.h"
#include "backends/cpu/linalg_detached.h"
#include "runtime/context.h"
#include "runtime/error.h"
#include "runtime/ops/linalg/common.h"
#include "runtime/ops/linalg/linalg.h"
#include "runtime/ops.h"

using namespace tessera::tensor;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

struct State {
  std::atomic<bool> go{false};
  std::atomic<int> running{0}, ended{0}, destroyed{0}, left{0};
};
class Waiting final : public cpu::Detached {
 public:
  explicit Waiting(State& s) : s_(s) {}
  ~Waiting() override { s_.destroyed++; }
  void run() override {
    s_.running++;
    while (!s_.go) std::this_thread::sleep_for(1ms);
    s_.ended++;
  }
  void leave() noexcept override { s_.left++; }

 private:
  State& s_;
};
class Failing final : public cpu::Detached {
 public:
  void run() override { fail(TensorErrorKind::Runtime, "it failed"); }
  void leave() noexcept override {}
};

bool soon(const std::function<bool()>& done) {
  for (const auto end = Clock::now() + 10s; !done(); std::this_thread::sleep_for(1ms))
    if (Clock::now() > end) return false;
  return true;
}

/// Runs it until a cancellation, which is asked for when it is at work; milliseconds from there to the exception.
double left_after(const std::function<void()>& run, const std::function<bool()>& is_at_work) {
  Context context;
  const ContextScope scope(context);
  Clock::time_point asked;
  std::thread other([&] {
    soon(is_at_work);
    asked = Clock::now();
    context.cancel = true;
  });
  bool cancelled = false;
  try {
    run();
  } catch (const TensorError& error) {
    cancelled = error.kind() == TensorErrorKind::Cancelled;
  }
  const auto thrown = Clock::now();
  other.join();
  CHECK(cancelled);
  return std::chrono::duration<double, std::milli>(thrown - asked).count();
}

int status_of_child(const std::function<void()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    f();
    _exit(99);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// By way of all that runs at an exit; not where a leak checker does, which calls lost what other threads of the parent hold.
[[noreturn]] void exit_child(int status) {
#if defined(__SANITIZE_ADDRESS__)
  _exit(status);
#else
  std::exit(status);
#endif
}

Tensor values(Ints shape, DType dtype) {
  const Tensor out = Tensor::empty(shape, kFloat64);
  for (int64_t i = 0; i < out.numel(); i++) out.data<double>()[i] = double((i * 7919 + 12345) % 10007) / 10007.0 - 0.5;
  return to_dtype(out, dtype);
}

}  // namespace

TEST_CASE("detached work comes back, and so does what it throws") {
  State state;
  state.go = true;
  CHECK(cpu::run_detached(std::make_unique<Waiting>(state)) != nullptr);
  CHECK(state.ended == 1);
  CHECK(state.destroyed == 1);
  CHECK(state.left == 0);
  CHECK_THROWS_WITH_AS(cpu::run_detached(std::make_unique<Failing>()), "it failed", TensorError);
}

TEST_CASE("detached work is left at once, ends by itself, and only so many may be left") {
  State state;
  for (int i = 0; i < cpu::kMostLeft; i++)
    CHECK(left_after([&] { cpu::run_detached(std::make_unique<Waiting>(state)); },
                     [&] { return state.running == i + 1; }) < 1000);
  CHECK(cpu::detached_left() == cpu::kMostLeft);
  CHECK(state.left == cpu::kMostLeft);
  CHECK(state.destroyed == 0);
  // The next one waits for room, and hears the word to stop.
  const auto begun = Clock::now();
  CHECK(left_after([&] { cpu::run_detached(std::make_unique<Waiting>(state)); },
                   [&] { return Clock::now() > begun + 50ms; }) < 1000);
  CHECK(state.running == cpu::kMostLeft);
  state.go = true;
  CHECK(soon([] { return cpu::detached_left() == 0; }));
  CHECK(state.ended == cpu::kMostLeft);
  CHECK(state.destroyed == cpu::kMostLeft + 1);
  CHECK(cpu::run_detached(std::make_unique<Waiting>(state)) != nullptr);
}

TEST_CASE("a process with work that was left exits at once, with its status; a child of it may work") {
  const auto leave_one = [](State& state) {
    left_after([&] { cpu::run_detached(std::make_unique<Waiting>(state)); }, [&] { return state.running > 0; });
  };
  CHECK(status_of_child([&] {
          static State state;
          leave_one(state);
          std::exit(7);
        }) == 7);
  CHECK(status_of_child([&] {
          static State state;
          leave_one(state);
          _exit(status_of_child([&] {
            state.go = true;
            for (int i = 0; i <= cpu::kMostLeft; i++) cpu::run_detached(std::make_unique<Waiting>(state));
            exit_child(cpu::detached_left() == 0 ? 8 : 9);
          }));
        }) == 8);
}

TEST_CASE("a LAPACK routine that was left exits with the process and frees what its account paid") {
  if (cpu::blas().library == nullptr || !cpu::blas().has_room) return;
  const Tensor half = values({1500, 1500}, kFloat64), a = half + transpose(half, 0, 1);
  Context context;
  {
    const ContextScope scope(context);
    const int64_t before = context.account->used();
    std::thread other([&] {
      std::this_thread::sleep_for(60ms);
      context.cancel = true;
    });
    CHECK_THROWS_AS(linalg_eigh(a), TensorError);
    other.join();
    CHECK(context.account->used() == before);
  }
  CHECK(status_of_child([&] {
          Context own;
          const ContextScope scope(own);
          std::thread([&] {
            std::this_thread::sleep_for(60ms);
            own.cancel = true;
          }).detach();
          try {
            linalg_eigh(a);
          } catch (const TensorError&) {}
          exit_child(6);
        }) == 6);
  CHECK(soon([] { return cpu::detached_left() == 0; }));
}

TEST_CASE("detached LAPACK routines have the bits of those that are not") {
  if (cpu::blas().library == nullptr) return;
  for (const DType dtype : {kFloat32, kFloat64, kComplex64, kComplex128}) {
    const int64_t n = 40;
    const size_t item = item_size(dtype);
    const auto check_same = [&](const char* what, LapackCall call) {
      const auto numbers = [&](int64_t count, size_t size) { return std::vector<char>(size_t(count) * size + 64); };
      struct Memory {
        std::vector<char> a, b, c, values;
        std::vector<int32_t> pivots, info;
        std::vector<int64_t> rank;
      };
      const Tensor source = values({2, n, n}, dtype);
      const auto fresh = [&] {
        Memory m{numbers(2 * n * n, item), numbers(2 * n * n, 2 * item), numbers(2 * n * n, item),
                 numbers(2 * n, 2 * item), std::vector<int32_t>(2 * n),  std::vector<int32_t>(2),
                 std::vector<int64_t>(2)};
        std::memcpy(m.a.data(), source.data_ptr(), size_t(2 * n * n) * item);
        std::memcpy(m.b.data(), source.data_ptr(), size_t(2 * n * n) * item);
        for (int32_t i = 0; i < 2 * n; i++) m.pivots[size_t(i)] = i % n + 1;
        return m;
      };
      Memory one = fresh(), other = fresh();
      const auto run = [&](Memory& m, bool detached) {
        LapackCall c = call;
        c.batch = 2, c.m = c.n = c.k = n;
        c.a = m.a.data(), c.values = m.values.data(), c.info = m.info.data();
        c.pivots = m.pivots.data(), c.rank = m.rank.data();
        c.b = m.b.data();
        c.c = m.c.data();
        const cpu::OneMatrix f = cpu::matrix_function(c);
        int workspace = -1;
        for (int64_t i = 0; i < c.batch; i++)
          if (detached) cpu::run_detached(c, i, f);
          else f(c, i, workspace);
      };
      run(one, false), run(other, true);
      CAPTURE(what);
      // What a routine leaves of an operand that is lost is nobody's.
      const bool loses = call.routine == LapackCall::Svd || call.routine == LapackCall::Eig ||
                         call.routine == LapackCall::LeastSquares;
      CHECK((loses || one.a == other.a));
      CHECK(one.b == other.b);
      CHECK(one.c == other.c);
      CHECK(one.values == other.values);
      CHECK(one.pivots == other.pivots);
      CHECK(one.info == other.info);
      CHECK(one.rank == other.rank);
    };
    using C = LapackCall;
    check_same("cholesky", {.routine = C::Cholesky, .dtype = dtype});
    check_same("cholesky_solve", {.routine = C::CholeskySolve, .dtype = dtype});
    check_same("cholesky_inverse", {.routine = C::CholeskyInverse, .dtype = dtype});
    check_same("lu", {.routine = C::Lu, .dtype = dtype});
    check_same("lu_solve", {.routine = C::LuSolve, .dtype = dtype});
    check_same("triangular_solve", {.routine = C::TriangularSolve, .dtype = dtype});
    check_same("qr", {.routine = C::Qr, .dtype = dtype});
    check_same("reflectors", {.routine = C::Reflectors, .dtype = dtype});
    check_same("reflect", {.routine = C::Reflect, .dtype = dtype});
    check_same("svd", {.routine = C::Svd, .dtype = dtype, .job = 'A'});
    check_same("singular values", {.routine = C::Svd, .dtype = dtype, .job = 'N'});
    check_same("eigh", {.routine = C::Eigh, .dtype = dtype, .job = 'V'});
    check_same("eig", {.routine = C::Eig, .dtype = dtype});
    check_same("ldl", {.routine = C::Ldl, .dtype = dtype});
    check_same("ldl_solve", {.routine = C::LdlSolve, .dtype = dtype});
    check_same("gels", {.routine = C::LeastSquares, .dtype = dtype, .driver = C::Gels});
    check_same("gelsd", {.routine = C::LeastSquares, .dtype = dtype, .driver = C::Gelsd});
  }
}
