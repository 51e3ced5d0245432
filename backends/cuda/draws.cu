// Draws of which each element has its own parameters, and of places by weights: sequences and steps of PyTorch's CUDA kernels where
// these are known (Poisson numbers are curand's there and ours here).
#include <limits>

#include "backends/cuda/divide.cuh"
#include "backends/cuda/errors.cuh"
#include "backends/cuda/philox.cuh"
#include "backends/cuda/team.cuh"
#include "runtime/ops/draw_formulas.h"
#include "runtime/ops/parametric_draws.h"

namespace tessera::tensor::cuda {
namespace {

/// A thread's numbers one by one, as curand_uniform and curand_normal answer them.
template <class T>
class Numbers {
 public:
  __device__ explicit Numbers(const Philox& philox) : philox_(philox) {}
  __device__ unsigned word() {
    if (left_ == 0) words_ = philox_(draw_++), left_ = 4;
    const int at = 4 - left_--;
    return at == 0 ? words_.x : at == 1 ? words_.y : at == 2 ? words_.z : words_.w;
  }
  __device__ T unit() { return T(unit_of(word())); }
  __device__ T normal() {
    if (has_spare_) return has_spare_ = false, T(spare_);
    float pair[2];
    const unsigned x = word(), y = word();
    normal_pair(x, y, pair);
    spare_ = pair[1], has_spare_ = true;
    return T(pair[0]);
  }

 private:
  Philox philox_;
  uint4 words_{};
  uint64_t draw_ = 0;
  int left_ = 0;
  float spare_ = 0;
  bool has_spare_ = false;
};

/// Uniform ones with all bits of a double.
class WideNumbers {
 public:
  __device__ explicit WideNumbers(const Philox& philox) : philox_(philox) {}
  __device__ double unit() {
    if (second_) return second_ = false, unit_of(words_.z, words_.w);
    words_ = philox_(draw_++), second_ = true;
    return unit_of(words_.x, words_.y);
  }

 private:
  Philox philox_;
  uint4 words_{};
  uint64_t draw_ = 0;
  bool second_ = false;
};

template <class T>
constexpr T kLeast = std::numeric_limits<T>::min();
template <class T>
constexpr T kMost = std::numeric_limits<T>::max();

enum { kOfWeight, kOfCoin, kOfRate, kOfSum };  // the `dim` of the fault, which says in which words it is told

template <class T>
__global__ void __launch_bounds__(kThreads) draw_poisson(const __grid_constant__ ParametricCall c) {
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < c.n; i += threads) {
    double rate = double(static_cast<const T*>(c.a)[i]);
    if (!(rate >= 0)) report(c.launch.errors, ErrorWord::Probability, kOfRate, i, c.n), rate = 0;
    WideNumbers numbers(Philox(c.state, uint64_t(i)));
    static_cast<T*>(c.out)[i] = T(draws::poisson(numbers, rate));
  }
}

// Each thread four elements, 128 apart, from one sequence.
constexpr int kApart = 128, kOfThread = 4;

template <class T>
__global__ void __launch_bounds__(kThreads) draw_binomial(const __grid_constant__ ParametricCall c) {
  const int64_t groups = (c.n + kApart * kOfThread - 1) / (kApart * kOfThread);
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
  for (int64_t t = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; t < groups * kApart; t += threads) {
    Numbers<T> numbers(Philox(c.state, uint64_t(t)));
    const int64_t first = t / kApart * (kApart * kOfThread) + t % kApart;
    for (int64_t i = first; i < c.n && i < first + kApart * kOfThread; i += kApart)
      static_cast<T*>(c.out)[i] =
          draws::binomial(numbers, static_cast<const T*>(c.a)[i], static_cast<const T*>(c.b)[i]);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) draw_gamma(const __grid_constant__ ParametricCall c) {
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < c.n; i += threads) {
    Numbers<T> numbers(Philox(c.state, uint64_t(i)));
    const T x = draws::gamma(numbers, static_cast<const T*>(c.a)[i]);
    static_cast<T*>(c.out)[i] = x < kLeast<T> ? kLeast<T> : x;
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) slopes(const __grid_constant__ ParametricCall c) {
  const auto at = [](const void* p, int64_t i) { return double(static_cast<const T*>(p)[i]); };
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < c.n; i += threads)
    static_cast<T*>(c.out)[i] =
        T(c.of == Parametric::GammaSlope ? draws::gamma_slope(at(c.a, i), at(c.b, i))
                                         : draws::beta_slope(at(c.a, i), at(c.b, i), at(c.c, i)));
}

template <class T>
void parametric(const ParametricCall& c, const Place& place) {
  switch (c.of) {
    case Parametric::Poisson: return launch<draw_poisson<T>>(place, {blocks_for(c.n, 1), kThreads}, c);
    case Parametric::Binomial: return launch<draw_binomial<T>>(place, {blocks_for(c.n), kThreads}, c);
    case Parametric::Gamma: return launch<draw_gamma<T>>(place, {blocks_for(c.n, 1), kThreads}, c);
    case Parametric::GammaSlope:
    case Parametric::BetaSlope: return launch<slopes<T>>(place, {blocks_for(c.n, 1), kThreads}, c);
  }
}
void parametric_of_type(const ParametricCall& c) {
  const Place place(c.launch);
  if (c.dtype == DType::Float64) parametric<double>(c, place);
  else parametric<float>(c, place);
}

// ---- places by weights ----

/// A warp looks at a row.
template <class T>
__global__ void __launch_bounds__(kThreads) check_weights(WeightsCall c) {
  const int lane = int(threadIdx.x % 32);
  const int64_t warps = int64_t(gridDim.x) * (blockDim.x / 32);
  for (int64_t row = int64_t(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; row < c.rows; row += warps) {
    const T* w = static_cast<const T*>(c.weights) + row * c.size;
    bool wrong = false, some = false;
    for (int64_t k = lane; k < c.size; k += 32) wrong |= !(w[k] >= 0 && w[k] <= kMost<T>), some |= w[k] > 0;
    wrong = __any_sync(0xffffffffu, wrong);
    some = __any_sync(0xffffffffu, some);
    if (lane != 0) continue;
    if (wrong) report(c.launch.errors, ErrorWord::Probability, kOfWeight, row, c.rows);
    else if (!some) report(c.launch.errors, ErrorWord::Probability, kOfSum, row, c.rows);
  }
}
void weights(const WeightsCall& c) {
  const Place place(c.launch);
  const Grid grid{blocks_for(c.rows * 32, 1), kThreads};
  if (c.dtype == DType::Float64) launch<check_weights<double>>(place, grid, c);
  else launch<check_weights<float>>(place, grid, c);
}

// PyTorch's grid has blocks of 128 samples in x and a row in y, of which there are at most so many; each thread goes on through the
// rows with one sequence.
constexpr int64_t kSamples = 128, kMostRows = 65535;

template <class T>
__global__ void __launch_bounds__(kThreads)
    find_places(const __grid_constant__ PlacesCall c, FastDivide<uint64_t> by_count, FastDivide<uint64_t> by_high) {
  const int64_t wide = (c.count + kSamples - 1) / kSamples * kSamples;
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
#pragma unroll 1
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < c.rows * c.count; i += threads) {
    const auto [line, sample] = by_count.divide(uint64_t(i));
    const auto [draw, low] = by_high.divide(line);
    const int64_t row = int64_t(line);
    const Philox philox(c.state, uint64_t(int64_t(low) * wide + int64_t(sample)));
    const T chance = T(unit_of(philox(draw).x));
    const T *sums = static_cast<const T*>(c.sums) + row * c.size,
            *share = static_cast<const T*>(c.shares) + row * c.size;
    int64_t place = 0;
    for (int64_t end = c.size; place < end;) {
      const int64_t middle = place + (end - place) / 2;
      if (sums[middle] < chance) place = middle + 1;
      else end = middle;
    }
    if (place == c.size) place = c.size - 1;  // sums that stay below 1 by rounding
    while (place >= 1 && share[place] == 0) place--;
    c.out[i] = place;
  }
}
void places(const PlacesCall& c) {
  const Place place(c.launch);
  if (c.rows * c.count == 0) return;
  const Grid grid{blocks_for(c.rows * c.count, 1), kThreads};
  const FastDivide<uint64_t> by_count{uint64_t(c.count)}, by_high{uint64_t(c.rows < kMostRows ? c.rows : kMostRows)};
  if (c.dtype == DType::Float64) launch<find_places<double>>(place, grid, c, by_count, by_high);
  else launch<find_places<float>>(place, grid, c, by_count, by_high);
}

// ---- keys that meet ----

/// The first of equal neighbours shuffles them all: there are few, and few together.
template <class Key>
__global__ void __launch_bounds__(kThreads) shuffle_equal(const __grid_constant__ EqualKeysCall c) {
  const Key* keys = static_cast<const Key*>(c.keys);
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
  for (int64_t t = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; t < c.n - 1; t += threads) {
    const Key key = keys[t];
    if (key != keys[t + 1] || (t != 0 && key == keys[t - 1])) continue;
    int64_t end = t + 2;
    while (end < c.n && keys[end] == key) end++;
    int64_t* const places = c.places + t;
    Numbers<float> numbers(Philox(c.state, uint64_t(t)));
    for (int64_t i = end - t - 1; i > 0; i--) {
      const int64_t other = int64_t(numbers.word() % unsigned(i + 1));
      const int64_t kept = places[i];
      places[i] = places[other], places[other] = kept;
    }
  }
}
void equal_keys(const EqualKeysCall& c) {
  const Place place(c.launch);
  const Grid grid{blocks_for(c.n, 1), kThreads};
  if (c.wide) launch<shuffle_equal<long long>>(place, grid, c);
  else launch<shuffle_equal<int>>(place, grid, c);
}

const CudaKernel<ParametricCall> entry("random_by_parameters", parametric_of_type);
const CudaKernel<WeightsCall> weights_entry("random_weights", weights);
const CudaKernel<PlacesCall> places_entry("random_places", places);
const CudaKernel<EqualKeysCall> keys_entry("random_equal_keys", equal_keys);

}  // namespace
}  // namespace tessera::tensor::cuda
