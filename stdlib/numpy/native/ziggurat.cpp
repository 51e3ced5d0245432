#include "stdlib/numpy/native/ziggurat.h"

#include <cmath>

namespace tessera::stdlib {
namespace {

constexpr int kLayers = 256;
constexpr double kNormalEnd = 3.6541528853610087963519472518;
constexpr long double kExponentialEnd = 7.6971174701310497140446280481L;

// Layers of equal area under a falling curve, built from the outermost inwards. A draw is an integer below `scale`:
// times `width` it is a point in its layer, and below `inside` that point is under the curve for sure.
struct Layers {
  uint64_t inside[kLayers];
  double width[kLayers], height[kLayers];

  template <class Real, class Curve, class Inverse>
  Layers(Real end, Real area, Real scale, Curve curve, Inverse inverse) {
    const Real base = area / curve(end);
    inside[0] = static_cast<uint64_t>(end / base * scale);
    inside[1] = 0;
    width[0] = static_cast<double>(base / scale);
    width[kLayers - 1] = static_cast<double>(end / scale);
    height[0] = 1;
    height[kLayers - 1] = static_cast<double>(curve(end));
    Real outer = end;
    for (int i = kLayers - 2; i >= 1; --i) {
      const Real inner = inverse(area / outer + curve(outer));
      inside[i + 1] = static_cast<uint64_t>(inner / outer * scale);
      width[i] = static_cast<double>(inner / scale);
      height[i] = static_cast<double>(curve(inner));
      outer = inner;
    }
  }

  double between(uint64_t layer, double part) const {
    return (height[layer - 1] - height[layer]) * part + height[layer];
  }
};

double normal_curve(double x) { return std::exp(-0.5 * x * x); }
double normal_inverse(double y) { return std::sqrt(-2.0 * std::log(y)); }
long double exponential_curve(long double x) { return std::exp(-x); }
long double exponential_inverse(long double y) { return -std::log(y); }

const Layers& normal_layers() {
  // In double precision: the rounding of its steps shows in the last digit of the widths that others have.
  constexpr double kArea = 0.004928673233974652;
  static const Layers layers(kNormalEnd, kArea, 0x1p52, normal_curve, normal_inverse);
  return layers;
}

const Layers& exponential_layers() {
  const long double area = (kExponentialEnd + 1) * std::exp(-kExponentialEnd);
  static const Layers layers(kExponentialEnd, area, 0x1p53L, exponential_curve, exponential_inverse);
  return layers;
}

// Marsaglia's way into the tail: two exponentials.
double normal_tail(BitSource& bits, bool negative) {
  constexpr double kEnd = kNormalEnd, kInverse = 0.27366123732975827203338247596;
  for (;;) {
    const double x = -kInverse * std::log1p(-bits.real());
    const double y = -std::log1p(-bits.real());
    if (y + y > x * x) return negative ? -(kEnd + x) : kEnd + x;
  }
}

// The layers for single precision: the same ones, drawn by integers below 2^23 and rounded to float.
const Layers& normal_layers32() {
  constexpr double kArea = 0.004928673233974652;
  static const Layers layers(kNormalEnd, kArea, 0x1p23, normal_curve, normal_inverse);
  return layers;
}

const Layers& exponential_layers32() {
  const long double area = (kExponentialEnd + 1) * std::exp(-kExponentialEnd);
  static const Layers layers(kExponentialEnd, area, 0x1p23L, exponential_curve, exponential_inverse);
  return layers;
}

float between32(const Layers& layers, uint32_t layer, float part) {
  const float low = static_cast<float>(layers.height[layer]);
  return (static_cast<float>(layers.height[layer - 1]) - low) * part + low;
}

}  // namespace

float ziggurat_normal32(BitSource& bits) {
  constexpr float kEnd = static_cast<float>(kNormalEnd), kInverse = 0.27366123732975827203F;
  const Layers& layers = normal_layers32();
  for (;;) {
    const uint32_t word = bits.next32(), layer = word & 0xFF, size = word >> 9 & 0x7FFFFF;
    float x = static_cast<float>(size) * static_cast<float>(layers.width[layer]);
    if (word >> 8 & 1) x = -x;
    if (size < layers.inside[layer]) return x;
    if (layer == 0) {
      for (;;) {
        const float far = -kInverse * std::log1p(-bits.real32());
        const float y = -std::log1p(-bits.real32());
        if (y + y > far * far) return size >> 8 & 1 ? -(kEnd + far) : kEnd + far;
      }
    }
    if (between32(layers, layer, bits.real32()) < std::exp(-0.5 * x * x)) return x;
  }
}

float ziggurat_exponential32(BitSource& bits) {
  const Layers& layers = exponential_layers32();
  for (;;) {
    const uint32_t word = bits.next32() >> 1, layer = word & 0xFF, size = word >> 8;
    const float x = static_cast<float>(size) * static_cast<float>(layers.width[layer]);
    if (size < layers.inside[layer]) return x;
    if (layer == 0) return static_cast<float>(kExponentialEnd) - std::log1p(-bits.real32());
    if (between32(layers, layer, bits.real32()) < std::exp(-x)) return x;
  }
}

double ziggurat_normal(BitSource& bits) {
  const Layers& layers = normal_layers();
  for (;;) {
    uint64_t word = bits.next64();
    const uint64_t layer = word & 0xFF;
    word >>= 8;
    const uint64_t size = word >> 1 & 0x000FFFFFFFFFFFFFU;
    double x = static_cast<double>(size) * layers.width[layer];
    if (word & 1) x = -x;
    if (size < layers.inside[layer]) return x;
    if (layer == 0) return normal_tail(bits, size >> 8 & 1);
    if (layers.between(layer, bits.real()) < std::exp(-0.5 * x * x)) return x;
  }
}

double ziggurat_exponential(BitSource& bits) {
  const Layers& layers = exponential_layers();
  for (;;) {
    uint64_t word = bits.next64() >> 3;
    const uint64_t layer = word & 0xFF;
    word >>= 8;
    const double x = static_cast<double>(word) * layers.width[layer];
    if (word < layers.inside[layer]) return x;
    if (layer == 0) return static_cast<double>(kExponentialEnd) - std::log1p(-bits.real());
    if (layers.between(layer, bits.real()) < std::exp(-x)) return x;
  }
}

}  // namespace tessera::stdlib
