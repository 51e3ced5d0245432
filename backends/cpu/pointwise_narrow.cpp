// Pointwise ops on integers of one and two bytes, compiled for every instruction set but AVX-512 and chosen at run time; and run_in_blocks,
// which calls the kernels of integers of every size.
// compile: no-exceptions (for size: nothing throws)
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pointwise_narrow.cpp"
#include "backends/cpu/integer_targets.h"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include <algorithm>
#include <cstring>
#include "backends/cpu/convert.h"
#include "backends/cpu/pointwise_int-inl.h"
#include "runtime/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
const InnerKernel* narrow_table(DType type) {
  return type == kUInt8 || type == kBool ? table_of<uint8_t>() : type == kInt8 ? table_of<int8_t>() : type == kInt16 ? table_of<int16_t>() : nullptr;
}
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(narrow_table);
const InnerKernel* narrow_kernels(DType type) { return HWY_DYNAMIC_DISPATCH(narrow_table)(type); }

void run_in_blocks(const Run& r, BlockKernel kernel, BlockSizes sizes) {
  constexpr int64_t kTile = 512, kLargest = 8;
  alignas(64) char same[3][kTile * kLargest];
  const void* in[3];
  bool repeats = false;
  for (int k = 0; k < sizes.arity; k++) {
    in[k] = r.in[k];
    if (r.step[k] != 0) continue;
    repeats = true, in[k] = same[k];
    repeat_element(same[k], r.in[k], std::min((r.n + kIntegerBlock - 1) / kIntegerBlock * kIntegerBlock, kTile), size_t(sizes.element));
  }
  char* out = static_cast<char*>(r.out);
  int64_t left = r.n;
  while (left >= kIntegerBlock) {
    const int64_t blocks = (repeats ? std::min(left, kTile) : left) / kIntegerBlock, n = blocks * kIntegerBlock;
    kernel(out, in, r.params, blocks);
    left -= n, out += n * sizes.result;
    for (int k = 0; k < sizes.arity; k++)
      if (r.step[k] != 0) in[k] = static_cast<const char*>(in[k]) + n * sizes.element;
  }
  if (left == 0) return;
  alignas(64) char ends[4][kIntegerBlock * kLargest];
  const size_t used = size_t(left * sizes.element), whole = size_t(kIntegerBlock * sizes.element);
  for (int k = 0; k < sizes.arity; k++) {
    if (r.step[k] == 0) continue;
    std::memcpy(ends[k], in[k], used);
    std::memset(ends[k] + used, 0, whole - used);  // the kernel reads all of the block
    in[k] = ends[k];
  }
  kernel(ends[3], in, r.params, 1);
  std::memcpy(out, ends[3], size_t(left * sizes.result));
}
}  // namespace tessera::tensor::cpu
#endif
