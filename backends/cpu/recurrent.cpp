// An LSTM step by step: one product in tiles (gemm_tile.h) whose weights are packed once for all steps, then the gates' functions
// while the sums are in the cache. A thread takes some rows of the batch through all steps: they never wait for each other.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/recurrent.cpp"
#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/gemm_tile.h"
#include "backends/number.h"
#include "backends/cpu/lane_memory-inl.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "hwy/highway.h"
#include "runtime/context.h"
#include "runtime/ops/recurrent.h"

#ifndef TESSERA_RECURRENT_ONCE
#define TESSERA_RECURRENT_ONCE
namespace tessera::tensor::cpu {
namespace {

/// A right operand of k rows and n columns, packed once.
template <class T>
class PackedWeights {
 public:
  /// [n, k] if `along`, else [k, n].
  PackedWeights(const T* w, int64_t n, int64_t k, bool along)
      : k_(k), panels_(n, tile_lanes(T())), packed_(k * panels_.padded()) {
    for (int64_t i = 0; i < panels_.count; i++) {
      const int64_t first = panels_.first(i);
      pack_panel(w + first * (along ? k : 1), along ? k : n, along, k, panels_.columns(i), panels_.size(i),
                 packed_.data() + first * k);
    }
  }
  int64_t padded() const { return panels_.padded(); }

  /// out = bias + a * w, or out += a * w, for m rows.
  void multiply(const T* a, int64_t m, T* out, bool add, const T* bias) const {
    for (int64_t i = 0; i < panels_.count; i++) {
      const int64_t first = panels_.first(i), size = panels_.size(i);
      tile_rows(TileWork<T>{.a = a,
                            .row = k_,
                            .inner = k_,
                            .b = packed_.data() + first * k_,
                            .b_step = size,
                            .out = out + first,
                            .out_row = panels_.n,
                            .beta = T(add ? 1 : 0),
                            .bias = bias ? bias + first : nullptr},
                m, size, panels_.columns(i));
    }
  }

 private:
  int64_t k_;
  Panels panels_;
  Scratch<T> packed_;
};

/// f(first, count): rows of the batch, all at once for one thread.
template <class F>
void share_rows(int64_t batch, int64_t work, const F& f) {
  const int64_t threads = Context::current().threads, even = (batch + threads - 1) / threads;
  const int64_t grain = std::max<int64_t>({1, even, (int64_t(1) << 18) / std::max<int64_t>(1, work)});
  if (grain >= batch) return f(0, batch);
  run_split(batch, {.grain = grain, .tasks = true},
            RangeBody([&](int64_t begin, int64_t end) { f(begin, end - begin); }));
}

}  // namespace
}  // namespace tessera::tensor::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

/// One row after the sums of its gates.
template <class T>
HWY_NOINLINE void lstm_row(int64_t width, T* gates, const T* cell, T* next_cell, T* seen, T* hidden) {
  each_lane<T>(width, [&](int64_t j, int count) HWY_ATTR {
    const Lane<T> i = m::sigmoid(load_lane(gates + j, count)), f = m::sigmoid(load_lane(gates + width + j, count));
    const Lane<T> g = m::tanh(load_lane(gates + 2 * width + j, count));
    const Lane<T> o = m::sigmoid(load_lane(gates + 3 * width + j, count));
    const Lane<T> c = f * load_lane(cell + j, count) + i * g, s = m::tanh(c);
    store_lane(i, gates + j, count);
    store_lane(f, gates + width + j, count);
    store_lane(g, gates + 2 * width + j, count);
    store_lane(o, gates + 3 * width + j, count);
    store_lane(c, next_cell + j, count);
    store_lane(s, seen + j, count);
    store_lane(o * s, hidden + j, count);
  });
}

template <class T>
void lstm_rows(const LstmCall& c, const PackedWeights<T>& u, const PackedWeights<T>& w, const T* bias, int64_t first,
               int64_t count) {
  const int64_t width = c.width, state = c.batch * width;
  T* const hidden = static_cast<T*>(c.hidden) + first * width;
  T* const cells = static_cast<T*>(c.cells) + first * width;
  for (int64_t i = 0; i < c.steps; i++) {
    const int64_t t = c.backwards ? c.steps - 1 - i : i, before = c.backwards ? t + 1 : t,
                  after = c.backwards ? t : t + 1;
    T* const gates = static_cast<T*>(c.gates) + (t * c.batch + first) * 4 * width;
    T* const seen = static_cast<T*>(c.seen) + (t * c.batch + first) * width;
    u.multiply(static_cast<const T*>(c.input) + (t * c.batch + first) * c.features, count, gates, false, bias);
    w.multiply(hidden + before * state, count, gates, true, nullptr);
    for (int64_t r = 0; r < count; r++)
      lstm_row(width, gates + r * 4 * width, cells + before * state + r * width, cells + after * state + r * width,
               seen + r * width, hidden + after * state + r * width);
    Context::current().poll();
  }
}

template <class T>
void lstm_of(const LstmCall& c) {
  const PackedWeights<T> u(static_cast<const T*>(c.w_ih), 4 * c.width, c.features, true);
  const PackedWeights<T> w(static_cast<const T*>(c.w_hh), 4 * c.width, c.width, true);
  const Scratch<T> bias(c.bias ? u.padded() : 0);
  if (c.bias) {
    T* const end = std::copy_n(static_cast<const T*>(c.bias), 4 * c.width, bias.data());
    std::fill(end, bias.data() + u.padded(), T(0));
  }
  share_rows(c.batch, c.steps * 4 * c.width * (c.width + c.features),
             [&](int64_t first, int64_t count) { lstm_rows(c, u, w, c.bias ? bias.data() : nullptr, first, count); });
}
void lstm(const LstmCall& c) { c.dtype == kFloat32 ? lstm_of<float>(c) : lstm_of<double>(c); }

/// Through the functions of one row: the gradient of its gates' sums, and of the cell before.
template <class T>
struct LstmGradRow {
  const T *gates, *cell, *seen, *d_output, *d_hidden;
  T *d_cell, *d_gates;
};
template <class T>
HWY_NOINLINE void lstm_grad_row(int64_t width, const LstmGradRow<T>& r) {
  const Lane<T> one = T(1);
  each_lane<T>(width, [&](int64_t j, int count) HWY_ATTR {
    const Lane<T> i = load_lane(r.gates + j, count), f = load_lane(r.gates + width + j, count);
    const Lane<T> g = load_lane(r.gates + 2 * width + j, count), o = load_lane(r.gates + 3 * width + j, count);
    const Lane<T> s = load_lane(r.seen + j, count);
    const Lane<T> dh = load_lane(r.d_hidden + j, count) + load_lane(r.d_output + j, count);
    const Lane<T> dc = load_lane(static_cast<const T*>(r.d_cell) + j, count) + dh * o * (one - s * s);
    store_lane(dc * g * (i * (one - i)), r.d_gates + j, count);
    store_lane(dc * load_lane(r.cell + j, count) * (f * (one - f)), r.d_gates + width + j, count);
    store_lane(dc * i * (one - g * g), r.d_gates + 2 * width + j, count);
    store_lane(dh * s * (o * (one - o)), r.d_gates + 3 * width + j, count);
    store_lane(dc * f, r.d_cell + j, count);
  });
}

template <class T>
void lstm_grad_rows(const LstmGradCall& c, const PackedWeights<T>& w, int64_t first, int64_t count) {
  const int64_t width = c.width;
  T* const d_hidden = static_cast<T*>(c.d_hidden) + first * width;
  T* const d_cell = static_cast<T*>(c.d_cell) + first * width;
  for (int64_t i = 0; i < c.steps; i++) {
    const int64_t t = c.backwards ? i : c.steps - 1 - i, before = c.backwards ? t + 1 : t, row = t * c.batch + first;
    T* const d_gates = static_cast<T*>(c.d_gates) + row * 4 * width;
    for (int64_t r = 0; r < count; r++)
      lstm_grad_row<T>(width, {static_cast<const T*>(c.gates) + (row + r) * 4 * width,
                               static_cast<const T*>(c.cells) + (before * c.batch + first + r) * width,
                               static_cast<const T*>(c.seen) + (row + r) * width,
                               static_cast<const T*>(c.d_output) + (row + r) * width, d_hidden + r * width,
                               d_cell + r * width, d_gates + r * 4 * width});
    w.multiply(d_gates, count, d_hidden, false, nullptr);
    Context::current().poll();
  }
}

template <class T>
void lstm_grad_of(const LstmGradCall& c) {
  const PackedWeights<T> w(static_cast<const T*>(c.w_hh), c.width, 4 * c.width, false);
  share_rows(c.batch, c.steps * 4 * c.width * c.width,
             [&](int64_t first, int64_t count) { lstm_grad_rows(c, w, first, count); });
}
void lstm_grad(const LstmGradCall& c) { c.dtype == kFloat32 ? lstm_grad_of<float>(c) : lstm_grad_of<double>(c); }

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
HWY_EXPORT(lstm);
HWY_EXPORT(lstm_grad);
void run_lstm(const LstmCall& c) { HWY_DYNAMIC_DISPATCH(lstm)(c); }
void run_lstm_grad(const LstmGradCall& c) { HWY_DYNAMIC_DISPATCH(lstm_grad)(c); }
const KernelRegistration<LstmCall> registration{lstm_kernel, DeviceType::Cpu, run_lstm};
const KernelRegistration<LstmGradCall> grad_registration{lstm_grad_kernel, DeviceType::Cpu, run_lstm_grad};
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
