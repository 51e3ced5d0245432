// compile: vectors, quiet-math (loops that fill tensors)
#include "runtime/random.h"

#include <bit>
#include <cstring>
#include <random>

#include "runtime/error.h"
#include "runtime/pieces.h"

namespace tessera::tensor {
namespace {

constexpr double kPi = 3.141592653589793238462643383279502884;

// The layout of PyTorch's state: its first generator's C struct, then the spare float (which nothing fills any more).
struct StateBytes {
  uint64_t seed;
  int32_t left;  // outputs before the next refill
  int32_t seeded;
  uint64_t next;
  uint64_t words[624];
  double unused_x, spare, unused_rho;
  int32_t has_spare;
  int32_t padding0;
  float float_spare;
  uint8_t has_float_spare;
  uint8_t padding1[3];
};
static_assert(sizeof(StateBytes) == Generator::kStateBytes);

}  // namespace

Generator::Generator(Device device, CountedPtr<DeviceGenerator> place) : device_(device), place_(std::move(place)) {
  if (!place_) manual_seed(kDefaultSeed);
}

void Generator::manual_seed(uint64_t seed) {
  if (place_) return place_->manual_seed(seed);
  seed_ = seed;
  state_[0] = uint32_t(seed);  // the upper half of a seed has no effect
  for (uint32_t i = 1; i < kWords; i++) state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  next_ = kWords;
  fresh_ = true;
  spare_.reset();
}

uint64_t Generator::seed() {
  std::random_device device;
  const uint64_t high = device();
  manual_seed((high << 32 | device()) & ((uint64_t(1) << 53) - 1));
  return initial_seed();
}

void Generator::refill() {
  const auto mix = [](uint32_t upper, uint32_t lower) {
    const uint32_t y = (upper & 0x80000000u) | (lower & 0x7fffffffu);
    return (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0u);
  };
  uint32_t* s = state_;
  uint32_t k = 0;
  for (; k < kWords - 397; k++) s[k] = s[k + 397] ^ mix(s[k], s[k + 1]);
  for (; k < kWords - 1; k++) s[k] = s[k + 397 - kWords] ^ mix(s[k], s[k + 1]);
  s[k] = s[k + 397 - kWords] ^ mix(s[k], s[0]);
  next_ = 0;
  fresh_ = false;
}

double Generator::normal() {
  if (spare_) {
    const double value = *spare_;
    spare_.reset();
    return value;
  }
  const double u1 = unit64(), u2 = unit64();
  const double radius = std::sqrt(-2.0 * std::log(1.0 - u2)), angle = 2.0 * kPi * u1;
  spare_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

void Generator::fill_unit(float* out, int64_t n) {
  for (int64_t looked = n; n > 0;) {
    if (looked - n >= kPieceElements) Context::current().poll(), looked = n;
    if (next_ == kWords) refill();
    const int64_t count = std::min<int64_t>(n, kWords - next_);
    for (int64_t i = 0; i < count; i++) out[i] = float(int32_t(temper(state_[next_ + i]) & 0xffffff)) * 0x1p-24f;
    next_ += uint32_t(count);
    out += count;
    n -= count;
  }
}

void Generator::fill_unit(double* out, int64_t n) {
  in_pieces(n, [&](int64_t i, int64_t end) {
    for (; i < end; i++) out[i] = unit64();
  });
}

std::vector<uint8_t> Generator::state() const {
  if (place_) {
    const uint64_t words[2] = {place_->state().seed, place_->state().offset};
    std::vector<uint8_t> bytes(kPlaceBytes);
    std::memcpy(bytes.data(), words, kPlaceBytes);
    return bytes;
  }
  StateBytes s{};
  s.seed = seed_;
  s.left = fresh_ ? 1 : int32_t(kWords - next_ + 1);
  s.next = fresh_ ? 0 : next_;
  s.seeded = 1;
  for (uint32_t i = 0; i < kWords; i++) s.words[i] = state_[i];
  s.spare = spare_.value_or(0.0);
  s.has_spare = spare_.has_value();
  std::vector<uint8_t> bytes(sizeof s);
  std::memcpy(bytes.data(), &s, sizeof s);
  return bytes;
}

void Generator::set_state(std::span<const uint8_t> bytes) {
  if (place_) {
    uint64_t words[2] = {};  // a seed alone stands for its beginning
    check(bytes.size() == 8 || bytes.size() == kPlaceBytes, TensorErrorKind::Runtime, "RNG state is wrong size");
    std::memcpy(words, bytes.data(), bytes.size());
    check(words[1] % 4 == 0, TensorErrorKind::Runtime, "offset must be a multiple of 4");
    return place_->set_state({words[0], words[1]});
  }
  StateBytes s;
  check(bytes.size() == sizeof s, TensorErrorKind::Runtime, "Expected a CPUGeneratorImplState of size ", sizeof s,
        " but found the input RNG state size to be ", bytes.size());
  std::memcpy(&s, bytes.data(), sizeof s);
  const bool fresh = s.left == 1 && s.next == 0;
  check(s.seeded == 1 && s.left >= 1 && s.left <= int32_t(kWords) + 1 && s.next <= kWords &&
            (fresh || s.left + int64_t(s.next) == kWords + 1),
        TensorErrorKind::Runtime, "Invalid mt19937 state");
  seed_ = s.seed;
  fresh_ = fresh;
  next_ = fresh ? kWords : uint32_t(s.next);
  for (uint32_t i = 0; i < kWords; i++) state_[i] = uint32_t(s.words[i]);
  spare_.reset();
  if (s.has_spare) spare_ = s.spare;
}

// Note [Large normals in float32]
// PyTorch turns blocks of 16 float32 uniforms with AVX2 and the Cephes polynomials. These are the same operations in the
// same order, every product that is added to something being one fused multiply-add, so the bits are the same. The loops
// over eight lanes are branch-free: the compiler makes vector code of them where the processor has FMA (with the options
// that CMakeLists.txt gives this file: 1.0 ns for each number, 5.1 without them) and calls the library's fmaf where it
// has not (slow, but the same numbers).
namespace {

constexpr int kLanes = 8;

[[gnu::always_inline]] inline float log32(float x) {  // x in (0, 1]
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  float m = std::bit_cast<float>((bits & 0x007fffffu) | 0x3f000000u);
  float e = float(int32_t(bits >> 23) - 126);
  const bool small = m < 0.707106781186547524f;
  e = small ? e - 1.0f : e;
  const float base = m - 1.0f;
  m = small ? base + m : base;
  float y = 7.0376836292e-2f;
  y = std::fma(y, m, -1.1514610310e-1f);
  y = std::fma(y, m, 1.1676998740e-1f);
  y = std::fma(y, m, -1.2420140846e-1f);
  y = std::fma(y, m, 1.4249322787e-1f);
  y = std::fma(y, m, -1.6668057665e-1f);
  y = std::fma(y, m, 2.0000714765e-1f);
  y = std::fma(y, m, -2.4999993993e-1f);
  y = std::fma(y, m, 3.3333331174e-1f);
  const float z = m * m;
  y = std::fma(y * m, z, e * -2.12194440e-4f);
  y = std::fma(-z, 0.5f, y);
  return std::fma(e, 0.693359375f, m + y);
}

[[gnu::always_inline]] inline void sincos32(float x, float& sine, float& cosine) {  // x in [0, 2 pi)
  const int32_t octant = (int32_t(x * 1.27323954473516f) + 1) & ~1;
  const float turns = float(octant);
  x = std::fma(turns, -0.78515625f, x);
  x = std::fma(turns, -2.4187564849853515625e-4f, x);
  x = std::fma(turns, -3.77489497744594108e-8f, x);
  const float z = x * x;
  float c = 2.443315711809948e-5f;
  c = std::fma(c, z, -1.388731625493765e-3f);
  c = std::fma(c, z, 4.166664568298827e-2f);
  c = std::fma(c * z, z, -(z * 0.5f)) + 1.0f;
  float s = -1.9515295891e-4f;
  s = std::fma(s, z, 8.3321608736e-3f);
  s = std::fma(s, z, -1.6666654611e-1f);
  s = std::fma(s * z, x, x);
  const bool swap = octant & 2;
  const float first = swap ? c : s, second = swap ? s : c;
  sine = octant & 4 ? -first : first;
  cosine = (octant - 2) & 4 ? second : -second;
}

[[gnu::always_inline]] inline void turn_lanes(float* x, float mean, float deviation) {
  float radius[kLanes], sine[kLanes], cosine[kLanes];
  for (int j = 0; j < kLanes; j++) radius[j] = std::sqrt(-2.0f * log32(1.0f - x[j]));
  for (int j = 0; j < kLanes; j++) sincos32(float(2.0 * kPi) * x[j + kLanes], sine[j], cosine[j]);
  for (int j = 0; j < kLanes; j++) x[j] = std::fma(radius[j] * cosine[j], deviation, mean);
  for (int j = 0; j < kLanes; j++) x[j + kLanes] = std::fma(radius[j] * sine[j], deviation, mean);
}

using TurnBlock = void (*)(float* x, float mean, float deviation);

void turn_plain(float* x, float mean, float deviation) { turn_lanes(x, mean, deviation); }

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void turn_fma(float* x, float mean, float deviation) { turn_lanes(x, mean, deviation); }
TurnBlock choose_turn() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? turn_fma : turn_plain;
}
#else
TurnBlock choose_turn() { return turn_plain; }
#endif

void turn_block(float* x, float mean, float deviation) {
  static const TurnBlock turn = choose_turn();
  turn(x, mean, deviation);
}

// In double only the last step is fused.
void turn_block(double* x, double mean, double deviation) {
  for (int j = 0; j < kLanes; j++) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - x[j])), angle = 2.0 * kPi * x[j + kLanes];
    x[j] = std::fma(radius * std::cos(angle), deviation, mean);
    x[j + kLanes] = std::fma(radius * std::sin(angle), deviation, mean);
  }
}

template <class T>
void fill_normal_blocks(Generator& g, T* out, int64_t n, T mean, T deviation) {
  g.fill_unit(out, n);
  in_pieces(n / kNormalBlock * kNormalBlock, [&](int64_t i, int64_t end) {
    for (; i < end; i += kNormalBlock) turn_block(out + i, mean, deviation);
  });
  if (n % kNormalBlock == 0) return;
  T* tail = out + n - kNormalBlock;
  g.fill_unit(tail, kNormalBlock);
  turn_block(tail, mean, deviation);
}

template <class T>
void fill_normal_halves(Generator& g, T* out, int64_t n, float mean, float deviation) {
  const auto block = [&](int64_t at) {
    float x[kNormalBlock];
    g.fill_unit(x, kNormalBlock);
    turn_block(x, mean, deviation);
    for (int64_t j = 0; j < kNormalBlock; j++) out[at + j] = T(x[j]);
  };
  in_pieces(n / kNormalBlock * kNormalBlock, [&](int64_t i, int64_t end) {
    for (; i < end; i += kNormalBlock) block(i);
  });
  if (n % kNormalBlock) block(n - kNormalBlock);
}

}  // namespace

void fill_normal(Generator& g, float* out, int64_t n, double mean, double deviation) {
  fill_normal_blocks(g, out, n, float(mean), float(deviation));
}
void fill_normal(Generator& g, double* out, int64_t n, double mean, double deviation) {
  fill_normal_blocks(g, out, n, mean, deviation);
}
void fill_normal(Generator& g, Half* out, int64_t n, double mean, double deviation) {
  fill_normal_halves(g, out, n, float(mean), float(deviation));
}
void fill_normal(Generator& g, BFloat16* out, int64_t n, double mean, double deviation) {
  fill_normal_halves(g, out, n, float(mean), float(deviation));
}

}  // namespace tessera::tensor
