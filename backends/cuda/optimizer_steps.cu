// Steps of optimizers for many parameters in one launch: their addresses travel in the kernel's parameters, and each block
// takes a chunk of one of them. The formulas are those of backends/cpu/optimizer_steps.cpp, rounded where they round.
// A graph replays the numbers that it was captured with: CountedAdam works its corrections out from counts in the
// device's memory, in float64 as the host does.
#include "backends/cuda/launch.cuh"
#include "runtime/ops/optimizer_steps.h"

namespace tessera::tensor::cuda {
namespace {

constexpr int64_t kChunk = 8192;  // elements of a block
constexpr int kMostTensors = 64;  // of a launch: as many as the parameters have room for
constexpr int kMostCounts = 256;

template <class T>
struct Part {
  T *weight, *first, *second;
  const T* gradient;
  int64_t n;
  const float* step;
};
template <class T>
struct Parts {
  Part<T> parts[kMostTensors];
  unsigned chunks[kMostTensors];  // up to the end of each part, so a search finds that of a block
  int count;
};
template <class T>
struct Settings {
  T numbers[5], rests[2];  // rests: 1 - a rate, rounded once
  T decay, shrink;
  bool maximize, nesterov, near;
  float* found;
};
/// What lies on the device, and what CountedAdam's corrections are made of.
struct Counted {
  double beta1, beta2, rate, shrink;
  const void* factor;  // of the rate
  bool is_double;
  float* found;  // not 0: a gradient was not finite
};
struct Counts {
  float* steps[kMostCounts];
  const float* found;
  int n;
};

/// Moves one weight and its state.
template <OptimizerCall::Rule rule, class T>
__device__ void move(const Settings<T>& s, T& weight, T g, T& first, T& second) {
  const T* k = s.numbers;
  if (s.maximize) g = -g;
  if (s.decay != T(0)) g = fma(s.decay, weight, g);
  if (s.shrink != T(1)) weight *= s.shrink;
  if constexpr (rule == OptimizerCall::Adam ||
                rule == OptimizerCall::CountedAdam) {  // beta1, beta2, eps, step size, correction of the spread
    first = s.near ? fma(s.rests[0], g - first, first) : fma(first - g, k[0], g);
    second = fma(s.rests[1] * g, g, second * k[1]);
    weight += -k[3] * first / (sqrt(second) / k[4] + k[2]);
  } else if constexpr (rule == OptimizerCall::Momentum) {  // momentum, rate of the gradient, learning rate
    first = fma(k[1], g, first * k[0]);
    weight = fma(-k[2], s.nesterov ? fma(k[0], first, g) : first, weight);
  } else if constexpr (rule == OptimizerCall::RmsProp) {  // alpha, eps, learning rate
    first = fma(s.rests[0] * g, g, first * k[0]);
    weight += -k[2] * g / (sqrt(first) + k[1]);
  } else if constexpr (rule == OptimizerCall::Adagrad) {  // eps, learning rate
    first = fma(g, g, first);
    weight += -k[1] * g / (sqrt(first) + k[0]);
  } else if constexpr (rule == OptimizerCall::Unscale) {  // factor
    if (!isfinite(g)) atomicExch(s.found, 1.0f);
    weight = k[0] * g;
  } else {  // learning rate
    weight = fma(-k[0], g, weight);
  }
}

template <OptimizerCall::Rule rule>
constexpr int kStates = rule == OptimizerCall::Adam || rule == OptimizerCall::CountedAdam ? 2
                        : rule == OptimizerCall::Plain || rule == OptimizerCall::Unscale  ? 0
                                                                                          : 1;

template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T x[kCount];
};
template <class T>
__device__ Pack<T>* packs(T* p) {
  return reinterpret_cast<Pack<T>*>(p);
}
template <class T>
__device__ bool aligned(const T* p) {
  return reinterpret_cast<uintptr_t>(p) % sizeof(Pack<T>) == 0;
}

template <OptimizerCall::Rule rule, class T>
__device__ void move_one(const Part<T>& p, const Settings<T>& s, int64_t i) {
  T weight = p.weight[i], first = T(0), second = T(0);
  if constexpr (kStates < rule >> 0) first = p.first[i];
  if constexpr (kStates < rule >> 1) second = p.second[i];
  move<rule>(s, weight, p.gradient[i], first, second);
  p.weight[i] = weight;
  if constexpr (kStates < rule >> 0) p.first[i] = first;
  if constexpr (kStates < rule >> 1) p.second[i] = second;
}

template <OptimizerCall::Rule rule, class T>
__device__ void move_pack(const Part<T>& p, const Settings<T>& s, int64_t i) {
  Pack<T> weight = packs(p.weight)[i], first{}, second{};
  const Pack<T> g = packs(const_cast<T*>(p.gradient))[i];
  if constexpr (kStates < rule >> 0) first = packs(p.first)[i];
  if constexpr (kStates < rule >> 1) second = packs(p.second)[i];
  for (int j = 0; j < Pack<T>::kCount; j++) move<rule>(s, weight.x[j], g.x[j], first.x[j], second.x[j]);
  packs(p.weight)[i] = weight;
  if constexpr (kStates < rule >> 0) packs(p.first)[i] = first;
  if constexpr (kStates < rule >> 1) packs(p.second)[i] = second;
}

template <OptimizerCall::Rule rule, class T>
__device__ void move_chunk(const Part<T>& part, const Settings<T>& s, int64_t begin, int64_t end) {
  int64_t done = begin;
  bool wide = aligned(part.weight) && aligned(part.gradient);
  if constexpr (kStates < rule >> 0) wide = wide && aligned(part.first);
  if constexpr (kStates < rule >> 1) wide = wide && aligned(part.second);
  if (wide) {
    constexpr int kCount = Pack<T>::kCount;  // a chunk begins at a multiple of it
    for (int64_t i = begin / kCount + threadIdx.x; i < end / kCount; i += kThreads) move_pack<rule>(part, s, i);
    done = end / kCount * kCount;
  }
  for (int64_t i = done + threadIdx.x; i < end; i += kThreads) move_one<rule>(part, s, i);
}

__device__ inline double factor_of(const Counted& c) {
  return c.factor == nullptr ? 1.0
         : c.is_double       ? *static_cast<const double*>(c.factor)
                             : double(*static_cast<const float*>(c.factor));
}

/// One thread works the numbers of this step out for its block.
template <class T>
__device__ Settings<T> at_step(const Settings<T>& s, const Counted& c, double step) {
  TS_SHARED(T, now, 3);
  if (threadIdx.x == 0) {
    const double factor = factor_of(c);
    now[0] = T(c.rate * factor / (1 - pow(c.beta1, step)));
    now[1] = T(sqrt(1 - pow(c.beta2, step)));
    now[2] = T(1 - (1 - c.shrink) * factor);
  }
  __syncthreads();
  Settings<T> mine = s;
  mine.numbers[3] = now[0], mine.numbers[4] = now[1], mine.shrink = now[2];
  return mine;
}

template <OptimizerCall::Rule rule, class T>
__global__ void __launch_bounds__(kThreads)
    step_parts(const __grid_constant__ Parts<T> all, const __grid_constant__ Settings<T> s,
               const __grid_constant__ Counted counted) {
  if constexpr (rule != OptimizerCall::Unscale)
    if (counted.found != nullptr && *counted.found != 0) return;
  int low = 0;
  for (int left = all.count; left > 1;) {  // the first part that ends behind this block
    const int half = left / 2;
    if (all.chunks[low + half - 1] <= blockIdx.x) low += half;
    left -= half;
  }
  const Part<T>& part = all.parts[low];
  const int64_t begin = int64_t(blockIdx.x - (low > 0 ? all.chunks[low - 1] : 0)) * kChunk;
  const int64_t end = begin + kChunk < part.n ? begin + kChunk : part.n;
  if constexpr (rule == OptimizerCall::CountedAdam)
    move_chunk<rule>(part, at_step(s, counted, double(*part.step)), begin, end);
  else if constexpr (rule == OptimizerCall::Unscale) {
    Settings<T> mine = s;
    mine.numbers[0] = T(factor_of(counted)), mine.found = counted.found;
    move_chunk<rule>(part, mine, begin, end);
  } else {
    move_chunk<rule>(part, s, begin, end);
  }
}

__global__ void __launch_bounds__(kThreads) count_steps(const __grid_constant__ Counts counts) {
  if (counts.found != nullptr && *counts.found != 0) return;
  if (int(threadIdx.x) < counts.n) *counts.steps[threadIdx.x] += 1.0f;
}

void advance(const OptimizerListCall& c, const Place& place) {
  for (int64_t at = 0; at < c.count;) {
    Counts counts{};
    counts.found = c.found;
    while (at < c.count && counts.n < kMostCounts) counts.steps[counts.n++] = c.tensors[at++].step;
    launch<count_steps>(place, {1, kThreads}, counts);
  }
}

template <class T>
Settings<T> settings_of(const OptimizerListCall& c) {
  Settings<T> s{};
  for (int i = 0; i < 5; i++) s.numbers[i] = T(c.numbers[i]);
  for (int i = 0; i < 2; i++) s.rests[i] = T(1 - c.numbers[i]);
  if (c.rule == OptimizerCall::Adam || c.rule == OptimizerCall::CountedAdam) {
    s.near = s.rests[0] < T(0.5) && s.rests[0] > T(-0.5);
    s.numbers[0] = T(1) - s.rests[0];
  }
  s.decay = T(c.decay), s.shrink = T(c.shrink);
  s.maximize = c.maximize, s.nesterov = c.nesterov;
  return s;
}

template <OptimizerCall::Rule rule, class T>
void run(const OptimizerListCall& c, const Place& place) {
  const Settings<T> s = settings_of<T>(c);
  const double* k = c.numbers;
  const Counted counted{k[0], k[1], k[3], c.shrink, c.rate, c.rate_dtype == DType::Float64, c.found};
  for (int64_t at = 0; at < c.count;) {
    Parts<T> parts{};
    int64_t chunks = 0;
    for (; at < c.count && parts.count < kMostTensors; at++) {
      const OptimizerTensor& t = c.tensors[at];
      const int64_t mine = (t.n + kChunk - 1) / kChunk;
      if (parts.count > 0 && chunks + mine > INT32_MAX) break;
      chunks += mine;
      parts.parts[parts.count] = {static_cast<T*>(t.weight),
                                  static_cast<T*>(t.first),
                                  static_cast<T*>(t.second),
                                  static_cast<const T*>(t.gradient),
                                  t.n,
                                  t.step};
      parts.chunks[parts.count++] = unsigned(chunks);
    }
    if (chunks > 0) launch<step_parts<rule, T>>(place, {unsigned(chunks), kThreads}, parts, s, counted);
  }
}
template <class T>
void run(const OptimizerListCall& c, const Place& place) {
  switch (c.rule) {
    case OptimizerCall::Adam: return run<OptimizerCall::Adam, T>(c, place);
    case OptimizerCall::Momentum: return run<OptimizerCall::Momentum, T>(c, place);
    case OptimizerCall::RmsProp: return run<OptimizerCall::RmsProp, T>(c, place);
    case OptimizerCall::Adagrad: return run<OptimizerCall::Adagrad, T>(c, place);
    case OptimizerCall::Plain: return run<OptimizerCall::Plain, T>(c, place);
    case OptimizerCall::CountedAdam: return run<OptimizerCall::CountedAdam, T>(c, place);
    case OptimizerCall::Unscale: return run<OptimizerCall::Unscale, T>(c, place);
  }
}

void steps(const OptimizerListCall& c) {
  const Place place(c.launch);
  if (c.count > 0 && c.tensors[0].step != nullptr) advance(c, place);
  if (c.dtype == DType::Float64) run<double>(c, place);
  else run<float>(c, place);
}

void step(const OptimizerCall& c) {
  const OptimizerTensor one{c.weight, c.gradient, c.first, c.second, c.n, nullptr};
  OptimizerListCall list{c.rule, c.dtype, false, false, 0, 1, {}, nullptr, c.dtype, nullptr, 1, &one, c.launch};
  for (int i = 0; i < 5; i++) list.numbers[i] = c.numbers[i];
  steps(list);
}

const CudaKernel<OptimizerCall> entry("optimizer_step", step);
const CudaKernel<OptimizerListCall> list_entry("optimizer_steps", steps);

}  // namespace
}  // namespace tessera::tensor::cuda
