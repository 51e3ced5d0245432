// Body of pointwise_grad_float.cpp and pointwise_grad_double.cpp: every row's derivatives on lanes of TS_ELEMENT, once
// per instruction set.
#include "backends/cpu/grad_lane-inl.h"
#include "backends/cpu/pointwise_grad_table.h"
#include "runtime/ops/grad_probe.h"
#include "runtime/ops/pointwise_ids.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace formulas {
namespace {

#define TS_FN HWY_INLINE
#include "runtime/ops/formulas.inc"

// What derivative D gives for the lanes at i, if somebody wants it.
template <class D, class T>
HWY_INLINE void put(void* out, int64_t i, Lane<T> g, Lane<T> x, Lane<T> y, Lane<T> z, Lane<T> r, double p, double q) {
  if constexpr (is_computed<D>()) {
    if (out) hn::StoreU(Lane<T>(D::of(g, x, y, z, r, p, q)).v, Tag<T>(), static_cast<T*>(out) + i);
  }
}

template <class T, class D0, class D1, class D2>
void run_gradients(const GradRun& run) {
  constexpr unsigned kReads = 16 | derivative_reads<D0>() | derivative_reads<D1>() | derivative_reads<D2>();
  constexpr unsigned kBit[5] = {16, kReadsX, kReadsY, kReadsZ, kReadsResult};
  const Tag<T> d;
  constexpr size_t kMax = hn::MaxLanes(Tag<T>());
  const int64_t lanes = int64_t(hn::Lanes(d));
  const double p = run.params[0].to_double(), q = run.params[1].to_double();
  // An operand with step 0 becomes a full register in memory; so does one that nobody asked for.
  alignas(64) T buffer[5][kMax];
  const T* in[5];
  int64_t step[5];
  for (int a = 0; a < 5; a++) {
    in[a] = static_cast<const T*>(run.in[a]);
    step[a] = in[a] ? run.step[a] : 0;
    if (step[a]) continue;
    hn::Store(hn::Set(d, in[a] ? *in[a] : T(1)), d, buffer[a]);
    in[a] = buffer[a];
  }
  auto load = [&](int a, int64_t i)
                  HWY_ATTR { return kReads & kBit[a] ? Lane<T>(hn::LoadU(d, in[a] + i * step[a])) : Lane<T>(1.0); };
  auto at = [&](void* const* out, int64_t i) HWY_ATTR {
    const Lane<T> g = load(0, i), x = load(1, i), y = load(2, i), z = load(3, i), r = load(4, i);
    put<D0, T>(out[0], i, g, x, y, z, r, p, q);
    put<D1, T>(out[1], i, g, x, y, z, r, p, q);
    put<D2, T>(out[2], i, g, x, y, z, r, p, q);
  };
  int64_t i = 0;
  for (; i + lanes <= run.n; i += lanes) at(run.out, i);
  const int64_t rest = run.n - i;
  if (rest == 0) return;
  for (int a = 0; a < 5; a++) {
    if (!step[a]) continue;
    hn::Store(hn::Set(d, T(1)), d, buffer[a]);
    for (int64_t j = 0; j < rest; j++) buffer[a][j] = in[a][i + j];
    in[a] = buffer[a];
  }
  alignas(64) T results[3][kMax];
  void* last[3];
  for (int k = 0; k < 3; k++) last[k] = run.out[k] ? results[k] : nullptr;
  at(last, 0);
  for (int k = 0; k < 3; k++)
    if (run.out[k]) std::memcpy(static_cast<T*>(run.out[k]) + i, results[k], size_t(rest) * sizeof(T));
}

template <class D0, class D1, class D2>
constexpr GradKernel kernel_of() {
  if constexpr (is_computed<D0>() || is_computed<D1>() || is_computed<D2>())
    return &run_gradients<TS_ELEMENT, D0, D1, D2>;
  else return nullptr;
}

}  // namespace
}  // namespace formulas

namespace {

const GradKernel* grad_table() {
  using namespace formulas;
#define TS_EACH_ROW(NAME, D0, D1, D2) kernel_of<D0, D1, D2>(),
  static const GradKernel kTable[] = {
#include "runtime/ops/pointwise.def"
  };
#undef TS_EACH_ROW
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1
#undef TS_FN
  return kTable;
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
