// How a loop over elements is run: in groups, or element by element in parts whose offsets have 32 bits.
#pragma once

#include <functional>

#include "runtime/device/plugin.h"

namespace tessera::tensor::cuda {

inline constexpr int kMaxNestDims = 16;

struct DensePlan {
  bool is_dense = false;
  int dims = 0;           // 0: one run
  int edges[2] = {0, 0};  // elements before the first group and after the last
  int64_t groups = 0;
};

/// `group` elements at a time; `loads` and `stores`: dtypes (bits) that can be taken so; `others`: results beside the loop's
/// own one, of its layout.
DensePlan plan_dense(const Loop& loop, int group, unsigned loads, unsigned stores, char* const* others,
                     int other_count);

/// Whether a nest of kMaxNestDims dimensions and offsets of 32 bits can walk the loop.
bool is_one_part(const Loop& loop);
/// f for parts of the loop that can be walked so.
void each_part(const Loop& loop, const std::function<void(const Loop&)>& f);

}  // namespace tessera::tensor::cuda
