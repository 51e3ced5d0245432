// Philox 4x32-10 (Salmon et al., 2011) and the numbers that CUDA's own library makes of its words.
#pragma once

#include "backends/cuda/launch.cuh"
#include "runtime/device/generator.h"

namespace tessera::tensor::cuda {

/// The sequence of one thread: four words at a time, those of draw number i in any order of i.
class Philox {
 public:
  __device__ Philox(const RandomState& given, uint64_t thread) : thread_(thread) {
    const RandomState state = given.now();
    key_ = {unsigned(state.seed), unsigned(state.seed >> 32)};
    first_ = state.offset / 4;
  }

  __device__ uint4 operator()(uint64_t draw) const {
    const uint64_t place = first_ + draw;
    uint4 x{unsigned(place), unsigned(place >> 32), unsigned(thread_), unsigned(thread_ >> 32)};
    uint2 key = key_;
    for (int round = 0; round < 10; round++) {
      const unsigned high0 = __umulhi(0xD2511F53u, x.x), low0 = 0xD2511F53u * x.x;
      const unsigned high1 = __umulhi(0xCD9E8D57u, x.z), low1 = 0xCD9E8D57u * x.z;
      x = uint4{high1 ^ x.y ^ key.x, low1, high0 ^ x.w ^ key.y, low0};
      key.x += 0x9E3779B9u, key.y += 0xBB67AE85u;
    }
    return x;
  }

 private:
  uint2 key_;
  uint64_t first_, thread_;
};

// Uniform numbers of (0, 1]: the middle of each step, so that 1 comes by rounding and 0 never.
__device__ inline float unit_of(unsigned x) { return fmaf(float(x), 0x1p-32f, 0x1p-33f); }
__device__ inline double unit_of(unsigned x, unsigned y) {
  return fma(double((unsigned long long)x ^ (unsigned long long)y << 21), 0x1p-53, 0x1p-54);
}
__device__ inline unsigned long long wide_of(unsigned x, unsigned y) { return (unsigned long long)x << 32 | y; }

/// Four uniform floats, or two doubles.
__device__ inline void uniform(uint4 x, float (&out)[4]) {
  out[0] = unit_of(x.x), out[1] = unit_of(x.y), out[2] = unit_of(x.z), out[3] = unit_of(x.w);
}
__device__ inline void uniform(uint4 x, double (&out)[2]) { out[0] = unit_of(x.x, x.y), out[1] = unit_of(x.z, x.w); }

/// Normal ones, by Box and Muller: sine first.
__device__ inline void normal_pair(unsigned x, unsigned y, float* out) {
  constexpr float kStep = 0x1p-32f * 6.2831855f;
  const float radius = sqrtf(-2.0f * logf(unit_of(x)));
  __sincosf(fmaf(float(y), kStep, kStep / 2), &out[0], &out[1]);
  out[0] *= radius, out[1] *= radius;
}
__device__ inline void normal(uint4 x, float (&out)[4]) {
  normal_pair(x.x, x.y, out);
  normal_pair(x.z, x.w, out + 2);
}
__device__ inline void normal(uint4 x, double (&out)[2]) {
  const double radius = sqrt(-2.0 * log(unit_of(x.x, x.y)));
  sincospi(2 * unit_of(x.z, x.w), &out[0], &out[1]);
  out[0] *= radius, out[1] *= radius;
}

// The fast functions that PyTorch's transformations use in float.
__device__ inline float quick_log(float x) { return __logf(x); }
__device__ inline float quick_exp(float x) { return __expf(x); }
__device__ inline float quick_tan(float x) { return __tanf(x); }
__device__ inline double quick_log(double x) { return log(x); }
__device__ inline double quick_exp(double x) { return exp(x); }
__device__ inline double quick_tan(double x) { return tan(x); }

}  // namespace tessera::tensor::cuda
