// The traversal of a reduction of integers, one body for every op, type and instruction set; reduce_ints.cpp has the kernels that it calls. The
// traversal may combine elements in any order, since addition of integers is associative.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/reduce_table.h"

namespace tessera::tensor::cpu {
namespace {

// The kernels of one op, one type and one instruction set. The inner loop of add_rows has a fixed number of elements, so the compiler makes
// vectors of it and writes no code for a remainder.
struct IntegerRows {
  static constexpr int64_t kBlock = 64;
  /// total[j] = combine(total[j], x[i * stride + j] combined over i < rows), for j < kBlock.
  void (*add_rows)(int64_t* total, const void* x, int64_t stride, int64_t rows);
  void (*add_some)(int64_t* total, const void* x, int64_t width);  // one row
  void (*merge)(int64_t* total, const int64_t* other, int64_t width);
  int64_t (*combine)(int64_t a, int64_t b);
  int64_t (*identity)();
  int64_t size;  // of an element, in bytes
};
// Keeps the compiler from cloning a function for every op that calls it, which would enlarge the program.
#define TS_ONE_BODY [[gnu::noipa]]
struct IntegerLines {
  int64_t* out;
  const int64_t* units;
  const void* x;
  int64_t stride, n, count;
};

TS_ONE_BODY int64_t combine_row(const IntegerRows& op, const char* x, int64_t n) {
  constexpr int64_t kBlock = IntegerRows::kBlock;
  int64_t total[kBlock];
  const int64_t used = std::min(n, kBlock);
  if (n == 0) return op.identity();
  std::fill(total, total + used, op.identity());
  if (n >= kBlock) op.add_rows(total, x, kBlock, n / kBlock);
  op.add_some(total, x + n / kBlock * kBlock * op.size, n % kBlock);
  for (int64_t left = used; left > 1; left = (left + 1) / 2) op.merge(total, total + (left + 1) / 2, left / 2);
  return total[0];
}
TS_ONE_BODY void combine_unit(const IntegerRows& op, int64_t* total, const void* x, int64_t rows) {
  std::fill(total, total + kRowColumns<int64_t>, op.identity());
  total[0] = combine_row(op, static_cast<const char*>(x), rows * kRowColumns<int64_t>);
}
TS_ONE_BODY void combine_rows(const IntegerRows& op, const IntegerLines& r) {
  const char* x = static_cast<const char*>(r.x);
  if (!r.units) {
    for (int64_t i = 0; i < r.count; i++) r.out[i] = combine_row(op, x + i * r.stride * op.size, r.n);
    return;
  }
  const int64_t step = cascade_step(r.n / kRowColumns<int64_t>), unit_size = step * step * kRowColumns<int64_t>;
  int64_t total = combine_row(op, x, r.n % unit_size);
  for (int64_t u = 0; u < r.n / unit_size; u++) total = op.combine(total, r.units[u * kRowColumns<int64_t>]);
  r.out[0] = total;
}
TS_ONE_BODY void combine_block(const IntegerRows& op, const IntegerLines& r) {
  const char* x = static_cast<const char*>(r.x);
  int64_t* total = r.out;
  int64_t width = r.n;
  for (; width >= IntegerRows::kBlock; width -= IntegerRows::kBlock, x += IntegerRows::kBlock * op.size, total += IntegerRows::kBlock)
    op.add_rows(total, x, r.stride, r.count);
  for (int64_t i = 0; i < r.count && width > 0; i++) op.add_some(total, x + i * r.stride * op.size, width);
}

}  // namespace
}  // namespace tessera::tensor::cpu
