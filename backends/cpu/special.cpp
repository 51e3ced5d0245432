// The kernel of special functions: one element after another, by the row's value.
#include "runtime/ops/special.h"

#include "backends/special_math.h"
#include "backends/special_polynomials.h"
#include "backends/cpu/threads.h"

namespace tessera::tensor::cpu {
namespace {

struct WhenStopWanted {
  bool operator()() const { return stop_wanted(); }
};

// The functions of special.def whose time grows with an argument hear that the program is to stop.
namespace special {
using namespace cpu::special;
template <class T>
T laguerre(T x, T degree) {
  return cpu::special::laguerre<T, WhenStopWanted>(x, degree);
}
template <class T>
T legendre(T x, T degree) {
  return cpu::special::legendre<T, WhenStopWanted>(x, degree);
}
}  // namespace special

constexpr int64_t kGrain = 256;  // a function takes 20 ns to a microsecond

template <class T, class F>
void each(const SpecialCall& c, const F& f) {
  const T *x = static_cast<const T*>(c.x), *y = static_cast<const T*>(c.y);
  T* out = static_cast<T*>(c.out);
  parallel_for(c.n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      if constexpr (std::is_invocable_v<F, T>) out[i] = f(x[i]);
      else out[i] = f(x[i], y[i]);
    }
  });
}

template <class T>
void run(const SpecialCall& c) {
  const SpecialId id = SpecialId(c.op);
#define SPECIAL1(NAME, DOC, TYPES, KERNEL, ...) \
  if (id == SpecialId::NAME) return each<T>(c, [](T x) { return T(__VA_ARGS__); });
#define SPECIAL2(NAME, DOC, TYPES, KERNEL, ...) \
  if (id == SpecialId::NAME) return each<T>(c, [](T x, T y) { return T(__VA_ARGS__); });
#define INTEGER2(...)
#include "runtime/ops/special.def"
#undef SPECIAL1
#undef SPECIAL2
#undef INTEGER2
}

void run_integers(const SpecialCall& c) {
  const SpecialId id = SpecialId(c.op);
#define SPECIAL1(...)
#define SPECIAL2(...)
#define INTEGER2(NAME, DOC, TYPES, KERNEL, ...) \
  if (id == SpecialId::NAME) return each<int64_t>(c, [](int64_t x, int64_t y) { return int64_t(__VA_ARGS__); });
#include "runtime/ops/special.def"
#undef SPECIAL1
#undef SPECIAL2
#undef INTEGER2
}

void special_elements(const SpecialCall& c) {
  if (c.dtype == kInt64) run_integers(c);
  else if (c.dtype == kFloat64) run<double>(c);
  else run<float>(c);
}

const KernelRegistration<SpecialCall> registration(special_kernel, DeviceType::Cpu, &special_elements);

}  // namespace
}  // namespace tessera::tensor::cpu
