// The triangles of matrices: of each row one part is copied and the other is zeros, which are zero bytes in every dtype.
#include <algorithm>
#include <cstring>

#include "backends/cpu/threads.h"
#include "runtime/checked.h"
#include "runtime/ops/triangles.h"

namespace tessera::tensor::cpu {
namespace {

void cut_rows(const TriangleCall& c) {
  const int64_t size = int64_t(item_size(c.dtype)), width = c.columns * size;
  parallel_for(c.matrices * c.rows, std::max<int64_t>(1, 65536 / std::max<int64_t>(width, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; r++) {
                   // The row's diagonal element is the last one of the lower triangle and the first one of the upper.
                   const int64_t diagonal = saturated_add(r % c.rows, c.diagonal);
                   const int64_t cut = std::clamp<int64_t>(saturated_add(diagonal, int64_t(c.lower)), 0, c.columns) * size;
                   const int64_t first = c.lower ? 0 : cut, last = c.lower ? cut : width;
                   char* out = c.out + r * width;
                   if (c.out != c.in) std::memcpy(out + first, c.in + r * width + first, size_t(last - first));
                   std::memset(c.lower ? out + cut : out, 0, size_t(c.lower ? width - cut : cut));
                 }
               });
}

const KernelRegistration<TriangleCall> registration{triangle_kernel, DeviceType::Cpu, cut_rows};

}  // namespace
}  // namespace tessera::tensor::cpu
