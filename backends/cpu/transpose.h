// Tiles of transposed copies: squares that are read by lines of the cache, turned in registers and written by lines.
#pragma once

#include "backends/cpu/convert.h"

namespace tessera::tensor::cpu {

/// to[r * to_row + c] = from[r + c * from_column] for r < rows, c < columns; steps in elements.
struct Strip {
  char* to;
  int64_t to_row;
  const char* from;
  int64_t from_column;
  int64_t columns, rows;
};

class Transposer {
 public:
  Transposer(DType to, DType from);
  /// The most rows that a strip may have.
  int64_t side() const { return side_; }
  void operator()(const Strip& strip) const { run_(strip, *this); }

 private:
  template <class T>
  static void run(const Strip& strip, const Transposer& how);

  int64_t side_, from_size_;
  ConvertRun convert_;  // null where the types agree
  void (*run_)(const Strip&, const Transposer&);
};

}  // namespace tessera::tensor::cpu
