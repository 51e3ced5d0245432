// Tensors filled with random numbers: a grid of the width that the program has chosen, each thread's elements a whole grid
// apart, so that each draw's numbers go to neighbours of the other threads'.
#include <limits>

#include "backends/cuda/element.cuh"
#include "backends/cuda/errors.cuh"
#include "backends/cuda/pack.cuh"
#include "backends/cuda/philox.cuh"
#include "runtime/ops/random_draws.h"

namespace tessera::tensor::cuda {
namespace {

static_assert(kDrawThreads == kThreads);

/// Where the numbers go: one operand, of any layout.
struct Target {
  char* data;
  Nest nest;
  int64_t numel;
  DType dtype;

  explicit Target(const Loop& loop)
      : data(loop.data[0]), nest(loop.ndim, loop.sizes, loop.strides[0]), numel(loop.numel), dtype(loop.dtype[0]) {
    // An integer is cut to its bits, so what has no sign is stored as what has one.
    if (dtype == DType::UInt16) dtype = DType::Int16;
    if (dtype == DType::UInt32) dtype = DType::Int32;
    if (dtype == DType::UInt64) dtype = DType::Int64;
  }
  template <class T>
  __device__ void put(int64_t i, T value) const {
    store_as(data, nest.offset(i), dtype, value);
  }
  /// As it will be read back.
  template <class T>
  __device__ T rounded(T x) const {
    if (dtype == DType::Float16) return T(float(Float16(float(x))));
    if (dtype == DType::BFloat16) return T(float(Brain16(float(x))));
    return x;
  }
};

/// f(i, j) for element i of the draw that `draw` answers, of which it is number j.
template <int kAtOnce, class Make>
__device__ void each_draw(int64_t n, const Philox& philox, int64_t thread, const Make& make) {
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
  uint64_t draw = 0;
#pragma unroll 1
  for (int64_t first = thread; first < n; first += threads * kAtOnce) make(philox(draw++), first, threads);
}

template <class T>
inline constexpr int kAtOnce = sizeof(T) == 4 ? 4 : 2;

template <class T>
constexpr T kEpsilon = std::numeric_limits<T>::epsilon();

template <Distribution kind, class T>
struct Rule {
  T a, b, range;  // range: of a uniform number, b - a

  __device__ T operator()(T x, const Target& target) const {
    if constexpr (kind == Distribution::Uniform) {
      const T value = target.rounded(fma(x, range, a));
      return value == b ? a : value;  // from (a, b] to [a, b)
    }
    if constexpr (kind == Distribution::Normal) return fma(x, b, a);
    if constexpr (kind == Distribution::LogNormal) return quick_exp(fma(x, b, a));
    if constexpr (kind == Distribution::Bernoulli) return x < a ? T(1) : T(0);
    if constexpr (kind == Distribution::Exponential) {
      constexpr T kHalfStep = kEpsilon<T> / 2;  // log is 0 for 1, and an exponential number is not
      return T(-1) / a * (x >= 1 - kHalfStep ? -kHalfStep : quick_log(x));
    }
    if constexpr (kind == Distribution::Cauchy) {
      constexpr T kLeast = kEpsilon<T>;  // beyond it the fast tangent is infinite
      if (sizeof(T) == 4) x = x > 1 - kLeast ? 1 - kLeast : x < kLeast ? kLeast : x;
      return a + b * quick_tan(T(3.14159265358979323846) * (x - T(0.5)));
    }
    if constexpr (kind == Distribution::Geometric) return ceil(quick_log(x) / quick_log(T(1) - a));
    return x;
  }
};

template <Distribution kind, class T>
__global__ void __launch_bounds__(kThreads, 4)
    draw_numbers(const __grid_constant__ Target target, RandomState state, Rule<kind, T> rule) {
  const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, n = target.numel;
  each_draw<kAtOnce<T>>(n, Philox(state, uint64_t(thread)), thread, [&](uint4 words, int64_t first, int64_t apart) {
    T x[kAtOnce<T>];
    if constexpr (kind == Distribution::Normal || kind == Distribution::LogNormal) normal(words, x);
    else uniform(words, x);
#pragma unroll
    for (int j = 0; j < kAtOnce<T>; j++)
      if (first + j * apart < n) target.put(first + j * apart, rule(x[j], target));
  });
}

/// base + word % span.
template <class Word>
__global__ void __launch_bounds__(kThreads, 4) draw_integers(const __grid_constant__ Target target, RandomState state,
                                                             int64_t base, const FastRemainder<Word> by_span) {
  const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, n = target.numel;
  each_draw<sizeof(Word) == 4 ? 4 : 2>(n, Philox(state, uint64_t(thread)), thread,
                                       [&](uint4 words, int64_t first, int64_t apart) {
                                         const auto put = [&](int j, Word word) {
                                           const int64_t i = first + j * apart;
                                           if (i < n) target.put(i, int64_t(uint64_t(by_span(word)) + uint64_t(base)));
                                         };
                                         if constexpr (sizeof(Word) == 4) {
                                           put(0, words.x), put(1, words.y), put(2, words.z), put(3, words.w);
                                         } else {
                                           put(0, wide_of(words.x, words.y)), put(1, wide_of(words.z, words.w));
                                         }
                                       });
}

// A parameter as the kernels of the dtype have it.
double as_dtype(double x, DType dtype) {
  if (dtype == DType::Float64) return x;
  const float narrow = float(x);
  if (dtype == DType::Float16) return float(Float16(narrow));
  if (dtype == DType::BFloat16) return float(Brain16(narrow));
  return narrow;
}

template <Distribution kind, class T>
void numbers(const RandomCall& c, const Place& place) {
  const DType dtype = c.loop.dtype[0];
  Rule<kind, T> rule{T(c.draw.a), T(c.draw.b), T(0)};
  if constexpr (kind == Distribution::Uniform) {
    const double from = as_dtype(c.draw.a, dtype), to = as_dtype(c.draw.b, dtype);
    rule = {T(from), T(to), T(as_dtype(double(T(to) - T(from)), dtype))};
  }
  launch<draw_numbers<kind, T>>(place, {c.grid.blocks, kThreads}, Target(c.loop), c.grid.state, rule);
}
template <Distribution kind>
void numbers(const RandomCall& c, const Place& place) {
  if (c.loop.dtype[0] == DType::Float64) numbers<kind, double>(c, place);
  else numbers<kind, float>(c, place);
}

// How many integers from 0 on the dtype holds without a gap; 0: as many as a word.
uint64_t span_of_bits(DType dtype) {
  switch (dtype) {
    case DType::Bool: return 2;
    case DType::UInt8: return 1u << 8;
    case DType::Int8: return 1u << 7;
    case DType::Int16: return 1u << 15;
    case DType::Int32: return 1u << 31;
    case DType::Int64: return uint64_t(1) << 63;
    case DType::Float16: return (1u << 11) + 1;
    case DType::BFloat16: return (1u << 8) + 1;
    case DType::Float64: return (uint64_t(1) << 53) + 1;
    default: return (1u << 24) + 1;
  }
}

void integers(const RandomCall& c, const Place& place) {
  const DType dtype = c.loop.dtype[0];
  const bool bits = c.draw.of == Distribution::Bits;
  const uint64_t span = bits ? span_of_bits(dtype) : c.draw.span;
  const int64_t base = bits ? 0 : c.draw.from;
  const Grid grid{c.grid.blocks, kThreads};
  if (bits ? dtype == DType::Float64 || dtype == DType::Int64 : span == 0 || span >= uint64_t(1) << 28)
    launch<draw_integers<uint64_t>>(place, grid, Target(c.loop), c.grid.state, base, FastRemainder<uint64_t>(span));
  else
    launch<draw_integers<unsigned>>(place, grid, Target(c.loop), c.grid.state, base,
                                    FastRemainder<unsigned>(unsigned(span)));
}

void random(const RandomCall& c) {
  const Place place(c.launch);
  switch (c.draw.of) {
    case Distribution::Uniform: return numbers<Distribution::Uniform>(c, place);
    case Distribution::Normal: return numbers<Distribution::Normal>(c, place);
    case Distribution::LogNormal: return numbers<Distribution::LogNormal>(c, place);
    case Distribution::Bernoulli: return numbers<Distribution::Bernoulli>(c, place);
    case Distribution::Exponential: return numbers<Distribution::Exponential>(c, place);
    case Distribution::Cauchy: return numbers<Distribution::Cauchy>(c, place);
    case Distribution::Geometric: return numbers<Distribution::Geometric>(c, place);
    case Distribution::Integers:
    case Distribution::Bits: return integers(c, place);
  }
}

constexpr int kOfCoin = 1;  // the `dim` of the fault, whose message is another than a weight's

template <class P>
__global__ void toss_coins(CoinsCall c) {
  const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, threads = int64_t(gridDim.x) * blockDim.x;
  const P* p = static_cast<const P*>(c.p);
#pragma unroll 1
  for (int64_t t = thread; t * 4 < c.n; t += threads) {
    float x[4];
    uniform(Philox(c.state, uint64_t(t))(0), x);
    for (int j = 0; j < 4 && t * 4 + j < c.n; j++) {
      const int64_t i = t * 4 + j;
      if (!(p[i] >= 0 && p[i] <= 1)) report(c.launch.errors, ErrorWord::Probability, kOfCoin, i, c.n);
      store_as(static_cast<char*>(c.out), i, c.dtype, x[j] <= p[i] ? 1.0f : 0.0f);
    }
  }
}

void coins(const CoinsCall& c) {
  const Place place(c.launch);
  if (c.n == 0) return;
  if (c.dtype == DType::Float64) launch<toss_coins<double>>(place, {blocks_for(c.n), kThreads}, c);
  else launch<toss_coins<float>>(place, {blocks_for(c.n), kThreads}, c);
}

const CudaKernel<RandomCall> entry("random", random);
const CudaKernel<CoinsCall> coins_entry("random_coins", coins);

}  // namespace
}  // namespace tessera::tensor::cuda
