// Runs of memory in reverse order, past the caches, and of one element repeated, for every instruction set.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/move_runs.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/convert.h"
#include "hwy/highway.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Where each byte of a block comes from.
template <class T>
alignas(16) constexpr std::array<uint8_t, 16> kPlaces = [] {
  std::array<uint8_t, 16> places{};
  for (size_t k = 0; k < 16; k++) places[k] = uint8_t(16 - sizeof(T) - k / sizeof(T) * sizeof(T) + k % sizeof(T));
  return places;
}();

// Blocks of 16 bytes are turned by a table of where each byte comes from, then the blocks of a register change places. The
// last register overlaps the one before it.
template <class T>
void backwards(void* to_v, const void* from_v, int64_t n) {
  T* to = static_cast<T*>(to_v);
  const T* from = static_cast<const T*>(from_v);
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> d;
  const int64_t width = int64_t(hn::Lanes(d) / sizeof(T));
  if (n >= width) {
    const auto table = hn::LoadDup128(d, kPlaces<T>.data());
    const auto turn = [&](int64_t i) HWY_ATTR {
      const auto x = hn::LoadU(d, reinterpret_cast<const uint8_t*>(from - i - width + 1));
      hn::StoreU(hn::ReverseBlocks(d, hn::TableLookupBytes(x, table)), d, reinterpret_cast<uint8_t*>(to + i));
    };
    int64_t i = 0;
    for (; i + 4 * width <= n; i += 4 * width) turn(i), turn(i + width), turn(i + 2 * width), turn(i + 3 * width);
    for (; i + width <= n; i += width) turn(i);
    if (n % width) turn(n - width);
    return;
  }
#endif
  for (int64_t i = 0; i < n; i++) to[i] = from[-i];
}

void copy_backwards(void* to, const void* from, int64_t n, size_t size) {
  switch (size) {
    case 1: return backwards<uint8_t>(to, from, n);
    case 2: return backwards<uint16_t>(to, from, n);
    case 4: return backwards<uint32_t>(to, from, n);
    case 8: return backwards<uint64_t>(to, from, n);
    default: return backwards<std::complex<double>>(to, from, n);
  }
}

void copy_past_caches(void* to_v, const void* from_v, int64_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  const int64_t lanes = int64_t(hn::Lanes(d)), ahead = -reinterpret_cast<intptr_t>(to_v) & (lanes - 1);
  auto* to = static_cast<uint8_t*>(to_v);
  const auto* from = static_cast<const uint8_t*>(from_v);
  int64_t i = std::min(bytes, ahead);
  std::memcpy(to, from, size_t(i));
  for (; i + lanes <= bytes; i += lanes) hn::Stream(hn::LoadU(d, from + i), d, to + i);
  std::memcpy(to + i, from + i, size_t(bytes - i));
}

template <class T>
void repeat(void* to_v, const void* value, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  T* to = static_cast<T*>(to_v);
  T x;
  std::memcpy(&x, value, sizeof(T));
  const auto v = hn::Set(d, x);
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes)
    for (int64_t k = 0; k < 4; k++) hn::StoreU(v, d, to + i + k * lanes);
  for (; i + lanes <= n; i += lanes) hn::StoreU(v, d, to + i);
  for (; i < n; i++) to[i] = x;
}

void repeat_element(void* to, const void* value, int64_t n, size_t size) {
  switch (size) {
    case 1: return void(std::memset(to, *static_cast<const uint8_t*>(value), size_t(n)));
    case 2: return repeat<uint16_t>(to, value, n);
    case 4: return repeat<uint32_t>(to, value, n);
    case 8: return repeat<uint64_t>(to, value, n);
    default:
      return void(
          std::fill_n(static_cast<std::complex<double>*>(to), n, *static_cast<const std::complex<double>*>(value)));
  }
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
HWY_EXPORT(copy_backwards);
HWY_EXPORT(copy_past_caches);
HWY_EXPORT(repeat_element);
}  // namespace

void copy_backwards(void* to, const void* from, int64_t n, size_t size) {
  HWY_DYNAMIC_DISPATCH(copy_backwards)(to, from, n, size);
}
void copy_past_caches(void* to, const void* from, int64_t bytes) {
  HWY_DYNAMIC_DISPATCH(copy_past_caches)(to, from, bytes);
}
void repeat_element(void* to, const void* value, int64_t n, size_t size) {
  HWY_DYNAMIC_DISPATCH(repeat_element)(to, value, n, size);
}

}  // namespace tessera::tensor::cpu
#endif
