// The tiles: sums in registers, and the way out of them.
#include "backends/cpu/gemm_tile.h"
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_tile.cpp"
#include <algorithm>
#include <cstring>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vec = hn::Vec<Tag<T>>;

// 24 sums, three vectors of b and a factor are what 32 registers hold; 12, three and one for 16.
constexpr bool kManyRegisters = !HWY_ARCH_X86 || HWY_TARGET <= HWY_AVX3;
constexpr int kTall =
    14;  // rows of a tile of one or two vectors, where they are neighbours: a whole line of many images
constexpr int64_t kFar = 2048;  // bytes
template <class T>
constexpr int kBlock = HWY_TARGET == HWY_SCALAR ? 1 : int(16 / sizeof(T));  // lanes that are turned together

enum class Rows { Neighbours, Strided, Scattered };

// Some elements of a register, the rest zero or left alone, where the instruction set does it without touching them.
constexpr bool kMasks = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2;
template <class T>
HWY_INLINE Vec<T> load_some(const T* from, int64_t n) {
  const Tag<T> d;
  if constexpr (kMasks) return hn::MaskedLoad(hn::FirstN(d, size_t(n)), d, from);
  HWY_ALIGN T part[hn::MaxLanes(Tag<T>())] = {};
  std::copy_n(from, n, part);
  return hn::Load(d, part);
}
template <class T>
HWY_INLINE void store_some(Vec<T> x, T* to, int64_t n) {
  const Tag<T> d;
  if constexpr (kMasks) return hn::BlendedStore(x, hn::FirstN(d, size_t(n)), d, to);
  HWY_ALIGN T part[hn::MaxLanes(Tag<T>())];
  hn::Store(x, d, part);
  std::copy_n(part, n, to);
}

/// A square as wide as a vector, turned in registers: first within blocks of 16 bytes, then blocks change places.
template <class T>
HWY_NOINLINE void turn(const T* from, [[maybe_unused]] int64_t from_row, T* to, [[maybe_unused]] int64_t to_row) {
#if HWY_TARGET == HWY_SCALAR
  *to = *from;
#else
  const Tag<T> d;
  const auto load = [&](int64_t r) HWY_ATTR { return hn::LoadU(d, from + r * from_row); };
  const auto put = [&](int64_t p, Vec<T> x) HWY_ATTR { hn::StoreU(x, d, to + p * to_row); };
  constexpr int n = kBlock<T>, kBlocks = int(hn::MaxLanes(Tag<T>())) / n;
  Vec<T> part[n][kBlocks];  // block i of part[v][g]: element n * i + v of the rows from n * g on
  HWY_UNROLL(4)
  for (int g = 0; g < kBlocks; g++) {
    if constexpr (sizeof(T) == 4) {
      const hn::Repartition<double, Tag<T>> pairs;
      const auto a = load(4 * g), b = load(4 * g + 1), a2 = load(4 * g + 2), b2 = load(4 * g + 3);
      const auto low = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
      const auto high = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
      const auto low2 = hn::BitCast(pairs, hn::InterleaveLower(d, a2, b2));
      const auto high2 = hn::BitCast(pairs, hn::InterleaveUpper(d, a2, b2));
      part[0][g] = hn::BitCast(d, hn::InterleaveLower(pairs, low, low2));
      part[1][g] = hn::BitCast(d, hn::InterleaveUpper(pairs, low, low2));
      part[2][g] = hn::BitCast(d, hn::InterleaveLower(pairs, high, high2));
      part[3][g] = hn::BitCast(d, hn::InterleaveUpper(pairs, high, high2));
    } else {
      const auto a = load(2 * g), b = load(2 * g + 1);
      part[0][g] = hn::InterleaveLower(d, a, b);
      part[1][g] = hn::InterleaveUpper(d, a, b);
    }
  }
  HWY_UNROLL(4)
  for (int v = 0; v < n; v++) {
    if constexpr (kBlocks == 1) {
      put(v, part[v][0]);
    } else if constexpr (kBlocks == 2) {
      put(v, hn::ConcatLowerLower(d, part[v][1], part[v][0]));
      put(n + v, hn::ConcatUpperUpper(d, part[v][1], part[v][0]));
    } else {
      const auto low = hn::ConcatLowerLower(d, part[v][2], part[v][0]);
      const auto low2 = hn::ConcatLowerLower(d, part[v][3], part[v][1]);
      const auto high = hn::ConcatUpperUpper(d, part[v][2], part[v][0]);
      const auto high2 = hn::ConcatUpperUpper(d, part[v][3], part[v][1]);
      put(v, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(low2), low));
      put(n + v, hn::OddEvenBlocks(low2, hn::SwapAdjacentBlocks(low)));
      put(2 * n + v, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(high2), high));
      put(3 * n + v, hn::OddEvenBlocks(high2, hn::SwapAdjacentBlocks(high)));
    }
  }
#endif
}

// ---- packing ----

template <class T>
HWY_INLINE void pack(const PanelSource<T>& b, int64_t size, T* to) {
  const Tag<T> d;
  const int64_t width = int64_t(hn::Lanes(d)), depth = b.depth, columns = b.columns;
  if (!b.along) {
    const T* from = b.data;
    for (int64_t p = 0; p < depth; p++, to += size, from += b.row) {
      int64_t j = 0;
      for (; j + width <= columns; j += width) hn::StoreU(hn::LoadU(d, from + j), d, to + j);
      if (j < columns) store_some(load_some(from + j, columns - j), to + j, std::min(width, size - j));
    }
    return;
  }
  const auto row_of = [&](int64_t p) HWY_ATTR { return b.rows ? b.rows[p] * size : p * size; };
  if (columns * depth < width) {  // turning would cost more
    for (int64_t p = 0; p < depth; p++) {
      T* const row = to + row_of(p);
      std::fill_n(row, size, T(0));
      for (int64_t j = 0; j < columns; j++) row[j] = b.data[j * b.row + p];
    }
    return;
  }
  const bool far = b.row * int64_t(sizeof(T)) >= kFar;  // such rows are too short for the processor to read ahead
  constexpr int64_t kMost = hn::MaxLanes(Tag<T>());
  HWY_ALIGN T part[kMost * kMost], turned[kMost * kMost];
  for (int64_t j = 0; j < size; j += width)
    for (int64_t at = 0; at < depth; at += width) {
      // The last square may begin in the one before, and writes what is there again.
      const int64_t p = std::min(at, std::max<int64_t>(0, depth - width));
      const T* const from = b.data + j * b.row + p;
      const int64_t lines = columns - j, count = std::min(width, depth - p);
      const bool whole = lines >= width && count == width;
      if (far && whole)
        for (int64_t r = 0; r < width; r++) hwy::Prefetch(from + (width + r) * b.row);
      if (whole && !b.rows) {
        turn(from, b.row, to + p * size + j, size);
        continue;
      }
      for (int64_t r = 0; r < width && !whole; r++)
        hn::Store(r < lines ? load_some(from + r * b.row, count) : hn::Zero(d), d, part + r * width);
      turn(whole ? from : part, whole ? b.row : width, turned, width);
      for (int64_t q = 0; q < count; q++) hn::StoreU(hn::Load(d, turned + q * width), d, to + row_of(p + q) + j);
    }
}
void pack_float(const PanelSource<float>& b, int64_t size, float* to) { pack(b, size, to); }
void pack_double(const PanelSource<double>& b, int64_t size, double* to) { pack(b, size, to); }

// ---- tiles ----

/// Sums that wait in memory, to a result whose columns are cut or turned.
template <class T>
HWY_NOINLINE void put_sums(const TurnedSums<T>& f) {
  const T* const sums = f.sums;
  const int64_t rows = f.rows, size = f.size;
  const Tag<T> d;
  const int64_t width = int64_t(hn::Lanes(d));
  const auto alpha = hn::Set(d, f.alpha), beta = hn::Set(d, f.beta);
  if (f.out_lane != 1) {
    const bool adds = f.beta != T(0) && !f.row_added && !f.lane_added;
    const bool plain = f.alpha == T(1) && f.beta == T(0) && !f.row_added && !f.lane_added;
    constexpr int64_t kMost = hn::MaxLanes(Tag<T>());
    HWY_ALIGN T part[kMost * kMost], turned[kMost * kMost];
    if constexpr (HWY_TARGET == HWY_SCALAR) part[0] = T(0);  // g++ cannot tell that there is a row
    for (int64_t begin = 0; begin < rows; begin += width)
      for (int64_t j = 0; j < f.columns; j += width) {
        const int64_t r = plain ? std::min(begin, std::max<int64_t>(0, rows - width)) : begin;  // as in pack
        const int64_t lines = std::min(width, rows - r), count = std::min(width, f.columns - j);
        if (plain && lines == width && count == width) {
          turn(sums + r * size + j, size, f.out + r * f.out_row + j * f.out_lane, f.out_lane);
          continue;
        }
        for (int64_t i = 0; i < lines; i++) {
          auto x = hn::Mul(hn::LoadU(d, sums + (r + i) * size + j), alpha);
          if (f.row_added) x = hn::Add(x, hn::Set(d, f.row_added[r + i]));
          if (f.lane_added) x = hn::Add(x, load_some(f.lane_added + j, count));
          hn::Store(x, d, part + i * width);
        }
        turn(part, width, turned, width);
        for (int64_t q = 0; q < count; q++) {
          T* const out = f.out + r * f.out_row + (j + q) * f.out_lane;
          auto x = hn::Load(d, turned + q * width);
          if (adds) x = hn::Add(x, hn::Mul(beta, load_some(out, lines)));
          store_some(x, out, lines);
        }
      }
    return;
  }
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < f.columns; j += width) {
      T* const out = f.out + r * f.out_row + j;
      const int64_t count = std::min(width, f.columns - j);
      auto value = hn::Mul(hn::LoadU(d, sums + r * size + j), alpha);
      if (f.lane_added) value = hn::Add(value, load_some(f.lane_added + j, count));
      else if (f.row_added) value = hn::Add(value, hn::Set(d, f.row_added[r]));
      else if (f.beta != T(0)) value = hn::Add(value, hn::Mul(beta, load_some(out, count)));
      store_some(value, out, count);
    }
}

/// kRows rows by kVectors vectors of the result. Only with every loop unrolled do the sums stay in registers.
template <int kRows, int kVectors, Rows kind, class T>
void tile(const TileWork<T>& w, int64_t columns) {
  const Tag<T> d;
  const int64_t width = int64_t(hn::Lanes(d));
  Vec<T> sums[kRows][kVectors];
  HWY_UNROLL(kTall)
  for (int r = 0; r < kRows; r++) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; v++) sums[r][v] = hn::Zero(d);
  }
  HWY_ALIGN T waiting[kRows * kVectors * hn::MaxLanes(Tag<T>())];
  const auto keep = [&]() HWY_ATTR {
    HWY_UNROLL(kTall)
    for (int r = 0; r < kRows; r++) {
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; v++) hn::Store(sums[r][v], d, waiting + (r * kVectors + v) * width);
    }
  };
  const auto add_to = [&](const T* from, int64_t row_step) HWY_ATTR {
    HWY_UNROLL(kTall)
    for (int r = 0; r < kRows; r++) {
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; v++)
        sums[r][v] = hn::Add(hn::LoadU(d, from + r * row_step + v * width), sums[r][v]);
    }
  };
  if (w.goes_on) add_to(w.out, w.out_row);
  const T* b = w.b;
  const int64_t step = w.step, row = w.row, b_step = w.b_step;
  int64_t offsets[kind == Rows::Scattered ? kRows : 1];
  if constexpr (kind == Rows::Scattered) {
    HWY_UNROLL(kTall)
    for (int r = 0; r < kRows; r++) offsets[r] = w.offsets[r];
  }
  const int64_t first = w.part != 0 ? w.part : w.lines;  // the end of the first part
  int64_t inner = w.inner, part = first;
  for (int64_t l = 0; l < w.lines; l++) {
    if constexpr (kind != Rows::Strided) {
      if (l == part) {
        if (part > first) add_to(waiting, kVectors * width);
        else if (w.bias) add_to(w.bias, 0);
        keep();
        HWY_UNROLL(kTall)
        for (int r = 0; r < kRows; r++) {
          HWY_UNROLL(3)
          for (int v = 0; v < kVectors; v++) sums[r][v] = hn::Zero(d);
        }
        part += w.part;
        if (part == w.lines) inner = w.last_inner;
      }
    }
    const T* const a = w.a + (w.starts ? w.starts[l] : l * w.line);
    if (w.b_starts) b = w.b + w.b_starts[l];
    constexpr int kGroups = kind == Rows::Strided ? (kRows + 2) / 3 : 1;
    const T* group[kGroups];  // of three rows: at 0, 1 and 2 steps an address needs no register of its own
    HWY_UNROLL(kTall)
    for (int g = 0; g < kGroups; g++) group[g] = a + 3 * g * row;
    for (int64_t p = 0; p < inner; p++) {
      Vec<T> right[kVectors];
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; v++) right[v] = hn::LoadU(d, b + v * width);
      HWY_UNROLL(kTall)
      for (int r = 0; r < kRows; r++) {
        const T* const at = kind == Rows::Neighbours ? group[0] + r
                            : kind == Rows::Strided  ? group[r / 3 % kGroups] + r % 3 * row
                                                     : group[0] + offsets[r % (kind == Rows::Scattered ? kRows : 1)];
        const Vec<T> factor = hn::Set(d, *at);
        HWY_UNROLL(3)
        for (int v = 0; v < kVectors; v++) sums[r][v] = hn::MulAdd(factor, right[v], sums[r][v]);
      }
      // Of the next rows: lines that lie a row of the other matrix apart are not foreseen, and may be in another thread's cache.
      if constexpr (kind == Rows::Neighbours) __builtin_prefetch(group[0] + kRows, 0, 2);
      b += b_step;
      HWY_UNROLL(kTall)
      for (int g = 0; g < kGroups; g++) group[g] += step;
    }
  }
  if (kind != Rows::Strided && part > first) add_to(waiting, kVectors * width);
  else if (w.bias) add_to(w.bias, 0);
  if (w.out_lane == 1 && columns == kVectors * width && w.alpha == T(1) && !w.row_added &&
      (w.lane_added || w.beta == T(0) || w.beta == T(1))) {
    const bool add = w.lane_added || w.beta != T(0);
    const T* const added = w.lane_added ? w.lane_added : w.out;
    const int64_t added_row = w.lane_added ? 0 : w.out_row;
    HWY_UNROLL(kTall)
    for (int r = 0; r < kRows; r++) {
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; v++) {
        T* const out = w.out + r * w.out_row + v * width;
        hn::StoreU(add ? hn::Add(sums[r][v], hn::LoadU(d, added + r * added_row + v * width)) : sums[r][v], d, out);
      }
    }
    return;
  }
  keep();
  put_sums<T>({waiting, kRows, kVectors * width, columns, w.out, w.out_row, w.out_lane, w.alpha, w.beta, w.lane_added,
               w.row_added});
}

/// All rows, by tiles of these heights.
template <int kVectors, Rows kind, int... heights, class T>
void rows_by(TileWork<T> w, int64_t m, int64_t columns) {
  const auto by = [&](int64_t height, void (*run)(const TileWork<T>&, int64_t)) {
    for (; m >= height; m -= height) {
      run(w, columns);
      if (kind == Rows::Scattered) w.offsets += height;
      else w.a += height * w.row;
      w.out += height * w.out_row;
      if (w.row_added) w.row_added += height;
    }
  };
  (by(heights, &tile<heights, kVectors, kind, T>), ...);
}
// Fewer heights where they are rarely needed: each is a kilobyte of the program.
template <int kVectors, Rows kind, class T>
void rows_of(const TileWork<T>& w, int64_t m, int64_t columns) {
  if constexpr (HWY_TARGET == HWY_SCALAR) rows_by<kVectors, kind, 1>(w, m, columns);
  else if constexpr (!kManyRegisters && sizeof(T) == 8) rows_by<kVectors, kind, 4, 1>(w, m, columns);
  else if constexpr (!kManyRegisters) rows_by<kVectors, kind, 4, 2, 1>(w, m, columns);
  else if constexpr (sizeof(T) == 8 || kind == Rows::Scattered) rows_by<kVectors, kind, 8, 4, 1>(w, m, columns);
  else if constexpr ((kind == Rows::Neighbours && kVectors < 3) || (kind == Rows::Strided && kVectors == 2))
    rows_by<kVectors, kind, kTall, 8, 4, 2, 1>(w, m, columns);
  else rows_by<kVectors, kind, 8, 4, 2, 1>(w, m, columns);
}
template <int kVectors, class T>
void rows_of_kind(const TileWork<T>& w, int64_t m, int64_t columns) {
  if (w.offsets) rows_of<kVectors, Rows::Scattered>(w, m, columns);
  else if (w.row == 1) rows_of<kVectors, Rows::Neighbours>(w, m, columns);
  else rows_of<kVectors, Rows::Strided>(w, m, columns);
}
template <class T>
void rows(const TileWork<T>& w, int64_t m, int64_t size, int64_t columns) {
  switch (size / int64_t(hn::Lanes(Tag<T>()))) {
    case 3: return rows_of_kind<3>(w, m, columns);
    case 2: return rows_of_kind<2>(w, m, columns);
    default: return rows_of_kind<1>(w, m, columns);
  }
}
void rows_float(const TileWork<float>& w, int64_t m, int64_t size, int64_t columns) { rows(w, m, size, columns); }
void rows_double(const TileWork<double>& w, int64_t m, int64_t size, int64_t columns) { rows(w, m, size, columns); }

void put_float(const TurnedSums<float>& sums) { put_sums(sums); }
void put_double(const TurnedSums<double>& sums) { put_sums(sums); }

int64_t lanes_float() { return int64_t(hn::Lanes(Tag<float>())); }
int64_t lanes_double() { return int64_t(hn::Lanes(Tag<double>())); }

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(rows_float);
HWY_EXPORT(rows_double);
HWY_EXPORT(pack_float);
HWY_EXPORT(pack_double);
HWY_EXPORT(put_float);
HWY_EXPORT(put_double);
HWY_EXPORT(lanes_float);
HWY_EXPORT(lanes_double);

int64_t tile_lanes(float) { return HWY_DYNAMIC_DISPATCH(lanes_float)(); }
int64_t tile_lanes(double) { return HWY_DYNAMIC_DISPATCH(lanes_double)(); }
void tile_rows(const TileWork<float>& w, int64_t m, int64_t size, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(rows_float)(w, m, size, columns);
}
void tile_rows(const TileWork<double>& w, int64_t m, int64_t size, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(rows_double)(w, m, size, columns);
}
void put_turned(const TurnedSums<float>& sums) { HWY_DYNAMIC_DISPATCH(put_float)(sums); }
void put_turned(const TurnedSums<double>& sums) { HWY_DYNAMIC_DISPATCH(put_double)(sums); }
void pack_panel(const PanelSource<float>& b, int64_t size, float* to) { HWY_DYNAMIC_DISPATCH(pack_float)(b, size, to); }
void pack_panel(const PanelSource<double>& b, int64_t size, double* to) {
  HWY_DYNAMIC_DISPATCH(pack_double)(b, size, to);
}
}  // namespace tessera::tensor::cpu
#endif
