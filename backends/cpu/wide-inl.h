// Wide<T>: 128 bytes of T (32 floats, 16 doubles) in as many registers as the instruction set needs. What reduces
// works on Wides, so that the order of additions is the same for every instruction set; the several registers
// also hide the latency of a chain of additions.
//
// Elements of other dtypes are converted on their way into and out of the registers (lane_memory-inl.h).
#if defined(TESSERA_WIDE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_WIDE_INL_H
#undef TESSERA_WIDE_INL_H
#else
#define TESSERA_WIDE_INL_H
#endif

#include <algorithm>
#include <type_traits>
#include <cstring>

#include "backends/number.h"
#include "backends/cpu/lane_memory-inl.h"

// For lambdas that work on lanes: compiled for the instruction set, and part of the loop that calls them (but for
// processors without vectors, where the code would be large and no faster). Those that run a tile stay functions:
// parallel_for names its function three times and must not hold three copies.
#undef TS_LANES
#undef TS_WIDE_INLINE
#undef TS_TILE
#if HWY_TARGET == HWY_SCALAR
#define TS_LANES
#define TS_WIDE_INLINE HWY_NOINLINE
#else
#define TS_LANES HWY_ATTR __attribute__((always_inline))
#define TS_WIDE_INLINE HWY_INLINE
#endif
#define TS_TILE HWY_ATTR __attribute__((noinline))

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

// Loops over the registers of a Wide are written out, but not the 32 turns of a processor without vectors.
inline constexpr int kUnroll = HWY_TARGET == HWY_SCALAR ? 1 : 8;

// Where an instruction leaves elements out, no byte beyond an end is touched; elsewhere (Highway reads all there) ends go
// through a buffer.
inline constexpr bool kMasks = HWY_TARGET <= HWY_AVX2;
#if HWY_TARGET <= HWY_AVX2
#define TS_ENDS(T)                                                  \
  HWY_INLINE Lane<T> load_lane(const T* p, int count) {             \
    const Tag<T> d;                                                 \
    if (count == int(hn::Lanes(d))) return load_lane(p);            \
    return hn::MaskedLoad(hn::FirstN(d, size_t(count)), d, p);      \
  }                                                                 \
  HWY_INLINE void store_lane(Lane<T> x, T* p, int count) {          \
    const Tag<T> d;                                                 \
    if (count == int(hn::Lanes(d))) store_lane(x, p);               \
    else hn::BlendedStore(x.v, hn::FirstN(d, size_t(count)), d, p); \
  }
TS_ENDS(float)
TS_ENDS(double)
#undef TS_ENDS
#endif

template <class T>
struct Wide {
  using Element = T;
  static constexpr int kSize = 128 / int(sizeof(T));
  static constexpr int kLanes = int(hn::MaxLanes(Tag<T>()));
  static constexpr int kParts = kSize / kLanes;
  hn::Vec<Tag<T>> part[kParts];

  HWY_INLINE Wide() {}
  HWY_INLINE Wide(T x) {
    const auto v = hn::Set(Tag<T>(), x);
#pragma GCC unroll kUnroll
    for (int k = 0; k < kParts; k++) part[k] = v;
  }
};

/// f on every register of one, two or three Wides.
template <class T, class F>
TS_WIDE_INLINE Wide<T> apply(const F& f, Wide<T> x) {
  Wide<T> r;
#pragma GCC unroll kUnroll
  for (int k = 0; k < Wide<T>::kParts; k++) r.part[k] = f(Lane<T>(x.part[k])).v;
  return r;
}
template <class T, class F>
TS_WIDE_INLINE Wide<T> apply(const F& f, Wide<T> x, Wide<T> y) {
  Wide<T> r;
#pragma GCC unroll kUnroll
  for (int k = 0; k < Wide<T>::kParts; k++) r.part[k] = f(Lane<T>(x.part[k]), Lane<T>(y.part[k])).v;
  return r;
}

#define TS_WIDE(OP)                                                              \
  template <class T>                                                             \
  TS_WIDE_INLINE Wide<T> operator OP(Wide<T> x, Wide<T> y) {                     \
    return apply<T>([](Lane<T> a, Lane<T> b) TS_LANES { return a OP b; }, x, y); \
  }
TS_WIDE(+)
TS_WIDE(-)
TS_WIDE(*)
TS_WIDE(/)
#undef TS_WIDE
#if HWY_TARGET <= HWY_AVX3
// Times a power of two, by the instruction that also makes what is no normal number any more, rounded once.
HWY_INLINE Lane<float> times_power_of_two(Lane<float> x, Lane<float> n) {
  return hn::Vec<Tag<float>>{_mm512_scalef_ps(x.v.raw, n.v.raw)};
}
HWY_INLINE Lane<double> times_power_of_two(Lane<double> x, Lane<double> n) {
  return hn::Vec<Tag<double>>{_mm512_scalef_pd(x.v.raw, n.v.raw)};
}
/// m::exp, bit by bit, with a few instructions less: few enough to be part of every loop.
template <class T>
HWY_INLINE Wide<T> exp(Wide<T> x) {
  using K = m::ExpConstants<T>;
  constexpr double kMagic = sizeof(T) == 4 ? 0x1.8p23 : 0x1.8p52;  // leaves the nearest integer in the lowest bits
  return apply<T>(
      [](Lane<T> a) TS_LANES {
        // What vanishes is computed as e^0: on the way to zero each element would be a trap of the processor, 40 times as
        // slow, and a causal mask makes half of them vanish.
        const auto gone = a < Lane<T>(K::kBottom);
        a = m::select(gone, Lane<T>(0.0), m::at_most(a, K::kTop));
        const Lane<T> n = m::mul_add(a, 1.44269504088896340736, kMagic) - Lane<T>(kMagic);
        const Lane<T> r = m::mul_add(n, -K::kLn2Low, m::mul_add(n, -K::kLn2High, a));
        return m::select(gone, Lane<T>(0.0), times_power_of_two(m::exp_reduced(r), n));
      },
      x);
}
#else
// Not inlined: one copy serves all kernels, and a call is nothing beside 32 exponentials.
template <class T>
HWY_NOINLINE void exp_inplace(Wide<T>& x) {
  x = apply<T>([](Lane<T> a) TS_LANES { return m::exp(a); }, x);
}
template <class T>
HWY_INLINE Wide<T> exp(Wide<T> x) {
  exp_inplace(x);
  return x;
}
#endif
/// Not inlined either: a line has one.
template <class T>
HWY_NOINLINE Lane<T> log_of(Lane<T> x) {
  return m::log(x);
}
/// x + y * z and x - y * z, rounded once where the instruction set can.
template <class T>
TS_WIDE_INLINE Wide<T> plus_product(Wide<T> x, const Wide<T>& y, const Wide<T>& z) {
#pragma GCC unroll kUnroll
  for (int k = 0; k < Wide<T>::kParts; k++) x.part[k] = hn::MulAdd(y.part[k], z.part[k], x.part[k]);
  return x;
}
template <class T>
TS_WIDE_INLINE Wide<T> less_product(Wide<T> x, const Wide<T>& y, const Wide<T>& z) {
#pragma GCC unroll kUnroll
  for (int k = 0; k < Wide<T>::kParts; k++) x.part[k] = hn::NegMulAdd(y.part[k], z.part[k], x.part[k]);
  return x;
}
template <class T>
HWY_INLINE Wide<T> sqrt(Wide<T> x) {
  return apply<T>([](Lane<T> a) TS_LANES { return m::sqrt(a); }, x);
}

/// What two elements become where many are folded into one; on lanes and on numbers.
struct Add {
  template <class T>
  static HWY_INLINE Lane<T> of(Lane<T> total, Lane<T> x) {
    return total + x;
  }
  template <class T>
  static HWY_INLINE T of(T total, T x) {
    return total + x;
  }
};
struct Most {  // NaN wins
  template <class T>
  static HWY_INLINE Lane<T> of(Lane<T> total, Lane<T> x) {
#if HWY_TARGET == HWY_SCALAR
    return m::maximum(total, x);
#else
    // Max gives its second operand on x86 when one is NaN, either NaN elsewhere: a NaN in total stays.
    return m::select(m::is_nan(x), x, Lane<T>(hn::Max(x.v, total.v)));
#endif
  }
  template <class T>
  static HWY_INLINE T of(T total, T x) {
    return x > total || x != x ? x : total;
  }
};
template <class Combine, class T>
TS_WIDE_INLINE Wide<T> combine(Wide<T> x, Wide<T> y) {
  return apply<T>([](Lane<T> a, Lane<T> b) TS_LANES { return Combine::of(a, b); }, x, y);
}

template <class T, class In>
TS_WIDE_INLINE Wide<T> load_wide(const In* p) {
  Wide<T> r;
#pragma GCC unroll kUnroll
  for (int k = 0; k < Wide<T>::kParts; k++) r.part[k] = load_lane(p + k * Wide<T>::kLanes).v;
  return r;
}
template <class T, class Out>
TS_WIDE_INLINE void store_wide(Wide<T> x, Out* p) {
#pragma GCC unroll kUnroll
  for (int k = 0; k < Wide<T>::kParts; k++) store_lane(Lane<T>(x.part[k]), p + k * Wide<T>::kLanes);
}
// The ends of lines: rare, so they are not part of the loops that ask for them.
template <class T>
HWY_INLINE size_t lanes_of_part(int k, int count) {
  return size_t(std::clamp(count - k * Wide<T>::kLanes, 0, Wide<T>::kLanes));
}
template <class T, class In>
HWY_NOINLINE Wide<T> load_end(const In* p, int count) {
  if constexpr (kMasks && std::is_same_v<T, In>) {
    const Tag<T> d;
    Wide<T> r;
#pragma GCC unroll kUnroll
    for (int k = 0; k < Wide<T>::kParts; k++)
      r.part[k] = hn::MaskedLoad(hn::FirstN(d, lanes_of_part<T>(k, count)), d, p + k * Wide<T>::kLanes);
    return r;
  }
  alignas(64) In buffer[size_t(Wide<T>::kSize)] = {};
  std::memcpy(static_cast<void*>(buffer), p, size_t(count) * sizeof(In));
  return load_wide<T>(buffer);
}
template <class T, class Out>
HWY_NOINLINE void store_end(const Wide<T>& x, Out* p, int count) {
  if constexpr (kMasks && std::is_same_v<T, Out>) {
    const Tag<T> d;
#pragma GCC unroll kUnroll
    for (int k = 0; k < Wide<T>::kParts; k++)
      hn::BlendedStore(x.part[k], hn::FirstN(d, lanes_of_part<T>(k, count)), d, p + k * Wide<T>::kLanes);
    return;
  }
  alignas(64) Out buffer[size_t(Wide<T>::kSize)];
  store_wide(x, buffer);
  std::memcpy(static_cast<void*>(p), buffer, size_t(count) * sizeof(Out));
}
template <class T>
HWY_NOINLINE Wide<T> fill_end(const Wide<T>& x, int count, T rest) {
  const Tag<T> d;
  Wide<T> r;
#pragma GCC unroll kUnroll
  for (int k = 0; k < Wide<T>::kParts; k++)
    r.part[k] = hn::IfThenElse(hn::FirstN(d, lanes_of_part<T>(k, count)), x.part[k], hn::Set(d, rest));
  return r;
}
/// The first `count` elements; the others are 0.
template <class T, class In>
TS_WIDE_INLINE Wide<T> load_wide(const In* p, int count) {
  return count == Wide<T>::kSize ? load_wide<T>(p) : load_end<T>(p, count);
}
template <class T, class Out>
TS_WIDE_INLINE void store_wide(Wide<T> x, Out* p, int count) {
  if (count == Wide<T>::kSize) [[likely]]
    store_wide(x, p);
  else store_end(x, p, count);
}
/// x where the element's number is below `count`, `rest` elsewhere.
template <class T>
HWY_INLINE Wide<T> first_of(Wide<T> x, int count, T rest) {
  return count == Wide<T>::kSize ? x : fill_end(x, count, rest);
}
/// The first n, one after the other.
template <class T>
HWY_NOINLINE T add_one_by_one(const Wide<T>& x, int n) {
  alignas(64) T numbers[size_t(Wide<T>::kSize)];
  store_wide(x, numbers);
  T total = numbers[0];
  for (int i = 1; i < n; i++) total += numbers[i];
  return total;
}
/// All elements folded into one: halves onto each other, the same pairs for every instruction set.
#if HWY_TARGET <= HWY_AVX2
template <class Combine, class T>
HWY_INLINE T fold_elements(Wide<T> x) {
#pragma GCC unroll kUnroll
  for (int half = Wide<T>::kParts / 2; half; half /= 2)
#pragma GCC unroll kUnroll
    for (int k = 0; k < half; k++) x.part[k] = Combine::of(Lane<T>(x.part[k]), Lane<T>(x.part[k + half])).v;
  const Tag<T> d;
  auto v = x.part[0];
  const auto with = [&](decltype(v) upper) TS_LANES { v = Combine::of(Lane<T>(v), Lane<T>(upper)).v; };
  with(hn::ConcatUpperUpper(d, v, v));
#if HWY_TARGET <= HWY_AVX3
  with(hn::SwapAdjacentBlocks(v));
#endif
  if constexpr (sizeof(T) == 4) {
    with(hn::Shuffle1032(v));
    with(hn::Shuffle2301(v));
  } else {
    with(hn::Shuffle01(v));
  }
  return hn::GetLane(v);
}
#else
template <class Combine, class T>
HWY_NOINLINE T fold_elements(Wide<T> x) {
#pragma GCC unroll kUnroll
  for (int half = Wide<T>::kParts / 2; half; half /= 2)
#pragma GCC unroll kUnroll
    for (int k = 0; k < half; k++) x.part[k] = Combine::of(Lane<T>(x.part[k]), Lane<T>(x.part[k + half])).v;
  alignas(64) T one[Wide<T>::kLanes];
  hn::Store(x.part[0], Tag<T>(), one);
#pragma GCC unroll kUnroll
  for (int half = Wide<T>::kLanes / 2; half; half /= 2)
#pragma GCC unroll kUnroll
    for (int k = 0; k < half; k++) one[k] = Combine::of(one[k], one[k + half]);
  return one[0];
}
#endif

}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
