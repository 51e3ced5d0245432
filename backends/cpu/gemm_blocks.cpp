// Both operands packed, by the sizes of the caches: the sums of a block of the result stay in the second level for a part of k
// (gemm_order.h), and so does what of the left operand they are computed from; a panel of the right operand stays in the first.
#include "backends/cpu/gemm_blocks.h"

#include <algorithm>

#include "backends/cpu/gemm_order.h"
#include "backends/cpu/gemm_tile.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "runtime/context.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kPart = 128;  // of k, between two times that the sums are written: a panel is half of the first level
constexpr int64_t kBlock = 128;   // rows of the result
constexpr int64_t kVectors = 80;  // and its columns
constexpr int64_t kBand = 16;     // lines of k that are packed for all panels before the next ones
constexpr int64_t kLine = 64;     // bytes of a cache line
constexpr int64_t kTile = 8;      // rows of the left operand that are packed side by side

/// n in pieces of about the same size, none above `most`, which begin at multiples of `unit`.
struct Pieces {
  int64_t n, unit, units, count;
  Pieces(int64_t length, int64_t size, int64_t most)
      : n(length),
        unit(size),
        units((length + size - 1) / size),
        count(std::max<int64_t>(1, (length + most - 1) / most)) {}
  int64_t first(int64_t i) const { return std::min(n, units * i / count * unit); }
  int64_t size(int64_t i) const { return first(i + 1) - first(i); }
};

template <class T>
class Blocks {
 public:
  Blocks(const GemmCall& call, const T* a, const T* b, T* out)
      : c_(call),
        a_(a),
        b_(b),
        out_(out),
        lanes_(tile_lanes(T())),
        columns_(c_.n, lanes_, kVectors * lanes_),
        ranges_(c_.m, kTile, c_.m) {
    const int64_t threads = Context::current().threads, wanted = threads == 1 ? 1 : 2 * threads;
    ranges_.count =
        std::clamp<int64_t>((wanted + columns_.count - 1) / columns_.count, 1, std::max<int64_t>(1, c_.m / 128));
  }
  void operator()() const {
    run_split(ranges_.count * columns_.count, {.grain = 1, .tasks = true}, RangeBody([&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; i++) run(i % ranges_.count, i / ranges_.count);
              }));
  }

 private:
  void run(int64_t range, int64_t group) const {
    const int64_t column = columns_.first(group), top = ranges_.first(range);
    const Panels panels(columns_.size(group), lanes_);
    const SumParts parts = sum_parts<T>(c_);
    const Pieces blocks(ranges_.size(range), kTile, kBlock);
    const Scratch<T> right(parts.longest() * panels.padded());
    const Scratch<T> left((blocks.units / blocks.count + 1) * kTile * row_of(std::min(c_.k, kPart)));
    const Scratch<T> sums((blocks.units / blocks.count + 1) * kTile * panels.padded());
    for (int64_t s = 0; s < parts.count(); s++) {
      const int64_t p = parts.start(s), depth = parts.start(s + 1) - p;
      pack_right(panels, column, p, depth, right.data());
      for (int64_t i = 0; i < blocks.count; i++) {
        Context::current().poll();
        block(panels, column, top + blocks.first(i), blocks.size(i), p, depth, right.data(), left.data(), sums.data());
      }
    }
  }
  // Some lines of k at a time for all panels: the lines of a large matrix lie on pages of their own.
  void pack_right(const Panels& panels, int64_t column, int64_t p, int64_t depth, T* to) const {
    for (int64_t q = 0; q < depth; q += kPart) {
      const int64_t part = std::min(kPart, depth - q), band = c_.transpose_b ? part : kBand;
      for (int64_t t = 0; t < part; t += band)
        for (int64_t i = 0; i < panels.count; i++) {
          const int64_t j = column + panels.first(i), at = p + q + t;
          pack_panel(PanelSource<T>{c_.transpose_b ? b_ + j * c_.ldb + at : b_ + at * c_.ldb + j, c_.ldb,
                                    c_.transpose_b, std::min(band, part - t), panels.columns(i)},
                     panels.size(i), to + q * panels.padded() + panels.first(i) * part + t * panels.size(i));
        }
    }
  }
  /// Rows that are neighbours lie side by side afterwards, others one after the other, not a power of two apart.
  void pack_left(int64_t top, int64_t rows, int64_t at, int64_t part, T* to) const {
    if (!c_.transpose_a)
      return pack_panel(PanelSource<T>{a_ + top * c_.lda + at, c_.lda, false, rows, part}, row_of(part), to);
    for (int64_t t = 0; t < part; t += kBand)
      for (int64_t r = 0; r < rows; r += kTile)
        pack_panel(PanelSource<T>{a_ + (at + t) * c_.lda + top + r, c_.lda, false, std::min(kBand, part - t),
                                  std::min(kTile, rows - r)},
                   kTile, to + r * part + t * kTile);
  }
  int64_t row_of(int64_t part) const { return (part + lanes_ - 1) / lanes_ * lanes_ + kLine / int64_t(sizeof(T)); }

  /// The sums wait beside each other: rows of a large result lie so far apart that few sets of a cache would hold them.
  void block(const Panels& panels, int64_t column, int64_t top, int64_t rows, int64_t p, int64_t depth, const T* right,
             T* left, T* sums) const {
    for (int64_t q = 0; q < depth; q += kPart) {
      const int64_t part = std::min(kPart, depth - q), at = p + q;
      pack_left(top, rows, at, part, left);
      TileWork<T> work{.inner = part, .goes_on = q > 0};
      work.row = c_.transpose_a ? 1 : row_of(part), work.step = c_.transpose_a ? kTile : 1;
      for (int64_t i = 0; i < panels.count; i++) {
        work.b = right + q * panels.padded() + panels.first(i) * part;
        work.b_step = work.out_row = panels.size(i);
        for (int64_t r = 0; r < rows; r += kTile) {
          work.a = left + r * (c_.transpose_a ? part : work.row);
          work.out = sums + panels.first(i) * rows + r * panels.size(i);
          tile_rows(work, std::min(kTile, rows - r), panels.size(i), panels.size(i));
        }
      }
    }
    for (int64_t r = 0; r < rows; r += kTile)
      for (int64_t i = 0; i < panels.count; i++)
        put_turned({sums + panels.first(i) * rows + r * panels.size(i), std::min(kTile, rows - r), panels.size(i),
                    panels.columns(i), out_ + (top + r) * c_.ldc + column + panels.first(i), c_.ldc, 1, T(c_.alpha),
                    p == 0 ? T(c_.beta) : T(1)});
  }

  const GemmCall& c_;
  const T* const a_;
  const T* const b_;
  T* const out_;
  const int64_t lanes_;
  const Pieces columns_;
  Pieces ranges_;
};

}  // namespace

template <class T>
void block_product(const GemmCall& c, const T* a, const T* b, T* out) {
  Blocks<T>(c, a, b, out)();
}
template void block_product(const GemmCall&, const float*, const float*, float*);
template void block_product(const GemmCall&, const double*, const double*, double*);

}  // namespace tessera::tensor::cpu
