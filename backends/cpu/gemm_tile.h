// Products of float32 and float64 in tiles of the result that stay in registers: what gemm_panels.cpp and conv.cpp are made of.
//
// The right operand lies along lanes: panels of at most three vectors, [k][width], filled up with zeros. The left one is read
// where it lies, one element for all lanes of a row. Either matrix of a product may be the right one, since a tile can be
// written turned; and every element is summed in the order of k, whatever tile it falls into, so a product may be cut anywhere
// and keeps its bits. In which parts k is summed: gemm_order.h.
#pragma once

#include <cstdint>

namespace tessera::tensor::cpu {

/// The left operand and the steps along k: element (r, l, p) is at[rows + start(l) + p * step], where the rows are `row` apart,
/// or at offsets of their own. b goes on from one p to the next, through all lines.
template <class T>
struct TileWork {
  const T* a = nullptr;
  int64_t row = 0;                         // from row to row,
  const int64_t* offsets = nullptr;        // or where each lies
  int64_t lines = 1, inner = 0, step = 1;  // k = lines * inner; the step along a line
  int64_t part = 0, last_inner = 0;   // lines that are summed from zero, or all; steps along those of the last part
  int64_t line = 0;                   // from line to line,
  const int64_t* starts = nullptr;    // or where each begins
  const T* b = nullptr;               // whole vectors
  int64_t b_step = 0;                 // from p to p
  const int64_t* b_starts = nullptr;  // where each line begins, if b does not go on through all lines
  T* out = nullptr;
  int64_t out_row = 0, out_lane = 1;  // one of them is 1
  T alpha = T(1), beta = T(0);
  bool goes_on = false;           // sums begin with what is in out: whole vectors along lanes
  const T* bias = nullptr;        // what the parts are added to, whole vectors; or nothing
  const T* lane_added = nullptr;  // is added instead of beta * out: one for each column,
  const T* row_added = nullptr;   // or one for each row
};

/// Whether so many multiplications, some 90 us of one thread, gain by threads that must be woken first: that takes 30 us and more
/// on a virtual machine, and what the other thread has written is then read from its cache.
constexpr bool worth_waking(int64_t multiplications) { return multiplications >= int64_t(1) << 23; }

/// How `n` columns fall into panels of up to three vectors.
struct Panels {
  int64_t n, width;  // columns; lanes of a vector
  int64_t vectors, count;

  Panels(int64_t columns, int64_t lanes)
      : n(columns), width(lanes), vectors((columns + lanes - 1) / lanes), count((vectors + 2) / 3) {}
  int64_t first(int64_t panel) const { return vectors * panel / count * width; }
  /// Whole vectors; the last ones may reach beyond n.
  int64_t size(int64_t panel) const { return first(panel + 1) - first(panel); }
  int64_t columns(int64_t panel) const { return size(panel) < n - first(panel) ? size(panel) : n - first(panel); }
  int64_t padded() const { return vectors * width; }
};

/// Lanes of a vector on this processor.
int64_t tile_lanes(float);
int64_t tile_lanes(double);

/// The rows [0, m) of one panel, `columns` of whose `size` lanes are there.
void tile_rows(const TileWork<float>& work, int64_t m, int64_t size, int64_t columns);
void tile_rows(const TileWork<double>& work, int64_t m, int64_t size, int64_t columns);

/// out[r * out_row + j * out_lane] = alpha * sums[r * size + j] + beta * itself, for `rows` and `columns`; or instead of itself
/// something for each lane or for each row.
template <class T>
struct TurnedSums {
  const T* sums;
  int64_t rows, size, columns;
  T* out;
  int64_t out_row, out_lane;
  T alpha, beta;
  const T* lane_added = nullptr;
  const T* row_added = nullptr;
};
void put_turned(const TurnedSums<float>& sums);
void put_turned(const TurnedSums<double>& sums);

/// A part of the right operand: element (p, j) is data[p * row + j], or where `along` data[j * row + p].
template <class T>
struct PanelSource {
  const T* data;
  int64_t row;
  bool along;
  int64_t depth, columns;
  const int64_t* rows = nullptr;  // where `along`: the row of the panel that each p becomes, instead of p
};
/// It as a panel, [depth][size].
void pack_panel(const PanelSource<float>& b, int64_t size, float* to);
void pack_panel(const PanelSource<double>& b, int64_t size, double* to);

}  // namespace tessera::tensor::cpu
