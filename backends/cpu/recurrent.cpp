// Recurrent layers step by step: products in tiles (gemm_tile.h) with weights that are packed once for all steps, then the gates'
// functions (recurrent_step.cpp) while the sums are in the cache. An LSTM's product is one, of the input beside the hidden state;
// the others keep the two apart, as PyTorch adds them. A thread takes some rows of the batch through all steps: they never wait for
// each other. The way back goes by some steps at a time, so that the gradients of their gates are still in the cache when the
// products for the weights read them, and are never written to memory.
#include <algorithm>
#include <initializer_list>

#include "backends/cpu/gemm_panels.h"
#include "backends/cpu/gemm_tile.h"
#include "backends/cpu/recurrent_step.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "runtime/context.h"

namespace tessera::tensor::cpu {
namespace {

/// A right operand of n columns, packed once.
template <class T>
class PackedWeights {
 public:
  struct Part {
    const void* w;
    int64_t k;  // its rows
  };
  /// The parts below each other, each [n, k] if `along`, else [k, n].
  PackedWeights(int64_t n, std::initializer_list<Part> parts, bool along)
      : k_(depth_of(parts)), panels_(n, tile_lanes(T())), packed_(k_ * panels_.padded()) {
    for (int64_t i = 0; i < panels_.count; i++) {
      const int64_t first = panels_.first(i), size = panels_.size(i);
      T* to = packed_.data() + first * k_;
      for (const auto& [w, k] : parts) {
        pack_panel(PanelSource<T>{static_cast<const T*>(w) + first * (along ? k : 1), along ? k : n, along, k,
                                  panels_.columns(i)},
                   size, to);
        to += k * size;
      }
    }
  }
  int64_t padded() const { return panels_.padded(); }

  /// out = bias + a * w, for m rows of a that are `row` apart; with `add` and no bias, out += a * w.
  void multiply(const T* a, int64_t row, int64_t m, T* out, const T* bias, bool add = false) const {
    for (int64_t i = 0; i < panels_.count; i++) {
      const int64_t first = panels_.first(i), size = panels_.size(i);
      tile_rows(TileWork<T>{.a = a,
                            .row = row,
                            .inner = k_,
                            .b = packed_.data() + first * k_,
                            .b_step = size,
                            .out = out + first,
                            .out_row = panels_.n,
                            .beta = T(add),
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

/// A bias, or none, filled up to whole vectors.
template <class T>
class PaddedBias {
 public:
  PaddedBias(const void* bias, int64_t n, int64_t padded) : there_(bias), values_(bias ? padded : 0) {
    if (bias) std::fill(std::copy_n(static_cast<const T*>(bias), n, values_.data()), values_.data() + padded, T(0));
  }
  const T* data() const { return there_ ? values_.data() : nullptr; }

 private:
  bool there_;
  Scratch<T> values_;
};

/// f(first, count): rows of the batch, all at once for one thread: then the tiles are as high as they can be. `work` is that of a
/// row, `all` what follows for all of them.
template <class F>
void share_rows(int64_t batch, int64_t work, int64_t all, const F& f) {
  const int64_t threads = Context::current().threads, even = (batch + threads - 1) / threads;
  const int64_t grain = std::max<int64_t>({1, even, (int64_t(1) << 18) / std::max<int64_t>(1, work)});
  if (grain >= batch || !worth_waking(all)) return f(0, batch);
  run_split(batch, {.grain = grain, .tasks = true},
            RangeBody([&](int64_t begin, int64_t end) { f(begin, end - begin); }));
}

/// Of two threads' gates, the half that the other one has written is read from its cache by what follows: that eats up two thirds
/// of what a second thread gains.
constexpr int64_t kept_work(int64_t multiplications) { return multiplications / 3; }

template <class T>
T* at(void* p, int64_t i) {
  return p ? static_cast<T*>(p) + i : nullptr;
}
template <class T>
const T* at(const void* p, int64_t i) {
  return p ? static_cast<const T*>(p) + i : nullptr;
}

// Forward ------------------------------------------------------------------------------------------------------------------

template <class T>
class Layer {
 public:
  explicit Layer(const RecurrentCall& c)
      : c_(c),
        of_input_(joined() ? PackedWeights<T>(sums(), {{c.w_ih, c.features}, {c.w_hh, c.width}}, true)
                           : PackedWeights<T>(sums(), {{c.w_ih, c.features}}, true)),
        of_hidden_(sums(), {{c.w_hh, joined() ? 0 : c.width}}, true),
        b_ih_(c.b_ih, sums(), of_input_.padded()),
        b_hh_(c.b_hh, sums(), of_input_.padded()) {}

  /// Some rows through all steps.
  void run(int64_t first, int64_t count) const {
    const int64_t width = c_.width, line = c_.features + width;
    const Scratch<T> both(joined() ? count * line : 0), shares(joined() ? 0 : count * sums());
    const Scratch<T> unkept(c_.gates ? 0 : count * sums());
    for (int64_t i = 0; i < c_.steps; i++) {
      const int64_t t = c_.backwards ? c_.steps - 1 - i : i, row = t * c_.batch + first;
      const int64_t before = row + (c_.backwards ? c_.batch : 0), after = row + (c_.backwards ? 0 : c_.batch);
      const T* const x = at<T>(c_.input, row * c_.features);
      const T* const h = at<T>(static_cast<const void*>(c_.hidden), before * width);
      T* const gates = c_.gates ? at<T>(c_.gates, row * sums()) : unkept.data();
      if (joined()) {
        for (int64_t r = 0; r < count; r++)
          std::copy_n(h + r * width, width, std::copy_n(x + r * c_.features, c_.features, both.data() + r * line));
        of_input_.multiply(both.data(), line, count, gates, b_ih_.data());
      } else {
        of_input_.multiply(x, c_.features, count, gates, b_ih_.data());
        of_hidden_.multiply(h, width, count, shares.data(), b_hh_.data());
      }
      finish_step(StepRows<T>{.kind = c_.kind,
                              .width = width,
                              .count = count,
                              .gates = gates,
                              .shares = shares.data(),
                              .hidden = h,
                              .cells = at<T>(static_cast<const void*>(c_.cells), before * width),
                              .next_hidden = at<T>(c_.hidden, after * width),
                              .next_cells = at<T>(c_.cells, after * width),
                              .seen = at<T>(c_.seen, row * width)});
      Context::current().poll();
    }
  }

 private:
  bool joined() const { return c_.kind == RecurrentKind::Lstm; }
  int64_t sums() const { return gates_of(c_.kind) * c_.width; }

  const RecurrentCall& c_;
  PackedWeights<T> of_input_, of_hidden_;
  PaddedBias<T> b_ih_, b_hh_;
};

template <class T>
void recurrent_of(const RecurrentCall& c) {
  const Layer<T> layer(c);
  const int64_t work = c.steps * gates_of(c.kind) * c.width * (c.width + c.features);
  share_rows(c.batch, work, c.gates ? kept_work(c.batch * work) : c.batch * work,
             [&](int64_t first, int64_t count) { layer.run(first, count); });
}

// Backward -----------------------------------------------------------------------------------------------------------------

/// Rows whose gates' gradients are computed before the products that read them.
constexpr int64_t kRowsAtOnce = 256;

/// Some steps, from number `low` on, and the gradients of their gates' sums: of the input's share and of the hidden state's.
template <class T>
struct Steps {
  int64_t low, count;
  T *d_gates, *d_shares;
};

/// Some rows through these steps.
template <class T>
void back_through_rows(const RecurrentGradCall& c, const PackedWeights<T>& w, const Steps<T>& steps, int64_t first,
                       int64_t count) {
  const int64_t width = c.width, sums = gates_of(c.kind) * width;
  const bool apart = steps.d_shares != steps.d_gates;
  T* const d_hidden = at<T>(c.d_hidden, first * width);
  for (int64_t i = 0; i < steps.count; i++) {
    const int64_t step = c.backwards ? i : steps.count - 1 - i, row = (steps.low + step) * c.batch + first;
    const int64_t before = row + (c.backwards ? c.batch : 0), after = row + (c.backwards ? 0 : c.batch);
    const int64_t to = (step * c.batch + first) * sums;
    back_through_step(StepGradRows<T>{.kind = c.kind,
                                      .width = width,
                                      .count = count,
                                      .gates = at<T>(c.gates, row * sums),
                                      .hidden = at<T>(c.hidden, before * width),
                                      .next_hidden = at<T>(c.hidden, after * width),
                                      .cells = at<T>(c.cells, before * width),
                                      .seen = at<T>(c.seen, row * width),
                                      .d_output = at<T>(c.d_output, row * width),
                                      .d_hidden = d_hidden,
                                      .d_cells = at<T>(c.d_cell, first * width),
                                      .d_gates = steps.d_gates + to,
                                      .d_shares = apart ? steps.d_shares + to : nullptr});
    w.multiply(steps.d_shares + to, sums, count, d_hidden, nullptr, c.kind == RecurrentKind::Gru);
    Context::current().poll();
  }
}

/// [m, k] * [k, n], contiguous.
template <class T>
GemmCall plain_product(int64_t m, int64_t n, int64_t k) {
  GemmCall call{};
  call.dtype = sizeof(T) == 4 ? kFloat32 : kFloat64;
  call.m = m;
  call.n = call.ldb = call.ldc = n;
  call.k = call.lda = k;
  call.alpha = 1;
  return call;
}

/// What these steps give to the weights, to the input and to the biases.
template <class T>
void add_products(const RecurrentGradCall& c, const Steps<T>& steps, bool add) {
  const int64_t rows = steps.count * c.batch, sums = gates_of(c.kind) * c.width, offset = steps.low * c.batch;
  const auto give = [&](const T* d, int64_t n, const T* before, void* out) {
    GemmCall call = plain_product<T>(sums, n, rows);
    call.beta = double(add);
    call.lda = sums;
    call.transpose_a = true;
    panel_product(call, d, before, static_cast<T*>(out));
  };
  // The input's first: its rows are those of the steps, which their threads have in their caches. Then columns of the gates.
  if (c.d_input) {
    const GemmCall call = plain_product<T>(rows, c.features, sums);
    panel_product<T>(call, steps.d_gates, at<T>(c.w_ih, 0), at<T>(c.d_input, offset * c.features));
  }
  give(steps.d_shares, c.width, at<T>(c.hidden, (offset + (c.backwards ? c.batch : 0)) * c.width), c.d_w_hh);
  give(steps.d_gates, c.features, at<T>(c.input, offset * c.features), c.d_w_ih);
  run_split(sums, {.grain = std::max<int64_t>(64, (int64_t(1) << 15) / rows), .wakes = false},
            RangeBody([&](int64_t begin, int64_t end) {
              add_rows(steps.d_gates + begin, sums, rows, end - begin, at<T>(c.d_b_ih, begin));
              if (c.d_b_hh) add_rows(steps.d_shares + begin, sums, rows, end - begin, at<T>(c.d_b_hh, begin));
            }));
}

template <class T>
void recurrent_grad_of(const RecurrentGradCall& c) {
  const int64_t sums = gates_of(c.kind) * c.width, at_once = std::clamp<int64_t>(kRowsAtOnce / c.batch, 1, c.steps);
  const bool apart = c.kind == RecurrentKind::Gru;
  const PackedWeights<T> w(c.width, {{c.w_hh, sums}}, false);
  const Scratch<T> d_gates(at_once * c.batch * sums), d_shares(apart ? at_once * c.batch * sums : 0);
  for (void* bias : {c.d_b_ih, c.d_b_hh})
    if (bias) std::fill_n(static_cast<T*>(bias), sums, T(0));
  for (int64_t done = 0; done < c.steps; done += at_once) {
    const int64_t count = std::min(at_once, c.steps - done);
    const Steps<T> steps{.low = c.backwards ? done : c.steps - done - count,
                         .count = count,
                         .d_gates = d_gates.data(),
                         .d_shares = apart ? d_shares.data() : d_gates.data()};
    share_rows(c.batch, count * sums * c.width, kept_work(c.batch * c.steps * sums * c.width),
               [&](int64_t first, int64_t rows) { back_through_rows(c, w, steps, first, rows); });
    add_products(c, steps, done > 0);
  }
}

void run_recurrent(const RecurrentCall& c) { c.dtype == kFloat32 ? recurrent_of<float>(c) : recurrent_of<double>(c); }
void run_recurrent_grad(const RecurrentGradCall& c) {
  c.dtype == kFloat32 ? recurrent_grad_of<float>(c) : recurrent_grad_of<double>(c);
}
const KernelRegistration<RecurrentCall> registration{recurrent_kernel, DeviceType::Cpu, run_recurrent};
const KernelRegistration<RecurrentGradCall> grad_registration{recurrent_grad_kernel, DeviceType::Cpu,
                                                              run_recurrent_grad};

}  // namespace
}  // namespace tessera::tensor::cpu
