// Which operand lies along lanes, how it is packed, and who computes which part.
#include "backends/cpu/gemm_panels.h"

#include <algorithm>

#include "backends/cpu/gemm_tile.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "runtime/context.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kWorthATask = int64_t(1) << 20;  // multiplications

constexpr int64_t kLeftColumns = int64_t(1) << 19;  // bytes
constexpr int64_t kInPlace = int64_t(24) << 10;     // bytes of a right operand that stays in the first-level cache

/// a along rows, b along lanes: result (r, j) is out[r * out_row + j * out_lane].
template <class T>
struct Product {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_step;
  const T* b;
  int64_t b_row;
  bool along;  // b as it is stored has k along its rows
  T* out;
  int64_t out_row, out_lane;
  T alpha, beta;

  /// The same result turned: b's columns are the rows.
  Product turned() const {
    return {n,
            m,
            k,
            b,
            along ? b_row : 1,
            along ? 1 : b_row,
            a,
            a_row == 1 ? a_step : a_row,
            a_row != 1,
            out,
            out_lane,
            out_row,
            alpha,
            beta};
  }
  /// What it takes, in multiplications: empty lanes, packing, and writing turned.
  double cost(int64_t lanes) const {
    const double padded = double((n + lanes - 1) / lanes * lanes);
    const double packing = double(n) * double(k) * (along ? 12 : 6),
                 turning = out_lane == 1 ? 0 : double(m) * double(n) * 12;
    // Columns of a large left operand are lines of which little is read before they are pushed out.
    const bool scattered = a_row == 1 && a_step != 1 && m * k * int64_t(sizeof(T)) > kLeftColumns;
    return padded * double(m) * double(k) + packing + turning + (scattered ? double(m) * double(k) * 10 : 0);
  }
};

template <class T>
class Run {
 public:
  explicit Run(const Product<T>& p)
      : p_(p), panels_(p.n, tile_lanes(T())), depths_(std::max<int64_t>(1, (p.k + kDepth<T> - 1) / kDepth<T>)) {
    // Rows are cut only where there are too few panels for the threads.
    const int64_t threads = Context::current().threads;
    const int64_t wanted = threads == 1 ? 1 : (4 * threads + panels_.count - 1) / panels_.count;
    blocks_ = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, p.m / 64));
  }
  void operator()() const {
    const int64_t tasks = panels_.count * blocks_, work = std::max<int64_t>(1, p_.m * p_.n * p_.k / tasks);
    if (tasks == 1) return range(0, 1);
    run_split(tasks, {.grain = std::max<int64_t>(1, kWorthATask / 4 / work), .tasks = work >= kWorthATask},
              RangeBody([&](int64_t begin, int64_t end) { range(begin, end); }));
  }

 private:
  int64_t row_of(int64_t block) const { return (p_.m * block / blocks_ + 7) / 8 * 8; }
  int64_t end_of(int64_t block) const { return block + 1 == blocks_ ? p_.m : std::min(p_.m, row_of(block + 1)); }

  /// Tasks [begin, end): blocks of rows, panel by panel.
  void range(int64_t begin, int64_t end) const {
    const Scratch<T> packed(
        packs() ? (p_.k + depths_ - 1) / depths_ * std::min<int64_t>(3 * panels_.width, panels_.padded()) : 0);
    while (begin < end) {
      const int64_t panel = begin / blocks_, stop = std::min(end, (panel + 1) * blocks_);
      columns(panel, row_of(begin % blocks_), end_of((stop - 1) % blocks_), packed.data());
      begin = stop;
    }
  }
  /// b is read where it lies by few rows or if it is small, and its rows are whole vectors.
  bool packs() const {
    return p_.along || p_.n % panels_.width != 0 || (p_.m > 24 && p_.k * p_.b_row * int64_t(sizeof(T)) > kInPlace);
  }

  void columns(int64_t panel, int64_t top, int64_t bottom, T* packed) const {
    const int64_t first = panels_.first(panel), size = panels_.size(panel), there = panels_.columns(panel);
    T* const out = p_.out + top * p_.out_row + first * p_.out_lane;
    // A turned result is not added to: it would be turned for each part of k.
    const bool waits = p_.out_lane != 1 && depths_ > 1;
    const Scratch<T> sums(waits ? (bottom - top) * size : 0);
    for (int64_t d = 0; d < depths_; d++) {
      const int64_t p = p_.k * d / depths_, depth = p_.k * (d + 1) / depths_ - p;
      const T* b = p_.b + (p_.along ? first * p_.b_row + p : p * p_.b_row + first);
      if (packs()) pack_panel(b, p_.b_row, p_.along, depth, there, size, packed), b = packed;
      TileWork<T> work{p_.a + top * p_.a_row + p * p_.a_step,
                       p_.a_row,
                       nullptr,
                       1,
                       depth,
                       p_.a_step,
                       0,
                       nullptr,
                       b,
                       packs() ? size : p_.b_row,
                       out,
                       p_.out_row,
                       p_.out_lane,
                       p_.alpha,
                       d == 0 ? p_.beta : T(1)};
      if (!waits) {
        tile_rows(work, bottom - top, size, there);
        continue;
      }
      work.out = sums.data(), work.out_row = size, work.out_lane = 1, work.alpha = T(1), work.beta = T(d > 0);
      tile_rows(work, bottom - top, size, size);
    }
    if (waits) put_turned({sums.data(), bottom - top, size, there, out, p_.out_row, p_.out_lane, p_.alpha, p_.beta});
  }

  const Product<T> p_;
  const Panels panels_;
  const int64_t depths_;
  int64_t blocks_;
};

}  // namespace

template <class T>
void panel_product(const GemmCall& c, const T* a, const T* b, T* out) {
  const Product<T> plain{c.m,
                         c.n,
                         c.k,
                         a,
                         c.transpose_a ? 1 : c.lda,
                         c.transpose_a ? c.lda : 1,
                         b,
                         c.ldb,
                         c.transpose_b,
                         out,
                         c.ldc,
                         1,
                         T(c.alpha),
                         T(c.beta)};
  const int64_t lanes = tile_lanes(T());
  const Product<T> turned = plain.turned();
  Run<T>(turned.cost(lanes) < plain.cost(lanes) ? turned : plain)();
}
template void panel_product(const GemmCall&, const float*, const float*, float*);
template void panel_product(const GemmCall&, const double*, const double*, double*);

}  // namespace tessera::tensor::cpu
