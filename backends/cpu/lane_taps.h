// Steps of depthwise convolutions, over pixels whose channels lie along the lanes of one vector. Each lane is summed for itself, in
// the order of the taps, so the results do not depend on the width of a vector.
#pragma once

#include <cstdint>

namespace tessera::tensor::cpu {

/// The taps of a window: where a tap reads, from the pixel that a place begins at, and which weight it takes. In elements.
struct LaneTaps {
  const int64_t* pixels;
  const int64_t* weights;
  int64_t count;
};

/// `places` results: out[i] = bias + the sum over taps of in[i] * weight, each a vector as wide as tile_lanes() says. in_step and
/// out_step: elements from place to place. Without `bias` sums begin at zero.
template <class T>
struct LaneSums {
  const T* in;
  const T* weights;
  const T* bias;
  T* out;
  int64_t places, in_step, out_step;
};
void sum_taps(const LaneSums<float>& sums, const LaneTaps& taps);
void sum_taps(const LaneSums<double>& sums, const LaneTaps& taps);

/// The gradient of the weights that `places` places give: sums[weight of a tap] += the sum over places of in[i] * gradient[i].
template <class T>
struct LaneGradients {
  const T* in;
  const T* gradient;  // one vector for each place
  T* sums;
  int64_t places, in_step;
};
void add_gradients(const LaneGradients<float>& work, const LaneTaps& taps);
void add_gradients(const LaneGradients<double>& work, const LaneTaps& taps);

}  // namespace tessera::tensor::cpu
