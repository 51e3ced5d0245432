// Reading and writing by index tensors.
//
// A call becomes a nest of loops over places: dimensions of size 1 dropped, neighbours that are one run merged. The
// innermost loops are tight: a strip of places, each with one element or with one row that no index varies over.
// Threads share one dimension of the nest. Reading may share any, and so may writing one number everywhere: whoever comes
// last writes the same. Other writing only one in which different places are different elements whatever the indices say,
// so that equal indices meet in one thread, in order.
// compile: vectors (plain loops over elements)
#include "backends/cpu/index_loop.h"

namespace tessera::tensor::cpu {

void combine_rarely(const IndexCall& c);  // index_combine.cpp

namespace {

void index_elements(const IndexCall& c) {
  if (combines(c.mode)) {
    if (c.mode != IndexMode::Accumulate || !kTightSums.has(c.dtype)) return combine_rarely(c);
    return with_type<kTightSums>(
        c.dtype, [&](auto tag) { IndexLoop<IndexMode::Accumulate, typename decltype(tag)::type>(c).run(); });
  }
  with_size(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (c.mode == IndexMode::Read) IndexLoop<IndexMode::Read, T>(c).run();
    else IndexLoop<IndexMode::Write, T>(c).run();
  });
}

const KernelRegistration<IndexCall> register_index{index_kernel, DeviceType::Cpu, index_elements};

}  // namespace
}  // namespace tessera::tensor::cpu
