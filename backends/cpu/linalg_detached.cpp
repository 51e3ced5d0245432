#include "backends/cpu/linalg_detached.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "backends/cpu/detached.h"
#include "backends/cpu/threads.h"
#include "runtime/alloc.h"
#include "runtime/context.h"

namespace tessera::tensor::cpu {
namespace {

enum class Way : uint8_t { Given, Wanted, Changed };

/// f(pointer of the call, bytes of one matrix's part, way) for whatever a routine reads or writes: see LapackCall::Routine.
template <class F>
void for_operands(LapackCall& c, const F& f) {
  using enum Way;
  const int64_t item = int64_t(item_size(c.dtype)), real = is_complex(c.dtype) ? item / 2 : item;
  const int64_t least = std::min(c.m, c.n), most = std::max(c.m, c.n), side = c.left ? c.m : c.n;
  const auto pivots = [&](int64_t n, Way way) { f(c.pivots, n * int64_t(sizeof(int32_t)), way); };
  switch (c.routine) {
    case LapackCall::Cholesky:
    case LapackCall::CholeskyInverse: f(c.a, c.n * c.n * item, Changed); break;
    case LapackCall::CholeskySolve: f(c.a, c.n * c.n * item, Given), f(c.b, c.n * c.k * item, Changed); break;
    case LapackCall::Lu: f(c.a, c.m * c.n * item, Changed), pivots(least, Wanted); break;
    case LapackCall::LuSolve:
    case LapackCall::LdlSolve:
      f(c.a, c.n * c.n * item, Given), f(c.b, c.n * c.k * item, Changed), pivots(c.n, Given);
      break;
    case LapackCall::Ldl: f(c.a, c.n * c.n * item, Changed), pivots(c.n, Wanted); break;
    case LapackCall::TriangularSolve: f(c.a, side * side * item, Given), f(c.b, c.m * c.n * item, Changed); break;
    case LapackCall::Qr: f(c.a, c.m * c.n * item, Changed), f(c.values, least * item, Wanted); break;
    case LapackCall::Reflectors: f(c.a, c.m * c.n * item, Changed), f(c.values, c.k * item, Given); break;
    case LapackCall::Reflect:
      f(c.a, side * c.k * item, Given), f(c.values, c.k * item, Given), f(c.b, c.m * c.n * item, Changed);
      break;
    case LapackCall::Svd:
      f(c.a, c.m * c.n * item, Given), f(c.values, least * real, Wanted);
      if (c.job == 'N') break;
      f(c.b, c.m * (c.job == 'A' ? c.m : least) * item, Wanted);
      f(c.c, (c.job == 'A' ? c.n : least) * c.n * item, Wanted);
      break;
    case LapackCall::Eigh: f(c.a, c.n * c.n * item, Changed), f(c.values, c.n * real, Wanted); break;
    case LapackCall::Eig:
      f(c.a, c.n * c.n * item, Given), f(c.values, c.n * 2 * real, Wanted), f(c.b, c.n * c.n * 2 * real, Wanted);
      break;
    case LapackCall::LeastSquares:
      f(c.a, c.m * c.n * item, Given), f(c.b, most * c.k * item, Changed), f(c.values, least * real, Changed);
      f(c.rank, int64_t(sizeof(int64_t)), Changed);
      break;
    case LapackCall::Order: break;
  }
  f(c.info, int64_t(sizeof(int32_t)), Changed);
}

/// In pieces between which the program can be stopped.
void copy_bytes(void* to, const void* from, int64_t bytes) {
  parallel_for(bytes, int64_t(1) << 16, [&](int64_t begin, int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, size_t(end - begin));
  });
}

/// A copy of one operand, which lies in its cache lines as the operand itself does; paid for by an account until that is freed of it.
class Copy {
 public:
  Copy(void* original, int64_t bytes, Way way, Account& account)
      : original_(original),
        bytes_(bytes),
        way_(way),
        shift_(reinterpret_cast<uintptr_t>(original) % kLine),
        block_bytes_(size_t(bytes) + kLine),
        block_(host::allocate(block_bytes_, account)),
        account_(&account) {}
  Copy(Copy&& o) noexcept { *this = std::move(o); }
  Copy& operator=(Copy&& o) noexcept {
    std::swap(original_, o.original_), std::swap(bytes_, o.bytes_), std::swap(way_, o.way_), std::swap(shift_, o.shift_);
    std::swap(block_bytes_, o.block_bytes_), std::swap(block_, o.block_), std::swap(account_, o.account_);
    return *this;
  }
  ~Copy() {
    free_account();
    if (block_ != nullptr) host::release(block_, block_bytes_);
  }

  void* data() const { return static_cast<char*>(block_) + shift_; }
  void take() const {
    if (way_ != Way::Wanted) copy_bytes(data(), original_, bytes_);
  }
  void give() const {
    if (way_ != Way::Given) copy_bytes(original_, data(), bytes_);
  }
  void free_account() noexcept {
    if (account_ != nullptr) account_->refund(block_bytes_);
    account_ = nullptr;
  }

 private:
  static constexpr size_t kLine = 64;
  void* original_ = nullptr;
  int64_t bytes_ = 0;
  Way way_ = Way::Given;
  size_t shift_ = 0, block_bytes_ = 0;
  void* block_ = nullptr;
  Account* account_ = nullptr;
};

class DetachedLapack final : public Detached {
 public:
  DetachedLapack(const LapackCall& call, int64_t index, OneMatrix one) : call_(call), one_(one) {
    Account& account = *Context::current().account;
    for_operands(call_, [&](auto*& pointer, int64_t bytes, Way way) {
      if (pointer == nullptr) return;
      char* const original = reinterpret_cast<char*>(pointer) + index * bytes;
      copies_.emplace_back(original, bytes, way, account).take();
      pointer = static_cast<std::remove_reference_t<decltype(pointer)>>(copies_.back().data());
    });
  }
  void run() override {
    int workspace = -1;
    one_(call_, 0, workspace);
  }
  void leave() noexcept override {
    for (Copy& copy : copies_) copy.free_account();
  }
  void give() const {
    for (const Copy& copy : copies_) copy.give();
  }

 private:
  LapackCall call_;
  const OneMatrix one_;
  std::vector<Copy> copies_;
};

}  // namespace

int64_t operations_of(const LapackCall& c) {
  const int64_t least = std::min(c.m, c.n), side = c.left ? c.m : c.n;
  const int64_t width = int64_t(item_size(c.dtype)) / 4 * (is_complex(c.dtype) ? 2 : 1);
  // Factors are for steps that go through the whole matrix without a product to hide the way to memory.
  const auto steps = [&]() -> int64_t {
    switch (c.routine) {
      case LapackCall::Cholesky: return c.n * c.n * c.n / 4;
      case LapackCall::CholeskyInverse: return c.n * c.n * c.n / 2;
      case LapackCall::Ldl: return c.n * c.n * c.n;
      case LapackCall::CholeskySolve:
      case LapackCall::LuSolve:
      case LapackCall::LdlSolve: return c.n * c.n * c.k;
      case LapackCall::Lu: return c.m * c.n * least;
      case LapackCall::TriangularSolve: return c.m * c.n * side;
      case LapackCall::Qr:
      case LapackCall::Reflectors: return 2 * c.m * c.n * least;
      case LapackCall::Reflect: return 2 * c.m * c.n * c.k;
      case LapackCall::Svd: return (c.job == 'N' ? 10 : 20) * c.m * c.n * least;
      case LapackCall::Eigh: return (c.job == 'V' ? 10 : 5) * c.n * c.n * c.n;
      case LapackCall::Eig: return 100 * c.n * c.n * c.n;
      case LapackCall::LeastSquares: return 20 * c.m * c.n * least + 2 * c.m * c.n * c.k;
      case LapackCall::Order: return 0;
    }
    return 0;
  };
  return steps() * width;
}

void run_detached(const LapackCall& call, int64_t index, OneMatrix one) {
  const auto done = run_detached(std::make_unique<DetachedLapack>(call, index, one));
  static_cast<const DetachedLapack&>(*done).give();
}

}  // namespace tessera::tensor::cpu
