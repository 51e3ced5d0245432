#include "stdlib/numpy/native/draws.h"

#include <bit>
#include <cmath>
#include <limits>

#include "stdlib/numpy/native/ziggurat.h"

namespace tessera::stdlib {
namespace {

// All ones up to the highest bit of `last`.
uint64_t mask_of(uint64_t last) { return last == 0 ? 0 : ~uint64_t{0} >> std::countl_zero(last); }

}  // namespace

Draws::Draws(bool legacy, std::string_view kind) : legacy_(legacy), is_mersenne_(kind == "MT19937") {
  if (is_mersenne_) bits_ = std::make_unique<MersenneSource>();
  else if (kind == "Philox") bits_ = std::make_unique<Philox>();
  else if (kind == "SFC64") bits_ = std::make_unique<Sfc64>();
  else bits_ = std::make_unique<Pcg64>(kind == "PCG64DXSM");
}

void Draws::seed(uint32_t value) {
  has_spare = false;
  twister()->seed_plain(value);
}

void Draws::seed_words(std::span<const uint32_t> key) {
  has_spare = false;
  if (legacy_ && is_mersenne_) twister()->seed_words(key.data(), key.size());
  else bits_->seed(key);
}

// Real numbers ------------------------------------------------------------------------------------------------------

double Draws::normal() {
  if (!legacy_) return ziggurat_normal(*bits_);
  if (has_spare) {
    has_spare = false;
    return spare;
  }
  double x, y, square;
  do {
    x = 2.0 * real() - 1.0;
    y = 2.0 * real() - 1.0;
    square = x * x + y * y;
  } while (square >= 1.0 || square == 0.0);
  const double factor = std::sqrt(-2.0 * std::log(square) / square);
  has_spare = true;
  spare = factor * x;
  return factor * y;
}

double Draws::exponential() { return legacy_ ? -std::log(1.0 - real()) : ziggurat_exponential(*bits_); }

float Draws::normal32() { return ziggurat_normal32(*bits_); }
float Draws::exponential32() { return ziggurat_exponential32(*bits_); }

float Draws::gamma32(float shape) {
  if (shape == 1) return exponential32();
  if (shape == 0) return 0;
  if (shape < 1) {
    for (;;) {
      const float u = real32(), v = exponential32();
      if (u <= 1.0F - shape) {
        const float x = std::pow(u, 1.0F / shape);
        if (x <= v) return x;
      } else {
        const float y = -std::log((1.0F - u) / shape);
        const float x = std::pow(1.0F - shape + shape * y, 1.0F / shape);
        if (x <= v + y) return x;
      }
    }
  }
  const float b = shape - 1.0F / 3.0F, c = 1.0F / std::sqrt(9.0F * b);
  for (;;) {
    float x, v;
    do {
      x = normal32();
      v = 1.0F + c * x;
    } while (v <= 0.0F);
    v = v * v * v;
    const float u = real32();
    if (u < 1.0F - 0.0331F * (x * x) * (x * x)) return b * v;
    if (std::log(u) < 0.5F * x * x + b * (1.0F - v + std::log(v))) return b * v;
  }
}

// Marsaglia and Tsang for shapes over one, Ahrens and Dieter below.
double Draws::gamma(double shape) {
  if (shape == 1) return exponential();
  if (shape == 0) return 0;
  if (shape < 1) {
    for (;;) {
      const double u = real(), v = exponential();
      if (u <= 1.0 - shape) {
        const double x = std::pow(u, 1.0 / shape);
        if (x <= v) return x;
      } else {
        const double y = -std::log((1 - u) / shape);
        const double x = std::pow(1.0 - shape + shape * y, 1.0 / shape);
        if (x <= v + y) return x;
      }
    }
  }
  const double b = shape - 1 / 3.0, c = 1.0 / std::sqrt(9 * b);
  for (;;) {
    double x, v;
    do {
      x = normal();
      v = 1.0 + c * x;
    } while (v <= 0.0);
    v = v * v * v;
    const double u = real();
    if (u < 1.0 - 0.0331 * (x * x) * (x * x)) return b * v;
    if (std::log(u) < 0.5 * x * x + b * (1. - v + std::log(v))) return b * v;
  }
}

// Johnk's method where both shapes are at most one, else two gammas.
double Draws::beta(double a, double b) {
  if (a > 1.0 || b > 1.0) {
    const double x = gamma(a);
    return x / (x + gamma(b));
  }
  constexpr double kTiny = 3e-103;  // below it 1 / a and 1 / b may be infinite
  if (!legacy_ && a < kTiny && b < kTiny) return (a + b) * real() < a;
  for (;;) {
    const double u = real(), v = real();
    const double x = std::pow(u, 1.0 / a), y = std::pow(v, 1.0 / b), sum = x + y;
    if (sum > 1.0 || u + v <= 0.0) continue;
    if (legacy_ ? sum > 0 : x > 0 && y > 0) return x / sum;
    if (!legacy_) {
      const double apart = std::log(u) / a - std::log(v) / b;
      return apart > 0 ? std::exp(-std::log1p(std::exp(-apart))) : std::exp(apart - std::log1p(std::exp(apart)));
    }
    double log_x = std::log(u) / a, log_y = std::log(v) / b;
    const double top = log_x > log_y ? log_x : log_y;
    log_x -= top;
    log_y -= top;
    return std::exp(log_x - std::log(std::exp(log_x) + std::exp(log_y)));
  }
}

// Whole numbers -----------------------------------------------------------------------------------------------------

// Legacy: bits under a mask until they are in range. Newer: Lemire's multiplication, whose low half tells bias.
uint64_t Draws::bounded32(uint32_t last) {
  if (legacy_) {
    const uint32_t mask = static_cast<uint32_t>(mask_of(last));
    for (;;)
      if (const uint32_t drawn = bits_->next32() & mask; drawn <= last) return drawn;
  }
  const uint32_t count = last + 1;
  uint64_t product = uint64_t{bits_->next32()} * count;
  if (static_cast<uint32_t>(product) < count) {
    const uint32_t least = (std::numeric_limits<uint32_t>::max() - last) % count;
    while (static_cast<uint32_t>(product) < least) product = uint64_t{bits_->next32()} * count;
  }
  return product >> 32;
}

uint64_t Draws::bounded64(uint64_t last) {
  if (last == ~uint64_t{0}) return bits_->next64();
  if (legacy_) {
    const uint64_t mask = mask_of(last);
    for (;;)
      if (const uint64_t drawn = bits_->next64() & mask; drawn <= last) return drawn;
  }
  using Wide = Pcg64::Wide;
  const uint64_t count = last + 1;
  Wide product = Wide{bits_->next64()} * count;
  if (static_cast<uint64_t>(product) < count) {
    const uint64_t least = (~uint64_t{0} - last) % count;
    while (static_cast<uint64_t>(product) < least) product = Wide{bits_->next64()} * count;
  }
  return static_cast<uint64_t>(product >> 64);
}

// 8 and 16 bits at a time out of a 32-bit word, lowest first.
template <class Word>
uint64_t Draws::narrow(uint64_t last, uint32_t& word, int& left) {
  constexpr int kBits = 8 * sizeof(Word);
  const auto take = [&]() -> uint32_t {
    if (left == 0) {
      word = bits_->next32();
      left = 32 / kBits - 1;
    } else {
      word >>= kBits;
      --left;
    }
    return static_cast<Word>(word);
  };
  if (last == std::numeric_limits<Word>::max()) return take();
  if (legacy_) {
    const uint64_t mask = mask_of(last);
    for (;;)
      if (const uint64_t drawn = take() & mask; drawn <= last) return drawn;
  }
  const uint32_t count = static_cast<uint32_t>(last) + 1;
  uint32_t product = take() * count;
  if (static_cast<Word>(product) < count) {
    const uint32_t least = (std::numeric_limits<Word>::max() - static_cast<uint32_t>(last)) % count;
    while (static_cast<Word>(product) < least) product = take() * count;
  }
  return product >> kBits;
}

void Draws::integers(uint64_t last, int width, std::span<uint64_t> out) {
  uint32_t word = 0;
  int left = 0;
  for (uint64_t& drawn : out) {
    if (last == 0) drawn = 0;
    else if (width == 8) drawn = narrow<uint8_t>(last, word, left);
    else if (width == 16) drawn = narrow<uint16_t>(last, word, left);
    else if (last == 0xFFFFFFFFU) drawn = bits_->next32();
    else drawn = last < 0xFFFFFFFFU ? bounded32(static_cast<uint32_t>(last)) : bounded64(last);
  }
}

uint64_t Draws::interval(uint64_t last) {
  const uint64_t mask = mask_of(last);
  for (;;) {
    const uint64_t drawn = (last <= 0xFFFFFFFFU ? bits_->next32() : bits_->next64()) & mask;
    if (drawn <= last) return drawn;
  }
}

uint64_t Draws::integer(uint64_t last) {
  uint64_t drawn = 0;
  integers(last, 64, {&drawn, 1});
  return drawn;
}

}  // namespace tessera::stdlib
