// Draws of a device in which each element follows parameters of its own, and the parts of draws of places: calls of the slots
// that CUDA fills. The CPU draws these without a kernel, by the same formulas (draw_formulas.h).
#pragma once

#include "runtime/device/generator.h"
#include "runtime/device/kernel.h"
#include "runtime/ops/random_draws.h"

namespace tessera::tensor {

enum class Parametric : uint8_t { Poisson, Binomial, Gamma, GammaSlope, BetaSlope };

/// out[i] from a[i] and, as far as there are some, b[i] and c[i]: contiguous, of float32 or float64. A rate below 0 is reported.
struct ParametricCall {
  Parametric of;
  DType dtype;
  const void *a, *b, *c;
  void* out;
  int64_t n;
  RandomState state;
  Launch launch{};
};
extern Kernel<ParametricCall> parametric_kernel;

/// Reports rows of weights with one that is negative, infinite or not a number, or with nothing but zeros. Contiguous.
struct WeightsCall {
  DType dtype;
  const void* weights;
  int64_t rows, size;
  Launch launch{};
};
extern Kernel<WeightsCall> weights_kernel;

/// `count` places for each row: the first whose running sum is not below a uniform number, or the last before it that has a
/// share. `shares` of each row add up to 1.
struct PlacesCall {
  DType dtype;
  const void *sums, *shares;
  int64_t* out;
  int64_t rows, size, count;
  RandomState state;
  Launch launch{};
};
extern Kernel<PlacesCall> places_kernel;

/// Shuffles the places of equal keys, which lie in order: int32, or int64 where `wide`.
struct EqualKeysCall {
  bool wide;
  const void* keys;
  int64_t* places;
  int64_t n;
  RandomState state;
  Launch launch{};
};
extern Kernel<EqualKeysCall> equal_keys_kernel;

/// Fills `out`, of any floating dtype and layout, from parameters that have its shape.
void draw_there(Parametric of, const Tensor& out, std::initializer_list<Tensor> parameters, RandomState state);
/// Whether a device has kernels for these.
inline bool draws_parametric(Device device) { return parametric_kernel.computes_on(device); }

}  // namespace tessera::tensor
