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

// The operands g, x, y, z and the result; step 0: a full register in memory, the same for all.
template <class T>
struct GradOperands {
  const T* in[5];
  int64_t step[5];
};

// A row's derivatives at n places, whole registers of them.
template <class T>
using LaneGradients = void (*)(const GradOperands<T>& given, void* const* out, int64_t n, double p, double q);
template <class T, class D0, class D1, class D2>
void lane_gradients(const GradOperands<T>& given, void* const* out, int64_t n, double p, double q) {
  constexpr unsigned kReads = 16 | derivative_reads<D0>() | derivative_reads<D1>() | derivative_reads<D2>();
  constexpr unsigned kBit[5] = {16, kReadsX, kReadsY, kReadsZ, kReadsResult};
  const Tag<T> d;
  const GradOperands<T> operands = given;  // copies, as a store may write to what was given for all the compiler knows
  void* const to[3] = {out[0], out[1], out[2]};
  auto load = [&](int a, int64_t i) HWY_ATTR {
    return kReads & kBit[a] ? Lane<T>(hn::LoadU(d, operands.in[a] + i * operands.step[a])) : Lane<T>(1.0);
  };
  for (int64_t i = 0; i < n; i += int64_t(hn::Lanes(d))) {
    const Lane<T> g = load(0, i), x = load(1, i), y = load(2, i), z = load(3, i), r = load(4, i);
    put<D0, T>(to[0], i, g, x, y, z, r, p, q);
    put<D1, T>(to[1], i, g, x, y, z, r, p, q);
    put<D2, T>(to[2], i, g, x, y, z, r, p, q);
  }
}

// What is the same for all rows, so that their code is no more than their loop.
template <class T>
HWY_NOINLINE void run_gradients(const GradRun& run, LaneGradients<T> gradients) {
  const Tag<T> d;
  constexpr size_t kMax = hn::MaxLanes(Tag<T>());
  const int64_t lanes = int64_t(hn::Lanes(d));
  const double p = run.params[0].to_double(), q = run.params[1].to_double();
  // An operand with step 0 becomes a full register in memory; so does one that nobody asked for.
  alignas(64) T buffer[5][kMax];
  GradOperands<T> operands;
  auto& [in, step] = operands;
  for (int a = 0; a < 5; a++) {
    in[a] = static_cast<const T*>(run.in[a]);
    step[a] = in[a] ? run.step[a] : 0;
    if (step[a]) continue;
    hn::Store(hn::Set(d, in[a] ? *in[a] : T(1)), d, buffer[a]);
    in[a] = buffer[a];
  }
  const int64_t whole = run.n / lanes * lanes, rest = run.n - whole;
  gradients(operands, run.out, whole, p, q);
  if (rest == 0) return;
  for (int a = 0; a < 5; a++) {
    if (!step[a]) continue;
    hn::Store(hn::Set(d, T(1)), d, buffer[a]);
    for (int64_t j = 0; j < rest; j++) buffer[a][j] = in[a][whole + j];
    in[a] = buffer[a];
  }
  alignas(64) T results[3][kMax];
  void* last[3];
  for (int k = 0; k < 3; k++) last[k] = run.out[k] ? results[k] : nullptr;
  gradients(operands, last, lanes, p, q);
  for (int k = 0; k < 3; k++)
    if (run.out[k]) std::memcpy(static_cast<T*>(run.out[k]) + whole, results[k], size_t(rest) * sizeof(T));
}

template <class D0, class D1, class D2>
constexpr GradKernel kernel_of() {
  if constexpr (is_computed<D0>() || is_computed<D1>() || is_computed<D2>())
    return [](const GradRun& run) { run_gradients<TS_ELEMENT>(run, lane_gradients<TS_ELEMENT, D0, D1, D2>); };
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
