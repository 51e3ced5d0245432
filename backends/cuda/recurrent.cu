// Recurrent layers: the products of all steps with the input in one call of the library, then for each step one product with the
// hidden state and one kernel that does everything else. Backward the same way round; gradients of the weights are one product
// over all steps.
#include "backends/cuda/divide.cuh"
#include "backends/cuda/gemm.h"
#include "backends/cuda/launch.cuh"
#include "backends/cuda/scratch.h"
#include "runtime/ops/recurrent.h"

namespace tessera::tensor::cuda {
namespace {

using Kind = RecurrentKind;
template <Kind kind>
constexpr int kGatesOf = int(gates_of(kind));

template <class T>
__device__ T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}

/// One step of all rows of the batch. `gates` has the input's share and gets what the gates are; `shares` is the hidden state's.
template <class T>
struct Step {
  int64_t n, width;
  FastDivide<uint64_t> by_width;
  T* gates;
  const T *shares, *b_ih, *b_hh, *hidden, *cells;
  T *next_hidden, *next_cells, *seen;
};

template <class T, Kind kind>
__global__ void __launch_bounds__(kThreads) step_forward(const __grid_constant__ Step<T> s) {
  constexpr int kGates = kGatesOf<kind>;
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
#pragma unroll 1  // unrolled, it would begin with a division of 64 bits to count its rounds
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < s.n; i += threads) {
    const auto [row, column] = s.by_width.divide(uint64_t(i));
    T* const gate = s.gates + int64_t(row) * kGates * s.width + int64_t(column);
    const T* const share = s.shares + int64_t(row) * kGates * s.width + int64_t(column);
    T x[kGates], h[kGates];
    for (int k = 0; k < kGates; k++) {
      const int64_t at = k * s.width, of_bias = at + int64_t(column);
      x[k] = gate[at] + (s.b_ih == nullptr ? T(0) : s.b_ih[of_bias]);
      h[k] = share[at] + (s.b_hh == nullptr ? T(0) : s.b_hh[of_bias]);
    }
    if constexpr (kind == Kind::Lstm) {
      const T in = sigmoid(x[0] + h[0]), forget = sigmoid(x[1] + h[1]), news = tanh(x[2] + h[2]),
              out = sigmoid(x[3] + h[3]);
      const T cell = forget * s.cells[i] + in * news, seen = tanh(cell);
      gate[0] = in, gate[s.width] = forget, gate[2 * s.width] = news, gate[3 * s.width] = out;
      s.next_cells[i] = cell;
      if (s.seen != nullptr) s.seen[i] = seen;
      s.next_hidden[i] = out * seen;
    } else if constexpr (kind == Kind::Gru) {
      const T reset = sigmoid(x[0] + h[0]), keep = sigmoid(x[1] + h[1]), news = tanh(x[2] + reset * h[2]);
      const T before = s.hidden[i], step = before - news;
      gate[0] = reset, gate[s.width] = keep, gate[2 * s.width] = news;
      if (s.seen != nullptr) s.seen[i] = h[2];
      s.next_hidden[i] = keep < T(0.5) ? news + keep * step : before - step * (T(1) - keep);
    } else {
      const T sum = x[0] + h[0];
      s.next_hidden[i] = kind == Kind::Tanh ? T(tanh(sum)) : sum < T(0) ? T(0) : sum;
    }
  }
}

/// What a step gives back: d_hidden and d_cell are of the state after it and become, but for the product, those of the one before.
template <class T>
struct StepBack {
  int64_t n, width;
  FastDivide<uint64_t> by_width;
  const T *gates, *seen, *hidden, *next_hidden, *cells, *d_output;
  T *d_hidden, *d_cell, *d_gates, *d_shares;
};

template <class T, Kind kind>
__global__ void __launch_bounds__(kThreads) step_back(const __grid_constant__ StepBack<T> s) {
  constexpr int kGates = kGatesOf<kind>;
  const int64_t threads = int64_t(gridDim.x) * blockDim.x, w = s.width;
#pragma unroll 1
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < s.n; i += threads) {
    const auto [row, column] = s.by_width.divide(uint64_t(i));
    const int64_t at = int64_t(row) * kGates * w + int64_t(column);
    T* const d = s.d_gates + at;
    const T dh = s.d_hidden[i] + s.d_output[i];
    if constexpr (kind == Kind::Lstm) {
      const T* const g = s.gates + at;
      const T in = g[0], forget = g[w], news = g[2 * w], out = g[3 * w], seen = s.seen[i];
      const T dc = s.d_cell[i] + dh * out * (T(1) - seen * seen);
      d[0] = dc * news * (in * (T(1) - in));
      d[w] = dc * s.cells[i] * (forget * (T(1) - forget));
      d[2 * w] = dc * in * (T(1) - news * news);
      d[3 * w] = dh * seen * (out * (T(1) - out));
      s.d_cell[i] = dc * forget;
    } else if constexpr (kind == Kind::Gru) {
      const T* const g = s.gates + at;
      T* const share = s.d_shares + at;
      const T reset = g[0], keep = g[w], news = g[2 * w];
      const T kept = dh * keep, left = dh - kept, d_news = left - left * news * news;
      const T of_keep = (s.hidden[i] - news) * dh * keep, d_keep = of_keep - of_keep * keep;
      const T of_reset = d_news * s.seen[i] * reset, d_reset = of_reset - of_reset * reset;
      s.d_hidden[i] = kept;
      d[0] = share[0] = d_reset;
      d[w] = share[w] = d_keep;
      d[2 * w] = d_news;
      share[2 * w] = d_news * reset;
    } else {
      const T y = s.next_hidden[i];
      d[0] = kind == Kind::Tanh ? dh - dh * y * y : y <= T(0) ? T(0) : dh;
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) fill_ones(T* out, int64_t n) {
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
#pragma unroll 1
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = T(1);
}

// ---- a layer's way through its steps ----

template <class T>
const T* at(const void* p, int64_t i) {
  return p == nullptr ? nullptr : static_cast<const T*>(p) + i;
}
template <class T>
T* at(void* p, int64_t i) {
  return p == nullptr ? nullptr : static_cast<T*>(p) + i;
}

/// Where a step's rows stand in what has all steps, and in what has the states before and after them.
struct Rows {
  int64_t step, before, after;
  template <class Call>
  Rows(const Call& c, int64_t t)
      : step(t * c.batch), before((t + c.backwards) * c.batch), after((t + !c.backwards) * c.batch) {}
};

/// c = alpha a b + beta c of row-major matrices, the stored ones read transposed where that is asked for.
template <class Call>
GemmCall product(const Call& c, int64_t m, int64_t n, int64_t k, const void* a, const void* b, void* out) {
  GemmCall call{};
  call.dtype = c.dtype;
  call.m = m, call.n = n, call.k = k;
  call.alpha = 1;
  call.a = a, call.lda = k;
  call.b = b, call.ldb = n;
  call.c = out, call.ldc = n;
  call.batch = 1;
  call.tf32 = c.tf32;
  call.launch = c.launch;
  return call;
}
/// With b stored as [n, k].
GemmCall by_transposed(GemmCall call) {
  call.transpose_b = true, call.ldb = call.k;
  return call;
}
/// With a stored as [k, m].
GemmCall of_transposed(GemmCall call) {
  call.transpose_a = true, call.lda = call.m;
  return call;
}

template <class T, Kind kind>
void forward(const RecurrentCall& c, const Place& place) {
  const int64_t sums = gates_of(kind) * c.width, rows = c.steps * c.batch, n = c.batch * c.width;
  const Scratch unkept(place, c.gates != nullptr ? 0 : size_t(rows * sums) * sizeof(T));
  const Scratch shares(place, size_t(c.batch * sums) * sizeof(T));
  T* const gates = c.gates != nullptr ? static_cast<T*>(c.gates) : unkept.as<T>();
  multiply(by_transposed(product(c, rows, sums, c.features, c.input, c.w_ih, gates)));
  for (int64_t k = 0; k < c.steps; k++) {
    const int64_t t = c.backwards ? c.steps - 1 - k : k;
    const Rows at_step(c, t);
    const T* const before = at<T>(static_cast<const void*>(c.hidden), at_step.before * c.width);
    multiply(by_transposed(product(c, c.batch, sums, c.width, before, c.w_hh, shares.get())));
    launch<step_forward<T, kind>>(
        place, {blocks_for(n, 1), kThreads},
        Step<T>{n, c.width, FastDivide<uint64_t>(uint64_t(c.width)), gates + at_step.step * sums, shares.as<T>(),
                at<T>(c.b_ih, 0), at<T>(c.b_hh, 0), before,
                at<T>(static_cast<const void*>(c.cells), at_step.before * c.width),
                at<T>(c.hidden, at_step.after * c.width), at<T>(c.cells, at_step.after * c.width),
                at<T>(c.seen, at_step.step * c.width)});
  }
}

template <class T, Kind kind>
void back(const RecurrentGradCall& c, const Place& place) {
  constexpr bool apart = kind == Kind::Gru;  // the shares' gradients are not the gates'
  const int64_t sums = gates_of(kind) * c.width, rows = c.steps * c.batch, n = c.batch * c.width;
  const Scratch of_gates(place, size_t(rows * sums) * sizeof(T));
  const Scratch of_shares(place, apart ? size_t(rows * sums) * sizeof(T) : 0);
  T *const d_gates = of_gates.as<T>(), *const d_shares = apart ? of_shares.as<T>() : d_gates;
  for (int64_t k = 0; k < c.steps; k++) {
    const Rows at_step(c, c.backwards ? k : c.steps - 1 - k);
    launch<step_back<T, kind>>(
        place, {blocks_for(n, 1), kThreads},
        StepBack<T>{n, c.width, FastDivide<uint64_t>(uint64_t(c.width)), at<T>(c.gates, at_step.step * sums),
                    at<T>(c.seen, at_step.step * c.width), at<T>(c.hidden, at_step.before * c.width),
                    at<T>(c.hidden, at_step.after * c.width), at<T>(c.cells, at_step.before * c.width),
                    at<T>(c.d_output, at_step.step * c.width), at<T>(c.d_hidden, 0), at<T>(c.d_cell, 0),
                    d_gates + at_step.step * sums, d_shares + at_step.step * sums});
    GemmCall before = product(c, c.batch, c.width, sums, d_shares + at_step.step * sums, c.w_hh, c.d_hidden);
    before.beta = apart ? 1 : 0;
    multiply(before);
  }
  if (c.d_input != nullptr) multiply(product(c, rows, c.features, sums, d_gates, c.w_ih, c.d_input));
  const T* const before = at<T>(c.hidden, c.backwards ? c.batch * c.width : 0);
  multiply(of_transposed(product(c, sums, c.features, rows, d_gates, c.input, c.d_w_ih)));
  multiply(of_transposed(product(c, sums, c.width, rows, d_shares, before, c.d_w_hh)));
  const Scratch ones(place, size_t(rows) * sizeof(T));
  launch<fill_ones<T>>(place, {blocks_for(rows), kThreads}, ones.as<T>(), rows);
  multiply(product(c, 1, sums, rows, ones.get(), d_gates, c.d_b_ih));
  if (c.d_b_hh != nullptr) multiply(product(c, 1, sums, rows, ones.get(), d_shares, c.d_b_hh));
}

template <class T, class Call>
void of_kind(const Call& c) {
  const Place place(c.launch);
  const auto run = [&]<Kind kind>() {
    if constexpr (std::is_same_v<Call, RecurrentCall>) forward<T, kind>(c, place);
    else back<T, kind>(c, place);
  };
  switch (c.kind) {
    case Kind::Lstm: return run.template operator()<Kind::Lstm>();
    case Kind::Gru: return run.template operator()<Kind::Gru>();
    case Kind::Tanh: return run.template operator()<Kind::Tanh>();
    case Kind::Relu: return run.template operator()<Kind::Relu>();
  }
}
template <class Call>
void recurrent(const Call& c) {
  if (c.dtype == DType::Float64) of_kind<double>(c);
  else of_kind<float>(c);
}

const CudaKernel<RecurrentCall> entry("recurrent", recurrent<RecurrentCall>);
const CudaKernel<RecurrentGradCall> grad_entry("recurrent_backward", recurrent<RecurrentGradCall>);

}  // namespace
}  // namespace tessera::tensor::cuda
