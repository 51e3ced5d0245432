// An LSTM step by step: one product in tiles (gemm_tile.h) of the input beside the hidden state, whose weights are packed once for
// all steps, then the gates' functions while the sums are in the cache. A thread takes some rows of the batch through all steps:
// they never wait for each other. The way back goes by some steps at a time, so that the gradients of their gates are still in
// the cache when the products for the weights read them, and are never written to memory.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/recurrent.cpp"
#include <algorithm>
#include <initializer_list>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/gemm_panels.h"
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

/// A right operand of n columns, packed once.
template <class T>
class PackedWeights {
 public:
  struct Part {
    const T* w;
    int64_t k;  // its rows
  };
  /// The parts below each other, each [n, k] if `along`, else [k, n].
  PackedWeights(int64_t n, std::initializer_list<Part> parts, bool along)
      : k_(depth_of(parts)), panels_(n, tile_lanes(T())), packed_(k_ * panels_.padded()) {
    for (int64_t i = 0; i < panels_.count; i++) {
      const int64_t first = panels_.first(i), size = panels_.size(i);
      T* to = packed_.data() + first * k_;
      for (const auto& [w, k] : parts) {
        pack_panel(w + first * (along ? k : 1), along ? k : n, along, k, panels_.columns(i), size, to);
        to += k * size;
      }
    }
  }
  int64_t padded() const { return panels_.padded(); }

  /// out = bias + a * w, for m rows of a that are `row` apart.
  void multiply(const T* a, int64_t row, int64_t m, T* out, const T* bias) const {
    for (int64_t i = 0; i < panels_.count; i++) {
      const int64_t first = panels_.first(i), size = panels_.size(i);
      tile_rows(TileWork<T>{.a = a,
                            .row = row,
                            .inner = k_,
                            .b = packed_.data() + first * k_,
                            .b_step = size,
                            .out = out + first,
                            .out_row = panels_.n,
                            .bias = bias ? bias + first : nullptr},
                m, size, panels_.columns(i));
    }
  }

 private:
  static int64_t depth_of(std::initializer_list<Part> parts) {
    int64_t k = 0;
    for (const Part& part : parts) k += part.k;
    return k;
  }

  int64_t k_;
  Panels panels_;
  Scratch<T> packed_;
};

/// Rows whose gates' gradients are computed before the products that read them.
constexpr int64_t kRowsAtOnce = 256;

/// The steps [first, first + count), whose gates have these gradients: what they give to the weights and to the input.
template <class T>
void add_products(const LstmGradCall& c, int64_t first, int64_t count, const T* d_gates, bool add) {
  const int64_t rows = count * c.batch, gates = 4 * c.width, offset = first * c.batch;
  const auto give = [&](int64_t n, const T* before, void* out) {
    const GemmCall call{.m = gates,
                        .n = n,
                        .k = rows,
                        .alpha = 1,
                        .beta = double(add),
                        .lda = gates,
                        .transpose_a = true,
                        .ldb = n,
                        .ldc = n};
    panel_product(call, d_gates, before, static_cast<T*>(out));
  };
  give(c.width, static_cast<const T*>(c.hidden) + (offset + (c.backwards ? c.batch : 0)) * c.width, c.d_w_hh);
  give(c.features, static_cast<const T*>(c.input) + offset * c.features, c.d_w_ih);
  if (!c.d_input) return;
  const GemmCall call{
      .m = rows, .n = c.features, .k = gates, .alpha = 1, .lda = gates, .ldb = c.features, .ldc = c.features};
  panel_product(call, d_gates, static_cast<const T*>(c.w_ih), static_cast<T*>(c.d_input) + offset * c.features);
}

/// f(first, count): rows of the batch, all at once for one thread. `work` is that of a row, `all` what follows for all of them.
template <class F>
void share_rows(int64_t batch, int64_t work, int64_t all, const F& f) {
  const int64_t threads = Context::current().threads, even = (batch + threads - 1) / threads;
  const int64_t grain = std::max<int64_t>({1, even, (int64_t(1) << 18) / std::max<int64_t>(1, work)});
  if (grain >= batch) return f(0, batch);
  run_split(batch, {.grain = grain, .tasks = worth_waking(all)},
            RangeBody([&](int64_t begin, int64_t end) { f(begin, end - begin); }));
}

}  // namespace
}  // namespace tessera::tensor::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

/// One row after the sums of its gates; gates and seen may be null.
template <class T>
struct LstmRow {
  const T *sums, *cell;
  T *gates, *next_cell, *seen, *hidden;
};
template <class T>
HWY_NOINLINE void lstm_row(int64_t width, const LstmRow<T>& r) {
  each_lane<T>(width, [&](int64_t j, int count) HWY_ATTR {
    const Lane<T> i = m::sigmoid(load_lane(r.sums + j, count)), f = m::sigmoid(load_lane(r.sums + width + j, count));
    const Lane<T> g = m::tanh(load_lane(r.sums + 2 * width + j, count));
    const Lane<T> o = m::sigmoid(load_lane(r.sums + 3 * width + j, count));
    const Lane<T> c = f * load_lane(r.cell + j, count) + i * g, s = m::tanh(c);
    store_lane(c, r.next_cell + j, count);
    store_lane(o * s, r.hidden + j, count);
    if (!r.gates) return;
    store_lane(i, r.gates + j, count);
    store_lane(f, r.gates + width + j, count);
    store_lane(g, r.gates + 2 * width + j, count);
    store_lane(o, r.gates + 3 * width + j, count);
    store_lane(s, r.seen + j, count);
  });
}

template <class T>
void lstm_rows(const LstmCall& c, const PackedWeights<T>& w, const T* bias, int64_t first, int64_t count) {
  const int64_t width = c.width, state = c.batch * width, gates = 4 * width, line = c.features + width;
  T* const hidden = static_cast<T*>(c.hidden) + first * width;
  T* const cells = static_cast<T*>(c.cells) + first * width;
  const Scratch<T> both(count * line), sums(count * gates);
  for (int64_t i = 0; i < c.steps; i++) {
    const int64_t t = c.backwards ? c.steps - 1 - i : i, before = c.backwards ? t + 1 : t,
                  after = c.backwards ? t : t + 1, row = t * c.batch + first;
    for (int64_t r = 0; r < count; r++) {
      std::copy_n(static_cast<const T*>(c.input) + (row + r) * c.features, c.features, both.data() + r * line);
      std::copy_n(hidden + before * state + r * width, width, both.data() + r * line + c.features);
    }
    w.multiply(both.data(), line, count, sums.data(), bias);
    for (int64_t r = 0; r < count; r++)
      lstm_row<T>(
          width, {sums.data() + r * gates, cells + before * state + r * width,
                  c.gates ? static_cast<T*>(c.gates) + (row + r) * gates : nullptr, cells + after * state + r * width,
                  c.gates ? static_cast<T*>(c.seen) + (row + r) * width : nullptr, hidden + after * state + r * width});
    Context::current().poll();
  }
}

template <class T>
void lstm_of(const LstmCall& c) {
  const PackedWeights<T> w(
      4 * c.width, {{static_cast<const T*>(c.w_ih), c.features}, {static_cast<const T*>(c.w_hh), c.width}}, true);
  const Scratch<T> bias(c.bias ? w.padded() : 0);
  if (c.bias) {
    T* const end = std::copy_n(static_cast<const T*>(c.bias), 4 * c.width, bias.data());
    std::fill(end, bias.data() + w.padded(), T(0));
  }
  const int64_t work = c.steps * 4 * c.width * (c.width + c.features);
  share_rows(c.batch, work, c.batch * work,
             [&](int64_t first, int64_t count) { lstm_rows(c, w, c.bias ? bias.data() : nullptr, first, count); });
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

/// Some rows through the steps [low, low + steps); d_gates begins with the first of these.
template <class T>
void lstm_grad_rows(const LstmGradCall& c, const PackedWeights<T>& w, int64_t low, int64_t steps, T* d_gates,
                    int64_t first, int64_t count) {
  const int64_t width = c.width, gates = 4 * width;
  T* const d_hidden = static_cast<T*>(c.d_hidden) + first * width;
  T* const d_cell = static_cast<T*>(c.d_cell) + first * width;
  for (int64_t i = 0; i < steps; i++) {
    const int64_t t = c.backwards ? low + i : low + steps - 1 - i, before = c.backwards ? t + 1 : t,
                  row = t * c.batch + first;
    T* const to = d_gates + ((t - low) * c.batch + first) * gates;
    for (int64_t r = 0; r < count; r++)
      lstm_grad_row<T>(width, {static_cast<const T*>(c.gates) + (row + r) * gates,
                               static_cast<const T*>(c.cells) + (before * c.batch + first + r) * width,
                               static_cast<const T*>(c.seen) + (row + r) * width,
                               static_cast<const T*>(c.d_output) + (row + r) * width, d_hidden + r * width,
                               d_cell + r * width, to + r * gates});
    w.multiply(to, gates, count, d_hidden, nullptr);
    Context::current().poll();
  }
}

/// out += the sum of all rows.
template <class T>
HWY_NOINLINE void add_rows(const T* rows, int64_t count, int64_t width, T* out) {
  each_lane<T>(width, [&](int64_t j, int n) HWY_ATTR {
    Lane<T> sum = load_lane(rows + j, n);
    for (int64_t r = 1; r < count; r++) sum = sum + load_lane(rows + r * width + j, n);
    store_lane(load_lane(static_cast<const T*>(out) + j, n) + sum, out + j, n);
  });
}

template <class T>
void lstm_grad_of(const LstmGradCall& c) {
  const int64_t gates = 4 * c.width, at_once = std::clamp<int64_t>(kRowsAtOnce / c.batch, 1, c.steps);
  const PackedWeights<T> w(c.width, {{static_cast<const T*>(c.w_hh), gates}}, false);
  const Scratch<T> d_gates(at_once * c.batch * gates);
  std::fill_n(static_cast<T*>(c.d_bias), gates, T(0));
  for (int64_t done = 0; done < c.steps; done += at_once) {
    const int64_t count = std::min(at_once, c.steps - done), low = c.backwards ? done : c.steps - done - count;
    share_rows(c.batch, count * gates * c.width, c.batch * c.steps * gates * c.width,
               [&](int64_t first, int64_t rows) { lstm_grad_rows(c, w, low, count, d_gates.data(), first, rows); });
    add_products<T>(c, low, count, d_gates.data(), done > 0);
    add_rows(d_gates.data(), count * c.batch, gates, static_cast<T*>(c.d_bias));
  }
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
