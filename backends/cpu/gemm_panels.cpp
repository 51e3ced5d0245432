// Which operand lies along lanes, how it is packed, and who computes which part.
#include "backends/cpu/gemm_panels.h"

#include <algorithm>

#include "backends/cpu/gemm_order.h"
#include "backends/cpu/gemm_tile.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "runtime/context.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kLeastTask = int64_t(1) << 18;  // multiplications

constexpr int64_t kLeftColumns = int64_t(1) << 19;  // bytes
constexpr int64_t kRowsAtOnce = 512;                // of a part of k, in the second-level cache
constexpr int64_t kRowsAThread = 128;               // are worth packing the right operand once more
constexpr int64_t kNear = 2048;                     // bytes from row to row: half a page
constexpr int64_t kInPlace = int64_t(32) << 10;     // bytes of a right operand that stays in the first-level cache

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
  SumParts parts;
  const T* lane_added = nullptr;  // instead of beta * out
  const T* row_added = nullptr;

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
            beta,
            parts,
            row_added,
            lane_added};
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

/// Tasks are blocks of rows by groups of panels. A thread's share are rows next to each other, as in the ops before and after:
/// what it reads it has mostly written itself.
template <class T>
class Run {
 public:
  explicit Run(const Product<T>& p) : p_(p), panels_(p.n, tile_lanes(T())), depths_(p.parts.count()) {
    blocks_ = (p.m + kRowsAtOnce - 1) / kRowsAtOnce;
    groups_ = 1;
    const int64_t threads = Context::current().threads;
    if (threads == 1 || !(may_wake() || threads_awake())) return;
    const int64_t wanted = 4 * threads;
    // Turning weights costs most: each thread turns its own, which it has changed itself, if that comes out even.
    const bool by_columns = p.along && p.m < 2 * p.n && panels_.count >= 2 * threads && panels_.count % threads == 0;
    blocks_ = std::max(blocks_, by_columns ? 1 : std::min(threads, p.m / kRowsAThread));
    groups_ = std::clamp<int64_t>((wanted + blocks_ - 1) / blocks_, 1, panels_.count);
    if (!by_columns) blocks_ = std::max(blocks_, std::min((wanted + groups_ - 1) / groups_, p.m / kRowsAThread));
  }
  void operator()() const {
    const int64_t tasks = groups_ * blocks_, work = std::max<int64_t>(1, p_.m * p_.n * p_.k / tasks);
    const auto body = [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; task++) run(task / groups_, task % groups_);
    };
    if (tasks == 1) return body(0, 1);
    run_split(
        tasks,
        {.grain = std::max<int64_t>(1, kLeastTask / work), .tasks = worth_waking(work * tasks), .wakes = may_wake()},
        RangeBody(body));
  }

 private:
  int64_t row_of(int64_t block) const { return std::min(p_.m, (p_.m * block / blocks_ + 7) / 8 * 8); }

  /// Half of what wakes threads at once: less gains nothing by a thread that sleeps.
  bool may_wake() const { return p_.m * p_.n * p_.k > int64_t(1) << 22; }
  bool is_near() const { return p_.b_row * int64_t(sizeof(T)) <= kNear; }

  /// b is read where it lies by few rows or if it is small, and its rows are whole vectors.
  bool packs() const {
    const int64_t row = p_.b_row * int64_t(sizeof(T));
    return p_.along || p_.n % panels_.width != 0 || (p_.m / blocks_ > (is_near() ? 64 : 24) && p_.k * row > kInPlace);
  }
  /// A turned result is not added to, it would be turned for each part of k: its sums wait.
  bool waits() const { return p_.out_lane != 1 && depths_ > 1; }

  void run(int64_t block, int64_t group) const {
    const int64_t top = row_of(block), rows = row_of(block + 1) - top,
                  widest = std::min(3 * panels_.width, panels_.padded());
    const int64_t first = panels_.count * group / groups_, last = panels_.count * (group + 1) / groups_;
    const Scratch<T> packed(packs() ? p_.parts.longest() * widest : 0);
    if (waits()) {
      const Scratch<T> sums(rows * widest);
      for (int64_t panel = first; panel < last; panel++) turned(panel, top, rows, packed.data(), sums.data());
      return;
    }
    // A part of the block's rows stays in the second-level cache while the panels go by.
    for (int64_t d = 0; d < depths_; d++)
      for (int64_t panel = first; panel < last; panel++) {
        TileWork<T> work = part(panel, top, d, packed.data());
        work.out = p_.out + top * p_.out_row + panels_.first(panel) * p_.out_lane;
        work.out_row = p_.out_row, work.out_lane = p_.out_lane, work.alpha = p_.alpha,
        work.beta = d == 0 ? p_.beta : T(1);
        if (d == 0) work.lane_added = lane_added(panel), work.row_added = row_added(top);
        tile_rows(work, rows, panels_.size(panel), panels_.columns(panel));
      }
  }
  void turned(int64_t panel, int64_t top, int64_t rows, T* packed, T* sums) const {
    const int64_t size = panels_.size(panel), columns = panels_.columns(panel);
    T* const out = p_.out + top * p_.out_row + panels_.first(panel) * p_.out_lane;
    const bool adds = start_sums(panel, top, rows, out, sums);
    for (int64_t d = 0; d < depths_; d++) {
      TileWork<T> work = part(panel, top, d, packed);
      work.out = sums, work.out_row = size, work.out_lane = 1, work.alpha = p_.alpha;
      work.beta = T(d > 0 || adds);
      tile_rows(work, rows, size, size);
    }
    put_turned({sums, rows, size, columns, out, p_.out_row, p_.out_lane, T(1), T(0)});
  }
  /// What the sums of the parts are added to comes first, as where they do not wait. False: nothing does.
  bool start_sums(int64_t panel, int64_t top, int64_t rows, const T* out, T* sums) const {
    const int64_t size = panels_.size(panel), columns = panels_.columns(panel);
    if (const T* const row = row_added(top)) {
      for (int64_t r = 0; r < rows; r++) std::fill_n(sums + r * size, size, row[r]);
    } else if (const T* const lane = lane_added(panel)) {
      for (int64_t r = 0; r < rows; r++)
        std::fill(std::copy_n(lane, columns, sums + r * size), sums + (r + 1) * size, T(0));
    } else {
      if (p_.beta == T(0)) return false;
      pack_panel(PanelSource<T>{out, p_.out_lane, true, rows, columns}, size, sums);
      if (p_.beta != T(1)) std::transform(sums, sums + rows * size, sums, [this](T x) { return p_.beta * x; });
    }
    return true;
  }
  const T* lane_added(int64_t panel) const { return p_.lane_added ? p_.lane_added + panels_.first(panel) : nullptr; }
  const T* row_added(int64_t top) const { return p_.row_added ? p_.row_added + top : nullptr; }
  /// The operands of a part of k.
  TileWork<T> part(int64_t panel, int64_t top, int64_t d, T* packed) const {
    const int64_t p = p_.parts.start(d), depth = p_.parts.start(d + 1) - p, first = panels_.first(panel);
    const T* b = p_.b + (p_.along ? first * p_.b_row + p : p * p_.b_row + first);
    if (packs())
      pack_panel(PanelSource<T>{b, p_.b_row, p_.along, depth, panels_.columns(panel)}, panels_.size(panel), packed),
          b = packed;
    return {.a = p_.a + top * p_.a_row + p * p_.a_step,
            .row = p_.a_row,
            .inner = depth,
            .step = p_.a_step,
            .b = b,
            .b_step = packs() ? panels_.size(panel) : p_.b_row};
  }

  const Product<T> p_;
  const Panels panels_;
  const int64_t depths_;
  int64_t blocks_, groups_;
};

}  // namespace

template <class T>
void panel_product(const GemmCall& c, const T* a, const T* b, T* out, const T* bias) {
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
                         T(c.beta),
                         sum_parts<T>(c),
                         bias};
  const int64_t lanes = tile_lanes(T());
  const Product<T> turned = plain.turned();
  Run<T>(turned.cost(lanes) < plain.cost(lanes) ? turned : plain)();
}
template void panel_product(const GemmCall&, const float*, const float*, float*, const float*);
template void panel_product(const GemmCall&, const double*, const double*, double*, const double*);

}  // namespace tessera::tensor::cpu
